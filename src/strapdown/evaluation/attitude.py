"""Error of an attitude: one total angle for every sample, split into heading and inclination.

The error is the rotation q_est * conj(q_ref), expressed in n: it turns the true attitude into the estimated one.
With (w, x, y, z) its components,

    total        2 atan2(|(x, y, z)|, |w|)      angle of the rotation
    heading      2 atan2(z, w)                  of the turn about the vertical that is nearest to it, left positive
    inclination  2 atan2(|(x, y)|, |(w, z)|)    of what remains, a turn about a level axis

and cos(total / 2) = cos(heading / 2) cos(inclination / 2); small angles add as squares. The BROAD benchmark uses this
split (Laidig et al. 2021).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strapdown.errors import InputError
from strapdown.rotation import euler_from_q, q_conj, q_mul
from strapdown.types import Array


class AttitudeErrors(NamedTuple):
    """Errors in rad, for every sample: total and inclination in [0, pi], heading in [-pi, pi]; NaN where a truth is
    missing.
    """

    total: Array
    heading: Array
    inclination: Array


def attitude_errors(q_est: ArrayLike, q_ref: ArrayLike) -> AttitudeErrors:
    """Errors of the attitudes q_est against q_ref, both frame b or s to n; rows of NaN in q_ref are missing truth."""
    est, ref = np.asarray(q_est, dtype=np.float64), np.asarray(q_ref, dtype=np.float64)
    if est.shape != ref.shape or est.shape[-1:] != (4,):
        raise InputError(f"attitudes of shape {est.shape} cannot be held against a truth of shape {ref.shape}")
    w, x, y, z = np.moveaxis(q_mul(est, q_conj(ref)), -1, 0)
    z, w = np.where(w < 0.0, -z, z), np.abs(w)  # q and -q are the same attitude
    level = np.hypot(x, y)
    return AttitudeErrors(
        2.0 * np.arctan2(np.hypot(level, z), w), 2.0 * np.arctan2(z, w), 2.0 * np.arctan2(level, np.hypot(w, z))
    )


def rmse(error: ArrayLike, where: NDArray[np.bool_] | None = None) -> float:
    """Root of the mean square of errors, over the samples in `where` that have a truth; in the errors' unit."""
    values = np.asarray(error, dtype=np.float64)
    counted = np.isfinite(values) if where is None else np.isfinite(values) & where
    if not counted.any():
        raise InputError("no sample has both an attitude and a truth where errors are asked for; check the mask")
    return float(np.sqrt(np.mean(values[counted] ** 2)))


def rmse_deg(errors: AttitudeErrors, where: NDArray[np.bool_] | None = None) -> tuple[float, float, float]:
    """Root mean square errors in deg: total, heading, inclination."""
    total, heading, inclination = (float(np.rad2deg(rmse(part, where))) for part in errors)
    return total, heading, inclination


def angles_deg(q: Array) -> Array:
    """Roll, pitch, yaw (deg) of attitudes, (n, 3)."""
    return np.rad2deg(np.stack(euler_from_q(q), axis=-1))
