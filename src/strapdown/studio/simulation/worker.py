"""The thread for what takes longer than a frame: files, figures of a run, calibrations."""

import ctypes
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any


class Worker(ThreadPoolExecutor):
    """One job after the other. Memory that a job has freed goes back to the system.

    A report needs copies of a long run, 200 MB. Without this the C library keeps them: the process looks as if it grew.
    """

    def __init__(self) -> None:
        super().__init__(1, thread_name_prefix="files")

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future = super().submit(fn, *args, **kwargs)
        super().submit(give_back_memory)  # a job of its own: this one still holds its arguments when it ends
        return future


def give_back_memory() -> None:
    """Unused memory to the system, where the C library can do so (glibc)."""
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):  # another C library; Windows has no CDLL(None)
        return
    trim(0)
