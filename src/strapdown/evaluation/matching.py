"""An estimate and its reference at the same times, in the same frame.

Nothing is aligned unless the name of a function states it. Frame n is the estimate's, frame m the reference's; without
alignment they are taken for the same.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from strapdown.arrays import locked, locked_time
from strapdown.errors import InputError
from strapdown.evaluation.stops import positions
from strapdown.motion.recorded import RecordedMotion
from strapdown.motion.resample import resample
from strapdown.rotation import q_conj, q_exp, q_from_matrix, q_log, q_mul, q_rotate, q_slerp
from strapdown.types import Array, Motion, Solution

GAP_FACTOR = 10.0  # a step of a reference longer than this many median steps is a gap, inside which nothing is compared
PYSHOE_HEADING_M = 0.8  # where the authors of foot_vicon align the heading


@dataclass(frozen=True, eq=False)
class Positions:
    """A reference with positions (m, frame n) and no attitudes, as an optical marker gives them."""

    t: Array
    p_n: Array

    def __post_init__(self) -> None:
        t = locked_time(self.t)
        object.__setattr__(self, "t", t)
        object.__setattr__(self, "p_n", locked(self.p_n, (len(t), 3), "p_n of the reference", t))


Reference = Motion | RecordedMotion | Solution | Positions


@dataclass(frozen=True, eq=False)
class Matched:
    """Estimate and reference at the same times: those of the estimate at which the reference is known.

    rows: the samples of the estimate that are compared.
    length_m: path length of the reference up to each of them.
    """

    t: Array
    rows: NDArray[np.int64]
    p_n: Array
    q_nb: Array
    true_p_n: Array
    true_q_nb: Array | None
    length_m: Array

    def __len__(self) -> int:
        return len(self.t)

    @property
    def error_n(self) -> Array:
        """Position error, m, (n, 3)."""
        return self.p_n - self.true_p_n

    @property
    def attitude_error_n(self) -> Array:
        """Rotation vector (rad, frame n) that turns the true attitude into the estimated one, (n, 3)."""
        return q_log(q_mul(self.q_nb, q_conj(self.known_attitude)))

    @property
    def known_attitude(self) -> Array:
        """The reference's attitude, for callers that need it."""
        if self.true_q_nb is None:
            raise InputError("the reference has no attitudes, only positions; give one with attitudes for these errors")
        return self.true_q_nb


def matched(estimate: Solution, reference: Reference) -> Matched:
    """The reference at the estimate's times, where the two overlap; times inside its gaps are excluded.

    Between its samples a Motion is interpolated by quintics, another reference linearly.
    """
    p_n = positions(estimate)
    known = _with_positions(reference)
    rows = _known_rows(estimate.t, known.t)
    true_p_n, true_q_nb = _told_at(known, estimate.t[rows])
    steps = np.linalg.norm(np.diff(true_p_n, axis=0), axis=1)
    length = np.concatenate([[0.0], np.cumsum(steps)])
    return Matched(estimate.t[rows], rows, p_n[rows], estimate.q_nb[rows], true_p_n, true_q_nb, length)


def refuse_other_run(t: Array, reference: Reference) -> None:
    """Refuse a reference of another run, before an estimate at the times t is made."""
    _known_rows(t, _with_positions(reference).t)


def attitudes_at(t: Array, reference: Reference) -> tuple[NDArray[np.int64], Array | None]:
    """The samples of t at which the reference is known, and its attitudes there; None where it has none."""
    known = reference.at_samples() if isinstance(reference, RecordedMotion) else reference
    rows = _known_rows(t, known.t)
    return rows, None if isinstance(known, Positions) else _attitude_at(known, t[rows])


def _with_positions(reference: Reference) -> Motion | Solution | Positions:
    known = reference.at_samples() if isinstance(reference, RecordedMotion) else reference
    if known.p_n is None:
        raise InputError("the reference has no positions, only attitudes; give one with positions")
    return known


def _known_rows(t: Array, known_t: Array) -> NDArray[np.int64]:
    slack = 1e-9 * max(1.0, abs(float(known_t[-1])))  # a grid made by adding up steps misses the end by roundoff
    inside = (t >= known_t[0] - slack) & (t <= known_t[-1] + slack)
    step = np.diff(known_t)
    if len(step):
        before = np.clip(np.searchsorted(known_t, t, side="right") - 1, 0, len(step) - 1)
        gap = step[before] > GAP_FACTOR * np.median(step)
        inside &= ~gap | np.isin(t, known_t)
    rows = np.flatnonzero(inside)
    if len(rows) < 2:
        raise InputError(
            f"the estimate goes from {t[0]:.6g} to {t[-1]:.6g} s and the reference from {known_t[0]:.6g} to "
            f"{known_t[-1]:.6g} s, so {len(rows)} samples can be compared; give a reference of the same run and clock"
        )
    return rows


def _told_at(known: Motion | Solution | Positions, t: Array) -> tuple[Array, Array | None]:
    assert known.p_n is not None
    if np.array_equal(known.t, t):
        return np.array(known.p_n), None if isinstance(known, Positions) else np.array(known.q_nb)
    inside = np.clip(t, known.t[0], known.t[-1])
    if isinstance(known, Motion):
        told = resample(known, inside)
        return np.array(told.p_n), np.array(told.q_nb)
    p_n = np.column_stack([np.interp(inside, known.t, known.p_n[:, i]) for i in range(3)])
    if isinstance(known, Positions):
        return p_n, None
    return p_n, _attitude_at(known, inside)


def _attitude_at(known: Motion | Solution, t: Array) -> Array:
    """Between two samples it turns at a constant rate."""
    inside = np.clip(t, known.t[0], known.t[-1])
    row = np.clip(np.searchsorted(known.t, inside, side="right") - 1, 0, len(known.t) - 2)
    fraction = (inside - known.t[row]) / (known.t[row + 1] - known.t[row])
    return q_slerp(known.q_nb[row], known.q_nb[row + 1], fraction)


@dataclass(frozen=True, eq=False)
class Placement:
    """A rigid move from frame n of the estimate to frame m of the reference: p_m = q_mn p_n + r_m (m)."""

    q_mn: Array
    r_m: Array

    def of(self, pair: Matched) -> Matched:
        """The same pair of estimate and reference, with the estimate expressed in the reference's frame."""
        return replace(pair, p_n=q_rotate(self.q_mn, pair.p_n) + self.r_m, q_nb=q_mul(self.q_mn, pair.q_nb))


def rigid_placement(p_n: Array, p_m: Array) -> Placement:
    """The rotation and shift of least squares (Umeyama 1991, without scale)."""
    from_mean, to_mean = p_n - p_n.mean(axis=0), p_m - p_m.mean(axis=0)
    u, _, vt = np.linalg.svd(to_mean.T @ from_mean)
    mirror = np.diag([1.0, 1.0, np.sign(np.linalg.det(u @ vt))])  # a reflection fits better at times and is no motion
    q_mn = q_from_matrix(u @ mirror @ vt)
    return Placement(q_mn, p_m.mean(axis=0) - q_rotate(q_mn, p_n.mean(axis=0)))


def yaw_placement(p_n: Array, p_m: Array) -> Placement:
    """The turn about the vertical and the shift of least squares, which an inertial estimate does not determine."""
    (x, y), (to_x, to_y) = (p_n - p_n.mean(axis=0)).T[:2], (p_m - p_m.mean(axis=0)).T[:2]
    yaw = np.arctan2(np.sum(x * to_y - y * to_x), np.sum(x * to_x + y * to_y))
    q_mn = q_exp([0.0, 0.0, yaw])
    return Placement(q_mn, p_m.mean(axis=0) - q_rotate(q_mn, p_n.mean(axis=0)))


def first_steps_placement(p_n: Array, p_m: Array, distance_m: float = PYSHOE_HEADING_M) -> Placement:
    """Alignment at the starts, and by the heading at which the estimate is distance_m from its start.

    The authors of foot_vicon do the same, at the sample before it gets there (PyShoe's align_plots). An estimate that
    never reaches this distance is aligned where it is farthest.
    """
    away = np.hypot(*(p_n - p_n[0]).T[:2])
    i = int(np.argmax(away >= distance_m)) - 1 if away.max() >= distance_m else int(np.argmax(away))
    (x, y), (to_x, to_y) = (p_n[i] - p_n[0])[:2], (p_m[i] - p_m[0])[:2]
    q_mn = q_exp([0.0, 0.0, np.arctan2(x * to_y - y * to_x, x * to_x + y * to_y)])
    return Placement(q_mn, p_m[0] - q_rotate(q_mn, p_n[0]))


def aligned_yaw(pair: Matched) -> Matched:
    return yaw_placement(pair.p_n, pair.true_p_n).of(pair)


def aligned_rigid(pair: Matched) -> Matched:
    return rigid_placement(pair.p_n, pair.true_p_n).of(pair)


def aligned_first_steps(pair: Matched, distance_m: float = PYSHOE_HEADING_M) -> Matched:
    return first_steps_placement(pair.p_n, pair.true_p_n, distance_m).of(pair)
