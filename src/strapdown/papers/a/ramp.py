"""Paper A's table of run-ups, and the line through a ramp that states when its set speed is reached (errata 4)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

INERTIA_PER_KG = 0.265  # m2, of the bar about its axis


@dataclass(frozen=True)
class Case:
    """A row of paper A's table: torque, set speed, mass; the time it prints and its error."""

    number: int
    torque_nm: float
    speed_deg_s: float
    mass_kg: float
    published_s: float
    published_error_s: float

    @property
    def analytic_s(self) -> float:
        """t = I w / M."""
        return INERTIA_PER_KG * self.mass_kg * np.radians(self.speed_deg_s) / self.torque_nm


CASES = (
    Case(1, 5.0, 45.0, 10.0, 0.399, 0.018),
    Case(2, 5.0, 45.0, 5.0, 0.2, 0.008),
    Case(3, 5.0, 30.0, 5.0, 0.15, 0.012),
    Case(4, 15.0, 90.0, 5.0, 0.15, 0.012),
    Case(5, 15.0, 45.0, 10.0, 0.15, 0.012),
    Case(6, 15.0, 30.0, 20.0, 0.2, 0.015),
)


@dataclass(frozen=True)
class Ramp:
    """The line rate = slope t + offset through a ramp, where it meets the set speed, and the first sample there."""

    slope: float
    offset: float
    line_s: float
    first_sample_s: float


def first_at_speed(rate: Array, set_speed: float) -> int | None:
    """The first sample at the set speed; None if there is none."""
    reached = np.flatnonzero(rate >= 0.999 * set_speed)
    return int(reached[0]) if len(reached) else None


def fit_ramp(t: Array, rate: Array, set_speed: float) -> Ramp | None:
    """Fit a line to the ramp and cut it with the set speed; t in s, rates in rad/s. None: there is no visible ramp.

    The last sample before the set speed is omitted where two others remain: it may include the end of the ramp.
    """
    first = first_at_speed(rate, set_speed)
    if first is None:
        return None
    ramp = np.flatnonzero(rate[:first] > 0.02 * set_speed)
    ramp = ramp[:-1] if len(ramp) >= 3 else ramp
    if len(ramp) < 2:
        return None
    slope, offset = np.polyfit(t[ramp], rate[ramp], 1)
    return Ramp(float(slope), float(offset), float((set_speed - offset) / slope), float(t[first]))
