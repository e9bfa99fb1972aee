"""A smooth path through places, and attitudes, at given times."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from strapdown.checks import Array, attitude, finite, rows, set_fields, times_within
from strapdown.errors import InputError
from strapdown.motion.paths.heading import Jet, attitude_from_heading, yaw_along
from strapdown.motion.paths.profile import Keep, MoveTo, Profile, SmoothRamp, interval_of
from strapdown.motion.rotation_spline import RotationSpline
from strapdown.rotation import wrap
from strapdown.types import Motion

SAMPLES = 64  # places per segment where the direction of a leg is looked at, to find where it turns back
SHORTEST_STEP_S = 1e-9  # no body moves in less, and the spline's powers of it leave the numbers
SAME_PLACE = 1e-9  # m: but for the roundoff of how it was computed


@dataclass(frozen=True)
class Waypoints:
    """Be at p_n[i] (m), in attitude q_nb[i], at times_s[i] (from 0, increasing).

    Acceleration, jerk, attitude, rate and angular acceleration are continuous; the path starts and ends at
    rest. The same place twice in a row is a stop: the body comes to rest there and stays. The same attitude twice in a
    row is held. q_nb None: level, heading along the velocity. During a stop it turns to the heading with which it
    leaves.
    """

    times_s: ArrayLike
    p_n: ArrayLike
    q_nb: ArrayLike | None = None

    def __post_init__(self) -> None:
        times = tuple(finite("times_s", t) for t in np.atleast_1d(np.asarray(self.times_s, dtype=object)))
        if len(times) < 2 or times[0] != 0.0 or min(np.diff(times)) <= 0.0:
            raise InputError("times_s must start at 0 and increase, with at least two times")
        steps = np.diff(times)
        if min(steps) < SHORTEST_STEP_S:
            i = int(np.argmin(steps))
            raise InputError(
                f"times_s goes from {times[i]:g} to {times[i + 1]:g} in less than {SHORTEST_STEP_S:g} s; "
                f"leave more time before waypoint {i + 1}"
            )
        p_n = rows("p_n", self.p_n, 3)
        q_nb = None if self.q_nb is None else rows("q_nb", self.q_nb, 4)
        for name, table in (("p_n", p_n), ("q_nb", q_nb)):
            if table is not None and len(table) != len(times):
                raise InputError(f"{name} has {len(table)} rows for {len(times)} times; give one row for each time")
        set_fields(
            self,
            times_s=times,
            p_n=tuple(tuple(float(c) for c in row) for row in p_n),
            q_nb=None if q_nb is None else tuple(attitude(f"q_nb[{i}]", q) for i, q in enumerate(q_nb)),
        )
        _ = self._attitude

    @cached_property
    def _parts(self) -> "list[_Leg | _Stand]":
        """Legs and stops in order: neighbouring segments of the same kind are one part."""
        times, p_n = np.array(self.times_s), np.array(self.p_n)
        still = np.linalg.norm(np.diff(p_n, axis=0), axis=1) < SAME_PLACE
        cuts = [0, *(np.flatnonzero(still[1:] != still[:-1]) + 1), len(still)]
        return [
            _Stand(times[i], times[j], p_n[i]) if still[i] else _Leg(times[i : j + 1], p_n[i : j + 1])
            for i, j in pairwise(cuts)
        ]

    @cached_property
    def _attitude(self) -> Callable[[Array], tuple[Array, Array, Array]]:
        if self.q_nb is not None:
            return RotationSpline(np.array(self.times_s), np.array(self.q_nb)).at
        headings = _headings(self._parts)
        return lambda t: attitude_from_heading(self._gather(t, headings))

    def _gather(self, t: Array, answers: list[Callable[[Array], tuple[Array, ...]]]) -> tuple[Array, Array, Array]:
        """Ask for each time the part that it belongs to."""
        starts_s = np.array([part.start_s for part in self._parts] + [self.duration_s])
        which = interval_of(t, starts_s)
        pieces = [answer(t[which == k]) for k, answer in enumerate(answers)]
        a, b, c = (np.concatenate(column) for column in zip(*pieces, strict=True))
        order = np.argsort(np.argsort(which, kind="stable"), kind="stable")  # back to the order of t
        return a[order], b[order], c[order]

    @property
    def duration_s(self) -> float:
        return float(np.asarray(self.times_s)[-1])

    @property
    def joints_s(self) -> tuple[float, ...]:
        """Times between the polynomials: the waypoints, and the middle of legs without a waypoint inside."""
        middles = [part.joints_s for part in self._parts if isinstance(part, _Leg)]
        inner = np.unique(np.concatenate([np.asarray(self.times_s)[1:-1], *middles]))
        return tuple(float(t) for t in inner)

    def at(self, t: ArrayLike) -> Motion:
        asked, inside = times_within(t, self.duration_s)
        place = self._gather(inside, [part.place for part in self._parts])
        return Motion(asked, *place, *self._attitude(inside))


class _Stand:
    """Stay at one place."""

    def __init__(self, start_s: float, end_s: float, p_n: Array) -> None:
        self.start_s, self.end_s, self._p_n = start_s, end_s, p_n

    def place(self, t: Array) -> tuple[Array, Array, Array]:
        zero = np.zeros((len(t), 3))
        return zero + self._p_n, zero, zero

    def turning(self, from_yaw: float, to_yaw: float) -> Callable[[Array], Jet]:
        profile = Profile([MoveTo(to_yaw, self.end_s - self.start_s)], value=from_yaw)
        return lambda t: profile.at(t - self.start_s)[:3]


class _Leg:
    """From rest to rest through waypoints: a quintic spline in a parameter s that starts and stops smoothly.

    The clock's rate goes from 0 to 1 during the first segment and back during the last. So the curve itself has a
    direction at its ends, and still the body comes to rest with zero acceleration and jerk.
    """

    def __init__(self, times_s: Array, p_n: Array) -> None:
        from scipy.interpolate import make_interp_spline  # slow to import, and only splines need it

        self.start_s, self.end_s = float(times_s[0]), float(times_s[-1])
        lengths_s = np.diff(times_s)
        if len(lengths_s) == 1:
            self._clock = Profile([SmoothRamp(1.0, 0.5 * lengths_s[0]), SmoothRamp(0.0, 0.5 * lengths_s[0])])
        else:
            running = [Keep(lengths_s[1:-1].sum())] if len(lengths_s) > 2 else []
            self._clock = Profile([SmoothRamp(1.0, lengths_s[0]), *running, SmoothRamp(0.0, lengths_s[-1])])
        self.joints_s = self.start_s + self._clock.joints_s[1:-1] if len(lengths_s) == 1 else np.zeros(0)
        self._knots = self._clock.at(np.clip(times_s - self.start_s, 0.0, self._clock.duration_s))[0]
        free_end = [(2, np.zeros(3)), (3, np.zeros(3))]  # with two waypoints only this gives a straight line
        spline = make_interp_spline(self._knots, p_n, k=5, bc_type=(free_end, free_end))
        self._curve = [spline, *(spline.derivative(order) for order in (1, 2, 3))]

    def _time(self, t: Array) -> tuple[Array, Array, Array]:
        return self._clock.at(np.clip(t - self.start_s, 0.0, self._clock.duration_s))[:3]

    def place(self, t: Array) -> tuple[Array, Array, Array]:
        s, rate, acceleration = self._time(t)
        rate, acceleration = rate[:, None], acceleration[:, None]
        p, d1, d2, _ = (d(s) for d in self._curve)
        return p, d1 * rate, d2 * rate**2 + d1 * acceleration

    @cached_property
    def _sampled_yaw(self) -> tuple[Array, Array]:
        """The direction along the leg without jumps by whole turns; an error where there is none."""
        knots = self._knots
        s = np.append(np.linspace(knots[:-1], knots[1:], SAMPLES, endpoint=False, axis=1).ravel(), knots[-1])
        d1 = self._curve[1](s)
        pace = np.hypot(d1[:, 0], d1[:, 1])
        yaw = np.unwrap(np.arctan2(d1[:, 1], d1[:, 0]))
        lost = pace <= 1e-3 * np.linalg.norm(d1, axis=1).max()
        lost[1:] |= np.abs(np.diff(yaw)) > 0.5 * np.pi
        if lost.any():
            clock_s = np.linspace(0.0, self._clock.duration_s, 10 * len(s))
            at_s = self.start_s + np.interp(s[np.argmax(lost)], self._clock.at(clock_s)[0], clock_s)
            raise InputError(
                f"near {at_s:.3g} s the path has no heading (it turns back or goes straight up or down); "
                "give attitudes, or stand there by giving the place twice"
            )
        return s, yaw

    @property
    def end_yaws(self) -> tuple[float, float]:
        yaw = self._sampled_yaw[1]
        return float(yaw[0]), float(yaw[-1])

    def heading(self, whole_turns: float) -> Callable[[Array], Jet]:
        s_ref, yaw_ref = self._sampled_yaw

        def jet(t: Array) -> Jet:
            s, rate, acceleration = self._time(t)
            d1, d2, d3 = (d(s) for d in self._curve[1:])
            yaw = np.arctan2(d1[:, 1], d1[:, 0])
            yaw += 2.0 * np.pi * np.round((np.interp(s, s_ref, yaw_ref) - yaw) / (2.0 * np.pi))
            return yaw + whole_turns, *yaw_along(d1, d2, d3, rate, acceleration)

        return jet


def _headings(parts: list[_Leg | _Stand]) -> list[Callable[[Array], tuple[Array, ...]]]:
    """Yaw with its derivatives along each part; a stop turns from the heading before to the one after."""
    legs = [part for part in parts if isinstance(part, _Leg)]
    if not legs:
        raise InputError("the path never leaves its place, so it has no heading; give attitudes")
    yaw = legs[0].end_yaws[0]
    answers: list[Callable[[Array], tuple[Array, ...]]] = []
    for i, part in enumerate(parts):
        if isinstance(part, _Leg):
            first, last = part.end_yaws
            answers.append(part.heading(yaw - first))  # a whole number of turns, but for roundoff
            yaw += last - first
        else:
            following = [leg for leg in parts[i + 1 : i + 2] if isinstance(leg, _Leg)]
            next_yaw = yaw + float(wrap(following[0].end_yaws[0] - yaw)) if following else yaw
            answers.append(part.turning(yaw, next_yaw))
            yaw = next_yaw
    return answers
