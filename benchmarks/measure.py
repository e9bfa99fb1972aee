"""One way to measure for all benchmarks."""

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence


def cpu_seconds(work: Callable[[], object], rounds: int = 5) -> float:
    """CPU time of the quickest of several rounds: what the machine does besides only ever adds. Of this thread: the
    threads of a linear algebra library spin for a while after a peer has used them."""
    best = float("inf")
    for _ in range(rounds):
        began = time.thread_time()
        work()
        best = min(best, time.thread_time() - began)
    return best


def interleaved(works: dict[str, Callable[[], object]], rounds: int = 5) -> dict[str, float]:
    """Best CPU time of each, taken in turns so that a slow spell of the machine meets all alike."""
    best = dict.fromkeys(works, float("inf"))
    for _ in range(rounds):
        for name, work in works.items():
            best[name] = min(best[name], cpu_seconds(work, 1))
    return best


def cpu_of(arguments: Sequence[str], **environment: str) -> float:
    """CPU seconds of a fresh interpreter and the processes that it waits for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True, env={**os.environ, **environment})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
