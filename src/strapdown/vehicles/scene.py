"""Scene of a vehicle for a page: links, and their shapes as plain lists."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from strapdown.engines.mujoco.robot_file import RobotFile, compiled

_TYPES = {
    mujoco.mjtGeom.mjGEOM_PLANE: "plane",
    mujoco.mjtGeom.mjGEOM_HFIELD: "heights",
    mujoco.mjtGeom.mjGEOM_SPHERE: "sphere",
    mujoco.mjtGeom.mjGEOM_CAPSULE: "capsule",
    mujoco.mjtGeom.mjGEOM_ELLIPSOID: "ellipsoid",
    mujoco.mjtGeom.mjGEOM_CYLINDER: "cylinder",
    mujoco.mjtGeom.mjGEOM_BOX: "box",
    mujoco.mjtGeom.mjGEOM_MESH: "mesh",
}


@dataclass(frozen=True)
class Turning:
    """Turning blades: hub and axis in the frame of the body; phases count counter-clockwise about the axis."""

    actuator: int
    hub: tuple[float, float, float]
    axis: tuple[float, float, float]


def scene_of(robot: RobotFile, turning: Mapping[str, Turning] | None = None) -> dict[str, Any]:
    """The bodies and shapes of a vehicle, for drawing.

    bodies: name, parent (its number in the list, None for the world) and geoms; the first body is the world.

    A geom has type, size (MuJoCo's: half lengths, radius first) and rgba. pos (m) and quat (w, x, y, z) are in the
    frame of its body. A mesh has vertices (m) and faces besides, a height field its heights (m), rows along y.

    turning: rotors by name. Shapes called "blade_NAME..." turn with them. `turns` holds the number of the actuator, the
    hub (m), and the axis, about which the shape is turned by the phase of the actuator.
    """
    model = compiled(robot.path, robot.load()[0])
    bodies: list[dict[str, Any]] = []
    for i in range(model.nbody):
        shapes = np.flatnonzero(model.geom_bodyid == i).tolist()
        bodies.append(
            {
                "name": model.body(i).name,
                "parent": None if i == 0 else int(model.body_parentid[i]),
                "geoms": [_shape(model, g) for g in shapes if _colour(model, g)[3] > 0.0],
            }
        )
    for name, turns in (turning or {}).items():
        for body in bodies:
            for geom in body["geoms"]:
                if geom["name"].startswith(f"blade_{name}"):
                    geom["turns"] = {"actuator": turns.actuator, "hub": list(turns.hub), "axis": list(turns.axis)}
    return {"bodies": bodies}


def _colour(model: Any, geom: int) -> list[float]:
    material = model.geom_matid[geom]
    plain = np.array_equal(model.geom_rgba[geom], np.array([0.5, 0.5, 0.5, 1.0], np.float32))  # the engine's default
    rgba = model.mat_rgba[material] if material >= 0 and plain else model.geom_rgba[geom]
    return [round(float(x), 6) for x in rgba]


def _shape(model: Any, geom: int) -> dict[str, Any]:
    kind = _TYPES.get(mujoco.mjtGeom(int(model.geom_type[geom])), "other")
    shape: dict[str, Any] = {
        "name": model.geom(geom).name,
        "type": kind,
        "size": model.geom_size[geom].tolist(),
        "rgba": _colour(model, geom),
        "pos": model.geom_pos[geom].tolist(),
        "quat": model.geom_quat[geom].tolist(),
    }
    data = int(model.geom_dataid[geom])
    if kind == "mesh":
        first, count = int(model.mesh_vertadr[data]), int(model.mesh_vertnum[data])
        shape["vertices"] = model.mesh_vert[first : first + count].tolist()
        first, count = int(model.mesh_faceadr[data]), int(model.mesh_facenum[data])
        shape["faces"] = model.mesh_face[first : first + count].tolist()
    elif kind == "heights":
        rows, columns, first = (int(x[data]) for x in (model.hfield_nrow, model.hfield_ncol, model.hfield_adr))
        heights = model.hfield_data[first : first + rows * columns].reshape(rows, columns)
        shape["size"] = model.hfield_size[data].tolist()
        shape["heights"] = (heights * model.hfield_size[data][2]).tolist()
    return shape
