"""Scenes in CoppeliaSim, over its ZMQ remote API."""
