"""Moves the robot or path of a rig, and gives each mounted sensor its own motion."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from strapdown.engines.catalogue import COPPELIASIM, MUJOCO, Engine, engine_named, integrator_of
from strapdown.engines.parts import Mount
from strapdown.environment.rig import Rig
from strapdown.environment.rig_sensors import Mounted, SensorTable
from strapdown.errors import InputError
from strapdown.sensors.imu import sample_times
from strapdown.sensors.methods import Sight
from strapdown.sensors.module import Module

MAX_SAMPLES = 50_000_000  # about 10 GB of recording: more is a typing error in the rate or the step
_TURNING = ("position_deg", "speed_deg_s", "max_torque_nm")
_SLIDING = ("position_m", "speed_m_s", "max_force_n")
_SLIDE = 2  # mujoco.mjtJoint.mjJNT_SLIDE


@dataclass(frozen=True)
class MountedSensor:
    """A mounted sensor, its module (None: ideal), and the rate at which its motion is needed."""

    table: Mounted
    module: Module | None
    inner_hz: float


def robot_motions(rig: Rig, tasks: Sequence[MountedSensor], progress: Callable[[float], None] | None) -> list[Sight]:
    """Run the robot's program in the rig's engine and read every mount at its own times."""
    engine = engine_named(rig.physics.engine)
    if engine.name == COPPELIASIM:
        from strapdown.environment.coppeliasim_motion import scene_motions

        return scene_motions(rig, tasks, progress)
    table, duration_s = rig.robot, rig.duration_s
    assert table is not None and duration_s is not None  # the rig has seen to it
    _check_size(rig, tasks, duration_s)
    source = _source(rig, engine, [task.table.mount() for task in tasks])
    check_units(rig, source.model)
    times = {task.table.name: sample_times(task.inner_hz, duration_s) for task in tasks}
    sampled = source.record(duration_s, times, progress)
    sights = []
    about = {} if engine.name == MUJOCO else {"engine": engine.name}
    for task in tasks:
        seen = sampled[task.table.name]
        proof = task.table if isinstance(task.table, SensorTable) else None
        sights.append(
            Sight(
                seen.motion,
                rig.physics.g(),
                seen.force_s,
                proof.proof_mass_kg if proof else None,
                proof.joint_frequency_hz if proof else None,
                proof.damping_ratio if proof else 0.0,
                seen.unexplained,
                seen.turn_per_step,
                about,
            )
        )
    return sights


def robot_file(rig: Rig) -> Any:
    """The robot that the rig names."""
    from strapdown.engines.mujoco.robot_file import RobotFile
    from strapdown.vehicles import PREFIX, builtin

    table = rig.robot
    assert table is not None and table.file is not None
    name = table.file
    path = builtin(name.removeprefix(PREFIX)) if name.startswith(PREFIX) else rig.folder / name
    packages = {package: str(rig.folder / folder) for package, folder in table.packages.items()}
    return RobotFile(
        Path(path),
        table.floating,
        table.floor,
        table.position_m,
        table.q(),
        table.inertia_from_collision,
        packages,
    )


def _source(rig: Rig, engine: Engine, mounts: list[Mount]) -> Any:
    """The motion source: driven by formulas, or by the physics of an engine."""
    from strapdown.engines.mujoco.recorded.driven import DrivenRobot
    from strapdown.engines.mujoco.robot import MujocoRobot

    assert rig.robot is not None
    robot, g = robot_file(rig), rig.physics.g()
    start = [item.start() for item in rig.start]
    if rig.robot.drive == "kinematic":
        return DrivenRobot(robot, gravity=g, mounts=mounts, program=rig.commands(), start=start)
    settings: dict[str, Any] = {
        "gravity": g,
        "step_s": rig.physics.step_s,
        "integrator": integrator_of(engine, rig.physics.integrator),
        "motors": [motor.motor() for motor in rig.motor],
        "mounts": mounts,
        "program": rig.commands(),
        "start": start,
    }
    if engine.name == MUJOCO:
        return MujocoRobot(robot, **settings)
    from strapdown.engines.foreign.robot import ForeignRobot

    return ForeignRobot(robot, engine.name, **settings)


def path_of(rig: Rig) -> Any:
    """The path that a rig without a robot moves along."""
    from strapdown.motion.catalogue import path_from_settings

    assert rig.motion is not None
    return path_from_settings(rig.motion.kind, dict(rig.motion.model_extra or {}), rig.folder, "motion")


def path_motions(rig: Rig, tasks: Sequence[MountedSensor]) -> list[Sight]:
    """The path seen from every mount at its own times."""
    from strapdown.motion.recorded import RecordedMotion

    path = path_of(rig)
    duration_s = path.duration_s if rig.duration_s is None else rig.duration_s
    _check_size(rig, tasks, duration_s)
    if duration_s > path.duration_s * (1 + 1e-9):
        raise InputError(f"duration_s is {duration_s:g} s, the motion lasts {path.duration_s:g} s; shorten duration_s")
    g = rig.physics.g()
    noise = path.noise_estimate() if isinstance(path, RecordedMotion) else None
    sights = []
    for task in tasks:
        mounted = task.table
        if mounted.link != "body":
            raise InputError(f'sensor "{mounted.name}": link "{mounted.link}" is not there; valid names: body')
        t = np.minimum(sample_times(task.inner_hz, duration_s), path.duration_s)
        doubt = None if noise is None else np.full(len(t), noise[0])
        sights.append(Sight(path.at(t).seen_from(mounted.position_m, mounted.mounting()), g, unexplained=doubt))
    return sights


def _check_size(rig: Rig, tasks: Sequence[MountedSensor], duration_s: float) -> None:
    steps = duration_s / rig.physics.step_s if rig.robot is not None and rig.robot.drive == "motors" else 0.0
    samples = sum(duration_s * task.inner_hz for task in tasks)
    if max(steps, samples) > MAX_SAMPLES:
        raise InputError(
            f"the run asks for {max(steps, samples):.3g} steps or samples, more than {MAX_SAMPLES:g}; "
            "shorten duration_s, or use a longer step_s or a lower rate_hz"
        )


def check_units(rig: Rig, model: Any) -> None:
    """A joint that turns is expressed in degrees, one that slides in metres."""
    joint_of = {motor.name or motor.joint: motor.joint for motor in rig.motor}
    for kind in ("motor", "start", "program"):
        for i, table in enumerate(getattr(rig, kind)):
            name = table.joint or joint_of.get(table.motor)
            if name is None:  # a push on a link
                continue
            slides = int(model.joint(name).type[0]) == _SLIDE
            moves, wrong, right = ("slides", _TURNING, _SLIDING) if slides else ("turns", _SLIDING, _TURNING)
            for bad, good in zip(wrong, right, strict=True):
                if getattr(table, bad, None) is not None:
                    raise InputError(f'{kind} {i + 1}: joint "{name}" {moves}; give {good} instead of {bad}')
