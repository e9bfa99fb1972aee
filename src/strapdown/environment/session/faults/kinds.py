"""All kinds of faults: of sensors, of motors, and of the world around the vehicle."""

from typing import Annotated, Literal

from pydantic import Field

from strapdown.environment.session.faults.sensor_faults import (
    Biased,
    Dead,
    Delayed,
    Losing,
    Noisy,
    Saturated,
    Share,
    Spikes,
    Stuck,
)
from strapdown.environment.session.faults.table import Fault
from strapdown.environment.table import Name, Number, Positive, Vector

THERMAL_S = 30.0  # time constant of a small board in still air


class WeakMotor(Fault):
    """A motor that gives a share of its thrust or torque."""

    kind: Literal["weak_motor"] = "weak_motor"
    motor: Name
    efficiency: Share


class Magnet(Fault):
    """A magnet near by: its moment, and its place in the world or on the vehicle."""

    kind: Literal["magnet"] = "magnet"
    moment_am2: Vector
    position_m: Vector
    on_vehicle: bool = False


class TemperatureStep(Fault):
    """The air becomes warmer or colder; the parts follow with their time constant."""

    kind: Literal["temperature_step"] = "temperature_step"
    step_c: Number
    time_constant_s: Positive = THERMAL_S


class GustFault(Fault):
    """A gust of the form 1 - cos: the velocity at its peak, frame n, and its length."""

    kind: Literal["gust"] = "gust"
    velocity_m_s: Vector
    for_s: Positive = 3.0


class Outage(Fault):
    """No fixes of position or velocity arrive."""

    kind: Literal["outage"] = "outage"
    sensor: Name


AnyFault = Annotated[
    Dead
    | Stuck
    | Biased
    | Noisy
    | Spikes
    | Saturated
    | Delayed
    | Losing
    | WeakMotor
    | Magnet
    | TemperatureStep
    | GustFault
    | Outage,
    Field(discriminator="kind"),
]
