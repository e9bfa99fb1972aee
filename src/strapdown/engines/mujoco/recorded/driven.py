"""A robot whose joints follow their program exactly (kinematic drive): no forces, no integration, no step.

Positions, speeds and accelerations of the joints come from the program's formulas, and MuJoCo's inverse dynamics
turns them into the motion of every link. Writing positions alone would give accelerations that are wrong by the whole
motion (8.5 m/s2 in a case that we measured). Joints without a command stay at rest; joints that follow others by a
mimic or an equality follow exactly.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from strapdown.engines.mujoco.build import build, known
from strapdown.engines.mujoco.built_robot import BuiltRobot
from strapdown.engines.mujoco.mimic_joints import joint_title, mimic_joints_of
from strapdown.engines.mujoco.motion_rows import Sampled, link_block, motion_from_block
from strapdown.engines.mujoco.robot_file import RobotFile, quiet
from strapdown.engines.parts import Mount, Physics, Start
from strapdown.engines.program import Profile, Program, joint_profile
from strapdown.errors import InputError
from strapdown.types import Motion

Array = NDArray[np.float64]
_SLIDE, _HINGE = int(mujoco.mjtJoint.mjJNT_SLIDE), int(mujoco.mjtJoint.mjJNT_HINGE)
_LOOKS = 64  # for limits, in each piece of a program: a leader goes on one way within it, a follower may turn back


class DrivenRobot(BuiltRobot):
    """A robot that follows its program exactly; a MotionSource."""

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
        self._built = build(robot, Physics(gravity, 1e-3, "euler"), (), mounts, start)
        where = str(robot.path)
        self._mimics = mimic_joints_of(self.model, where)
        self._refuse_undriven(where)
        self._profiles = self._joint_profiles(program, start)
        self._program = program
        self.data: Any = mujoco.MjData(self.model)
        self.reset()

    def _refuse_undriven(self, where: str) -> None:
        for j in range(self.model.njnt):
            if self.model.jnt_type[j] not in (_SLIDE, _HINGE):
                kind = mujoco.mjtJoint(self.model.jnt_type[j]).name.removeprefix("mjJNT_").lower()
                body = self.model.body(self.model.jnt_bodyid[j]).name
                raise InputError(
                    f'{where}: link "{body}" has a {kind} joint, which no program drives: it would hang in the air; '
                    'set drive = "motors" or fix the link'
                )

    def _joint_profiles(self, program: Program, start: Sequence[Start]) -> list[Profile]:
        """A profile for each joint that does not follow another, and a constant one for each that does."""
        leader_of = {mimic.joint: mimic.leader for mimic in self._mimics}
        begin = {item.joint: item.position for item in start}
        for name in [*(command.name for command in program.commands), *begin]:
            j = self.model.joint(known(name, self._built.joints, "joint", "program")).id
            if j in leader_of:
                leader = leader_of[j]
                goes = "is held by an <equality>" if leader is None else f"follows {joint_title(self.model, leader)}"
                raise InputError(f'program: joint "{name}" {goes}; drop its start and its commands')
        profiles = []
        for j in range(self.model.njnt):
            name = self.model.joint(j).name
            at_start = begin.get(name, float(self._built.qpos0[self.model.jnt_qposadr[j]]))
            profiles.append(joint_profile(program.of(name) if name else (), at_start))
        return profiles

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
        body = self._body(link)
        t = np.array([self._time_s])
        joints = self._joints(t)
        self._check_limits(t, joints[0])
        self._put(*joints, 0)
        return motion_from_block(self.gravity, t, link_block(self.model, self.data, body)[None, :])

    @quiet()
    def record(
        self, duration_s: float, times: Mapping[str, Array], progress: Callable[[float], None] | None = None
    ) -> dict[str, Sampled]:
        """Read each mount at its own times (s)."""
        self.reset()
        looked_at = self._looks(duration_s)
        self._check_limits(looked_at, self._joints(looked_at)[0])
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
            for name in names:
                out[name] = self._built.sampled(name, self.gravity, t, readings[:, self._built.columns(name)])
        return out

    def _joints(self, t: Array) -> tuple[Array, Array, Array]:
        """Positions, speeds and accelerations of all joints, a column each."""
        values = np.empty((3, len(t), self.model.njnt))
        for j, profile in enumerate(self._profiles):
            for derivative in range(3):
                values[derivative, :, j] = profile(t, derivative)
        for mimic in self._mimics:
            leader = np.zeros((3, len(t))) if mimic.leader is None else values[:, :, mimic.leader]
            values[:, :, mimic.joint] = mimic.from_leader(*leader)
        return values[0], values[1], values[2]

    def _looks(self, duration_s: float) -> Array:
        """Times at which limits are checked: often in every piece of the program."""
        switches = self._program.switch_times()
        ends = np.concatenate([[0.0], switches[(switches > 0.0) & (switches < duration_s)], [duration_s]])
        return np.unique(np.linspace(ends[:-1], ends[1:], _LOOKS + 1))

    def _check_limits(self, t: Array, position: Array) -> None:
        low, high = self.model.jnt_range.T
        beyond = ((position < low - 1e-9) | (position > high + 1e-9)) & self.model.jnt_limited.astype(bool)  # roundoff
        if not beyond.any():
            return
        k = int(np.argmax(beyond.any(axis=1)))
        j = int(np.argmax(beyond[k]))
        limit, at, when = (high if position[k, j] > high[j] else low)[j], position[k, j], t[k]
        if k > 0:  # between two looks: exact at constant speed
            before = position[k - 1, j]
            when = t[k - 1] + (t[k] - t[k - 1]) * (limit - before) / (at - before)
        slides = self.model.jnt_type[j] == _SLIDE
        unit, shown = ("m", limit) if slides else ("deg", np.degrees(limit))
        raise InputError(
            f"program: {joint_title(self.model, j)} goes beyond its limit of {shown:.6g} {unit} at t = {when:.6g} s; "
            "change the program or the limit in the robot file"
        )

    def _put(self, position: Array, speed: Array, acceleration: Array, k: int) -> None:
        self.data.qpos[self.model.jnt_qposadr] = position[k]
        self.data.qvel[self.model.jnt_dofadr] = speed[k]
        self.data.qacc[self.model.jnt_dofadr] = acceleration[k]
        mujoco.mj_inverse(self.model, self.data)
        mujoco.mj_rnePostConstraint(self.model, self.data)
