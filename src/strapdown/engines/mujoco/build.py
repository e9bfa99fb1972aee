"""Adds motors, mounts and proof masses to a robot's specification and compiles it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from strapdown.engines.mujoco.integrators import EXPLICIT, INTEGRATORS, set_integrator
from strapdown.engines.mujoco.motion_rows import BLOCK, BLOCK_SIZE, Sampled, motion_from_block
from strapdown.engines.mujoco.robot_file import (
    PLAIN,
    RESERVED,
    RobotFile,
    check_contacts_fit,
    compiled,
    engine_errors,
    quiet,
)
from strapdown.engines.parts import Motor, Mount, Physics, ProofMass, Start
from strapdown.engines.robot_limits import listed, shown
from strapdown.errors import InputError

# A motor without a time constant gets this one, or ten steps if that is longer. Coupled joints make explicit steps
# unstable below a few steps, and a bound in seconds keeps the same robot at every step below 1 ms.
_TIME_CONSTANT_S, _TIME_CONSTANT_STEPS = 0.01, 10.0

# a robot file may switch these off and on: readings and motors must not depend on it
_NEEDED = int(
    mujoco.mjtDisableBit.mjDSBL_GRAVITY | mujoco.mjtDisableBit.mjDSBL_SENSOR | mujoco.mjtDisableBit.mjDSBL_ACTUATION
)
_UNWANTED = int(mujoco.mjtEnableBit.mjENBL_INVDISCRETE | mujoco.mjtEnableBit.mjENBL_SLEEP)

_PROOF_MASS_DENSITY = 125.0  # kg/m3: a cube of 1 g has 20 mm edges


def known(name: str, valid: Iterable[str], what: str, where: str) -> str:
    """The name, if it is one of the valid ones."""
    valid = list(valid)
    if name not in valid:
        there = listed(valid) if valid else "none"
        raise InputError(f'{where}: {what} "{shown(name)}" is not there; valid names: {there}')
    return name


@dataclass(frozen=True)
class Built:
    """The compiled robot and the places of its parts."""

    model: Any  # mujoco.MjModel
    links: tuple[str, ...]
    joints: tuple[str, ...]  # hinges and slides, which can be driven
    mounts: dict[str, Mount]
    block_start: dict[str, int]  # link -> first column of its block in sensordata
    force_start: dict[str, int]  # mount -> first column of its force sensor
    qpos0: np.ndarray
    qvel0: np.ndarray

    def columns(self, mount: str) -> np.ndarray:
        """The mount's columns of the engine's sensordata: its link's block, then its proof mass's force."""
        block, force = self.block_start[self.mounts[mount].link], self.force_start.get(mount)
        columns = np.arange(block, block + BLOCK_SIZE)
        return columns if force is None else np.append(columns, np.arange(force, force + 3))

    def sampled(
        self,
        mount: str,
        gravity: float,
        t: np.ndarray,
        rows: np.ndarray,
        unexplained: np.ndarray | None = None,
        turn_per_step: np.ndarray | None = None,
    ) -> Sampled:
        """Motion of a mount from its columns, a row for each time."""
        on = self.mounts[mount]
        motion = motion_from_block(gravity, t, rows[:, :BLOCK_SIZE], on.r_bs_b, on.q_bs)
        return Sampled(motion, rows[:, BLOCK_SIZE:] if mount in self.force_start else None, unexplained, turn_per_step)


@quiet()
def build(
    robot: RobotFile,
    physics: Physics,
    motors: Sequence[Motor] = (),
    mounts: Sequence[Mount] = (),
    start: Sequence[Start] = (),
) -> Built:
    """Compile the robot with everything that the rig adds to it; unknown names raise InputError with the valid ones."""
    where = str(robot.path)
    if not (np.isfinite(physics.step_s) and physics.step_s > 0.0):
        raise InputError(f"physics step is {physics.step_s} s; give a number above 0, for example 0.001")
    known(physics.integrator, INTEGRATORS, "integrator", "physics")
    spec, links = robot.load()
    movable = (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE)
    joints = tuple(joint.name for joint in spec.joints if joint.name and joint.type in movable)
    for item in start:
        known(item.joint, joints, "joint", where)

    spec.option.gravity = np.array([0.0, 0.0, -physics.gravity])
    spec.option.timestep = physics.step_s
    spec.option.disableflags &= ~_NEEDED
    spec.option.enableflags &= ~_UNWANTED
    set_integrator(spec, physics.integrator)
    plain = compiled(robot.path, spec)
    data = mujoco.MjData(plain)
    _set_start(plain, data, start)
    mujoco.mj_forward(plain, data)
    check_contacts_fit(data.warning.number)
    carriers = tuple(dict.fromkeys(known(mount.link, links, "link", where) for mount in mounts))
    with engine_errors(robot.path):  # names may still clash
        for motor in motors:
            known(motor.joint, joints, "joint", where)
            if motor.name in [actuator.name for actuator in spec.actuators]:
                raise InputError(f'{where}: motor "{motor.name}" is there twice; give each motor its own name')
            _add_motor(spec, motor, _carried_inertia(plain, data, motor.joint), physics)
        _compensate_gravity(spec, motors)
        for mount in mounts:
            if mount.proof_mass is not None:
                _add_proof_mass(spec, mount, mount.proof_mass)
        for link in carriers:
            for i, kind in enumerate(BLOCK):
                spec.add_sensor(name=_sensor_name(link, i), type=kind, objtype=mujoco.mjtObj.mjOBJ_XBODY, objname=link)
    model = compiled(robot.path, spec)
    data = mujoco.MjData(model)
    _set_start(model, data, start)
    _hang_proof_masses(model, data, mounts, physics.gravity)
    column = {model.sensor(i).name: int(model.sensor_adr[i]) for i in range(model.nsensor)}
    return Built(
        model,
        links,
        joints,
        {m.name: m for m in mounts},
        {link: column[_sensor_name(link, 0)] for link in carriers},
        {m.name: column[f"{RESERVED}{m.name}/force"] for m in mounts if m.proof_mass},
        data.qpos.copy(),
        data.qvel.copy(),
    )


def _set_start(model: Any, data: Any, start: Sequence[Start]) -> None:
    for item in start:
        joint = model.joint(item.joint)
        data.qpos[joint.qposadr[0]] = item.position
        data.qvel[joint.dofadr[0]] = item.speed


def _carried_inertia(model: Any, data: Any, joint: str) -> float:
    """The inertia (kg m2, or kg) that a motor on the joint moves."""
    unit, column = np.zeros(model.nv), np.zeros(model.nv)
    unit[model.joint(joint).dofadr[0]] = 1.0
    mujoco.mj_mulM(model, data, column, unit)
    return float(column @ unit)


def _add_motor(spec: Any, motor: Motor, carried: float, physics: Physics) -> None:
    actuator = spec.add_actuator(PLAIN, name=motor.name, trntype=mujoco.mjtTrn.mjTRN_JOINT, target=motor.joint)
    time_constant = motor.time_constant_s
    if time_constant is None:
        time_constant = max(_TIME_CONSTANT_S, _TIME_CONSTANT_STEPS * physics.step_s)
    explicit = physics.integrator in EXPLICIT
    if motor.kind != "torque" and explicit and time_constant < physics.step_s * (1 - 1e-9):
        raise InputError(
            f'motor "{motor.name}" has a time constant of {time_constant:g} s, below the physics step of '
            f"{physics.step_s:g} s, which explicit integrators cannot follow; make it longer or use the integrator "
            "implicitfast or discrete"
        )
    if motor.kind == "speed":
        actuator.set_to_velocity(kv=carried / time_constant)
    elif motor.kind == "position":
        if explicit:  # twice the step keeps them stable
            time_constant = max(time_constant, 2.0 * physics.step_s)
        actuator.set_to_position(kp=carried / time_constant**2, kv=2.0 * carried / time_constant)  # critical damping
    else:
        actuator.set_to_motor()
    actuator.dyntype = mujoco.mjtDyn.mjDYN_INTEGRATOR  # the activation is the target, the control its rate
    if motor.max_torque is not None:
        actuator.forcelimited = True
        actuator.forcerange = np.array([-motor.max_torque, motor.max_torque])


def _compensate_gravity(spec: Any, motors: Sequence[Motor]) -> None:
    """Let motors carry the weight of the links behind them; a link on a free joint keeps its weight."""
    carrying = {m.joint for m in motors if m.gravity_compensation and m.kind != "torque"}
    carried = {spec.worldbody.id}  # by number: not every body has a name
    for body in spec.bodies:  # parents come before children
        if body.id == spec.worldbody.id or body.parent.id not in carried:
            continue
        if all(joint.name in carrying for joint in body.joints):
            carried.add(body.id)
            body.gravcomp = 1.0
            for joint in body.joints:
                joint.actgravcomp = 1


def _sensor_name(link: str, i: int) -> str:
    return f"{RESERVED}{link}/{i}"


def _add_proof_mass(spec: Any, mount: Mount, proof: ProofMass) -> None:
    site = f"{RESERVED}{mount.name}"
    link = spec.body(mount.link)
    link.add_site(PLAIN, name=site, pos=np.array(mount.r_bs_b), quat=np.array(mount.q_bs))
    carrier = link.add_body(name=f"{site}/mass", pos=np.array(mount.r_bs_b), quat=np.array(mount.q_bs))
    carrier.explicitinertial = True
    carrier.mass = proof.mass_kg
    edge_m = np.cbrt(proof.mass_kg / _PROOF_MASS_DENSITY)
    carrier.inertia = np.full(3, proof.mass_kg * edge_m**2 / 6.0)
    carrier.ipos, carrier.iquat = (
        np.zeros(3),
        np.array([1.0, 0.0, 0.0, 0.0]),
    )  # unset, they copy the body's own pose
    if proof.joint_frequency_hz is not None:
        w0 = 2.0 * np.pi * proof.joint_frequency_hz
        for axis, direction in zip("xyz", np.eye(3), strict=True):
            joint = carrier.add_joint(
                PLAIN, name=f"{site}/mass/{axis}", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=direction
            )
            joint.stiffness[0] = proof.mass_kg * w0**2
            joint.damping[0] = 2.0 * proof.damping_ratio * proof.mass_kg * w0
    carrier.add_site(PLAIN, name=f"{site}/mass/site")
    spec.add_sensor(
        name=f"{site}/force",
        type=mujoco.mjtSensor.mjSENS_FORCE,
        objtype=mujoco.mjtObj.mjOBJ_SITE,
        objname=f"{site}/mass/site",
    )


def _hang_proof_masses(model: Any, data: Any, mounts: Sequence[Mount], gravity: float) -> None:
    """Begin with each soft proof mass hanging at rest, as a device that has been at rest for a while."""
    mujoco.mj_forward(model, data)
    for mount in mounts:
        if mount.proof_mass is None or mount.proof_mass.joint_frequency_hz is None:
            continue
        r_ns = data.site(f"{RESERVED}{mount.name}").xmat.reshape(3, 3)
        hang_s = r_ns.T @ [0.0, 0.0, -gravity] / (2.0 * np.pi * mount.proof_mass.joint_frequency_hz) ** 2
        for axis, value in zip("xyz", hang_s, strict=True):
            data.qpos[model.joint(f"{RESERVED}{mount.name}/mass/{axis}").qposadr[0]] = value
