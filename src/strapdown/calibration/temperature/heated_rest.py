"""Where a sensor is at rest while its temperature changes.

Rest is distinguished from a steady turn by the gyroscope's offset. Heat changes that offset, at the start of a warm-up
by more than a slow turn would. So the part of the readings that follows temperature is removed roughly before rest is
detected.
"""

from dataclasses import replace

import numpy as np

from strapdown.recordings.rest import Still, still_intervals
from strapdown.types import Array, Recording

_MEDIANS = 400  # of the log: turns are outliers among them
_DEGREE = 3
_ROUNDS = 15  # of reweighting, towards least absolute errors


def still_while_heated(recording: Recording) -> tuple[Still, ...]:
    """Still phases of a log with a temperature; the rows are those of the recording, its readings are not changed."""
    gyr, celsius = recording.gyr_s, recording.temperature
    if gyr is None or celsius is None or np.ptp(celsius) == 0.0:
        return still_intervals(recording)
    return still_intervals(replace(recording, gyr_s=gyr - _follows_heat(gyr, celsius)))


def _follows_heat(gyr: Array, celsius: Array) -> Array:
    """A cubic in temperature through the medians of short intervals, for each axis, without its mean."""
    width = max(1, len(gyr) // _MEDIANS)
    count = len(gyr) // width
    middle = np.median(gyr[: count * width].reshape(count, width, 3), axis=1)
    half = 0.5 * max(float(np.ptp(celsius)), 1e-9)
    u = (celsius - (celsius.min() + half)) / half
    at = u[: count * width].reshape(count, width).mean(axis=1)
    powers = at[:, None] ** np.arange(_DEGREE + 1)
    found = np.empty((_DEGREE + 1, 3))
    for axis in range(3):
        weights = np.ones(count)
        for _ in range(_ROUNDS):
            root = np.sqrt(weights)
            found[:, axis] = np.linalg.lstsq(powers * root[:, None], middle[:, axis] * root, rcond=None)[0]
            left = np.abs(middle[:, axis] - powers @ found[:, axis])
            weights = 1.0 / np.maximum(left, 1e-3 * np.median(left) + 1e-12)
    whole = np.zeros_like(gyr)
    for row in found[:0:-1]:
        whole = (whole + row) * u[:, None]
    return whole - whole.mean(axis=0)
