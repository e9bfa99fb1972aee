"""One model of the accelerometer fitted to the still poses of a log: values, covariances, and excluded poses."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from strapdown.calibration.poses.accelerometer_model import (
    ELEMENTS,
    UNKNOWNS,
    amplification,
    by_ignored,
    distinct,
    forces,
    solve,
    unpacked,
)
from strapdown.calibration.poses.pose_noise import drift_covariances, flicker_covariance, white_variances
from strapdown.calibration.poses.session_drift import Residuals, SessionDrift
from strapdown.kernels.whitening import factor, whiten
from strapdown.recordings.rest import Still
from strapdown.sensors.triad import Triad
from strapdown.types import Array, Recording

_ROUNDS = 3  # of the covariance, which depends on the fit a little
_BY_CHANCE = 0.01  # a chi square that comes up more rarely is a misfit
_MOST_FOLDS = 40  # fits with poses excluded
CROSS = 0.02 / 3.0  # sigma of a cross-coupling that was not asked for: data sheets bound it by 2 %
SAME_DIRECTION = np.radians(3.0)  # closer together two poses tell nothing new of the model
_SETTLED = np.radians(0.3)  # a knock that leaves the sensor so near to where it was does not make a new pose
_KNOCK_S = 2.0  # nor does it last longer
_LEAST_RELATIVE = 1e-7  # of g: below any accelerometer's noise; keeps noiseless logs solvable


@dataclass(frozen=True, eq=False)
class PoseTable:
    """Poses at rest for the fit, n of them; a knock does not split a pose.

    rows: first row and row after the last (n, 2); from_s, until_s (n,).
    readings (m/s2), rates (rad/s, None without gyroscope): means (n, 3).
    white, rates_white: variances of readings and rates by short-term noise (n, 3).
    drift: covariances of the readings' drift (3, n, n), None if nothing is known of it.
    session: a further drift that the poses themselves show; None if it was not looked for, or the poses are too few.
    groups: poses in the same direction have the same number.
    """

    rows: NDArray[np.int64]
    from_s: Array
    until_s: Array
    readings: Array
    white: Array
    drift: Array | None
    rates: Array | None
    rates_white: Array | None
    groups: NDArray[np.int64]
    gravity: float
    session: SessionDrift | None = None

    def __len__(self) -> int:
        return len(self.readings)

    @property
    def directions(self) -> Array:
        return np.asarray(self.readings / np.linalg.norm(self.readings, axis=1, keepdims=True))

    @property
    def distinct(self) -> int:
        return int(self.groups.max()) + 1

    @property
    def middle_s(self) -> Array:
        return np.asarray(0.5 * (self.from_s + self.until_s))

    @property
    def unit_drift(self) -> Array:
        """Covariance of the poses if the drift is unknown, for B = 1: half flicker noise, half independent for each
        pose.
        """
        drift = flicker_covariance(self.from_s, self.until_s)
        return np.asarray(0.5 * drift + 0.5 * np.eye(len(self)) * np.mean(np.diag(drift)))

    def reading_covariance(self, flicker: float = 0.0, fitted: bool = False) -> Array:
        """Covariance of all mean readings, (n, 3, n, 3).

        flicker: B of a drift that had to be determined from the fit.
        fitted: after the fit, so that the drift of the session counts only as far as it is still unknown.
        """
        n = len(self.readings)
        session = np.zeros((3, n, n))
        if self.session is not None:
            session = (self.session.after if fitted else self.session.before)(self.middle_s)
        out = np.zeros((n, 3, n, 3))
        for a in range(3):
            drift = flicker**2 * self.unit_drift if self.drift is None else self.drift[a]
            out[:, a, :, a] = np.diag(self.white[:, a]) + drift + session[a]
        return out


def pose_table(recording: Recording, stills: tuple[Still, ...], gravity: float, noise: Triad | None) -> PoseTable:
    """Poses from the intervals at rest of a recording that has an accelerometer."""
    step_s = float(np.median(np.diff(recording.t)))
    assert recording.acc_s is not None
    fields = {"acc": recording.acc_s} | ({} if recording.gyr_s is None else {"gyr": recording.gyr_s})
    means = {name: np.array([values[s.rows].mean(axis=0) for s in stills]) for name, values in fields.items()}
    white = {name: white_variances(values, stills, step_s) for name, values in fields.items()}
    number = _one_pose(means["acc"], stills)
    samples = np.array([s.samples for s in stills], dtype=np.float64)
    share = np.equal.outer(np.arange(number[-1] + 1), number) * samples
    share /= share.sum(axis=1, keepdims=True)
    firsts = np.searchsorted(number, np.arange(number[-1] + 1))
    lasts = np.searchsorted(number, np.arange(number[-1] + 1), side="right") - 1
    rows = np.array([(stills[a].rows.start, stills[b].rows.stop) for a, b in zip(firsts, lasts, strict=True)])
    from_s, until_s = recording.t[rows[:, 0]], recording.t[rows[:, 1] - 1]
    readings = share @ means["acc"]
    return PoseTable(
        *(rows, from_s, until_s, readings, share**2 @ white["acc"]),
        drift=None if noise is None else drift_covariances(noise, from_s, until_s),
        rates=share @ means["gyr"] if "gyr" in means else None,
        rates_white=share**2 @ white["gyr"] if "gyr" in white else None,
        groups=distinct(readings / np.linalg.norm(readings, axis=1, keepdims=True), SAME_DIRECTION),
        gravity=gravity,
    )


def _one_pose(means: Array, stills: tuple[Still, ...]) -> NDArray[np.int64]:
    """A number for each interval: those shortly after each other in the same direction are one pose."""
    number = np.zeros(len(stills), dtype=np.int64)
    for k in range(1, len(stills)):
        a, b = means[k - 1], means[k]
        angle = np.linalg.norm(np.cross(a, b)) / (np.linalg.norm(a) * np.linalg.norm(b))
        same = a @ b > 0.0 and angle < _SETTLED and stills[k].t_s - stills[k - 1].until_s < _KNOCK_S
        number[k] = number[k - 1] + (0 if same else 1)
    return number


@dataclass(frozen=True, eq=False)
class Fitted:
    """A model fitted.

    sigma: standard deviations of bias, matrix, cubic; inf for elements that were assumed.

    force (n, 3): corrected force, and force_covariance (3n, 3n): its covariance, m/s2.

    before, after, left_out (n,): |f| - g before the fit, after it, and with the pose (and all others in its direction)
        excluded from the fit. NaN where a pose cannot be excluded.
    misfit: scatter of the poses that neither noise nor model explain.
    flicker: B that explains it as a drift; m/s2.
    """

    model: str
    bias: Array
    matrix: Array
    cubic: Array
    sigma: dict[str, Array]
    force: Array
    force_covariance: Array
    before: Array
    after: Array
    left_out: Array
    chi_square: float
    freedom: int
    misfit: float
    flicker: float


def fit_model(poses: PoseTable, model: str, with_left_out: bool = True) -> Fitted:
    """Fit |f| = g by least squares, weighted by the covariance of noise, drift and model error."""
    g, r = poses.gravity, poses.readings
    freedom = len(r) - UNKNOWNS[model]
    first = _along(model, np.zeros(UNKNOWNS[model]), poses) + _LEAST_RELATIVE**2
    solved, covariance, size = solve(model, r, g, np.diag(first)), np.eye(len(r)), 0.0
    for _ in range(_ROUNDS):
        covariance, extra = _covariances(model, solved.x, poses)
        size = unexplained(solved.residual, solved.jacobian, covariance, extra, freedom, poses.drift is not None)
        covariance = covariance + size**2 * extra
        solved = solve(model, r, g, covariance, solved.x)
    misfit, flicker = (size * g, 0.0) if poses.drift is not None else (0.0, size * g)
    f, by_x, by_reading = forces(model, solved.x, r, g)
    bias, matrix, cubic = unpacked(model, solved.x, g)
    reading = poses.reading_covariance(flicker, fitted=True)
    n = len(r)
    # errors of the readings act on f directly and through the unknowns that were found from them
    direct = np.zeros((n, 3, n, 3))
    direct[np.arange(n), :, np.arange(n), :] = by_reading
    along = np.einsum("na,nai->ni", f / np.linalg.norm(f, axis=1, keepdims=True), by_reading)
    found = np.einsum("nap,pm,mi->nami", by_x, solved.gain, along)
    total = (direct + found).reshape(3 * n, 3 * n)
    force_covariance = total @ reading.reshape(3 * n, 3 * n) @ total.T + misfit**2 * np.eye(3 * n)
    return Fitted(
        *(model, bias, matrix, cubic, _sigma(model, solved.covariance, g), g * f, force_covariance),
        before=np.linalg.norm(r, axis=1) - g,
        after=g * solved.residual,
        left_out=g * _left_out(model, poses, covariance, solved.x) if with_left_out else np.full(n, np.nan),
        chi_square=solved.chi_square,
        freedom=freedom,
        misfit=misfit,
        flicker=flicker,
    )


def _sigma(model: str, covariance: Array, g: float) -> dict[str, Array]:
    deviations = np.sqrt(np.diag(covariance))
    matrix = np.full((3, 3), np.inf)
    for value, (a, b) in zip(deviations[3:], ELEMENTS[model], strict=False):
        matrix[a, b] = matrix[b, a] = value
    sigma = {"bias": g * deviations[:3], "matrix": matrix}
    return sigma | ({"cubic": deviations[9:] / g**2} if model == "cubic" else {})


def residuals_of(poses: PoseTable, fitted: Fitted) -> Residuals:
    """|f| - g of the poses after a fit, for the search of a drift."""
    g, model = poses.gravity, fitted.model
    x = np.concatenate([fitted.bias / g, [fitted.matrix[a, b] - float(a == b) for a, b in ELEMENTS[model]]])
    if model == "cubic":
        x = np.concatenate([x, fitted.cubic * g**2])
    f, by_x, by_reading = forces(model, x, poses.readings, g)
    n = f / np.linalg.norm(f, axis=1, keepdims=True)
    axes = np.einsum("na,nai->ni", n, by_reading)
    known, shape = _covariances(model, x, poses)
    other = shape / np.mean(np.diag(shape))
    return Residuals(fitted.after, np.einsum("na,nap->np", n, by_x), axes, g**2 * known, other)


def _along(model: str, x: Array, poses: PoseTable) -> Array:
    """Variances of |f| / g by the white noise of the readings, (n,)."""
    f, _, by_reading = forces(model, x, poses.readings, poses.gravity)
    n = f / np.linalg.norm(f, axis=1, keepdims=True)
    return np.asarray(np.einsum("na,nai->ni", n, by_reading) ** 2 * poses.white / poses.gravity**2).sum(axis=1)


def _covariances(model: str, x: Array, poses: PoseTable) -> tuple[Array, Array]:
    """Covariance of |f| / g by all known noise, and the shape of the unknown part. That part is an independent scatter
    of each pose, or a drift.
    """
    g = poses.gravity
    f, _, by_reading = forces(model, x, poses.readings, g)
    along = np.einsum("na,nai->ni", f / np.linalg.norm(f, axis=1, keepdims=True), by_reading)
    known = np.einsum("ni,nimj,mj->nm", along, poses.reading_covariance(), along) / g**2
    # the nonlinear axes may be turned against the gauge by as much as the axes are misaligned with each other
    _, matrix, _ = unpacked(model, x, g)
    askew2 = float(np.mean(matrix[np.triu_indices(3, 1)] ** 2)) if model == "cubic" else CROSS**2
    ignored = by_ignored(model, x, poses.readings, g)
    known += askew2 * ignored @ ignored.T + _LEAST_RELATIVE**2 * np.eye(len(f))
    shape = np.eye(len(f)) if poses.drift is not None else poses.unit_drift * (along @ along.T)
    return known, shape


def unexplained(residual: Array, jacobian: Array, known: Array, shape: Array, freedom: int, known_drift: bool) -> float:
    """Size of the unexplained part that would explain the size of the residuals; 0 if there is none."""
    if freedom < 1:
        return 0.0

    def chi_square(size: float) -> float:
        rows = np.ascontiguousarray(np.column_stack([jacobian, residual]))
        lower = np.ascontiguousarray(known + size**2 * shape)
        factor(lower)
        whiten(lower, rows)
        free, *_ = np.linalg.lstsq(rows[:, :-1], rows[:, -1], rcond=1e-10)
        return float(np.sum((rows[:, -1] - rows[:, :-1] @ free) ** 2))

    most = float(chdtri(freedom, _BY_CHANCE)) if known_drift else float(freedom)
    if chi_square(0.0) <= most:
        return 0.0
    low, high = 1e-8, 1.0  # relative to g
    for _ in range(30):
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if chi_square(middle) > freedom else (low, middle)
    return high


def _left_out(model: str, poses: PoseTable, covariance: Array, x: Array) -> Array:
    """|f| / g - 1 of each pose by a fit without it and without all others in its direction (of many: in folds)."""
    out = np.full(len(poses.readings), np.nan)
    for fold in range(min(poses.distinct, _MOST_FOLDS)):
        gone = poses.groups % _MOST_FOLDS == fold
        rest = ~gone
        if np.isinf(amplification(model, poses.directions[rest])).any():
            continue
        solved = solve(model, poses.readings[rest], poses.gravity, covariance[np.ix_(rest, rest)], x)
        f, _, _ = forces(model, solved.x, poses.readings[gone], poses.gravity)
        out[gone] = np.linalg.norm(f, axis=1) - 1.0
    return out
