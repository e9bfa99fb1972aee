"""The studio: a session in the browser. The simulation has its own process; the server forwards messages."""
