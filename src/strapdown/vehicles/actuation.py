"""Actuators of a vehicle, and the parts they drive."""

from dataclasses import dataclass

import numpy as np

from strapdown.vehicles.vehicle_file import CoaxialTable, RotorTable, WheelTable

Triple = tuple[float, float, float]
DEG = np.pi / 180.0


@dataclass(frozen=True)
class Actuator:
    """One number that a controller commands, with its unit and limits; values beyond are limited."""

    name: str
    unit: str
    low: float
    high: float


@dataclass(frozen=True)
class Rotor:
    """A fixed-pitch rotor; hub (m) and axis of thrust in the frame of the body.

    spin: +1 is counter-clockwise seen from the tip of the axis, -1 clockwise.

    The remaining numbers are those of its table, in SI.
    """

    name: str
    position_m: Triple
    axis: Triple
    spin: int
    table: RotorTable

    @property
    def thrust_n_s2(self) -> float:
        return self.table.thrust_n_s2

    @property
    def moment_m(self) -> float:
        return self.table.moment_m

    @property
    def fastest_rad_s(self) -> float:
        return self.table.fastest_rad_s

    def row(self) -> list[float]:
        """The numbers in the order of the kernel's columns."""
        t = self.table
        lags = [t.lag_up_s, t.lag_down_s, t.fastest_rad_s]
        return [
            *self.position_m,
            *self.axis,
            float(self.spin),
            *(t.thrust_n_s2, t.moment_m),
            *lags,
            *(t.drag_n_s2_m, t.rolling_n_s2, t.inertia_kg_m2, t.radius_m),
        ]


@dataclass(frozen=True)
class Servo:
    """A position servo on a joint.

    most: its greatest torque (N m) or force (N), None: that of the model.
    """

    actuator: Actuator
    joint: str
    time_constant_s: float
    most: float | None


def rotor_actuators(rotors: tuple[Rotor, ...]) -> tuple[Actuator, ...]:
    return tuple(Actuator(rotor.name, "rad/s", 0.0, rotor.fastest_rad_s) for rotor in rotors)


def coaxial_actuators(table: CoaxialTable) -> tuple[Actuator, ...]:
    low, high = (angle * DEG for angle in table.collective_deg)
    cyclic = table.cyclic_deg * DEG
    return (
        *(Actuator(name, "rad", low, high) for name in ("upper", "lower")),
        *(Actuator(name, "rad", -cyclic, cyclic) for name in ("roll", "pitch")),
    )


def wheel_actuators(wheels: tuple[WheelTable, ...]) -> tuple[Actuator, ...]:
    return tuple(Actuator(wheel.name, "rad/s", -wheel.fastest_rad_s, wheel.fastest_rad_s) for wheel in wheels)
