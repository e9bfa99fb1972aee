"""The module's protocol, version 1: frames, messages, decoder. Specification: docs/device-protocol.md."""
