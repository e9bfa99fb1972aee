"""The attitude at rest, to start a filter from: by accelerometer and magnetometer, or by an inclinometer.

Frame n: x east, y north, z up. The results are q_ns, the start attitude of a filter.
"""

import numpy as np
from numpy.typing import ArrayLike

from strapdown.checks import finite, positive
from strapdown.errors import InputError
from strapdown.kernels.orientation.start import attitude_from as kernel_attitude
from strapdown.types import Array, Recording


def attitude_at_rest(acc_s: ArrayLike, mag_s: ArrayLike | None = None, declination_rad: float = 0.0) -> Array:
    """q_ns from means of the specific force (m/s2) and the magnetic field (uT), one reading or rows of them.

    Without mag_s the yaw is 0.

    declination_rad: declination of magnetic north from true north, east positive.
    """
    f_s, m_s = _mean("acc_s", acc_s), None if mag_s is None else _mean("mag_s", mag_s)
    if not np.linalg.norm(f_s) > 0.0:
        raise InputError("the mean of acc_s is 0, so it does not tell where up is; give readings at rest")
    if m_s is None:
        m_s = np.zeros(3)
    elif not np.linalg.norm(np.cross(f_s, m_s)) > 1e-6 * np.linalg.norm(f_s) * np.linalg.norm(m_s):
        raise InputError("the mean of mag_s is 0 or vertical, so it does not tell north; align without it")
    q = kernel_attitude(
        *(float(x) for x in (*f_s, *m_s)), bool(mag_s is not None), finite("declination_rad", declination_rad)
    )
    return np.array(q)


def align(recording: Recording, duration_s: float, declination_rad: float = 0.0) -> Array:
    """q_ns of the rest at the start of a recording, from its first duration_s seconds."""
    if recording.acc_s is None:
        raise InputError("the recording has no accelerometer; an alignment needs it")
    rest = recording.t - recording.t[0] <= positive("duration_s", duration_s)
    mag_s = None if recording.mag_s is None else recording.mag_s[rest]
    return attitude_at_rest(recording.acc_s[rest], mag_s, declination_rad)


def _mean(name: str, readings: ArrayLike) -> Array:
    rows = np.atleast_2d(np.asarray(readings, dtype=np.float64))
    if rows.ndim != 2 or rows.shape[1] != 3 or len(rows) == 0 or not np.isfinite(rows).all():
        raise InputError(f"{name} needs rows of three finite numbers; give readings at rest")
    return rows.mean(axis=0)
