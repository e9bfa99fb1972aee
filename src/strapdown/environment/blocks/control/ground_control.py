"""Controllers of a wheeled vehicle."""

import math
from typing import NamedTuple

import numpy as np

from strapdown.environment.blocks.common import between
from strapdown.environment.diagram.block import BlockParameters, block
from strapdown.environment.diagram.port import FLAG, Port, Value

_DEG = math.pi / 180.0


class Drive(NamedTuple):
    """Commanded speed (m/s) and turn rate (rad/s), time for which both have been 0 (s)."""

    speed: float
    turn: float
    still_s: float


@block("differential_drive", category="control")
class DifferentialDrive:
    """Speeds of the left and the right wheel, from drive and turn sticks, with limited acceleration.

    `stop` is on while nothing is commanded and the commanded speeds have been 0 for `settle_s`.
    """

    class Parameters(BlockParameters):
        track_m: float = between(0.20, 1e-3, 100.0, "Track", "Distance between left and right wheel.", "m")
        radius_m: float = between(0.0498, 1e-4, 100.0, "Wheel radius", "Rolling radius.", "m")
        most_speed_m_s: float = between(0.3, 0.0, 100.0, "Largest speed", "Speed of a full stick.", "m/s")
        most_turn_dps: float = between(60.0, 0.0, 3600.0, "Largest turn rate", "Turn rate of a full stick.", "deg/s")
        acceleration_m_s2: float = between(0.5, 1e-3, 1e3, "Acceleration", "Of the commanded speed.", "m/s2")
        turn_acceleration_dps2: float = between(180.0, 0.1, 1e5, "Turn acceleration", "Of the turn rate.", "deg/s2")
        settle_s: float = between(0.3, 0.0, 60.0, "Settling time", "From speeds of 0 to the stop.", "s")

    rate_hz: float | None = None

    def __init__(self, p: Parameters) -> None:
        self.p = p
        self.inputs = {"drive": Port("1", None, ()), "turn": Port("1", None, ())}
        self.outputs = {"command": Port("rad/s", None, (2,)), "stop": Port(FLAG, None, ())}

    def start(self) -> Drive:
        return Drive(0.0, 0.0, 0.0)

    def step(self, state: Drive, drive: float, turn: float, dt: float) -> tuple[Drive, tuple[Value, ...]]:
        p = self.p
        speed = _towards(state.speed, p.most_speed_m_s * drive, p.acceleration_m_s2 * dt)
        rate = _towards(state.turn, p.most_turn_dps * _DEG * turn, p.turn_acceleration_dps2 * _DEG * dt)
        still = drive == 0.0 and turn == 0.0 and speed == 0.0 and rate == 0.0
        still_s = state.still_s + dt if still else 0.0
        half = 0.5 * p.track_m * rate
        wheels = np.array(((speed - half) / p.radius_m, (speed + half) / p.radius_m))
        return Drive(speed, rate, still_s), (wheels, 1.0 if still_s > p.settle_s else 0.0)


def _towards(value: float, target: float, most: float) -> float:
    """A value moved towards the target by at most the given step."""
    off = target - value
    return target if -most <= off <= most else value + (most if off > 0.0 else -most)
