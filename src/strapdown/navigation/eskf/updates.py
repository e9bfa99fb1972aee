"""Measurements of the error-state filter besides rate and force: one small class of settings for each.

A filter without a piece (None) does not use that measurement. Standard deviations are of one sample. Position fixes and
heights of a sample are always used, and need no settings: they carry their own standard deviations.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from strapdown.errors import InputError


@dataclass(frozen=True)
class _Checked:
    """Numbers of the settings: finite or infinite as stated, and not negative."""

    _SIGNED: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value is None:
                continue
            good = isinstance(value, int | float) and not isinstance(value, bool) and not np.isnan(value)
            if not good or (value < 0.0 and name not in self._SIGNED):
                raise InputError(f"{name} of {type(self).__name__} is {value!r}; give a number that is not negative")


@dataclass(frozen=True)
class ZeroVelocity(_Checked):
    """At a believed stop the sensor is at rest: velocity 0 within sigma_m_s.

    insist_s: time of stops that are all rejected for their innovation although the body does not turn. After it the
        velocity is taken as wrong, and its variance is increased. A stop of a foot is shorter than that of a vehicle:
        give it less.
    arm_m: distance of the sensor from the point at rest: while the body turns about it, the sensor moves.
    """

    sigma_m_s: float = 5e-4
    insist_s: float = 1.0
    arm_m: float = 0.0


@dataclass(frozen=True)
class ZeroRate(_Checked):
    """At a believed stop the body does not turn: the gyroscope reads its bias, within its own noise and sigma_rad_s.

    turning: rad/sqrt(s), random walk of the attitude meanwhile.
    unseen_turn: variance of a turn of the ground that is too slow to be detected, as a share of the variance of the
        bias before the first stop. 0: the ground does not turn. Not for a foot, which turns during a stance.
    """

    sigma_rad_s: float = 0.0
    turning: float = 0.0
    unseen_turn: float = 0.0


@dataclass(frozen=True)
class FlatFloor(_Checked):
    """The floor is flat and level.

    height_sigma_m: sigma of the difference in height between the start and another place.
    velocity_sigma_m_s: sigma of the vertical speed between stops. Either sigma may be None. While the body is tilted by
    more than tilt_rad it is on a slope, and neither sigma is used.
    length_m: length over which the floor is uneven. Heights and slopes of places that are nearer are the same. 0: the
        heights of all samples at stops are independent, as are the vertical speeds of samples.
    slope_of_pitch: a small usual pitch may be that of the mounting, or the floor climbs. It is the sigma of
        the slope, as a share of the pitch. The slope is considered, not estimated. A pitch that differs by more than
        0.01 rad and three sigmas for a second, and climbs by three sigmas of the height, ends the floor. From
        there on, and where both sigmas are None, the body moves along its own x axis, and its mounting is uncertain by
        0.02 rad. 0: no floor has a slope, as for a foot, whose pitch does not show it.
    mounting_sigma_rad: sigma of the turn of the sensor's axes against the wheels.
    """

    height_sigma_m: float | None = 0.005
    velocity_sigma_m_s: float | None = 0.003
    tilt_rad: float = 0.06
    slope_of_pitch: float = 0.0
    mounting_sigma_rad: float = 0.0
    length_m: float = 0.0


@dataclass(frozen=True)
class NonHolonomic(_Checked):
    """Between stops the body's origin moves along body x only: sideways and upward speeds are 0 within these (m/s)."""

    sideways_sigma_m_s: float = 0.003
    upward_sigma_m_s: float | None = 0.003


@dataclass(frozen=True)
class WheelTravel(_Checked):
    """The odometer of the recording: travel along body x of the body's origin, compared over windows of window_s.

    sigma_m: sigma of the travel in a window, half a tick at least.
    scale: true travel for one metre read.
    scale_sigma: its sigma. The scale is considered (its uncertainty acts on all other states) but not estimated.
    Predicted
        speeds are too noisy for that, and an estimate comes out too small.
    slip: sigma of the share by which the wheels read too far, or too little, in a turn of 0.3 rad/s and more. The slip
        stays the same for about a second.
    """

    sigma_m: float = 5e-4
    window_s: float = 0.1
    scale: float = 1.0
    scale_sigma: float = 0.002
    slip: float = 0.0


@dataclass(frozen=True)
class MagneticHeading(_Checked):
    """Azimuth of the horizontal field, less the declination (rad, field east of north is positive).

    sigma_rad: sigma of a sample.
    disturbance_rad: disturbance of the local field's azimuth, which is estimated. It is correlated over correlation_m
        of distance and correlation_s of time. 0: the azimuth is the Earth's.
    field_ut, dip_rad: the Earth's (dip down); without them those of the alignment.

    A field that differs by more than field_tolerance (a share of it) or dip_tolerance_rad is not used.
    """

    _SIGNED: ClassVar[tuple[str, ...]] = ("declination_rad", "dip_rad")

    sigma_rad: float = 0.02
    disturbance_rad: float = 0.05
    correlation_m: float = 1.0
    correlation_s: float = 1000.0
    declination_rad: float = 0.0
    field_ut: float | None = None
    dip_rad: float | None = None
    field_tolerance: float = 0.15
    dip_tolerance_rad: float = 0.15
