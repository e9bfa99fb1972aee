"""Gain, sum, product, absolute value."""

import numpy as np

from strapdown.environment.blocks.common import MOST_PORTS, count, number, unit_out
from strapdown.environment.diagram.block import BlockParameters, Memoryless, block, parameter
from strapdown.environment.diagram.port import ANY, Port, Value


@block("gain", category="math")
class Gain(Memoryless):
    """Multiplies a number or a vector by a constant."""

    class Parameters(BlockParameters):
        gain: float = number(1.0, "Gain", "The factor.", "unit_out / unit of the input")
        unit_out: str = unit_out("Empty: the unit of the input.")

    def __init__(self, p: Parameters) -> None:
        self.inputs = {"in": Port(group="signal")}
        self.outputs = {"out": Port(p.unit_out or None, group="signal")}
        self.gain = p.gain

    def apply(self, x: Value) -> Value:
        return self.gain * x


@block("sum", category="math")
class Sum(Memoryless):
    """Adds or subtracts its inputs, which have one type."""

    class Parameters(BlockParameters):
        signs: str = parameter(
            "+-",
            title="Signs",
            description="One + or - for each input, in1 first.",
            pattern=rf"^[+-]{{1,{MOST_PORTS}}}$",
        )

    def __init__(self, p: Parameters) -> None:
        self.inputs = {f"in{i}": Port(group="signal") for i in range(1, len(p.signs) + 1)}
        self.outputs = {"out": Port(group="signal")}
        self._first = 1.0 if p.signs[0] == "+" else -1.0
        self._others = tuple(1.0 if sign == "+" else -1.0 for sign in p.signs[1:])

    def apply(self, *inputs: Value) -> Value:
        total = self._first * inputs[0]
        for sign, x in zip(self._others, inputs[1:], strict=True):
            total = total + sign * x
        return total


@block("product", category="math")
class Product(Memoryless):
    """Multiplies its inputs, element by element for vectors."""

    class Parameters(BlockParameters):
        inputs: int = count(2, "Inputs", "Number of inputs.")
        unit_out: str = unit_out("Empty: not checked.")

    def __init__(self, p: Parameters) -> None:
        # each factor has a unit of its own, so only the shape is shared
        self.inputs = {f"in{i}": Port(ANY, ANY, group="signal") for i in range(1, p.inputs + 1)}
        self.outputs = {"out": Port(p.unit_out or ANY, ANY, group="signal")}

    def apply(self, first: Value, *others: Value) -> Value:
        for x in others:
            first = first * x
        return first


@block("absolute", category="math")
class Absolute(Memoryless):
    """Absolute value, element by element for vectors."""

    def __init__(self, p: BlockParameters) -> None:
        self.inputs = {"in": Port(group="signal")}
        self.outputs = {"out": Port(group="signal")}

    def apply(self, x: Value) -> Value:
        return np.abs(x) if isinstance(x, np.ndarray) else abs(x)
