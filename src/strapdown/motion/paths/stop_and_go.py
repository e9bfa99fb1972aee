"""Paper C's runs: straight legs with a stop every 0.3 m, and turns on the spot at the corners."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strapdown.checks import Array, finite, positive, rows, set_fields, times_within, triple
from strapdown.errors import InputError
from strapdown.keywords import shows_keywords
from strapdown.motion.paths.heading import attitude_from_heading, turned_by
from strapdown.motion.paths.profile import Keep, MoveTo, Phase, Profile, interval_of
from strapdown.rotation import wrap
from strapdown.types import Motion

NORTH = 0.5 * np.pi  # yaw, counter-clockwise from x (east)
MOST_MOVES = 1e5  # more, and the spacing is a typing error


@dataclass(frozen=True, eq=False)
class Stops:
    """Places and times of the stops of a vehicle; the first is the rest before the run, at path length 0."""

    start_s: Array
    end_s: Array
    p_n: Array
    path_length_m: Array

    def __len__(self) -> int:
        return len(self.start_s)


@shows_keywords("square", "straight")
@dataclass(frozen=True)
class StopAndGo:
    """Drive a polyline: a stop every stop_spacing_m and at each corner; corners turn on the spot.

    corners_m: rows (x, y) of the polyline in its own plane, whose origin is at start_p_n (m) and whose x axis points
    along start_yaw_rad. The body is level and heads along its leg. Each move between stops takes move_s, each stop
    rest_s, each turn turn_s, the rest before the run first_rest_s. Acceleration, rate and angular acceleration are
    continuous (least-jerk moves).
    """

    corners_m: ArrayLike
    stop_spacing_m: float = 0.3
    move_s: float = 2.0
    rest_s: float = 2.0
    turn_s: float = 2.0
    first_rest_s: float = 5.0
    start_p_n: ArrayLike = (0.0, 0.0, 0.0)
    start_yaw_rad: float = NORTH

    def __post_init__(self) -> None:
        corners = rows("corners_m", self.corners_m, 2)
        same = (np.diff(corners, axis=0) == 0.0).all(axis=1)
        if len(corners) < 2 or same.any():
            raise InputError("corners_m needs at least two corners, each at another place than the one before")
        moves = _moves(np.hypot(*np.diff(corners, axis=0).T), positive("stop_spacing_m", self.stop_spacing_m))
        if moves.sum() > MOST_MOVES:
            raise InputError(
                f"stop_spacing_m of {self.stop_spacing_m:g} makes {moves.sum():.3g} moves of this path, more than "
                f"{MOST_MOVES:g}; make it longer"
            )
        durations = ("move_s", "rest_s", "turn_s", "first_rest_s")
        set_fields(
            self,
            corners_m=tuple((float(x), float(y)) for x, y in corners),
            stop_spacing_m=positive("stop_spacing_m", self.stop_spacing_m),
            start_p_n=triple("start_p_n", self.start_p_n),
            start_yaw_rad=finite("start_yaw_rad", self.start_yaw_rad),
            **{name: positive(name, getattr(self, name)) for name in durations},
        )

    @classmethod
    def square(cls, side_m: float = 1.2, **settings: Any) -> Self:
        """Counter-clockwise from the origin and back; the first leg goes north (+y), the second west (-x)."""
        side = positive("side_m", side_m)
        return cls([[0.0, 0.0], [side, 0.0], [side, side], [0.0, side], [0.0, 0.0]], **settings)

    @classmethod
    def straight(cls, length_m: float = 6.6, **settings: Any) -> Self:
        """A path from the origin north to (0, length_m)."""
        return cls([[0.0, 0.0], [positive("length_m", length_m), 0.0]], **settings)

    @cached_property
    def _legs(self) -> tuple[Array, Array, Array]:
        """Path length at each corner, direction (frame n) of each leg, yaw of each leg."""
        ways = np.diff(np.array(self.corners_m), axis=0)
        lengths = np.hypot(ways[:, 0], ways[:, 1])
        yaws = self.start_yaw_rad + np.arctan2(ways[:, 1], ways[:, 0])
        turns = wrap(np.diff(yaws))
        turns[turns < -np.pi + 1e-9] += 2.0 * np.pi  # half a turn goes to the left, whatever the roundoff
        return (
            np.concatenate([[0.0], np.cumsum(lengths)]),
            turned_by(self.start_yaw_rad, ways / lengths[:, None]),
            yaws[0] + np.concatenate([[0.0], np.cumsum(turns)]),
        )

    def _steps(self) -> Iterator[tuple[Phase, Phase, int]]:
        """Steps in order of time: change of the path length, change of the yaw, and number of the leg."""
        lengths_m, _, yaws = self._legs
        yield Keep(self.first_rest_s), Keep(self.first_rest_s), 0
        for leg, yaw in enumerate(yaws):
            if leg > 0 and abs(yaw - yaws[leg - 1]) > 1e-9:  # roundoff: straight on
                yield Keep(self.turn_s), MoveTo(yaw, self.turn_s), leg
            start_m, end_m = lengths_m[leg], lengths_m[leg + 1]
            moves = int(_moves(end_m - start_m, self.stop_spacing_m))
            for move in range(1, moves + 1):
                stop_m = min(start_m + move * self.stop_spacing_m, end_m) if move < moves else end_m
                yield MoveTo(stop_m, self.move_s), Keep(self.move_s), leg
                yield Keep(self.rest_s), Keep(self.rest_s), leg

    @cached_property
    def _timeline(self) -> tuple[Profile, Profile, Array]:
        length, yaw, leg = zip(*self._steps(), strict=True)
        return Profile(length), Profile(yaw, value=self._legs[2][0]), np.array(leg)

    @property
    def duration_s(self) -> float:
        return self._timeline[0].duration_s

    @property
    def joints_s(self) -> tuple[float, ...]:
        """Times between moves, rests and turns."""
        return self._timeline[0].inner_joints_s

    def at(self, t: ArrayLike) -> Motion:
        asked, inside = times_within(t, self.duration_s)
        length, yaw, legs = self._timeline
        leg = legs[interval_of(inside, length.joints_s)]
        lengths_m, along_n, _ = self._legs
        corners_n = np.add(self.start_p_n, turned_by(self.start_yaw_rad, np.array(self.corners_m)))
        s, v, a, _ = (x[:, None] for x in length.at(inside))
        return Motion(
            asked,
            corners_n[leg] + (s - lengths_m[leg, None]) * along_n[leg],
            v * along_n[leg],
            a * along_n[leg],
            *attitude_from_heading(yaw.at(inside)[:3]),
        )

    @cached_property
    def stops(self) -> Stops:
        """The stops, in order of time."""
        joints_s = self._timeline[0].joints_s
        standing = np.array([isinstance(a, Keep) and isinstance(b, Keep) for a, b, _ in self._steps()])
        start_s, end_s = joints_s[:-1][standing], joints_s[1:][standing]
        return Stops(start_s, end_s, self.at(start_s).p_n, self._timeline[0].at(start_s)[0])

    def stopped(self, t: ArrayLike) -> NDArray[np.bool_]:
        """The controller's stop signal: true from the start of a stop to just before a move or turn."""
        _, inside = times_within(t, self.duration_s)
        stand = np.searchsorted(self.stops.start_s, inside, side="right") - 1
        return (inside < self.stops.end_s[stand]) | (inside == self.duration_s)


def _moves(length_m: ArrayLike, spacing_m: float) -> Array:
    """Number of moves of a leg. Roundoff must not add a last move of zero length."""
    with np.errstate(over="ignore"):  # endless, and then given as that
        return np.ceil(np.asarray(length_m, dtype=np.float64) / spacing_m - 1e-9)
