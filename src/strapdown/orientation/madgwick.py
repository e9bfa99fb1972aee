"""Madgwick's filter: a gradient step of fixed length in each sample."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from strapdown.errors import InputError
from strapdown.kernels.orientation import madgwick as kernel
from strapdown.orientation.running import OrientationFilter
from strapdown.orientation.settings import check


@dataclass(frozen=True)
class Madgwick(OrientationFilter):
    """Turns at most at 2 beta_rad_s towards gravity and north, however large the error.

    beta_rad_s: gain as published, 0.1 for most motions; a gyroscope's bias must stay below 2 beta.
    zeta_rad_s2: rate at which the bias estimate changes, 0 for none. The magnetometer pulls on the inclination too, as
        published.
    magnetometer: None: 9 axes if the log has one; False: 6 axes, the heading is the gyroscope's.
    declination_rad: declination of magnetic north from true north, east positive.
    longest_step_s: a longer step is predicted only.
    """

    name: ClassVar[str] = "madgwick"
    kernel: ClassVar[Any] = kernel

    beta_rad_s: float = 0.1
    zeta_rad_s2: float = 0.0
    magnetometer: bool | None = None
    declination_rad: float = 0.0
    longest_step_s: float = 0.5

    def __post_init__(self) -> None:
        check(self, from_0=("beta_rad_s", "zeta_rad_s2"))
        if self.zeta_rad_s2 > 0.0 and self.beta_rad_s == 0.0:
            raise InputError("zeta_rad_s2 is above 0 and beta_rad_s is 0; a bias is learnt from corrections, give both")

    def own_settings(self) -> Mapping[int, float]:
        return {
            kernel.BETA: self.beta_rad_s,
            kernel.ZETA: self.zeta_rad_s2,
            kernel.COS_D: math.cos(self.declination_rad),
            kernel.SIN_D: math.sin(self.declination_rad),
        }
