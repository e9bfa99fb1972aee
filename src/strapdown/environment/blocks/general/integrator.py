"""Blocks whose output depends on their state only: they break loops."""

from collections.abc import Mapping
from copy import copy
from typing import Any, Self

import numpy as np
from pydantic import model_validator

from strapdown.environment.blocks.common import FAR, clipped, number, unit_out
from strapdown.environment.blocks.general.logic import ON
from strapdown.environment.diagram.block import BlockParameters, block
from strapdown.environment.diagram.port import ANY, FLAG, Port, Value


class _Initial(BlockParameters):
    initial: float = number(0.0, "Initial value", "Output at the start, of every element.")


class _Remembering:
    """A block that starts at its initial value, with the shape of the connected signal."""

    rate_hz: float | None = None
    p: Any
    _shape: tuple[int, ...] = ()

    def resolved(self, inputs: Mapping[str, Port], outputs: Mapping[str, Port]) -> Self:
        known = copy(self)
        known._shape = inputs["in"].shape or ()
        return known

    def start(self) -> Any:
        return np.full(self._shape, self.p.initial) if self._shape else self.p.initial


@block("unit_delay", category="math")
class UnitDelay(_Remembering):
    """The input of the previous step. Breaks algebraic loops."""

    Parameters = _Initial

    def __init__(self, p: _Initial) -> None:
        self.p = p
        self.inputs = {"in": Port(group="signal")}
        self.outputs = {"out": Port(group="signal")}

    def output(self, state: Any) -> tuple[Value, ...]:
        return (state,)

    def step(self, state: Any, x: Value, dt: float) -> tuple[Any, tuple[Value, ...]]:
        return x, (state,)


@block("integrator", category="math")
class Integrator(_Remembering):
    """Integral of the input, which is held over each step, between limits. Breaks algebraic loops."""

    class Parameters(_Initial):
        lower: float = number(-FAR, "Lower limit", "Smallest value of the output.")
        upper: float = number(FAR, "Upper limit", "Largest value of the output.")
        unit_out: str = unit_out("Empty: not checked.")

        @model_validator(mode="after")
        def _order(self) -> "Integrator.Parameters":
            if not self.lower <= self.initial <= self.upper:
                raise ValueError(
                    f"initial is {self.initial:g}, outside lower {self.lower:g} to upper {self.upper:g}; correct one"
                )
            return self

    def __init__(self, p: Parameters) -> None:
        self.p = p
        self.inputs = {"in": Port(group="signal"), "reset": Port(FLAG, None, (), default=0.0)}
        self.outputs = {"out": Port(p.unit_out or ANY, group="signal")}

    def output(self, state: Any) -> tuple[Value, ...]:
        return (clipped(state, self.p.lower, self.p.upper),)

    def step(self, state: Any, x: Value, reset: float, dt: float) -> tuple[Any, tuple[Value, ...]]:
        if reset > ON:
            return self.start(), ()
        return clipped(state + x * dt, self.p.lower, self.p.upper), ()
