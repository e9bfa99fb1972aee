"""The usual error figures of a trajectory. Errors are estimate minus reference in frame n (m, rad)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strapdown.errors import InputError
from strapdown.evaluation.attitude import AttitudeErrors, attitude_errors
from strapdown.evaluation.matching import Matched
from strapdown.evaluation.stops import believed_stands, positions
from strapdown.rotation import q_conj, q_log, q_mul, q_rotate
from strapdown.types import Array, Solution


def mean_axis_error(pair: Matched, dimensions: int = 2) -> float:
    """Mean error per axis (m): the mean over samples of the root mean square over the axes x, y (and z).

    In the plane it is the mean horizontal distance over sqrt(2). foot_vicon's authors call it ARMSE. The figures that
    the authors publish are of pairs that aligned_first_steps has aligned, and are rounded to 1 mm.
    """
    if dimensions not in (2, 3):
        raise InputError(f"the mean error per axis is of 2 or 3 dimensions, not {dimensions}; give 2 (horizontal) or 3")
    return float(np.sqrt(np.mean(pair.error_n[:, :dimensions] ** 2, axis=1)).mean())


@dataclass(frozen=True)
class ErrorFigures:
    """Figures of a column of error lengths, in their unit."""

    rms: float
    mean: float
    median: float
    p95: float
    max: float
    final: float


def figures_of(lengths: Array) -> ErrorFigures:
    median, p95 = np.percentile(lengths, [50.0, 95.0])
    return ErrorFigures(
        rms=float(np.sqrt(np.mean(lengths**2))),
        mean=float(lengths.mean()),
        median=float(median),
        p95=float(p95),
        max=float(lengths.max()),
        final=float(lengths[-1]),
    )


def trajectory_error(pair: Matched) -> ErrorFigures:
    """Absolute trajectory error (ATE), m."""
    return figures_of(np.linalg.norm(pair.error_n, axis=1))


def horizontal_error(pair: Matched) -> ErrorFigures:
    """Horizontal position error, m."""
    return figures_of(np.hypot(*pair.error_n.T[:2]))


def attitude_errors_of(pair: Matched) -> AttitudeErrors:
    """Total, heading and inclination error of every sample, rad."""
    return attitude_errors(pair.q_nb, pair.known_attitude)


@dataclass(frozen=True, eq=False)
class RelativeErrors:
    """Errors of the pose change between samples start and end of the pair: m, rad, and the distance between them
    (m).
    """

    start: NDArray[np.int64]
    end: NDArray[np.int64]
    translation_m: Array
    rotation_rad: Array
    way_m: Array


def relative_errors_over_distance(pair: Matched, distance_m: float, starts: int = 10) -> RelativeErrors:
    """RPE over a distance of distance_m. Starts are evenly spaced along the path, so that stops do not count more."""
    if not distance_m > 0.0 or pair.length_m[-1] < distance_m:
        raise InputError(
            f"relative errors over {distance_m:g} m do not fit a path of {pair.length_m[-1]:.4g} m; give a shorter way"
        )
    from_m = np.arange(0.0, pair.length_m[-1] - distance_m * (1.0 - 1e-12), distance_m / starts)
    last = len(pair) - 1  # roundoff of the sum may put the last end beyond the path
    start = np.searchsorted(pair.length_m, from_m)
    end = np.minimum(np.searchsorted(pair.length_m, pair.length_m[start] + distance_m * (1.0 - 1e-12)), last)
    return _relative(pair, start, end)


def relative_errors_over_time(pair: Matched, duration_s: float) -> RelativeErrors:
    """RPE over duration_s, from every sample that has another one this much later."""
    if not 0.0 < duration_s <= pair.t[-1] - pair.t[0]:
        raise InputError(
            f"relative errors over {duration_s:g} s do not fit a run of {pair.t[-1] - pair.t[0]:.4g} s; "
            "give a shorter time"
        )
    end = np.searchsorted(pair.t, pair.t + duration_s * (1.0 - 1e-12))
    start = np.flatnonzero(end < len(pair))
    return _relative(pair, start, end[start])


def _relative(pair: Matched, start: NDArray[Any], end: NDArray[Any]) -> RelativeErrors:
    true_q = pair.known_attitude

    def change(p: Array, q: Array) -> tuple[Array, Array]:
        back = q_conj(q[start])
        return q_rotate(back, p[end] - p[start]), q_mul(back, q[end])

    (way, turn), (true_way, true_turn) = change(pair.p_n, pair.q_nb), change(pair.true_p_n, true_q)
    angle = np.linalg.norm(q_log(q_mul(q_conj(true_turn), turn)), axis=1)
    between_m = pair.length_m[end] - pair.length_m[start]
    return RelativeErrors(start, end, np.linalg.norm(way - true_way, axis=1), angle, between_m)


@dataclass(frozen=True)
class ClosingError:
    """Distance between start and end of an estimate of a closed path: m, and in % of the path length (None: no
    path).
    """

    length_m: float
    horizontal_m: float
    up_m: float
    path_length_m: float

    @property
    def percent(self) -> float | None:
        return 100.0 * self.length_m / self.path_length_m if self.path_length_m > 0.0 else None


def closing_error(solution: Solution) -> ClosingError:
    p_n = positions(solution)
    gap = p_n[-1] - p_n[0]
    return ClosingError(
        float(np.linalg.norm(gap)), float(np.hypot(gap[0], gap[1])), float(gap[2]), estimated_path_length(solution)
    )


def estimated_path_length(solution: Solution) -> float:
    """Length of the estimated path, m: the time integral of its speed, where it states one. So a correction of the
    position (after a gap, at a fix) is not counted as a distance. While the filter believes a stop, the distance does
    not grow.
    """
    if solution.v_n is None:
        steps = np.linalg.norm(np.diff(positions(solution), axis=0), axis=1)
    else:
        speed = np.linalg.norm(solution.v_n, axis=1)
        steps = 0.5 * (speed[1:] + speed[:-1]) * np.diff(solution.t)
    for first, last in believed_stands(solution):
        steps[first:last] = 0.0
    return float(steps.sum())
