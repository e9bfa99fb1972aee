"""Commands of the vehicle: the session passes the output `command` of these blocks to its actuators."""

from collections.abc import Mapping
from copy import copy
from typing import Any, Self

import numpy as np

from strapdown.environment.blocks.general.logic import ON
from strapdown.environment.diagram.block import BlockParameters, Memoryless, block
from strapdown.environment.diagram.port import ANY, FLAG, Port, Value


def _ports(unit: str, shape: tuple[int, ...] | None = None) -> tuple[dict[str, Port], dict[str, Port]]:
    command = Port(unit, ANY, shape, group="command")
    return {"command": command, "arm": Port(FLAG, None, ())}, {"command": command}


class _Driven(Memoryless):
    """Not armed: 0."""

    actuates = True
    unit: str
    shape: tuple[int, ...] | None = None
    _zero: Any = 0.0

    def __init__(self, p: BlockParameters) -> None:
        self.inputs, self.outputs = _ports(self.unit, self.shape)

    def resolved(self, inputs: Mapping[str, Port], outputs: Mapping[str, Port]) -> Self:
        known = copy(self)
        shape = inputs["command"].shape or ()
        known._zero = np.zeros(shape) if shape else 0.0
        return known

    def apply(self, command: Value, arm: float) -> Value:
        return command if arm > ON else self._zero


@block("motors", category="output")
class Motors(_Driven):
    """Rotor speeds of a multirotor; 0 while not armed."""

    unit = "rad/s"


@block("swashplate", category="output")
class Swashplate(_Driven):
    """Collective of the upper and the lower rotor, cyclic about body x and body y; 0 while not armed."""

    unit = "rad"
    shape = (4,)


@block("wheels", category="output")
class Wheels(_Driven):
    """Wheel speeds; 0 while not armed."""

    unit = "rad/s"


@block("joints", category="output")
class Joints:
    """Joint targets; while not armed the last ones are held, at first 0."""

    actuates = True
    rate_hz: float | None = None
    _zero: Any = 0.0

    def __init__(self, p: BlockParameters) -> None:
        self.inputs, self.outputs = _ports(ANY)

    resolved = _Driven.resolved

    def start(self) -> Any:
        return self._zero

    def step(self, state: Any, command: Value, arm: float, dt: float) -> tuple[Any, tuple[Value, ...]]:
        held = command if arm > ON else state
        return held, (held,)
