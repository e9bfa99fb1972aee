"""The studio: a session in the browser. The simulation has a process of its own; the server passes messages on."""
