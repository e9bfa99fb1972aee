"""Mahony's filter: proportional and integral correction, the fastest here."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from strapdown.kernels.orientation import mahony as kernel
from strapdown.orientation.running import OrientationFilter
from strapdown.orientation.settings import check, own_numbers


@dataclass(frozen=True)
class Mahony(OrientationFilter):
    """Pulls to gravity and magnetic north in proportion to the sine of the error, and learns the gyroscope's bias.

    inclination_gain, heading_gain (1/s): one over the time constants. bias_gain (1/s2): 0 for no bias estimate; the
    bias takes about inclination_gain/bias_gain s. Gains of Mahony's kp and ki have the same meaning. magnetometer
    False: 6 axes, the heading is the gyroscope's. declination_rad: of magnetic north from true north, east positive.
    longest_step_s: a longer step is predicted only. Half a turn off, the sine is 0: start near the truth.
    """

    name: ClassVar[str] = "mahony"
    kernel: ClassVar[Any] = kernel

    inclination_gain: float = 0.5
    heading_gain: float = 0.1
    bias_gain: float = 0.001
    magnetometer: bool = True
    declination_rad: float = 0.0
    longest_step_s: float = 0.5

    def __post_init__(self) -> None:
        check(self, from_0=("inclination_gain", "heading_gain", "bias_gain"))

    def own(self) -> ArrayLike:
        d = self.declination_rad
        gains = self.inclination_gain, self.heading_gain, self.bias_gain
        return own_numbers(self, *gains, math.cos(d), math.sin(d), 0.0, 0.0)
