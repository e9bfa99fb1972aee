"""Signals of a running diagram as columns of numbers."""

from collections.abc import Sequence

import numpy as np

from strapdown.arrays import Array
from strapdown.environment.diagram.running.runner import Runner
from strapdown.errors import InputError


def record(
    runner: Runner, duration_s: float, signals: Sequence[str] | None = None, rate_hz: float | None = None
) -> dict[str, Array]:
    """Run for a time and keep signals: "t_s" and one array for each.

    signals: names of the signals; default those of scopes and loggers.
    rate_hz: default the control rate of the diagram.
    """
    base_hz = runner.plan.base_hz
    every = round(base_hz / (runner.diagram.control_hz if rate_hz is None else rate_hz))
    if every < 1 or not duration_s >= 0.0:
        raise InputError(f"recording {duration_s} s at {rate_hz} Hz is not possible with a clock of {base_hz:g} Hz")
    names = list(signals) if signals is not None else [n for group in runner.watched().values() for n in group]
    names = [name for name in dict.fromkeys(names) if name in runner.signals or signals is not None]
    read = runner.reader(names)
    times, rows = [], []
    for _ in range(round(duration_s * base_hz)):
        keep = runner.ticks % every == 0
        if keep:
            times.append(runner.t_s)
        runner.tick()
        if keep:
            rows.append(read())
    columns = zip(*rows, strict=True) if rows else ([] for _ in names)
    return {"t_s": np.array(times), **{n: np.array(c, dtype=np.float64) for n, c in zip(names, columns, strict=True)}}
