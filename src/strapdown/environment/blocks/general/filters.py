"""Low-pass filters of first and second order, notch."""

import math
from collections.abc import Mapping
from copy import copy
from functools import lru_cache
from typing import Any, Literal, Self

import numpy as np

from strapdown.environment.diagram.block import BlockParameters, block, parameter
from strapdown.environment.diagram.port import Port, Value
from strapdown.kernels.compiled import fix_signature
from strapdown.kernels.environment import low_pass as kernel

_START = Literal["input", "zero"]


def _start() -> Any:
    return parameter(
        "input", title="Start", description="input: settled at the first input. zero: settled at 0, with a transient."
    )


def _frequency(default: float, description: str) -> Any:
    return parameter(default, title="Frequency", description=description, unit="Hz", limits=(1e-6, 1e5))


def _with_shape(given: Any, inputs: Mapping[str, Port]) -> Any:
    known = copy(given)
    known._shape = inputs["in"].shape or ()
    known._length = known._shape[0] if len(known._shape) == 1 else 0
    return known


def _zero(shape: tuple[int, ...]) -> Any:
    return np.zeros(shape) if shape else 0.0


def _same() -> tuple[dict[str, Port], dict[str, Port]]:
    return {"in": Port(group="signal")}, {"out": Port(group="signal")}


@block("low_pass", category="filter")
class LowPass:
    """First-order low-pass 1 / (1 + time_constant s), exact for an input that is held over each step."""

    class Parameters(BlockParameters):
        time_constant_s: float = parameter(
            0.05,
            title="Time constant",
            description="A step has reached 63 % after this time.",
            unit="s",
            limits=(0.0, 1e6),
        )
        start: _START = _start()

    rate_hz: float | None = None
    _shape: tuple[int, ...] = ()
    _length = 0  # of a vector, for the kernel; 0: a number, or no vector

    def __init__(self, p: Parameters) -> None:
        self.inputs, self.outputs = _same()
        self.p = p
        self._shares: dict[float, float] = {}  # by length of the step

    def resolved(self, inputs: Mapping[str, Port], outputs: Mapping[str, Port]) -> Self:
        return _with_shape(self, inputs)

    def start(self) -> Any:
        fix_signature(kernel.low_pass)
        return _zero(self._shape) if self.p.start == "zero" else None

    def step(self, state: Any, x: Value, dt: float) -> tuple[Any, tuple[Value, ...]]:
        if state is None:
            return x, (x,)
        share = self._shares.get(dt) or self._share(dt)
        if self._length:
            out = np.empty(self._length)
            try:
                kernel.low_pass(x, state, share, out)
                return out, (out,)
            except TypeError:  # integers, or a strided view
                pass
        moved = state + share * (x - state)
        return moved, (moved,)

    def _share(self, dt: float) -> float:
        """Share of the distance to its input that the output moves in a step."""
        tau = self.p.time_constant_s
        found = self._shares[dt] = -math.expm1(-dt / tau) if tau > 0.0 else 1.0
        return found


_Coefficients = tuple[float, float, float, float, float]  # b0, b1, b2, a1, a2 with a0 = 1


class _SecondOrder:
    """Bilinear transform, exact at the given frequency; its state has two numbers (transposed direct form II)."""

    rate_hz: float | None = None
    p: Any
    _shape: tuple[int, ...] = ()
    _length = 0  # of a vector, for the kernel; 0: a number, or no vector

    def __init__(self, p: Any) -> None:
        self.inputs, self.outputs = _same()
        self.p = p

    def coefficients(self, dt: float) -> _Coefficients:
        raise NotImplementedError

    def refuses(self, dt: float) -> str | None:
        if self.p.frequency_hz * dt >= 0.5:
            return (
                f"frequency_hz is {self.p.frequency_hz:g}, not below half of its rate of {1.0 / dt:g} Hz; "
                "lower it, or give the block a higher rate_hz"
            )
        return None

    def resolved(self, inputs: Mapping[str, Port], outputs: Mapping[str, Port]) -> Self:
        return _with_shape(self, inputs)

    def start(self) -> Any:
        fix_signature(kernel.second_order)
        return (_zero(self._shape), _zero(self._shape)) if self.p.start == "zero" else None

    def step(self, state: Any, x: Value, dt: float) -> tuple[Any, tuple[Value, ...]]:
        b0, b1, b2, a1, a2 = self.coefficients(dt)
        if state is None:  # settled at x: both filters have gain 1 at frequency 0
            state = ((1.0 - b0) * x, (b2 - a2) * x)
        first, second = state
        if self._length:
            n = self._length
            vector, after, later = np.empty(n), np.empty(n), np.empty(n)
            try:
                kernel.second_order(x, first, second, b0, b1, b2, a1, a2, vector, after, later)
                return (after, later), (vector,)
            except TypeError:  # integers, or a strided view
                pass
        out = b0 * x + first
        return (b1 * x - a1 * out + second, b2 * x - a2 * out), (out,)


@block("low_pass_2", category="filter")
class LowPass2(_SecondOrder):
    """Second-order low-pass; damping 0.707 is a Butterworth filter."""

    class Parameters(BlockParameters):
        frequency_hz: float = _frequency(5.0, "Corner frequency.")
        damping: float = parameter(
            0.7071067811865476, title="Damping", description="Damping ratio.", unit="1", limits=(0.01, 100.0)
        )
        start: _START = _start()

    def coefficients(self, dt: float) -> _Coefficients:
        return _low_pass_2(self.p.frequency_hz, self.p.damping, dt)


@block("notch", category="filter")
class Notch(_SecondOrder):
    """Removes one frequency and passes the others."""

    class Parameters(BlockParameters):
        frequency_hz: float = _frequency(72.0, "Frequency that is removed.")
        width_hz: float = parameter(
            10.0,
            title="Width",
            description="Width of the band in which more than 3 dB are removed, for frequencies far below the rate.",
            unit="Hz",
            limits=(1e-6, 1e5),
        )
        start: _START = _start()

    def coefficients(self, dt: float) -> _Coefficients:
        return _notch(self.p.frequency_hz, self.p.width_hz, dt)


@lru_cache(maxsize=1024)
def _low_pass_2(frequency_hz: float, damping: float, dt: float) -> _Coefficients:
    k = math.tan(math.pi * frequency_hz * dt)
    a0 = 1.0 + 2.0 * damping * k + k * k
    b = k * k / a0
    return b, 2.0 * b, b, 2.0 * (k * k - 1.0) / a0, (1.0 - 2.0 * damping * k + k * k) / a0


@lru_cache(maxsize=1024)
def _notch(frequency_hz: float, width_hz: float, dt: float) -> _Coefficients:
    k = math.tan(math.pi * frequency_hz * dt)
    wide = k * width_hz / frequency_hz
    a0 = 1.0 + wide + k * k
    b, middle = (1.0 + k * k) / a0, 2.0 * (k * k - 1.0) / a0
    return b, middle, b, middle, (1.0 - wide + k * k) / a0
