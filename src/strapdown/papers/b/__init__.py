"""Paper B: sensor errors and orientation."""
