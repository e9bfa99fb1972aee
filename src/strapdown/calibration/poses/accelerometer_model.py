"""Error models of the accelerometer that poses at rest determine, and their fit to |f| = g.

    w = matrix @ (reading - bias),  f = w + cubic * w^3,  |f| = g in every pose

diagonal: bias and scale of each axis (6).
full: bias and a symmetric matrix (9); a rotation of all three axes changes no |f|, so the one without rotation is
    taken.
cubic: full and a cubic term for each axis (12). Inside, unknowns are in units of g and without dimension: bias / g,
    matrix - 1, cubic g^2; residuals are |f| / g - 1.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from strapdown.types import Array

_DIAGONAL = ((0, 0), (1, 1), (2, 2))
_SYMMETRIC = (*_DIAGONAL, (0, 1), (0, 2), (1, 2))
ELEMENTS: dict[str, tuple[tuple[int, int], ...]] = {"diagonal": _DIAGONAL, "full": _SYMMETRIC, "cubic": _SYMMETRIC}
UNKNOWNS = {"diagonal": 6, "full": 9, "cubic": 12, "squared": 12}
_MOST_STEPS = 60
_SMALL_STEP = 1e-9  # relative to g: far below any noise


def names_of(model: str) -> tuple[str, ...]:
    """The unknowns, in the order of the vector."""
    matrix = [f"matrix {'xyz'[a]}{'xyz'[b]}" for a, b in ELEMENTS[model]]
    cubic = [f"cubic {axis}" for axis in "xyz"] if model == "cubic" else []
    return (*(f"bias {axis}" for axis in "xyz"), *matrix, *cubic)


def unpacked(model: str, x: Array, g: float) -> tuple[Array, Array, Array]:
    """Bias, matrix and cubic in SI from the vector of unknowns."""
    matrix = np.eye(3)
    for value, (a, b) in zip(x[3:], ELEMENTS[model], strict=False):
        matrix[a, b] = matrix[b, a] = value + float(a == b)
    cubic = x[9:12] / g**2 if model == "cubic" else np.zeros(3)
    return g * x[:3], matrix, cubic


def forces(model: str, x: Array, readings: Array, g: float) -> tuple[Array, Array, Array]:
    """Force f / g (n, 3), its derivatives by the unknowns (n, 3, p), and by reading / g (n, 3, 3)."""
    bias, matrix, cubic = unpacked(model, x, g)
    v = (readings - bias) / g
    w = v @ matrix.T
    c = cubic * g**2
    gain = 1.0 + 3.0 * c * w**2
    by_reading = gain[:, :, None] * matrix
    by_x = np.zeros((len(v), 3, len(x)))
    by_x[:, :, :3] = -by_reading
    for k, (a, b) in enumerate(ELEMENTS[model], start=3):
        by_x[:, a, k] += gain[:, a] * v[:, b]
        if a != b:
            by_x[:, b, k] += gain[:, b] * v[:, a]
    if model == "cubic":
        for a in range(3):
            by_x[:, a, 9 + a] = w[:, a] ** 3
    return w + c * w**3, by_x, by_reading


def by_ignored(model: str, x: Array, readings: Array, g: float) -> Array:
    """Change of |f| / g by the terms that the model omits, (n, 3).

    diagonal: per unit of cross-coupling xy, xz, yz.
    cubic: per rad by which the nonlinear axes are turned against those of the gauge, which no pose shows.
    full: nothing.
    """
    if model == "full":
        return np.zeros((len(readings), 3))
    f, _, _ = forces(model, x, readings, g)
    n = f / np.linalg.norm(f, axis=1, keepdims=True)
    if model == "diagonal":
        return np.stack([2.0 * n[:, a] * f[:, b] for a, b in ((0, 1), (0, 2), (1, 2))], axis=1)
    c = x[9:12]
    # f = w + R c (R^T w)^3: to first order in the rotation
    turned, bent = (np.stack([np.cross(axis, v) for axis in np.eye(3)], axis=2) for v in (f, c * f**3))
    return np.asarray(np.einsum("na,nar->nr", n, bent) - np.einsum("na,nar->nr", n * 3.0 * c * f**2, turned))


@dataclass(frozen=True, eq=False)
class Solved:
    """Result of least squares: x, its covariance, residuals |f| / g - 1, chi square, and the gain of errors.

    gain: change of x per change of a residual, (p, n).
    jacobian: jacobian of the residuals, (n, p).
    """

    model: str
    x: Array
    covariance: Array
    residual: Array
    chi_square: float
    gain: Array
    jacobian: Array


def solve(model: str, readings: Array, g: float, covariance: Array, start: Array | None = None) -> Solved:
    """Gauss-Newton with halved steps where a whole one does not help.

    covariance: covariance of the residuals, (n, n).
    """
    whiten = np.linalg.inv(np.linalg.cholesky(covariance))
    x = np.zeros(UNKNOWNS[model]) if start is None else start.copy()

    def residual_of(x: Array) -> tuple[Array, Array, float]:
        f, by_x, _ = forces(model, x, readings, g)
        size = np.sqrt(np.einsum("na,na->n", f, f))
        jacobian = np.einsum("na,nap->np", f / size[:, None], by_x)
        return size - 1.0, jacobian, float(np.sum((whiten @ (size - 1.0)) ** 2))

    rho, jacobian, cost = residual_of(x)
    for _ in range(_MOST_STEPS):
        step, *_ = np.linalg.lstsq(whiten @ jacobian, -whiten @ rho, rcond=1e-10)
        share, tried = 1.0, residual_of(x + step)
        while tried[2] > cost * (1.0 + 1e-9) and share > 1e-3:
            share *= 0.5
            tried = residual_of(x + share * step)
        x, (rho, jacobian, cost) = x + share * step, tried
        if np.abs(share * step).max() < _SMALL_STEP:
            break
    pseudo = np.linalg.pinv(whiten @ jacobian, rcond=1e-10)
    return Solved(model, x, pseudo @ pseudo.T, rho, cost, np.asarray(-pseudo @ whiten, dtype=np.float64), jacobian)


def amplification(model: str, directions: Array) -> Array:
    """Sigmas of the unknowns for residuals of sigma 1 in poses of these directions; inf: not determined."""
    x = np.zeros(UNKNOWNS[model])
    _, by_x, _ = forces(model, x, directions, 1.0)
    jacobian = np.einsum("na,nap->np", directions, by_x)
    _, singular, vt = np.linalg.svd(jacobian, full_matrices=True)
    singular = np.concatenate([singular, np.zeros(len(x) - len(singular))])
    told = singular > 1e-9 * singular[0]
    spread = (vt[told] ** 2 / singular[told, None] ** 2).sum(axis=0)
    lost = (vt[~told] ** 2).sum(axis=0) > 1e-9
    return np.asarray(np.where(lost, np.inf, np.sqrt(spread)))


def distinct(directions: Array, apart_rad: float) -> NDArray[np.int64]:
    """A number for each pose: poses within apart_rad of the first direction of a group have the same number."""
    firsts: list[Array] = []
    groups = np.empty(len(directions), dtype=np.int64)
    for k, direction in enumerate(directions):
        near = [i for i, first in enumerate(firsts) if float(first @ direction) > np.cos(apart_rad)]
        groups[k] = near[0] if near else len(firsts)
        if not near:
            firsts.append(direction)
    return groups
