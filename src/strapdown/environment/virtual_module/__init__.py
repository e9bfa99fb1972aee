"""The virtual module: virtual chips, the controller and the protocol, on a pseudo-terminal or a TCP port."""
