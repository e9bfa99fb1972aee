"""A session that runs in real time, or at a multiple of it."""

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from strapdown.environment.session.session import Session

SPIN_S = 0.0007  # before the time of a cycle the loop waits actively: a sleep wakes up late by about this much


@dataclass
class Punctuality:
    """How late cycles ended against the clock (s), and how long they took."""

    late_s: list[float] = field(default_factory=list)
    took_s: list[float] = field(default_factory=list)

    def figures(self) -> dict[str, float]:
        late, took = np.array(self.late_s), np.array(self.took_s)
        return {
            "end_late_ms": 1e3 * float(late[-1]),
            "late_p99_ms": 1e3 * float(np.percentile(late, 99.0)),
            "late_worst_ms": 1e3 * float(late.max()),
            "cycle_p99_ms": 1e3 * float(np.percentile(took, 99.0)),
            "cycle_worst_ms": 1e3 * float(took.max()),
        }


def run_paced(
    session: Session,
    duration_s: float,
    factor: float = 1.0,
    each: Callable[[], None] | None = None,
    clock: Callable[[], float] = time.perf_counter,
    sleep: Callable[[float], None] = time.sleep,
) -> Punctuality:
    """Run for a time of the simulation, at `factor` times real time.

    each: called after every control cycle.

    The schedule is absolute: a late cycle does not move those after it.
    """
    every = round(session.base_hz / session.runner.diagram.control_hz)
    first, end = session.ticks, session.ticks + round(duration_s * session.base_hz)
    seen = Punctuality()
    enabled = gc.isenabled()
    gc.disable()
    try:
        began = clock()
        while session.ticks < end:
            start = clock()
            until = min(session.ticks + every, end)
            while session.ticks < until:  # a cycle of the session may hold several physics steps
                session.tick()
            if each is not None:
                each()
            due = began + (session.ticks - first) / (session.base_hz * factor)
            done = clock()
            seen.took_s.append(done - start)
            wait = due - done
            if wait > SPIN_S:
                sleep(wait - SPIN_S)
            while clock() < due:
                pass
            seen.late_s.append(max(clock() - due, 0.0))
    finally:
        if enabled:
            gc.enable()
    return seen
