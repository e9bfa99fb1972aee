"""Strapdown: inertial navigation from motion to evaluation."""
