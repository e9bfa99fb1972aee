#!/usr/bin/env python3
"""Long checks of the measuring module: 10 minutes at 1 kHz over a pseudo-terminal, and a recorder killed 50 times.

Usage: python tools/device_checks.py [MINUTES] [KILLS]
"""

import multiprocessing
import os
import signal
import sys
import tempfile
import time
from multiprocessing import Process
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path

import numpy as np

from strapdown.devices.chips.feed import Rows
from strapdown.devices.link import Link
from strapdown.devices.protocol.decoder import Decoder
from strapdown.devices.protocol.messages import Settings
from strapdown.devices.protocol.stream import ModuleStream
from strapdown.devices.recorder import Recorder
from strapdown.devices.source import ModuleSource
from strapdown.environment.virtual_module.module import Make, VirtualModule
from strapdown.environment.virtual_module.served import PtyLine, serve
from strapdown.io import read_one

FORK = multiprocessing.get_context("fork")


def feed() -> Rows:
    """At rest with noise; the last second repeats."""
    rng, n = np.random.default_rng(0), 30_000
    acc = np.array([0.0, 0.0, 9.80665]) + 0.05 * rng.standard_normal((n, 3))
    mag = np.array([20.0, 0.0, -45.0]) + 0.3 * rng.standard_normal((n, 3))
    return Rows(iter([(np.arange(n) / 1000.0, acc, 0.003 * rng.standard_normal((n, 3)), mag, np.full(n, 25.0))]))


def module_process(line: PtyLine, pace: float) -> Process:
    """A virtual module on the line, in a process of its own."""
    target = serve
    child = FORK.Process(
        target=target, args=(VirtualModule(feed(), Make()), line), kwargs={"until": lambda: False, "pace": pace}
    )
    child.start()
    return child  # type: ignore[return-value]


def ten_minutes(minutes: float) -> bool:
    line = PtyLine()
    child = module_process(line, 1.0)
    source = ModuleSource(Link(line.name), Settings(rate_hz=1000))
    with tempfile.TemporaryDirectory() as folder:
        source.greet()
        recorder = Recorder(Path(folder), source.stream)
        assert source.hello_frame is not None
        recorder.put(source.hello_frame, time.monotonic())
        source.heard = lambda frame, now: recorder.put(frame, now, source.decoder.bad)
        source.start()
        while source.stream.t_s < 60.0 * minutes:
            source.poll()
        recorder.close()
        log = read_one(recorder.files[0])
    source.close()
    child.kill()
    counts, status, fit = source.stream.counts, source.stream.status, source.stream.clock.fit()
    overruns = -1 if status is None else status.overruns
    drift = "" if fit is None else f", clock {fit[1]:+.1f} ppm, residual {1e3 * fit[2]:.2f} ms"
    print(
        f"{minutes:g} minutes at 1 kHz: {counts.samples} samples, {counts.lost} lost, {source.decoder.bad} bad frames, "
        f"{overruns} overruns, {len(log)} in the file{drift}"
    )
    return counts.lost == 0 and source.decoder.bad == 0 and overruns == 0 and len(log) == counts.samples


def record(name: str, folder: Path, counted: "Synchronized[int]") -> None:
    source = ModuleSource(Link(name))
    source.greet()
    recorder = Recorder(folder, source.stream)
    assert source.hello_frame is not None
    recorder.put(source.hello_frame, time.monotonic())
    source.heard = recorder.put
    source.start()
    while True:
        source.poll()
        counted.value = source.stream.counts.samples


def killed(times: int) -> bool:
    """kill -9 of the recorder at random times: the file opens and holds what was sent, up to the last second."""
    rng, fine, least = np.random.default_rng(1), 0, 0
    sent = VirtualModule(feed(), Make())
    sent.controller.running = True
    stream, truth = ModuleStream(), []
    for frame in Decoder().feed(sent.run_until(25_000_000)):
        truth += stream.take(frame)
    acc = np.array([s.sample.acc_s for s in truth])
    for _ in range(times):
        with tempfile.TemporaryDirectory() as folder:
            line, counted = PtyLine(), FORK.Value("q", 0)
            module = module_process(line, 10.0)
            child = FORK.Process(target=record, args=(line.name, Path(folder), counted))
            child.start()
            wanted = int(rng.integers(20, 1500))
            while counted.value < wanted:
                time.sleep(0.002)
            seen = counted.value
            assert child.pid is not None
            os.kill(child.pid, signal.SIGKILL)
            child.join()
            module.kill()
            module.join()
            line.close()
            log = read_one(next(Path(folder).glob("*.module")))
            assert log.acc_s is not None
            least = min(least, len(log) - seen)
            fine += len(log) >= seen - 100 and np.array_equal(log.acc_s, acc[: len(log)])
    print(
        f"kill -9 of the recorder, {times} times: {fine} files open and equal what was sent; "
        f"at worst {-least} samples missing"
    )
    return fine == times


if __name__ == "__main__":
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    kills = int(sys.argv[2]) if len(sys.argv) > 2 else 50
    sys.exit(0 if all((ten_minutes(minutes), killed(kills))) else 1)
