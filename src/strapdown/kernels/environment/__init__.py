"""Kernels of the environment: controllers of vehicles, ideal readings."""
