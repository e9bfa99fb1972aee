"""Position servos of a manipulator: the engine's own motors, with targets and faults in a memory like other laws."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from strapdown.arrays import Array
from strapdown.engines.mujoco.mimic_joints import mimic_joints_of
from strapdown.kernels.mounts import all_within
from strapdown.kernels.vehicles.memory import ACHIEVED, AIR, ANGLE, COMMAND, DENSITY, FIELDS, SHARE
from strapdown.vehicles.actuation import Servo


class JointLaw:
    """Targets of the engine's motors, one for each joint, in the order of the actuators.

    A servo that gives a share of its torque has that share of its stiffness, damping and greatest torque. Such a servo
    carries that share of the weight behind its joint.
    """

    def __init__(self, servos: Sequence[Servo], air_kg_m3: float) -> None:
        n = len(servos)
        self._joints, self._density = tuple(servo.joint for servo in servos), air_kg_m3
        self._low = np.array([servo.actuator.low for servo in servos])
        self._high = np.array([servo.actuator.high for servo in servos])
        self.memory = np.zeros(AIR + FIELDS * n)
        self._commands, self._shares, self._achieved, self._angles = (
            self.memory[AIR + k * n : AIR + (k + 1) * n] for k in (COMMAND, SHARE, ACHIEVED, ANGLE)
        )

    def attach(self, model: Any, data: Any) -> None:
        joints = [model.joint(name) for name in self._joints]
        self._places = np.array([joint.qposadr[0] for joint in joints])
        self._dofs = np.array([joint.dofadr[0] for joint in joints])
        self._model, self._targets, self._engine = model, data.act, (data.qpos, data.qvel)
        _carry_followers(model, {joint.id for joint in joints})
        self._healthy = {
            name: getattr(model, name).copy()
            for name in ("actuator_gainprm", "actuator_biasprm", "actuator_forcerange", "body_gravcomp")
        }
        self._behind = _joints_behind(model, [joint.id for joint in joints])
        self._applied = np.ones(len(joints))

    def identity(self) -> bytes:
        return np.concatenate([self._low, self._high]).tobytes()

    def reset(self) -> None:
        self.memory[:] = 0.0
        self.memory[DENSITY] = self._density
        self._shares[:] = 1.0
        self._commands[:] = self._engine[0][self._places]
        self.commanded()
        self.settle(np.inf)

    def commanded(self) -> None:
        np.clip(self._commands, self._low, self._high, out=self._targets)

    def apply(self, size_s: float) -> bool:
        if np.array_equal(self._shares, self._applied):
            return False
        self._weaken()
        return True

    def settle(self, largest: float) -> bool:
        self._achieved[:] = self._engine[0][self._places]
        self._angles[:] = self._achieved
        return all_within(*self._engine, largest)

    @property
    def speeds(self) -> Array:
        """Speed of each joint, rad/s or m/s."""
        return self._engine[1][self._dofs]

    def _weaken(self) -> None:
        for name in ("actuator_gainprm", "actuator_biasprm", "actuator_forcerange"):
            getattr(self._model, name)[:] = self._healthy[name] * self._shares[:, None]
        carried = np.where(self._behind, self._shares, 1.0).min(axis=1)
        self._model.body_gravcomp[:] = self._healthy["body_gravcomp"] * carried
        self._applied[:] = self._shares


def _carry_followers(model: Any, driven: set[int]) -> None:
    """Servos carry the weight of links on joints that follow others too."""
    moved = driven | {mimic.joint for mimic in mimic_joints_of(model, "vehicle")}
    carried = [True] * model.nbody
    for body in range(1, model.nbody):
        first, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
        own = all(joint in moved for joint in range(first, first + count))
        carried[body] = own and carried[model.body_parentid[body]]
        if carried[body]:
            model.body_gravcomp[body] = 1.0


def _joints_behind(model: Any, joints: Sequence[int]) -> Array:
    """Array (bodies, joints): whether a joint carries a body."""
    found = np.zeros((model.nbody, len(joints)), dtype=bool)
    for body in range(1, model.nbody):
        found[body] = found[model.body_parentid[body]]
        for k, joint in enumerate(joints):
            found[body, k] |= model.jnt_bodyid[joint] == body
    return found
