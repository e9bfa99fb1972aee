"""A checked diagram as a plan: layout of states and values, and the order and rate of every block."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from strapdown.environment.diagram.checking.flatten import Node
from strapdown.environment.diagram.checking.order import delays
from strapdown.environment.diagram.checking.signal_types import SignalTypes
from strapdown.environment.diagram.port import Port
from strapdown.environment.diagram.problem import Problem
from strapdown.errors import InputError

MAX_CYCLE = 100_000  # ticks until all rates coincide again; the table of what is due has this length
_WHOLE = 1e-9  # relative: roundoff of base_hz / rate_hz, and rates written with 10 digits


@dataclass(frozen=True)
class Step:
    """One block in the plan.

    inputs: for each input the slot of its value, or the value of an input without a wire.
    slots: slots of its outputs.
    feeds: places of the values that the session writes.
    """

    path: str
    kind: str
    block: Any
    place: tuple[str, str]  # sheet and name in it: where its parameters stand
    every: int  # ticks
    dt: float
    delays: bool
    memoryless: bool
    watches: bool
    state: int | None  # slot of its state
    inputs: tuple["int | Default", ...]
    slots: tuple[int, ...]
    feeds: tuple[int, ...]
    input_ports: Mapping[str, Port]
    output_ports: Mapping[str, Port]

    def layout(self) -> tuple[Any, ...]:
        """Properties that must be equal for a state to be kept when the diagram is replaced."""
        shapes = tuple((n, p.shape) for ports in (self.input_ports, self.output_ports) for n, p in ports.items())
        return self.path, self.kind, self.dt, self.memoryless, shapes


@dataclass(frozen=True)
class Default:
    """The value of an input without a wire."""

    value: Any


@dataclass(frozen=True)
class Plan:
    """Steps in the order of the file, and their order of computation.

    order: order of computation. The values kept between ticks are one tuple with a slot for each state and each output.
    feeds: start values of the feeds that the session writes.
    """

    steps: tuple[Step, ...]
    order: tuple[int, ...]
    base_hz: float
    slots: int
    feeds: tuple[Any, ...]
    cycle: int  # ticks until all rates coincide again


def periods(nodes: Sequence[Node], base_hz: float, control_hz: float) -> tuple[list[int], list[Problem]]:
    """Ticks from one step of each block to its next; 0 where that is a problem."""
    problems: list[Problem] = []
    found = []
    for node in nodes:
        own = getattr(node.block, "rate_hz", None)
        rate = next((hz for hz in (node.rate_hz, own, node.around_hz) if hz is not None), control_hz)
        every = 0
        if own is not None and node.rate_hz is not None and own != node.rate_hz:
            message = f"its own rate is {own:g} Hz, rate_hz asks for {node.rate_hz:g} Hz; remove rate_hz"
        elif not (isinstance(rate, int | float) and math.isfinite(rate) and rate > 0.0):
            message = f"its rate is {rate!r}; a rate is a number of Hz above 0"
        elif rate > base_hz * (1.0 + _WHOLE):
            message = f"rate {rate:g} Hz is above the base clock of {base_hz:g} Hz; lower it, or raise base_hz"
        else:
            ratio = base_hz / rate
            every = round(ratio)
            message = ""
            if every > MAX_CYCLE:
                slowest = base_hz / MAX_CYCLE
                message, every = f"rate {rate:g} Hz is below the slowest possible of {slowest:g} Hz; raise it", 0
            elif abs(ratio - every) > _WHOLE * ratio:
                near = rates_near(base_hz, ratio)
                message = f"rate {rate:g} Hz does not divide the base clock of {base_hz:g} Hz; choose {near} Hz"
                every = 0
        if not message:
            message = refusal(node.block, every / base_hz)
        if message:
            problems.append(Problem("rate", node.path, node.place, message))
        found.append(every)
    if not problems and math.lcm(*found) > MAX_CYCLE:
        rates = ", ".join(f"{base_hz / every:g}" for every in sorted(set(found))[:12])
        message = (
            f"the rates {rates} Hz coincide less than once in {MAX_CYCLE} ticks; choose rates that divide each other"
        )
        problems.append(Problem("rate", "", "", message))
    return found, problems


def plan_of(
    nodes: Sequence[Node], order: Sequence[int], types: SignalTypes, every: Sequence[int], base_hz: float
) -> Plan:
    """The plan of a diagram without problems."""
    slots: dict[tuple[int, str | None], int] = {}  # node and output; None: its state
    for i, node in enumerate(nodes):
        for name in (*([] if _memoryless(node) else [None]), *node.block.outputs):
            slots[i, name] = len(slots)
    feeds: list[Any] = []
    steps = []
    for i, node in enumerate(nodes):
        given = dict(getattr(node.block, "feeds", {}))
        numbers = tuple(range(len(feeds), len(feeds) + len(given)))
        feeds += given.values()
        input_ports = {name: types.port(i, "in", name) for name in node.block.inputs}
        output_ports = {name: types.port(i, "out", name) for name in node.block.outputs}
        inputs: list[int | Default] = []
        for name, port in input_ports.items():
            source = node.sources.get(name)
            inputs.append(Default(_filled(port)) if source is None else slots[source.node, source.port])
        steps.append(
            Step(
                path=node.path,
                kind=node.kind,
                block=resolved(node.block, input_ports, output_ports),
                place=(node.sheet, node.name),
                every=every[i],
                dt=every[i] / base_hz,
                delays=delays(node),
                memoryless=_memoryless(node),
                watches=bool(getattr(node.block, "watches", False)),
                state=slots.get((i, None)),
                inputs=tuple(inputs),
                slots=tuple(slots[i, name] for name in node.block.outputs),
                feeds=numbers,
                input_ports=input_ports,
                output_ports=output_ports,
            )
        )
    return Plan(tuple(steps), tuple(order), base_hz, len(slots), tuple(feeds), math.lcm(1, *every))


def refusal(block: Any, dt: float) -> str:
    """Why the block cannot run with this step; empty if it can."""
    refuses = getattr(block, "refuses", None)
    try:
        return (refuses(dt) if callable(refuses) else None) or ""
    except Exception as error:  # the user's own class may raise anything
        return " ".join(f"refuses raised {type(error).__name__}: {error}".split())[:200]


def _memoryless(node: Node) -> bool:
    return callable(getattr(node.block, "apply", None)) and not delays(node)


def resolved(block: Any, inputs: Mapping[str, Port], outputs: Mapping[str, Port]) -> Any:
    """The block for ports of known shape, where it needs them."""
    method = getattr(block, "resolved", None)
    try:
        return method(inputs, outputs) if callable(method) else block
    except Exception as error:  # the user's own class may raise anything
        text = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise InputError(f"resolved of block class {type(block).__name__} raised {text}; correct it") from error


def _filled(port: Port) -> Any:
    if not port.shape:
        return port.default
    value = np.full(port.shape, port.default, dtype=np.float64)
    value.flags.writeable = False
    return value


def rates_near(base_hz: float, ratio: float) -> str:
    """The next higher and lower rate that divide the clock and can be written with few digits.

    ratio: clock rate over rate.
    """

    def writable(n: int) -> bool:
        return abs(float(f"{base_hz / n:g}") * n / base_hz - 1.0) <= _WHOLE

    above = next((n for n in range(int(ratio), 0, -1) if writable(n)), None)
    below = next((n for n in range(int(ratio) + 1, MAX_CYCLE + 1) if writable(n)), None)
    return " or ".join(f"{base_hz / n:g}" for n in (above, below) if n is not None)
