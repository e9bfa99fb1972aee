"""Kernels of the vehicles: what their actuators do to the body in one physics step."""
