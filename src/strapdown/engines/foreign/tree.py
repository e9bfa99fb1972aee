"""A compiled robot as a plain tree of links: what another engine builds its own model from.

Every robot file is read and checked in one place (RobotFile), for all engines. What another engine gets is the compiled
robot: names, joints, inertias and shapes are those that MuJoCo would simulate.
"""

from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from strapdown.engines.catalogue import needs_mujoco
from strapdown.engines.mujoco.mimic_joints import joint_title

Array = NDArray[np.float64]
_GEOM = mujoco.mjtGeom
_SHAPES = {
    _GEOM.mjGEOM_PLANE: "plane",
    _GEOM.mjGEOM_BOX: "box",
    _GEOM.mjGEOM_SPHERE: "sphere",
    _GEOM.mjGEOM_CYLINDER: "cylinder",
    _GEOM.mjGEOM_CAPSULE: "capsule",
    _GEOM.mjGEOM_MESH: "mesh",
}
_KINDS = {
    mujoco.mjtJoint.mjJNT_HINGE: "hinge",
    mujoco.mjtJoint.mjJNT_SLIDE: "slide",
    mujoco.mjtJoint.mjJNT_FREE: "free",
}


@dataclass(frozen=True)
class Shape:
    """A shape that touches others, in the frame of its link. size: half edges of a box; radius; radius and half the
    length of a cylinder or capsule. vertices and faces: of a mesh."""

    kind: str
    size: Array
    position: Array
    q: Array
    friction: float
    vertices: Array | None = None
    faces: NDArray[np.int32] | None = None


@dataclass(frozen=True)
class Joint:
    """kind: "hinge", "slide" or "free". axis and anchor: in the frame of the link that it carries. zero: the value at
    which the link is where its position and q say. low, high: limits, None where there are none."""

    name: str
    kind: str
    axis: Array
    anchor: Array
    zero: float
    low: float | None
    high: float | None
    place: int  # first of its numbers among the positions
    dof: int  # and among the speeds


@dataclass(frozen=True)
class Link:
    """A link: where it is on its parent (0: the world), its joint (None: fixed), mass and principal inertia."""

    name: str
    parent: int
    position: Array
    q: Array
    joint: Joint | None
    mass: float
    centre: Array
    q_inertia: Array
    inertia: Array
    shapes: tuple[Shape, ...]

    def inertia_about_centre(self) -> Array:
        """The 3 x 3 inertia (kg m2) about the centre of mass, axes of the link."""
        turn = rotation(self.q_inertia)
        return turn @ np.diag(self.inertia) @ turn.T


@dataclass(frozen=True)
class Tree:
    """links[0] is the world; parents come before their children."""

    links: tuple[Link, ...]
    gravity_n: Array
    positions: int
    speeds: int

    @property
    def joints(self) -> tuple[Joint, ...]:
        return tuple(link.joint for link in self.links if link.joint is not None)

    @property
    def floating(self) -> int | None:
        """Which link moves freely; None: the robot is fixed to the world."""
        found = [i for i, link in enumerate(self.links) if link.joint is not None and link.joint.kind == "free"]
        return found[0] if found else None


def rotation(q: Array) -> Array:
    """The matrix of a quaternion (w, x, y, z)."""
    flat = np.empty(9)
    mujoco.mju_quat2Mat(flat, np.asarray(q, dtype=np.float64))
    return flat.reshape(3, 3)


def tree_of(model: Any) -> Tree:
    """The tree of a compiled robot; raises InputError for parts that only MuJoCo simulates."""
    _refuse(model)
    links = tuple(_link(model, body) for body in range(model.nbody))
    roots = [link for link in links[1:] if link.parent == 0]
    for link in links:
        if link.joint is not None and link.joint.kind == "free" and (link.parent != 0 or len(roots) > 1):
            raise needs_mujoco(f'link "{link.name}" floats next to other links, which')
    return Tree(links, model.opt.gravity.copy(), model.nq, model.nv)


def _refuse(model: Any) -> None:
    if model.neq or model.ntendon or model.nflex:
        raise needs_mujoco("a robot with mimic joints, equalities, tendons or flexible parts")
    for j in range(model.njnt):
        if int(model.jnt_type[j]) not in [int(kind) for kind in _KINDS]:
            raise needs_mujoco(f"{joint_title(model, j)} is a ball joint, which")
        dofs = model.dof_jntid == j
        if model.dof_armature[dofs].any() or model.dof_frictionloss[dofs].any():
            raise needs_mujoco(f"{joint_title(model, j)} has armature or friction loss, which")
    for body in range(1, model.nbody):
        if model.body_jntnum[body] > 1:
            raise needs_mujoco(f'link "{model.body(body).name}" has several joints, which')


def _link(model: Any, body: int) -> Link:
    joint = _joint(model, int(model.body_jntadr[body])) if model.body_jntnum[body] else None
    first, count = int(model.body_geomadr[body]), int(model.body_geomnum[body])
    shapes = [_shape(model, g) for g in range(first, first + count) if _touches(model, g)]
    return Link(
        model.body(body).name,
        int(model.body_parentid[body]),
        model.body_pos[body].copy(),
        model.body_quat[body].copy(),
        joint,
        float(model.body_mass[body]),
        model.body_ipos[body].copy(),
        model.body_iquat[body].copy(),
        model.body_inertia[body].copy(),
        tuple(shapes),
    )


def _joint(model: Any, j: int) -> Joint:
    place, limited = int(model.jnt_qposadr[j]), bool(model.jnt_limited[j])
    low, high = model.jnt_range[j].tolist() if limited else (None, None)
    kind = _KINDS[mujoco.mjtJoint(int(model.jnt_type[j]))]
    zero = 0.0 if kind == "free" else float(model.qpos0[place])
    anchor, axis = model.jnt_pos[j].copy(), model.jnt_axis[j].copy()
    return Joint(model.joint(j).name, kind, axis, anchor, zero, low, high, place, int(model.jnt_dofadr[j]))


def _touches(model: Any, g: int) -> bool:
    return bool(model.geom_contype[g] or model.geom_conaffinity[g])


def _shape(model: Any, g: int) -> Shape:
    kind = _SHAPES.get(mujoco.mjtGeom(int(model.geom_type[g])))
    if kind is None:
        body = model.body(model.geom_bodyid[g]).name
        name = mujoco.mjtGeom(int(model.geom_type[g])).name.removeprefix("mjGEOM_").lower()
        raise needs_mujoco(f'link "{body}" touches others with a shape of kind {name}, which')
    vertices = faces = None
    if kind == "mesh":
        mesh = int(model.geom_dataid[g])
        v, n = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
        f, m = int(model.mesh_faceadr[mesh]), int(model.mesh_facenum[mesh])
        vertices = model.mesh_vert[v : v + n].astype(np.float64)
        faces = model.mesh_face[f : f + m].copy()
    return Shape(
        kind,
        model.geom_size[g].copy(),
        model.geom_pos[g].copy(),
        model.geom_quat[g].copy(),
        float(model.geom_friction[g, 0]),
        vertices,
        faces,
    )
