"""Uncertainty of a magnetometer's calibration: all parameters fitted at once, and every cause of error.

Three fits contribute to it: the ellipsoid of the field, that of the accelerometer, and the rotation between the two,
which depends on both. The scores of the three fits are stacked. Noise enters by the scatter of the sums of scores over
intervals of time. Drift enters by the constants of the parts, nonlinearity by its known size and unknown sign.
"""

from collections.abc import Mapping

import numpy as np

from strapdown.calibration.coverage import cell_centres
from strapdown.calibration.magnetometer.axis_alignment import PARAMETERS as ALIGNED
from strapdown.calibration.magnetometer.axis_alignment import Alignment
from strapdown.calibration.magnetometer.ellipsoid import PARAMETERS, Ellipsoid
from strapdown.rotation import matrix, q_exp
from strapdown.sensors.triad import Triad, instability_processes
from strapdown.types import Array

_MERGED = (4, 16)  # stretches of time put together, to see whether they are independent
_LEAST_MERGED = 8


class JointFit:
    """All parameters at once: ellipsoid of the field, that of the accelerometer, alignment; and their covariance."""

    def __init__(
        self,
        found: Ellipsoid,
        aligned: Alignment | None,
        up: Ellipsoid | None,
        count: int,
        block_s: float,
        noise: Mapping[str, Triad],
        offset_sigma: float,
    ) -> None:
        self.found, self.aligned = found, aligned
        up = up if self.aligned is not None else None
        n, k = PARAMETERS, PARAMETERS * (1 + (up is not None))
        size = k + (ALIGNED if self.aligned is not None else 0)
        slope, scores, prior = np.zeros((size, size)), np.zeros((count, size)), np.zeros((size, size))
        field_gains, up_gains = np.zeros((count, size, 3)), np.zeros((count, size, 3))
        bends = np.zeros((size, 6))
        slope[:n, :n], scores[:, :n], bends[:n, :3] = found.slope, found.scores, found.bent
        field_gains[:, :n] = found.gains / found.length
        if up is not None:
            slope[n:k, n:k], scores[:, n:k], bends[n:k, 3:] = up.slope, up.scores, up.bent
            up_gains[:, n:k] = up.gains / up.length
        if (a := self.aligned) is not None:
            slope[k:, k:], scores[:, k:], prior[k:, k:] = a.slope, a.scores, a.prior
            slope[k:, :n] = a.by_field * found.units
            field_gains[:, k:], bends[k:, :3], bends[k:, 3:] = a.gains_field, a.bent_field, a.bent_up
            up_gains[:, k:] = a.gains_up
            if up is not None:
                slope[k:, n:k] = a.by_up * up.units
        inverse = np.linalg.inv(slope)
        moved = scores @ inverse.T
        centres = np.asarray(block_s * (np.arange(count) + 0.5), dtype=np.float64)
        self.covariance = _of_blocks(moved) + inverse @ prior @ inverse.T
        for gains, name in ((field_gains, "magnetometer"), (up_gains, "accelerometer")):
            if name in noise:
                self.covariance += _drift(np.einsum("ij,bjc->bic", inverse, gains), centres, noise[name])
        bent = inverse @ bends  # its sign is not known: a column each, squared
        self.covariance += bent @ bent.T
        if self.aligned is not None and up is None:
            offset = inverse @ up_gains.sum(axis=0) * offset_sigma
            self.covariance += offset @ offset.T

    def outcome(self, field_ut: float | None, mirror: float) -> tuple[Array, Array, float, Array]:
        """(matrix, bias, strength of the corrected field, covariance of matrix and bias)."""
        found, aligned = self.found, self.aligned
        start = np.zeros(len(self.covariance))
        start[:PARAMETERS] = found.parameters

        def of(p: Array) -> tuple[Array, Array, float]:
            centre, c = found.of_parameters(p[:PARAMETERS])
            length = float(np.linalg.det(c)) ** (-1.0 / 3.0) if field_ut is None else field_ut
            if aligned is None:
                return c * length, centre, length
            return mirror * matrix(q_exp(p[-ALIGNED : -ALIGNED + 3])) @ aligned.rotation @ c * length, centre, length

        steps = 1e-5 * np.eye(len(start))  # parameters are about 1: central differences are exact to 1e-10
        flat = [[np.append(m.ravel(), h) for m, h, _ in (of(start + s), of(start - s))] for s in steps]
        jacobian = np.array([(plus - minus) / 2e-5 for plus, minus in flat]).T
        return *of(start), jacobian @ self.covariance @ jacobian.T


def _of_blocks(moved: Array) -> Array:
    """Covariance of a sum of blocks (count, size), increased where longer blocks show that neighbours are
    correlated.
    """
    count = len(moved)
    covariance = moved.T @ moved * (count / max(count - PARAMETERS, 1))  # of the largest fit: freedoms it took
    single, raised = np.diag(covariance), 1.0
    for together in _MERGED:
        left = count // together
        if left < _LEAST_MERGED:
            break
        sums = moved[: left * together].reshape(left, together, -1).sum(axis=1)
        ratio = float(np.mean((sums**2).sum(axis=0) * (left / max(left - 2.0, 1.0)) / single))
        if ratio > 1.0 + 3.0 * np.sqrt(2.0 / left / 3.0):  # chance of a mean over parameters that are partly alike
            raised = max(raised, ratio)
    return np.asarray(covariance * raised)


def _drift(moved: Array, centres: Array, triad: Triad) -> Array:
    """Covariance by bias instability and walk.

    moved (count, size, 3): change of the parameters by a bias of an axis during a block.
    """
    apart = np.abs(centres[:, None] - centres[None, :])
    instability = np.zeros_like(apart)
    if max(triad.instability) > 0.0:
        for time_constant, deviation in zip(*instability_processes(*triad.instability_band_s), strict=True):
            instability += deviation**2 * np.exp(-apart / time_constant)
    walk = np.minimum(centres[:, None], centres[None, :])
    total = np.zeros((moved.shape[1], moved.shape[1]))
    for i in range(3):
        kernel = triad.instability[i] ** 2 * instability + triad.walk[i] ** 2 * walk
        total += moved[:, :, i].T @ kernel @ moved[:, :, i]
    return total


def direction_sigma(soft: Array, length: float, covariance: Array) -> float:
    """Rms over the sphere of the angle by which errors of matrix and bias turn the corrected field."""
    total = 0.0
    directions = cell_centres()
    for u in directions:
        v = np.linalg.solve(soft, length * u)  # reading without hard iron
        by = np.concatenate([np.kron(np.eye(3), v), -soft], axis=1) / length
        across = (np.eye(3) - np.outer(u, u)) @ by
        total += float(np.trace(across @ covariance @ across.T))
    return float(np.sqrt(total / len(directions)))
