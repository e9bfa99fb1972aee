"""Hover by closed formulas: command and power of each actuator."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from strapdown.errors import InputError
from strapdown.vehicles.coaxial_law import RPM

if TYPE_CHECKING:
    from strapdown.vehicles.vehicle import Vehicle


@dataclass(frozen=True)
class Hover:
    """Commands and state in hover.

    command: command of each rotor (rad/s) or of both collectives (rad).
    induced_m_s: speed of the wake.
    power_w: power at the shafts; None where the vehicle file does not state it.
    """

    command: float
    induced_m_s: float
    power_w: float | None


def hover_of(vehicle: "Vehicle", gravity: float, density_kg_m3: float | None = None) -> Hover:
    """Hover far from the ground. Rotors are taken as parallel to the body's z axis and equal."""
    density = vehicle.density_kg_m3 if density_kg_m3 is None else density_kg_m3
    weight = vehicle.mass_kg * gravity
    if not (weight > 0.0 and density > 0.0):
        raise InputError(f"hover needs gravity and air; gravity is {gravity} m/s2, density {density} kg/m3")
    if vehicle.coaxial is not None:
        return _coaxial(vehicle, weight, density)
    if not vehicle.rotors:
        raise InputError(f"{vehicle.name} has no rotors; it cannot hover")
    thrust = sum(rotor.thrust_n_s2 for rotor in vehicle.rotors) * density / vehicle.density_kg_m3
    area = sum(math.pi * rotor.table.radius_m**2 for rotor in vehicle.rotors)
    return Hover(math.sqrt(weight / thrust), math.sqrt(weight / (2.0 * density * area)), None)


def _coaxial(vehicle: "Vehicle", weight: float, density: float) -> Hover:
    table = vehicle.coaxial
    assert table is not None
    tip, area = table.speed_rpm * RPM * table.radius_m, math.pi * table.radius_m**2
    wake = math.sqrt(weight / (2.0 * density * area))
    k = 0.5 * density * area * tip**2 * table.solidity * table.lift_slope
    profile = 2.0 * density * area * tip**3 * table.solidity * table.profile_drag / 8.0
    return Hover(3.0 * (0.5 * weight / k + 0.5 * wake / tip), wake, table.induced_factor * weight * wake + profile)
