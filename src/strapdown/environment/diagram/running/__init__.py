"""A diagram that runs."""
