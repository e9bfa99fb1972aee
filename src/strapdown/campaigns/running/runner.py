"""Runs what is missing of a campaign: batches of about a second, results written as they come."""

import contextlib
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import FrameType

import numpy as np
import pyarrow as pa

from strapdown.campaigns.plan import KEYS, Plan
from strapdown.campaigns.running.columns import SECONDS, table_of
from strapdown.campaigns.running.dataset import Dataset
from strapdown.campaigns.running.enough import Enough
from strapdown.campaigns.running.pools import WINDOW, Pool
from strapdown.campaigns.running.worker import Place
from strapdown.campaigns.trial import within
from strapdown.errors import InputError

BATCH_S = 1.0  # of work: a task costs 2 to 3 ms, so this costs 0.3 %
MOST_PER_S = 100.0  # batches: one program writes them all; with many workers each has more work
MOST_IN_BATCH = 5000
BLOCK = 10  # seeds of every cell in turn, where no other block is given: early results for all cells
STATUS_EACH_S = 1.0


@dataclass(frozen=True)
class Progress:
    """done, total: runs; total is at most so many where a cell may end earlier. rate: runs per second, lately.
    left_s: None while it is not known."""

    done: int
    total: int
    failed: int
    rate: float
    left_s: float | None
    workers: int


class Runner:
    def __init__(self, plan: Plan, dataset: Dataset, progress: Callable[[Progress], None] = lambda now: None) -> None:
        self.plan, self.dataset, self._progress = plan, dataset, progress
        self._index = {cell.name: i for i, cell in enumerate(plan.space.cells())}
        if len(self._index) < plan.space.count:
            raise InputError("two cells of the grid have the same hash; change a value in its last digit")
        self._done = np.zeros((plan.space.count, plan.most), dtype=bool)
        self._enough = None if plan.until is None else Enough(plan)
        self._again: deque[Sequence[Place]] = deque()
        self._suspects: deque[Sequence[Place]] = deque()  # batches whose worker died
        self._alone = False  # whether a suspect runs now
        self._failed = 0
        self._mean_s: float | None = None
        self._recent: deque[tuple[float, int]] = deque(maxlen=50)
        self._status_at = 0.0
        self._resume()
        self.before = int(self._done.sum())

    def _resume(self) -> None:
        rows = self.dataset.rows()
        if rows is not None:
            self._mark(rows)

    def _mark(self, rows: pa.Table) -> None:
        cells = np.array([self._index.get(name, -1) for name in rows.column("cell").to_pylist()])
        numbers = rows.column("number").to_numpy() - self.plan.first
        known = (cells >= 0) & (numbers >= 0) & (numbers < self.plan.most)
        self._done[cells[known], numbers[known]] = True
        self._failed += int(known.sum()) - rows.filter(pa.array(known)).column("failed").null_count
        if self._enough is not None and known.any():
            self._enough.put(cells[known], numbers[known], rows.filter(pa.array(known)))

    @property
    def done(self) -> int:
        return int(self._done.sum())

    @property
    def failed(self) -> int:
        return self._failed

    def _places(self) -> Iterator[Place]:
        """What is missing, block by block of seeds; cells that have enough are passed over."""
        until, most = self.plan.until, self.plan.most
        block = BLOCK if until is None else until.block
        for start in range(0, most, block):
            for cell in range(self.plan.space.count):
                limit = most if self._enough is None else self._enough.count(cell)
                for i in range(start, min(start + block, limit)):
                    if not self._done[cell, i]:
                        yield cell, self.plan.first + i

    def run(self, pool: Pool) -> None:
        """Until nothing is missing. Whatever ends it, all that was reported is kept."""
        try:
            with _remembered_interrupt() as interrupted:
                self._run(pool, interrupted)
        except BaseException:
            with contextlib.suppress(Exception):  # as on a full disk: the first error is the one to report
                self._report(0, last=True)
            raise
        self._report(pool.size(), last=True)

    def _run(self, pool: Pool, interrupted: threading.Event) -> None:
        places = self._places()
        while True:
            if interrupted.is_set():
                raise KeyboardInterrupt
            alone = self._submit(pool, places)
            if not pool.pending():
                break
            for ended in pool.finished(0.5):
                if ended.rows is not None:
                    self._keep(ended.rows)
                elif not ended.died:
                    self._again.append(ended.batch)
                elif alone:
                    self._split(ended.batch)
                else:
                    self._suspects.append(ended.batch)
            self._report(pool.size())

    def _submit(self, pool: Pool, places: Iterator[Place]) -> bool:
        """Fill the pool. Whether the only batch there is a suspect.

        When a worker dies, Dask blames every batch that waits on it. So a batch that was blamed runs again while
        nothing else does; only then is it known to be the cause. This waits for the end, where all else is done, or, in
        a campaign whose cells end early, for what is running now: their ends may depend on it.
        """
        if self._alone and pool.pending():
            return True
        self._alone = False
        waits = self._enough is not None and bool(self._suspects)
        while not waits and pool.pending() < WINDOW * pool.size():
            batch = self._again.popleft() if self._again else self._batch(places, pool.size())
            if not batch:
                break
            pool.submit(batch)
        if self._suspects and not pool.pending():
            pool.submit(self._suspects.popleft())
            self._alone = True
        return self._alone

    def _batch(self, places: Iterator[Place], workers: int) -> list[Place]:
        size = 1 if self._mean_s is None else int(max(BATCH_S, workers / MOST_PER_S) / max(self._mean_s, 1e-9))
        batch: list[Place] = []
        for place in places:
            batch.append(place)
            if len(batch) >= min(max(size, 1), MOST_IN_BATCH):
                break
        return batch

    def _keep(self, rows: pa.Table) -> None:
        self.dataset.write(rows)
        self._mark(rows)
        seconds = np.array([s or 0.0 for s in rows.column(SECONDS).to_pylist()])
        mean = float(seconds.mean())
        # the first run of a process loads what is loaded once: later batches count more
        self._mean_s = mean if self._mean_s is None else 0.5 * (self._mean_s + mean)
        self._recent.append((time.monotonic(), len(rows)))
        self._refuse_figure_that_is_not_there(rows)

    def _refuse_figure_that_is_not_there(self, rows: pa.Table) -> None:
        """What a function returns is known after its first run only."""
        until = self.plan.until
        if self.plan.kind != "function" or until is None or until.figure in rows.schema.names:
            return
        if rows.column("failed").null_count:
            known = {*KEYS, SECONDS, *(self.plan.column(factor) for factor in self.plan.factors)}
            there = [name for name in rows.schema.names if name not in known]
            raise InputError(
                f"until.figure is {until.figure}, and the trial returns {', '.join(there)}; name one of them"
            )

    def _split(self, batch: Sequence[Place]) -> None:
        """A batch whose worker died each time while nothing else ran: one of its runs is the cause."""
        if len(batch) > 1:
            half = len(batch) // 2
            self._suspects.extendleft((batch[half:], batch[:half]))
            return
        cell, number = batch[0]
        one = self.plan.cell_at(cell)
        settings = {self.plan.column(k): v for k, v in {**one.settings, **self.plan.space.drawn(number)}.items()}
        row = {"key": one.key(number), "cell": one.name, "number": number, "seed": self.plan.space.seed(number)}
        why = "the worker process died in this run each time that it was tried; it may need more memory"
        self._keep(table_of(self.plan, [{**row, **settings, "failed": why, **within(self.plan, {})}]))

    def _report(self, workers: int, last: bool = False) -> None:
        total = self.plan.runs
        if self._enough is not None:
            total = sum(self._enough.count(cell) for cell in range(self.plan.space.count))
        done, rate = self.done, 0.0
        if len(self._recent) > 1:
            took = self._recent[-1][0] - self._recent[0][0]
            rate = sum(n for _, n in list(self._recent)[1:]) / took if took > 0.0 else 0.0
        missing = max(total - done, 0)
        left = missing / rate if rate > 0.0 else None
        now = Progress(min(done, total), total, self._failed, rate, left, workers)
        self._progress(now)
        if last or time.monotonic() - self._status_at > STATUS_EACH_S:
            self._status_at = time.monotonic()
            self.dataset.write_status(
                done=now.done,
                total=total,
                failed=self._failed,
                rate=rate,
                left_s=left,
                workers=workers,
                running=not last,
            )


@contextlib.contextmanager
def _remembered_interrupt() -> Iterator[threading.Event]:
    """Ctrl-C ends the campaign between two batches; a second one at once. An exception would be dropped, with a
    traceback, where it meets a callback of Dask's garbage collection.
    """
    interrupted = threading.Event()
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield interrupted
        return

    def remember(number: int, frame: FrameType | None) -> None:
        if interrupted.is_set():
            before(number, frame)
        interrupted.set()

    signal.signal(signal.SIGINT, remember)
    try:
        yield interrupted
    finally:
        signal.signal(signal.SIGINT, before)
