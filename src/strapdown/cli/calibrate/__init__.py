"""strapdown calibrate."""
