"""Which way it points: one file for each filter."""
