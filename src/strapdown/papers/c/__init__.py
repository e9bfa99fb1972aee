"""Paper C: strapdown navigation of a mobile robot."""
