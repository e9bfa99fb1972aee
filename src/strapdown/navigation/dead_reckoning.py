"""Dead reckoning: integrate the gyroscope and the accelerometer from a known start, with no aid.

The solution is that of the sensor's frame s: q_nb, p_n, v_n of the start and of the solution are those of s.
"""

import numpy as np
from numpy.typing import ArrayLike

from strapdown import earth
from strapdown.arrays import locked, locked_attitude
from strapdown.errors import InputError
from strapdown.kernels.navigation import dead_reckoning as kernel
from strapdown.navigation.examination import examine_for_navigation
from strapdown.types import Array, Increments, Recording, Solution


def dead_reckon(
    recording: Recording,
    q_nb: ArrayLike,
    p_n: ArrayLike,
    v_n: ArrayLike,
    gravity: str | float,
    *,
    examine: bool = True,
) -> Solution:
    """Dead reckoning from readings that are values at their time stamps; the start is the state at the first reading.

    Second order in the step where the readings change smoothly.

    gravity: m/s2, or a place that earth.gravity knows.
    examine: False uses the readings without a check, such as exact signals of a free fall, which in a log would be a
        broken sensor.
    """
    if recording.gyr_s is None or recording.acc_s is None:
        missing = "gyr_s" if recording.gyr_s is None else "acc_s"
        raise InputError(f"the recording has no {missing}; dead reckoning needs gyroscope and accelerometer")
    q0, p0, v0, g_n = _start(q_nb, p_n, v_n, gravity)
    if examine:
        examine_for_navigation(recording, gravity)
    q, p, v = _room(len(recording))
    q[0], p[0], v[0] = q0, p0, v0
    kernel.dead_reckon(recording.t, recording.gyr_s, recording.acc_s, g_n, q, v, p)
    return Solution(recording.t, q, p, v, meta={"method": "dead reckoning", "gravity": -float(g_n[2])})


def dead_reckon_increments(
    increments: Increments, q_nb: ArrayLike, p_n: ArrayLike, v_n: ArrayLike, gravity: str | float
) -> Solution:
    """Dead reckoning from increments; the start is the state before the first interval.

    Attitude and velocity are exact for exact increments; the position is of second order in the step.
    """
    _refuse_gaps(increments)
    q0, p0, v0, g_n = _start(q_nb, p_n, v_n, gravity)
    q, p, v = _room(len(increments.t))
    kernel.dead_reckon_increments(increments.dt, increments.theta_s, increments.dv_s, g_n, q0, v0, p0, q, v, p)
    return Solution(increments.t, q, p, v, meta={"method": "dead reckoning, increments", "gravity": -float(g_n[2])})


def _start(q_nb: ArrayLike, p_n: ArrayLike, v_n: ArrayLike, gravity: str | float) -> tuple[Array, Array, Array, Array]:
    q0 = locked_attitude(np.reshape(q_nb, (1, -1)), 1, "q_nb")[0]
    return (  # all locked: the kernels are compiled once, for inputs that do not change
        locked(q0 / np.linalg.norm(q0), (4,), "q_nb"),
        locked(p_n, (3,), "p_n"),
        locked(v_n, (3,), "v_n"),
        locked(earth.gravity_vector(earth.gravity(gravity)), (3,), "gravity"),
    )


def _room(n: int) -> tuple[Array, Array, Array]:
    return np.empty((n, 4)), np.empty((n, 3)), np.empty((n, 3))


def _refuse_gaps(increments: Increments) -> None:
    """Refuse gaps. A lost increment is a lost turn: nothing after it would be right."""
    between_s = np.diff(increments.t)
    gap = between_s > 1.5 * increments.dt[1:]
    if gap.any():
        i = int(np.argmax(gap)) + 1
        raise InputError(
            f"increments are missing before sample {i} (t = {increments.t[i]:.6g} s): "
            f"{between_s[i - 1]:.6g} s since the last reading, but its interval is {increments.dt[i]:.6g} s; "
            "split the log there"
        )
