"""An altimeter: range to the ground along the sensor's -z axis, as of a laser or ultrasonic rangefinder.

A body that leans by an angle reads height / cos(angle) over level ground: 1.5 % more at 10 deg.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from strapdown.checks import Interval, finite, not_negative, positive, set_fields
from strapdown.errors import InputError
from strapdown.rotation import q_rotate
from strapdown.sample import Height, Heights
from strapdown.sensors.aiding.own_pace import Chance, Pace, Stream, chances, pace_of, refuse_state_of, step_of_motion
from strapdown.types import Motion


class AltimeterState(NamedTuple):
    """Memory of an altimeter between two calls."""

    pace: Pace
    noise: Chance
    loss: Chance


@dataclass(frozen=True)
class Altimeter:
    """One specimen of an altimeter.

    A reading is range (1 + scale_error) + bias_m + noise of the standard deviation sqrt(sigma_m^2 + (sigma_per_m
    range)^2), rounded to resolution_m. Outside limits_m (least and greatest true range), and for the share `loss` of
    the readings, there is no echo and no reading.

    rate_hz: None reads at every call.
    """

    rate_hz: float | None = 50.0
    sigma_m: float = 0.02
    sigma_per_m: float = 0.0
    bias_m: float = 0.0
    scale_error: float = 0.0
    limits_m: Interval = (0.0, math.inf)
    resolution_m: float = 0.0
    loss: float = 0.0

    def __post_init__(self) -> None:
        least, greatest = self.limits_m
        if not 0.0 <= least < greatest:
            raise InputError(f"limits_m is {self.limits_m}; give the least range first, and the greatest, in m")
        if not 0.0 <= self.loss < 1.0:
            raise InputError(f"loss is {self.loss}; give the part of readings that are lost, from 0 to below 1")
        set_fields(
            self,
            rate_hz=None if self.rate_hz is None else positive("rate_hz", self.rate_hz),
            **{name: not_negative(name, getattr(self, name)) for name in ("sigma_m", "sigma_per_m", "resolution_m")},
            **{name: finite(name, getattr(self, name)) for name in ("bias_m", "scale_error")},
            limits_m=(float(least), float(greatest)),
        )

    def sigma_of(self, range_m: float) -> float:
        """The standard deviation of a reading: noise and rounding."""
        return math.sqrt(self.sigma_m**2 + (self.sigma_per_m * range_m) ** 2 + self.resolution_m**2 / 12.0)

    def start(self, stream: Stream, step_s: float) -> AltimeterState:
        """The state before the first call, for calls step_s apart."""
        return AltimeterState(pace_of(step_s, self.rate_hz, "altimeter"), *chances(stream, False, True))

    def read(self, state: AltimeterState, t: float, range_m: float) -> tuple[AltimeterState, Height | None]:
        """The reading at t, if one is due and there is an echo: height_m is the range read, sigma_m its sigma.

        range_m: true range to the ground along -z of the sensor; inf: there is none.
        """
        if not isinstance(state, AltimeterState):
            raise refuse_state_of(state, Altimeter)
        if t < state.pace.next_s:
            return state, None
        (noise, (normal,)), (loss, (share,)) = state.noise.next(1), state.loss.next(1)
        after = AltimeterState(state.pace.after(t, self.rate_hz), noise, loss)
        if not self.limits_m[0] <= range_m <= self.limits_m[1] or range_m == math.inf or share < self.loss:
            return after, None
        spread = math.sqrt(self.sigma_m**2 + (self.sigma_per_m * range_m) ** 2)
        value = max(range_m * (1.0 + self.scale_error) + self.bias_m + spread * normal, 0.0)
        if self.resolution_m > 0.0:
            value = self.resolution_m * round(value / self.resolution_m)
        return after, Height(value, self.sigma_of(value))

    def measure(self, motion: Motion, *, stream: Stream, ground_m: float = 0.0) -> tuple[Heights, NDArray[np.bool_]]:
        """Readings along the motion of the sensor's frame s over level ground at the height ground_m: rows for
        Recording.height, and which of them are new. Rows between two readings repeat the last one."""
        up = q_rotate(motion.q_nb, np.array([0.0, 0.0, 1.0]))[:, 2]  # cosine of the lean
        with np.errstate(divide="ignore"):
            ranges = np.where(up > 0.0, np.maximum(motion.p_n[:, 2] - ground_m, 0.0) / np.maximum(up, 0.0), np.inf)
        state, last = self.start(stream, step_of_motion(motion)), Height(0.0, 1.0)
        rows, new = np.empty((len(motion), 2)), np.zeros(len(motion), dtype=bool)
        for i, (t, true) in enumerate(zip(motion.t.tolist(), ranges.tolist(), strict=True)):
            state, reading = self.read(state, t, true)
            if reading is not None:
                last, new[i] = reading, True
            rows[i] = last
        return Heights(rows[:, 0], rows[:, 1]), new
