"""From the sticks of the console to commands for the controllers of a flying vehicle."""

import math
from typing import Any

import numpy as np

from strapdown.environment.blocks.common import between
from strapdown.environment.diagram.block import BlockParameters, block
from strapdown.environment.diagram.port import FLAG, Port, Value

_DEG = math.pi / 180.0
_STICKS = ("roll", "pitch", "yaw", "throttle")
RATE_MODE, HOLD_MODE = 0.5, 1.5  # mode is below the first: rate; above the second: hold; between them: stabilise
_State = tuple[tuple[Any, ...], tuple[Value, ...]]


@block("stick_commands", category="control")
class StickCommands:
    """Commands of the sticks: tilt (stabilise), body rates (rate), velocity (hold), yaw rate and climb (all modes).

    Positive roll leans to the right, positive pitch forward, positive yaw turns to the left. Frame h is level and
    turned to the heading: x forward, y left.
    """

    class Parameters(BlockParameters):
        most_tilt_deg: float = between(15.0, 0.0, 80.0, "Largest tilt", "Roll and pitch of a full stick.", "deg")
        most_rate_dps: float = between(120.0, 0.0, 2000.0, "Largest rate", "Roll and pitch rate, full stick.", "deg/s")
        most_yaw_rate_dps: float = between(60.0, 0.0, 2000.0, "Largest yaw rate", "Yaw rate of a full stick.", "deg/s")
        most_speed_m_s: float = between(3.0, 0.0, 1000.0, "Largest speed", "Speed of a full stick in hold.", "m/s")
        most_climb_m_s: float = between(1.0, 0.0, 100.0, "Largest climb", "Vertical speed of a full stick.", "m/s")

    rate_hz: float | None = None

    def __init__(self, p: Parameters) -> None:
        self.p = p
        self._settings = tuple(p.model_dump().values())
        self.inputs = {name: Port("1", None, ()) for name in ("mode", *_STICKS)}
        self.outputs = {
            "tilt": Port("rad", None, (2,)),
            "rate": Port("rad/s", "b", (3,)),
            "velocity": Port("m/s", "h", (2,)),
            "yaw_rate": Port("rad/s", None, ()),
            "climb": Port("m/s", None, ()),
            "rate_mode": Port(FLAG, None, ()),
            "hold": Port(FLAG, None, ()),
        }

    def start(self) -> _State:
        return (), ()

    def step(
        self, state: _State, mode: float, roll: float, pitch: float, yaw: float, throttle: float, dt: float
    ) -> tuple[_State, tuple[Value, ...]]:
        # sticks rest most of the time; the parameters are part of the key because they may change
        key = (mode, roll, pitch, yaw, throttle, self._settings)
        if key == state[0]:
            return state, state[1]
        p = self.p
        tilt, rate, yaw_rate = p.most_tilt_deg * _DEG, p.most_rate_dps * _DEG, p.most_yaw_rate_dps * _DEG * yaw
        commands = (
            np.array((tilt * roll, tilt * pitch)),
            np.array((rate * roll, rate * pitch, yaw_rate)),
            np.array((p.most_speed_m_s * pitch, -p.most_speed_m_s * roll)),
            yaw_rate,
            p.most_climb_m_s * throttle,
            1.0 if mode < RATE_MODE else 0.0,
            1.0 if mode > HOLD_MODE else 0.0,
        )
        return (key, commands), commands
