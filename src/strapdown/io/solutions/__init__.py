"""Solutions in files."""
