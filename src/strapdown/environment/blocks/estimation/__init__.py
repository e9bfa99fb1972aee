"""Blocks that calibrate and estimate: attitude, velocity, position."""
