"""Vehicles: a model, what its actuators do, and the plant that simulates it.

vehicle = read_vehicle("quadcopter")
plant = vehicle.plant(gravity=9.81)
plant.actuate(np.full(4, 453.2))
plant.advance_to(1.0)
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from strapdown.engines.mujoco.build import known
from strapdown.engines.mujoco.force_law import ForceLaw
from strapdown.engines.mujoco.plant import MujocoPlant
from strapdown.engines.mujoco.robot_file import RobotFile, compiled
from strapdown.engines.parts import Physics
from strapdown.engines.robot_limits import listed, shown
from strapdown.errors import InputError
from strapdown.rotation import matrix
from strapdown.vehicles.actuation import Actuator, Rotor, Triple, rotor_actuators
from strapdown.vehicles.plant import VehiclePlant
from strapdown.vehicles.rotor_law import RotorLaw
from strapdown.vehicles.vehicle_file import CoaxialTable, RotorTable, VehicleFile, WheelTable, read_vehicle_file

_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Vehicle:
    """A vehicle of the package or a user's own.

    kind: "rotors", "coaxial", "wheels" or "joints". body: the link that carries the sensors by default.
    mass_kg, centre_m (frame of the body), inertia_kg_m2 (about the centre of mass, diagonal in the frame of the body):
    of all that the body carries. density_kg_m3: of the air it is made for. diagram: its default diagram, None if it has
    none.
    """

    name: str
    title: str
    kind: str
    body: str
    actuators: tuple[Actuator, ...]
    mass_kg: float
    centre_m: Triple
    inertia_kg_m2: Triple
    density_kg_m3: float
    robot: RobotFile
    parasitic_drag_n_s2_m2: Triple = (0.0, 0.0, 0.0)
    rotors: tuple[Rotor, ...] = ()
    coaxial: CoaxialTable | None = None
    wheels: tuple[WheelTable, ...] = ()
    track_m: float | None = None
    diagram: Path | None = None

    def plant(self, *, gravity: float, step_s: float = 1e-3, density_kg_m3: float | None = None) -> VehiclePlant:
        """The vehicle in MuJoCo, at the start. density_kg_m3: of the air; None: that which the vehicle is made for."""
        density = self.density_kg_m3 if density_kg_m3 is None else density_kg_m3
        law: ForceLaw = RotorLaw(self.body, self.rotors, self.parasitic_drag_n_s2_m2, self.density_kg_m3, density)
        robot = replace(self.robot, visuals=False)
        return VehiclePlant(self, MujocoPlant(robot, Physics(gravity, step_s, "euler"), law=law), law)


def vehicle_names() -> list[str]:
    """The vehicles that come with the package."""
    return sorted(path.parent.name for path in _FOLDER.glob("*/vehicle.toml"))


def read_vehicle(name_or_path: str | Path) -> Vehicle:
    """A vehicle of the package by its name, or a user's own by the path of its vehicle.toml, URDF or MJCF."""
    text = str(name_or_path)
    path = Path(name_or_path)
    if re.fullmatch(r"\w+", text) and not path.is_file():
        names = vehicle_names()
        if text not in names:
            raise InputError(
                f'vehicle "{shown(text)}" does not come with the package; valid names: {listed(names)}, or the path '
                "of a vehicle.toml, URDF or MJCF file"
            )
        path = _FOLDER / text / "vehicle.toml"
    return _from_file(path)


def _from_file(path: Path) -> Vehicle:
    file = read_vehicle_file(path)
    model_file = path.parent / file.model
    robot = RobotFile(model_file, floating=model_file.suffix.lower() == ".urdf", floor=file.floor)
    spec, links = robot.load()
    known(file.body, links, "body", str(path))
    model = compiled(model_file, spec)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    mass, centre, inertia = whole_body(model, data, file.body)
    if file.kind != "joints":
        _check_floating(model, file.body, path)
    rotors = tuple(_rotor(table, file, (model, data), links, path) for table in file.rotors)
    diagram = path.parent / "diagram.toml"
    return Vehicle(
        file.name,
        file.title,
        file.kind,
        file.body,
        rotor_actuators(rotors),
        mass,
        centre,
        inertia,
        file.density_kg_m3,
        robot,
        file.parasitic_drag_n_s2_m2,
        rotors,
        diagram=diagram if diagram.is_file() else None,
    )


def _check_floating(model: Any, body: str, path: Path) -> None:
    joint = int(model.body(body).jntadr[0])
    if joint < 0 or model.jnt_type[joint] != mujoco.mjtJoint.mjJNT_FREE:
        raise InputError(f'{path}: body "{shown(body)}" is not free to move; give it a <freejoint/> in the model')


def _rotor(table: RotorTable, file: VehicleFile, built: tuple[Any, Any], links: Sequence[str], path: Path) -> Rotor:
    """The rotor in the frame of the body."""
    model, data = built
    link = table.link or file.body
    known(link, links, f'link of rotor "{table.name}",', str(path))
    body, at = model.body(file.body).id, model.body(link).id
    while at not in (0, body):
        if model.body_jntnum[at]:
            raise InputError(
                f'{path}: rotor "{table.name}" is on link "{shown(link)}", which a joint moves against body '
                f'"{shown(file.body)}"; remove the joint: the turning of the rotor is part of the rotor itself'
            )
        at = model.body_parentid[at]
    if at != body:
        raise InputError(
            f'{path}: rotor "{table.name}" is on link "{shown(link)}", which is no part of body "{shown(file.body)}"'
        )
    r_nb, r_nl = matrix(data.body(file.body).xquat), matrix(data.body(link).xquat)
    hub = r_nb.T @ (data.body(link).xpos + r_nl @ table.position_m - data.body(file.body).xpos)
    axis = r_nb.T @ r_nl @ table.axis
    spin = 1 if table.spin == "counter-clockwise" else -1
    return Rotor(table.name, tuple(hub.tolist()), tuple(axis.tolist()), spin, table)


def whole_body(model: Any, data: Any, body: str) -> tuple[float, Triple, Triple]:
    """Mass, centre of mass in the frame of the body, and diagonal of the inertia about it, of all that it carries."""
    root = model.body(body).id
    inside = [i for i in range(1, model.nbody) if _carried(model, i, root)]
    masses = model.body_mass[inside]
    mass = float(masses.sum())
    if mass <= 0.0:
        return 0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    centre = masses @ data.xipos[inside] / mass
    inertia = np.zeros((3, 3))
    for i in inside:
        axes, arm = data.ximat[i].reshape(3, 3), data.xipos[i] - centre
        inertia += axes @ np.diag(model.body_inertia[i]) @ axes.T
        inertia += model.body_mass[i] * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    r_nb = matrix(data.xquat[root])
    at = r_nb.T @ (centre - data.xpos[root])
    return mass, tuple(at.tolist()), tuple(np.diag(r_nb.T @ inertia @ r_nb).tolist())


def _carried(model: Any, body: int, root: int) -> bool:
    while body not in (0, root):
        body = model.body_parentid[body]
    return body == root
