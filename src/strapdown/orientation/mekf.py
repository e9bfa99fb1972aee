"""Multiplicative error-state Kalman filter (Lefferts, Markley and Shuster 1982; the error in frame n). The filter
estimates attitude, gyroscope bias and their sigmas, from the noise of the given part.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from strapdown.errors import InputError
from strapdown.kernels.orientation.mekf import filter as kernel
from strapdown.kernels.orientation.mekf import layout as layout
from strapdown.keywords import shows_keywords
from strapdown.orientation.running import OrientationFilter
from strapdown.orientation.settings import check
from strapdown.sensors.triad import FLICKER_FLOOR, Triad, instability_processes

_DEG = math.pi / 180.0
_LEAST_TILT_RAD = 0.001  # assumed: 1 mg is left by mounting, stress and ageing after the best calibration
_CHANGE_K = 5.0  # assumed, of the temperature against the one that bias and scale belong to
_CHANGE_S = 1200.0  # assumed, within which it changes by as much
_FLICKER_S = 30.0  # a random walk takes the place of flicker noise: both have the same Allan deviation at this time


@shows_keywords("for_triads")
@dataclass(frozen=True)
class Mekf(OrientationFilter):
    """White noise as N (its integral after t s has sigma N sqrt(t)): gyr_white rad/sqrt(s), acc_white m/s/sqrt(s),
    mag_white uT sqrt(s).

    gyr_walk: K of the gyroscope's bias, rad/s/sqrt(s).
    gyr_turn: contribution of a turn of 1 rad/s to gyr_white, by errors of scale and axes (by default 0.3 %).
    tilt_floor_rad: the part of the inclination's sigma that no averaging removes, by the accelerometer's bias over
        gravity (by default 3 mg). A heading by the magnetometer has it too, times the tangent of the dip. Both defaults
        are those of a consumer part after calibration. The default of gyr_walk is that of a part that warms up: drifts
        of up to 0.03 deg/s in a minute are followed.

    Accelerations of the motion: their variance and the time over which they are correlated are followed from the
    readings over motion_memory_s. The correlation time is motion_s at first, and stays between 0 and four times that.
    Slower accelerations, and those smaller than half the noise of a reading, look like an inclination. The mean force
    takes the place of a reading where its power at low frequencies is less, as in a hand. A reading is
    rejected if its norm is off gravity by more than acc_off_mps2 and by gate sigmas of a motion that has lasted. A
    reading is also rejected if its innovation is beyond gate sigmas. If the mean of specific force points beyond this
    angle from up for lost_s, the attitude is wrong and is determined again. Until then the sigmas contain that angle.

    Magnetic north has an error of mag_disturbance_deg, correlated over mag_disturbance_s. A place of rest has another
    one, which is constant there: iron under a resting sensor does not turn the heading. A reading is rejected if the
    norm or dip of the field differs from the reference by more than mag_norm (part of it) or mag_dip_deg. It is also
    rejected if its innovation is beyond the gate. Within the limits norm and dip add to the variance of north: iron
    turns a field as far as it changes them. After mag_patience_s of rejection field and heading are determined again.
    A field that stays the same while the sensor turns is believed after mag_reference_s, or after as long as the
    reference was seen. Where norm and dip are right, the heading is determined again after lost_s.

    Standard deviations at the start: bias_start_dps; attitude_start_deg of a given attitude; motion_start_mps2, the
    least one of the acceleration in the first samples. Added to it: the difference between the norm of specific force
    and gravity, and the excess that the first two motion_s show (kernels/orientation/mekf/start.py). Without
    magnetometer the yaw of the first sample is 0, and its standard deviation grows from 0.

    magnetometer: None: 9 axes if the log has one; False: 6 axes.
    declination_rad: declination of magnetic north from true north, east positive.
    """

    name: ClassVar[str] = "mekf"
    kernel: ClassVar[Any] = kernel
    reports_sigma: ClassVar[bool] = True

    magnetometer: bool | None = None
    gyr_white: float = 1e-4
    gyr_walk: float = 1e-4
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
        """For a part: its triads by name ("gyroscope", "accelerometer", "magnetometer" if it has one), as
        Specimen.triads() gives them. Their errors are those that no calibration has removed. Further settings by name.

        Every error of gyroscope and accelerometer counts, as noise, floor or first bias; those of the temperature
        over _CHANGE_K. Of the magnetometer only the noise counts: its other errors are mag_disturbance_deg, after
        calibration.
        """
        for name in ("gyroscope", "accelerometer"):
            if name not in triads:
                raise InputError(f"the part has no {name}; this filter needs a gyroscope and an accelerometer")
        gyr, acc = triads["gyroscope"], triads["accelerometer"]
        gravity = float(settings.get("gravity", cls.gravity))
        found = {
            "gyr_white": _rms(gyr.white),
            "gyr_walk": math.sqrt(_rms(gyr.walk) ** 2 + _flicker_walk(gyr) ** 2 + _changing_walk(gyr, gravity) ** 2),
            "gyr_turn": _turn_error(gyr),
            "acc_white": _rms(acc.white),
            "tilt_floor_rad": max(_LEAST_TILT_RAD, _force_error(acc, gravity) / gravity),
            "bias_start_dps": max(cls.bias_start_dps, steady_rate(gyr, gravity) / _DEG),
        }
        if "magnetometer" in triads:
            found["mag_white"] = _rms(triads["magnetometer"].white)
        else:
            found["magnetometer"] = False
        return cls(**{**found, **settings})

    def own_settings(self) -> Mapping[int, float]:
        return {
            layout.GYR_WHITE2: self.gyr_white**2,
            layout.GYR_WALK2: self.gyr_walk**2,
            layout.ACC_WHITE2: self.acc_white**2,
            layout.GRAVITY: self.gravity,
            layout.MOTION_S: self.motion_s,
            layout.MOTION_MEMORY_S: self.motion_memory_s,
            layout.ACC_OFF: self.acc_off_mps2,
            layout.TILT_FLOOR2: self.tilt_floor_rad**2,
            layout.MAG_WHITE2: self.mag_white**2,
            layout.MAG_DISTURBANCE2: (self.mag_disturbance_deg * _DEG) ** 2,
            layout.MAG_DISTURBANCE_S: self.mag_disturbance_s,
            layout.NORM_OFF: self.mag_norm,
            layout.DIP_OFF: self.mag_dip_deg * _DEG,
            layout.REFERENCE_S: self.mag_reference_s,
            layout.PATIENCE_S: self.mag_patience_s,
            layout.GATE2: self.gate**2,
            layout.BIAS_START2: (self.bias_start_dps * _DEG) ** 2,
            layout.ATTITUDE_START2: (self.attitude_start_deg * _DEG) ** 2,
            layout.MOTION_START2: self.motion_start_mps2**2,
            layout.GYR_TURN2: self.gyr_turn**2,
            layout.LOST_S: self.lost_s,
        }


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


def _coupling(matrix: ArrayLike) -> float:
    """Error on one axis of a vector of length 1 and any direction (root mean square), for an error of the matrix."""
    return float(np.sqrt(np.sum(np.square(matrix)) / 9.0))


def _slope(powers: tuple[tuple[float, float, float], ...]) -> float:
    """Error on one axis by the temperature."""
    return sum(_rms(power) * _CHANGE_K ** (p + 1) for p, power in enumerate(powers))


def _bend(triad: Triad, most: float) -> float:
    """Root mean square of the nonlinearity T3(x / full_scale), for x distributed evenly between -most and most."""
    if triad.full_scale is None:
        return 0.0
    u2 = min(most / triad.full_scale, 1.0) ** 2
    return _rms(triad.nonlinearity) * triad.full_scale * math.sqrt(3.0 * u2 - 4.8 * u2**2 + 16.0 / 7.0 * u2**3)


def _force_error(acc: Triad, gravity: float) -> float:
    """Error (m/s2) on one axis at rest, of all terms that do not average out."""
    _, deviations = instability_processes(*acc.instability_band_s)
    return math.hypot(
        *(_rms(acc.bias), _rms(acc.turn_on), _rms(acc.instability) * math.sqrt(float(deviations @ deviations))),
        gravity * _coupling(np.array(acc.matrix) - np.eye(3)),
        _bend(acc, gravity),  # gravity on one axis is between -g and g alike over all attitudes
        *(_slope(acc.temperature_bias), gravity * _slope(acc.temperature_scale) / math.sqrt(3.0)),
        acc.resolution / math.sqrt(12.0),
    )


def steady_rate(gyr: Triad, gravity: float) -> float:
    """Rate (rad/s) on one axis at rest: the bias that the filter has to find."""
    by_force = gravity * _coupling(gyr.g_sensitivity)
    return math.hypot(_rms(gyr.bias), _rms(gyr.turn_on), _slope(gyr.temperature_bias), by_force)


def _turn_error(gyr: Triad) -> float:
    """Error as a share of a turn: scale, axes, and the nonlinearity's linear part at small rates, T3(u) = -3 u."""
    matrix = np.sqrt(np.sum((np.array(gyr.matrix) - np.eye(3)) ** 2) / 3.0)
    return math.hypot(float(matrix), 3.0 * _rms(gyr.nonlinearity), _slope(gyr.temperature_scale))


def _flicker_walk(gyr: Triad) -> float:
    return FLICKER_FLOOR * _rms(gyr.instability) * math.sqrt(3.0 / _FLICKER_S)


def _changing_walk(gyr: Triad, gravity: float) -> float:
    """Random walk K for changes of the bias in use: by turns against gravity within some 30 s, and slowly by
    temperature.
    """
    by_force = gravity * _coupling(gyr.g_sensitivity) * math.sqrt(2.0 / _FLICKER_S)
    return math.hypot(by_force, _slope(gyr.temperature_bias) / math.sqrt(_CHANGE_S))
