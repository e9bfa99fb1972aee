"""Closed plane curves driven at a set pace: a circle and a figure eight, heading along the curve."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from strapdown.checks import Array, finite, not_negative, positive, set_fields, times_within, triple
from strapdown.errors import InputError
from strapdown.motion.paths.heading import Jet, attitude_from_heading, cross, dot, turned_by, yaw_along
from strapdown.motion.paths.profile import Keep, Phase, Profile, SmoothRamp
from strapdown.types import Motion

# A curve (x, y) and its first four derivatives in its angle, and its direction without jumps.
Curve = Callable[[Array], tuple[list[Array], Array]]


def _pace(rate: float, duration_s: float, run_up_s: float) -> Profile:
    """The curve's angle in time: at a constant rate, or smoothly from rest to it first."""
    if run_up_s == 0.0:
        return Profile([Keep(duration_s)], rate=rate)
    if run_up_s > duration_s:
        raise InputError(f"run_up_s is {run_up_s:g}, longer than duration_s, {duration_s:g}; make it shorter")
    phases: list[Phase] = [SmoothRamp(rate, run_up_s)]
    if duration_s > run_up_s:
        phases.append(Keep(duration_s - run_up_s))
    return Profile(phases)


def _bank(d: list[Array], rate: Array, acceleration: Array, jerk: Array, gravity: float) -> Jet:
    """Roll at which the specific force stays in the body's x-z plane, with its derivatives in time.

    The sideways acceleration is rate^2 k with k = d1 x d2 / |d1|, which stays defined at rest.
    """
    c = cross(d[1], d[2]), cross(d[1], d[3]), cross(d[2], d[3]) + cross(d[1], d[4])
    n = dot(d[1], d[1]), 2.0 * dot(d[1], d[2]), 2.0 * (dot(d[2], d[2]) + dot(d[1], d[3]))
    k = c[0] * n[0] ** -0.5
    dk = c[1] * n[0] ** -0.5 - 0.5 * c[0] * n[1] * n[0] ** -1.5
    ddk = (
        c[2] * n[0] ** -0.5 - (c[1] * n[1] + 0.5 * c[0] * n[2]) * n[0] ** -1.5 + 0.75 * c[0] * n[1] ** 2 * n[0] ** -2.5
    )
    left = rate**2 * k
    d_left = 2.0 * rate * acceleration * k + rate**3 * dk
    dd_left = 2.0 * (acceleration**2 + rate * jerk) * k + 5.0 * rate**2 * acceleration * dk + rate**4 * ddk
    total2 = gravity**2 + left**2
    return (
        -np.arctan(left / gravity),
        -gravity * d_left / total2,
        -gravity * (dd_left / total2 - 2.0 * left * d_left**2 / total2**2),
    )


def _along(curve: Curve, pace: Profile, t: ArrayLike, p_n: ArrayLike, yaw: float, bank_gravity: float | None) -> Motion:
    """Motion along the curve, whose origin is at p_n and whose x axis points along yaw."""
    asked, inside = times_within(t, pace.duration_s)
    angle, rate, acceleration, jerk = pace.at(inside)
    d, direction = curve(angle)
    turning = yaw_along(d[1], d[2], d[3], rate, acceleration)
    roll = None if bank_gravity is None else _bank(d, rate, acceleration, jerk, bank_gravity)
    return Motion(
        asked,
        np.add(p_n, turned_by(yaw, d[0])),
        turned_by(yaw, d[1] * rate[:, None]),
        turned_by(yaw, d[2] * rate[:, None] ** 2 + d[1] * acceleration[:, None]),
        *attitude_from_heading((yaw + direction, *turning), roll),
    )


def _checked_pace(path: "Circle | FigureEight") -> None:
    """The settings that both curves share."""
    set_fields(
        path,
        duration_s=positive("duration_s", path.duration_s),
        run_up_s=not_negative("run_up_s", path.run_up_s),
        bank_gravity_m_s2=None
        if path.bank_gravity_m_s2 is None
        else positive("bank_gravity_m_s2", path.bank_gravity_m_s2),
        start_p_n=triple("start_p_n", path.start_p_n),
    )


@dataclass(frozen=True)
class Circle:
    """A level circle from start_p_n (m), where it heads along start_yaw_rad; to the left unless clockwise.

    run_up_s: time to reach the speed smoothly from rest; 0: at speed from the beginning.
    bank_gravity_m_s2: lean into the turn so that there is no sideways force under this gravity; None: stay level.
    """

    radius_m: float
    speed_m_s: float
    duration_s: float
    run_up_s: float = 0.0
    clockwise: bool = False
    bank_gravity_m_s2: float | None = None
    start_p_n: ArrayLike = (0.0, 0.0, 0.0)
    start_yaw_rad: float = 0.0

    def __post_init__(self) -> None:
        _checked_pace(self)
        set_fields(
            self,
            radius_m=positive("radius_m", self.radius_m),
            speed_m_s=positive("speed_m_s", self.speed_m_s),
            start_yaw_rad=finite("start_yaw_rad", self.start_yaw_rad),
        )
        _ = self._pace

    @cached_property
    def _pace(self) -> Profile:
        return _pace(self.speed_m_s / self.radius_m, self.duration_s, self.run_up_s)

    @property
    def joints_s(self) -> tuple[float, ...]:
        """The end of the run-up, if there is one."""
        return self._pace.inner_joints_s

    def _curve(self, angle: Array) -> tuple[list[Array], Array]:
        s, c, side = np.sin(angle), np.cos(angle), -1.0 if self.clockwise else 1.0
        ahead, inward = (np.stack(xy, axis=-1) * self.radius_m for xy in ((c, side * s), (-s, side * c)))
        start = np.array([0.0, side * self.radius_m]) - inward
        return [start, ahead, inward, -ahead, -inward], side * angle

    def at(self, t: ArrayLike) -> Motion:
        return _along(self._curve, self._pace, t, self.start_p_n, self.start_yaw_rad, self.bank_gravity_m_s2)


@dataclass(frozen=True)
class FigureEight:
    """A level eight x = length/2 sin(a), y = width/2 sin(2a), from its crossing at start_p_n (m).

    axis_yaw_rad: direction of its long axis. The angle a grows at a constant rate after the run-up, once around in
    period_s, so the speed varies. run_up_s and bank_gravity_m_s2 are as for the circle. width_m None: half the length.
    """

    length_m: float
    period_s: float
    duration_s: float
    width_m: float | None = None
    run_up_s: float = 0.0
    bank_gravity_m_s2: float | None = None
    start_p_n: ArrayLike = (0.0, 0.0, 0.0)
    axis_yaw_rad: float = 0.0

    def __post_init__(self) -> None:
        _checked_pace(self)
        length_m = positive("length_m", self.length_m)
        set_fields(
            self,
            length_m=length_m,
            period_s=positive("period_s", self.period_s),
            width_m=0.5 * length_m if self.width_m is None else positive("width_m", self.width_m),
            axis_yaw_rad=finite("axis_yaw_rad", self.axis_yaw_rad),
        )
        _ = self._pace

    @cached_property
    def _pace(self) -> Profile:
        return _pace(2.0 * np.pi / self.period_s, self.duration_s, self.run_up_s)

    @property
    def joints_s(self) -> tuple[float, ...]:
        """The end of the run-up, if there is one."""
        return self._pace.inner_joints_s

    def _curve(self, angle: Array) -> tuple[list[Array], Array]:
        half_xy = 0.5 * np.array([self.length_m, self.width_m])
        s, c, s2, c2 = np.sin(angle), np.cos(angle), np.sin(2.0 * angle), np.cos(2.0 * angle)
        parts = [(s, s2), (c, 2.0 * c2), (-s, -4.0 * s2), (-c, -8.0 * c2), (s, 16.0 * s2)]
        d = [np.stack(xy, axis=-1) * half_xy for xy in parts]
        # the eight never heads along +y of its own frame, so measured from -y its direction does not jump
        return d, np.arctan2(d[1][:, 0], -d[1][:, 1]) - 0.5 * np.pi

    def at(self, t: ArrayLike) -> Motion:
        return _along(self._curve, self._pace, t, self.start_p_n, self.axis_yaw_rad, self.bank_gravity_m_s2)
