"""Columns of a frame's motion in MuJoCo's numbers, and their conversion to a Motion."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from strapdown.earth import gravity_vector
from strapdown.kernels.frames import mounted_rows, unexplained_rows
from strapdown.rotation import q_normalise
from strapdown.types import Motion

Array = NDArray[np.float64]

# One block of engine sensors per link that carries a mount, in this order (kernels/frames.py reads it):
# p_n 0:3, q_nb 3:7, v_n 7:10, w_n 10:13, f_n 13:16, dw_n 16:19
BLOCK = (
    mujoco.mjtSensor.mjSENS_FRAMEPOS,
    mujoco.mjtSensor.mjSENS_FRAMEQUAT,
    mujoco.mjtSensor.mjSENS_FRAMELINVEL,
    mujoco.mjtSensor.mjSENS_FRAMEANGVEL,
    mujoco.mjtSensor.mjSENS_FRAMELINACC,
    mujoco.mjtSensor.mjSENS_FRAMEANGACC,
)
BLOCK_SIZE = 19


@dataclass(frozen=True)
class Sampled:
    """The motion of a mount's frame s, and the force (N, frame s) that carries its proof mass if it has one.

    For each sample, the largest value over all physics steps since the previous sample. None: there are no steps and no
    such error. `unexplained` is the difference between acceleration and change of velocity (m/s2), by the integrator's
    fault or because an impact is within a step. `turn_per_step` is the rotation of the link in one step (rad).
    """

    motion: Motion
    force_s: Array | None
    unexplained: Array | None = None
    turn_per_step: Array | None = None


def motion_from_block(
    gravity: float,
    t: Array,
    rows: Array,
    r_bs_b: Sequence[float] = (0.0, 0.0, 0.0),
    q_bs: Sequence[float] = (1.0, 0.0, 0.0, 0.0),
) -> Motion:
    """Blocks of 19 columns as the motion of a frame mounted on the link."""
    rows = np.ascontiguousarray(rows)
    locked = [rows, gravity_vector(gravity), np.array(r_bs_b, dtype=np.float64), q_normalise(q_bs)]
    for array in locked:
        array.flags.writeable = False
    p_n, v_n, a_n, w_s, dw_s = (np.empty((len(t), 3)) for _ in range(5))
    q_ns = np.empty((len(t), 4))
    mounted_rows(*locked, p_n, v_n, a_n, q_ns, w_s, dw_s)
    return Motion(t, p_n, v_n, a_n, q_ns, w_s, dw_s)


def link_block(model: Any, data: Any, body: int) -> Array:
    """The same 19 columns for one link now, from up-to-date engine data."""
    velocity, acceleration = np.empty(6), np.empty(6)
    frame = mujoco.mjtObj.mjOBJ_XBODY
    mujoco.mj_objectVelocity(model, data, frame, body, velocity, 0)
    mujoco.mj_objectAcceleration(model, data, frame, body, acceleration, 0)
    return np.concatenate(
        [data.xpos[body], data.xquat[body], velocity[3:], velocity[:3], acceleration[3:], acceleration[:3]]
    )


def unexplained(gravity: float, sizes: Array, rows: Array) -> tuple[Array, Array]:
    """The integrator's defect at every row, m/s2 and rad/s2 (kernels/frames.py); the last row repeats."""
    inputs = [np.ascontiguousarray(rows), gravity_vector(gravity), np.ascontiguousarray(sizes)]
    for array in inputs:
        array.flags.writeable = False
    linear, angular = np.empty(len(sizes)), np.empty(len(sizes))
    unexplained_rows(*inputs, linear, angular)
    return np.append(linear, linear[-1:]), np.append(angular, angular[-1:])
