"""Files read block by block: text, growing arrays, memory limits."""
