"""All checks of a diagram, and its order."""
