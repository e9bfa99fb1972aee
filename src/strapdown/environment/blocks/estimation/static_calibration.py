"""Calibration at rest in the loop, paper B's (11) and (12): offsets of gyroscope and accelerometer, start attitude."""

import math
from typing import NamedTuple

import numpy as np

from strapdown.arrays import Array
from strapdown.environment.blocks.common import between, not_negative, plain_array
from strapdown.environment.blocks.control.flight_control import gravity_parameter
from strapdown.environment.blocks.estimation.at_rest import Rest, RestLimits, begun, continued, level_yaw
from strapdown.environment.blocks.general.logic import ON
from strapdown.environment.diagram.block import block, parameter
from strapdown.environment.diagram.port import FLAG, QUATERNION, Port, Value
from strapdown.rotation import q_from_euler

_DEG = math.pi / 180.0
_UNKNOWN = plain_array((0.0, 0.0, 0.0, 0.0))  # an attitude that is not known
_FLAG_IN, _FLAG = Port(FLAG, None, (), default=1.0), Port(FLAG, None, ())


class Result(NamedTuple):
    """Offsets (frame b), start attitude, standard deviations of the gyroscope's offset (rad/s), tilt and heading."""

    gyroscope: Array
    accelerometer: Array
    attitude: Array
    bias_sigma: float
    tilt_sigma: float
    heading_sigma: float


class Calibrating(NamedTuple):
    """State of the block.

    result: the calibration in use.
    rest: statistics of the readings so far, None while the switch is off.
    moving: the last attempt was refused, or is being refused.
    waited_s: time since the last reading.
    """

    result: Result | None
    rest: Rest | None
    moving: bool
    waited_s: float


@block("static_calibration", category="estimation")
class StaticCalibration:
    """Calibration while the switch is on: the vehicle rests in a known attitude. The block refuses to calibrate in
    motion.

    Motion restarts the calibration and sets `moving`. When the switch goes off after enough rest the offsets are used.
    Otherwise the old ones are kept and `moving` stays on. The attitude is level, or that of an inclinometer if one is
    connected; its heading is the magnetometer's, else 0. Before the first calibration readings pass unchanged, and the
    attitude is four zeros. Paper mode scales the accelerometer to the length of gravity, as in (11).
    """

    class Parameters(RestLimits):
        known_attitude: bool = parameter(
            True,
            title="Known attitude",
            description="On: it gives the accelerometer's offset. Off: the accelerometer gives the attitude.",
        )
        paper: bool = parameter(
            False, title="Paper mode", description="Scale specific force to the length of gravity, as paper B does."
        )
        gravity_m_s2: float = gravity_parameter()
        declination_deg: float = between(0.0, -180.0, 180.0, "Declination", "Magnetic north, east positive.", "deg")
        bias_floor_dps: float = not_negative(
            0.05, "Gyroscope sigma", "Least standard deviation of the gyroscope's offset.", "deg/s"
        )
        tilt_floor_deg: float = not_negative(0.1, "Tilt sigma", "Standard deviation of the known attitude.", "deg")
        heading_floor_deg: float = not_negative(2.0, "Heading sigma", "Least standard deviation of the heading.", "deg")

    rate_hz: float | None = None

    def __init__(self, p: Parameters) -> None:
        self.p = p
        acc, gyr = Port("m/s2", "b", (3,)), Port("rad/s", "b", (3,))
        self.inputs = {
            "accelerometer": acc,
            "gyroscope": gyr,
            "new": _FLAG_IN,
            "switch": _FLAG,
            "magnetometer": Port("uT", "b", (3,), default=0.0),
            "magnetometer_new": Port(FLAG, None, (), default=0.0),
            "inclinometer": Port("rad", "b", (2,), default=0.0),
        }
        self.outputs = {
            "accelerometer": acc,
            "gyroscope": gyr,
            "attitude": Port(QUATERNION, "nb", (4,)),
            "bias_sigma": Port("rad/s", None, ()),
            "tilt_sigma": Port("rad", None, ()),
            "heading_sigma": Port("rad", None, ()),
            "done": _FLAG,
            "busy": _FLAG,
            "moving": _FLAG,
        }

    def start(self) -> Calibrating:
        return Calibrating(None, None, False, 0.0)

    def step(
        self,
        state: Calibrating,
        accelerometer: Array,
        gyroscope: Array,
        new: float,
        switch: float,
        magnetometer: Array,
        magnetometer_new: float,
        inclinometer: Array,
        dt: float,
    ) -> tuple[Calibrating, tuple[Value, ...]]:
        result, rest, moving, waited_s = state
        if switch > ON:
            waited_s += dt
            if new > ON:
                field = magnetometer if magnetometer_new > ON else None
                if rest is None:
                    rest, moving = begun(gyroscope, accelerometer, field), False
                else:
                    rest = continued(rest, gyroscope, accelerometer, field, waited_s, self.p)
                    if rest is None:
                        rest, moving = begun(gyroscope, accelerometer, field), True
                    elif rest.elapsed_s >= self.p.least_s:
                        moving = False
                waited_s = 0.0
            state = Calibrating(result, rest, moving, waited_s)
        elif rest is not None:  # the switch has just gone off
            if rest.elapsed_s >= self.p.least_s:
                result, moving = self._result(rest, inclinometer), False
            else:
                moving = True
            state = Calibrating(result, None, moving, 0.0)
        busy, moving_flag = 1.0 if switch > ON else 0.0, 1.0 if moving else 0.0
        if result is None:
            return state, (accelerometer, gyroscope, _UNKNOWN, 0.0, 0.0, 0.0, 0.0, busy, moving_flag)
        force = accelerometer - result.accelerometer
        if self.p.paper:
            size = math.hypot(*force.tolist())
            force = force * (self.p.gravity_m_s2 / size) if size > 0.0 else force
        _, _, attitude, bias_sigma, tilt_sigma, heading_sigma = result
        outputs = (attitude, bias_sigma, tilt_sigma, heading_sigma, 1.0, busy, moving_flag)
        return state, (force, gyroscope - result.gyroscope, *outputs)

    def _result(self, rest: Rest, inclinometer: Array) -> Result:
        p, mean, sigma = self.p, rest.mean, rest.sigma
        rate, force = mean[:3], mean[3:]
        if p.known_attitude:
            up_x, up_y = (math.sin(float(tilt)) for tilt in inclinometer)  # of the vertical, frame b
            up_z = math.sqrt(max(1.0 - up_x * up_x - up_y * up_y, 0.0))
        else:
            up_x, up_y, up_z = (force / (float(np.linalg.norm(force)) or 1.0)).tolist()
        roll, pitch = math.atan2(up_y, up_z), math.atan2(-up_x, math.hypot(up_y, up_z))
        offset = force - p.gravity_m_s2 * np.array((up_x, up_y, up_z)) if p.known_attitude else np.zeros(3)
        white = sigma / math.sqrt(rest.samples)
        tilt_sigma = math.hypot(p.tilt_floor_deg * _DEG, float(white[3:].max()) / p.gravity_m_s2)
        yaw, heading_sigma = 0.0, 0.0
        if rest.field_count:
            level = _turned_level(rest.field / rest.field_count, roll, pitch)
            yaw, heading_sigma = level_yaw(level, p.declination_deg * _DEG), p.heading_floor_deg * _DEG
        return Result(
            rate,
            offset,
            q_from_euler(roll, pitch, yaw),
            math.hypot(p.bias_floor_dps * _DEG, float(white[:3].max())),
            tilt_sigma,
            heading_sigma,
        )


def _turned_level(field: Array, roll: float, pitch: float) -> tuple[float, float]:
    """Forward and left part of a field in the level frame of the heading: the field multiplied by Ry(pitch)
    Rx(roll).
    """
    x, y, z = field.tolist()
    left = math.cos(roll) * y - math.sin(roll) * z
    down = math.sin(roll) * y + math.cos(roll) * z
    return math.cos(pitch) * x + math.sin(pitch) * down, left
