"""Robots in MuJoCo as a motion source: stepped live, or run through a program with every reading fresh.

MuJoCo's sensor values after `mj_step` belong to the start of the step (design/engines.md). Here they are never read
that way: `state()` brings them up to date first, and `record()` gives each row the time of the state that made it.
Switches of the program that fall between two steps split the step there. A sensor time between two steps is
reached by a partial step on the side, which leaves the trajectory as it is.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import mujoco
import numpy as np
from mujoco import rollout
from numpy.typing import NDArray

from strapdown.engines.mujoco_block import Sampled, link_block, motion_from_block
from strapdown.engines.mujoco_build import Built, build, known
from strapdown.engines.parts import Motor, Mount, Start
from strapdown.engines.program import SNAP_S, Profile, Program, target_profile
from strapdown.engines.robot_file import RobotFile, quiet
from strapdown.errors import InputError
from strapdown.types import Motion

Array = NDArray[np.float64]
_PHYSICS = mujoco.mjtState.mjSTATE_FULLPHYSICS
_CHUNK = 20_000  # steps per call into the engine: memory stays small and progress can be told
_UNSTABLE = (
    mujoco.mjtWarning.mjWARN_BADQPOS,
    mujoco.mjtWarning.mjWARN_BADQVEL,
    mujoco.mjtWarning.mjWARN_BADQACC,
)


@dataclass(frozen=True)
class Contact:
    """Two links touch: the point (m, frame n), the normal from the first to the second, the force on the second (N)."""

    links: tuple[str, str]
    p_n: Array
    normal_n: Array
    force_n: Array


class MujocoRobot:
    """A robot with motors, mounts and a program; a MotionSource."""

    def __init__(
        self,
        robot: RobotFile,
        *,
        gravity: float,
        step_s: float = 1e-3,
        integrator: str = "rk4",
        motors: Sequence[Motor] = (),
        mounts: Sequence[Mount] = (),
        program: Program | None = None,
        start: Sequence[Start] = (),
    ) -> None:
        self.gravity, self.step_s = gravity, step_s
        self._mounts, self._start = tuple(mounts), tuple(start)
        self._built: Built = build(robot, gravity, step_s, integrator, motors, mounts, start)
        self._program = program or Program()
        self._targets = self._motor_targets(motors)
        self._push_rows = [
            (push, self.model.body(known(push.link, self._built.links, "link", "program")).id)
            for push in self._program.pushes
        ]
        self._switches = self._program.switch_times()
        self.data: Any = mujoco.MjData(self.model)
        self.reset()

    @property
    def model(self) -> Any:
        """The compiled mujoco.MjModel."""
        return self._built.model

    def links(self) -> tuple[str, ...]:
        return self._built.links

    def joints(self) -> tuple[str, ...]:
        """The joints that can carry a motor."""
        return self._built.joints

    @property
    def time_s(self) -> float:
        return self._time_s

    def reset(self) -> None:
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:], self.data.qvel[:] = self._built.qpos0, self._built.qvel0
        self._time_s = 0.0
        self._stale = True

    def joint_position(self, joint: str) -> float:
        """rad, or m for a slide."""
        return float(self.data.joint(known(joint, self.joints(), "joint", "robot")).qpos[0])

    def joint_speed(self, joint: str) -> float:
        """rad/s, or m/s for a slide."""
        return float(self.data.joint(known(joint, self.joints(), "joint", "robot")).qvel[0])

    def state(self, link: str) -> Motion:
        body = self.model.body(known(link, self.links(), "link", "robot")).id
        self._refresh()
        row = link_block(self.model, self.data, body)
        return motion_from_block(self.gravity, np.array([self._time_s]), row[None, :])

    def contacts(self) -> list[Contact]:
        """All contacts at this instant, with their forces."""
        self._refresh()
        found, wrench = [], np.empty(6)
        for i in range(self.data.ncon):
            contact = self.data.contact[i]
            mujoco.mj_contactForce(self.model, self.data, i, wrench)
            frame = contact.frame.reshape(3, 3)
            a, b = (self.model.body(self.model.geom_bodyid[g]).name for g in contact.geom)
            found.append(Contact((a, b), contact.pos.copy(), frame[0].copy(), frame.T @ wrench[:3]))
        return found

    def advance(self, duration_s: float) -> None:
        """Move on by a duration: whole steps on the grid of the physics step, and a part of one at the end."""
        if not (np.isfinite(duration_s) and duration_s > 0.0):
            raise InputError(f"cannot advance by {duration_s} s; give a number above 0")
        end = self._time_s + duration_s
        nodes = self._nodes(self._time_s, end)
        with quiet():
            for t, size in zip(nodes[:-1], self._sizes(nodes), strict=True):
                self._control(t + 0.5 * size)
                self.model.opt.timestep = size
                mujoco.mj_step(self.model, self.data)
                self._check_stable(np.array([t]), np.array([[t, *self.data.qpos]]))
        self._time_s, self._stale = float(nodes[-1]), True

    def record(
        self, duration_s: float, times: Mapping[str, Array], progress: Callable[[float], None] | None = None
    ) -> dict[str, Sampled]:
        """Run the program from the start and read each mount at its own times (s, within the duration)."""
        self.reset()
        nodes = self._nodes(0.0, duration_s)
        readings, states = self._run(nodes, progress)
        warm = self.data.qacc_warmstart.copy()
        defects = self._built.unexplained(self.gravity, self._sizes(nodes), readings)
        out = {}
        for mount in self._mounts:
            t = np.asarray(times[mount.name], dtype=np.float64)
            at = np.clip(np.searchsorted(nodes, t + SNAP_S, side="right") - 1, 0, None)
            rows = readings[at]
            for i in np.flatnonzero(t - nodes[at] > SNAP_S):
                rows[i] = self._read(states[at[i]], float(nodes[at[i]]), float(t[i]))
            sampled = self._built.sampled(mount.name, self.gravity, t, rows)
            out[mount.name] = replace(sampled, unexplained=defects[mount.name][at])
        mujoco.mj_setState(self.model, self.data, states[-1], _PHYSICS)  # back from the readings on the side
        self.data.qacc_warmstart[:] = warm
        self._stale = True
        return out

    def _run(self, nodes: Array, progress: Callable[[float], None] | None) -> tuple[Array, Array]:
        """Sensor readings and physics states at every node, each belonging to that node's time."""
        sizes = self._sizes(nodes)
        controls, spec = self._controls(nodes[:-1] + 0.5 * sizes)
        n_state = mujoco.mj_stateSize(self.model, _PHYSICS)
        states, readings = np.empty((len(nodes), n_state)), np.empty((len(nodes), self.model.nsensordata))
        mujoco.mj_getState(self.model, self.data, states[0], _PHYSICS)
        warm = np.zeros(self.model.nv)
        breaks = np.flatnonzero(np.diff(sizes)) + 1
        edges = np.unique(np.concatenate([[0], breaks, np.arange(0, len(sizes), _CHUNK), [len(sizes)]]))
        with quiet():
            for first, last in pairwise(edges):
                self.model.opt.timestep = sizes[first]
                state, sensed = rollout.rollout(
                    self.model,
                    self.data,
                    states[first],
                    controls[None, first:last],
                    control_spec=spec,
                    initial_warmstart=warm,
                )
                states[first + 1 : last + 1], readings[first:last] = state[0], sensed[0]
                warm = self.data.qacc_warmstart.copy()
                self._check_stable(nodes[first:last], state[0])
                if progress is not None:
                    progress(float(nodes[last]))
            self._time_s, self._stale = float(nodes[-1]), True
            mujoco.mj_setState(self.model, self.data, states[-1], _PHYSICS)
            self._refresh()
        readings[-1] = self.data.sensordata
        moving = np.flatnonzero((controls != self._controls(nodes[:-1])[0]).any(axis=1))
        for i in moving:
            readings[i] = self._read(states[i], float(nodes[i]), float(nodes[i]))
        self.data.qacc_warmstart[:] = warm
        return readings, states

    def _read(self, state: Array, node_s: float, t: float) -> Array:
        """The readings at a node, or by a partial step on the side at a time between two; under the command at t."""
        mujoco.mj_setState(self.model, self.data, state, _PHYSICS)
        self.data.qacc_warmstart[:] = 0.0  # not what another reading left there
        with quiet():
            if t > node_s:
                self._control(0.5 * (node_s + t))
                self.model.opt.timestep = t - node_s
                mujoco.mj_step(self.model, self.data)
            self._control(t)
            self.model.opt.timestep = self.step_s  # the integrator "discrete" tells accelerations over a step
            mujoco.mj_forward(self.model, self.data)
        self._stale = True
        return self.data.sensordata.copy()

    def _nodes(self, begin_s: float, end_s: float) -> Array:
        """Times at which a step begins or ends: the grid of the physics step, the program's switches, both ends."""
        h = self.step_s
        nearest = round(end_s / h) * h
        end_s = nearest if abs(end_s - nearest) < SNAP_S else end_s
        grid = np.arange(np.floor(begin_s / h), np.ceil(end_s / h) + 1) * h
        between = np.concatenate([grid, self._switches])
        between = between[(between > begin_s + SNAP_S) & (between < end_s - SNAP_S)]
        on_grid = np.round(between / h) * h
        nodes = np.unique(np.where(np.abs(between - on_grid) < SNAP_S, on_grid, between))
        return np.concatenate([[begin_s], nodes, [end_s]])

    def _sizes(self, nodes: Array) -> Array:
        sizes = np.diff(nodes)
        return np.where(np.abs(sizes - self.step_s) < SNAP_S, self.step_s, sizes)

    def _controls(self, t: Array) -> tuple[Array, int]:
        """Motor targets, and forces where the program has any, at the given times.

        A step holds the command of its middle, which follows a moving target to second order; readings are taken under
        the command of their own instant.
        """
        parts = [np.stack([target(t) for target in self._targets], axis=-1) if self._targets else np.zeros((len(t), 0))]
        spec = int(mujoco.mjtState.mjSTATE_CTRL)
        if self._push_rows:
            parts.append(self._pushes(t).reshape(len(t), -1))
            spec |= int(mujoco.mjtState.mjSTATE_XFRC_APPLIED)
        return np.concatenate(parts, axis=1), spec

    def _pushes(self, t: Array) -> Array:
        wrench = np.zeros((len(t), self.model.nbody, 6))
        for push, body in self._push_rows:
            on = (t >= push.at_s - SNAP_S) & (t < push.until_s - SNAP_S)
            wrench[on, body] += [*push.force_n, *push.torque_n]
        return wrench

    def _control(self, t: float) -> None:
        for i, target in enumerate(self._targets):
            self.data.ctrl[i] = target(t)
        if self._push_rows:
            self.data.xfrc_applied[:] = self._pushes(np.array([t]))[0]

    def _motor_targets(self, motors: Sequence[Motor]) -> list[Profile]:
        """One target over time per actuator, in the engine's order; what the robot file brought along stays idle."""
        ours = {motor.name: motor for motor in motors}
        for command in self._program.commands:
            motor = ours[known(command.name, ours, "motor", "program")]
            if command.kind != motor.kind:
                raise InputError(
                    f'program: motor "{motor.name}" follows a {motor.kind}, the command at {command.at_s:g} s '
                    f"gives a {command.kind}; change the motor's kind or the command"
                )
        begin = {item.joint: item.position for item in self._start}
        targets = []
        for i in range(self.model.nu):
            ours_or_not = ours.get(self.model.actuator(i).name)
            if ours_or_not is None:
                targets.append(target_profile((), 0.0))
                continue
            idle = begin.get(ours_or_not.joint, 0.0) if ours_or_not.kind == "position" else 0.0
            targets.append(target_profile(self._program.of(ours_or_not.name), idle))
        return targets

    def _refresh(self) -> None:
        """Bring all derived quantities to the present state, without touching what the next step starts from."""
        if not self._stale:
            return
        self._control(self._time_s)
        warm = self.data.qacc_warmstart.copy()
        self.model.opt.timestep = self.step_s
        with quiet():
            mujoco.mj_forward(self.model, self.data)
            mujoco.mj_rnePostConstraint(self.model, self.data)
        self.data.qacc_warmstart[:] = warm
        self._stale = False

    def _check_stable(self, t: Array, states: Array) -> None:
        """The engine stops or starts anew at numbers above 1e10, which its clock (the first column) shows."""
        bad = ~(np.abs(states) < 1e10).all(axis=1) | (np.diff(states[:, 0], prepend=-1.0) <= 0.0)
        if not bad.any() and not any(self.data.warning[w].number for w in _UNSTABLE):
            return
        when = t[int(np.argmax(bad))] if bad.any() else t[-1]
        raise InputError(
            f"the simulation became unstable at about t = {when:.6g} s; use a smaller physics step, the integrator "
            "implicitfast, slower motors or smaller forces"
        )
