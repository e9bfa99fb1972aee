"""A robot in another engine as a motion source: run through a program, with every reading fresh."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from strapdown.engines.foreign.dynamics import dynamics_of
from strapdown.engines.foreign.plant import check_mounts, twin_integrator
from strapdown.engines.foreign.step import ForeignStep, without_constraints
from strapdown.engines.foreign.tree import tree_of
from strapdown.engines.mujoco.integrators import use_acceleration
from strapdown.engines.mujoco.motion_rows import Sampled
from strapdown.engines.mujoco.recorded.collected import Stretch
from strapdown.engines.mujoco.robot import PHYSICS_STATE, MujocoRobot, unstable
from strapdown.engines.mujoco.robot_file import RobotFile, quiet
from strapdown.engines.parts import Motor, Mount, Start
from strapdown.engines.program import Program
from strapdown.kernels.mounts import all_within

Array = NDArray[np.float64]
_LARGEST = 1e10  # of a position or speed: more is no motion


class ForeignRobot(MujocoRobot):
    """A robot with motors, mounts and a program in PyBullet or Drake; a MotionSource."""

    def __init__(
        self,
        robot: RobotFile,
        engine: str,
        *,
        gravity: float,
        step_s: float = 1e-3,
        integrator: str | None = None,
        motors: Sequence[Motor] = (),
        mounts: Sequence[Mount] = (),
        program: Program | None = None,
        start: Sequence[Start] = (),
    ) -> None:
        """engine: "pybullet" or "drake". integrator None: the engine's default."""
        self.engine, self._chosen = engine, integrator
        check_mounts(mounts)
        super().__init__(
            robot,
            gravity=gravity,
            step_s=step_s,
            integrator=twin_integrator(engine, integrator),
            motors=motors,
            mounts=mounts,
            program=program,
            start=start,
        )

    def _stepping(self) -> ForeignStep:
        dynamics = dynamics_of(self.engine, tree_of(self.model), self._chosen, self.step_s)
        without_constraints(self.model)
        self._foreign = ForeignStep(self.model, self.data, dynamics)
        return self._foreign

    def reset(self) -> None:
        self._foreign.forget()
        super().reset()

    @quiet()
    def record(
        self, duration_s: float, times: Mapping[str, Array], progress: Callable[[float], None] | None = None
    ) -> dict[str, Sampled]:
        """Run the program from the start and read each mount at its own times (s, within the duration)."""
        return super().record(duration_s, times, progress)

    def _make_step(self) -> None:
        mujoco.mj_forward(self.model, self.data)
        self._foreign.end_step(self.model, self.data)

    def _run(self, duration_s: float, progress: Callable[[float], None] | None) -> Iterator[Stretch]:
        """The run in parts, as of MujocoRobot; each step is made by the other engine."""
        model, data = self.model, self.data
        size = mujoco.mj_stateSize(model, PHYSICS_STATE)
        state = np.empty(size)
        mujoco.mj_getState(model, data, state, PHYSICS_STATE)
        nodes = np.zeros(1)
        for nodes in self._steps.stretches(duration_s):
            sizes, switched = self._steps.sizes(nodes), self._steps.switched(nodes[:-1])
            controls = self._controls.over(nodes[:-1], nodes[1:])
            states, readings = np.empty((len(nodes), size)), np.empty((len(sizes), model.nsensordata))
            states[0] = state
            for i, t in enumerate(nodes[:-1]):
                if switched[i]:
                    data.act[:] = self._controls.targets(float(t))
                    mujoco.mj_getState(model, data, states[i], PHYSICS_STATE)
                mujoco.mj_setState(model, data, controls[i], self._controls.spec)
                model.opt.timestep = sizes[i]
                mujoco.mj_forward(model, data)
                self._foreign.read_and_step(model, data)
                readings[i] = data.sensordata
                mujoco.mj_getState(model, data, states[i + 1], PHYSICS_STATE)
                if not all_within(data.qpos, data.qvel, _LARGEST):
                    raise unstable(float(nodes[i + 1]))
            if progress is not None:
                progress(float(nodes[-1]))
            yield Stretch(nodes[:-1], sizes, readings, states, float(nodes[-1]))
            state = states[-1]
            mujoco.mj_setState(model, data, state, PHYSICS_STATE)  # whoever took the part may have used the data
        self._time_s, self._stale = float(nodes[-1]), True
        self._refresh()
        yield Stretch(nodes[-1:], np.empty(0), data.sensordata[None, :].copy(), state[None, :], np.inf)
        mujoco.mj_setState(model, data, state, PHYSICS_STATE)
        self._stale = True

    def _read(self, begin: Array, end: Array, node_s: float, size_s: float, t: float) -> Array:
        """The readings within the step from a node.

        An engine that holds its acceleration during a step has led to every instant of it; otherwise a shorter step
        is made on the side.
        """
        model, data, passed_s = self.model, self.data, t - node_s
        mujoco.mj_setState(model, data, begin, PHYSICS_STATE)
        if self._foreign.dynamics.holds:
            between = begin + (passed_s / size_s) * (end - begin)
            data.qvel[:], data.act[:] = between[self._qvel], between[self._act]
            mujoco.mj_integratePos(model, data.qpos, end[self._qvel], passed_s)
            self._controls.put_forces(data, node_s)
            mujoco.mj_forward(model, data)
            use_acceleration(model, data, (end[self._qvel] - begin[self._qvel]) / size_s)
        else:
            controls = self._controls.over(np.array([node_s]), np.array([t]))[0]
            mujoco.mj_setState(model, data, controls, self._controls.spec)
            model.opt.timestep = passed_s
            self._make_step()
            self._forward()
        self._stale = True
        return data.sensordata.copy()

    def contacts(self) -> Any:
        from strapdown.engines.catalogue import needs_mujoco

        raise needs_mujoco("the list of contacts")
