"""Robots that run a program from start to end: the readings of their mounts, at which steps, and how exactly."""
