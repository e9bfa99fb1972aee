"""How a frame's motion stands in MuJoCo's numbers, and how it becomes a Motion of ours."""

from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from strapdown.earth import gravity_vector
from strapdown.rotation import q_conj, q_normalise, q_rotate
from strapdown.types import Motion

Array = NDArray[np.float64]

# One block of engine sensors per frame s, in this order: p_n 0:3, q_ns 3:7, v_n 7:10, w_n 10:13, f_n 13:16, dw_n 16:19
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
    """The motion of a mount's frame s, and the force (N, frame s) that carries its proof mass if it has one."""

    motion: Motion
    force_s: Array | None


def motion_from_block(gravity: float, t: Array, rows: Array) -> Motion:
    """Blocks of 19 columns as a Motion; the engine's linear acceleration has gravity in it, ours has not."""
    q_ns = q_normalise(rows[:, 3:7])
    q_sn = q_conj(q_ns)
    a_n = rows[:, 13:16] + gravity_vector(gravity)
    return Motion(
        t,
        rows[:, 0:3],
        rows[:, 7:10],
        a_n,
        q_ns,
        q_rotate(q_sn, rows[:, 10:13]),
        q_rotate(q_sn, rows[:, 16:19]),
    )


def link_block(model: Any, data: Any, body: int) -> Array:
    """The same 19 columns for a link's own frame, from engine data that is up to date."""
    velocity, acceleration = np.empty(6), np.empty(6)
    frame = mujoco.mjtObj.mjOBJ_XBODY
    mujoco.mj_objectVelocity(model, data, frame, body, velocity, 0)
    mujoco.mj_objectAcceleration(model, data, frame, body, acceleration, 0)
    return np.concatenate(
        [data.xpos[body], data.xquat[body], velocity[3:], velocity[:3], acceleration[3:], acceleration[:3]]
    )
