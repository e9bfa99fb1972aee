"""Accelerometer and gyroscope from a log in which the sensor is put down in several poses."""
