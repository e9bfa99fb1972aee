"""Robots in PyBullet."""
