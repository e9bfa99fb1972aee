"""Accelerometer from a case that was put squarely on its faces on a level table: the directions are known.

    reading = bias + A f,  f = +g or -g along one axis of the case

so that the whole matrix can be determined, with its rotation: 12 unknowns. The standard deviations include how level
the table and how square the case is. A tilt of 1 mrad changes a cross term of the matrix by 1e-3.
"""

import numpy as np

from strapdown.calibration.poses.accelerometer_fit import Fitted, PoseTable, unexplained
from strapdown.calibration.poses.accelerometer_model import UNKNOWNS
from strapdown.errors import InputError
from strapdown.types import Array

_MOST_OFF = np.radians(15.0)  # off a face: beyond it the case stood on an edge, or on something


def faces_of(poses: PoseTable) -> Array:
    """The axis that points up in each pose, as a unit vector with a sign, (n, 3)."""
    directions = poses.directions
    axis = np.argmax(np.abs(directions), axis=1)
    up = np.zeros_like(directions)
    rows = np.arange(len(directions))
    up[rows, axis] = np.sign(directions[rows, axis])
    off = np.arccos(np.clip(np.sum(directions * up, axis=1), -1.0, 1.0))
    if off.max() > _MOST_OFF:
        k = int(np.argmax(off))
        raise InputError(
            f"the pose at t = {poses.from_s[k]:.4g} s is {np.degrees(off[k]):.0f} deg off the nearest face, and "
            'model "squared" needs the case squarely on its faces; use model "full" for free poses'
        )
    return up


def fit_squared(poses: PoseTable, level_sigma_rad: float) -> Fitted:
    """Bias and the whole matrix by linear least squares.

    level_sigma_rad: sigma of each pose's tilt, each way.
    """
    up = faces_of(poses)
    seen = sorted({f"{'+' if u.sum() > 0 else '-'}{'xyz'[int(np.argmax(np.abs(u)))]}" for u in up})
    design = np.column_stack([np.ones(len(up)), up])  # readings / g = design @ (bias / g, A^T)
    if np.linalg.matrix_rank(design) < 4:
        raise InputError(
            f"the case stood on {len(seen)} faces only (up: {', '.join(seen)}), which do not tell bias and matrix "
            "apart; put each of its six faces up once"
        )
    g, n = poses.gravity, len(poses)
    jacobian = np.einsum("jk,ia->jiak", design, np.eye(3)).reshape(3 * n, 12)  # unknowns: row by row (b_i, A_i.)
    target = poses.readings.reshape(3 * n) / g
    tilts = np.zeros((n, 3, n, 3))
    tilts[np.arange(n), :, np.arange(n), :] = np.eye(3) - np.einsum("ja,jb->jab", up, up)
    known = poses.reading_covariance().reshape(3 * n, 3 * n) / g**2 + 1e-14 * np.eye(3 * n)
    known += level_sigma_rad**2 * tilts.reshape(3 * n, 3 * n)
    shape = np.eye(3 * n)
    if poses.drift is None:
        shape = np.einsum("jk,ab->jakb", poses.unit_drift, np.eye(3)).reshape(3 * n, 3 * n)
    nominal, *_ = np.linalg.lstsq(jacobian, target, rcond=None)
    freedom = 3 * n - UNKNOWNS["squared"]
    size = unexplained(target - jacobian @ nominal, jacobian, known, shape, freedom, poses.drift is not None)
    covariance = known + size**2 * shape
    x, x_covariance, gain, chi_square = _weighted(jacobian, target, covariance)
    bias, matrix, sigma = _inverted(x, x_covariance, g)
    force = (poses.readings - bias) @ matrix.T
    # errors of the readings act directly and through the unknowns; tilts act through the unknowns only
    through = -np.einsum("ab,jbx->jax", matrix, np.einsum("jk,ia->jiak", design, np.eye(3)).reshape(n, 3, 12))
    found = np.einsum("jax,xm->jam", through, gain).reshape(3 * n, 3 * n)
    direct = np.kron(np.eye(n), matrix)
    of_readings = covariance - level_sigma_rad**2 * tilts.reshape(3 * n, 3 * n)
    of_tilts = level_sigma_rad**2 * tilts.reshape(3 * n, 3 * n)
    force_covariance = g**2 * ((direct + found) @ of_readings @ (direct + found).T + found @ of_tilts @ found.T)
    return Fitted(
        *("squared", bias, matrix, np.zeros(3), sigma, force, force_covariance),
        before=np.linalg.norm(poses.readings, axis=1) - g,
        after=np.linalg.norm(force, axis=1) - g,
        left_out=_left_out(poses, design, jacobian, target, covariance),
        chi_square=chi_square,
        freedom=freedom,
        misfit=size * g if poses.drift is not None else 0.0,
        flicker=size * g if poses.drift is None else 0.0,
    )


def _weighted(jacobian: Array, target: Array, covariance: Array) -> tuple[Array, Array, Array, float]:
    """Weighted linear least squares: x, its covariance, the derivative of x by the targets, chi square."""
    inverse = np.linalg.inv(covariance)
    x_covariance = np.linalg.inv(jacobian.T @ inverse @ jacobian)
    gain = x_covariance @ jacobian.T @ inverse
    x = gain @ target
    left = target - jacobian @ x
    return x, np.asarray(x_covariance, dtype=np.float64), np.asarray(gain), float(left @ inverse @ left)


def _inverted(x: Array, covariance: Array, g: float) -> tuple[Array, Array, dict[str, Array]]:
    """Bias, matrix and their sigmas from rows (bias / g, A): matrix = A^-1."""
    rows = x.reshape(3, 4)
    matrix: Array = np.asarray(np.linalg.inv(rows[:, 1:]), dtype=np.float64)
    by_x = np.zeros((9, 12))
    for i in range(3):
        for k in range(3):
            by_x[:, 4 * i + 1 + k] = -np.outer(matrix[:, i], matrix[k]).reshape(9)  # d(A^-1) = -A^-1 dA A^-1
    deviations = np.sqrt(np.diag(by_x @ covariance @ by_x.T)).reshape(3, 3)
    return g * rows[:, 0], matrix, {"bias": g * np.sqrt(np.diag(covariance)[[0, 4, 8]]), "matrix": deviations}


def _left_out(poses: PoseTable, design: Array, jacobian: Array, target: Array, covariance: Array) -> Array:
    """|f| - g of each pose by a fit without it and without all others in its direction."""
    out = np.full(len(poses), np.nan)
    for group in range(poses.distinct):
        rest = poses.groups != group
        if rest.sum() < 4 or np.linalg.matrix_rank(design[rest]) < 4:
            continue
        rows = np.repeat(rest, 3)
        x, *_ = _weighted(jacobian[rows], target[rows], covariance[np.ix_(rows, rows)])
        bias, matrix, _ = _inverted(x, np.zeros((12, 12)), poses.gravity)
        out[~rest] = np.linalg.norm((poses.readings[~rest] - bias) @ matrix.T, axis=1) - poses.gravity
    return out
