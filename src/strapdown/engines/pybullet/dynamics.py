"""A robot in PyBullet: semi-implicit Euler steps of its multi-body solver.

Traps of PyBullet 3.2.7 that are handled here (measured): bodies are damped by default, which no sensor should feel;
joints have motors that brake them; a link without inertia gets 1 kg; inertias are computed anew from shapes unless it
is asked to take them from the file; joint speeds are cut at 100 rad/s; link poses come as float32, so that only
positions and speeds of joints are read, and the pose of a floating link's centre of mass, which are doubles.

It reports no accelerations. What a step applied is the change of joint speed over the step, which is exact for its
integrator. What the coming step will apply is found by making it ahead of its time, from a saved state.
"""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strapdown.engines.foreign.dynamics import ForcesAt
from strapdown.engines.foreign.tree import Tree, rotation
from strapdown.engines.foreign.urdf_text import urdf_of
from strapdown.rotation import q_conj, q_mul

Array = NDArray[np.float64]
_NO_LIMIT = 1e9  # rad/s: the engine's own bound of a joint speed is 100


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """The library prints from C, on import and while it reads a file; a command's output must stay its own."""
    kept = os.dup(1), os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        yield
    finally:
        for number, copy in zip((1, 2), kept, strict=True):
            os.dup2(copy, number)
            os.close(copy)
        os.close(nowhere)


class PybulletDynamics:
    """A Dynamics; each has a physics server of its own."""

    holds = True

    def __init__(self, tree: Tree) -> None:
        with _silent():
            import pybullet

        self._p: Any = pybullet
        self._tree = tree
        self._floating = tree.floating
        self._client = pybullet.connect(pybullet.DIRECT)
        self._c = {"physicsClientId": self._client}
        self._size_s = 0.0
        self._ahead: tuple[int, Array, float] | None = None  # saved state, forces and size of a step made ahead
        self._build()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):  # at the end of the program the library may be gone
            self._p.disconnect(**self._c)

    def _build(self) -> None:
        p, tree = self._p, self._tree
        p.setGravity(*tree.gravity_n.tolist(), **self._c)
        # contacts: with the engine's own 50 iterations and residual a cube at rest turns, by 1e-5 rad/s and more
        p.setPhysicsEngineParameter(numSolverIterations=500, solverResidualThreshold=0.0, **self._c)
        p.setPhysicsEngineParameter(deterministicOverlappingPairs=1, numSubSteps=0, **self._c)
        flags = p.URDF_USE_INERTIA_FROM_FILE | p.URDF_USE_SELF_COLLISION | p.URDF_USE_SELF_COLLISION_EXCLUDE_PARENT
        names, joints = ([f"{what}_{i}" for i in range(len(tree.links))] for what in ("link", "joint"))
        with tempfile.TemporaryDirectory() as folder, _silent():
            file = Path(folder) / "robot.urdf"
            file.write_text(urdf_of(tree, names, joints, Path(folder)), encoding="utf-8")
            fixed = self._floating is None
            self._body = p.loadURDF(str(file), useFixedBase=fixed, flags=flags, **self._c)
        index = {p.getBodyInfo(self._body, **self._c)[0].decode(): -1}
        for j in range(p.getNumJoints(self._body, **self._c)):
            index[p.getJointInfo(self._body, j, **self._c)[12].decode()] = j
        self._index = [index.get(name) for name in names]
        moved = [(i, link.joint) for i, link in enumerate(tree.links) if link.joint and link.joint.kind != "free"]
        self._joints = [self._index[i] for i, _ in moved]
        self._places = np.array([joint.place for _, joint in moved], dtype=int)
        self._dofs = np.array([joint.dof for _, joint in moved], dtype=int)
        self._zeros = np.array([joint.zero for _, joint in moved])
        for i, link in enumerate(tree.links):
            number = self._index[i]
            if number is None:
                continue
            friction = max((shape.friction for shape in link.shapes), default=1.0)
            p.changeDynamics(
                *(self._body, number),
                linearDamping=0.0,
                angularDamping=0.0,
                jointDamping=0.0,
                maxJointVelocity=_NO_LIMIT,
                lateralFriction=np.sqrt(friction),  # the engine multiplies those of both sides
                **self._c,
            )
        for number in self._joints:
            p.setJointMotorControl2(self._body, number, p.VELOCITY_CONTROL, force=0.0, **self._c)
        for shape in tree.links[0].shapes:
            self._ground(shape)

    def _ground(self, shape: Any) -> None:
        """Planes of the world; other shapes of it are in the robot's own file."""
        if shape.kind != "plane":
            return
        p = self._p
        normal = rotation(shape.q)[:, 2].tolist()
        found = p.createCollisionShape(p.GEOM_PLANE, planeNormal=normal, **self._c)
        floor = p.createMultiBody(0.0, found, basePosition=shape.position.tolist(), **self._c)
        p.changeDynamics(floor, -1, lateralFriction=np.sqrt(shape.friction), **self._c)

    def put(self, position: Array, speed: Array) -> None:
        p = self._p
        self._forget()
        if self._floating is not None:
            link, joint = self._free()
            q_n, w_n = position[joint.place + 3 : joint.place + 7], self._rate_n(position, speed)
            arm_n = rotation(q_n) @ link.centre
            place = position[joint.place : joint.place + 3] + arm_n
            q = q_mul(q_n, link.q_inertia)
            p.resetBasePositionAndOrientation(self._body, place.tolist(), np.roll(q, -1).tolist(), **self._c)
            v_n = speed[joint.dof : joint.dof + 3] + np.cross(w_n, arm_n)
            p.resetBaseVelocity(self._body, v_n.tolist(), w_n.tolist(), **self._c)
        for k, j in enumerate(self._joints):
            at, rate = position[self._places[k]] - self._zeros[k], speed[self._dofs[k]]
            p.resetJointState(self._body, j, float(at), float(rate), **self._c)

    def acceleration(self, forces: Array, size_s: float) -> Array:
        """A step is made ahead of its time. It is taken as it is if the next step has the same forces and size."""
        if not self._made_ahead(forces, size_s):
            self._go_back()
            self._ahead = self._p.saveState(**self._c), forces.copy(), size_s
            self._step(forces, size_s)
        return self._applied

    def step(self, forces: Array, size_s: float, forces_at: ForcesAt) -> tuple[Array, Array]:
        if self._made_ahead(forces, size_s):
            self._forget()
        else:
            self._go_back()
            self._step(forces, size_s)
        return self._positions(), self._speeds()

    def _made_ahead(self, forces: Array, size_s: float) -> bool:
        return self._ahead is not None and self._ahead[2] == size_s and np.array_equal(self._ahead[1], forces)

    def _go_back(self) -> None:
        """Before a step that was made ahead."""
        if self._ahead is not None:
            self._p.restoreState(stateId=self._ahead[0], **self._c)
            self._forget()

    def _forget(self) -> None:
        if self._ahead is not None:
            self._p.removeState(self._ahead[0], **self._c)
            self._ahead = None

    def applied(self) -> Array:
        return self._applied

    def _step(self, forces: Array, size_s: float) -> None:
        p = self._p
        base = None if self._floating is None else self._base()
        before = [s[1] for s in self._states()] if self._joints else []
        if size_s != self._size_s:
            p.setTimeStep(size_s, **self._c)
            self._size_s = size_s
        if self._joints:
            torques = forces[self._dofs].tolist()
            p.setJointMotorControlArray(self._body, self._joints, p.TORQUE_CONTROL, forces=torques, **self._c)
        if self._floating is not None:
            self._push_base(forces)
        p.stepSimulation(**self._c)
        applied = np.empty(self._tree.speeds)
        if self._joints:
            applied[self._dofs] = (np.array([s[1] for s in self._states()]) - before) / size_s
        if base is not None:
            self._put_base_acceleration(applied, base, size_s)
        self._applied = applied

    def _base(self) -> tuple[Array, Array, Array]:
        """Attitude of a floating link, velocity of its centre of mass and its angular rate, both in frame n."""
        _, q = self._p.getBasePositionAndOrientation(self._body, **self._c)
        v_n, w_n = (np.array(x) for x in self._p.getBaseVelocity(self._body, **self._c))
        return rotation(self._q_of(self._free()[0], q)), v_n, w_n

    def _put_base_acceleration(self, out: Array, before: tuple[Array, Array, Array], size_s: float) -> None:
        """From the centre of mass, whose velocity in frame n the engine changes, to the origin of the link."""
        link, joint = self._free()
        turn, v_n, w_n = before
        _, v_after, w_after = self._base()
        a_n, dw_n, arm_n = (v_after - v_n) / size_s, (w_after - w_n) / size_s, turn @ link.centre
        out[joint.dof : joint.dof + 3] = a_n - np.cross(dw_n, arm_n) - np.cross(w_n, np.cross(w_n, arm_n))
        out[joint.dof + 3 : joint.dof + 6] = turn.T @ dw_n

    def _push_base(self, forces: Array) -> None:
        """Force and torque on a floating link: at its origin here, at its centre of mass there."""
        p, (link, joint) = self._p, self._free()
        place, q = p.getBasePositionAndOrientation(self._body, **self._c)
        turn = rotation(self._q_of(link, q))
        force_n, torque_n = forces[joint.dof : joint.dof + 3], turn @ forces[joint.dof + 3 : joint.dof + 6]
        torque_n = torque_n - np.cross(turn @ link.centre, force_n)
        p.applyExternalForce(self._body, -1, force_n.tolist(), place, p.WORLD_FRAME, **self._c)
        p.applyExternalTorque(self._body, -1, torque_n.tolist(), p.WORLD_FRAME, **self._c)

    def _positions(self) -> Array:
        out = np.empty(self._tree.positions)
        if self._floating is not None:
            link, joint = self._free()
            place, q = self._p.getBasePositionAndOrientation(self._body, **self._c)
            q_nb = self._q_of(link, q)
            out[joint.place : joint.place + 3] = place - rotation(q_nb) @ link.centre
            out[joint.place + 3 : joint.place + 7] = q_nb
        if self._joints:
            out[self._places] = self._zeros + [s[0] for s in self._states()]
        return out

    def _speeds(self) -> Array:
        out = np.empty(self._tree.speeds)
        if self._floating is not None:
            link, joint = self._free()
            turn, v_n, w_n = self._base()
            out[joint.dof : joint.dof + 3] = v_n - np.cross(w_n, turn @ link.centre)
            out[joint.dof + 3 : joint.dof + 6] = turn.T @ w_n
        if self._joints:
            out[self._dofs] = [s[1] for s in self._states()]
        return out

    def _states(self) -> Any:
        return self._p.getJointStates(self._body, self._joints, **self._c)

    def _free(self) -> tuple[Any, Any]:
        assert self._floating is not None
        link = self._tree.links[self._floating]
        return link, link.joint

    @staticmethod
    def _q_of(link: Any, q_xyzw: Any) -> Array:
        """The attitude of the link from that of its principal axes."""
        return q_mul(np.roll(np.array(q_xyzw), 1), q_conj(link.q_inertia))

    def _rate_n(self, position: Array, speed: Array) -> Array:
        _, joint = self._free()
        turn = rotation(position[joint.place + 3 : joint.place + 7])
        return turn @ speed[joint.dof + 3 : joint.dof + 6]
