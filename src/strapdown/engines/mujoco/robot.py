"""Robots in MuJoCo as a motion source: stepped live, or run through a program with every reading up to date.

MuJoCo's sensor values after `mj_step` belong to the start of the step. Here readings are never stale: `state()` updates
them first, and `record()` gives each row the time of the state that made it. Switches of the program that fall between
two steps split the step there. A sensor time between two steps is computed separately, which does not change the
trajectory.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import mujoco
import numpy as np
from mujoco import rollout
from numpy.typing import NDArray

from strapdown.engines.mujoco.build import build
from strapdown.engines.mujoco.built_robot import SteppedRobot
from strapdown.engines.mujoco.contacts import Contact, contacts
from strapdown.engines.mujoco.controls import Controls
from strapdown.engines.mujoco.integrators import StepAcceleration, use_acceleration
from strapdown.engines.mujoco.motion_rows import BLOCK_SIZE, Sampled, link_block, motion_from_block
from strapdown.engines.mujoco.recorded.collected import Collected, Stretch
from strapdown.engines.mujoco.recorded.step_check import StepCheck
from strapdown.engines.mujoco.recorded.steps import Steps
from strapdown.engines.mujoco.robot_file import RobotFile, check_contacts_fit, quiet
from strapdown.engines.parts import Motor, Mount, Physics, Start
from strapdown.engines.program import SNAP_S, Program
from strapdown.errors import InputError
from strapdown.types import Motion

Array = NDArray[np.float64]
PHYSICS_STATE = mujoco.mjtState.mjSTATE_FULLPHYSICS
_UNSTABLE = (
    mujoco.mjtWarning.mjWARN_BADQPOS,
    mujoco.mjtWarning.mjWARN_BADQVEL,
    mujoco.mjtWarning.mjWARN_BADQACC,
)


class MujocoRobot(SteppedRobot):
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
        self.gravity, self.step_s, self._integrator = gravity, step_s, integrator
        self._mounts = tuple(mounts)
        self._built = build(robot, Physics(gravity, step_s, integrator), motors, mounts, start)
        begin = 1 + self.model.nq  # of the speeds in a physics state, behind the time
        self._qvel = slice(begin, begin + self.model.nv)
        self._act = slice(begin + self.model.nv, begin + self.model.nv + self.model.na)
        program = program or Program()
        self._controls = Controls(self._built, program, motors, start)
        self._steps = Steps(step_s, program.switch_times())
        self.data: Any = mujoco.MjData(self.model)
        self._acceleration = self._stepping()
        self.reset()

    def _stepping(self) -> Any:
        """What makes the steps and knows their accelerations; another engine has its own."""
        return StepAcceleration(self.model, self.data, self._integrator)

    def reset(self) -> None:
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:], self.data.qvel[:] = self._built.qpos0, self._built.qvel0
        self.data.act[:] = self._controls.targets(0.0)
        self._time_s = 0.0
        self._stale = True

    def state(self, link: str) -> Motion:
        body = self._body(link)
        self._refresh()
        row = link_block(self.model, self.data, body)
        return motion_from_block(self.gravity, np.array([self._time_s]), row[None, :])

    def contacts(self) -> list[Contact]:
        """All contacts at this instant, with their forces."""
        self._refresh()
        return contacts(self.model, self.data)

    def advance(self, duration_s: float) -> None:
        """Move on by a duration: whole steps on the grid of the physics step, and a part of one at the end."""
        end_s = self._time_s + duration_s
        if not (np.isfinite(end_s) and end_s - self._time_s > SNAP_S):
            raise InputError(f"cannot advance by {duration_s} s; give a number above 0, of at least a few nanoseconds")
        nodes = self._steps.nodes(self._time_s, end_s)
        sizes, switched = self._steps.sizes(nodes), self._steps.switched(nodes)
        controls = self._controls.over(nodes[:-1], nodes[1:])
        with quiet():
            for i, t in enumerate(nodes[:-1]):
                if switched[i]:
                    self.data.act[:] = self._controls.targets(t)
                mujoco.mj_setState(self.model, self.data, controls[i], self._controls.spec)
                self.model.opt.timestep = sizes[i]
                self._make_step()
                self._check_stable(nodes[i : i + 1], np.array([[t, *self.data.qpos]]))
        self._time_s, self._stale = float(nodes[-1]), True

    def record(
        self, duration_s: float, times: Mapping[str, Array], progress: Callable[[float], None] | None = None
    ) -> dict[str, Sampled]:
        """Run the program from the start and read each mount at its own times (s, within the duration)."""
        if not (np.isfinite(duration_s) and duration_s > SNAP_S):
            raise InputError(f"cannot run for {duration_s} s; give a number above 0, of at least a few nanoseconds")
        self.reset()
        collected = {mount.name: Collected(self._built, mount, times[mount.name], duration_s) for mount in self._mounts}
        checks = {link: StepCheck(self.gravity) for link in self._built.block_start}
        for part in self._run(duration_s, progress):
            for mount in self._mounts:
                collected[mount.name].take(part, self._read)
            switched = self._steps.switched(part.nodes)
            for link, block in self._built.block_start.items():
                rows = part.readings[:, block : block + BLOCK_SIZE]
                judged = checks[link].add(part.nodes, part.sizes, switched, rows)
                for mount in self._mounts:
                    if mount.link == link:
                        collected[mount.name].doubt(*judged)
        return {name: found.sampled(self.gravity) for name, found in collected.items()}

    def _run(self, duration_s: float, progress: Callable[[float], None] | None) -> Iterator[Stretch]:
        """The run in parts; each reading belongs to the time of its node. The last part has only the end.

        The receiver of a part may use the engine's data (_read): the start of the next part is kept here.
        """
        state = np.empty(mujoco.mj_stateSize(self.model, PHYSICS_STATE))
        mujoco.mj_getState(self.model, self.data, state, PHYSICS_STATE)
        warm = np.zeros(self.model.nv)
        nodes = np.zeros(1)
        for nodes in self._steps.stretches(duration_s):
            sizes, switched = self._steps.sizes(nodes), self._steps.switched(nodes[:-1])
            controls = self._controls.over(nodes[:-1], nodes[1:])
            states, readings = np.empty((len(nodes), len(state))), np.empty((len(sizes), self.model.nsensordata))
            states[0] = state
            cuts = np.flatnonzero((np.diff(sizes) != 0.0) | switched[1:]) + 1
            for first, last in pairwise(np.concatenate([[0], cuts, [len(sizes)]])):
                if switched[first]:
                    states[first, self._act] = self._controls.targets(float(nodes[first]))
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
            if not self._acceleration.reported:
                self._read_applied(states, sizes, readings)
            yield Stretch(nodes[:-1], sizes, readings, states, float(nodes[-1]))
            state = states[-1]
        self._go_to(float(nodes[-1]), state, warm)
        self._refresh()
        yield Stretch(nodes[-1:], np.empty(0), self.data.sensordata[None, :].copy(), state[None, :], np.inf)
        self._go_to(float(nodes[-1]), state, warm)

    def _make_step(self) -> None:
        mujoco.mj_step(self.model, self.data)

    def _read_applied(self, states: Array, sizes: Array, readings: Array) -> None:
        """Replace readings by those with the accelerations that the integrator applied: changes of velocity."""
        with quiet():
            for i, size in enumerate(sizes):
                mujoco.mj_setState(self.model, self.data, states[i], PHYSICS_STATE)
                mujoco.mj_forward(self.model, self.data)
                applied = (states[i + 1, self._qvel] - states[i, self._qvel]) / size
                use_acceleration(self.model, self.data, applied)
                readings[i] = self.data.sensordata

    def _go_to(self, time_s: float, state: Array, warm: Array) -> None:
        mujoco.mj_setState(self.model, self.data, state, PHYSICS_STATE)
        self.data.qacc_warmstart[:] = warm
        self._time_s, self._stale = time_s, True

    def _read(self, begin: Array, end: Array, node_s: float, size_s: float, t: float) -> Array:
        """The readings within the step from a node, between its first and its last physics state.

        A Runge-Kutta step has no inner values: a separate shorter step is made. The other integrators use one
        acceleration during a step, which determines every instant of it.
        """
        passed_s = t - node_s
        mujoco.mj_setState(self.model, self.data, begin, PHYSICS_STATE)
        self.data.qacc_warmstart[:] = 0.0  # not what another reading left there
        with quiet():
            if self._integrator == "rk4":
                controls = self._controls.over(np.array([node_s]), np.array([t]))[0]
                mujoco.mj_setState(self.model, self.data, controls, self._controls.spec)
                self.model.opt.timestep = passed_s
                mujoco.mj_step(self.model, self.data)
            else:
                between = begin + (passed_s / size_s) * (end - begin)
                self.data.qvel[:], self.data.act[:] = between[self._qvel], between[self._act]
                mujoco.mj_integratePos(self.model, self.data.qpos, end[self._qvel], passed_s)
                self._controls.put_forces(self.data, node_s)
            self._forward()
        self._stale = True
        return self.data.sensordata.copy()

    def _refresh(self) -> None:
        """Update all derived quantities to the present state, without changing the start of the next step."""
        if not self._stale:
            return
        if self._steps.switched(np.array([self._time_s]))[0]:
            self.data.act[:] = self._controls.targets(self._time_s)
        self._controls.put_forces(self.data, self._time_s)
        warm = self.data.qacc_warmstart.copy()
        with quiet():
            self._forward()
        self.data.qacc_warmstart[:] = warm
        self._stale = False

    def _forward(self) -> None:
        """All derived quantities, under the acceleration that a whole step applies."""
        self.model.opt.timestep = self.step_s
        mujoco.mj_forward(self.model, self.data)
        self._acceleration.use()

    def _check_stable(self, t: Array, states: Array) -> None:
        """The engine stops or restarts at numbers above 1e10; its clock (the first column) shows this."""
        check_contacts_fit(self.data.warning.number)
        bad = ~(np.abs(states) < 1e10).all(axis=1) | (np.diff(states[:, 0], prepend=-1.0) <= 0.0)
        if not bad.any() and not any(self.data.warning[w].number for w in _UNSTABLE):
            return
        raise unstable(float(t[int(np.argmax(bad))] if bad.any() else t[-1]))


def unstable(when_s: float) -> InputError:
    return InputError(
        f"the simulation became unstable at about t = {when_s:.6g} s; use a smaller physics step, the integrator "
        "implicitfast, slower motors or smaller forces"
    )
