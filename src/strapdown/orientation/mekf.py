"""Multiplicative error-state Kalman filter (Lefferts, Markley and Shuster 1982; the error told in frame n): attitude,
gyroscope bias and their deviations, from the noise of the part at hand.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from strapdown.errors import InputError
from strapdown.kernels import mekf as kernel
from strapdown.kernels import mekf_layout as layout
from strapdown.orientation.running import OrientationFilter
from strapdown.orientation.settings import check, own_numbers
from strapdown.sensors.triad import FLICKER_FLOOR, Triad, instability_processes

_DEG = math.pi / 180.0
_FLICKER_S = 30.0  # a random walk takes the place of flicker noise: both have the same Allan deviation at this time


@dataclass(frozen=True)
class Mekf(OrientationFilter):
    """White noise as N (its integral after t s has deviation N sqrt(t)): gyr_white rad/sqrt(s), acc_white m/s/sqrt(s),
    mag_white uT sqrt(s). gyr_walk: K of the gyroscope's bias, rad/s/sqrt(s). gyr_turn: what a turn of 1 rad/s
    adds to gyr_white, by errors of scale and axes (by default 0.3 %). tilt_floor_rad: the part of the
    inclination's deviation that no averaging takes away, by the accelerometer's bias over gravity (by default 3 mg).
    Both defaults are those of a consumer part after calibration.

    Accelerations of the motion: their variance and the time over which they are correlated are followed from the
    readings over motion_memory_s. That time is taken to be motion_s at first, and is between 0 and four times it:
    slower accelerations, and those smaller than half the noise of a reading, look like an inclination. A reading is
    rejected if its norm is off gravity by more than acc_off_mps2 and gate deviations of a motion that has lasted, or
    its innovation is beyond gate deviations. Where the mean of specific force points as far from up for
    lost_s, the attitude is wrong and is looked for anew; until then the deviations contain that angle.

    Magnetic north is off by mag_disturbance_deg, correlated over mag_disturbance_s. A reading is rejected if the norm
    or dip of the field is off the reference by more than mag_norm (part of it) or mag_dip_deg, or its innovation beyond
    the gate; after mag_patience_s of rejection field and heading are looked for anew, and after lost_s where norm and
    dip are right.

    Deviations at the start: bias_start_dps; attitude_start_deg of a given attitude; motion_start_mps2 of the
    acceleration in the first samples. Without magnetometer the heading counts from the first sample (yaw 0 there) and
    its deviation from 0. declination_rad: of magnetic north from true north, east positive.
    """

    name: ClassVar[str] = "mekf"
    kernel: ClassVar[Any] = kernel
    reports_sigma: ClassVar[bool] = True

    magnetometer: bool = True
    gyr_white: float = 1e-4
    gyr_walk: float = 1e-5
    gyr_turn: float = 0.003
    acc_white: float = 3e-3
    mag_white: float = 0.05
    tilt_floor_rad: float = 0.003
    gravity: float = 9.81
    motion_s: float = 1.0
    motion_memory_s: float = 10.0
    motion_start_mps2: float = 0.3
    acc_off_mps2: float = 3.0
    lost_s: float = 10.0
    mag_disturbance_deg: float = 2.0
    mag_disturbance_s: float = 3.0
    mag_norm: float = 0.1
    mag_dip_deg: float = 10.0
    mag_reference_s: float = 20.0
    mag_patience_s: float = 60.0
    gate: float = 4.0
    bias_start_dps: float = 1.0
    attitude_start_deg: float = 1.0
    declination_rad: float = 0.0
    longest_step_s: float = 0.5

    def __post_init__(self) -> None:
        check(self, above_0=_POSITIVE, from_0=_NOT_NEGATIVE)

    @classmethod
    def for_triads(cls, triads: Mapping[str, Triad], **settings: Any) -> Self:
        """With the noise of a part: its triads by name ("gyroscope", "accelerometer", "magnetometer" if it has one), as
        Specimen.triads() gives them. Further settings by name."""
        for name in ("gyroscope", "accelerometer"):
            if name not in triads:
                raise InputError(f"the part has no {name}; this filter needs a gyroscope and an accelerometer")
        gyr, acc = triads["gyroscope"], triads["accelerometer"]
        gravity = float(settings.get("gravity", cls.gravity))
        flicker_walk = FLICKER_FLOOR * _rms(gyr.instability) * math.sqrt(3.0 / _FLICKER_S)
        _, deviations = instability_processes(*acc.instability_band_s)
        wander = math.hypot(_rms(acc.instability) * math.sqrt(float(deviations @ deviations)), _rms(acc.turn_on))
        found = {
            "gyr_white": _rms(gyr.white),
            "gyr_walk": math.hypot(_rms(gyr.walk), flicker_walk),
            "gyr_turn": float(np.sqrt(np.sum((np.array(gyr.matrix) - np.eye(3)) ** 2) / 3.0)),
            "acc_white": _rms(acc.white),
            "tilt_floor_rad": wander / gravity,
        }
        if "magnetometer" in triads:
            found["mag_white"] = _rms(triads["magnetometer"].white)
        else:
            found["magnetometer"] = False
        return cls(**{**found, **settings})

    def own(self) -> ArrayLike:
        further = [
            *(self.gyr_white**2, self.gyr_walk**2, self.acc_white**2, self.gravity, self.motion_s),
            *(self.motion_memory_s, self.acc_off_mps2, self.tilt_floor_rad**2, self.mag_white**2),
            *((self.mag_disturbance_deg * _DEG) ** 2, self.mag_disturbance_s, self.mag_norm, self.mag_dip_deg * _DEG),
            *(self.mag_reference_s, self.mag_patience_s, self.gate**2, (self.bias_start_dps * _DEG) ** 2),
            *((self.attitude_start_deg * _DEG) ** 2, self.motion_start_mps2**2, self.gyr_turn**2, self.lost_s),
        ]
        memory = [0.0] * (layout.END - layout.SETTINGS - len(further))
        return own_numbers(self, *further, *memory)


_POSITIVE = (
    *("gyr_white", "acc_white", "mag_white", "gravity", "motion_memory_s", "acc_off_mps2", "mag_norm", "mag_dip_deg"),
    *("mag_reference_s", "mag_patience_s", "lost_s", "gate", "bias_start_dps"),
)
_NOT_NEGATIVE = (
    *(
        "gyr_walk",
        "gyr_turn",
        "tilt_floor_rad",
        "motion_s",
        "motion_start_mps2",
        "mag_disturbance_deg",
        "mag_disturbance_s",
    ),
    "attitude_start_deg",
)


def _rms(axes: tuple[float, float, float]) -> float:
    return math.sqrt(sum(a * a for a in axes) / 3.0)
