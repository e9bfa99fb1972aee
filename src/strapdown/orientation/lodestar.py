"""Lodestar, the project's own orientation filter: on line (`step`, `run`) and off line (`smooth`).

Inclination and gyroscope bias are those of VQF (Laidig and Seel 2023). The gyroscope gives a frame that drifts slowly.
Specific force is low-passed in that frame, and its direction is up. At rest the gyroscope reads its bias. The heading
then limits a filter: disturbances of a magnetometer are larger than its noise, and last long. So the heading has a
Kalman filter of its own (kernels/orientation/lodestar/heading.py). The states are the heading of the level frame (1),
the error of the bias in motion (3), the errors of the gyroscope's scales and axes (9), and the local error of the
field's direction (1). The last one is a random walk while the sensor moves and is constant while it rests. Two things
follow. In motion a changed field is believed slowly. At rest the field's direction is learned at once, to mag_rest_deg
and no better, however long the rest. Where the field differs from the heading by more than the heading's uncertainty,
the place is taken as disturbed until the next motion.

A slow steady turn is as quiet as a rest. Force and field distinguish them. The exception is a turn about the vertical
without magnetometer. The heading's sigma then grows with the changes that rests make to the bias about the vertical.

Off line the same filter runs on an inclination low-passed both ways, then backward
(kernels/orientation/lodestar/smoother.py).

Frames: n has x east, y north, z up; north is magnetic north turned by the declination. Without magnetometer the
first heading is that of the shortest turn to the vertical. The gyroscope keeps it, and its sigma grows from there.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from strapdown.errors import InputError
from strapdown.kernels.orientation.lodestar import filter as kernel
from strapdown.kernels.orientation.lodestar import layout as layout
from strapdown.kernels.orientation.lodestar import smoother as smoother
from strapdown.kernels.orientation.vqf import inclination as inclination
from strapdown.keywords import shows_keywords
from strapdown.orientation.running import SmoothingFilter
from strapdown.orientation.settings import check
from strapdown.sensors.triad import Triad

_DEG = math.pi / 180.0
_BIAS_GROWTH_DPS = 0.1  # by which the sigma of a known bias has grown after bias_forgetting_s (VQF's choice)
_VERTICAL_FACTOR = 1e-4  # VQF's
_REST_TAU_S = 0.5  # VQF's


@shows_keywords("for_triads")
@dataclass(frozen=True)
class Lodestar(SmoothingFilter):
    """Angles in deg, rates in deg/s; the defaults were chosen on recordings of a hand-held MEMS part, 286 Hz, by
    cross-validation (docs/decisions/0007-orientation-filter.md).

    tau_acc_s: low-pass of specific force. rest_*: rest is when readings stay within rest_gyr_dps and rest_acc_mps2 of
        their mean for rest_least_s; loosen both for noisy parts.
    rest_tilt_deg, rest_heading_deg: how far force and level field may turn in s during a rest. A larger angle is a slow
        turn (kernels/orientation/lodestar/rest.py). bias_sigma_*: sigma of the gyroscope's bias, at the start and the
        smallest in motion and at rest.
    bias_clip_dps: its largest value.

    mag_noise_deg: sigma of a magnetic heading averaged over 1 s, in the reference field.
    mag_noise_growth: factor of the noise at the limits mag_norm (part of the reference's norm) and mag_dip_deg, beyond
        which a reading is rejected.
    mag_hold_s: time constant with which the memory of a disturbance decays.
    mag_rest_deg: sigma of magnetic north between places of rest.
    mag_place_deg: sigma in an unknown place, as at the start.
    mag_walk_deg: random walk of magnetic north in 1 s of motion, within mag_place_deg, and less where norm and dip are
        steady.
    drift_dps: error of the bias in motion.
    matrix_percent: error of the gyroscope's scales and axes, as after calibration.
    gyr_noise_deg: N of the gyroscope, deg/sqrt(s).
    mag_reference_s: time constant of the reference. mag_new_s of turning at mag_new_least_dps in a steady field make it
        the reference.
    start_heading_deg: sigma of the heading of a given attitude.
    tilt_deg: sigma of the inclination at rest.
    block_s: time between two steps of the heading filter.
    declination_rad: east positive.
    magnetometer: None: 9 axes if the log has one; False: 6 axes.
    """

    name: ClassVar[str] = "lodestar"
    kernel: ClassVar[Any] = kernel
    smoother: ClassVar[Any] = smoother
    reports_sigma: ClassVar[bool] = True

    magnetometer: bool | None = None
    tau_acc_s: float = 3.0
    rest_least_s: float = 1.5
    rest_gyr_dps: float = 2.0
    rest_acc_mps2: float = 0.5
    rest_tilt_deg: float = 0.8
    rest_heading_deg: float = 2.0
    bias_sigma_start_dps: float = 0.5
    bias_sigma_motion_dps: float = 0.1
    bias_sigma_rest_dps: float = 0.03
    bias_forgetting_s: float = 100.0
    bias_clip_dps: float = 2.0
    mag_noise_deg: float = 2.8
    mag_noise_growth: float = 10.0
    mag_norm: float = 0.1
    mag_dip_deg: float = 10.0
    mag_rest_deg: float = 1.0
    mag_place_deg: float = 3.5
    mag_walk_deg: float = 0.7
    drift_dps: float = 0.1
    matrix_percent: float = 0.2
    gyr_noise_deg: float = 0.02
    mag_reference_s: float = 20.0
    mag_new_s: float = 20.0
    mag_new_least_dps: float = 20.0
    mag_hold_s: float = 0.5
    start_heading_deg: float = 2.0
    tilt_deg: float = 0.2
    block_s: float = 0.1
    declination_rad: float = 0.0
    longest_step_s: float = 0.5

    def __post_init__(self) -> None:
        check(self, above_0=_POSITIVE, from_0=_NOT_NEGATIVE)

    @classmethod
    def for_triads(cls, triads: Mapping[str, Triad], **settings: Any) -> Self:
        """The filter with the gyroscope's white noise of a part, as Specimen.triads() gives it; further settings by
        name.
        """
        if "gyroscope" not in triads:
            raise InputError("the part has no gyroscope; this filter needs one")
        return cls(**{"gyr_noise_deg": max(triads["gyroscope"].white) / _DEG, **settings})

    def own_settings(self) -> Mapping[int, float]:
        i, h = inclination, layout
        return {
            i.TAU_ACC: self.tau_acc_s,
            i.TAU_REST: _REST_TAU_S,
            i.REST_TIME: self.rest_least_s,
            i.REST_GYR: self.rest_gyr_dps * _DEG,
            i.REST_ACC: self.rest_acc_mps2,
            i.BIAS_CLIP: self.bias_clip_dps * _DEG,
            i.BIAS_SIGMA_START: self.bias_sigma_start_dps * _DEG,
            i.BIAS_GROWTH: (_BIAS_GROWTH_DPS * _DEG) ** 2 / self.bias_forgetting_s,
            i.BIAS_SIGMA_MOTION: self.bias_sigma_motion_dps * _DEG,
            i.VERTICAL_FACTOR: _VERTICAL_FACTOR,
            i.BIAS_SIGMA_REST: self.bias_sigma_rest_dps * _DEG,
            i.USE_MOTION: 1.0,
            i.USE_REST: 1.0,
            h.BLOCK_S: self.block_s,
            h.NOISE: (self.mag_noise_deg * _DEG) ** 2,
            h.NOISE_GROWTH: self.mag_noise_growth,
            h.REST_VARIANCE: (self.mag_rest_deg * _DEG) ** 2,
            h.PLACE_VARIANCE: (self.mag_place_deg * _DEG) ** 2,
            h.WALK: (self.mag_walk_deg * _DEG) ** 2,
            h.RETURN: 0.5 * (self.mag_walk_deg / self.mag_place_deg) ** 2 if self.mag_place_deg > 0.0 else 0.0,
            h.DRIFT_VARIANCE: (self.drift_dps * _DEG) ** 2,
            h.MATRIX_VARIANCE: (0.01 * self.matrix_percent) ** 2,
            h.GYR_NOISE: (self.gyr_noise_deg * _DEG) ** 2,
            h.NORM_OFF: self.mag_norm,
            h.DIP_OFF: self.mag_dip_deg * _DEG,
            h.TAU_REFERENCE: self.mag_reference_s,
            h.NEW_TIME: self.mag_new_s,
            h.NEW_RATE: self.mag_new_least_dps * _DEG,
            h.HOLD_TIME: self.mag_hold_s,
            h.START_VARIANCE: (self.start_heading_deg * _DEG) ** 2,
            h.TILT_LIMIT: self.rest_tilt_deg * _DEG,
            h.NORTH_LIMIT: self.rest_heading_deg * _DEG,
            h.TILT_FLOOR: (self.tilt_deg * _DEG) ** 2,
        }


_POSITIVE = (
    *("tau_acc_s", "bias_sigma_start_dps", "bias_sigma_motion_dps", "bias_sigma_rest_dps", "bias_forgetting_s"),
    *(
        "bias_clip_dps",
        "rest_tilt_deg",
        "rest_heading_deg",
        "mag_noise_deg",
        "mag_norm",
        "mag_dip_deg",
        "mag_reference_s",
        "mag_hold_s",
        "start_heading_deg",
    ),
    "block_s",
)
_NOT_NEGATIVE = (
    *(
        "rest_least_s",
        "rest_gyr_dps",
        "rest_acc_mps2",
        "mag_noise_growth",
        "mag_rest_deg",
        "mag_place_deg",
        "mag_walk_deg",
        "drift_dps",
    ),
    *("matrix_percent", "gyr_noise_deg", "mag_new_s", "mag_new_least_dps", "tilt_deg"),
)
