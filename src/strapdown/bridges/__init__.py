"""Live views in the programs of others: Foxglove by its websocket, Rerun by its own protocol. docs/formats.md."""
