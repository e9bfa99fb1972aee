"""Kernels of the virtual sensors."""
