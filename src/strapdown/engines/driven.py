"""A robot whose joints follow their program exactly (kinematic drive): no forces, no integration, no step.

Positions, speeds and accelerations of the joints come from the program's formulas, and MuJoCo's inverse dynamics
turns them into the motion of every link. Writing positions alone would give accelerations that are off by the
whole motion (8.5 m/s2 in the case of design/engines.md).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from strapdown.engines.mujoco_block import Sampled, link_block, motion_from_block
from strapdown.engines.mujoco_build import build, known
from strapdown.engines.parts import Mount, Start
from strapdown.engines.program import Program, joint_profile
from strapdown.engines.robot_file import RobotFile, quiet
from strapdown.errors import InputError
from strapdown.types import Motion

Array = NDArray[np.float64]


class DrivenRobot:
    """A robot that is where its program says; a MotionSource."""

    def __init__(
        self,
        robot: RobotFile,
        *,
        gravity: float,
        mounts: Sequence[Mount] = (),
        program: Program | None = None,
        start: Sequence[Start] = (),
    ) -> None:
        program = program or Program()
        if program.pushes:
            raise InputError('program: forces do not move driven joints; set drive = "motors" to use them')
        if any(item.speed for item in start):
            raise InputError(
                'start: driven joints have the speed of their program; remove the speed or set drive = "motors"'
            )
        soft = [m.name for m in mounts if m.proof_mass and m.proof_mass.joint_frequency_hz is not None]
        if soft:
            raise InputError(
                f'sensor "{soft[0]}": a proof mass on a soft joint needs physics; set drive = "motors" or drop '
                "its joint_frequency_hz"
            )
        self.gravity = gravity
        self._mounts = tuple(mounts)
        self._built = build(robot, gravity, 1e-3, "euler", (), mounts, start)
        for command in program.commands:
            known(command.name, self._built.joints, "joint", "program")
        begin = {item.joint: item.position for item in start}
        self._driven = []
        for name in self._built.joints:
            joint = self.model.joint(name)
            at_start = begin.get(name, float(self._built.qpos0[joint.qposadr[0]]))
            profile = joint_profile(program.of(name), at_start)
            self._driven.append((int(joint.qposadr[0]), int(joint.dofadr[0]), profile))
        self.data: Any = mujoco.MjData(self.model)
        self.reset()

    @property
    def model(self) -> Any:
        """The compiled mujoco.MjModel."""
        return self._built.model

    def links(self) -> tuple[str, ...]:
        return self._built.links

    @property
    def time_s(self) -> float:
        return self._time_s

    def reset(self) -> None:
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:] = self._built.qpos0
        self._time_s = 0.0

    def advance(self, duration_s: float) -> None:
        if not (np.isfinite(duration_s) and duration_s > 0.0):
            raise InputError(f"cannot advance by {duration_s} s; give a number above 0")
        self._time_s += duration_s

    @quiet()
    def state(self, link: str) -> Motion:
        body = self.model.body(known(link, self.links(), "link", "robot")).id
        t = np.array([self._time_s])
        self._put(*self._joints(t), 0)
        return motion_from_block(self.gravity, t, link_block(self.model, self.data, body)[None, :])

    @quiet()
    def record(
        self, duration_s: float, times: Mapping[str, Array], progress: Callable[[float], None] | None = None
    ) -> dict[str, Sampled]:
        """Read each mount at its own times (s)."""
        self.reset()
        groups: dict[bytes, list[str]] = {}  # mounts that share their times are read in one pass
        for mount in self._mounts:
            groups.setdefault(np.asarray(times[mount.name], dtype=np.float64).tobytes(), []).append(mount.name)
        out: dict[str, Sampled] = {}
        for names in groups.values():
            t = np.asarray(times[names[0]], dtype=np.float64)
            joints = self._joints(t)
            readings = np.empty((len(t), self.model.nsensordata))
            for k in range(len(t)):
                self._put(*joints, k)
                readings[k] = self.data.sensordata
                if progress is not None and k % 10_000 == 0:
                    progress(float(t[k]))
            out.update((name, self._built.sampled(name, self.gravity, t, readings)) for name in names)
        return out

    def _joints(self, t: Array) -> tuple[Array, Array, Array]:
        """Positions, speeds and accelerations of the driven joints, a column each."""
        values = np.empty((3, len(t), len(self._driven)))
        for j, (*_, profile) in enumerate(self._driven):
            for derivative in range(3):
                values[derivative, :, j] = profile(t, derivative)
        return values[0], values[1], values[2]

    def _put(self, position: Array, speed: Array, acceleration: Array, k: int) -> None:
        for j, (qpos, dof, _) in enumerate(self._driven):
            self.data.qpos[qpos] = position[k, j]
            self.data.qvel[dof] = speed[k, j]
            self.data.qacc[dof] = acceleration[k, j]
        mujoco.mj_inverse(self.model, self.data)
        mujoco.mj_rnePostConstraint(self.model, self.data)
