"""Paper B's filter as printed (DOI 10.51790/2712-9942-2024-5-1-03): to compare with, not to use."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from strapdown.checks import finite
from strapdown.errors import InputError
from strapdown.kernels.orientation import paper_b as kernel
from strapdown.orientation.running import OrientationFilter
from strapdown.orientation.settings import check


@dataclass(frozen=True)
class PaperB(OrientationFilter):
    """Euler angles, atan, plain weighted means: fails at pitch 90 deg and where the yaw leaves the range of atan.

    The log must begin with calibration_s of rest (0: no calibration), in the attitude q_ns if that is given. Without
    q_ns an offset of the accelerometer counts as a tilt.

    weight: weight of accelerometer and magnetometer in a sample, at any rate; time_constant_s above 0 replaces it by a
        time.
    low_pass_s: time constant of the low-pass of all signals.
    gravity_m_s2: gravity of the place.
    magnetometer: None: 9 axes if the log has one; False: 6 axes.
    declination_rad: east positive, used where q_ns is not given.
    longest_step_s: a longer step is predicted only.
    corrected: use atan2 and mix angles on the circle, not as printed. The filter then fails at pitch 90 deg only.
    """

    name: ClassVar[str] = "paper-b"
    kernel: ClassVar[Any] = kernel

    weight: float = 0.02
    time_constant_s: float = 0.0
    low_pass_s: float = 0.05
    calibration_s: float = 1.0
    gravity_m_s2: float = 9.80665
    corrected: bool = False
    magnetometer: bool | None = None
    declination_rad: float = 0.0
    longest_step_s: float = 0.5

    def __post_init__(self) -> None:
        check(self, above_0=("gravity_m_s2",), from_0=("time_constant_s", "low_pass_s", "calibration_s"))
        if not 0.0 <= finite("weight", self.weight) <= 1.0:
            raise InputError(f"weight is {self.weight:g}; give a share from 0 to 1")
        if not isinstance(self.corrected, bool):
            raise InputError(f"corrected is {self.corrected!r}; give True or False")

    def own_settings(self) -> Mapping[int, float]:
        return {
            kernel.WEIGHT: self.weight,
            kernel.TIME_CONSTANT: self.time_constant_s,
            kernel.LOW_PASS_S: self.low_pass_s,
            kernel.CALIBRATION_S: self.calibration_s,
            kernel.GRAVITY: self.gravity_m_s2,
            kernel.CORRECTED: float(self.corrected),
        }
