"""The force law of a vehicle with driven wheels: a speed servo on each."""

from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np

from strapdown.arrays import Array
from strapdown.kernels.compiled import fix_signature
from strapdown.kernels.vehicles import wheels as kernel
from strapdown.kernels.vehicles.memory import ACHIEVED, AIR, ANGLE, DENSITY, FIELDS, SHARE
from strapdown.vehicles.vehicle_file import WheelTable


class WheelLaw:
    """Motors on the joints of wheels. The air does not act on the vehicle.

    friction: friction of tyres on the ground.
    """

    def __init__(self, wheels: Sequence[WheelTable], friction: float, air_kg_m3: float) -> None:
        self._tables, self._friction, self._density = tuple(wheels), friction, air_kg_m3
        self.memory = np.zeros(AIR + FIELDS * len(self._tables))
        self._wheels = np.zeros((len(self._tables), kernel.COLUMNS))
        for column, name in (
            (kernel.SERVO, "servo_n_m_s"),
            (kernel.MOST_TORQUE, "max_torque_n_m"),
            (kernel.FASTEST, "fastest_rad_s"),
        ):
            self._wheels[:, column] = [getattr(table, name) for table in self._tables]
        fix_signature(kernel.wheel_torques)
        fix_signature(kernel.settle_wheels)

    def attach(self, model: Any, data: Any) -> None:
        self._positions, self._speeds, self._force = data.qpos, data.qvel, data.qfrc_applied
        mujoco.mj_forward(model, data)
        unit, answer = np.zeros((1, model.nv)), np.zeros((1, model.nv))
        for row, table in zip(self._wheels, self._tables, strict=True):
            joint = model.joint(table.joint)
            row[kernel.PLACE], row[kernel.DOF] = joint.qposadr[0], joint.dofadr[0]
            unit[:] = 0.0
            unit[0, joint.dofadr[0]] = 1.0
            mujoco.mj_solveM(model, data, answer, unit)
            row[kernel.INERTIA] = 1.0 / answer[0, joint.dofadr[0]]
            tyre = model.geom_bodyid == model.jnt_bodyid[joint.id]
            model.geom_friction[tyre, 0] = self._friction
            model.geom_priority[tyre] = 1  # else the engine takes the larger one of tyre and ground

    def identity(self) -> bytes:
        return self._wheels.tobytes()

    def reset(self) -> None:
        n = len(self._tables)
        self.memory[:] = 0.0
        self.memory[DENSITY] = self._density
        self.memory[AIR + SHARE * n : AIR + ACHIEVED * n] = 1.0
        self.settle(np.inf)

    def commanded(self) -> None:
        """The kernel reads commands from the memory."""

    def apply(self, size_s: float) -> bool:
        kernel.wheel_torques(self.memory, self._wheels, self._speeds, size_s, self._force)
        return False

    def settle(self, largest: float) -> bool:
        return kernel.settle_wheels(self.memory, self._wheels, self._positions, self._speeds, largest)

    @property
    def speeds(self) -> Array:
        """Speed of each wheel, rad/s."""
        n = len(self._tables)
        return self.memory[AIR + ACHIEVED * n : AIR + ANGLE * n]
