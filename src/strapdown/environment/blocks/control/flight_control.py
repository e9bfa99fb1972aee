"""Controllers of a flying vehicle, from velocity to torque. Each block is one loop; the blocks are used in a
cascade.
"""

import math
from typing import Any

import numpy as np

from strapdown.arrays import Array
from strapdown.environment.blocks.common import Positives, between, not_negative, plain_array, three
from strapdown.environment.blocks.general.logic import ON
from strapdown.environment.diagram.block import BlockParameters, block
from strapdown.environment.diagram.port import FLAG, QUATERNION, Port, Value
from strapdown.kernels.compiled import fix_signature
from strapdown.kernels.environment import control as kernel

ATTITUDE = Port(QUATERNION, "nb", (4,))
RATE = Port("rad/s", "b", (3,))
TILT = Port("rad", None, (2,))
_ON = Port(FLAG, None, (), default=1.0)
_LEVEL, _QUIET = np.zeros(4), np.zeros(6)  # states without an integral
_NO_TILT, _NO_TORQUE = np.zeros(2), np.zeros(3)


def gravity_parameter() -> Any:
    return between(9.81, 0.1, 100.0, "Gravity", "Gravity at the place.", "m/s2")


@block("velocity_controller", category="control")
class VelocityController:
    """Roll and pitch for a horizontal velocity: PI control of the acceleration, which is limited; level while not on.

    The integral is in frame n, where the wind is constant, and is 0 while not on. The integral stops while the
    acceleration is at its limit and the error would drive it further.
    """

    class Parameters(BlockParameters):
        kp: float = not_negative(1.2, "Proportional gain", "Acceleration per velocity error.", "1/s")
        ki: float = not_negative(0.4, "Integral gain", "Acceleration per position error.", "1/s2")
        most_m_s2: float = not_negative(2.5, "Largest acceleration", "Limit of the acceleration.", "m/s2")
        gravity_m_s2: float = gravity_parameter()

    rate_hz: float | None = None

    def __init__(self, p: Parameters) -> None:
        self.inputs = {
            "velocity": Port("m/s", "h", (2,)),
            "measured": Port("m/s", "n", (3,)),
            "attitude": ATTITUDE,
            "on": _ON,
        }
        self.outputs = {"tilt": TILT}
        self._settings = plain_array((p.kp, p.ki, p.most_m_s2, p.gravity_m_s2))

    def start(self) -> Array:
        fix_signature(kernel.velocity_tilt)
        return np.zeros(4)

    def step(
        self, state: Array, velocity: Array, measured: Array, attitude: Array, on: float, dt: float
    ) -> tuple[Array, tuple[Value, ...]]:
        if not on > ON:
            return _LEVEL, (_NO_TILT,)
        out = np.empty(4)
        kernel.velocity_tilt(velocity, measured, attitude, state, dt, self._settings, out)
        return out, (out[:2],)


@block("attitude_controller", category="control")
class AttitudeController:
    """Body rates towards a roll and pitch and a heading, in proportion to the rotation that is missing.

    The heading's target turns with the commanded yaw rate, and begins at the present heading. The target stays within
    `leash_deg` of the heading.
    """

    class Parameters(BlockParameters):
        gains: Positives = three((6.0, 6.0, 2.0), "Gains", "Rate per angle about body x, y and z.", "1/s")
        most_rates_rad_s: Positives = three(
            (3.5, 3.5, 2.0), "Largest rates", "Limits of the rates about body x, y and z.", "rad/s"
        )
        leash_deg: float = between(30.0, 0.0, 180.0, "Leash", "Largest distance of the heading's target.", "deg")

    rate_hz: float | None = None

    def __init__(self, p: Parameters) -> None:
        self.inputs = {"attitude": ATTITUDE, "tilt": TILT, "yaw_rate": Port("rad/s", None, (), default=0.0), "on": _ON}
        self.outputs = {"rate": RATE}
        self._settings = plain_array((*p.gains, *p.most_rates_rad_s, math.radians(p.leash_deg)))

    def start(self) -> float:
        fix_signature(kernel.attitude_rate)
        return math.inf

    def step(
        self, state: float, attitude: Array, tilt: Array, yaw_rate: float, on: float, dt: float
    ) -> tuple[float, tuple[Value, ...]]:
        out = np.empty(3)
        heading = state if on > ON else math.inf
        return kernel.attitude_rate(attitude, tilt, heading, yaw_rate, dt, self._settings, out), (out,)


@block("rate_controller", category="control")
class RateController:
    """Torque towards body rates: PI control of the angular acceleration, which is limited; 0 while not on.

    The integral is 0 while not on, and stops while the angular acceleration is at its limit.
    """

    class Parameters(BlockParameters):
        kp: Positives = three((20.0, 20.0, 8.0), "Proportional gains", "About body x, y and z.", "1/s")
        ki: Positives = three((20.0, 20.0, 4.0), "Integral gains", "About body x, y and z.", "1/s2")
        inertia_kg_m2: Positives = three((0.007, 0.007, 0.012), "Inertia", "About body x, y and z.", "kg m2")
        most_rad_s2: Positives = three((60.0, 60.0, 6.0), "Largest angular accelerations", "Limits.", "rad/s2")

    rate_hz: float | None = None

    def __init__(self, p: Parameters) -> None:
        self.inputs = {"rate": RATE, "measured": RATE, "on": _ON}
        self.outputs = {"torque": Port("N m", "b", (3,))}
        self._settings = plain_array((*p.kp, *p.ki, *p.inertia_kg_m2, *p.most_rad_s2))

    def start(self) -> Array:
        fix_signature(kernel.rate_torque)
        return np.zeros(6)

    def step(self, state: Array, rate: Array, measured: Array, on: float, dt: float) -> tuple[Array, tuple[Value, ...]]:
        if not on > ON:
            return _QUIET, (_NO_TORQUE,)
        out = np.empty(6)
        kernel.rate_torque(rate, measured, state, dt, self._settings, out)
        return out, (out[:3],)
