"""On and off: comparisons, logic, a switch."""

from typing import Literal

from strapdown.environment.blocks.common import count, number
from strapdown.environment.diagram.block import BlockParameters, Memoryless, block, parameter
from strapdown.environment.diagram.port import ANY, FLAG, Port, Value

ON = 0.5  # a flag is 1 or 0; a recorded one may carry roundoff


class _Inputs(BlockParameters):
    inputs: int = count(2, "Inputs", "Number of inputs.")


class _Logic(Memoryless):
    def __init__(self, p: _Inputs) -> None:
        self.inputs = {f"in{i}": Port(FLAG, None, ()) for i in range(1, p.inputs + 1)}
        self.outputs = {"out": Port(FLAG, None, ())}


@block("and", category="logic")
class And(_Logic):
    """On if all inputs are on."""

    Parameters = _Inputs

    def apply(self, *inputs: float) -> Value:
        for x in inputs:  # quicker than all() of a generator
            if not x > ON:
                return 0.0
        return 1.0


@block("or", category="logic")
class Or(_Logic):
    """On if at least one input is on."""

    Parameters = _Inputs

    def apply(self, *inputs: float) -> Value:
        for x in inputs:
            if x > ON:
                return 1.0
        return 0.0


@block("not", category="logic")
class Not(Memoryless):
    """On if the input is off."""

    def __init__(self, p: BlockParameters) -> None:
        self.inputs = {"in": Port(FLAG, None, ())}
        self.outputs = {"out": Port(FLAG, None, ())}

    def apply(self, x: float) -> Value:
        return 0.0 if x > ON else 1.0


@block("compare", category="logic")
class Compare(Memoryless):
    """On if in1 is in a relation to in2; without a wire in2 is 0."""

    class Parameters(BlockParameters):
        relation: Literal["<", "<=", ">=", ">", "==", "!="] = parameter(
            ">", title="Relation", description="What must hold between in1 and in2 plus the threshold."
        )
        threshold: float = number(0.0, "Threshold", "Added to in2.")

    def __init__(self, p: Parameters) -> None:
        self.inputs = {"in1": Port(shape=(), group="signal"), "in2": Port(shape=(), group="signal", default=0.0)}
        self.outputs = {"out": Port(FLAG, None, ())}
        self._holds = {
            "<": float.__lt__,
            "<=": float.__le__,
            ">=": float.__ge__,
            ">": float.__gt__,
            "==": float.__eq__,
            "!=": float.__ne__,
        }[p.relation]
        self.threshold = p.threshold

    def apply(self, x: float, y: float) -> Value:
        return 1.0 if self._holds(float(x), float(y + self.threshold)) else 0.0


@block("switch", category="logic")
class Switch(Memoryless):
    """Passes one of two signals: `if_on` while `select` is on, else `if_off`."""

    def __init__(self, p: BlockParameters) -> None:
        self.inputs = {
            "if_on": Port(group="signal"),
            "if_off": Port(group="signal"),
            "select": Port(FLAG, None, ()),
        }
        self.outputs = {"out": Port(group="signal")}

    def apply(self, on: Value, off: Value, select: float) -> Value:
        return on if select > ON else off


@block("hysteresis", category="logic")
class Hysteresis:
    """Switches on above one threshold and off below another; off at the start."""

    class Parameters(BlockParameters):
        on_above: float = number(1.0, "On above", "Inputs above this switch on.")
        off_below: float = number(0.0, "Off below", "Inputs below this switch off.")

    rate_hz: float | None = None

    def __init__(self, p: Parameters) -> None:
        self.inputs = {"in": Port(ANY, ANY, ())}
        self.outputs = {"out": Port(FLAG, None, ())}
        self.p = p

    def start(self) -> float:
        return 0.0

    def step(self, state: float, x: float, dt: float) -> tuple[float, tuple[Value, ...]]:
        out = 1.0 if x > self.p.on_above else 0.0 if x < self.p.off_below else state
        return out, (out,)
