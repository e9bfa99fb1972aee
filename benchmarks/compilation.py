"""CPU seconds that compiling takes with an empty cache: each file of kernels, all of them, and what a demo needs.

Run as a module it prints one line for each kernel: python -m benchmarks.compilation
"""

import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import cpu_of

PRODUCT_TARGET_S = 45.0
VEHICLES_TARGET_S = 5.0
DEMO_TARGET_S = 20.0
VEHICLES = ("vehicles.", "environment.", "motion.vibration.")  # kernels of vehicles and the closed loop
_PACKAGE = "strapdown.kernels."


def each_kernel() -> Iterator[tuple[str, float]]:
    """(name, CPU seconds) of every kernel, compiled in this process in their order: a later one reuses what it shares
    with earlier ones."""
    from strapdown.kernels.compiled import KERNELS
    from strapdown.kernels.compiling import compile_one

    for kernel, signature in KERNELS:
        began = time.process_time()
        compile_one(kernel, signature)
        yield f"{kernel.__module__.removeprefix(_PACKAGE)}.{kernel.__name__}", time.process_time() - began


def report() -> list[str]:
    with tempfile.TemporaryDirectory() as cache:
        printed = subprocess.run(
            [sys.executable, "-m", __spec__.name],
            env={**os.environ, "NUMBA_CACHE_DIR": cache},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
    groups: Counter[str] = Counter()
    for line in printed.splitlines():
        seconds, name = line.split()
        groups[name.rpartition(".")[0]] += float(seconds)
    lines = ["First compilation, CPU seconds (empty cache)"]
    lines += [f"  {name:38s} {seconds:6.2f} s" for name, seconds in groups.most_common()]
    vehicles = sum(seconds for name, seconds in groups.items() if f"{name}.".startswith(VEHICLES))
    lines.append(_line("vehicles and closed loop", vehicles, VEHICLES_TARGET_S))
    lines.append(_line("all other kernels", sum(groups.values()) - vehicles, PRODUCT_TARGET_S))
    lines.append(_line("what strapdown demo needs", demo_s(), DEMO_TARGET_S))
    return lines


def demo_s() -> float:
    """CPU seconds of a demo with an empty cache, all its processes, less those of the same demo afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["-m", "strapdown", "demo", "-o", str(Path(folder) / "demo")]
        first, later = (cpu_of(command, NUMBA_CACHE_DIR=str(Path(folder) / "cache")) for _ in range(2))
    return first - later


def _line(name: str, seconds: float, target_s: float) -> str:
    return f"  {name:38s} {seconds:6.2f} s   target {target_s:g} s: {'met' if seconds <= target_s else 'MISSED'}"


if __name__ == "__main__":
    for name, seconds in each_kernel():
        print(f"{seconds:7.3f} {name}", flush=True)
