"""MuJoCo's integrators by name, and the accelerations they really apply.

`mj_step` is `mj_forward` followed by the integrator. Called one after the other they give the same trajectory to the
bit, and everything that `mj_forward` computes may be read in between.

The acceleration that `mj_forward` reports is force over mass. An implicit integrator applies less than that: it
evaluates damping forces (and `discrete` springs, too) at the end of the step. `rk4` and `discrete` report the
acceleration that they apply. `implicitfast`, and `euler` for joints with damping, do not report it. For the others the
acceleration is taken from the step itself, as the change of velocity over the step size.
"""

from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

INTEGRATORS = {
    "rk4": mujoco.mjtIntegrator.mjINT_RK4,
    "implicitfast": mujoco.mjtIntegrator.mjINT_IMPLICITFAST,
    "discrete": mujoco.mjtIntegrator.mjINT_DISCRETE,
    "euler": mujoco.mjtIntegrator.mjINT_EULER,
}
EXPLICIT = ("rk4", "euler")
_STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)
_DAMPING_OF_JOINTS = ("dof_damping", "dof_dampingpoly")
_DAMPING = (
    *_DAMPING_OF_JOINTS,
    *("tendon_damping", "tendon_dampingpoly", "actuator_damping", "actuator_dampingpoly"),
    *("flex_damping", "flex_edgedamping"),
)


def set_integrator(spec: Any, integrator: str) -> None:
    """Choose the integrator of a specification."""
    spec.option.integrator = INTEGRATORS[integrator]
    if integrator == "discrete":  # its accelerations hold the damping already: what remains is the plain Euler step
        spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_EULERDAMP)


def step_after_forward(integrator: str) -> Callable[[Any, Any], None]:
    """The function that ends a step after `mj_forward`."""
    if integrator == "rk4":
        return lambda model, data: mujoco.mj_RungeKutta(model, data, 4)
    return mujoco.mj_implicit if integrator == "implicitfast" else mujoco.mj_Euler


def reports_applied_acceleration(model: Any, integrator: str) -> bool:
    """Whether the acceleration after `mj_forward` is the one that the integrator applies."""
    if integrator in ("rk4", "discrete"):
        return True
    if integrator == "euler":
        return not any(np.any(getattr(model, name)) for name in _DAMPING_OF_JOINTS)
    damped = any(np.any(getattr(model, name)) for name in _DAMPING)
    motors = np.any(model.actuator_biasprm[:, 2]) or np.any(model.actuator_gainprm[:, 2])
    return not (damped or motors or model.opt.density or model.opt.viscosity)


def use_acceleration(model: Any, data: Any, qacc: Array) -> None:
    """Give all readings of acceleration and force this joint acceleration, after `mj_forward`."""
    data.qacc[:] = qacc
    mujoco.mj_rnePostConstraint(model, data)
    mujoco.mj_sensorAcc(model, data)


class StepAcceleration:
    """Accelerations of links as the coming step applies them."""

    def __init__(self, model: Any, data: Any, integrator: str) -> None:
        self._model, self._data = model, data
        self.reported = reports_applied_acceleration(model, integrator)
        self.end_step = step_after_forward(integrator)
        self._state = np.empty(mujoco.mj_stateSize(model, _STATE))
        self._option, self._qvel, self._qacc = model.opt, data.qvel, data.qacc  # views, made once: they cost time
        self._before, self._reported = np.empty(model.nv), np.empty(model.nv)

    def use(self) -> None:
        """After `mj_forward`: update readings of acceleration. State and coming step do not change."""
        model, data = self._model, self._data
        if self.reported:
            mujoco.mj_rnePostConstraint(model, data)
            return
        mujoco.mj_getState(model, data, self._state, _STATE)
        self._before[:], self._reported[:] = self._qvel, self._qacc
        self.end_step(model, data)
        np.subtract(self._qvel, self._before, out=self._before)
        self._before /= self._option.timestep
        mujoco.mj_setState(model, data, self._state, _STATE)
        use_acceleration(model, data, self._before)
        self._qacc[:] = self._reported
