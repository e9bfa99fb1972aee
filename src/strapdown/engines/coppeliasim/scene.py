"""A scene of a running CoppeliaSim: its objects by path, their poses, its clock and gravity, joints and forces.

What the simulator reports is read back after it was set: time step and gravity may be kept as float32.
"""

import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strapdown.engines.coppeliasim.connection import Connection
from strapdown.errors import InputError

Array = NDArray[np.float64]

CONTROL = {"speed": "jointdynctrl_velocity", "position": "jointdynctrl_position", "torque": "jointdynctrl_force"}
UNLIMITED = 1000.0  # N m or N: a motor without a limit of its own
LARGEST_SUBSTEP_S = 0.005  # of the physics within a step: the simulator's own default
_READ_BACK = 1e-6  # relative: what float32 makes of a number
_LEVEL = 1e-6  # m/s2 of gravity along x and y, which must be 0
_PAUSE_S = 0.02  # between two looks at a simulation that is about to stop


class Scene:
    """The scene that is open in the simulator. What is set here is put back by `leave`."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._call = connection.call
        self._put_back: list[tuple[Any, ...]] = []
        self._running = False

    # objects

    def object_at(self, path: str) -> int:
        """The handle of the object with this path ("/robot/forearm")."""
        if not path.startswith("/"):
            raise InputError(f'"{path}" is no path of an object in CoppeliaSim; begin it with "/", like "/robot/link"')
        try:
            return self.connection.handle("sim.getObject", path)
        except InputError as error:
            if "does not exist" in str(error):
                raise InputError(
                    f'object "{path}" is not in the scene of CoppeliaSim; copy its path from the scene hierarchy'
                ) from None
            raise

    def pose(self, handle: int, name: str) -> tuple[Array, Array]:
        """Position (m) and attitude (w, x, y, z) of an object in the world. name: for the message if it vanished."""
        try:
            found = self.connection.numbers(7, "sim.getObjectPose", handle)
        except InputError as error:
            if "does not exist" in str(error):
                raise InputError(f'object "{name}" is no longer in the scene of CoppeliaSim; was it removed?') from None
            raise
        x, y, z, qx, qy, qz, qw = found
        length = math.sqrt(qx * qx + qy * qy + qz * qz + qw * qw)
        if abs(length - 1.0) > 1e-3:
            raise InputError(f'the attitude of "{name}" in CoppeliaSim is {found[3:]}, no unit quaternion')
        return np.array([x, y, z]), np.array([qw, qx, qy, qz]) / length

    def place(self, handle: int, p_n: Array, q_nb: Array) -> None:
        """Put an object somewhere in the world, before the simulation starts."""
        w, x, y, z = (float(c) for c in q_nb)
        self._call("sim.setObjectPose", handle, [*(float(c) for c in p_n), x, y, z, w])

    # clock and gravity

    def time_s(self) -> float:
        return self.connection.number("sim.getSimulationTime")

    def time_step_s(self) -> float:
        """The step of the simulation, as the simulator keeps it."""
        return self.connection.number("sim.getSimulationTimeStep")

    def set_physics_engine(self, name: str) -> None:
        """Choose the physics engine of the scene ("mujoco", "ode", "bullet" ...)."""
        key, wanted = (self.connection.constant(n) for n in ("intparam_dynamic_engine", f"physics_{name}"))
        before = self.connection.whole_number("sim.getInt32Param", key)
        self._put_back.append(("sim.setInt32Param", key, before))
        self._call("sim.setInt32Param", key, wanted)
        if self.connection.whole_number("sim.getInt32Param", key) != wanted:
            raise InputError(f'CoppeliaSim does not take "{name}" as the physics engine of its scene; choose another')

    def set_time_step(self, step_s: float, substep_s: float | None = None) -> float:
        """Ask for a step, and for physics sub-steps (None: 5 ms, or the step); returns the step read back."""
        constant = self.connection.constant
        for name, value in (
            ("floatparam_simulation_time_step", step_s),
            ("floatparam_physicstimestep", min(step_s, LARGEST_SUBSTEP_S) if substep_s is None else substep_s),
        ):
            before = self.connection.number("sim.getFloatParam", constant(name))
            self._put_back.append(("sim.setFloatParam", constant(name), before))
            self._call("sim.setFloatParam", constant(name), value)
        found = self.time_step_s()
        if abs(found - step_s) > _READ_BACK * step_s:
            raise InputError(
                f"CoppeliaSim keeps a time step of {found:g} s where {step_s:g} s was asked for; set it in the scene's "
                "simulation settings"
            )
        return found

    def gravity(self) -> float:
        """Gravity (m/s2, downward) as the simulator keeps it."""
        x, y, z = self.connection.numbers(3, "sim.getArrayParam", self.connection.constant("arrayparam_gravity"))
        if abs(x) > _LEVEL or abs(y) > _LEVEL:
            raise InputError(f"gravity in the scene of CoppeliaSim is ({x:g}, {y:g}, {z:g}) m/s2; it must point down z")
        return -z

    def set_gravity(self, gravity: float) -> float:
        """Ask for a gravity; returns what the simulator keeps."""
        key = self.connection.constant("arrayparam_gravity")
        before = self.connection.numbers(3, "sim.getArrayParam", key)
        self._put_back.append(("sim.setArrayParam", key, before))
        self._call("sim.setArrayParam", key, [0.0, 0.0, -gravity])
        return self.gravity()

    # running

    @property
    def is_stopped(self) -> bool:
        state = self.connection.whole_number("sim.getSimulationState")
        return state == self.connection.constant("simulation_stopped")

    def start(self) -> None:
        """Start the simulation in lockstep; stepping has to be asked for again before every start."""
        if not self.is_stopped:
            raise InputError("a simulation is already running in CoppeliaSim; stop it there, or follow it")
        self._call("sim.setStepping", True)
        self._call("sim.startSimulation")
        self._running = True

    def step(self) -> None:
        self._call("sim.step")

    def stop(self) -> None:
        """Stop what was started here, and wait until it has stopped.

        The call only asks for it: the simulator makes a few steps more. Until then it keeps no new time step and
        starts no other run.
        """
        if self._running:
            self._running = False
            self._call("sim.stopSimulation")
            end = time.monotonic() + self.connection.timeout_s
            while not self.is_stopped:
                if time.monotonic() > end:
                    raise InputError("the simulation in CoppeliaSim does not stop; stop it there by hand")
                time.sleep(_PAUSE_S)

    def leave(self) -> None:
        """Put back what was set."""
        while self._put_back:
            self._call(*self._put_back.pop())

    # joints and forces

    def control(self, joint: int, kind: str | None, most: float | None) -> None:
        """How a joint is driven: "speed", "position", "torque", or None for a free one. most: N m or N."""
        mode = CONTROL[kind] if kind is not None else "jointdynctrl_free"
        constant = self.connection.constant
        self._call("sim.setObjectInt32Param", joint, constant("jointintparam_dynctrlmode"), constant(mode))
        if kind in ("speed", "position"):
            self._call("sim.setJointTargetForce", joint, UNLIMITED if most is None else most)
            self.target(joint, kind, 0.0)

    def target(self, joint: int, kind: str, value: float) -> None:
        """A new target of a joint: rad/s, rad or N m (m/s, m or N if it slides)."""
        function = {"speed": "Velocity", "position": "Position", "torque": "Force"}[kind]
        self._call(f"sim.setJointTarget{function}", joint, float(value))

    def joint_position(self, joint: int) -> float:
        """rad, or m for a joint that slides."""
        return self.connection.number("sim.getJointPosition", joint)

    def set_joint(self, joint: int, position: float) -> None:
        """Where a joint begins, before the simulation starts."""
        self._call("sim.setJointPosition", joint, float(position))

    def push(self, shape: int, force_n: Sequence[float], torque_n: Sequence[float]) -> None:
        """A force (N) and torque (N m), frame n, at the centre of mass, during the coming step."""
        self._call("sim.addForceAndTorque", shape, [float(x) for x in force_n], [float(x) for x in torque_n])
