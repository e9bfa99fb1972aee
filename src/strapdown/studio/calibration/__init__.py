"""Guided calibration of virtual sensors on a virtual turntable."""
