"""Vectors to numbers and back."""

import math

import numpy as np

from strapdown.arrays import Array
from strapdown.environment.blocks.common import count
from strapdown.environment.diagram.block import BlockParameters, Memoryless, block
from strapdown.environment.diagram.port import Port, Value


class _Size(BlockParameters):
    size: int = count(3, "Size", "Numbers in the vector.")


@block("split", category="vector")
class Split(Memoryless):
    """The numbers of a vector, out1 first."""

    Parameters = _Size

    def __init__(self, p: _Size) -> None:
        self.inputs = {"in": Port(shape=(p.size,), group="signal")}
        self.outputs = {f"out{i}": Port(shape=(), group="signal") for i in range(1, p.size + 1)}

    def apply(self, x: Array) -> tuple[Value, ...]:
        return tuple(x.tolist())


@block("join", category="vector")
class Join(Memoryless):
    """A vector of numbers, in1 first."""

    Parameters = _Size

    def __init__(self, p: _Size) -> None:
        self.inputs = {f"in{i}": Port(shape=(), group="signal") for i in range(1, p.size + 1)}
        self.outputs = {"out": Port(shape=(p.size,), group="signal")}

    def apply(self, *inputs: Value) -> Value:
        return np.array(inputs, dtype=np.float64)


@block("norm", category="vector")
class Norm(Memoryless):
    """Length of a vector."""

    Parameters = _Size

    def __init__(self, p: _Size) -> None:
        self.inputs = {"in": Port(shape=(p.size,), group="signal")}
        self.outputs = {"out": Port(shape=(), group="signal")}

    def apply(self, x: Array) -> Value:
        return math.hypot(*x.tolist())
