"""Steps of another engine on the data of a MuJoCo robot, which computes forces before a step and readings after it.

The compiled robot serves as the mathematics of links and motors: with its constraints switched off it gives the
generalised forces of motors, pushes, springs and damping, and it turns joint accelerations into those of links. The
physics is the other engine's.
"""

from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from strapdown.engines.foreign.dynamics import Dynamics
from strapdown.engines.mujoco.integrators import use_acceleration

Array = NDArray[np.float64]


def without_constraints(model: Any) -> None:
    """Contacts, limits and equalities are the other engine's business."""
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)


class ForeignStep:
    """The interface of StepAcceleration (engines/mujoco/integrators.py), on another engine."""

    reported = False  # accelerations come from the other engine, and not from mj_forward

    def __init__(self, model: Any, data: Any, dynamics: Dynamics) -> None:
        self._model, self._data, self.dynamics = model, data, dynamics
        self._known = np.full(model.nq, np.nan), np.full(model.nv, np.nan)  # the state that the engine is in

    def forces(self) -> Array:
        """Generalised forces besides gravity and inertia, after mj_forward."""
        return self._data.qfrc_smooth + self._data.qfrc_bias

    def end_step(self, model: Any, data: Any) -> None:
        """The step that follows mj_forward: new positions, speeds and motor targets."""
        self._meet()
        size_s = float(model.opt.timestep)
        self._arrive(self.dynamics.step(self.forces(), size_s, self._forces_at), size_s)

    def read_and_step(self, model: Any, data: Any) -> None:
        """The same step, with the readings of its begin in sensordata: one look at the engine serves both."""
        self._meet()
        size_s, dynamics = float(model.opt.timestep), self.dynamics
        forces = self.forces()
        if dynamics.holds:
            found = dynamics.step(forces, size_s, self._forces_at)
            use_acceleration(model, data, dynamics.applied())
        else:
            use_acceleration(model, data, dynamics.acceleration(forces, size_s))
            row = data.sensordata.copy()
            found = dynamics.step(forces, size_s, self._forces_at)
            data.sensordata[:] = row
        self._arrive(found, size_s)

    def use(self) -> None:
        """After mj_forward: readings under the acceleration that the coming step applies."""
        self._meet()
        acceleration = self.dynamics.acceleration(self.forces(), float(self._model.opt.timestep))
        use_acceleration(self._model, self._data, acceleration)

    def forget(self) -> None:
        """The robot begins anew: the engine is put to its state, without a memory of contacts."""
        self._known[0][:] = np.nan

    def _meet(self) -> None:
        """Let the engine be in the state of the data."""
        data, (position, speed) = self._data, self._known
        if not (np.array_equal(position, data.qpos) and np.array_equal(speed, data.qvel)):
            self.dynamics.put(data.qpos, data.qvel)
            position[:], speed[:] = data.qpos, data.qvel

    def _arrive(self, found: tuple[Array, Array], size_s: float) -> None:
        data = self._data
        data.qpos[:], data.qvel[:] = found
        data.act += size_s * data.act_dot  # targets of motors are ramps within a step
        data.time += size_s
        self._known[0][:], self._known[1][:] = data.qpos, data.qvel

    def _forces_at(self, since_s: float, position: Array, speed: Array) -> Array:
        """The forces within a step; the data is left as it was."""
        data = self._data
        kept = data.qpos.copy(), data.qvel.copy(), data.act.copy()
        data.qpos[:], data.qvel[:] = position, speed
        data.act += since_s * data.act_dot
        mujoco.mj_forward(self._model, data)
        forces = self.forces()
        data.qpos[:], data.qvel[:], data.act[:] = kept
        return forces
