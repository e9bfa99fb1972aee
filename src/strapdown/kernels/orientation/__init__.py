"""Kernels of the orientation filters."""
