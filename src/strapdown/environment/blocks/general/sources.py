"""Signals that need no input."""

import math

import numpy as np
from pydantic import model_validator

from strapdown.checks import END_ROUNDOFF_S
from strapdown.environment.blocks.common import FAR, Numbers, not_negative, number
from strapdown.environment.diagram.block import BlockParameters, block, parameter
from strapdown.environment.diagram.port import Port, Value


class _Typed(BlockParameters):
    unit: str = parameter("", title="Unit", description="Unit of the output. Empty: not checked.", max_length=40)
    frame: str = parameter("", title="Frame", description="Frame of the output. Empty: not checked.", max_length=40)


class _Source:
    """The state of a source counts steps, so that its time has no accumulated roundoff."""

    rate_hz: float | None = None

    def __init__(self, p: _Typed) -> None:
        self.p = p
        self.inputs: dict[str, Port] = {}
        self.outputs = {"out": Port(p.unit or None, p.frame or None, ())}

    def start(self) -> int:
        return 0

    def step(self, state: int, dt: float) -> tuple[int, tuple[Value, ...]]:
        return state + 1, (self.at(state * dt),)

    def at(self, t_s: float) -> float:
        raise NotImplementedError


@block("constant", category="source")
class Constant(_Source):
    """A constant number."""

    class Parameters(_Typed):
        value: float = number(0.0, "Value", "The number.")

    def __init__(self, p: Parameters) -> None:
        super().__init__(p)
        self._outputs = (p.value,)

    def step(self, state: int, dt: float) -> tuple[int, tuple[Value, ...]]:
        return state, self._outputs


@block("constant_vector", category="source")
class ConstantVector(_Source):
    """A constant vector."""

    class Parameters(_Typed):
        values: Numbers = parameter(
            (0.0, 0.0, 0.0),
            title="Values",
            description="The numbers of the vector.",
            unit="signal",
            min_length=1,
            max_length=100,
            strict=False,
        )

    def __init__(self, p: Parameters) -> None:
        super().__init__(p)
        self.outputs = {"out": Port(p.unit or None, p.frame or None, (len(p.values),))}
        vector = np.array(p.values, dtype=np.float64)
        vector.flags.writeable = False
        self._outputs = (vector,)

    def step(self, state: int, dt: float) -> tuple[int, tuple[Value, ...]]:
        return state, self._outputs


@block("step", category="source")
class Step(_Source):
    """Changes from one value to another at a time."""

    class Parameters(_Typed):
        before: float = number(0.0, "Before", "Value before the step.")
        after: float = number(1.0, "After", "Value from the step on.")
        time_s: float = not_negative(1.0, "Time", "Time of the step.", "s")

    p: Parameters

    def at(self, t_s: float) -> float:
        # 0.027 s of the file and 3 steps of 0.009 s differ by roundoff
        return self.p.after if t_s >= self.p.time_s - END_ROUNDOFF_S else self.p.before


@block("ramp", category="source")
class Ramp(_Source):
    """Constant, then rising with a slope, then constant again."""

    class Parameters(_Typed):
        begin: float = number(0.0, "Begin", "Value before the ramp.")
        slope_per_s: float = number(1.0, "Slope", "Change per second.", "signal/s")
        time_s: float = not_negative(0.0, "Time", "Begin of the ramp.", "s")
        duration_s: float = not_negative(1.0, "Duration", "Length of the ramp.", "s")

    p: Parameters

    def at(self, t_s: float) -> float:
        p = self.p
        return p.begin + p.slope_per_s * min(max(t_s - p.time_s, 0.0), p.duration_s)


@block("sine", category="source")
class Sine(_Source):
    """A sine: offset + amplitude sin(2 pi frequency t + phase)."""

    class Parameters(_Typed):
        amplitude: float = number(1.0, "Amplitude", "Half of the range.")
        frequency_hz: float = parameter(
            1.0, title="Frequency", description="Periods per second.", unit="Hz", limits=(0.0, 1e6)
        )
        phase_rad: float = number(0.0, "Phase", "Phase at time 0.", "rad")
        offset: float = number(0.0, "Offset", "Mean value.")

    p: Parameters

    def at(self, t_s: float) -> float:
        p = self.p
        return p.offset + p.amplitude * math.sin(2.0 * math.pi * p.frequency_hz * t_s + p.phase_rad)

    def refuses(self, dt: float) -> str | None:
        if self.p.frequency_hz * dt > 0.5:
            return f"a sine of {self.p.frequency_hz:g} Hz needs a rate of more than {2 * self.p.frequency_hz:g} Hz"
        return None


@block("pulse", category="source")
class Pulse(_Source):
    """On for a part of every period, else off."""

    class Parameters(_Typed):
        high: float = number(1.0, "On", "Value while on.")
        low: float = number(0.0, "Off", "Value while off.")
        period_s: float = parameter(
            1.0, title="Period", description="Length of a period.", unit="s", limits=(1e-6, FAR)
        )
        on_s: float = not_negative(0.5, "On for", "Time on in each period.", "s")
        time_s: float = not_negative(0.0, "Time", "Begin of the first period.", "s")

        @model_validator(mode="after")
        def _fits(self) -> "Pulse.Parameters":
            if self.on_s > self.period_s:
                raise ValueError(f"on_s is {self.on_s:g}, longer than period_s of {self.period_s:g}; shorten it")
            return self

    p: Parameters

    def at(self, t_s: float) -> float:
        p = self.p
        since = t_s - p.time_s + END_ROUNDOFF_S
        return p.high if since >= 0.0 and since % p.period_s < p.on_s else p.low
