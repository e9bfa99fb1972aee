"""The error-state filter."""
