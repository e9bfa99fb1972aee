"""Lodestar."""
