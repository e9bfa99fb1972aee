"""Vehicles for tests: put into a state of motion, and asked for the forces on them."""

from dataclasses import replace

import numpy as np

from strapdown.engines.parts import Mount
from strapdown.live import PLANT_COLUMNS, PLANT_ROW
from strapdown.rotation import q_exp
from strapdown.vehicles.vehicle import Vehicle, VehiclePlant, read_vehicle

G, MARS = 9.81, 3.72
HIGH = 1e4  # m: the ground effect of a rotor of 0.6 m is 1e-10 there
SHIPPED = {"quadcopter": G, "mars_helicopter": MARS, "rover": G, "manipulator": G}


def vehicle(name, **changes):
    """A vehicle of the package, some numbers of its rotors or of its rotor pair changed."""
    found = read_vehicle(name)
    if not changes:
        return found
    if found.coaxial is not None:
        return replace(found, coaxial=found.coaxial.model_copy(update=changes))
    rotors = tuple(replace(rotor, table=rotor.table.model_copy(update=changes)) for rotor in found.rotors)
    return replace(found, rotors=rotors)


def put(plant: VehiclePlant, p_n=(0.0, 0.0, HIGH), turn=(0.0, 0.0, 0.0), v_n=(0.0, 0.0, 0.0), w_b=(0.0, 0.0, 0.0)):
    """Into the state of motion: position, rotation vector, velocity, rate."""
    data = plant._plant.data
    data.qpos[:3], data.qpos[3:7] = p_n, q_exp(np.array(turn))
    data.qvel[:3], data.qvel[3:6] = v_n, w_b
    plant._plant._arrived()
    return plant


def turning(plant: VehiclePlant, achieved):
    """Actuators that have reached their command."""
    law, n = plant._law, len(plant.achieved)
    law.memory[4 : 4 + n] = achieved
    law.memory[4 + 2 * n : 4 + 3 * n] = achieved
    plant._plant._arrived()
    return plant


def forces(plant: VehiclePlant, size_s=1e-3):
    """Force (N, frame n) and torque (N m, frame b) of the law over the coming step."""
    plant._law.apply(size_s)
    force = plant._plant.data.qfrc_applied[:6].copy()
    return force[:3], force[3:]


def reading(plant, link="frame", r_bs_b=(0.0, 0.0, 0.0)):
    """What perfect instruments on the body read, by name of the column."""
    out = np.empty((1, PLANT_ROW))
    plant.read((Mount("imu", link, r_bs_b),), out)
    return {name: out[0, columns] for name, columns in PLANT_COLUMNS.items()}


def hovering(found: Vehicle, gravity, speeds, **state):
    return turning(put(found.plant(gravity=gravity), **state), speeds)
