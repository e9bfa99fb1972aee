"""What a program asks of a robot's motors and which forces act on its links, as the engine takes it."""

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

    A step holds the command of its middle, which follows a moving target to second order; readings are taken under
    the command of their own instant.
    """

    def __init__(self, built: Built, program: Program, motors: Sequence[Motor], start: Sequence[Start]) -> None:
        self._bodies = built.model.nbody
        self._targets = _motor_targets(built.model, program, motors, start)
        self._pushes = [
            (push, built.model.body(known(push.link, built.links, "link", "program")).id) for push in program.pushes
        ]
        self.spec = int(mujoco.mjtState.mjSTATE_CTRL)  # what a row of at() is, in the engine's terms
        if self._pushes:
            self.spec |= int(mujoco.mjtState.mjSTATE_XFRC_APPLIED)

    def at(self, t: Array) -> Array:
        """A row for each time."""
        parts = [np.stack([target(t) for target in self._targets], axis=-1) if self._targets else np.zeros((len(t), 0))]
        if self._pushes:
            parts.append(self._wrenches(t).reshape(len(t), -1))
        return np.concatenate(parts, axis=1)

    def put(self, data: Any, t: float) -> None:
        """Into the engine's data, for one time."""
        for i, target in enumerate(self._targets):
            data.ctrl[i] = target(t)
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
    targets = []
    for i in range(model.nu):
        motor = ours[model.actuator(i).name]
        idle = begin.get(motor.joint, 0.0) if motor.kind == "position" else 0.0
        targets.append(target_profile(program.of(motor.name), idle))
    return targets
