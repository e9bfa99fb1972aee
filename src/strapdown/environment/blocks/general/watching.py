"""Blocks that mark signals to be shown or recorded. Such blocks are never stepped and cost nothing."""

from strapdown.environment.blocks.common import MOST_PORTS
from strapdown.environment.diagram.block import BlockParameters, block, parameter
from strapdown.environment.diagram.port import ANY, Port, Value


class _Watched(BlockParameters):
    inputs: int = parameter(1, title="Inputs", description="Number of signals.", unit="1", limits=(1, MOST_PORTS))


class _Watching:
    rate_hz: float | None = None
    watches = True

    def __init__(self, p: _Watched) -> None:
        self.p = p
        self.inputs = {f"in{i}": Port(ANY, ANY) for i in range(1, p.inputs + 1)}
        self.outputs: dict[str, Port] = {}

    def start(self) -> None:
        return None

    def step(self, state: None, *inputs: Value, dt: float) -> tuple[None, tuple[Value, ...]]:
        return None, ()


@block("scope", category="output")
class Scope(_Watching):
    """Shows signals over time."""

    class Parameters(_Watched):
        window_s: float = parameter(
            10.0, title="Window", description="Length of the time axis.", unit="s", limits=(0.1, 600.0)
        )


@block("logger", category="output")
class Logger(_Watching):
    """Records signals."""

    Parameters = _Watched
