"""Robots that move by a program, from beginning to end: what their mounts read, at which steps, and how exactly."""
