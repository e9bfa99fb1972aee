"""Tumbling by hand, or in a ball: every direction of the body points up, and north, for about equal times."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from strapdown.checks import Array, finite, not_negative, positive, set_fields, times_within, triple
from strapdown.errors import InputError
from strapdown.motion.paths.profile import Keep, Profile, SmoothRamp
from strapdown.motion.rotation_spline import RotationSpline
from strapdown.rotation import q_exp, q_mul
from strapdown.types import Motion

HEADING_SHARE = 4.5  # times as fast about the vertical as the vertical runs over the sphere: fields of any dip cover it
KNOT_TURN_RAD = 0.35  # between knots of the attitude spline, which then keeps its rate to a few percent
RUN_UP_TURN_RAD = 2.0  # at most so much is turned while the rate grows, and while it falls
MOST_KNOTS = 20_000
LEAST_WINDINGS = 1.0


@dataclass(frozen=True)
class Tumble:
    """Rest first_rest_s, then tumble about p_n (m) at about rate_rad_s until duration_s, where it comes to rest.

    The vertical, seen from the body, runs at constant speed along a spiral from pole to pole. The windings have equal
    distances, so it spends the same time on every part of the sphere. Meanwhile the heading turns: other directions,
    such as the magnetic field, cover the sphere too. Starts level, heading start_yaw_rad (from x east). Everything up
    to the angular acceleration is continuous.
    """

    duration_s: float
    rate_rad_s: float = 1.5
    first_rest_s: float = 2.0
    start_yaw_rad: float = 0.0
    p_n: ArrayLike = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        set_fields(
            self,
            duration_s=positive("duration_s", self.duration_s),
            rate_rad_s=positive("rate_rad_s", self.rate_rad_s),
            first_rest_s=not_negative("first_rest_s", self.first_rest_s),
            start_yaw_rad=finite("start_yaw_rad", self.start_yaw_rad),
            p_n=triple("p_n", self.p_n),
        )
        left_s = self.duration_s - self.first_rest_s
        least_s = (4.0 * LEAST_WINDINGS * np.hypot(1.0, HEADING_SHARE) + RUN_UP_TURN_RAD) / self.rate_rad_s
        if left_s < least_s:
            raise InputError(
                f"after first_rest_s there are {max(left_s, 0.0):.3g} s left to tumble, which go once round the "
                f"sphere only in {least_s:.3g} s at this rate; raise duration_s or the rate"
            )
        if left_s * self.rate_rad_s > MOST_KNOTS * KNOT_TURN_RAD:
            raise InputError(f"duration_s is {self.duration_s:g}, more than a path holds; lower it or the rate")

    @cached_property
    def _knots(self) -> tuple[Array, Array]:
        """Times and attitudes of the spline."""
        left_s = self.duration_s - self.first_rest_s
        run_up_s = RUN_UP_TURN_RAD / self.rate_rad_s
        clock = Profile([SmoothRamp(1.0, run_up_s), Keep(left_s - 2.0 * run_up_s), SmoothRamp(0.0, run_up_s)])
        running_s = left_s - run_up_s  # at full rate: the clock's end
        knots = int(np.ceil(left_s * self.rate_rad_s / KNOT_TURN_RAD)) + 1
        times_s = np.linspace(0.0, left_s, knots)
        part = clock.at(times_s)[0] / running_s
        speed = self.rate_rad_s / np.hypot(1.0, HEADING_SHARE)
        q_nb = even_spiral(part, speed * running_s)
        yaw = self.start_yaw_rad + HEADING_SHARE * speed * running_s * part
        q_nb = q_mul(q_exp(yaw[:, None] * np.array([0.0, 0.0, 1.0])), q_nb)
        if self.first_rest_s > 0.0:
            times_s = np.concatenate([[0.0], self.first_rest_s + times_s])
            times_s[-1] = self.duration_s
            q_nb = np.concatenate([q_nb[:1], q_nb])
        return times_s, q_nb

    @cached_property
    def _spline(self) -> RotationSpline:
        return RotationSpline(*self._knots)

    @property
    def joints_s(self) -> tuple[float, ...]:
        """Knots of the attitude spline."""
        return tuple(float(t) for t in self._knots[0][1:-1])

    def at(self, t: ArrayLike) -> Motion:
        asked, inside = times_within(t, self.duration_s)
        zero = np.zeros((len(asked), 3))
        return Motion(asked, np.tile(self.p_n, (len(asked), 1)), zero, zero, *self._spline.at(inside))


def even_spiral(part: Array, length_rad: float) -> Array:
    """Attitudes whose vertical, seen from the body, has gone `part` (0 to 1) of a spiral of this length on the sphere.

    Spiral: azimuth = c * polar angle, from pole to pole. With constant speed along it the time on a belt of the sphere
    is proportional to its area. The body turns about no vertical axis on the way (parallel transport).
    """
    # length = integral of sqrt(1 + c^2 sin^2): 2 c and a little; windings c / 2
    fine = np.linspace(0.0, np.pi, 20_001)
    c = 0.5 * length_rad
    for _ in range(50):  # the excess over 2 c is small and falls with c: a fixed point within roundoff in a few
        run = _cumulated(np.sqrt(1.0 + (c * np.sin(fine)) ** 2), fine)
        c *= length_rad / run[-1]
    polar = np.interp(part * run[-1], run, fine)
    azimuth = c * polar
    up_b = np.stack([np.sin(polar) * np.cos(azimuth), np.sin(polar) * np.sin(azimuth), np.cos(polar)], axis=1)
    q_nb = np.empty((len(part), 4))
    q_nb[0] = 1.0, 0.0, 0.0, 0.0
    axes = np.cross(up_b[1:], up_b[:-1])
    sine = np.linalg.norm(axes, axis=1)
    angle = np.arctan2(sine, np.einsum("ij,ij->i", up_b[1:], up_b[:-1]))
    steps = q_exp(axes * (angle / np.where(sine > 0.0, sine, 1.0))[:, None])
    for k, step in enumerate(steps):
        q_nb[k + 1] = q_mul(q_nb[k], step)
    return q_nb / np.linalg.norm(q_nb, axis=1)[:, None]


def _cumulated(y: Array, x: Array) -> Array:
    return np.concatenate([[0.0], np.cumsum(0.5 * (y[1:] + y[:-1]) * np.diff(x))])
