"""The gyroscope from the turns between still poses, in the frame of the accelerometer that the poses calibrated.

After Tedaldi, Pretto, Menegatti 2014: gravity's direction before and after a turn is known, so the turn is known but
for its part about the vertical. Here with all covariances, with g-sensitivity and a cubic term where the log shows
them, and without the turns that do not fit the others.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from strapdown.calibration.pose_noise import drift_covariances, flicker_covariance
from strapdown.calibration.position_fit import Fitted, PoseTable, unexplained
from strapdown.calibration.turn_model import (
    BIAS,
    CUBIC,
    DIAGONAL,
    MATRIX,
    OFF_DIAGONAL,
    UNKNOWNS,
    G,
    Gyroscope,
    Linear,
    TurnData,
    estimate,
    integrated,
    linearised,
)
from strapdown.errors import InputError
from strapdown.rotation import q_log
from strapdown.sensors.triad import Triad
from strapdown.types import Array, Recording

_NOT_TOLD = 0.05  # deviation of an element of the matrix: parts are better than that without any calibration
_BEND_TOLD = 0.02  # the same for the cubic term's share of the fastest rate
_SIGNIFICANT = 1e-3  # chance of taking a term that is not there
_OUTLIER = 25.0  # squared distance of a turn that does not fit; 4e-6 by chance
_MOST_OUT = 0.25  # of the turns
_LEAST_TURN = np.radians(5.0)  # between directions of gravity; a smaller one tells little and is only carried along
_STUCK = 3  # samples in a row at the extreme reading of the log: the end of the range


@dataclass(frozen=True, eq=False)
class TurnsFit:
    """The gyroscope found. sigma by parameter, inf where assumed, as in a Correction.

    before, after (k,): angle in rad by which each turn carries gravity's direction past where it is, with the offset
    alone taken off, and with all; used (k,): turns of the fit; turns (k, 3): rotation vectors, rad, in the frame at
    their start; from_s, until_s (k,). misfit (rad): what the noise does not explain, in each direction. missing: why
    the matrix could not be found, None if it was.
    """

    gyroscope: Gyroscope
    sigma: dict[str, Array]
    before: Array
    after: Array
    used: NDArray[np.bool_]
    turns: Array
    from_s: Array
    until_s: Array
    misfit: float
    notes: tuple[str, ...]
    undetermined: tuple[str, ...]
    missing: str | None


def fit_turns(recording: Recording, poses: PoseTable, fitted: Fitted, noise: Triad | None) -> TurnsFit:
    """Bias, matrix, and where they show g-sensitivity and cubic terms. The recording has both instruments."""
    if recording.gyr_s is None or recording.acc_s is None or poses.rates is None or poses.rates_white is None:
        raise InputError("the log has no gyroscope; record it along with the accelerometer")
    data = _data(recording, poses, fitted, noise)
    out, notes = _unusable(recording, data)
    start = Gyroscope(np.average(poses.rates, axis=0, weights=1.0 / poses.rates_white.mean(axis=1)))
    free = _free(poses.distinct, len(data.first) - len(out))
    misfit, found, wide, out, more = _robust(data, free, start, out)
    used = np.ones(len(data.first), dtype=bool)
    used[out] = False
    kept, reduced = _significant(free, found, wide, data.fastest)
    if not np.array_equal(kept, free):
        again = Gyroscope(found.bias, found.matrix)
        found, covariance, _ = estimate(data.without(out), kept, again, misfit)
    else:
        covariance = wide
    sigma = np.sqrt(np.diag(covariance))
    missing = None
    if reduced and free[CUBIC].any():  # a bend too small to be seen may still be there: within the wider deviations
        sigma[MATRIX] = np.maximum(sigma[MATRIX], np.sqrt(np.diag(wide))[MATRIX])
    if int(used.sum()) < 3 or sigma[MATRIX].max() > _NOT_TOLD:
        missing = _missing(int(used.sum()), sigma[MATRIX].reshape(3, 3), data, used)
        found = Gyroscope(found.bias, g_sensitivity=found.g_sensitivity)
    return _result(data, start, found, sigma, kept, used, misfit, (*notes, *more), missing)


def _data(recording: Recording, poses: PoseTable, fitted: Fitted, noise: Triad | None) -> TurnData:
    assert recording.gyr_s is not None and recording.acc_s is not None
    assert poses.rates is not None and poses.rates_white is not None
    w = (recording.acc_s - fitted.bias) @ fitted.matrix.T
    force = w + fitted.cubic * w * w * w
    first = np.arange(len(poses) - 1)
    starts, ends = poses.rows[:-1, 1] - 1, poses.rows[1:, 0]
    from_s = np.concatenate([poses.from_s, recording.t[starts]])
    until_s = np.concatenate([poses.until_s, recording.t[ends]])
    if noise is not None:
        drift = drift_covariances(noise, from_s, until_s)
    else:
        unit = flicker_covariance(from_s, until_s)
        unit = 0.5 * unit + 0.5 * np.eye(len(unit)) * np.mean(np.diag(unit))
        drift = np.broadcast_to(_scatter(poses, fitted, unit) ** 2 * unit, (3, *unit.shape))
    size = np.linalg.norm(fitted.force, axis=1, keepdims=True)
    share = 1.0 / size.reshape(-1).repeat(3)
    lasting = poses.until_s - poses.from_s
    offset = np.median(poses.rates, axis=0)
    largest = np.maximum(recording.gyr_s.max(axis=0) - offset, offset - recording.gyr_s.min(axis=0))
    return TurnData(
        *(recording.t, recording.gyr_s, np.ascontiguousarray(force), poses.rates, fitted.force / size, fitted.force),
        *(first, first + 1, starts, ends, poses.rates_white, drift),
        white=np.median(poses.rates_white * lasting[:, None], axis=0),
        direction_covariance=fitted.force_covariance * share[:, None] * share,
        fastest=max(float(largest.max()), 1e-3),
    )


def _scatter(poses: PoseTable, fitted: Fitted, unit: Array) -> float:
    """B of a drift (rad/s) that explains how the offset scatters from pose to pose, beyond bias and g-sensitivity."""
    assert poses.rates is not None and poses.rates_white is not None
    n = len(poses)
    column = np.column_stack([np.ones(n), fitted.force]) if poses.distinct >= 6 else np.ones((n, 1))
    freedom = 3 * (n - column.shape[1])
    jacobian: Array = np.asarray(np.kron(column, np.eye(3)), dtype=np.float64)
    values = (poses.rates - poses.rates.mean(axis=0)).reshape(-1)
    found, *_ = np.linalg.lstsq(jacobian, values, rcond=None)
    known = np.diag(poses.rates_white.reshape(-1)) + 1e-18 * np.eye(3 * n)
    shape: Array = np.asarray(np.kron(unit[:n, :n], np.eye(3)), dtype=np.float64)
    return unexplained(values - jacobian @ found, jacobian, known, shape, freedom, known_drift=False)


def _unusable(recording: Recording, data: TurnData) -> tuple[list[int], list[str]]:
    """Turns with clipped samples or gaps in time, and what to say of them."""
    assert recording.gyr_s is not None
    steps = np.diff(recording.t)
    gap = max(10.0 * float(np.median(steps)), 0.1)
    low, high = recording.gyr_s.min(axis=0), recording.gyr_s.max(axis=0)
    clipped, gaps = [], []
    for k, (a, b) in enumerate(zip(data.starts, data.ends, strict=True)):
        if recording.clipped is not None:
            at_end = bool(recording.clipped[a : b + 1].any())
        else:
            rows = recording.gyr_s[a : b + 1]
            stuck = ((rows == low) | (rows == high)) & (rows[:1] != rows)
            at_end = any(_longest(column) >= _STUCK for column in stuck.T)
        if at_end:
            clipped.append(k)
        elif steps[a:b].max(initial=0.0) > gap:
            gaps.append(k)
    notes = []
    for found, what in ((clipped, "reaches the end of the range"), (gaps, "has samples missing")):
        if found:
            when = ", ".join(f"{recording.t[data.starts[k]]:.4g}" for k in found[:5])
            notes.append(f"{len(found)} of {len(data.first)} turns were left out: the log {what} (from t = {when} s)")
    return clipped + gaps, notes


def _longest(flags: NDArray[np.bool_]) -> int:
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8)))
    return int((edges[1::2] - edges[::2]).max(initial=0))


def _free(distinct: int, turns: int) -> NDArray[np.bool_]:
    """The unknowns that so many poses and turns may tell."""
    free = np.zeros(UNKNOWNS, dtype=bool)
    free[BIAS], free[MATRIX] = True, turns >= 3
    free[G] = distinct >= 6
    if distinct in (4, 5):
        free[np.arange(UNKNOWNS)[G][list(DIAGONAL)]] = True
    free[CUBIC] = turns >= 10
    return free


def _robust(
    data: TurnData, free: NDArray[np.bool_], start: Gyroscope, out: list[int]
) -> tuple[float, Gyroscope, Array, list[int], list[str]]:
    """(misfit, found, covariance, turns left out, notes): the worst turn goes until all fit each other."""
    turns, n = len(data.first), len(data.rates)
    odd: list[int] = []
    while True:
        left = np.setdiff1d(np.arange(turns), [*out, *odd])
        some = data.without([*out, *odd])
        found, covariance, line = estimate(some, free, start, 0.0)
        distance = np.array([_distance(line, 3 * n + 2 * k) for k in range(len(left))])
        usual = max(1.0, float(np.median(distance)) / 1.386) if len(left) else 1.0  # median of chi square, 2 degrees
        if not len(left) or distance.max() <= _OUTLIER * usual or len(odd) + 1 > _MOST_OUT * turns:
            break
        odd.append(int(left[np.argmax(distance)]))
    freedom = 2 * len(left) - int(free[MATRIX].sum() + free[CUBIC].sum())
    shape = np.zeros_like(line.covariance)
    shape[3 * n :, 3 * n :] = np.eye(2 * len(left))
    misfit = unexplained(
        line.residual, line.jacobian[:, free], line.covariance, shape, freedom + 3 * n - 3 - int(free[G].sum()), True
    )
    if misfit > 0.0:
        found, covariance, line = estimate(some, free, found, misfit)
    when = ", ".join(f"{data.t[data.starts[k]]:.4g}" for k in odd)
    notes = [f"{len(odd)} of {turns} turns do not fit the others and were left out (from t = {when} s)"] if odd else []
    return misfit, found, covariance, [*out, *odd], notes


def _distance(line: Linear, row: int) -> float:
    """Squared distance of a turn's two residuals in units of their own covariance."""
    residual = line.residual[row : row + 2]
    return float(residual @ np.linalg.solve(line.covariance[row : row + 2, row : row + 2], residual))


def _significant(
    free: NDArray[np.bool_], found: Gyroscope, covariance: Array, fastest: float
) -> tuple[NDArray[np.bool_], bool]:
    """The unknowns to keep, and whether the cubic terms went for want of size (not of data)."""
    keep, numbers = free.copy(), np.arange(UNKNOWNS, dtype=np.int64)
    g = numbers[G]

    def shows(values: Array, rows: NDArray[np.int64]) -> bool:
        inner = covariance[np.ix_(rows, rows)]
        return bool(values @ np.linalg.solve(inner, values) > chdtri(len(rows), _SIGNIFICANT))

    flat = found.g_sensitivity.reshape(-1)
    if free[g].all() and not shows(flat[list(OFF_DIAGONAL)], g[list(OFF_DIAGONAL)]):
        keep[g[list(OFF_DIAGONAL)]] = False
    if free[g].any() and not shows(flat[list(DIAGONAL)], g[list(DIAGONAL)]) and not keep[g[1]]:
        keep[G] = False
    reduced = False
    if free[CUBIC].any():
        told = bool(np.sqrt(np.diag(covariance)[CUBIC]).max() * fastest**2 < _BEND_TOLD)
        reduced = told and not shows(found.cubic, numbers[CUBIC])
        keep[CUBIC] = told and not reduced
    return keep, reduced


def _missing(used: int, sigma: Array, data: TurnData, mask: NDArray[np.bool_]) -> str:
    """Why the matrix is not told, with what to do."""
    if used < 3:
        return f"{used} usable turns between poses are too few for 9 unknowns; turn the sensor through more poses"
    weak = [f"{'xyz'[a]}{'xyz'[b]}" for a in range(3) for b in range(3) if sigma[a, b] > _NOT_TOLD]
    angle = np.arccos(np.clip(np.sum(data.directions[data.first] * data.directions[data.second], axis=1), -1.0, 1.0))
    seen = int((angle[mask] > _LEAST_TURN).sum())
    why = (
        f"only {seen} of {used} turns tilt the sensor, and a turn about the vertical is not seen by gravity"
        if seen < 3
        else f"the {used} turns go about too few axes"
    )
    return f"the turns do not tell matrix {', '.join(weak)}: {why}; turn it by 90 deg or more about each of its axes"


def _result(
    data: TurnData,
    start: Gyroscope,
    found: Gyroscope,
    sigma: Array,
    kept: NDArray[np.bool_],
    used: NDArray[np.bool_],
    misfit: float,
    notes: tuple[str, ...],
    missing: str | None,
) -> TurnsFit:
    n = 3 * len(data.rates)
    errors = [
        np.linalg.norm(linearised(data, at, with_covariance=False).residual[n:].reshape(-1, 2), axis=1)
        for at in (start, found)
    ]
    deviations: dict[str, Array] = {"bias": sigma[BIAS]}
    undetermined = []
    if missing is None:
        deviations["matrix"] = sigma[MATRIX].reshape(3, 3)
    else:
        undetermined.append(f"matrix: assumed without error, since {missing}")
    if kept[G].any():
        deviations["g_sensitivity"] = np.where(kept[G], sigma[G], np.inf).reshape(3, 3)
    if not kept[G].all():
        which = "cross terms of g_sensitivity" if kept[G].any() else "g_sensitivity"
        undetermined.append(f"{which}: assumed 0, the poses do not show them")
    if kept[CUBIC].all() and missing is None:
        deviations["cubic"] = sigma[CUBIC]
    else:
        undetermined.append("cubic: assumed 0, the turns do not show it")
    return TurnsFit(
        *(found, deviations, errors[0], errors[1], used, q_log(integrated(data, found)[0])),
        *(data.t[data.starts], data.t[data.ends], misfit, notes, tuple(undetermined), missing),
    )
