"""strapdown navigate."""
