"""Joints that follow other joints: `<mimic>` of a URDF, `<equality><joint>` of an MJCF."""

from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import NDArray

from strapdown.errors import InputError

Array = NDArray[np.float64]


@dataclass(frozen=True)
class MimicJoint:
    """Joint number `joint` has the position law(position of joint number `leader`); leader None: law(0)."""

    joint: int
    leader: int | None
    law: Polynomial

    def from_leader(self, position: Array, speed: Array, acceleration: Array) -> tuple[Array, Array, Array]:
        """Position, speed and acceleration of a joint from those of its leader, by the chain rule."""
        slope, curvature = self.law.deriv(1)(position), self.law.deriv(2)(position)
        return self.law(position), slope * speed, curvature * speed**2 + slope * acceleration


def joint_title(model: Any, joint: int) -> str:
    """The name of a joint in a message."""
    return f'joint "{model.joint(joint).name}"' if model.joint(joint).name else f"joint {joint} (it has no name)"


def mimic_joints_of(model: Any, where: str) -> list[MimicJoint]:
    """All joints that follow others, leaders first. Raises InputError for a constraint without a formula."""
    found: dict[int, MimicJoint] = {}
    for i in range(model.neq):
        if not model.eq_active0[i]:
            continue
        if model.eq_type[i] != int(mujoco.mjtEq.mjEQ_JOINT):
            kind = mujoco.mjtEq(model.eq_type[i]).name.removeprefix("mjEQ_").lower()
            raise InputError(
                f'{where}: a constraint of kind "{kind}" needs physics; set drive = "motors" or remove the constraint'
            )
        joint, leader = int(model.eq_obj1id[i]), int(model.eq_obj2id[i])
        if joint in found:
            raise InputError(f"{where}: {joint_title(model, joint)} follows two joints; remove one <equality>")
        # the engine's law is y - y0 = P(x - x0), with x0 and y0 where the file has the joints
        y_0 = model.qpos0[model.jnt_qposadr[joint]]
        x_0 = 0.0 if leader < 0 else model.qpos0[model.jnt_qposadr[leader]]
        law = Polynomial(model.eq_data[i, :5] if leader >= 0 else model.eq_data[i, :1])(Polynomial([-x_0, 1.0])) + y_0
        found[joint] = MimicJoint(joint, None if leader < 0 else leader, law)
    return _leaders_first(model, found, where)


def _leaders_first(model: Any, found: dict[int, MimicJoint], where: str) -> list[MimicJoint]:
    ordered: list[MimicJoint] = []
    waiting = dict(found)
    while waiting:
        ready = [mimic for mimic in waiting.values() if mimic.leader not in waiting]
        if not ready:
            titles = " and ".join(joint_title(model, joint) for joint in waiting)
            raise InputError(f"{where}: {titles} follow each other in a circle; remove one <mimic> or <equality>")
        ordered += ready
        waiting = {joint: mimic for joint, mimic in waiting.items() if mimic not in ready}
    return ordered
