"""Signals of the diagram over time, recorded at the control rate."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from strapdown.arrays import Array
from strapdown.environment.diagram.kinds import Kinds
from strapdown.environment.diagram.port import Port
from strapdown.environment.diagram.running.runner import Runner
from strapdown.environment.session.recording.growing import GrowingRows

_RECORDED = ("estimation",)  # categories whose outputs are recorded
_COMPACT = 256  # rows that are kept as they come before they are copied


def recorded_signals(runner: Runner, kinds: Kinds) -> list[str]:
    """Outputs of estimators, of the console and of actuators, and the inputs of scopes, loggers and the estimate."""
    found: list[str] = []
    for step in runner.plan.steps:
        block = step.block
        ours = kinds[step.kind].category in _RECORDED or step.kind in ("console", "slider")
        if ours or getattr(block, "actuates", False):
            found += [f"{step.path}.{name}" for name in step.output_ports]
        if step.watches:
            found += [
                f"{step.path}.{name}"
                for name, source in zip(step.input_ports, step.inputs, strict=True)
                if isinstance(source, int)
            ]
    return list(dict.fromkeys(found))


class SignalLog:
    """Rows of signals in segments: a new segment begins when the diagram is replaced."""

    def __init__(self) -> None:
        self._stretches: list[tuple[dict[str, Port], GrowingRows]] = []
        self._pending: list[tuple[Any, ...]] = []
        self._read: Callable[[], tuple[Any, ...]] = tuple

    def use(self, runner: Runner, names: Sequence[str]) -> None:
        """Record these signals from now on."""
        self._compact()
        ports = {name: runner.signals[name].port for name in names}
        width = 1 + sum(_size(port) for port in ports.values())
        self._read = runner.reader(names)
        if self._stretches and list(self._stretches[-1][0].items()) == list(ports.items()):
            return
        self._stretches.append((ports, GrowingRows(width)))

    def add(self, t: float) -> None:
        self._pending.append((t, *self._read()))
        if len(self._pending) >= _COMPACT:
            self._compact()

    def __len__(self) -> int:
        """Number of all rows, including those that were dropped."""
        return sum(len(rows) for _, rows in self._stretches) + len(self._pending)

    def forget(self, count: int) -> None:
        """Drop the first rows; a segment that is dropped as a whole keeps its last chunk."""
        self._compact()
        for _, rows in self._stretches:
            rows.forget(count)
            count -= len(rows)
            if count <= 0:
                return

    def cut(self, count: int) -> None:
        """Keep the first rows only."""
        self._compact()
        while self._stretches and len(self) - len(self._stretches[-1][1]) >= count and len(self._stretches) > 1:
            self._stretches.pop()
        if self._stretches:
            before = len(self) - len(self._stretches[-1][1])
            self._stretches[-1][1].cut(max(count - before, 0))

    def _compact(self) -> None:
        """Copy new rows signal by signal: a row at a time would take ten times as long."""
        if not self._pending:
            return
        ports, rows = self._stretches[-1]
        n = len(self._pending)
        block = np.empty((n, rows.width))
        times, *signals = zip(*self._pending, strict=True)
        block[:, 0] = times
        at = 1
        for given, port in zip(signals, ports.values(), strict=True):
            size = _size(port)
            values: Any = given
            if given[0] is None:  # before the first step of its block
                values = [np.full(port.shape or (), np.nan) if value is None else value for value in values]
            block[:, at : at + size] = np.array(values).reshape(n, size)
            at += size
        rows.extend(block)
        self._pending = []

    def columns(self) -> tuple[Array, dict[str, Array], Mapping[str, Port]]:
        """Times, signals by name ((n,) or (n, k)), and their types. NaN where a signal did not exist."""
        self._compact()
        ports: dict[str, Port] = {}
        for stretch, _ in self._stretches:
            for name, port in stretch.items():
                ports.setdefault(name, port)
        n = sum(len(rows) - rows.first for _, rows in self._stretches)
        t = np.empty(n)
        columns = {name: np.full((n, *(port.shape or ())), np.nan) for name, port in ports.items()}
        first = 0
        for stretch, growing in self._stretches:
            rows = growing.rows()
            last = first + len(rows)
            t[first:last] = rows[:, 0]
            at = 1
            for name, port in stretch.items():
                size = _size(port)
                if (port.shape or ()) == (ports[name].shape or ()):
                    columns[name][first:last] = rows[:, at : at + size].reshape(len(rows), *(port.shape or ()))
                at += size
            first = last
        return t, columns, ports


def _size(port: Port) -> int:
    return int(np.prod(port.shape)) if port.shape else 1
