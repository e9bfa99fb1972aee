"""A sensor carried by hand and put down, or held still, at its stops: the error-state filter's settings for it.

A hand trembles more than the sensor is noisy, and never stands quite still. The numbers were chosen on one recording,
OpenShoe's square (papers/c_foot.py).
"""

from typing import Any

import numpy as np

from strapdown.navigation.eskf.filter import Eskf
from strapdown.navigation.eskf.updates import FlatFloor, ZeroRate, ZeroVelocity
from strapdown.navigation.stops.vehicle import NoiseStops
from strapdown.types import Recording

TREMBLE = 3.0  # a hand trembles three times as much as its sensor's noise
HAND_FLOOR = FlatFloor(height_sigma_m=0.005, velocity_sigma_m_s=None, tilt_rad=np.pi)  # all stops are as high


def hand_filter(**more: Any) -> Eskf:
    """flat_floor=HAND_FLOOR: every stop is as high as the first. Gates are open: the stops are what is right."""
    settings: dict[str, Any] = {
        "gyr_white": 1e-3,
        "acc_white": 0.02,
        "zero_velocity": ZeroVelocity(sigma_m_s=0.01, insist_s=0.0),
        "zero_rate": ZeroRate(0.002),
        "gate_probability": 0.0,
    }
    return Eskf(**{**settings, **more})


def hand_stops(recording: Recording) -> NoiseStops:
    """How stops are told, by the noise of the rest at the start."""
    return NoiseStops.from_rest(recording, noise_factor=TREMBLE)
