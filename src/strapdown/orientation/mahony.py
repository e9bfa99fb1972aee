"""Mahony's filter: proportional and integral correction, the fastest here."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from strapdown.kernels.orientation import mahony as kernel
from strapdown.orientation.running import OrientationFilter
from strapdown.orientation.settings import check


@dataclass(frozen=True)
class Mahony(OrientationFilter):
    """Pulls to gravity and magnetic north in proportion to the sine of the error, and learns the gyroscope's bias.

    inclination_gain, heading_gain (1/s): one over the time constants.
    bias_gain (1/s2): 0 for no bias estimate; the bias takes about inclination_gain/bias_gain s. Gains of Mahony's kp
        and ki have the same meaning.
    magnetometer: None: 9 axes if the log has one; False: 6 axes, the heading is the gyroscope's.
    declination_rad: declination of magnetic north from true north, east positive.
    longest_step_s: a longer step is predicted only.

    At an error of half a turn the sine is 0: start near the truth.
    """

    name: ClassVar[str] = "mahony"
    kernel: ClassVar[Any] = kernel

    inclination_gain: float = 0.5
    heading_gain: float = 0.1
    bias_gain: float = 0.001
    magnetometer: bool | None = None
    declination_rad: float = 0.0
    longest_step_s: float = 0.5

    def __post_init__(self) -> None:
        check(self, from_0=("inclination_gain", "heading_gain", "bias_gain"))

    def own_settings(self) -> Mapping[int, float]:
        return {
            kernel.INCLINATION_GAIN: self.inclination_gain,
            kernel.HEADING_GAIN: self.heading_gain,
            kernel.BIAS_GAIN: self.bias_gain,
            kernel.COS_D: math.cos(self.declination_rad),
            kernel.SIN_D: math.sin(self.declination_rad),
        }
