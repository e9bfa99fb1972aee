"""The force law of a vehicle with fixed-pitch rotors."""

from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np

from strapdown.arrays import Array
from strapdown.kernels.compiled import fix_signature
from strapdown.kernels.vehicles import rotors as kernel
from strapdown.kernels.vehicles.memory import ACHIEVED, AIR, DENSITY, FIELDS, SHARE, settle
from strapdown.vehicles.actuation import Rotor


class FreeBodyLaw:
    """What the laws of flying vehicles share: their memory, and the free joint that the forces act on.

    achieved, angles: views of the memory. It is not used by itself.
    """

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

    def settle(self, largest: float) -> bool:
        return settle(self._all, self._count, *self._engine, largest)


class RotorLaw(FreeBodyLaw):
    """Rotors on a floating body. parasitic: N s2/m2 along the axes of the body, at the reference density."""

    def __init__(
        self, body: str, rotors: Sequence[Rotor], parasitic: Sequence[float], reference_kg_m3: float, air_kg_m3: float
    ) -> None:
        super().__init__(body, len(rotors), air_kg_m3)
        self._rotors = np.array([rotor.row() for rotor in rotors])
        self._numbers = np.zeros(kernel.BODY)
        self._numbers[kernel.REFERENCE_DENSITY] = reference_kg_m3
        self._numbers[kernel.PARASITIC : kernel.PARASITIC + 3] = parasitic
        fix_signature(kernel.rotor_forces)

    def attach(self, model: Any, data: Any) -> None:
        super().attach(model, data)
        self._numbers[kernel.CENTRE : kernel.CENTRE + 3] = model.body(self._body).ipos
        self._numbers[kernel.GROUND] = self._ground

    def identity(self) -> bytes:
        return self._rotors.tobytes() + self._numbers.tobytes()

    def apply(self, size_s: float) -> None:
        kernel.rotor_forces(self._all, self._rotors, self._numbers, self._place, self._motion, size_s, self._force)

    @property
    def speeds(self) -> Array:
        """rad/s, of each rotor."""
        first = AIR + ACHIEVED * self._count
        return self._all[first : first + self._count]


def ground_height(model: Any, data: Any) -> float:
    """Height (m) of the highest level plane that is fixed to the world; -inf without one."""
    mujoco.mj_kinematics(model, data)
    found = [-np.inf]
    for i in range(model.ngeom):
        level = data.geom_xmat[i][8] > 1.0 - 1e-9
        if model.geom_type[i] == mujoco.mjtGeom.mjGEOM_PLANE and model.geom_bodyid[i] == 0 and level:
            found.append(float(data.geom_xpos[i][2]))
    return max(found)
