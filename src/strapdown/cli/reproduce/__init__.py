"""strapdown reproduce."""
