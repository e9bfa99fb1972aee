"""Where batches run: in this process, on a Dask cluster of this computer, on any Dask scheduler by its address."""

import contextlib
import logging
import queue
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import resource_tracker
from typing import Any, Protocol

import pyarrow as pa

from strapdown.campaigns.archive import Archive, Work
from strapdown.campaigns.running.scheduler_address import check_scheduler
from strapdown.campaigns.running.versions import own_version, versions
from strapdown.campaigns.running.worker import ArchivePlugin, Place, run_batch, run_places
from strapdown.errors import InputError

CONNECT_S = 10.0  # until a scheduler that is there must have answered
GONE_S = 120.0  # how long a scheduler or all workers may be away before the campaign ends
WINDOW = 3  # batches per worker: one runs, the next is there, one is on its way


@dataclass(frozen=True)
class Finished:
    """A batch: its rows; or died: the worker died each time; or neither: it must be given again."""

    batch: Sequence[Place]
    rows: pa.Table | None = None
    died: bool = False


class Pool(Protocol):
    def size(self) -> int:
        """Workers at the moment."""

    def pending(self) -> int: ...
    def submit(self, batch: Sequence[Place]) -> None: ...
    def finished(self, timeout_s: float) -> list[Finished]:
        """What has ended since; waits up to timeout_s for the first."""


class OwnProcess:
    """Everything here and now, for tests and short campaigns."""

    def __init__(self, work: Work) -> None:
        self._work, self._batches = work, list[Sequence[Place]]()

    def size(self) -> int:
        return 1

    def pending(self) -> int:
        return len(self._batches)

    def submit(self, batch: Sequence[Place]) -> None:
        self._batches.append(batch)

    def finished(self, timeout_s: float) -> list[Finished]:
        batch = self._batches.pop(0)
        return [Finished(batch, run_places(self._work, batch))]


class DaskPool:
    """Batches as futures of a Dask client. address: of the scheduler; where it is lost it is looked for again."""

    def __init__(self, address: str, archive: Archive, outside: bool) -> None:
        self._address, self._archive, self._outside = address, archive, outside
        self._ended: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._batches: dict[Any, Sequence[Place]] = {}
        self._workers, self._looked, self._alone_since = 0, 0.0, time.monotonic()
        self._client = self._connected()

    def _connected(self) -> Any:
        from distributed import Client

        if self._outside:
            check_scheduler(self._address)
        try:
            client = Client(self._address, timeout=CONNECT_S, set_as_default=False, name="strapdown-campaign")
        except (OSError, TimeoutError, ValueError) as error:
            raise InputError(
                f"there is no Dask scheduler at {self._address} ({_short(error)}); start one with `dask scheduler`, or "
                "check the address"
            ) from None
        try:
            check_versions(client, self._outside)
            client.register_plugin(ArchivePlugin(self._archive))
        except BaseException:
            client.close(timeout=2)
            raise
        return client

    def size(self) -> int:
        if time.monotonic() - self._looked > 1.0:
            self._looked = time.monotonic()
            with contextlib.suppress(Exception):
                self._workers = len(self._client.scheduler_info(n_workers=-1)["workers"])
            if self._workers:
                self._alone_since = time.monotonic()
            elif time.monotonic() - self._alone_since > GONE_S:
                raise InputError(
                    f"the scheduler at {self._address} has had no workers for {GONE_S:g} s; start some with "
                    f"`dask worker {self._address}`"
                )
        return max(self._workers, 1)

    def pending(self) -> int:
        return len(self._batches)

    def submit(self, batch: Sequence[Place]) -> None:
        future = self._client.submit(run_batch, self._archive.digest, own_version(), tuple(batch), pure=False)
        self._batches[future] = batch
        future.add_done_callback(self._ended.put)

    def finished(self, timeout_s: float) -> list[Finished]:
        found: list[Finished] = []
        with contextlib.suppress(queue.Empty):
            future = self._ended.get(timeout=timeout_s)
            while True:
                found += self._outcome(future)
                future = self._ended.get_nowait()
        if not found and self._client.status not in ("running", "connecting"):
            return self._again()
        if self._client.status == "connecting":  # the connection is lost, and with it all that the scheduler knew
            return found + self._again()
        return found

    def _outcome(self, future: Any) -> list[Finished]:
        from distributed import KilledWorker

        batch = self._batches.pop(future, None)
        if batch is None:  # of a scheduler that was lost in between
            return []
        if future.status == "finished":
            try:
                rows = future.result(timeout=60)
            except Exception:  # its worker was lost before it gave the rows
                return [Finished(batch)]
            if isinstance(rows, str):
                raise InputError(f"{rows}; install the same version on all workers")
            return [Finished(batch, rows)]
        if future.status == "error":
            error = future.exception()
            if isinstance(error, KilledWorker):
                return [Finished(batch, died=True)]
            raise InputError(
                f"a worker cannot run batches ({type(error).__name__}: {_short(error)}); install strapdown "
                f"{own_version()} on all workers"
            )
        return [Finished(batch)]

    def _again(self) -> list[Finished]:
        """Connect anew; all batches must be given again."""
        lost = [Finished(batch) for batch in self._batches.values()]
        self._batches.clear()
        with contextlib.suppress(Exception):
            self._client.close(timeout=2)
        began = time.monotonic()
        while True:
            try:
                self._client = self._connected()
                self._looked = 0.0
                return lost
            except InputError:
                if not self._outside or time.monotonic() - began > GONE_S:
                    raise
                time.sleep(1.0)

    def close(self) -> None:
        with contextlib.suppress(Exception):
            self._client.cancel(list(self._batches))
        with contextlib.suppress(Exception):
            self._client.close(timeout=5)


def check_versions(client: Any, outside: bool) -> None:
    """Dask's own packages and ours must be the same on all workers."""
    if not outside:
        return
    try:
        client.get_versions(check=True)
    except ValueError as error:
        raise InputError(f"the workers have other versions of Dask: {_short(error)}; install the same") from None

    def found() -> dict[str, str]:  # by value: a worker may have another strapdown, or none
        try:
            from strapdown.campaigns.running.versions import versions

            return versions()
        except ImportError:
            from importlib.metadata import PackageNotFoundError, version

            try:
                return {"strapdown": version("strapdown")}
            except PackageNotFoundError:
                return {"strapdown": "none"}

    ours = versions()
    for address, theirs in client.run(found).items():
        if theirs["strapdown"] != ours["strapdown"]:
            raise InputError(
                f"worker {address} has strapdown {theirs['strapdown']}, this program is {ours['strapdown']}; install "
                "the same version on all workers"
            )


@contextlib.contextmanager
def local_cluster(workers: int) -> Iterator[str]:
    """A Dask cluster of processes of this computer; its address."""
    from distributed import LocalCluster

    with (
        _quiet(),
        _without_main(),
        tempfile.TemporaryDirectory(prefix="strapdown-") as folder,
    ):
        with _interrupts_for_us_alone():
            cluster = LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                processes=True,
                dashboard_address="127.0.0.1:0",  # any free port: several campaigns may run on one computer
                host="127.0.0.1",
                local_directory=folder,
                silence_logs=logging.CRITICAL,
            )
        with cluster:
            yield cluster.scheduler_address


@contextlib.contextmanager
def pool_of(archive: Archive, work: Work, workers: int, scheduler: str | None) -> Iterator[Pool]:
    """scheduler: address, else a cluster of this computer with so many workers; 0: this process."""
    if scheduler is None and workers == 0:
        yield OwnProcess(work)
        return
    with contextlib.ExitStack() as stack:
        stack.enter_context(_quiet())
        address = scheduler if scheduler is not None else stack.enter_context(local_cluster(workers))
        pool = DaskPool(address, archive, scheduler is not None)
        stack.callback(pool.close)
        yield pool


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Dask reports every lost connection in its log; what matters of them we report ourselves."""
    loggers = [logging.getLogger(name) for name in ("distributed", "tornado.application", "asyncio", "bokeh")]
    before = [logger.level for logger in loggers]
    try:
        for logger in loggers:
            logger.setLevel(logging.CRITICAL + 1)
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


@contextlib.contextmanager
def _interrupts_for_us_alone() -> Iterator[None]:
    """Ctrl-C goes to all processes of a terminal. Workers would print a traceback each and lose their runs, so they are
    started with this signal blocked: threads and processes inherit that. One that arrives here meanwhile comes after.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # its start would unblock the signal again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _without_main() -> Iterator[None]:
    """New processes would import the user's script, and run it, if it had no guard. Functions go by value."""
    main = sys.modules["__main__"]
    kept = {name: getattr(main, name) for name in ("__file__", "__spec__") if hasattr(main, name)}
    try:
        for name in kept:
            setattr(main, name, None) if name == "__spec__" else delattr(main, name)
        yield
    finally:
        for name, value in kept.items():
            setattr(main, name, value)


def _short(error: object) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
