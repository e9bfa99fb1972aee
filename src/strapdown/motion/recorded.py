"""Recorded poses as a motion: velocity, acceleration, angular rate and acceleration by local splines."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strapdown.arrays import locked, locked_attitude, locked_time
from strapdown.errors import InputError, LogWarning
from strapdown.keywords import keywords_of
from strapdown.motion.hermite import hermite, hermite_attitude, rates_from_chart
from strapdown.motion.local_fit import SHORTEST_PIECE, local_derivatives
from strapdown.motion.pose_file import read_columns_on_clock
from strapdown.motion.quaternion_order import XYZW, looks_like_xyzw
from strapdown.rotation import q_conj, q_continuous, q_exp, q_log, q_mul, q_normalise
from strapdown.types import Array, Motion

# A grid made by adding up steps misses the end of a recording by roundoff
END_ROUNDOFF_S = 1e-9
LARGEST_M = 1e12  # beyond this positions are no places, and their squares no numbers

POSITION_COLUMNS = ("p_x", "p_y", "p_z")
ATTITUDE_COLUMNS = ("q_w", "q_x", "q_y", "q_z")
_UNITS = {"t": "s", **dict.fromkeys(POSITION_COLUMNS, "m"), **dict.fromkeys(ATTITUDE_COLUMNS, "1")}


@dataclass(frozen=True, eq=False)
class PoseIncrements:
    """Exact changes between neighbouring poses (none across a gap), whatever the motion in between.

    t (s) is the middle of each interval, dt (s) its length, dp_n (m) the displacement, theta_b (rad) the rotation
    vector.
    """

    t: Array
    dt: Array
    dp_n: Array
    theta_b: Array

    @property
    def v_n(self) -> Array:
        """Mean velocity of the interval, m/s; to second order the velocity at its middle."""
        return self.dp_n / self.dt[:, None]

    @property
    def w_nb_b(self) -> Array:
        """Mean angular rate of the interval, rad/s; to second order the rate at its middle."""
        return self.theta_b / self.dt[:, None]


@dataclass(frozen=True, eq=False)
class RecordedMotion:
    """Poses of a body at recorded times (s), taken as given: the motion passes through every one of them.

    Only where the poses show pure jitter does it pass between them, along a smooth curve (local_fit).

    p_n: position (m).
    q_nb: attitude (w, x, y, z); its sign may flip from row to row.

    Rates at the poses come from neighbouring poses (local_fit states which), and between poses from quintics through
    them. Position, velocity, acceleration, attitude, rate and angular acceleration are continuous.

    pose_time_offset_s: the pose recorded at t belongs to t + pose_time_offset_s. Engines with a semi-implicit step h
    move the pose with the new velocity. Their poses are half a step ahead of their clock, so the offset is h / 2. It
    matters where other signals on the engine's clock are compared; the motion's shape is the same.

    gap_factor: a time step longer than this many median steps is a gap. Nothing is differenced across it, and
    the motion is not known inside it.

    clock_s: reading of the log's clock where t is 0. For stamps like 1.7e9 s a double has a resolution of only 2e-7 s,
    which spoils differences. So t is small, and clock_s is added to every time that is stated.
    """

    t: Array
    p_n: Array
    q_nb: Array
    pose_time_offset_s: float = 0.0
    gap_factor: float = 1.5
    clock_s: float = 0.0
    _start: NDArray[np.int64] = field(init=False, repr=False)  # first row of each piece

    def __post_init__(self) -> None:
        t = locked_time(self.t)
        n = len(t)
        p_n = locked(self.p_n, (n, 3), "p_n", t)
        far = np.flatnonzero(np.abs(p_n).max(axis=1) > LARGEST_M)
        if len(far):
            raise InputError(
                f"p_n is {np.abs(p_n[far[0]]).max():.3g} m at sample {far[0]} (t = {t[far[0]]:.6g} s), beyond "
                f"{LARGEST_M:g} m; check its unit and its columns"
            )
        q_nb = q_continuous(q_normalise(locked_attitude(self.q_nb, n, "q_nb", t)))
        q_nb.flags.writeable = False
        for name in ("pose_time_offset_s", "clock_s"):
            if not np.isfinite(getattr(self, name)):
                raise InputError(f"{name} is {getattr(self, name)}; give a number of seconds")
        if not self.gap_factor > 1.0:
            raise InputError(f"gap_factor is {self.gap_factor}; give a number above 1")
        if n < SHORTEST_PIECE:
            raise InputError(f"the recording has {n} poses; rates need at least {SHORTEST_PIECE} in a row")
        step = np.diff(t)
        start = np.concatenate([[0], np.flatnonzero(step > self.gap_factor * np.median(step)) + 1])
        length = np.diff(np.append(start, n))
        if length.min() < SHORTEST_PIECE:
            i = start[np.argmin(length)]
            raise InputError(
                f"only {length.min()} poses stand between gaps at sample {i} (t = {t[i]:.6g} s), rates need "
                f"{SHORTEST_PIECE} in a row; drop them, or raise gap_factor above {self.gap_factor:g}"
            )
        for name, value in (("t", t), ("p_n", p_n), ("q_nb", q_nb), ("_start", start)):
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.t)

    @property
    def start_s(self) -> float:
        """Time of the first pose."""
        return float(self.t[0] + self._shift_s)

    @property
    def duration_s(self) -> float:
        """Time from the first pose to the last."""
        return float(self.t[-1] - self.t[0])

    @property
    def gaps(self) -> list[tuple[float, float]]:
        """Times (s) of the poses before and after each gap."""
        t = self.t + self._shift_s
        return [(float(t[i - 1]), float(t[i])) for i in self._start[1:]]

    def from_zero(self) -> "RecordedMotion":
        """The same motion on a clock that reads 0 at its first pose: a Path has times from 0 to duration_s."""
        return replace(self, t=self.t - self.t[0], pose_time_offset_s=0.0, clock_s=0.0)

    def part(self, start_s: float | None = None, end_s: float | None = None) -> "RecordedMotion":
        """Only the poses from start_s to end_s, on the same clock as start_s; None: from the first, to the last."""
        t = self.t + self._shift_s
        low = t[0] if start_s is None else start_s
        high = t[-1] if end_s is None else end_s
        inside = (t >= low - END_ROUNDOFF_S) & (t <= high + END_ROUNDOFF_S)
        if inside.sum() < SHORTEST_PIECE:
            raise InputError(
                f"start_s {low:.9g} to end_s {high:.9g} holds {inside.sum()} poses, rates need "
                f"{SHORTEST_PIECE}; the recording goes from {t[0]:.9g} to {t[-1]:.9g} s"
            )
        return replace(self, t=self.t[inside], p_n=self.p_n[inside], q_nb=self.q_nb[inside])

    def noise_estimate(self) -> tuple[float, float]:
        """RMS errors (m/s2, rad/s) of acceleration and rate at the poses that jitter of the poses makes.

        The jitter is measured by sixth differences, in which a smooth motion leaves nothing. It is taken as random from
        pose to pose, and multiplied by the noise gain of the neighbours used. NaN where there are no seven poses in a
        row.
        """
        knots, _ = self._fitted
        found: tuple[list[Array], list[Array]] = ([], [])
        for first, last in zip(self._start, self._last, strict=True):
            if last - first < 6:
                continue
            middle = slice(first + 3, last - 2)
            late = np.diff(self.t[first : last + 1], 6)[:, None]  # uneven steps are no jitter of the poses
            found[0].append(np.diff(self.p_n[first : last + 1], 6, axis=0) - knots.v_n[middle] * late)
            found[1].append(np.diff(self._turns[first:last], 5, axis=0) - knots.w_nb_b[middle] * late)
        h, (gain_a, gain_w) = float(np.median(np.diff(self.t))), self._fitted[1]
        sigma_m, sigma_rad = (_jitter(np.concatenate(x)) if x else np.nan for x in found)
        return sigma_m * gain_a / h**2, sigma_rad * gain_w / h

    @property
    def _shift_s(self) -> float:
        """Shift from t to the stated times."""
        return self.clock_s + self.pose_time_offset_s

    def at_samples(self) -> Motion:
        """The motion at the recorded poses; its times are those of the poses, t + clock_s + pose_time_offset_s."""
        return replace(self._fitted[0], t=self.t + self._shift_s)

    def at(self, t: ArrayLike) -> Motion:
        """The motion at any times (s, increasing) from start_s to start_s + duration_s outside of gaps."""
        asked = locked_time(np.atleast_1d(np.asarray(t, dtype=np.float64)))
        knot = self._fitted[0]
        i, inside = self._interval(asked)
        j = i + 1
        step = knot.t[j] - knot.t[i]
        u = (inside - knot.t[i]) / step
        p_n, v_n, a_n = hermite(u, step, *((knot.p_n[end], knot.v_n[end], knot.a_n[end]) for end in (i, j)))
        q_nb, w_nb_b, dw_nb_b = hermite_attitude(
            u, step, *((knot.q_nb[end], knot.w_nb_b[end], knot.dw_nb_b[end]) for end in (i, j))
        )
        return Motion(asked, p_n, v_n, a_n, q_nb, w_nb_b, dw_nb_b)

    def increments(self) -> PoseIncrements:
        """Displacement and turn between neighbouring poses."""
        inside = np.ones(len(self) - 1, dtype=bool)
        inside[self._start[1:] - 1] = False
        dt = np.diff(self.t)
        middle = self.t[:-1] + 0.5 * dt + self._shift_s
        return PoseIncrements(middle[inside], dt[inside], np.diff(self.p_n, axis=0)[inside], self._turns[inside])

    @cached_property
    def _turns(self) -> Array:
        """Rotation vector from each pose to the next, (n - 1, 3)."""
        return q_log(q_mul(q_conj(self.q_nb[:-1]), self.q_nb[1:]))

    @cached_property
    def _last(self) -> NDArray[np.int64]:
        """Last row of each piece."""
        return np.append(self._start[1:], len(self)) - 1

    @cached_property
    def _fitted(self) -> tuple[Motion, tuple[float, float]]:
        """The motion at the poses, on the clock of t; and the RMS noise gains of acceleration and rate."""
        shift_n, v_n, a_n, shift_b, w_nb_b, dw_nb_b = (np.empty((len(self), 3)) for _ in range(6))
        gain2 = np.zeros(2)
        turned = np.linalg.norm(self._turns, axis=1)
        for first, last in zip(self._start, self._last, strict=True):
            piece = slice(first, last + 1)
            t, near = self.t[piece], np.zeros(last - first)
            place = local_derivatives(t, _seen_from_each(self.p_n[piece]), near)
            turn = local_derivatives(t, _turned_from_each(self.q_nb[piece]), turned[first:last])
            shift_n[piece], v_n[piece], a_n[piece] = place.value, place.first, place.second
            shift_b[piece], w_nb_b[piece], dw_nb_b[piece] = turn.value, turn.first, turn.second
            gain2 += np.sum(place.noise_gain[:, 1] ** 2), np.sum(turn.noise_gain[:, 0] ** 2)
        q_nb = q_mul(self.q_nb, q_exp(shift_b))
        w_nb_b, dw_nb_b = rates_from_chart(shift_b, w_nb_b, dw_nb_b)
        gain_a, gain_w = np.sqrt(gain2 / len(self))
        return Motion(self.t, self.p_n + shift_n, v_n, a_n, q_nb, w_nb_b, dw_nb_b), (float(gain_a), float(gain_w))

    def _interval(self, asked: Array) -> tuple[NDArray[np.int64], Array]:
        """The row before each time, and the times without roundoff at the ends of pieces."""
        knot_t, shift = self.t, self._shift_s
        asked = asked - shift
        edges = knot_t[np.sort(np.concatenate([self._start, self._last]))]
        after = np.clip(np.searchsorted(edges, asked), 1, len(edges) - 1)
        edge = np.where(asked - edges[after - 1] < edges[after] - asked, edges[after - 1], edges[after])
        t = np.where(np.abs(asked - edge) <= END_ROUNDOFF_S, edge, asked)
        row = np.searchsorted(knot_t, t, side="right") - 1
        outside = (row < 0) | (t > knot_t[-1])
        if outside.any():
            hint = "" if self.start_s == 0.0 else "; from_zero() gives this motion on a clock that starts at 0"
            raise InputError(
                f"t = {t[np.argmax(outside)] + shift:.6g} s is outside of the recording "
                f"({knot_t[0] + shift:.6g} to {knot_t[-1] + shift:.6g} s){hint}"
            )
        row = np.where(np.isin(row, self._last) & (t == knot_t[row]), row - 1, row)
        in_gap = np.isin(row, self._last)
        if in_gap.any():
            k = row[np.argmax(in_gap)]
            raise InputError(
                f"t = {t[np.argmax(in_gap)] + shift:.6g} s lies in a gap of the recording, from "
                f"{knot_t[k] + shift:.6g} s to {knot_t[k + 1] + shift:.6g} s; ask for times outside of it"
            )
        return row, t


def _seen_from_each(p_n: Array) -> Callable[[NDArray[np.int64]], Array]:
    """Positions relative to each sample: no digits are lost far from the origin."""
    return lambda rows: p_n[rows] - p_n[:, None]


def _turned_from_each(q_nb: Array) -> Callable[[NDArray[np.int64]], Array]:
    """The chart phi = log(q_k^-1 q) of each sample k: phi' and phi'' at k are the rate and its derivative."""
    return lambda rows: q_log(q_mul(q_conj(q_nb)[:, None], q_nb[rows]))


def _jitter(sixth: Array) -> float:
    """RMS length of random errors of the samples that would cause these sixth differences (n, 3); switches are rare."""
    length2 = np.median(np.einsum("ki,ki->k", sixth, sixth))
    return float(np.sqrt(length2 / 924.0 * 3.0 / 2.366))  # squares of 1 6 15 20 ..; mean over median of chi-square of 3


@keywords_of(RecordedMotion)
def read_poses(
    path: str | PathLike[str], columns: Mapping[str, str] | None = None, **settings: float
) -> RecordedMotion:
    """Poses from a CSV file (also .csv.gz) with the columns t, p_x, p_y, p_z, q_w, q_x, q_y, q_z.

    The header may have units behind the names, `t [s]`. Other names are given by a mapping from ours to the file's,
    {"p_x": "D1_x"}; further columns do not matter.

    settings: pose_time_offset_s, gap_factor. t begins at 0; clock_s is the reading of the file's clock there, to all
        its digits.
    """
    unknown = sorted(set(columns or {}) - set(_UNITS))
    if unknown:
        raise InputError(f"columns names {', '.join(unknown)}; the names to map are {', '.join(_UNITS)}")
    names = {name: (columns or {}).get(name, name) for name in _UNITS}
    x, clock_s = read_columns_on_clock(path, names, _UNITS, "t")
    if looks_like_xyzw(np.column_stack([x[name] for name in ATTITUDE_COLUMNS])):
        warnings.warn(f"{path}: {XYZW}", LogWarning, stacklevel=2)
    try:
        return RecordedMotion(
            x["t"],
            np.column_stack([x[name] for name in POSITION_COLUMNS]),
            np.column_stack([x[name] for name in ATTITUDE_COLUMNS]),
            clock_s=clock_s,
            **settings,
        )
    except InputError as error:
        clock = "" if clock_s == 0.0 else f", times count from its {clock_s:.9f} s"
        raise InputError(f"{path}: {error} (sample 0 is the first row under the header{clock})") from None
