"""Robots in MuJoCo as a motion source: stepped live, or run through a program with every reading fresh.

MuJoCo's sensor values after `mj_step` belong to the start of the step (design/engines.md). Here they are never read
that way: `state()` brings them up to date first, and `record()` gives each row the time of the state that made it.
Switches of the program that fall between two steps split the step there. A sensor time between two steps is
reached by a partial step on the side, which leaves the trajectory as it is.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import mujoco
import numpy as np
from mujoco import rollout
from numpy.typing import NDArray

from strapdown.engines.mujoco.build import build, known
from strapdown.engines.mujoco.built_robot import BuiltRobot
from strapdown.engines.mujoco.collected import Collected
from strapdown.engines.mujoco.controls import Controls
from strapdown.engines.mujoco.motion_rows import BLOCK_SIZE, Sampled, link_block, motion_from_block
from strapdown.engines.mujoco.robot_file import RobotFile, quiet
from strapdown.engines.mujoco.step_check import StepCheck
from strapdown.engines.mujoco.steps import Steps
from strapdown.engines.parts import Motor, Mount, Start
from strapdown.engines.program import SNAP_S, Program
from strapdown.errors import InputError
from strapdown.types import Motion

Array = NDArray[np.float64]
_PHYSICS = mujoco.mjtState.mjSTATE_FULLPHYSICS
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


@dataclass(frozen=True)
class _Stretch:
    """A part of a run: readings and physics states at its nodes (s); sizes (s) of the steps that begin there."""

    nodes: Array
    sizes: Array
    readings: Array
    states: Array
    end_s: float  # where the next part begins


class MujocoRobot(BuiltRobot):
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
        self._mounts = tuple(mounts)
        self._built = build(robot, gravity, step_s, integrator, motors, mounts, start)
        program = program or Program()
        self._controls = Controls(self._built, program, motors, start)
        self._steps = Steps(step_s, program.switch_times())
        self.data: Any = mujoco.MjData(self.model)
        self.reset()

    def joints(self) -> tuple[str, ...]:
        """The joints that can carry a motor."""
        return self._built.joints

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
        body = self._body(link)
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
        end_s = self._time_s + duration_s
        if not (np.isfinite(end_s) and end_s - self._time_s > SNAP_S):
            raise InputError(f"cannot advance by {duration_s} s; give a number above 0, of at least a few nanoseconds")
        nodes = self._steps.nodes(self._time_s, end_s)
        with quiet():
            for t, size in zip(nodes[:-1], self._steps.sizes(nodes), strict=True):
                self._controls.put(self.data, t + 0.5 * size)
                self.model.opt.timestep = size
                mujoco.mj_step(self.model, self.data)
                self._check_stable(np.array([t]), np.array([[t, *self.data.qpos]]))
        self._time_s, self._stale = float(nodes[-1]), True

    def record(
        self, duration_s: float, times: Mapping[str, Array], progress: Callable[[float], None] | None = None
    ) -> dict[str, Sampled]:
        """Run the program from the start and read each mount at its own times (s, within the duration)."""
        if not (np.isfinite(duration_s) and duration_s > SNAP_S):
            raise InputError(f"cannot run for {duration_s} s; give a number above 0, of at least a few nanoseconds")
        self.reset()
        collected = {mount.name: Collected(self._built, mount, times[mount.name]) for mount in self._mounts}
        checks = {link: StepCheck(self.gravity) for link in self._built.block_start}
        for part in self._run(duration_s, progress):
            for mount in self._mounts:
                collected[mount.name].take(part.nodes, part.end_s, part.readings, part.states, self._read)
            switched = self._steps.switched(part.nodes)
            for link, block in self._built.block_start.items():
                rows = part.readings[:, block : block + BLOCK_SIZE]
                settled = checks[link].add(part.nodes, part.sizes, switched, rows)
                for mount in self._mounts:
                    if mount.link == link:
                        collected[mount.name].doubt(*settled)
        return {name: found.sampled(self.gravity) for name, found in collected.items()}

    def _run(self, duration_s: float, progress: Callable[[float], None] | None) -> Iterator[_Stretch]:
        """The run in parts, each reading belonging to its node's time; the last part is the end alone.

        Whoever takes a part may use the engine's data on the side (_read): what the next one starts from is kept here.
        """
        state = np.empty(mujoco.mj_stateSize(self.model, _PHYSICS))
        mujoco.mj_getState(self.model, self.data, state, _PHYSICS)
        warm = np.zeros(self.model.nv)
        nodes = np.zeros(1)
        for nodes in self._steps.stretches(duration_s):
            sizes = self._steps.sizes(nodes)
            controls = self._controls.at(nodes[:-1] + 0.5 * sizes)
            states, readings = np.empty((len(nodes), len(state))), np.empty((len(sizes), self.model.nsensordata))
            states[0] = state
            for first, last in pairwise(np.concatenate([[0], np.flatnonzero(np.diff(sizes)) + 1, [len(sizes)]])):
                self.model.opt.timestep = sizes[first]
                with quiet():
                    stepped, sensed = rollout.rollout(
                        self.model,
                        self.data,
                        states[first],
                        controls[None, first:last],
                        control_spec=self._controls.spec,
                        initial_warmstart=warm,
                    )
                states[first + 1 : last + 1], readings[first:last] = stepped[0], sensed[0]
                warm = self.data.qacc_warmstart.copy()
                self._check_stable(nodes[first:last], stepped[0])
                if progress is not None:
                    progress(float(nodes[last]))
            for i in np.flatnonzero((controls != self._controls.at(nodes[:-1])).any(axis=1)):  # moving commands
                readings[i] = self._read(states[i], float(nodes[i]), float(nodes[i]))
            yield _Stretch(nodes[:-1], sizes, readings, states[:-1], float(nodes[-1]))
            state = states[-1]
        self._go_to(float(nodes[-1]), state, warm)
        self._refresh()
        yield _Stretch(nodes[-1:], np.empty(0), self.data.sensordata[None, :].copy(), state[None, :], np.inf)
        self._go_to(float(nodes[-1]), state, warm)

    def _go_to(self, time_s: float, state: Array, warm: Array) -> None:
        mujoco.mj_setState(self.model, self.data, state, _PHYSICS)
        self.data.qacc_warmstart[:] = warm
        self._time_s, self._stale = time_s, True

    def _read(self, state: Array, node_s: float, t: float) -> Array:
        """The readings at a node, or by a partial step on the side at a time between two; under the command at t."""
        mujoco.mj_setState(self.model, self.data, state, _PHYSICS)
        self.data.qacc_warmstart[:] = 0.0  # not what another reading left there
        with quiet():
            if t > node_s:
                self._controls.put(self.data, 0.5 * (node_s + t))
                self.model.opt.timestep = t - node_s
                mujoco.mj_step(self.model, self.data)
            self._controls.put(self.data, t)
            self.model.opt.timestep = self.step_s  # the integrator "discrete" tells accelerations over a step
            mujoco.mj_forward(self.model, self.data)
        self._stale = True
        return self.data.sensordata.copy()

    def _refresh(self) -> None:
        """Bring all derived quantities to the present state, without touching what the next step starts from."""
        if not self._stale:
            return
        self._controls.put(self.data, self._time_s)
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
