"""The measuring module: protocol, chips, serial line, recordings. Specification: docs/device-protocol.md."""
