"""Layers on motions."""
