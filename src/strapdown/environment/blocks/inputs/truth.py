"""The true motion, which no real vehicle has. The truth is a separate block, so that a diagram that uses it shows
it.
"""

from typing import ClassVar

import numpy as np

from strapdown.environment.diagram.block import BlockParameters, Memoryless, block
from strapdown.environment.diagram.port import QUATERNION, Port, Value
from strapdown.rotation import IDENTITY

_PORTS = {
    "attitude": Port(QUATERNION, "nb", (4,)),
    "rate": Port("rad/s", "b", (3,)),
    "position": Port("m", "n", (3,)),
    "velocity": Port("m/s", "n", (3,)),
    "acceleration": Port("m/s2", "n", (3,)),
    "specific_force": Port("m/s2", "b", (3,)),
}


@block("truth", category="simulation only")
class Truth(Memoryless):
    """TRUTH: the true motion of the body that carries the sensors. No real vehicle has it."""

    feeds: ClassVar[dict[str, Value]] = {name: IDENTITY if name == "attitude" else np.zeros(3) for name in _PORTS}

    def __init__(self, p: BlockParameters) -> None:
        self.inputs: dict[str, Port] = {}
        self.outputs = dict(_PORTS)

    def apply(self, *feeds: Value) -> tuple[Value, ...]:
        return feeds
