"""The PID controller."""

import math
from functools import lru_cache
from typing import Any, Literal

from pydantic import model_validator

from strapdown.environment.blocks.common import FAR, chosen, clipped, not_negative, number, unit_out
from strapdown.environment.blocks.general.logic import ON
from strapdown.environment.diagram.block import BlockParameters, block, parameter
from strapdown.environment.diagram.port import ANY, FLAG, Port, Value


@block("pid", category="control")
class Pid:
    """PID controller: kp e + integral of ki e + kd de/dt, with a limited output, anti-windup and filtered derivative.

    The integral stops while the output is at a limit and the error would drive it further out. The state is
    (integral, filtered derivative, value that the derivative is taken of).
    """

    class Parameters(BlockParameters):
        kp: float = number(1.0, "Proportional gain", "Output per error.", "output/error")
        ki: float = number(0.0, "Integral gain", "Output per error and second.", "output/(error s)")
        kd: float = number(0.0, "Derivative gain", "Output per rate of change.", "output s/error")
        derivative_of: Literal["measured", "error"] = parameter(
            "measured",
            title="Derivative of",
            description="measured: a step of the target gives no kick. error: target and measurement.",
        )
        derivative_filter_s: float = not_negative(0.0, "Derivative filter", "Its time constant; 0: no filter.", "s")
        lower: float = number(-FAR, "Lower limit", "Smallest output.", "output")
        upper: float = number(FAR, "Upper limit", "Largest output.", "output")
        unit_out: str = unit_out("Empty: not checked.")

        @model_validator(mode="after")
        def _order(self) -> "Pid.Parameters":
            if self.lower > self.upper:
                raise ValueError(f"lower is {self.lower:g}, above upper of {self.upper:g}; exchange them")
            return self

    rate_hz: float | None = None

    def __init__(self, p: Parameters) -> None:
        self.p = p
        self.inputs = {
            "target": Port(group="signal"),
            "measured": Port(group="signal"),
            "reset": Port(FLAG, None, (), default=0.0),
        }
        self.outputs = {"out": Port(p.unit_out or ANY, group="signal")}

    def start(self) -> Any:
        return None

    def step(
        self, state: Any, target: Value, measured: Value, reset: float, dt: float
    ) -> tuple[Any, tuple[Value, ...]]:
        p = self.p
        error = target - measured
        # of -measured, so that both choices act in the same direction
        of = error if p.derivative_of == "error" else -measured
        integral, slope, before = (0.0 * error, 0.0 * error, of) if state is None or reset > ON else state
        kept = _kept(p.derivative_filter_s, dt)
        slope = kept * slope + (1.0 - kept) * (of - before) / dt
        wanted = p.kp * error + integral + p.kd * slope
        out = clipped(wanted, p.lower, p.upper)
        outward = (wanted - out) * (p.ki * error) > 0.0
        integral = chosen(outward, integral, integral + p.ki * error * dt)
        return (integral, slope, of), (out,)


@lru_cache(maxsize=1024)
def _kept(time_constant_s: float, dt: float) -> float:
    """Share of its value that a first-order filter keeps over a step."""
    return math.exp(-dt / time_constant_s) if time_constant_s > 0.0 else 0.0
