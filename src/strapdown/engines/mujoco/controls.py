"""Targets of a robot's motors and forces on its links, in the form of the engine."""

from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from strapdown.engines.mujoco.build import Built, known
from strapdown.engines.parts import Motor, Start
from strapdown.engines.program import SNAP_S, Profile, Program, target_profile
from strapdown.errors import InputError

Array = NDArray[np.float64]


class Controls:
    """Motor targets, and forces where the program has any.

    The target of a motor is the engine's activation, and its control is the rate of the target (build.py). A target
    that moves is thus a ramp within a step. At every node it has the value of that instant, both for the step and for
    the readings.
    """

    def __init__(self, built: Built, program: Program, motors: Sequence[Motor], start: Sequence[Start]) -> None:
        self._bodies = built.model.nbody
        self._targets = _motor_targets(built.model, program, motors, start)
        self._pushes = [
            (push, built.model.body(known(push.link, built.links, "link", "program")).id) for push in program.pushes
        ]
        self.spec = int(mujoco.mjtState.mjSTATE_CTRL)  # what a row of over() is, in the engine's terms
        if self._pushes:
            self.spec |= int(mujoco.mjtState.mjSTATE_XFRC_APPLIED)

    def targets(self, t: float) -> Array:
        """The target of each motor at one time."""
        return np.array([float(target(t)) for target in self._targets])

    def over(self, begin_s: Array, end_s: Array) -> Array:
        """A row for each step: the rates of the targets, and the forces, which act from the begin on."""
        sizes = end_s - begin_s
        rates = [target.change(begin_s, end_s) / sizes for target in self._targets]
        parts = [np.stack(rates, axis=-1) if rates else np.zeros((len(sizes), 0))]
        if self._pushes:
            parts.append(self._wrenches(begin_s).reshape(len(sizes), -1))
        return np.concatenate(parts, axis=1)

    def put_forces(self, data: Any, t: float) -> None:
        """The forces at one time into the engine's data."""
        if self._pushes:
            data.xfrc_applied[:] = self._wrenches(np.array([t]))[0]

    def _wrenches(self, t: Array) -> Array:
        wrench = np.zeros((len(t), self._bodies, 6))
        for push, body in self._pushes:
            on = (t >= push.at_s - SNAP_S) & (t < push.until_s - SNAP_S)
            wrench[on, body] += [*push.force_n, *push.torque_n]
        return wrench


def _motor_targets(model: Any, program: Program, motors: Sequence[Motor], start: Sequence[Start]) -> list[Profile]:
    """One target over time per actuator, in the engine's order."""
    ours = {motor.name: motor for motor in motors}
    for command in program.commands:
        motor = ours[known(command.name, ours, "motor", "program")]
        if command.kind != motor.kind:
            raise InputError(
                f'program: motor "{motor.name}" follows a {motor.kind}, the command at {command.at_s:g} s '
                f"gives a {command.kind}; change the motor's kind or the command"
            )
    begin = {item.joint: item.position for item in start}
    return [
        target_profile(program.of(motor.name), idle_target(motor, begin))
        for motor in (ours[model.actuator(i).name] for i in range(model.nu))
    ]


def idle_target(motor: Motor, begin: dict[str, float]) -> float:
    """The target of a motor before its first command: its joint's start position, or no speed, or no torque."""
    return begin.get(motor.joint, 0.0) if motor.kind == "position" else 0.0
