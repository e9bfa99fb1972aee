"""Kernels of navigation."""
