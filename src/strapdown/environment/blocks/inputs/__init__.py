"""Blocks that bring in the console, the sensors and the truth."""
