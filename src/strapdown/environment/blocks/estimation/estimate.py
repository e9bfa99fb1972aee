"""The vehicle's own estimate, marked for the session: its recording and its report compare it with the truth."""

from strapdown.environment.diagram.block import BlockParameters, block
from strapdown.environment.diagram.port import FLAG, QUATERNION, Port, Value


@block("estimate", category="output")
class Estimate:
    """Marks the estimates that the session records and compares with the truth. Connect the quantities that the diagram
    estimates.
    """

    rate_hz: float | None = None
    watches = True
    estimates = True

    def __init__(self, p: BlockParameters) -> None:
        self.inputs = {
            "attitude": Port(QUATERNION, "nb", (4,), default=0.0),
            "velocity": Port("m/s", "n", (3,), default=0.0),
            "position": Port("m", "n", (3,), default=0.0),
            "height": Port("m", None, (), default=0.0),
            "tilt_sigma": Port("rad", None, (), default=0.0),
            "heading_sigma": Port("rad", None, (), default=0.0),
            "stop": Port(FLAG, None, (), default=0.0),
        }
        self.outputs: dict[str, Port] = {}

    def start(self) -> None:
        return None

    def step(self, state: None, *inputs: Value, dt: float) -> tuple[None, tuple[Value, ...]]:
        return None, ()
