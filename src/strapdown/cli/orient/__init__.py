"""strapdown orient."""
