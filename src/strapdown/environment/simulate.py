"""Runs a rig: moves its robot or path and lets its virtual sensors read, each at its own rate."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from strapdown.environment.rig import Rig, SensorTable
from strapdown.errors import InputError, RangeWarning
from strapdown.motion.protocol import Path as MotionPath
from strapdown.sensors.imu import OutOfRange
from strapdown.sensors.methods import Sight
from strapdown.types import Motion, Recording

MAX_SAMPLES = 50_000_000  # about 10 GB of recording: more is a typing error in the rate or the step

_TURNING = ("position_deg", "speed_deg_s", "max_torque_nm")
_SLIDING = ("position_m", "speed_m_s", "max_force_n")
_SLIDE = 2  # mujoco.mjtJoint.mjJNT_SLIDE


@dataclass(frozen=True)
class Simulated:
    """A recording per sensor, in the order of the rig, and what left its range of validity."""

    recordings: dict[str, Recording]
    out_of_range: tuple[OutOfRange, ...]


def simulate(rig: Rig, progress: Callable[[float], None] | None = None) -> Simulated:
    """Run the rig; warns once per sensor and method (RangeWarning) where a method leaves its range of validity."""
    sights = _robot_sights(rig, progress) if rig.robot is not None else _path_sights(rig)
    recordings, out_of_range = {}, []
    step = rig.physics.step_s if rig.robot is not None and rig.robot.drive == "motors" else None
    for sensor, sight in zip(rig.sensor, sights, strict=True):
        recording, left = sensor.imu().measure(sight, step)
        recordings[sensor.name] = recording.with_meta(
            link=sensor.link,
            position_m=list(sensor.position_m),
            quaternion_wxyz=list(sensor.q() or (1, 0, 0, 0)),
        )
        out_of_range += left
    for item in out_of_range:
        warnings.warn(str(item), RangeWarning, stacklevel=2)
    return Simulated(recordings, tuple(out_of_range))


def _check_size(rig: Rig, duration_s: float) -> None:
    steps = duration_s / rig.physics.step_s if rig.robot is not None and rig.robot.drive == "motors" else 0.0
    samples = sum(duration_s * sensor.rate_hz for sensor in rig.sensor)
    if max(steps, samples) > MAX_SAMPLES:
        raise InputError(
            f"the run asks for {max(steps, samples):.3g} steps or samples, more than {MAX_SAMPLES:g}; "
            "shorten duration_s, or use a longer step_s or a lower rate_hz"
        )


def _robot_sights(rig: Rig, progress: Callable[[float], None] | None) -> list[Sight]:
    from strapdown.engines.driven import DrivenRobot
    from strapdown.engines.mujoco import MujocoRobot
    from strapdown.engines.robot_file import RobotFile
    from strapdown.vehicles import PREFIX, builtin

    table, duration_s = rig.robot, rig.duration_s
    assert table is not None and duration_s is not None  # the rig has seen to it
    _check_size(rig, duration_s)
    name = table.file
    path = builtin(name.removeprefix(PREFIX)) if name.startswith(PREFIX) else rig.folder / name
    packages = {package: str(rig.folder / folder) for package, folder in table.packages.items()}
    robot = RobotFile(
        Path(path),
        table.floating,
        table.floor,
        table.position_m,
        table.q(),
        table.inertia_from_collision,
        packages,
    )
    g = rig.physics.g()
    mounts = [sensor.mount() for sensor in rig.sensor]
    start = [item.start() for item in rig.start]
    source: DrivenRobot | MujocoRobot
    if table.drive == "kinematic":
        source = DrivenRobot(robot, gravity=g, mounts=mounts, program=rig.commands(), start=start)
    else:
        source = MujocoRobot(
            robot,
            gravity=g,
            step_s=rig.physics.step_s,
            integrator=rig.physics.integrator,
            motors=[motor.motor() for motor in rig.motor],
            mounts=mounts,
            program=rig.commands(),
            start=start,
        )
    _check_units(rig, source.model)
    times = {sensor.name: sensor.imu().times(duration_s) for sensor in rig.sensor}
    sampled = source.record(duration_s, times, progress)
    return [
        Sight(
            sampled[sensor.name].motion,
            g,
            sampled[sensor.name].force_s,
            sensor.proof_mass_kg,
            sensor.joint_frequency_hz,
            sensor.damping_ratio,
            sampled[sensor.name].unexplained,
        )
        for sensor in rig.sensor
    ]


def _check_units(rig: Rig, model: Any) -> None:
    """A joint that turns is told in degrees, one that slides in metres."""
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


def _path_sights(rig: Rig) -> list[Sight]:
    from strapdown.motion.catalogue import path_from_settings

    table = rig.motion
    assert table is not None
    path = path_from_settings(table.kind, dict(table.model_extra or {}), rig.folder)
    duration_s = path.duration_s if rig.duration_s is None else rig.duration_s
    _check_size(rig, duration_s)
    if duration_s > path.duration_s * (1 + 1e-9):
        raise InputError(f"duration_s is {duration_s:g} s, the motion lasts {path.duration_s:g} s; shorten duration_s")
    g = rig.physics.g()
    return [Sight(_seen(path, sensor, duration_s), g) for sensor in rig.sensor]


def _seen(path: MotionPath, sensor: SensorTable, duration_s: float) -> Motion:
    if sensor.link != "body":
        raise InputError(f'sensor "{sensor.name}": link "{sensor.link}" is not there; valid names: body')
    t = np.minimum(sensor.imu().times(duration_s), path.duration_s)
    return path.at(t).seen_from(sensor.position_m, sensor.q() or (1.0, 0.0, 0.0, 0.0))
