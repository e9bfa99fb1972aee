"""The error chain of a triad: settings as numbers, state, whole and live."""
