"""What runs on a worker: batches of keys of an archive. Loaded there by its name, so every worker needs strapdown."""

import contextlib
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from distributed import WorkerPlugin, get_worker

from strapdown.campaigns.archive import Archive, Work, opened
from strapdown.campaigns.running.columns import table_of
from strapdown.campaigns.running.versions import own_version
from strapdown.campaigns.trial import row_of

_MOST_OPEN = 4  # archives that a worker keeps
_open: dict[str, Work] = {}

Place = tuple[int, int]  # of a run: index of its cell, its number


class ArchivePlugin(WorkerPlugin):
    """Carries the archive to every worker once, also to those that come later."""

    def __init__(self, archive: Archive) -> None:
        self.name = plugin_name(archive.digest)
        self.data = archive.data
        self.folder = ""

    def setup(self, worker: Any) -> None:
        self.folder = str(worker.local_directory)  # the worker removes it when it ends


def plugin_name(digest: str) -> str:
    return f"strapdown-{digest}"


def run_batch(digest: str, expected: str, places: Sequence[Place]) -> pa.Table | str:
    """The rows of these runs; or a sentence on why this worker cannot run any."""
    if own_version() != expected:
        return f"worker {get_worker().address} has strapdown {own_version()}, this program is {expected}"
    if digest not in _open:
        plugin = get_worker().plugins[plugin_name(digest)]
        keep(digest, opened(Archive(plugin.data), Path(plugin.folder)))
    return run_places(_open[digest], places)


def keep(digest: str, work: Work) -> None:
    """Kernels are compiled before the first run, by one process of a host: the others find them in its cache."""
    if work.base.kernels:
        with _host_lock():
            from strapdown.kernels.compiled import MOTION, compile_kernels

            for _ in compile_kernels((*MOTION, *work.base.kernels), helped=False):
                pass
    while len(_open) >= _MOST_OPEN:
        _open.pop(next(iter(_open)))
    _open[digest] = work


def run_places(work: Work, places: Sequence[Place]) -> pa.Table:
    return table_of(work.plan, [row_of(work, work.plan.cell_at(cell), number) for cell, number in places])


@contextlib.contextmanager
def _host_lock() -> Iterator[None]:
    """One process of this user on this host at a time. Without file locks they compile in parallel, as often as there
    are workers, to the same result."""
    path = Path(tempfile.gettempdir()) / f"strapdown-kernels-{os.getuid() if hasattr(os, 'getuid') else 0}.lock"
    try:
        import fcntl

        file = path.open("a+b")
    except (ImportError, OSError):
        yield
        return
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
