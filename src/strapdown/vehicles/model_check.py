"""The parts of a vehicle file, looked up in its compiled model: hubs in the frame of the body, joints, mass."""

import math
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from strapdown.engines.mujoco.build import known
from strapdown.engines.mujoco.mimic_joints import mimic_joints_of
from strapdown.engines.robot_limits import shown
from strapdown.errors import InputError
from strapdown.rotation import matrix
from strapdown.vehicles.actuation import DEG, Actuator, Rotor, Servo, Triple
from strapdown.vehicles.vehicle_file import JointTable, RotorTable, WheelTable

_HINGE, _SLIDE = int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE)
_FREE = int(mujoco.mjtJoint.mjJNT_FREE)
_TIME_CONSTANT_S = 0.05  # of a servo that has none of its own: a step of the target is followed in about 0.25 s


@dataclass(frozen=True)
class Model:
    """A compiled model at its start, its links, and the file that messages name."""

    engine: Any  # mujoco.MjModel
    data: Any  # mujoco.MjData
    links: tuple[str, ...]
    where: str

    def joints(self, kinds: tuple[int, ...]) -> list[str]:
        engine = self.engine
        return [
            engine.joint(i).name for i in range(engine.njnt) if engine.jnt_type[i] in kinds and engine.joint(i).name
        ]

    def fixed_to(self, link: int, body: int) -> int | None:
        """The first link that a joint moves, on the way from a link to the body. None: it is fixed to the body; -1: it
        is no part of it.
        """
        while link != body:
            if link == 0:
                return -1
            if self.engine.body_jntnum[link]:
                return link
            link = int(self.engine.body_parentid[link])
        return None


def check_floating(model: Model, body: str) -> None:
    joint = int(model.engine.body(body).jntadr[0])
    if joint < 0 or model.engine.jnt_type[joint] != _FREE:
        raise InputError(
            f'{model.where}: body "{shown(body)}" is not free to move; give it a <freejoint/> in the model'
        )


def placed_rotor(model: Model, table: RotorTable, body: str) -> Rotor:
    """The rotor in the frame of the body."""
    link = table.link or body
    known(link, model.links, "link", f'{model.where}: rotor "{table.name}"')
    between = model.fixed_to(int(model.engine.body(link).id), int(model.engine.body(body).id))
    if between is not None:
        why = f'is no part of body "{shown(body)}"; name a link of it'
        if between >= 0:
            why = (
                f'a joint moves against body "{shown(body)}"; remove the joint: a rotor turns without one, its figures '
                "hold momentum and torque"
            )
        raise InputError(f'{model.where}: rotor "{table.name}" is on link "{shown(link)}", which {why}')
    at, on = model.data.body(body), model.data.body(link)
    r_nb, r_nl = matrix(at.xquat), matrix(on.xquat)
    hub = r_nb.T @ (on.xpos + r_nl @ table.position_m - at.xpos)
    axis = r_nb.T @ r_nl @ table.axis
    return Rotor(table.name, _triple(hub), _triple(axis), 1 if table.spin == "counter-clockwise" else -1, table)


def check_wheel(model: Model, table: WheelTable, body: str) -> None:
    known(table.joint, model.joints((_HINGE,)), "joint", f'{model.where}: wheel "{table.name}"')
    wheel = int(model.engine.jnt_bodyid[model.engine.joint(table.joint).id])
    if not _carried(model.engine, wheel, int(model.engine.body(body).id)):
        raise InputError(
            f'{model.where}: wheel "{table.name}" turns on joint "{shown(table.joint)}", which is no part of body '
            f'"{shown(body)}"; name a joint of it'
        )


def servo_of(model: Model, table: JointTable) -> Servo:
    """The servo of a joint, with the limits of its table, else those of the model."""
    known(table.joint, model.joints((_HINGE, _SLIDE)), "joint", model.where)
    joint = model.engine.joint(table.joint)
    hinge = joint.type[0] == _HINGE
    wrong = ("low_m", "high_m", "max_force_n") if hinge else ("low_deg", "high_deg", "max_torque_n_m")
    for key in wrong:
        if getattr(table, key) is not None:
            unit = "deg and N m" if hinge else "m and N"
            raise InputError(f'{model.where}: joint "{table.joint}" has {key}, but its limits are in {unit}; rename it')
    limited = bool(joint.limited[0])
    low, high = (float(x) for x in joint.range) if limited else (-math.pi, math.pi)
    scale = DEG if hinge else 1.0
    own_low = table.low_deg if hinge else table.low_m
    own_high = table.high_deg if hinge else table.high_m
    if not (hinge or limited) and (own_low is None or own_high is None):
        raise InputError(
            f'{model.where}: joint "{table.joint}" slides without limits; give it a range in the model, or low_m and '
            "high_m in a vehicle.toml"
        )
    low = low if own_low is None else own_low * scale
    high = high if own_high is None else own_high * scale
    if not low < high:
        raise InputError(
            f'{model.where}: joint "{table.joint}" runs from {low / scale:g} to {high / scale:g} '
            f"{'deg' if hinge else 'm'}; give the lower limit first"
        )
    actuator = Actuator(table.name or table.joint, "rad" if hinge else "m", low, high)
    most = table.max_torque_n_m if hinge else table.max_force_n
    return Servo(actuator, table.joint, table.time_constant_s or _TIME_CONSTANT_S, most)


def every_servo(model: Model) -> tuple[Servo, ...]:
    """A servo on each joint of a model that follows no other joint."""
    following = {mimic.joint for mimic in mimic_joints_of(model.engine, model.where)}
    names = [name for name in model.joints((_HINGE, _SLIDE)) if model.engine.joint(name).id not in following]
    if not names:
        raise InputError(
            f"{model.where}: the model has no joint that a servo can turn or slide; a vehicle with rotors or wheels "
            "needs a vehicle.toml next to its model (docs/vehicles.md)"
        )
    return tuple(servo_of(model, JointTable(joint=name)) for name in names)


def whole_body(model: Model, body: str) -> tuple[float, Triple, Triple]:
    """Mass, centre of mass in the frame of the body, and diagonal of the inertia about it. The values are of the body,
    all that it carries, and all that carries it.
    """
    engine, data = model.engine, model.data
    own = int(engine.body(body).id)
    inside = np.flatnonzero(engine.body_rootid == engine.body_rootid[own])
    masses = engine.body_mass[inside]
    mass = float(masses.sum())
    if own == 0 or mass <= 0.0:
        return 0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    centre = masses @ data.xipos[inside] / mass
    inertia = np.zeros((3, 3))
    for i in inside:
        axes, arm = data.ximat[i].reshape(3, 3), data.xipos[i] - centre
        inertia += axes @ np.diag(engine.body_inertia[i]) @ axes.T
        inertia += engine.body_mass[i] * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    r_nb = matrix(data.xquat[own])
    return mass, _triple(r_nb.T @ (centre - data.xpos[own])), _triple(np.diag(r_nb.T @ inertia @ r_nb))


def _carried(engine: Any, link: int, body: int) -> bool:
    while link not in (0, body):
        link = int(engine.body_parentid[link])
    return link == body


def _triple(vector: Any) -> Triple:
    x, y, z = (float(value) for value in vector)
    return x, y, z
