"""Results of a session: recording, signals, outcome, files and report."""
