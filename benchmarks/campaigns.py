"""Campaigns: what two workers reach next to two bare processes, and what a run costs besides its work."""

import multiprocessing
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from strapdown.campaigns.archive import opened
from strapdown.campaigns.python import _plain_space, _prepared
from strapdown.campaigns.running.dataset import Dataset
from strapdown.campaigns.running.pools import pool_of
from strapdown.campaigns.running.runner import Runner

SHARE_TARGET, OVERHEAD_TARGET_MS = 0.95, 5.0
RUNS, ROUNDS = 300, 5
LOOPS = 400_000  # about 20 ms


def trial(loops: int, seed: int) -> float:
    """Work of one core, without memory."""
    found = seed
    for i in range(loops):
        found = (1103515245 * found + i) & 0x7FFFFFFF
    return float(found)


def report() -> Iterator[str]:
    yield f"Campaigns: {RUNS} runs of about 20 ms on two workers (peer: two bare processes in the same round)"
    bare, ours, idle = _measured()
    share = bare / ours
    met = "met" if share >= SHARE_TARGET else "MISSED"
    yield (
        f"  two bare processes {RUNS / bare:6.1f} runs/s   two workers {RUNS / ours:6.1f} runs/s   share {share:4.2f} "
        f"  target {SHARE_TARGET:g}: {met}"
    )
    overhead = 1e3 * idle / RUNS
    met = "met" if overhead <= OVERHEAD_TARGET_MS else "MISSED"
    yield f"  a run without work {overhead:6.2f} ms, table and parts included   target {OVERHEAD_TARGET_MS:g} ms: {met}"


def _measured() -> tuple[float, float, float]:
    """Best wall time of all rounds: of bare processes, of two workers, and of two workers on runs without work."""
    spawn = multiprocessing.get_context("spawn")
    pipes = [spawn.Pipe() for _ in range(2)]
    processes = [spawn.Process(target=_bare, args=(theirs,), daemon=True) for _, theirs in pipes]
    for process in processes:
        process.start()
    try:
        busy, idle = (_prepared(trial, _plain_space(trial, {"loops": [loops]}, RUNS, None)) for loops in (LOOPS, 0))
        with (
            tempfile.TemporaryDirectory() as scratch,
            pool_of(busy.archive, opened(busy.archive, Path(scratch)), 2, None) as pool,
            pool_of(idle.archive, opened(idle.archive, Path(scratch)), 2, None) as other,
        ):
            best = [float("inf")] * 3
            _bare_round(pipes, 2)  # all are started
            for _ in range(ROUNDS):
                rounds = (_bare_round(pipes, RUNS), _round(busy, pool), _round(idle, other))
                best = [min(a, b) for a, b in zip(best, rounds, strict=True)]
    finally:
        for process in processes:
            process.kill()
    return best[0], best[1], best[2]


def _round(campaign: Any, pool: Any) -> float:
    with tempfile.TemporaryDirectory() as folder:
        dataset = Dataset(Path(folder) / "out")
        dataset.begin(campaign.plan, campaign.archive, {})
        runner = Runner(campaign.plan, dataset)
        began = time.perf_counter()
        runner.run(pool)
        dataset.write_table(campaign.plan)
        return time.perf_counter() - began


def _bare_round(pipes: Any, runs: int) -> float:
    began = time.perf_counter()
    for ours, _ in pipes:
        ours.send(runs // 2)
    for ours, _ in pipes:
        ours.recv()
    return time.perf_counter() - began


def _bare(link: Any) -> None:
    while True:
        for seed in range(link.recv()):
            trial(LOOPS, seed)
        link.send(True)
