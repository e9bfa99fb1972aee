"""The gyroscope's errors and the turns between poses: residuals, their derivatives, and their covariance.

    v = reading - bias - g_sensitivity @ f,  w = matrix @ v,  rate = w + cubic * w^3

There are two kinds of measurement. In every pose the rate is zero. From one pose to the next, the integrated rates must
rotate the direction of gravity in the first pose into that in the second. Each turn gives two numbers; a turn about the
vertical is not visible. Both directions are in the frame of the corrected accelerometer.
"""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from strapdown.kernels.calibration.turns import BY_CUBE, BY_FORCE, BY_MATRIX, BY_ONE, SUMS, turn_rows
from strapdown.kernels.compiled import fix_signature
from strapdown.kernels.whitening import factor, whiten
from strapdown.rotation import matrix as matrix_of
from strapdown.types import Array

# Wide priors keep the equations solvable where the turns do not tell an unknown; its sigma then stays as wide
_PRIOR_BIAS, _PRIOR_MATRIX = 10.0, 0.3  # rad/s, no unit
_PRIOR_G = 0.02  # rad/s per m/s2: over 10 deg/s per g
_PRIOR_BEND = 0.3  # share of the rate at the fastest one
_STEPS, _SMALL_STEP = 30, 1e-6  # of the prior's sigma: a hundredth of what the best log determines
DIAGONAL, OFF_DIAGONAL = (0, 4, 8), (1, 2, 3, 5, 6, 7)


@dataclass(frozen=True, eq=False)
class Gyroscope:
    """The unknowns: bias (rad/s), matrix, g_sensitivity (rad/s per m/s2), cubic (s2/rad2)."""

    bias: Array
    matrix: Array = field(default_factory=lambda: np.eye(3))
    g_sensitivity: Array = field(default_factory=lambda: np.zeros((3, 3)))
    cubic: Array = field(default_factory=lambda: np.zeros(3))

    def moved(self, step: Array) -> "Gyroscope":
        """The gyroscope moved by a step of all 24 unknowns: bias, matrix, g_sensitivity (row by row), cubic."""
        return Gyroscope(
            self.bias + step[:3],
            self.matrix + step[3:12].reshape(3, 3),
            self.g_sensitivity + step[12:21].reshape(3, 3),
            self.cubic + step[21:],
        )


UNKNOWNS = 24
BIAS, MATRIX, G, CUBIC = slice(0, 3), slice(3, 12), slice(12, 21), slice(21, 24)


@dataclass(frozen=True, eq=False)
class TurnData:
    """Poses (n) and the turns between them (k): starts, ends are rows; first, second are poses.

    t, gyr, force: the samples, rad/s and corrected m/s2.
    rates (n, 3): means in the poses.
    directions (n, 3): directions of gravity there, unit.
    forces (n, 3): the same with its length, m/s2.
    rates_white (n, 3): variances of the means by short-term noise.
    drift (3, n + k, n + k): covariances of the drift in poses and turns, by axis.
    white (3,): N^2 of the rates; direction_covariance (3n, 3n).
    fastest: largest rate of the log, rad/s.
    """

    t: Array
    gyr: Array
    force: Array
    rates: Array
    directions: Array
    forces: Array
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    rates_white: Array
    drift: Array
    white: Array
    direction_covariance: Array
    fastest: float

    def without(self, turns: list[int]) -> "TurnData":
        keep = np.setdiff1d(np.arange(len(self.first)), turns)
        n = len(self.rates)
        both = np.concatenate([np.arange(n), n + keep])
        return replace(
            self,
            first=self.first[keep],
            second=self.second[keep],
            starts=self.starts[keep],
            ends=self.ends[keep],
            drift=self.drift[:, both[:, None], both],
        )


@dataclass(frozen=True, eq=False)
class Linear:
    """Residuals (3n + 2k,), derivatives by the 24 unknowns, covariance; turns start at 3n."""

    residual: Array
    jacobian: Array
    covariance: Array


def integrated(data: TurnData, at: Gyroscope) -> tuple[Array, Array]:
    """Integrate the turns: quaternions that rotate a vector from the turn's end to its start, and the sums of the
    kernel.
    """
    k = len(data.first)
    q, sums = np.empty((k, 4)), np.empty((k, 3, 3, SUMS))
    fix_signature(turn_rows)
    given = data.t, data.gyr, data.force, data.starts, data.ends, at.bias, at.g_sensitivity, at.matrix, at.cubic
    turn_rows(*(np.ascontiguousarray(array) for array in given), q, sums)
    return q, sums


def carried_past(data: TurnData, at: Gyroscope) -> Array:
    """Angle (rad) between gravity, carried along by each turn, and where it is; the residuals are blind near pi."""
    q, _ = integrated(data, at)
    turned = np.einsum("kba,kb->ka", matrix_of(q), data.directions[data.first])
    after = data.directions[data.second]
    return np.asarray(np.arctan2(np.linalg.norm(np.cross(turned, after), axis=1), np.sum(turned * after, axis=1)))


def linearised(data: TurnData, at: Gyroscope, turn_misfit: float = 0.0, with_covariance: bool = True) -> Linear:
    """Measurement equations of poses and turns, linearised at the values `at`.

    turn_misfit (rad): sigma that noise does not explain.
    """
    n, k = len(data.rates), len(data.first)
    q, sums = integrated(data, at)
    back = np.swapaxes(matrix_of(q), 1, 2)  # into the frame of the turn's end
    before, after = data.directions[data.first], data.directions[data.second]
    tangents = _tangents(after)
    turned = np.einsum("kab,kb->ka", back, before)
    # a rotation phi, expressed in the frame of the start, moves the carried direction by back (before x phi)
    by_phi = np.einsum("kta,kab,kbc->ktc", tangents, back, _cross(before))
    by_bias = -np.einsum("kca,ai->kci", sums[..., BY_ONE], at.matrix)
    by_g = -np.einsum("kcaf,ai->kcif", sums[..., BY_FORCE : BY_FORCE + 3], at.matrix).reshape(k, 3, 9)
    phi = np.concatenate([by_bias, sums[..., BY_MATRIX : BY_MATRIX + 3].reshape(k, 3, 9), by_g, sums[..., BY_CUBE]], 2)
    residual = np.concatenate(
        [
            (data.rates - at.bias - data.forces @ at.g_sensitivity.T).reshape(-1),
            np.einsum("kta,ka->kt", tangents, turned - after).reshape(-1),
        ]
    )
    jacobian = np.zeros((3 * n + 2 * k, UNKNOWNS))
    jacobian[: 3 * n, BIAS] = -np.tile(np.eye(3), (n, 1))
    jacobian[: 3 * n, G] = -np.einsum("nf,ia->niaf", data.forces, np.eye(3)).reshape(3 * n, 9)
    jacobian[3 * n :] = np.einsum("ktc,kcp->ktp", by_phi, phi).reshape(2 * k, UNKNOWNS)
    covariance = np.zeros((0, 0))
    if with_covariance:
        covariance = _covariance(data, by_phi, -by_bias, tangents, back, turn_misfit)
    return Linear(residual, jacobian, covariance)


def _covariance(
    data: TurnData, by_phi: Array, by_drift: Array, tangents: Array, back: Array, turn_misfit: float
) -> Array:
    n, k = len(data.rates), len(data.first)
    total = np.zeros((3 * n + 2 * k, 3 * n + 2 * k))
    poses, turns = total[: 3 * n, : 3 * n].reshape(n, 3, n, 3), np.zeros((k, 2, k, 2))
    between = np.zeros((n, 3, k, 2))
    # drift of the readings: as it is in the poses, through the turn in the turns
    through = np.einsum("ktc,kci->kti", by_phi, by_drift)
    for a in range(3):
        poses[:, a, :, a] = data.drift[a][:n, :n]
        poses[np.arange(n), a, np.arange(n), a] += data.rates_white[:, a]
        between[:, a] = data.drift[a][:n, n:, None] * through[:, :, a]
        turns += np.einsum("kt,kl,ls->ktls", through[:, :, a], data.drift[a][n:, n:], through[:, :, a])
    # errors of the directions before, carried along, and after
    directions = data.direction_covariance.reshape(n, 3, n, 3)
    before, after = np.einsum("kta,kab->ktb", tangents, back), -tangents
    for left, i in ((before, data.first), (after, data.second)):
        for right, j in ((before, data.first), (after, data.second)):
            some = np.einsum("kta,kalb->ktlb", left, directions[i][:, :, j])
            turns += np.einsum("ktlb,lsb->ktls", some, right)
    # white noise of the rates, summed up over each turn; nearly the same on all axes, so its frame does not matter
    lasting = data.t[data.ends] - data.t[data.starts]
    own = np.arange(k)
    turns[own, :, own] += float(np.mean(data.white)) * np.einsum("ktc,ksc,k->kts", by_phi, by_phi, lasting)
    turns[own, :, own] += (turn_misfit**2 + 1e-16) * np.eye(2)  # noiseless logs stay solvable
    total[: 3 * n, 3 * n :] = between.reshape(3 * n, 2 * k)
    total[3 * n :, : 3 * n] = between.reshape(3 * n, 2 * k).T
    total[3 * n :, 3 * n :] = turns.reshape(2 * k, 2 * k)
    return total


def estimate(
    data: TurnData,
    free: NDArray[np.bool_],
    start: Gyroscope,
    turn_misfit: float,
    cross_sigma: float = _PRIOR_MATRIX,
) -> tuple[Gyroscope, Array, Linear]:
    """Estimate by Gauss-Newton: the values, the covariance of the 24 unknowns and the equations linearised there.
    Unknowns that are not free keep their values.

    cross_sigma: prior sigma of the matrix off its diagonal, around the start.
    """
    prior = np.concatenate(
        [
            np.full(3, _PRIOR_BIAS),
            np.where(np.eye(3).reshape(-1) > 0.0, _PRIOR_MATRIX, cross_sigma),
            np.full(9, _PRIOR_G),
            np.full(3, _PRIOR_BEND / data.fastest**2),
        ]
    )[free]
    at, many = start, int(free.sum())
    lower = np.zeros((0, 0))
    for i in range(_STEPS):
        line = linearised(data, at, turn_misfit, with_covariance=i == 0)
        if i == 0:  # it depends on the values only a little
            lower = np.ascontiguousarray(line.covariance)
            factor(lower)
        rows = np.ascontiguousarray(np.column_stack([line.jacobian[:, free] * prior, -line.residual]))
        whiten(lower, rows)
        moved = (_vector(start)[free] - _vector(at)[free]) / prior
        rows = np.vstack([rows, np.column_stack([np.eye(many), moved])])
        step = np.zeros(UNKNOWNS)
        step[free] = prior * np.linalg.lstsq(rows[:, :-1], rows[:, -1], rcond=None)[0]
        at = at.moved(step)
        if np.abs(step[free] / prior).max() < _SMALL_STEP:
            break
    line = linearised(data, at, turn_misfit)
    lower, rows = line.covariance.copy(), np.ascontiguousarray(line.jacobian[:, free] * prior)
    factor(lower)
    whiten(lower, rows)
    found = np.zeros((UNKNOWNS, UNKNOWNS))
    found[np.ix_(free, free)] = prior[:, None] * np.linalg.inv(rows.T @ rows + np.eye(many)) * prior
    return at, found, line


def _vector(at: Gyroscope) -> Array:
    return np.concatenate([at.bias, at.matrix.reshape(-1), at.g_sensitivity.reshape(-1), at.cubic])


def _tangents(unit: Array) -> Array:
    """Two unit vectors across each of the given ones, (k, 2, 3)."""
    other = np.eye(3)[np.argmin(np.abs(unit), axis=1)]
    one = np.cross(unit, other)
    one /= np.linalg.norm(one, axis=1, keepdims=True)
    return np.stack([one, np.cross(unit, one)], axis=1)


def _cross(v: Array) -> Array:
    """Matrices [v]x of the cross product with v, (k, 3, 3)."""
    out = np.zeros((len(v), 3, 3))
    out[:, 0, 1], out[:, 0, 2], out[:, 1, 2] = -v[:, 2], v[:, 1], -v[:, 0]
    return out - np.swapaxes(out, 1, 2)
