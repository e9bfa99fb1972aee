#!/usr/bin/env python3
"""Run the long checks and write what they print, with date and commit, to docs/evidence/.

Usage: python tools/evidence.py [NAME ...]      without a name: all of them
"""

import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "evidence"


@dataclass(frozen=True)
class Check:
    """A long check: its command, and what its figures show. It has passed if it exits with 0."""

    shows: str
    command: tuple[str, ...]


STRAPDOWN = (sys.executable, "-m", "strapdown")
REPRODUCED = {  # target of `strapdown reproduce`: what it shows
    "A": "Paper A: virtual sensors, all experiments at 50, 10 and 1 ms.",
    "B sensors": "Paper B: errors of virtual parts, found again from their readings.",
    "B orientation": "Paper B: orientation filters, in simulation and on recorded data.",
    "B flight": "Paper B: quadcopter, Mars helicopter and rover in the closed loop, faults.",
    "C calibration": "Paper C: calibration by positions and of the magnetometer, virtual and recorded.",
    "C navigation": "Paper C: its two tests with virtual robots, by the paper's filter and by ours.",
    "C scenarios": "Paper C: what may go wrong on its tests, and the cost of each fault.",
    "C foot": "Paper C: recorded walks with a sensor on the foot and in the hand.",
    "C robustness": "Drives unlike paper C's: eight families, three parts, whether sigma holds.",
}
CHECKS = {
    **{
        f"reproduce-{target.lower().replace(' ', '-')}": Check(shows, (*STRAPDOWN, "reproduce", *target.split()))
        for target, shows in REPRODUCED.items()
    },
    "calibration-halves": Check(
        "Two halves of 100 calibration sessions with drift: each parameter within two sigmas in 95 % of cases.",
        (sys.executable, "tools/calibration_checks.py"),
    ),
    "engines": Check(
        "Paper A in all engines, in one table with stated tolerances; CoppeliaSim by its stand-in.",
        (sys.executable, "tools/engine_checks.py"),
    ),
    "bench": Check("Speed next to peers measured in the same run.", (sys.executable, "-m", "benchmarks")),
    "device": Check(
        "The measuring module: 10 minutes at 1 kHz without a lost sample; a recorder killed 50 times.",
        (sys.executable, "tools/device_checks.py"),
    ),
    **{
        f"campaign-{name}": Check(shows, (sys.executable, "tools/campaign_checks.py", name))
        for name, shows in {
            "paper-c": "Paper C as a campaign: seven parts, three calibration efforts, with and without odometer.",
            "quadcopter": "Quadcopter: loss probability over wind, vibration and part, with intervals.",
            "many": "A campaign of 1e5 short runs with bounded memory.",
            "kills": "A campaign that is killed 30 times at random: only running work is lost, nothing counts twice.",
        }.items()
    },
    "kernels": Check(
        "Results of every filter and of the error chain do not depend on what was compiled before, to the bit.",
        (sys.executable, "tools/kernels_alone.py"),
    ),
    "fuzz": Check(
        "100 000 mutated files to every reader: no exception but our own, no hang, memory bounded.",
        (sys.executable, "tests/fuzz/harness.py", "--cases", "100000"),
    ),
    "fuzz-formats": Check(
        "10 000 mutated files of each of 15 formats of other programs: one sentence, no hang, at most 500 MB.",
        (sys.executable, "tests/fuzz/harness.py", "--formats", "--cases", "150000"),
    ),
    "large-bags": Check(
        "Bags of 2 GB: memory below 600 MB, and the speed next to the bare iteration of the reference library.",
        (sys.executable, "tools/large_bags.py"),
    ),
    "studio-hour": Check(
        "One hour of flight at real time, operated in the page: no process grows once the buffers are full.",
        (sys.executable, "tests/studio/long_flight.py", "--seconds", "3600"),
    ),
}


def main(arguments: list[str]) -> int:
    unknown = [name for name in arguments if name not in CHECKS]
    if unknown:
        print(f"there is no check {unknown[0]!r}; valid names: {', '.join(CHECKS)}", file=sys.stderr)
        return 2
    failed = [name for name in arguments or CHECKS if not run(name, CHECKS[name])]
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def run(name: str, check: Check) -> bool:
    """Run one check and write its page, whole or not at all."""
    print(f"{name}: {check.shows}", flush=True)
    began, cpu = time.monotonic(), os.times()
    with tempfile.TemporaryDirectory() as scratch:
        done = subprocess.run(
            check.command,
            cwd=scratch if check.command[: len(STRAPDOWN)] == STRAPDOWN else ROOT,  # figures and logs are not kept
            capture_output=True,
            text=True,
            env=environment(),
        )
    took, used = time.monotonic() - began, os.times()
    cpu_s = used.children_user + used.children_system - cpu.children_user - cpu.children_system
    passed = done.returncode == 0
    # the interpreter of this machine has no place in the page
    command = " ".join(("python", *check.command[1:]) if check.command[0] == sys.executable else check.command)
    page = (
        f"# {name}\n\n{check.shows}\n\n"
        f"- date: {datetime.now(UTC):%Y-%m-%d %H:%M} UTC\n- commit: {commit()}\n- command: `{command}`\n"
        f"- machine: {os.cpu_count()} cores, Python {platform.python_version()}, {took:.0f} s ({cpu_s:.0f} s of CPU)\n"
        f"- result: {'passed' if passed else f'FAILED, exit code {done.returncode}'}\n\n"
        f"```\n{done.stdout.rstrip()}\n```\n"
    )
    if not passed:
        page += f"\nOn standard error:\n\n```\n{done.stderr[-4000:].rstrip()}\n```\n"
    FOLDER.mkdir(parents=True, exist_ok=True)
    new = FOLDER / f".{name}.md.new"
    new.write_text(page, encoding="utf-8")
    new.replace(FOLDER / f"{name}.md")
    print(f"{name}: {'passed' if passed else 'FAILED'} in {took:.0f} s", flush=True)
    return passed


def environment() -> dict[str, str]:
    """That of the checks: a width for tables, this tree, and the recorded data wherever the check runs."""
    found = {**os.environ, "COLUMNS": "120", "PYTHONPATH": str(ROOT / "src")}
    beside = ROOT.parent / "shared" / "data"
    if "STRAPDOWN_DATA" not in found and beside.is_dir():
        found["STRAPDOWN_DATA"] = str(beside)
    return found


def commit() -> str:
    """The commit that was checked, marked where the tree has changes of its own besides the pages written here."""
    git = shutil.which("git")
    if git is None:
        return "unknown (no git)"
    head = subprocess.run([git, "rev-parse", "--short=12", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    changed = subprocess.run(
        [git, "status", "--porcelain", "--", ".", ":!docs/evidence"], cwd=ROOT, capture_output=True, text=True
    )
    if head.returncode != 0:
        return "unknown (no repository)"
    return head.stdout.strip() + (" with uncommitted changes" if changed.stdout.strip() else "")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
