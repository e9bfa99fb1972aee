"""Kernels of the measuring module."""
