"""Kernels of the vehicles: effect of their actuators on the body in one physics step."""
