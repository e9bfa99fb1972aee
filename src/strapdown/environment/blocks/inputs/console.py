"""Inputs of the operator: the console of a vehicle, sliders; and the time of the simulation.

The session writes the feeds of these blocks before each cycle: from a pilot script, a recording or live.
"""

from typing import ClassVar

from strapdown.environment.blocks.common import FAR, number
from strapdown.environment.diagram.block import BlockParameters, Memoryless, block, parameter
from strapdown.environment.diagram.port import FLAG, Port, Value

# names of the modes, by the number that the output `mode` has
MODES = ("rate", "stabilise", "hold")
FLAGS = ("power", "calibrate", "arm")
STICKS = ("roll", "pitch", "yaw", "throttle", "drive", "turn")


@block("console", category="source")
class Console(Memoryless):
    """Operator's console: power, calibration switch, arm, mode (0 rate, 1 stabilise, 2 hold) and sticks from -1 to 1.

    Positive sticks: roll to the right, pitch forward, yaw to the left (counter-clockwise), throttle up (0 holds the
    height), drive forward, turn to the left.
    """

    feeds: ClassVar[dict[str, float]] = dict.fromkeys((*FLAGS, "mode", *STICKS), 0.0)

    def __init__(self, p: BlockParameters) -> None:
        self.inputs: dict[str, Port] = {}
        self.outputs = {name: Port(FLAG if name in FLAGS else "1", None, ()) for name in self.feeds}

    def apply(self, *feeds: float) -> tuple[Value, ...]:
        return feeds


@block("slider", category="source")
class Slider(Memoryless):
    """A number that the operator moves between two limits: a joint target, or anything else."""

    class Parameters(BlockParameters):
        name: str = parameter("", title="Name", description="Label on the console.", max_length=60)
        unit: str = parameter("rad", title="Unit", description="Unit of the output.", max_length=40)
        low: float = number(-1.0, "Lower end", "Smallest value.")
        high: float = number(1.0, "Upper end", "Largest value.")
        start: float = number(0.0, "Start", "Value until it is moved.")

        def model_post_init(self, context: object) -> None:
            if not self.low <= self.start <= self.high:
                raise ValueError(
                    f"start is {self.start:g}, outside low {self.low:g} to high {self.high:g}; correct one"
                )

    def __init__(self, p: Parameters) -> None:
        self.inputs: dict[str, Port] = {}
        self.outputs = {"out": Port(p.unit or None, None, ())}
        self.feeds = {"value": p.start}
        self.low, self.high = p.low, p.high

    def apply(self, value: float) -> Value:
        return self.low if value < self.low else self.high if value > self.high else value


@block("time", category="source")
class Time(Memoryless):
    """Time of the simulation."""

    feeds: ClassVar[dict[str, float]] = {"t": 0.0}

    def __init__(self, p: BlockParameters) -> None:
        self.inputs: dict[str, Port] = {}
        self.outputs = {"t": Port("s", None, ())}

    def apply(self, t: float) -> Value:
        return t


def time_input() -> Port:
    """An input for the time of the simulation; without a wire the block counts its own steps."""
    return Port("s", None, (), default=-FAR)
