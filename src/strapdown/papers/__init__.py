"""The published experiments with their claims: published value, ours, limit."""
