"""Common part of the force laws of flying vehicles."""

from typing import Any

import mujoco
import numpy as np

from strapdown.kernels.compiled import fix_signature
from strapdown.kernels.vehicles.memory import AIR, DENSITY, FIELDS, SHARE, settle


class FreeBodyLaw:
    """Memory of the laws, and the free joint on which the forces act; it is not used alone."""

    def __init__(self, body: str, count: int, density_kg_m3: float) -> None:
        self._body, self._count, self._density = body, count, density_kg_m3
        self._all = np.zeros(AIR + (FIELDS + 2) * count)
        self.memory = self._all[: AIR + FIELDS * count]
        fix_signature(settle)

    def attach(self, model: Any, data: Any) -> None:
        joint = model.body(self._body).jntadr[0]
        at, dof = int(model.jnt_qposadr[joint]), int(model.jnt_dofadr[joint])
        self._place = data.qpos[at : at + 7]
        self._motion = data.qvel[dof : dof + 6]
        self._force = data.qfrc_applied[dof : dof + 6]
        self._engine = data.qpos, data.qvel
        self._ground = ground_height(model, data)

    def reset(self) -> None:
        self._all[:] = 0.0
        self._all[DENSITY] = self._density
        first = AIR + SHARE * self._count
        self._all[first : first + self._count] = 1.0

    def commanded(self) -> None:
        """The kernels read commands from the memory."""

    def settle(self, largest: float) -> bool:
        return settle(self._all, self._count, *self._engine, largest)


def ground_height(model: Any, data: Any) -> float:
    """Height (m) of the highest level plane that is fixed to the world; -inf without one."""
    mujoco.mj_kinematics(model, data)
    found = [-np.inf]
    for i in range(model.ngeom):
        level = data.geom_xmat[i][8] > 1.0 - 1e-9
        if model.geom_type[i] == mujoco.mjtGeom.mjGEOM_PLANE and model.geom_bodyid[i] == 0 and level:
            found.append(float(data.geom_xpos[i][2]))
    return max(found)
