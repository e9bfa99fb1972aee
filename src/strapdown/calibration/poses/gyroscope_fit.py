"""The gyroscope from the turns between still poses, in the frame of the accelerometer that the poses calibrated.

After Tedaldi, Pretto, Menegatti 2014: gravity's direction before and after a turn is known. So the turn is known except
for its part about the vertical. This fit uses all covariances, and g-sensitivity and a cubic term where the log shows
them. Turns that contradict the others are excluded.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from strapdown.calibration.poses.accelerometer_fit import CROSS, Fitted, PoseTable, unexplained
from strapdown.calibration.poses.gyroscope_model import (
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
    carried_past,
    estimate,
    integrated,
)
from strapdown.calibration.poses.session_drift import SessionDrift
from strapdown.calibration.poses.turn_contradiction import NOT_TOLD, contradiction, contradicts, would_tell
from strapdown.calibration.poses.turn_data import turn_data, unusable_turns, why_untold
from strapdown.errors import InputError
from strapdown.rotation import q_log
from strapdown.sensors.triad import Triad
from strapdown.types import Array, Recording

_BEND_TOLD = 0.02  # the same for the cubic term's share of the fastest rate
_BEND = 1e-3  # a nonlinearity of 0.2 % of the range does so much to the scale at a third of it: 4 a (w / R)^2
_SIGNIFICANT = 1e-3  # chance of taking a term that is not there
_OUTLIER = 25.0  # squared distance of a turn that does not fit; 4e-6 by chance
_MOST_OUT = 0.25  # of the turns
_NUMBERS = np.arange(UNKNOWNS, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class TurnsFit:
    """The gyroscope found. sigma by parameter, inf where assumed, as in a Correction.

    before, after (k,): angle (rad) between gravity as rotated by each turn and as measured at its end. Before: with the
        offset alone corrected; after: with all corrected.
    used (k,): turns of the fit.
    turns (k, 3): rotation vectors, rad, in the frame at their start; from_s, until_s (k,).
    misfit (rad): residual that the noise does not explain, in each direction.
    missing: why the matrix, or its elements off the diagonal, could not be found; None if all were found.
    contradicts: the turns would determine the matrix, but contradict the poses.
    drift: drift of the bias over the session, taken off the rates where it is plain; the sigma of the bias is that of
        its mean over the session.
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
    contradicts: bool = False
    drift: SessionDrift | None = None


def fit_turns(
    recording: Recording,
    poses: PoseTable,
    fitted: Fitted,
    noise: Triad | None,
    drift: SessionDrift | None = None,
) -> TurnsFit:
    """Bias and matrix, and g-sensitivity and cubic terms where the turns show them. The recording must have both
    instruments.

    drift: that of the session, for the covariance; the readings are without it.
    """
    if recording.gyr_s is None or recording.acc_s is None or poses.rates is None or poses.rates_white is None:
        raise InputError("the log has no gyroscope; record it along with the accelerometer")
    data = turn_data(recording, poses, fitted, noise, drift)
    out, notes = unusable_turns(recording, data)
    start = Gyroscope(np.average(poses.rates, axis=0, weights=1.0 / poses.rates_white.mean(axis=1)))
    free = _free(poses.distinct, len(data.first) - len(out))
    robust = _robust(data, free, start, out)
    used = np.ones(len(data.first), dtype=bool)
    used[robust.out] = False
    kept, reduced = _significant(free, robust.found, robust.covariance, data.fastest)
    found, covariance = robust.found, robust.covariance
    if not np.array_equal(kept, free):
        again = Gyroscope(found.bias, found.matrix)
        found, covariance, _ = estimate(data.without(robust.out), kept, again, robust.misfit)
    sigma = np.sqrt(np.diag(covariance))
    if reduced and free[CUBIC].any():  # a nonlinearity too small to be seen may still be there: within the wider sigmas
        sigma[MATRIX] = np.maximum(sigma[MATRIX], np.sqrt(np.diag(robust.covariance))[MATRIX])
    notes = [*notes, *robust.notes]
    told = int(used.sum()) >= 3 and bool(sigma[MATRIX].max() <= NOT_TOLD)
    base = kept.copy()
    base[MATRIX], base[CUBIC] = False, False
    some = data.without(robust.out)
    scale = None if told or int(used.sum()) < 3 else _scale_only(some, base, start)
    at, sure = (found, sigma) if scale is None else scale
    if contradicts(data.without(robust.unusable), at, sure, start):
        nothing = data.without(list(range(len(data.first))))
        found, covariance, _ = estimate(nothing, base, start, 0.0)
        sigma, missing = np.sqrt(np.diag(covariance)), contradiction(data, start)
        outcome = _Outcome(found, sigma, base, missing, contradicts=True)
        return _result(data, start, used, robust.misfit, notes, outcome)
    if told:
        return _result(data, start, used, robust.misfit, notes, _Outcome(found, sigma, kept))
    missing = why_untold(int(used.sum()), sigma[MATRIX].reshape(3, 3) > NOT_TOLD, data, used)
    if robust.misfit > 0.0 and int(used.sum()) >= 3 and would_tell(some, start, _NUMBERS[MATRIX]):
        missing = (
            "the turns scatter too much beyond the noise for the 9 unknowns of the matrix; "
            "put it down in more poses, also on edges, and turn it by 90 deg or more about each of its axes"
        )
    if scale is not None and scale[1][MATRIX][list(DIAGONAL)].max() <= NOT_TOLD:
        found, sigma = scale
        base[_NUMBERS[MATRIX][list(DIAGONAL)]] = True
    else:
        found = Gyroscope(found.bias, g_sensitivity=found.g_sensitivity)
    return _result(data, start, used, robust.misfit, notes, _Outcome(found, sigma, base, missing))


def _scale_only(data: TurnData, base: NDArray[np.bool_], start: Gyroscope) -> tuple[Gyroscope, Array]:
    """A diagonal matrix and its sigmas; elements off the diagonal stay unknown, within the limits of data sheets."""
    free, cross = base.copy(), _NUMBERS[MATRIX][list(OFF_DIAGONAL)]
    free[MATRIX] = True
    _, _, line = estimate(data, free, start, 0.0, cross_sigma=CROSS)
    fewer = free.copy()
    fewer[cross] = False
    known = line.covariance + CROSS**2 * line.jacobian[:, cross] @ line.jacobian[:, cross].T
    misfit = _misfit(data, line, fewer, known)
    found, covariance, _ = estimate(data, free, start, misfit, cross_sigma=CROSS)
    sigma = np.sqrt(np.diag(covariance))
    sigma[MATRIX] = np.hypot(sigma[MATRIX], _BEND)
    return Gyroscope(found.bias, np.diag(np.diag(found.matrix)), found.g_sensitivity), sigma


def _free(distinct: int, turns: int) -> NDArray[np.bool_]:
    """The unknowns that so many poses and turns may determine."""
    free = np.zeros(UNKNOWNS, dtype=bool)
    free[BIAS], free[MATRIX] = True, turns >= 3
    free[G] = distinct >= 6
    if distinct in (4, 5):
        free[np.arange(UNKNOWNS)[G][list(DIAGONAL)]] = True
    free[CUBIC] = turns >= 10
    return free


@dataclass(frozen=True, eq=False)
class _Robust:
    """A fit without the turns `out`, of which `unusable` were known before; misfit (rad); notes on the others."""

    misfit: float
    found: Gyroscope
    covariance: Array
    out: list[int]
    unusable: list[int]
    notes: list[str]


def _robust(data: TurnData, free: NDArray[np.bool_], start: Gyroscope, out: list[int]) -> _Robust:
    """The worst turn is excluded until all fit each other."""
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
    misfit = _misfit(some, line, free, line.covariance)
    if misfit > 0.0:
        found, covariance, line = estimate(some, free, found, misfit)
    when = ", ".join(f"{data.t[data.starts[k]]:.4g}" for k in odd)
    notes = [f"{len(odd)} of {turns} turns do not fit the others and were excluded (from t = {when} s)"] if odd else []
    return _Robust(misfit, found, covariance, [*out, *odd], out, notes)


def _misfit(data: TurnData, line: Linear, free: NDArray[np.bool_], known: Array) -> float:
    """Sigma of the turns' residuals (rad) beyond their known covariance."""
    n, turns = 3 * len(data.rates), 2 * len(data.first)
    shape = np.zeros_like(known)
    shape[n:, n:] = np.eye(turns)
    freedom = n + turns - int(free.sum())
    return unexplained(line.residual, line.jacobian[:, free], known, shape, freedom, True)


def _distance(line: Linear, row: int) -> float:
    """Squared distance of a turn's two residuals in units of their own covariance."""
    residual = line.residual[row : row + 2]
    return float(residual @ np.linalg.solve(line.covariance[row : row + 2, row : row + 2], residual))


def _significant(
    free: NDArray[np.bool_], found: Gyroscope, covariance: Array, fastest: float
) -> tuple[NDArray[np.bool_], bool]:
    """The unknowns to keep, and whether the cubic terms were dropped because they are small (not for lack of data)."""
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


@dataclass(frozen=True, eq=False)
class _Outcome:
    """Result of the turns.

    found: values with their standard deviations.
    kept: unknowns that the turns determine.
    missing: why the matrix is not determined.
    contradicts: the turns do not carry gravity from pose to pose.
    """

    found: Gyroscope
    sigma: Array
    kept: NDArray[np.bool_]
    missing: str | None = None
    contradicts: bool = False


def _result(
    data: TurnData, start: Gyroscope, used: NDArray[np.bool_], misfit: float, notes: list[str], outcome: _Outcome
) -> TurnsFit:
    found, sigma, kept, missing = outcome.found, outcome.sigma, outcome.kept, outcome.missing
    deviations: dict[str, Array] = {"bias": sigma[BIAS]}
    undetermined = []
    diagonal = _NUMBERS[MATRIX][list(DIAGONAL)]
    deviations["matrix"] = np.where(kept[MATRIX], sigma[MATRIX], np.inf).reshape(3, 3)
    if missing is not None and kept[diagonal].all():
        undetermined.append(f"matrix, off the diagonal: assumed 0, since {missing}")
    elif missing is not None:
        deviations["matrix"] = np.full((3, 3), np.inf)
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
        *(
            found,
            deviations,
            carried_past(data, start),
            carried_past(data, found),
            used,
            q_log(integrated(data, found)[0]),
        ),
        *(data.t[data.starts], data.t[data.ends], misfit, tuple(notes), tuple(undetermined), missing),
        contradicts=outcome.contradicts,
    )
