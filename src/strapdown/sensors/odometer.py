"""A wheel odometer: ticks of an encoder on a wheel that rolls along the body's x axis.

The hub at r_bw_b moves along x with v_x + (w x r)_x, so v_x - w_z y for a wheel at y to the left. The wheel knows
nothing of motion sideways. It errs by its radius, by slip, and by an encoder that stops counting, which looks like a
vehicle that stands.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strapdown.checks import finite, not_negative, positive, settle, triple
from strapdown.errors import InputError
from strapdown.rotation import IDENTITY, q_rotate
from strapdown.sensors.streams import branch
from strapdown.types import Motion

Array = NDArray[np.float64]
Interval = tuple[float, float]
Stream = np.random.Generator | np.random.SeedSequence

X_B = np.array([1.0, 0.0, 0.0])
MOST_TICKS = 2.0**53  # beyond it a float does not count by ones


@dataclass(frozen=True, eq=False)
class Wheel:
    """Readings: counts since t[0] (None without ticks) and distance_m, (n,), backward counts down.

    slipping, dead: whether it slipped, or did not count, during the step that ends at t; truth, for plots and tests.
    """

    t: Array
    counts: NDArray[np.int64] | None
    distance_m: Array
    slipping: NDArray[np.bool_]
    dead: NDArray[np.bool_]

    def __post_init__(self) -> None:
        for array in (self.counts, self.distance_m, self.slipping, self.dead):
            if array is not None:
                array.flags.writeable = False

    def speed_m_s(self) -> Array:
        """Mean over each step, (n - 1,): reading k is of the step that ends at t[k + 1]."""
        return np.diff(self.distance_m) / np.diff(self.t)


@dataclass(frozen=True)
class WheelOdometer:
    """One specimen of a wheel with its encoder.

    radius_m: by which ticks are turned into distance. ticks_per_revolution: None is a continuous reading. r_bw_b (m):
    the wheel in frame b. scale_error: 0.01 reads 1 % too far (a wheel smaller than radius_m). roughness (m/sqrt(m)):
    the distance after L metres has a deviation of roughness sqrt(L), and a wheel at rest has none. slip: (least, most)
    part of the speed by which a slipping wheel spins while driving and lags while braking, drawn for each event from
    0 to 1 (1: spins twice as fast, or is locked); events are slip_intervals_s, or, without these, whenever the
    acceleration along x is above slip_above_m_s2. dead_s: intervals, to inf if need be, in which nothing is counted.
    """

    radius_m: float
    ticks_per_revolution: int | None = None
    r_bw_b: ArrayLike = (0.0, 0.0, 0.0)
    scale_error: float = 0.0
    roughness: float = 0.0
    slip: Interval = (0.0, 0.0)
    slip_above_m_s2: float = 0.5
    slip_intervals_s: tuple[Interval, ...] = ()
    dead_s: tuple[Interval, ...] = ()

    def __post_init__(self) -> None:
        ticks, scale_error = self.ticks_per_revolution, finite("scale_error", self.scale_error)
        if ticks is not None and (isinstance(ticks, bool) or not isinstance(ticks, int | np.integer) or ticks < 1):
            raise InputError(f"ticks_per_revolution is {ticks!r}; give a whole number above 0, or none")
        if scale_error <= -1.0:
            raise InputError(f"scale_error is {scale_error:g}; give a part above -1, such as 0.01 for 1 %")
        settle(
            self,
            radius_m=positive("radius_m", self.radius_m),
            r_bw_b=triple("r_bw_b", self.r_bw_b),
            scale_error=scale_error,
            roughness=not_negative("roughness", self.roughness),
            slip=_fractions(self.slip),
            slip_above_m_s2=not_negative("slip_above_m_s2", self.slip_above_m_s2),
            slip_intervals_s=_intervals("slip_intervals_s", self.slip_intervals_s),
            dead_s=_intervals("dead_s", self.dead_s),
        )

    @classmethod
    def pair(cls, track_m: float, radius_m: float, **settings: Any) -> tuple[Self, Self]:
        """A left and a right wheel alike, track_m apart; give each its own stream when measuring."""
        half = 0.5 * positive("track_m", track_m)
        return cls(radius_m, r_bw_b=(0.0, half, 0.0), **settings), cls(radius_m, r_bw_b=(0.0, -half, 0.0), **settings)

    @property
    def tick_m(self) -> float | None:
        """Distance of one tick."""
        return None if self.ticks_per_revolution is None else 2.0 * np.pi * self.radius_m / self.ticks_per_revolution

    def measure(self, motion: Motion, *, stream: Stream) -> Wheel:
        """Readings along the motion of the body (frame b), at its times."""
        t = motion.t
        speed, acceleration = self._rolling(motion)
        # off by T^2/12 times the change of acceleration from start to end of the run, however long it is: the steps'
        # errors cancel. A higher order would take an impact's spike of acceleration for distance.
        rolled = 0.5 * np.diff(t) * (speed[1:] + speed[:-1])
        for_phase, for_noise, for_slip = branch(stream, 3)  # switching on an error does not move the others' draws
        slipped = self._slip(t, speed, acceleration, for_slip)
        dead = _overlap(self.dead_s, t)
        read = rolled * (1.0 + self.scale_error) * (1.0 + slipped)
        read += self.roughness * np.sqrt(np.abs(rolled)) * for_noise.standard_normal(len(rolled))
        distance: Array = np.concatenate([[0.0], np.cumsum(read * (1.0 - dead))])
        flags = (np.concatenate([[False], x != 0.0]) for x in (slipped, dead))
        tick_m = self.tick_m
        if tick_m is None:
            return Wheel(t, None, distance, *flags)
        ticks = distance / tick_m
        if not np.max(np.abs(ticks)) < MOST_TICKS:
            raise InputError(f"ticks of {tick_m:g} m are too small to count {np.max(np.abs(distance)):g} m; give fewer")
        start = for_phase.random()  # the wheel happens to stand anywhere between two ticks
        counts = np.floor(ticks + start).astype(np.int64)
        return Wheel(t, counts, tick_m * counts.astype(np.float64), *flags)

    def _rolling(self, motion: Motion) -> tuple[Array, Array]:
        """Speed of the hub along x, and its derivative: the x axis turns too."""
        hub = motion.seen_from(self.r_bw_b, IDENTITY)
        x_n = q_rotate(hub.q_nb, X_B)
        turning_n = q_rotate(hub.q_nb, np.cross(hub.w_nb_b, X_B))
        return _dot(hub.v_n, x_n), _dot(hub.a_n, x_n) + _dot(hub.v_n, turning_n)

    def _slip(self, t: Array, speed: Array, acceleration: Array, stream: np.random.Generator) -> Array:
        """By what part of the rolled distance the wheel turns too far, for each step."""
        mean_speed, mean = 0.5 * (speed[1:] + speed[:-1]), 0.5 * (acceleration[1:] + acceleration[:-1])
        braking = mean_speed * mean < 0.0
        least, most = self.slip
        if most == 0.0:
            return np.zeros(len(mean))
        if self.slip_intervals_s:
            parts = stream.uniform(least, most, len(self.slip_intervals_s))
            size = sum(part * _overlap((one,), t) for part, one in zip(parts, self.slip_intervals_s, strict=True))
        else:
            hard = np.abs(mean) > self.slip_above_m_s2
            begins = hard & ~(
                np.concatenate([[False], hard[:-1]]) & (braking == np.concatenate([[False], braking[:-1]]))
            )
            event = np.cumsum(begins)
            parts = stream.uniform(least, most, int(event[-1]) if len(event) else 0)
            size = np.where(hard, np.concatenate([[0.0], parts])[event], 0.0)
        return np.where(braking, -size, size)


def distance_and_turn(left: Wheel, right: Wheel, track_m: float) -> tuple[Array, Array]:
    """Of the middle between two wheels: distance (m), and yaw turned (rad, to the left) since the start."""
    if not np.array_equal(left.t, right.t):
        raise InputError("left and right wheel have other times; measure both along the same motion")
    track = positive("track_m", track_m)
    return 0.5 * (left.distance_m + right.distance_m), (right.distance_m - left.distance_m) / track


def _overlap(intervals: Iterable[Interval], t: Array) -> Array:
    """Which part of each step lies in the intervals (which do not overlap)."""
    share = np.zeros(len(t) - 1)
    for start, end in intervals:
        share += np.maximum(0.0, np.minimum(t[1:], end) - np.maximum(t[:-1], start)) / np.diff(t)
    return share


def _dot(a: Array, b: Array) -> Array:
    return np.einsum("ij,ij->i", a, b)


def _fractions(value: Interval) -> Interval:
    try:
        least, most = (float(x) for x in value)
    except (TypeError, ValueError):
        least, most = np.nan, np.nan
    if not 0.0 <= least <= most <= 1.0:
        raise InputError(f"slip is {value!r}; give the least and the most part, from 0 to 1")
    return least, most


def _intervals(name: str, value: Iterable[Interval]) -> tuple[Interval, ...]:
    try:
        found = tuple((float(start), float(end)) for start, end in value)
    except (TypeError, ValueError):
        raise InputError(f"{name} is {value!r}; give pairs of times (start, end) in s") from None
    for start, end in found:
        if not (np.isfinite(start) and start < end):
            raise InputError(f"{name} has ({start:g}, {end:g}); give a start and a later end, in s")
    for (_, end), (start, _) in pairwise(found):
        if start < end:
            raise InputError(f"{name} overlap or are not in order at {start:g} s; sort and join them")
    return found
