"""Vehicles: a model, its actuators, and the plant that simulates it.

vehicle = read_vehicle("quadcopter")
plant = vehicle.plant(gravity=9.81)
plant.actuate(np.full(4, 453.2))
plant.advance_to(1.0)
"""

import re
from dataclasses import dataclass, replace
from pathlib import Path

import mujoco
import numpy as np

from strapdown.engines.catalogue import MUJOCO, needs_mujoco
from strapdown.engines.foreign.plant import live_plant
from strapdown.engines.mujoco.build import known
from strapdown.engines.mujoco.integrators import reports_applied_acceleration
from strapdown.engines.mujoco.robot_file import RobotFile, compiled
from strapdown.engines.parts import Motor, Physics
from strapdown.engines.robot_limits import listed, shown
from strapdown.errors import InputError
from strapdown.vehicles.actuation import (
    Actuator,
    Rotor,
    Servo,
    Triple,
    coaxial_actuators,
    rotor_actuators,
    wheel_actuators,
)
from strapdown.vehicles.coaxial_law import CoaxialLaw
from strapdown.vehicles.joint_law import JointLaw
from strapdown.vehicles.model_check import (
    Model,
    check_floating,
    check_wheel,
    every_servo,
    placed_rotor,
    servo_of,
    whole_body,
)
from strapdown.vehicles.plant import VehicleLaw, VehiclePlant
from strapdown.vehicles.rotor_law import RotorLaw
from strapdown.vehicles.scene import Turning
from strapdown.vehicles.vehicle_file import CoaxialTable, VehicleFile, WheelTable, read_vehicle_file
from strapdown.vehicles.wheel_law import WheelLaw

_FOLDER = Path(__file__).parent
# a model file places wheels and legs so that they touch the ground; under the weight they sink in by less than this
_SETTLING_S, _SINKING_M = 0.5, 0.005


@dataclass(frozen=True)
class Vehicle:
    """A vehicle of the package or a user's own.

    kind: "rotors", "coaxial", "wheels" or "joints".
    body: the link that carries the sensors by default.
    mass_kg, centre_m (frame of the body), inertia_kg_m2 (about the centre of mass, diagonal in the frame of the body):
        of all that the body carries.
    density_kg_m3: density of the air for which it is made.
    diagram: its default diagram, None if it has none.
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
    integrator: str
    parasitic_drag_n_s2_m2: Triple = (0.0, 0.0, 0.0)
    rotors: tuple[Rotor, ...] = ()
    coaxial: CoaxialTable | None = None
    wheels: tuple[WheelTable, ...] = ()
    servos: tuple[Servo, ...] = ()
    track_m: float | None = None
    friction: float | None = None
    diagram: Path | None = None

    def plant(
        self,
        *,
        gravity: float,
        step_s: float = 1e-3,
        density_kg_m3: float | None = None,
        friction: float | None = None,
        engine: str = MUJOCO,
    ) -> VehiclePlant:
        """The vehicle at the start.

        density_kg_m3: density of the air.
        friction: friction of tyres on the ground. None: those of the vehicle file.
        engine: other ones than MuJoCo simulate links and joints, and no rotors or wheels.
        """
        if engine != MUJOCO and self.kind != "joints":
            raise needs_mujoco(
                f'vehicle "{self.name}" has rotors or wheels, as quadcopter, helicopter and rover do, and'
            )
        if friction is not None and not (self.wheels and 0.0 < friction < np.inf):
            raise InputError(f"friction is {friction} for {self.name}; give a number above 0, to a vehicle with wheels")
        robot, physics = replace(self.robot, visuals=False), Physics(gravity, step_s, self.integrator)
        law = self._law(self.density_kg_m3 if density_kg_m3 is None else density_kg_m3, friction or self.friction)
        motors = [
            Motor(servo.actuator.name, servo.joint, "position", servo.most, servo.time_constant_s)
            for servo in self.servos
        ]
        plant = live_plant(robot, engine, physics, motors, law=law)
        if not self.servos:
            plant.settle(_SETTLING_S, _SINKING_M)
        return VehiclePlant(self, plant, law)

    def turning(self) -> dict[str, Turning]:
        """Rotors for a page, by name."""
        if self.coaxial is not None:
            middle, half = self.coaxial.hub_height_m, 0.5 * self.coaxial.separation_m
            return {
                "upper": Turning(0, (0.0, 0.0, middle + half), (0.0, 0.0, 1.0)),
                "lower": Turning(1, (0.0, 0.0, middle - half), (0.0, 0.0, -1.0)),
            }
        signed = [(rotor, float(rotor.spin)) for rotor in self.rotors]
        return {
            rotor.name: Turning(i, rotor.position_m, (sign * rotor.axis[0], sign * rotor.axis[1], sign * rotor.axis[2]))
            for i, (rotor, sign) in enumerate(signed)
        }

    def _law(self, density: float, friction: float | None) -> VehicleLaw:
        if self.coaxial is not None:
            return CoaxialLaw(self.body, self.coaxial, density)
        if self.rotors:
            return RotorLaw(self.body, self.rotors, self.parasitic_drag_n_s2_m2, self.density_kg_m3, density)
        if friction is not None:
            return WheelLaw(self.wheels, friction, density)
        return JointLaw(self.servos, density)


def vehicle_names() -> list[str]:
    """The vehicles that come with the package."""
    return sorted(path.parent.name for path in _FOLDER.glob("*/vehicle.toml"))


def read_vehicle(name_or_path: str | Path) -> Vehicle:
    """A vehicle of the package by its name, or a user's own by the path of its vehicle.toml, URDF or MJCF.

    A model without a parameter file is a manipulator: a position servo on each joint.
    """
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
    return _from_model(path) if path.suffix.lower() in (".urdf", ".xml", ".mjcf") else _from_file(path)


def _from_file(path: Path) -> Vehicle:
    file = read_vehicle_file(path)
    model_file = path.parent / file.model
    moves = file.kind != "joints"
    robot = RobotFile(
        model_file,
        floating=moves and model_file.suffix.lower() == ".urdf",
        floor=file.floor,
        position_m=file.position_m,
    )
    model = _model(robot, path)
    known(file.body, model.links, "body", str(path))
    if moves:
        check_floating(model, file.body)
    rotors = tuple(placed_rotor(model, table, file.body) for table in file.rotors)
    for wheel in file.wheels:
        check_wheel(model, wheel, file.body)
    servos = tuple(servo_of(model, table) for table in file.joints)
    return _vehicle(file, model, robot, rotors, servos)


def _from_model(path: Path) -> Vehicle:
    robot = RobotFile(path)
    model = _model(robot, path)
    servos = every_servo(model)
    name = path.stem
    file = VehicleFile.model_construct(version=1, name=name, title=name, model=path.name, body=model.links[-1])
    return _vehicle(file, model, robot, (), servos)


def _model(robot: RobotFile, path: Path) -> Model:
    spec, links = robot.load()
    model = compiled(robot.path, spec)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return Model(model, data, links, str(path))


def _vehicle(
    file: VehicleFile, model: Model, robot: RobotFile, rotors: tuple[Rotor, ...], servos: tuple[Servo, ...]
) -> Vehicle:
    actuators = (
        *rotor_actuators(rotors),
        *(coaxial_actuators(file.coaxial) if file.coaxial else ()),
        *wheel_actuators(file.wheels),
        *(servo.actuator for servo in servos),
    )
    mass, centre, inertia = whole_body(model, file.body)
    undamped = not servos and reports_applied_acceleration(model.engine, "implicitfast")
    diagram = robot.path.parent / "diagram.toml"
    return Vehicle(
        file.name,
        file.title,
        file.kind,
        file.body,
        actuators,
        mass,
        centre,
        inertia,
        file.density_kg_m3,
        robot,
        "euler" if undamped else "implicitfast",  # without damping they are the same, and euler is faster
        file.parasitic_drag_n_s2_m2,
        rotors,
        file.coaxial,
        file.wheels,
        servos,
        file.track_m,
        file.friction,
        diagram if diagram.is_file() else None,
    )
