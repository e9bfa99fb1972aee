"""The published experiments with their claims: what was published, what we get, what is allowed."""
