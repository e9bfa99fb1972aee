"""Refuse data that does not fit into memory, with a sentence and beforehand, where the system would kill the
process.
"""

import os
from pathlib import Path

from strapdown.errors import InputError

_CONTAINER_LIMIT = Path("/sys/fs/cgroup/memory.max")


def physical_bytes() -> int | None:
    """Memory of this machine, or the limit of its container; None where the system does not report it."""
    try:
        there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
    try:
        return min(there, int(_CONTAINER_LIMIT.read_text("ascii")))
    except (ValueError, OSError):  # "max", or no container
        return there


def used_bytes() -> int:
    """Memory that this process uses now; 0 where the system does not report it."""
    try:
        return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        return 0


def refuse_beyond_memory(more_bytes: float, what: str, instead: str) -> None:
    """Refuse work that needs more memory than the computer has.

    what: "navigating 1000 samples".
    instead: what the user can do.
    """
    there = physical_bytes()
    needed = used_bytes() + more_bytes
    if there is not None and needed > there:
        raise InputError(
            f"{what} needs {needed / 1e9:.3g} GB of memory and this machine has {there / 1e9:.3g}; {instead}"
        )
