"""VQF (Laidig and Seel, "VQF: Highly accurate IMU orientation estimation with bias estimation and magnetic disturbance
rejection", Information Fusion 2023). The filter is written from the paper, with all its parameters and defaults.

The earth frame of the filter is ours: x east, y north, z up, north being magnetic north turned by the declination.
Without magnetometer the heading is that of the shortest turn from the first sample to the vertical, kept by the
gyroscope.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from strapdown.checks import finite, set_fields
from strapdown.errors import InputError
from strapdown.kernels.orientation.vqf import filter as kernel
from strapdown.kernels.orientation.vqf import inclination as inclination
from strapdown.kernels.orientation.vqf import smoother as smooth_kernel
from strapdown.orientation.running import SmoothingFilter
from strapdown.orientation.settings import check

_DEG = math.pi / 180.0
_BIAS_GROWTH_DPS = 0.1  # by which the sigma of a known bias has grown after bias_forgetting_s (the paper's choice)


@dataclass(frozen=True)
class Vqf(SmoothingFilter):
    """Time constants in s. Sigmas and limits of the gyroscope's bias in deg/s, as published.

    tau_acc_s, tau_mag_s: time constants of the corrections by accelerometer and magnetometer (0: full weight of every
        reading, below 0: no heading correction).
    motion_bias, rest_bias: estimate the bias in motion, at rest. rest_*: rest is when readings stay within rest_gyr_dps
        and rest_acc_mps2 of their low-passed values for rest_least_s.
    mag_norm (part of the norm) and mag_dip_deg: how near a field must be to the reference. A steady field becomes the
        reference after mag_new_s of turning at mag_new_least_dps.
    mag_longest_rejection_s and mag_rejection_factor: how long disturbed readings are rejected, and their smaller weight
        after it.
    magnetometer: None: 9 axes if the log has one; False: 6 axes.
    """

    name: ClassVar[str] = "vqf"
    kernel: ClassVar[Any] = kernel
    smoother: ClassVar[Any] = smooth_kernel

    magnetometer: bool | None = None
    tau_acc_s: float = 3.0
    tau_mag_s: float = 9.0
    motion_bias: bool = True
    rest_bias: bool = True
    mag_rejection: bool = True
    bias_sigma_start_dps: float = 0.5
    bias_forgetting_s: float = 100.0
    bias_clip_dps: float = 2.0
    bias_sigma_motion_dps: float = 0.1
    bias_vertical_factor: float = 1e-4
    bias_sigma_rest_dps: float = 0.03
    rest_least_s: float = 1.5
    rest_tau_s: float = 0.5
    rest_gyr_dps: float = 2.0
    rest_acc_mps2: float = 0.5
    mag_tau_s: float = 0.05
    mag_reference_tau_s: float = 20.0
    mag_norm: float = 0.1
    mag_dip_deg: float = 10.0
    mag_new_s: float = 20.0
    mag_new_first_s: float = 5.0
    mag_new_least_dps: float = 20.0
    mag_clean_s: float = 0.5
    mag_longest_rejection_s: float = 60.0
    mag_rejection_factor: float = 2.0
    declination_rad: float = 0.0
    longest_step_s: float = 0.5

    def __post_init__(self) -> None:
        check(self, above_0=_POSITIVE, from_0=_NOT_NEGATIVE)
        set_fields(self, **{name: finite(name, getattr(self, name)) for name in ("tau_mag_s", "mag_reference_tau_s")})
        for name in ("motion_bias", "rest_bias", "mag_rejection"):
            if not isinstance(getattr(self, name), bool):
                raise InputError(f"{name} is {getattr(self, name)!r}; give True or False")

    def own_settings(self) -> Mapping[int, float]:
        i, k = inclination, kernel
        return {
            i.TAU_ACC: self.tau_acc_s,
            i.TAU_REST: self.rest_tau_s,
            i.REST_TIME: self.rest_least_s,
            i.REST_GYR: self.rest_gyr_dps * _DEG,
            i.REST_ACC: self.rest_acc_mps2,
            i.BIAS_CLIP: self.bias_clip_dps * _DEG,
            i.BIAS_SIGMA_START: self.bias_sigma_start_dps * _DEG,
            i.BIAS_GROWTH: (_BIAS_GROWTH_DPS * _DEG) ** 2 / self.bias_forgetting_s,
            i.BIAS_SIGMA_MOTION: self.bias_sigma_motion_dps * _DEG,
            i.VERTICAL_FACTOR: max(self.bias_vertical_factor, 1e-10),
            i.BIAS_SIGMA_REST: self.bias_sigma_rest_dps * _DEG,
            i.USE_MOTION: self.motion_bias,
            i.USE_REST: self.rest_bias,
            k.TAU_MAG: self.tau_mag_s,
            k.USE_REJECTION: self.mag_rejection,
            k.TAU_FIELD: self.mag_tau_s,
            k.TAU_REFERENCE: self.mag_reference_tau_s,
            k.NORM_OFF: self.mag_norm,
            k.DIP_OFF: self.mag_dip_deg * _DEG,
            k.NEW_TIME: self.mag_new_s,
            k.NEW_FIRST_TIME: self.mag_new_first_s,
            k.NEW_RATE: self.mag_new_least_dps * _DEG,
            k.CLEAN_TIME: self.mag_clean_s,
            k.LONGEST_REJECTION: self.mag_longest_rejection_s,
            k.REJECTION_FACTOR: self.mag_rejection_factor,
        }


_POSITIVE = (
    *("tau_acc_s", "bias_sigma_start_dps", "bias_forgetting_s", "bias_clip_dps", "bias_sigma_motion_dps"),
    *("bias_sigma_rest_dps", "rest_tau_s", "mag_rejection_factor"),
)
_NOT_NEGATIVE = (
    *("bias_vertical_factor", "rest_least_s", "rest_gyr_dps", "rest_acc_mps2", "mag_tau_s", "mag_norm", "mag_dip_deg"),
    *("mag_new_s", "mag_new_first_s", "mag_new_least_dps", "mag_clean_s", "mag_longest_rejection_s"),
)
