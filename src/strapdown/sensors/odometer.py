"""A wheel odometer: ticks of an encoder on a wheel that rolls along the body's x axis.

The hub at r_bw_b moves along x with v_x + (w x r)_x, so v_x - w_z y for a wheel at y to the left. The wheel does not
measure sideways motion. The errors of an odometer are its radius, slip, and an encoder that stops counting, which looks
like a vehicle at rest.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strapdown.checks import Interval, finite, intervals, not_negative, positive, set_fields, triple
from strapdown.errors import InputError
from strapdown.keywords import shows_keywords
from strapdown.rotation import IDENTITY, q_rotate
from strapdown.sensors.chain.state import (
    ReadingState,
    kept_generator,
    layout_of,
    origin_of,
    restored_generator,
    state_of,
)
from strapdown.sensors.streams import branch
from strapdown.types import Motion

Array = NDArray[np.float64]
Stream = np.random.Generator | np.random.SeedSequence

X_B = np.array([1.0, 0.0, 0.0])
# memory: time, speed and acceleration of the last row, distance, part of a tick at the start; the last slip: whether
# the last step was hard and braking, and the part by which it slipped
_TIME, _SPEED, _ACCELERATION, _DISTANCE, _PHASE, _HARD, _BRAKING, _PART, _SIZE = range(9)
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


@shows_keywords("pair", without=("r_bw_b",))
@dataclass(frozen=True)
class WheelOdometer:
    """One specimen of a wheel with its encoder.

    radius_m: radius that converts ticks into distance.
    ticks_per_revolution: None is a continuous reading.
    r_bw_b (m): the wheel in frame b.
    scale_error: 0.01 reads 1 % too far (a wheel smaller than radius_m). roughness (m/sqrt(m)): the distance after L
        metres has a sigma of roughness sqrt(L); a wheel at rest has none.
    slip: (least, most) part of the speed by which a slipping wheel spins while driving and lags while braking. The slip
        is drawn for each event from 0 to 1 (1: spins twice as fast, or is locked). Events are slip_intervals_s; without
        these, a wheel slips whenever the acceleration along x is above slip_above_m_s2.
    dead_s: intervals, possibly to inf, in which nothing is counted.
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
        set_fields(
            self,
            radius_m=positive("radius_m", self.radius_m),
            r_bw_b=triple("r_bw_b", self.r_bw_b),
            scale_error=scale_error,
            roughness=not_negative("roughness", self.roughness),
            slip=_fractions(self.slip),
            slip_above_m_s2=not_negative("slip_above_m_s2", self.slip_above_m_s2),
            slip_intervals_s=intervals("slip_intervals_s", self.slip_intervals_s),
            dead_s=intervals("dead_s", self.dead_s),
        )

    @classmethod
    def pair(cls, track_m: float, radius_m: float, **settings: Any) -> tuple[Self, Self]:
        """An equal left and right wheel, track_m apart; give each its own stream when measuring."""
        half = 0.5 * positive("track_m", track_m)
        return cls(radius_m, r_bw_b=(0.0, half, 0.0), **settings), cls(radius_m, r_bw_b=(0.0, -half, 0.0), **settings)

    @property
    def tick_m(self) -> float | None:
        """Distance of one tick."""
        return None if self.ticks_per_revolution is None else 2.0 * np.pi * self.radius_m / self.ticks_per_revolution

    def measure(self, motion: Motion, *, stream: Stream) -> Wheel:
        """Readings along the motion of the body (frame b), at its times."""
        return self.read(self.start(stream), motion)[1]

    def start(self, stream: Stream) -> ReadingState:
        """The state before the first row."""
        for_phase, for_noise, for_slip = branch(stream, 3)  # switching on an error does not move the others' draws
        memory = np.zeros(_SIZE)
        memory[_TIME], memory[_PHASE] = np.nan, for_phase.random()  # the wheel happens to stand between two ticks
        kept = (kept_generator(for_noise), kept_generator(for_slip))
        return state_of(origin_of(WheelOdometer, ()), memory, (np.empty(0), kept))

    def read(self, state: ReadingState, motion: Motion) -> tuple[ReadingState, Wheel]:
        """The next rows of the body's motion, in chunks of any size; distances count from the first row of all."""
        layout_of(state, WheelOdometer, "WheelOdometer(...).start(stream)")
        memory, (ahead, (for_noise, for_slip)) = state.memory.copy(), state.drawn
        begins = np.isnan(memory[_TIME])
        t = motion.t
        speed, acceleration = self._rolling(motion)
        if not begins:  # the step from the last row of the chunk before
            t, speed, acceleration = (
                np.concatenate([[memory[at]], x])
                for at, x in ((_TIME, t), (_SPEED, speed), (_ACCELERATION, acceleration))
            )
        # off by T^2/12 times the change of acceleration from start to end of the run, however long it is: the steps'
        # errors cancel. A higher order would take an impact's spike of acceleration for distance.
        rolled = 0.5 * np.diff(t) * (speed[1:] + speed[:-1])
        slipped, for_slip = self._slip(t, speed, acceleration, memory, for_slip)
        dead = _overlap(self.dead_s, t)
        read = rolled * (1.0 + self.scale_error) * (1.0 + slipped)
        generator = restored_generator(for_noise)
        read += self.roughness * np.sqrt(np.abs(rolled)) * generator.standard_normal(len(rolled))
        for_noise = kept_generator(generator)
        distance: Array = np.cumsum(np.concatenate([[memory[_DISTANCE]], read * (1.0 - dead)]))
        memory[[_TIME, _SPEED, _ACCELERATION, _DISTANCE]] = t[-1], speed[-1], acceleration[-1], distance[-1]
        flags = [np.concatenate([[False], x != 0.0]) for x in (slipped, dead)]
        if not begins:
            distance, flags = distance[1:], [x[1:] for x in flags]
        after = state_of(state.origin, memory, (ahead, (for_noise, for_slip)))
        tick_m = self.tick_m
        if tick_m is None:
            return after, Wheel(motion.t, None, distance, *flags)
        ticks = distance / tick_m
        if not np.max(np.abs(ticks)) < MOST_TICKS:
            raise InputError(f"ticks of {tick_m:g} m are too small to count {np.max(np.abs(distance)):g} m; give fewer")
        counts = np.floor(ticks + memory[_PHASE]).astype(np.int64)
        return after, Wheel(motion.t, counts, tick_m * counts.astype(np.float64), *flags)

    def _rolling(self, motion: Motion) -> tuple[Array, Array]:
        """Speed of the hub along x, and its derivative: the x axis turns too."""
        hub = motion.seen_from(self.r_bw_b, IDENTITY)
        x_n = q_rotate(hub.q_nb, X_B)
        turning_n = q_rotate(hub.q_nb, np.cross(hub.w_nb_b, X_B))
        return _dot(hub.v_n, x_n), _dot(hub.a_n, x_n) + _dot(hub.v_n, turning_n)

    def _slip(self, t: Array, speed: Array, acceleration: Array, memory: Array, kept: bytes) -> tuple[Array, bytes]:
        """Share of the rolled distance by which the wheel turns too far, for each step; also the generator's state."""
        mean_speed, mean = 0.5 * (speed[1:] + speed[:-1]), 0.5 * (acceleration[1:] + acceleration[:-1])
        braking = mean_speed * mean < 0.0
        least, most = self.slip
        if most == 0.0:
            return np.zeros(len(mean)), kept
        stream = restored_generator(kept)
        if self.slip_intervals_s:  # drawn anew for each chunk, from the same state
            parts = stream.uniform(least, most, len(self.slip_intervals_s))
            share = (part * _overlap((one,), t) for part, one in zip(parts, self.slip_intervals_s, strict=True))
            size = sum(share, np.zeros(len(mean)))
        else:
            hard = np.abs(mean) > self.slip_above_m_s2
            was_hard = np.concatenate([[memory[_HARD] != 0.0], hard])
            was_braking = np.concatenate([[memory[_BRAKING] != 0.0], braking])
            event = np.cumsum(hard & ~(was_hard[:-1] & (braking == was_braking[:-1])))
            parts = stream.uniform(least, most, int(event[-1]) if len(event) else 0)
            kept = kept_generator(stream)
            parts = np.concatenate([[memory[_PART]], parts])  # an event of the chunk before may go on
            size = np.where(hard, parts[event], 0.0)
            memory[[_HARD, _BRAKING, _PART]] = was_hard[-1], was_braking[-1], parts[-1]
        return np.where(braking, -size, size), kept


def distance_and_turn(left: Wheel, right: Wheel, track_m: float) -> tuple[Array, Array]:
    """Motion of the middle between two wheels: distance (m), and yaw turned (rad, to the left) since the start."""
    if not np.array_equal(left.t, right.t):
        raise InputError("left and right wheel have other times; measure both along the same motion")
    track = positive("track_m", track_m)
    return 0.5 * (left.distance_m + right.distance_m), (right.distance_m - left.distance_m) / track


def _overlap(intervals: Iterable[Interval], t: Array) -> Array:
    """Share of each step inside the intervals (which do not overlap)."""
    share = np.zeros(len(t) - 1)
    for start, end in intervals:
        share += np.maximum(0.0, np.minimum(t[1:], end) - np.maximum(t[:-1], start)) / np.diff(t)
    return share


def _dot(a: Array, b: Array) -> Array:
    return a[:, 0] * b[:, 0] + a[:, 1] * b[:, 1] + a[:, 2] * b[:, 2]  # einsum's order depends on the number of rows


def _fractions(value: Interval) -> Interval:
    try:
        least, most = (float(x) for x in value)
    except (TypeError, ValueError):
        least, most = np.nan, np.nan
    if not 0.0 <= least <= most <= 1.0:
        raise InputError(f"slip is {value!r}; give the least and the most part, from 0 to 1")
    return least, most
