"""Saturation, dead zone, rate limiter."""

from typing import Any

import numpy as np
from pydantic import model_validator

from strapdown.environment.blocks.common import clipped, not_negative, number
from strapdown.environment.diagram.block import BlockParameters, Memoryless, block
from strapdown.environment.diagram.port import Port, Value


def _same() -> tuple[dict[str, Port], dict[str, Port]]:
    return {"in": Port(group="signal")}, {"out": Port(group="signal")}


class Limits(BlockParameters):
    lower: float = number(-1.0, "Lower limit", "Smallest value of the output.")
    upper: float = number(1.0, "Upper limit", "Largest value of the output.")

    @model_validator(mode="after")
    def _order(self) -> "Limits":
        if self.lower > self.upper:
            raise ValueError(f"lower is {self.lower:g}, above upper of {self.upper:g}; exchange them")
        return self


@block("saturation", category="math")
class Saturation(Memoryless):
    """Limits a signal to a range."""

    Parameters = Limits

    def __init__(self, p: Limits) -> None:
        self.inputs, self.outputs = _same()
        self.lower, self.upper = p.lower, p.upper

    def apply(self, x: Value) -> Value:
        return clipped(x, self.lower, self.upper)


@block("dead_zone", category="math")
class DeadZone(Memoryless):
    """Zero around zero; outside, the distance to the edge of the zone."""

    class Parameters(BlockParameters):
        width: float = not_negative(0.1, "Half width", "Inputs up to this size give 0.")

    def __init__(self, p: Parameters) -> None:
        self.inputs, self.outputs = _same()
        self.width = p.width

    def apply(self, x: Value) -> Value:
        return x - clipped(x, -self.width, self.width)


@block("rate_limiter", category="math")
class RateLimiter:
    """Follows its input with a limited rate of change; begins at the first input."""

    class Parameters(BlockParameters):
        rising_per_s: float = not_negative(1.0, "Rising", "Largest increase per second.", "signal/s")
        falling_per_s: float = not_negative(1.0, "Falling", "Largest decrease per second.", "signal/s")

    rate_hz: float | None = None

    def __init__(self, p: Parameters) -> None:
        self.inputs, self.outputs = _same()
        self.rising, self.falling = p.rising_per_s, p.falling_per_s

    def start(self) -> Any:
        return None

    def step(self, state: Any, x: Value, dt: float) -> tuple[Any, tuple[Value, ...]]:
        out = x if state is None else _towards(state, x, self.falling * dt, self.rising * dt)
        return out, (out,)


def _towards(now: Any, target: Any, down: float, up: float) -> Any:
    """Move towards a target; the target itself is returned where it is within reach, so that no roundoff remains."""
    if isinstance(target, np.ndarray):
        return np.minimum(np.maximum(target, now - down), now + up)
    low, high = now - down, now + up
    return low if target < low else high if target > high else target
