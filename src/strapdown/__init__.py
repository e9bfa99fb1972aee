"""Strapdown: inertial navigation from motion to evaluation. The public names, loaded when first used."""

from importlib import import_module
from typing import Any

_HOME = {
    "Increments": "types",
    "Motion": "types",
    "Recording": "types",
    "Solution": "types",
    "InputError": "errors",
    "RangeWarning": "errors",
    "RobotError": "errors",
    "StrapdownError": "errors",
    "read": "io",
    "read_one": "io",
    "write": "io",
    "RecordedMotion": "motion.recorded",
    "read_poses": "motion.recorded",
    "Imu": "sensors.imu",
    "MujocoRobot": "engines.mujoco.robot",
    "DrivenRobot": "engines.mujoco.recorded.driven",
    "RobotFile": "engines.mujoco.robot_file",
    "Rig": "environment.rig",
    "read_rig": "environment.rig",
    "simulate": "environment.simulate",
    "dead_reckon": "navigation.dead_reckoning",
    "dead_reckon_increments": "navigation.dead_reckoning",
}
__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'strapdown' has no attribute {name!r}")
    return getattr(import_module(f"strapdown.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
