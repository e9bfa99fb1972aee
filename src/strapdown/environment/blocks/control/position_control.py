"""Position: a target that moves as the sticks command, and the velocity that leads to it."""

import math

import numpy as np

from strapdown.arrays import Array
from strapdown.environment.blocks.common import not_negative
from strapdown.environment.blocks.control.flight_control import ATTITUDE
from strapdown.environment.blocks.general.logic import ON
from strapdown.environment.diagram.block import BlockParameters, block
from strapdown.environment.diagram.port import FLAG, Port, Value


@block("position_controller", category="control")
class PositionController:
    """Velocity that leads to a target; the target moves with the velocity that is asked for.

    Frame h is level and turned to the heading. The target begins at the present position, also when switched on
    again, and stays as near as the speed limit allows.
    """

    class Parameters(BlockParameters):
        gain: float = not_negative(0.5, "Gain", "Velocity per distance.", "1/s")
        most_m_s: float = not_negative(1.0, "Largest speed", "Limit of the velocity.", "m/s")

    rate_hz: float | None = None

    def __init__(self, p: Parameters) -> None:
        self.p = p
        self.inputs = {
            "velocity": Port("m/s", "h", (2,)),
            "position": Port("m", "n", (3,)),
            "attitude": ATTITUDE,
            "on": Port(FLAG, None, (), default=1.0),
        }
        self.outputs = {"velocity": Port("m/s", "h", (2,)), "target": Port("m", "n", (2,))}

    def start(self) -> tuple[float, float] | None:
        return None

    def step(
        self, state: tuple[float, float] | None, velocity: Array, position: Array, attitude: Array, on: float, dt: float
    ) -> tuple[tuple[float, float] | None, tuple[Value, ...]]:
        p = self.p
        east, north, _ = position.tolist()
        w, x, y, z = attitude.tolist()
        c, s = 1.0 - 2.0 * (y * y + z * z), 2.0 * (w * z + x * y)
        size = math.hypot(c, s)
        c, s = (c / size, s / size) if size > 0.0 else (1.0, 0.0)
        forward, left = velocity.tolist()
        if not on > ON:
            return None, (velocity, np.array((east, north)))
        asked_x, asked_y = c * forward - s * left, s * forward + c * left
        dx, dy = (0.0, 0.0) if state is None else (state[0] - east, state[1] - north)
        dx, dy = _shortened(dx + asked_x * dt, dy + asked_y * dt, p.most_m_s / p.gain if p.gain > 0.0 else 0.0)
        vx, vy = _shortened(asked_x + p.gain * dx, asked_y + p.gain * dy, p.most_m_s)
        target = (east + dx, north + dy)
        return target, (np.array((c * vx + s * vy, c * vy - s * vx)), np.array(target))


def _shortened(x: float, y: float, most: float) -> tuple[float, float]:
    """The vector, shortened to at most this length."""
    size = math.hypot(x, y)
    return (x, y) if size <= most else (x * most / size, y * most / size)
