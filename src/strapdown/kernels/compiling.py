"""Compiles a list of kernels; on several cores, with the help of other processes.

Compiled kernels reach this process through numba's cache. The unit of work is a folder that a package's kernels share:
they call the same functions, which two processes would compile twice. Folders of many independent kernels are divided
by file. This process takes units from the front of the list, the others ask for units from its end.
"""

import ctypes
import gc
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from strapdown.kernels.cache import cache_problem
from strapdown.kernels.remembered_types import remember_types

_MOST_PROCESSES = 4
_DIVIDED = ("strapdown.kernels", "strapdown.kernels.orientation", "strapdown.kernels.navigation")
_TOGETHER = {"strapdown.kernels.orientation.lodestar": "strapdown.kernels.orientation.vqf"}  # which it is built on
_READY = "ready"
_PARENT_DEATH_SIGNAL = 1  # of Linux's prctl: at once, also on a machine too busy for the thread that reads the pipe
_PROGRAM = """
import sys
sys.path.append(sys.argv[1])
from strapdown.kernels.compiled import help_to_compile
help_to_compile()
"""


def compile_each(
    kernels: Sequence[tuple[Any, Any]], request: Callable[[list[str]], str], helped: bool
) -> Iterator[bool]:
    """Compile or load every kernel for its signature; yields for each whether it had to be compiled.

    request(modules) is the line that asks a helper process for the kernels of some modules.

    helped: called with the modules that helpers have compiled.
    """
    missing = _Units(_not_in_cache(kernels))
    count = 0 if cache_problem() or not helped else min(_cores(), _MOST_PROCESSES, len(missing)) - 1
    helpers: list[_Helper] = []
    later = []
    try:
        with suppress(OSError):  # no more processes are allowed: fewer helpers
            helpers.extend(_Helper(missing, request) for _ in range(count))
        for kernel, signature in kernels:
            if missing.take(kernel.__module__):
                yield compile_one(kernel, signature)
            else:
                later.append((kernel, signature))
        for helper in helpers:
            helper.wait()
        for kernel, signature in later:
            compile_one(kernel, signature)  # from the cache, or here if the helper failed
            yield True
    finally:
        for helper in helpers:
            helper.end()


def compile_one(kernel: Any, signature: Any) -> bool:
    """Compile or load a kernel; returns whether it was compiled.

    Garbage collection is off meanwhile: numba makes many small objects, and most of them are kept.
    """
    remember_types()
    before = sum(kernel.stats.cache_misses.values())
    searching = gc.isenabled()
    gc.disable()
    try:
        kernel.compile(signature)
    finally:
        if searching:
            gc.enable()
    return sum(kernel.stats.cache_misses.values()) > before


def _cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _not_in_cache(kernels: Sequence[tuple[Any, Any]]) -> list[str]:
    """Modules with a kernel that has no index in numba's cache. Whether a kernel is missing in the cache; only the use
    of helpers depends on it.
    """
    indexed: dict[str, set[str]] = {}
    missing = {}
    for kernel, _ in kernels:
        folder = kernel.stats.cache_path
        if folder is not None and folder not in indexed:
            # names are like filter.step-44.py311.nbi
            indexed[folder] = {path.name.rpartition("-")[0] for path in Path(folder).glob("*.nbi")}
        name = f"{kernel.__module__.rpartition('.')[2]}.{kernel.__name__}"
        if folder is None or name not in indexed[folder]:
            missing[kernel.__module__] = True
    return list(missing)


def unit_of(module: str) -> str:
    """Unit of work of one process: the module, or the folder whose kernels share their functions."""
    folder = module.rpartition(".")[0]
    return module if folder in _DIVIDED else _TOGETHER.get(folder, folder)


class _Units:
    """The modules that have to be compiled, by unit; each unit is taken once, by this process or by a helper."""

    def __init__(self, modules: list[str]) -> None:
        self._free: dict[str, list[str]] = {}
        for module in modules:
            self._free.setdefault(unit_of(module), []).append(module)
        self._helped: set[str] = set()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._free)

    def take(self, module: str) -> bool:
        """Take a unit for this process; False if a helper has taken the module's unit."""
        with self._lock:
            self._free.pop(unit_of(module), None)
            return module not in self._helped

    def give(self) -> list[str] | None:
        """Give a helper the modules of a unit, or None if all are taken."""
        with self._lock:
            if not self._free:
                return None
            _, modules = self._free.popitem()  # the last
            self._helped.update(modules)
            return modules


class _Helper:
    """A process that compiles into the cache. The helper ends when its standard input ends, so also when we are
    killed.
    """

    def __init__(self, units: _Units, request: Callable[[list[str]], str]) -> None:
        self._units, self._request = units, request
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _PROGRAM, str(Path(__file__).parents[2])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        asking, answer = self._process.stdout, self._process.stdin
        assert asking is not None and answer is not None
        with suppress(OSError, ValueError):  # the process has ended, or end() has closed the pipes
            for line in asking:
                if line.strip() == _READY:
                    modules = self._units.give()
                    if modules is None:
                        break
                    answer.write(self._request(modules) + "\n")
                    answer.flush()
            answer.close()

    def wait(self) -> None:
        self._thread.join()

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        self._thread.join()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                assert pipe is not None
                pipe.close()


def requested_files() -> Iterator[str]:
    """In a helper process: the parent's requests. The process ends, even while it compiles, when there are no more."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, int(signal.SIGKILL))
    requests: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(requests,), daemon=True).start()
    while cache_problem() is None:  # what cannot be stored does not help
        print(_READY, flush=True)
        yield requests.get()


def _read(requests: "queue.SimpleQueue[str]") -> None:
    for line in sys.stdin:
        requests.put(line.strip())
    os._exit(0)  # while numba compiles nothing else ends it
