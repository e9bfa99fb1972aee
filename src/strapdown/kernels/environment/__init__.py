"""Kernels of the closed loop."""
