"""Readings collected at rest, one by one, and the test for motion. A calibration in the loop uses it."""

import math
from typing import Any, NamedTuple

import numpy as np

from strapdown.arrays import Array
from strapdown.environment.blocks.common import between, not_negative
from strapdown.environment.diagram.block import BlockParameters

_SIGMAS = 8.0  # of white noise: no sample of a day at 1 kHz is as far off by chance
_FIRST = 20  # readings until the noise is known to a sixth, and readings are compared with it
_WINDOW_S = 0.25  # means over this time are compared with the first one
_DEG = math.pi / 180.0


class RestLimits(BlockParameters):
    """Limits for the change of readings at rest; larger noise widens the limits."""

    least_s: float = between(1.0, 0.01, 3600.0, "Least time", "Rest that a calibration needs.", "s")
    most_rate_dps: float = not_negative(2.0, "Rate limit", "A reading further from the mean is motion.", "deg/s")
    most_force_m_s2: float = not_negative(0.5, "Force limit", "A reading further from the mean is motion.", "m/s2")
    most_rate_change_dps: float = not_negative(
        0.3, "Rate change", "Means over 0.25 s that differ by more are motion.", "deg/s"
    )
    most_force_change_m_s2: float = not_negative(
        0.1, "Force change", "Means over 0.25 s that differ by more are motion.", "m/s2"
    )


class Rest(NamedTuple):
    """Sums over a rest. Vectors have six numbers: gyroscope (rad/s), accelerometer (m/s2).

    first: the first reading, from which the others are counted.
    noise2: sum of squared steps from one reading to the next.
    window: sum over the present window.
    before: mean of the first window, None until it is full.
    """

    samples: int
    elapsed_s: float
    first: Array
    last: Array
    sums: Array
    noise2: Array
    window: Array
    window_count: int
    window_s: float
    before: Array | None
    field: Array
    field_count: int

    @property
    def mean(self) -> Array:
        return self.first + self.sums / self.samples

    @property
    def sigma(self) -> Array:
        """Standard deviation of one reading: white noise, without slow drift."""
        return np.sqrt(self.noise2 / (2.0 * max(self.samples - 1, 1)))


def begun(gyroscope: Array, accelerometer: Array, magnetometer: Array | None) -> Rest:
    first, zero = np.concatenate((gyroscope, accelerometer)), np.zeros(6)
    field, fields = (np.zeros(3), 0) if magnetometer is None else (magnetometer, 1)
    return Rest(1, 0.0, first, first, zero, zero, zero, 1, 0.0, None, field, fields)


def continued(
    rest: Rest, gyroscope: Array, accelerometer: Array, magnetometer: Array | None, dt: float, limits: RestLimits
) -> Rest | None:
    """The statistics with one more reading; None if it shows motion."""
    now = np.concatenate((gyroscope, accelerometer))
    step, off = now - rest.last, now - rest.first
    noise2 = rest.noise2 + step * step
    sigma = np.sqrt(noise2 / (2.0 * rest.samples))
    single = np.repeat((limits.most_rate_dps * _DEG, limits.most_force_m_s2), 3)
    mean = rest.sums / rest.samples
    if rest.samples >= _FIRST and (np.abs(off - mean) > np.maximum(single, _SIGMAS * sigma)).any():
        return None
    window, window_count, window_s, before = rest.window + off, rest.window_count + 1, rest.window_s + dt, rest.before
    if window_s >= _WINDOW_S:
        found = window / window_count
        if before is None:
            before = found
        else:
            change = np.repeat((limits.most_rate_change_dps * _DEG, limits.most_force_change_m_s2), 3)
            chance = _SIGMAS * sigma * math.sqrt(2.0 / window_count)
            if (np.abs(found - before) > np.maximum(change, chance)).any():
                return None
        window, window_count, window_s = np.zeros(6), 0, 0.0
    field, fields = rest.field, rest.field_count
    if magnetometer is not None:
        field, fields = field + magnetometer, fields + 1
    return Rest(
        rest.samples + 1,
        rest.elapsed_s + dt,
        rest.first,
        now,
        rest.sums + off,
        noise2,
        window,
        window_count,
        window_s,
        before,
        field,
        fields,
    )


def level_yaw(field: Any, declination_rad: float) -> float:
    """Yaw of a level body from the magnetic field it reads: in frame n the field points along y, turned by the
    declination (east positive)."""
    x, y = float(field[0]), float(field[1])
    return 0.5 * math.pi - declination_rad - math.atan2(y, x)
