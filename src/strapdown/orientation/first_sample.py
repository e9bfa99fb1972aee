"""The first sample of a source whose step is not known: it is kept until the second one gives the step.

Only for filters that need the step to weigh their first sample (their kernel has FIRST, the place where it is kept).
"""

import math
from typing import Any

import numpy as np

from strapdown.kernels.orientation.start import LEAST_FORCE2, MOST, MOST2, MOST_RATE, attitude_from
from strapdown.kernels.orientation.state import DECLINATION, FLAGS, GAP, SIGMA, STARTED, USE_MAG, USUAL_STEP, WAITS, Q
from strapdown.types import Array, Sample

_ANY_ANGLE = math.pi / math.sqrt(3.0)  # rad, standard deviation of an angle that may be anything


def needs_step(kernel: Any, numbers: Array) -> bool:
    """Whether a state of this kernel has to wait for the step of its source."""
    return hasattr(kernel, "FIRST") and not numbers[USUAL_STEP] > 0.0


def take_without_step(kernel: Any, numbers: Array, settings: Array, sample: Sample) -> None:
    """Take a sample while the step is not known. The first sample is kept; the second one gives the step of both."""
    first = numbers[USUAL_STEP] == 0.0
    if not (_size(sample.gyr_s) < MOST_RATE and (first or 0.0 < sample.dt < MOST)):
        numbers[FLAGS] = GAP
        return
    kept = numbers[kernel.FIRST : kernel.FIRST + 9]
    if first:
        mag_s = None if settings[USE_MAG] == 0.0 else sample.mag_s
        kept[:] = np.concatenate([sample.gyr_s, _vector(sample.acc_s), _vector(mag_s)])
        _show_first(numbers, settings, *kept[3:])
        return
    numbers[USUAL_STEP] = sample.dt
    kernel.step(numbers, settings, kept[:3].copy(), kept[3:6].copy(), kept[6:].copy(), 0.0)
    mag_s = np.empty(0) if sample.mag_s is None else sample.mag_s
    kernel.step(numbers, settings, sample.gyr_s, sample.acc_s, mag_s, sample.dt)


def _show_first(numbers: Array, settings: Array, *readings: float) -> None:
    """The attitude of the first readings, with the standard deviations of an unknown attitude."""
    ax, ay, az, mx, my, mz = (float(reading) for reading in readings)
    numbers[USUAL_STEP], numbers[FLAGS] = WAITS, 0.0
    numbers[SIGMA : SIGMA + 3] = _ANY_ANGLE
    if numbers[STARTED] == 0.0 and LEAST_FORCE2 < ax * ax + ay * ay + az * az < MOST2:
        has_mag = 0.0 < mx * mx + my * my + mz * mz < MOST2
        numbers[Q : Q + 4] = attitude_from(ax, ay, az, mx, my, mz, has_mag, float(settings[DECLINATION]))


def _vector(reading: Array | None) -> Array:
    """A reading, or zeros where there is none or the values are not those of a sensor."""
    return reading if reading is not None and len(reading) and _size(reading) < MOST else np.zeros(3)


def _size(reading: Array) -> float:
    return sum(abs(axis) for axis in reading.tolist())
