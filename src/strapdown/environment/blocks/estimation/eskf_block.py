"""The error-state filter as a block: attitude, velocity and position, aided by fixes, height, stops and wheels."""

import math
from dataclasses import fields, replace
from typing import Any, NamedTuple

import numpy as np
from pydantic import create_model, model_validator

from strapdown.arrays import Array
from strapdown.environment.blocks.common import FAR
from strapdown.environment.blocks.estimation.filter_settings import ESKF, ESKF_SWITCHES
from strapdown.environment.blocks.estimation.orientation_filters import known_attitude, optional
from strapdown.environment.blocks.general.logic import ON
from strapdown.environment.blocks.inputs.console import time_input
from strapdown.environment.diagram.block import BlockParameters, block, parameter
from strapdown.environment.diagram.port import FLAG, QUATERNION, Port, Value
from strapdown.errors import InputError
from strapdown.kernels.navigation.eskf import layout as at
from strapdown.live import Alignment, Start, State
from strapdown.navigation.carriers.wheeled_robot import SLIP, WheeledRobot
from strapdown.navigation.eskf.filter import Eskf
from strapdown.navigation.eskf.updates import MagneticHeading, WheelTravel, ZeroRate, ZeroVelocity
from strapdown.rotation import IDENTITY
from strapdown.sample import Fix, Height, Sample

_DEG = math.pi / 180.0
_M, _V, _FLAG0 = ("m", "n", (3,)), ("m/s", "n", (3,)), (FLAG, None, ())
_TILT_SIGMA = 1.0 * _DEG  # of a given attitude without one
_ZERO = np.zeros(3)


def eskf_of(p: Any) -> Eskf:
    """The filter with these parameters; ValueError if they do not fit each other."""
    own = {name: getattr(p, name) for name in ESKF if name in _FIELDS}
    heading = MagneticHeading(p.heading_sigma_deg * _DEG, declination_rad=p.declination_deg * _DEG)
    try:
        return Eskf(
            **own,
            gravity=p.gravity_m_s2,
            zero_velocity=ZeroVelocity() if p.zero_velocity else None,
            zero_rate=ZeroRate() if p.zero_rate else None,
            magnetic_heading=heading if p.magnetic_heading else None,
            **(WHEELS if p.wheels else {}),
        )
    except InputError as error:
        raise ValueError(str(error)) from None


WHEELS = {**WheeledRobot().constraints(), "wheel_travel": WheelTravel(slip=SLIP)}
_FIELDS = {each.name: each.default for each in fields(Eskf)}


def _parameters() -> type[BlockParameters]:
    made: dict[str, Any] = {}
    for name, (setting, default) in ESKF.items():
        title, unit, low, high, description = setting
        given = _FIELDS.get(name) if default is None else default
        field = parameter(given, title=title, description=description, unit=unit, limits=(low, high))
        made[name] = (float, field)
    for name, (title, description, on) in ESKF_SWITCHES.items():
        made[name] = (bool, parameter(on, title=title, description=description))

    def fits(self: Any) -> Any:
        eskf_of(self)
        return self

    checks: dict[str, Any] = {"fits": model_validator(mode="after")(fits)}
    return create_model("Parameters", __base__=BlockParameters, __validators__=checks, **made)


class Seen(NamedTuple):
    """Data that has arrived since the last sample of the gyroscope.

    travel_m: travel of the odometer.
    """

    field: Array | None = None
    position: Fix | None = None
    velocity: Fix | None = None
    height: Height | None = None
    travel_m: float = 0.0


_NOTHING = Seen()


class Navigating(NamedTuple):
    """State of the block.

    state: state of the filter, None before it has started.
    t: time of the last tick.
    since_s: time from the last sample to the last tick.
    odometer_m: its last reading, None before the first.
    """

    state: State | None
    t: float
    since_s: float
    seen: Seen
    odometer_m: float | None = None


@block("eskf", category="estimation")
class EskfBlock:
    """Error-state Kalman filter: attitude, velocity and position, aided by velocity, position, height, stops, wheels.

    Starts at rest at the origin, with the start attitude if it is connected. Without one, it aligns itself on the first
    second and takes the heading as north. The start height is the measured one, else the parameter's. `hold` stops it,
    and it starts again when released. Fixes carry their own instant, in the time of the simulation: connect `t` to a
    time block.
    """

    Parameters = _parameters()
    rate_hz: float | None = None

    def __init__(self, p: Any) -> None:
        self.p, self.filter = p, eskf_of(p)
        self.without_odometer = replace(self.filter, wheel_travel=None)
        self.inputs = {
            "gyroscope": Port("rad/s", "b", (3,)),
            "accelerometer": Port("m/s2", "b", (3,)),
            "new": optional(*_FLAG0, 1.0),
            "magnetometer": optional("uT", "b", (3,)),
            "magnetometer_new": optional(*_FLAG0),
            "hold": optional(*_FLAG0),
            "start": optional(QUATERNION, "nb", (4,)),
            "bias_sigma": optional("rad/s", None, ()),
            "tilt_sigma": optional("rad", None, ()),
            "heading_sigma": optional("rad", None, ()),
            "velocity": optional(*_V),
            "velocity_sigma": optional(*_V),
            "velocity_t": optional("s", None, ()),
            "velocity_new": optional(*_FLAG0),
            "position": optional(*_M),
            "position_sigma": optional(*_M),
            "position_t": optional("s", None, ()),
            "position_new": optional(*_FLAG0),
            "height": optional("m", None, ()),
            "height_new": optional(*_FLAG0),
            "stop": optional(*_FLAG0),
            "odometer": optional("m", None, ()),
            "odometer_new": optional(*_FLAG0),
            "t": time_input(),
        }
        self.outputs = {
            "attitude": Port(QUATERNION, "nb", (4,)),
            "velocity": Port(*_V),
            "position": Port(*_M),
            "tilt_sigma": Port("rad", None, ()),
            "heading_sigma": Port("rad", None, ()),
            "velocity_sigma": Port("m/s", None, ()),
            "position_sigma": Port("m", None, ()),
            "gyroscope_bias": Port("rad/s", "b", (3,)),
            "accelerometer_bias": Port("m/s2", "b", (3,)),
        }

    def start(self) -> Navigating:
        return Navigating(None, 0.0, 0.0, _NOTHING)

    def step(
        self,
        state: Navigating,
        gyroscope: Array,
        accelerometer: Array,
        new: float,
        magnetometer: Array,
        magnetometer_new: float,
        hold: float,
        start: Array,
        bias_sigma: float,
        tilt_sigma: float,
        heading_sigma: float,
        velocity: Array,
        velocity_sigma: Array,
        velocity_t: float,
        velocity_new: float,
        position: Array,
        position_sigma: Array,
        position_t: float,
        position_new: float,
        height: float,
        height_new: float,
        stop: float,
        odometer: float,
        odometer_new: float,
        t: float,
        dt: float,
    ) -> tuple[Navigating, tuple[Value, ...]]:
        inner, before_t, since_s, seen, odometer_m = state
        now = t if t > -FAR else before_t + dt
        if magnetometer_new > ON:
            seen = seen._replace(field=magnetometer)
        if velocity_new > ON and velocity_sigma.min() > 0.0:  # a fix without a standard deviation is none
            seen = seen._replace(velocity=Fix(velocity, velocity_sigma, min(velocity_t, now)))
        if position_new > ON and position_sigma.min() > 0.0:
            seen = seen._replace(position=Fix(position, position_sigma, min(position_t, now)))
        if height_new > ON:
            seen = seen._replace(height=Height(height, self.p.height_sigma_m))
        if odometer_new > ON:
            if odometer_m is not None:
                seen = seen._replace(travel_m=seen.travel_m + odometer - odometer_m)
            odometer_m = odometer
        if hold > ON:
            attitude = known_attitude(start)
            kept = Seen(height=seen.height)
            outputs = self._standing(IDENTITY if attitude is None else attitude, kept)
            return Navigating(None, now, 0.0, kept, odometer_m), outputs
        since_s += dt
        if not new > ON:
            outputs = self._standing(IDENTITY, seen) if inner is None else self._outputs(inner.numbers)
            return Navigating(inner, now, since_s, seen, odometer_m), outputs
        if inner is None:
            sigmas = (bias_sigma or self.filter.gyr_bias_sigma, tilt_sigma or _TILT_SIGMA, heading_sigma)
            inner, since_s = self.filter.start(self._given(known_attitude(start), sigmas, seen.height, dt)), 0.0
        sample = Sample(
            *(now, since_s, gyroscope, accelerometer, seen.field),
            stop=stop > ON,
            travel_m=None if odometer_m is None else seen.travel_m,
            position_fix=seen.position,
            velocity_fix=seen.velocity,
            height=seen.height,
        )
        inner = (self.without_odometer if odometer_m is None else self.filter).step(inner, sample)
        return Navigating(inner, now, 0.0, _NOTHING, odometer_m), self._outputs(inner.numbers)

    def _given(
        self, attitude: Array | None, sigmas: tuple[float, float, float], height: Height | None, dt: float
    ) -> Start:
        p_n = self._start_p(height)
        if attitude is None:
            return Start(step_s=dt, p_n=p_n)
        bias, tilt, heading = sigmas
        aligned = Alignment(attitude, 1, 0.0, tilt, heading, self.p.magnetic_heading, _ZERO, np.full(3, bias))
        return Start(step_s=dt, alignment=aligned, p_n=p_n)

    def _outputs(self, x: Array) -> tuple[Value, ...]:
        variances = x[at.COVARIANCE :: at.COLUMNS + 1].tolist()
        tilt = max(variances[at.PHI_N], variances[at.PHI_N + 1], 0.0)
        return (
            x[at.Q : at.Q + 4],
            x[at.VELOCITY : at.VELOCITY + 3],
            x[at.POSITION : at.POSITION + 3],
            math.sqrt(tilt),
            math.sqrt(max(variances[at.PHI_N + 2], 0.0)),
            math.sqrt(max(*variances[at.V_N : at.V_N + 3], 0.0)),
            math.sqrt(max(*variances[at.P_N : at.P_N + 3], 0.0)),
            x[at.BIAS_G : at.BIAS_G + 3],
            x[at.BIAS_A : at.BIAS_A + 3],
        )

    def _start_p(self, height: Height | None) -> Array:
        return np.array((0.0, 0.0, self.p.start_height_m if height is None else height.height_m))

    def _standing(self, attitude: Array, seen: Seen) -> tuple[Value, ...]:
        """Outputs before the filter has started."""
        return attitude, _ZERO, self._start_p(seen.height), 0.0, 0.0, 0.0, 0.0, _ZERO, _ZERO
