"""The measuring module: its protocol, its chips, the serial line, recordings. Specification: docs/device-protocol.md."""
