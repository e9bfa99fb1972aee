"""Drives unlike paper C's: whether the filter's sigma is right there."""
