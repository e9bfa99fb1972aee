"""Detects failed sensors by their readings, and replaces them. These blocks run at the rate of the sensor."""

from typing import Any

import numpy as np

from strapdown.environment.blocks.common import between
from strapdown.environment.blocks.general.logic import ON
from strapdown.environment.diagram.block import BlockParameters, Memoryless, block
from strapdown.environment.diagram.port import ANY, FLAG, Port, Value

_FLAG = Port(FLAG, None, ())
Watched = tuple[Any, float]  # the last reading as plain numbers, and how long it has been the same (s)


@block("stuck_check", category="filter")
class StuckCheck:
    """Passes the flag `ok` of a sensor, and switches it off when the reading has not changed for `longest_s`.

    The noise of a real sensor changes every reading, so a constant reading means that it is stuck or dead. A sensor
    without noise looks stuck while nothing moves.
    """

    class Parameters(BlockParameters):
        longest_s: float = between(0.2, 0.0, 3600.0, "Longest time", "Without a change for this time, ok is off.", "s")

    rate_hz: float | None = None

    def __init__(self, p: Parameters) -> None:
        self.p = p
        self.inputs = {"in": Port(ANY, ANY), "new": _FLAG, "ok": Port(FLAG, None, (), default=1.0)}
        self.outputs = {"ok": _FLAG}

    def start(self) -> Watched:
        return None, 0.0

    def step(self, state: Watched, x: Value, new: float, ok: float, dt: float) -> tuple[Watched, tuple[Value, ...]]:
        last, since_s = state
        since_s += dt
        if new > ON:
            now = x.tolist() if isinstance(x, np.ndarray) else x
            if now != last:
                last, since_s = now, 0.0
        return (last, since_s), (1.0 if ok > ON and since_s <= self.p.longest_s else 0.0,)


@block("fallback", category="filter")
class Fallback(Memoryless):
    """Passes a reading while `ok` is on, and another signal in its place while it is off."""

    def __init__(self, p: BlockParameters) -> None:
        self.inputs = {"in": Port(group="signal"), "instead": Port(group="signal"), "ok": _FLAG}
        self.outputs = {"out": Port(group="signal")}

    def apply(self, x: Value, instead: Value, ok: float) -> Value:
        return x if ok > ON else instead
