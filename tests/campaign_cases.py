"""What tests of campaigns share: small campaigns, and a Dask cluster of real processes on loopback."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

DASK = [sys.executable, "-m", "dask"]

# a straight of 0.6 m with two stops: 40 ms of CPU
PATH = """
version = 1
title = "a short straight"
measure = ["final_percent", "horizontal.final", "nees_position", "diverged"]
[path]
kind = "stop-and-go-straight"
length_m = 0.6
first_rest_s = 3.0
[set]
"sensor.imu.rate_hz" = 50.0
"""
GRID = """
[grid]
"sensor.imu.part" = ["MPU-6050", "ADIS16470"]
[draw]
"navigate.heading_sigma_deg" = { uniform = [0.0, 2.0] }
[seeds]
runs = 2
"""


def slow_trial(gain, seed):
    """20 ms, and numbers that depend on the arguments alone."""
    import random
    import time

    time.sleep(0.02)
    draw = random.Random(1000 * seed)
    if seed % 17 == 0:
        raise ValueError(f"seed {seed} is refused")
    return {"error": gain * draw.gauss(0.0, 1.0), "lost": draw.random() < 0.1}


def quick_trial(gain, seed):
    import random

    draw = random.Random(seed)
    return {"error": gain * draw.gauss(0.0, 1.0), "lost": draw.random() < 0.1}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Cluster:
    """A scheduler and workers as processes; all are killed at the end."""

    def __init__(self, folder, preload=None):
        self.port, self.folder, self.preload = free_port(), Path(folder), preload
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.running = []
        paths = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
        self.environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}

    def _start(self, *arguments):
        process = subprocess.Popen(
            [*DASK, *arguments],
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            cwd=self.folder,
        )
        self.running.append(process)
        return process

    def scheduler(self):
        process = self._start("scheduler", "--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard")
        self._answers()
        return process

    def _answers(self):
        until = time.monotonic() + 60.0
        while time.monotonic() < until:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.1)
        raise TimeoutError("the scheduler did not start")

    def worker(self):
        more = [] if self.preload is None else ["--preload", str(self.preload)]
        options = ["--nthreads", "1", "--no-dashboard", "--local-directory", str(self.folder), *more]
        return self._start("worker", self.address, *options)

    def kill(self, process):
        """-9, with its nanny's child."""
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.running:
            if process.poll() is None:
                self.kill(process)


def wait_for(condition, timeout_s=90.0):
    until = time.monotonic() + timeout_s
    while time.monotonic() < until:
        if condition():
            return True
        time.sleep(0.05)
    return False


def rows_in(folder):
    """Runs that a campaign has kept so far."""
    from strapdown.campaigns.running.dataset import Dataset

    rows = Dataset(folder).rows(["key"]) if (Path(folder) / "parts").is_dir() else None
    return 0 if rows is None else len(rows)


SCRIPT = """
import sys
import strapdown as sd
from campaign_cases import slow_trial

sd.run_campaign(slow_trial, {"gain": [1.0, 2.0, 4.0]}, int(sys.argv[2]), workers=int(sys.argv[3]), output=sys.argv[1])
"""


def killed_again_and_again(folder, kills, seeds, workers=2, seed=0):
    """Start a campaign, kill it (-9, with all its processes) at a random time after it has made progress, start it
    again; at the end let it finish. Returns the number of kept runs before each kill."""
    import random

    folder = Path(folder)
    draw, kept = random.Random(seed), []
    here = os.pathsep.join(filter(None, [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]))
    command = [sys.executable, "-c", SCRIPT, str(folder), str(seeds), str(workers)]

    def started():
        return subprocess.Popen(command, env={**os.environ, "PYTHONPATH": here}, start_new_session=True)

    for _ in range(kills):
        process = started()
        before = rows_in(folder)
        if draw.random() < 0.7:  # else it is killed anywhere, also while it starts
            wait_for(lambda before=before, process=process: rows_in(folder) > before or process.poll() is not None)
        time.sleep(draw.uniform(0.0, 0.4))
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        kept.append(rows_in(folder))
    assert started().wait(timeout=600) == 0
    return kept
