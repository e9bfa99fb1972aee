"""A robot in Drake: a MultibodyPlant with Runge-Kutta steps, or with Drake's own discrete steps.

Traps of Drake 1.51 that are handled here (measured): a base floats unless it is welded; the acceleration port of a
discrete plant is one step old unless sampled output ports are switched off; AdvanceTo(0) already makes an update, so
that no Simulator is used: steps are made here, from the plant's own derivatives or its own discrete update; a discrete
update is kept even when the applied forces change, until the state is put anew.

`rk4`: continuous plant, classical Runge-Kutta steps; contacts are stiff springs; joint limits do not act, and a joint
that passes one is refused. `discrete`: contacts and limits by Drake's solver, whole steps only.
"""

import logging
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strapdown.engines.foreign.dynamics import ForcesAt
from strapdown.engines.foreign.tree import Joint, Link, Shape, Tree, rotation
from strapdown.errors import InputError

Array = NDArray[np.float64]
_SAME_SIZE = 1e-9  # s: a whole step


class DrakeDynamics:
    """A Dynamics. State vectors of Drake: positions, then speeds."""

    def __init__(self, tree: Tree, integrator: str, step_s: float) -> None:
        from pydrake.multibody.plant import AddMultibodyPlantSceneGraph
        from pydrake.systems.framework import DiagramBuilder

        logging.getLogger("drake").setLevel(logging.ERROR)
        self._tree, self._step_s = tree, step_s
        self.holds = integrator == "discrete"
        builder = DiagramBuilder()
        self._plant: Any
        self._plant, _ = AddMultibodyPlantSceneGraph(builder, time_step=step_s if self.holds else 0.0)
        self._build()
        self._plant.Finalize()
        self._diagram = builder.Build()
        self._root = self._diagram.CreateDefaultContext()
        self._context = self._plant.GetMyMutableContextFromRoot(self._root)
        port = self._plant.get_applied_generalized_force_input_port()
        self._forces = port.FixValue(self._context, np.zeros(self._plant.num_velocities()))
        self._map()

    def _build(self) -> None:
        from pydrake.math import RigidTransform, RotationMatrix
        from pydrake.multibody.tree import (
            FixedOffsetFrame,
            PrismaticJoint,
            RevoluteJoint,
            RotationalInertia,
            SpatialInertia,
        )

        def pose(position: Array, q: Array) -> Any:
            return RigidTransform(RotationMatrix(rotation(q)), position)

        plant, tree = self._plant, self._tree
        plant.mutable_gravity_field().set_gravity_vector(tree.gravity_n)
        if self.holds:
            plant.SetUseSampledOutputPorts(False)
        self._bodies = [plant.world_body()]
        self._joints: list[tuple[Any, Joint]] = []
        for i, link in enumerate(tree.links):
            if i > 0:
                self._bodies.append(plant.AddRigidBody(f"link_{i}", _inertia(link, SpatialInertia, RotationalInertia)))
            for k, shape in enumerate(link.shapes):
                self._shape(self._bodies[i], f"shape_{k}", shape, pose)
        for i, link in enumerate(tree.links[1:], start=1):
            body, parent, joint = self._bodies[i], self._bodies[link.parent], link.joint
            if joint is not None and joint.kind == "free":
                continue
            anchor = np.zeros(3) if joint is None else joint.anchor
            at = pose(link.position + rotation(link.q) @ anchor, link.q)
            if joint is None:
                plant.WeldFrames(parent.body_frame(), body.body_frame(), at)
                continue
            one = np.array([1.0, 0.0, 0.0, 0.0])
            on_parent = plant.AddFrame(FixedOffsetFrame(f"joint_{i}_parent", parent.body_frame(), at))
            on_child = plant.AddFrame(FixedOffsetFrame(f"joint_{i}_child", body.body_frame(), pose(anchor, one)))
            kind = RevoluteJoint if joint.kind == "hinge" else PrismaticJoint
            made = plant.AddJoint(kind(f"joint_{i}", on_parent, on_child, joint.axis))
            if self.holds and joint.low is not None and joint.high is not None:
                made.set_position_limits([joint.low - joint.zero], [joint.high - joint.zero])
            self._joints.append((made, joint))

    def _shape(self, body: Any, name: str, shape: Shape, pose: Any) -> None:
        from pydrake.geometry import Box, Capsule, Convex, Cylinder, HalfSpace
        from pydrake.geometry import Sphere as Ball
        from pydrake.multibody.plant import CoulombFriction

        size = shape.size.tolist()
        points = None if shape.vertices is None else shape.vertices.T
        made = {
            "plane": lambda: HalfSpace(),
            "box": lambda: Box(*(2.0 * x for x in size)),
            "sphere": lambda: Ball(size[0]),
            "cylinder": lambda: Cylinder(size[0], 2.0 * size[1]),
            "capsule": lambda: Capsule(size[0], 2.0 * size[1]),
            "mesh": lambda: Convex(points=points, label=name),
        }[shape.kind]()
        friction = CoulombFriction(shape.friction, shape.friction)
        self._plant.RegisterCollisionGeometry(body, pose(shape.position, shape.q), made, name, friction)

    def _map(self) -> None:
        """Where each number of ours stands in Drake's vectors."""
        plant, tree = self._plant, self._tree
        self._n = plant.num_positions()
        joints = [joint for _, joint in self._joints]
        self._names = [joint.name for joint in joints]
        self._places = np.array([joint.place for joint in joints], dtype=int)
        self._dofs = np.array([joint.dof for joint in joints], dtype=int)
        self._zeros = np.array([joint.zero for joint in joints])
        self._q_at = np.array([made.position_start() for made, _ in self._joints], dtype=int)
        self._v_at = np.array([made.velocity_start() for made, _ in self._joints], dtype=int)
        self._low = np.array([-np.inf if joint.low is None else joint.low for joint in joints])
        self._high = np.array([np.inf if joint.high is None else joint.high for joint in joints])
        self._free: tuple[Joint, int, int] | None = None
        if tree.floating is not None:
            body, joint = self._bodies[tree.floating], tree.links[tree.floating].joint
            assert joint is not None
            self._free = joint, body.floating_positions_start(), body.floating_velocities_start_in_v()

    def _to_drake(self, position: Array, speed: Array) -> Array:
        x = np.empty(self._n + len(speed))
        x[self._q_at] = position[self._places] - self._zeros
        x[self._n + self._v_at] = speed[self._dofs]
        if self._free is not None:
            joint, q_at, v_at = self._free
            x[q_at : q_at + 4] = position[joint.place + 3 : joint.place + 7]
            x[q_at + 4 : q_at + 7] = position[joint.place : joint.place + 3]
            turn, v = rotation(x[q_at : q_at + 4]), self._n + v_at
            x[v : v + 3] = turn @ speed[joint.dof + 3 : joint.dof + 6]
            x[v + 3 : v + 6] = speed[joint.dof : joint.dof + 3]
        return x

    def _from_drake(self, x: Array) -> tuple[Array, Array]:
        position, speed = np.empty(self._tree.positions), np.empty(self._tree.speeds)
        position[self._places] = x[self._q_at] + self._zeros
        speed[self._dofs] = x[self._n + self._v_at]
        if self._free is not None:
            joint, q_at, v_at = self._free
            q_nb, v = x[q_at : q_at + 4], self._n + v_at
            position[joint.place : joint.place + 3] = x[q_at + 4 : q_at + 7]
            position[joint.place + 3 : joint.place + 7] = q_nb / np.linalg.norm(q_nb)
            speed[joint.dof : joint.dof + 3] = x[v + 3 : v + 6]
            speed[joint.dof + 3 : joint.dof + 6] = (
                rotation(position[joint.place + 3 : joint.place + 7]).T @ x[v : v + 3]
            )
        return position, speed

    def _apply(self, forces: Array, x: Array) -> None:
        """Generalised forces in Drake's order; x: the state they belong to."""
        out = np.empty(len(forces))
        out[self._v_at] = forces[self._dofs]
        if self._free is not None:
            joint, q_at, v_at = self._free
            out[v_at : v_at + 3] = rotation(x[q_at : q_at + 4]) @ forces[joint.dof + 3 : joint.dof + 6]
            out[v_at + 3 : v_at + 6] = forces[joint.dof : joint.dof + 3]
        self._forces.GetMutableData().set_value(out)

    def put(self, position: Array, speed: Array) -> None:
        self._x = self._to_drake(position, speed)
        self._plant.SetPositionsAndVelocities(self._context, self._x)

    def acceleration(self, forces: Array, size_s: float) -> Array:
        self._apply(forces, self._x)
        if self.holds:
            return self._accelerations((self._updated() - self._x)[self._n :] / self._step_s)
        return self._accelerations(self._rates(self._x, forces)[self._n :])

    def applied(self) -> Array:
        return self._applied

    def _accelerations(self, rates: Array) -> Array:
        """From the change of Drake's speeds."""
        out = np.empty(self._tree.speeds)
        out[self._dofs] = rates[self._v_at]
        if self._free is not None:  # of the rate in the link's own axes: its change is the turned change in frame n
            joint, q_at, v_at = self._free
            out[joint.dof : joint.dof + 3] = rates[v_at + 3 : v_at + 6]
            out[joint.dof + 3 : joint.dof + 6] = rotation(self._x[q_at : q_at + 4]).T @ rates[v_at : v_at + 3]
        return out

    def step(self, forces: Array, size_s: float, forces_at: ForcesAt) -> tuple[Array, Array]:
        if self.holds:
            if abs(size_s - self._step_s) > _SAME_SIZE:
                raise InputError(
                    f"the integrator discrete of drake makes whole steps of {self._step_s:g} s; put all switches of "
                    "the program on multiples of it, or use rk4"
                )
            self._apply(forces, self._x)
            x = self._updated()
            self._applied = self._accelerations((x - self._x)[self._n :] / self._step_s)
        else:
            x = self._runge_kutta(forces, size_s, forces_at)
        position, speed = self._from_drake(x)
        self._check_limits(position)
        self.put(position, speed)
        return position, speed

    def _updated(self) -> Array:
        """The state after Drake's own discrete step. Drake keeps it whatever the forces are by now: the state is put
        anew."""
        self._plant.SetPositionsAndVelocities(self._context, self._x)
        return self._diagram.EvalUniquePeriodicDiscreteUpdate(self._root).get_vector().CopyToVector()

    def _rates(self, x: Array, forces: Array) -> Array:
        self._plant.SetPositionsAndVelocities(self._context, x)
        self._apply(forces, x)
        return self._plant.EvalTimeDerivatives(self._context).CopyToVector()

    def _runge_kutta(self, forces: Array, size_s: float, forces_at: ForcesAt) -> Array:
        x, half_s = self._x, 0.5 * size_s

        def within(since_s: float, at: Array) -> Array:
            return self._rates(at, forces_at(since_s, *self._from_drake(at)))

        k1 = self._rates(x, forces)
        k2 = within(half_s, x + half_s * k1)
        k3 = within(half_s, x + half_s * k2)
        k4 = within(size_s, x + size_s * k3)
        return x + size_s / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)

    def _check_limits(self, position: Array) -> None:
        if self.holds or not self._joints:
            return
        at = position[self._places]
        beyond = (at < self._low) | (at > self._high)
        if beyond.any():
            name = self._names[int(np.argmax(beyond))]
            raise InputError(
                f'joint "{name}" passes its limit, which drake does not hold with the integrator rk4; use discrete, or '
                "change the program"
            )


def _inertia(link: Link, spatial: Any, rotational: Any) -> Any:
    if link.mass == 0.0:
        return spatial.Zero()
    i = link.inertia_about_centre()
    about_centre = rotational(i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2])
    return spatial.MakeFromCentralInertia(link.mass, link.centre, about_centre)
