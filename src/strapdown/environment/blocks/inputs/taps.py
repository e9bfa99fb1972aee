"""Readings of the vehicle's sensors. The session writes them, in frame b by the nominal mounting of each sensor.

A tap (the block of a sensor) runs at the rate of its sensor: the session sets it where the diagram has none. `new` is
on in the ticks that bring a reading. `ok` is on while the sensor is enabled and its last reading is not older than the
timeout. A sensor that is not enabled gives 0.
"""

import math
from typing import Any

import numpy as np

from strapdown.environment.blocks.general.logic import ON
from strapdown.environment.diagram.block import BlockParameters, block, parameter
from strapdown.environment.diagram.port import FLAG, Port, Value

_FLAG = Port(FLAG, None, ())


def _timeout(default: float) -> Any:
    return parameter(
        default,
        title="Timeout",
        description="Without a new reading for this time, ok is off.",
        unit="s",
        limits=(0.0, 3600.0),
    )


class _OfSensor(BlockParameters):
    sensor: str = parameter(
        "",
        title="Sensor",
        description="Name of the sensor in the scenario. Empty: the first of this kind.",
        max_length=60,
    )
    timeout_s: float = _timeout(0.1)


class _OfSlowSensor(_OfSensor):
    timeout_s: float = _timeout(2.0)


class Tap:
    """Base of the readings. The state of a tap is the time since the last reading."""

    rate_hz: float | None = None
    out: Port
    Parameters: type[_OfSensor] = _OfSensor

    def __init__(self, p: _OfSensor) -> None:
        self.p = p
        self.inputs = {"enable": Port(FLAG, None, (), default=1.0)}
        self._zero = np.zeros(self.out.shape) if self.out.shape else 0.0
        self.outputs = {"out": self.out, "new": _FLAG, "ok": _FLAG}
        self.feeds: dict[str, Any] = {"value": self._zero, "new": 0.0}
        self._off = math.inf, (self._zero, 0.0, 0.0)

    def start(self) -> float:
        return math.inf

    def step(self, state: float, enable: float, value: Value, new: float, dt: float) -> tuple[float, tuple[Value, ...]]:
        if not enable > ON:
            return self._off
        if new > ON:
            return 0.0, (value, 1.0, 1.0)
        state += dt
        return state, (value, 0.0, 1.0 if state <= self.p.timeout_s else 0.0)


@block("accelerometer", category="sensor")
class Accelerometer(Tap):
    """Specific force."""

    out = Port("m/s2", "b", (3,))


@block("gyroscope", category="sensor")
class Gyroscope(Tap):
    """Angular rate."""

    out = Port("rad/s", "b", (3,))


@block("magnetometer", category="sensor")
class Magnetometer(Tap):
    """Magnetic field."""

    out = Port("uT", "b", (3,))


@block("inclinometer", category="sensor")
class Inclinometer(Tap):
    """How far body x and body y point above the horizon; right at rest only."""

    out = Port("rad", "b", (2,))
    Parameters = _OfSlowSensor


@block("altimeter", category="sensor")
class Altimeter(Tap):
    """Distance to the ground, measured along the body's z axis downward."""

    out = Port("m", None, ())
    Parameters = _OfSlowSensor


@block("barometer", category="sensor")
class Barometer(Tap):
    """Air pressure."""

    out = Port("Pa", None, ())
    Parameters = _OfSlowSensor


@block("thermometer", category="sensor")
class Thermometer(Tap):
    """Temperature of a sensor."""

    out = Port("degC", None, ())
    Parameters = _OfSlowSensor


@block("odometer", category="sensor")
class Odometer(Tap):
    """Travel since the start, from the wheel encoders."""

    out = Port("m", None, ())
    Parameters = _OfSlowSensor


class _FixTap(Tap):
    """An external measurement, with its standard deviation and its own instant."""

    Parameters = _OfSlowSensor

    def __init__(self, p: _OfSensor) -> None:
        super().__init__(p)
        self.outputs = {"out": self.out, "sigma": self.out, "t": Port("s", None, ()), "new": _FLAG, "ok": _FLAG}
        self.feeds = {"value": self._zero, "new": 0.0, "sigma": self._zero, "at": 0.0}
        self._fix_off = math.inf, (self._zero, self._zero, 0.0, 0.0, 0.0)

    def step(  # type: ignore[override]
        self, state: float, enable: float, value: Value, new: float, sigma: Value, at: float, dt: float
    ) -> tuple[float, tuple[Value, ...]]:
        if not enable > ON:
            return self._fix_off
        if new > ON:
            return 0.0, (value, sigma, at, 1.0, 1.0)
        state += dt
        return state, (value, sigma, at, 0.0, 1.0 if state <= self.p.timeout_s else 0.0)


@block("position_fix", category="sensor")
class PositionFix(_FixTap):
    """External measurement of position, as by a satellite receiver."""

    out = Port("m", "n", (3,))


@block("velocity_fix", category="sensor")
class VelocityFix(_FixTap):
    """External measurement of velocity, as by a satellite receiver or camera odometry."""

    out = Port("m/s", "n", (3,))
