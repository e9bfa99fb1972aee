"""A diagram as a picture."""
