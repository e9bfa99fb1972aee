"""Faults of sensors, motors and the world."""
