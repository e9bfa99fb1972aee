#!/usr/bin/env python3
"""Long checks of campaigns; exit code 1 if one fails.

Usage: python tools/campaign_checks.py paper-c | quadcopter | many | kills [--runs N] [--workers N] [--keep DIR]

With --keep the campaign stays in DIR, and the same command goes on with one that was stopped. Then
`python tools/campaign_pictures.py paper-c DIR/paper_c` makes its picture.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests")]
EXAMPLES = ROOT / "examples" / "campaigns"
MOST_GROWTH_MB = 150.0  # of 1e5 runs: their table in memory, once
FALSE_ALARM = 1e-3


def run_campaign_file(name: str, folder: Path, runs: int | None, workers: int) -> None:
    text = (EXAMPLES / f"{name}.toml").read_text(encoding="utf-8")
    if runs is not None:
        text = text.replace("runs = 100", f"runs = {runs}")
    file = folder / f"{name}.toml"
    file.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "strapdown", "campaign"]
    subprocess.run([*command, "run", str(file), "-o", str(folder / name), "--workers", str(workers)], check=True)
    print(subprocess.run([*command, "show", str(folder / name)], check=True, capture_output=True, text=True).stdout)


def paper_c(folder: Path, runs: int | None, workers: int) -> bool:
    """Seven parts on paper C's square; the cell of the paper's part agrees with `reproduce C` within chance."""
    import numpy as np
    from scipy.special import ndtri

    from strapdown.campaigns.results.cells import Results
    from strapdown.papers.c.navigation import OURS, WHEEL, monte_carlo

    run_campaign_file("paper_c", folder, runs, workers)
    results = Results(folder / "paper_c")
    count = results.plan.most
    reproduced = monte_carlo(lambda part: None, min(count, 50))
    good = True
    for wheel, name in ((False, OURS), (True, WHEEL)):
        wanted = {"sensor.imu.part": "MPU-6050", "calibration.effort": "positions", "navigate.odometer": wheel}
        cell = next(cell for cell in results.cells if dict(cell.settings) == wanted)
        ours = results.values("stops.final_percent", cell)
        theirs = reproduced.results["square", name].final
        sigma = np.hypot(ours.std(ddof=1) / np.sqrt(len(ours)), theirs.std(ddof=1) / np.sqrt(len(theirs)))
        limit = float(ndtri(1.0 - 0.25 * FALSE_ALARM)) * sigma  # two sides, two comparisons
        apart = abs(ours.mean() - theirs.mean())
        good &= bool(apart <= limit)
        print(
            f"{name}: dr / L at the end {ours.mean():.3f} % in the campaign ({len(ours)} runs), {theirs.mean():.3f} % "
            f"by reproduce C ({len(theirs)} runs); {apart:.3f} apart, chance allows {limit:.3f}: "
            f"{'holds' if apart <= limit else 'FAILS'}"
        )
    print(answer(results))
    return good


def answer(results) -> str:  # type: ignore[no-untyped-def]
    """Which part needs which effort to end within 1 % of the way in 95 % of the drives."""
    import numpy as np

    lines = ["Within 1 % of the way at the end, in 95 % of the drives:"]
    for wheel in (False, True):
        for effort in ("none", "rest", "positions"):
            good = [
                str(cell.settings["sensor.imu.part"])
                for cell in results.cells
                if cell.settings["navigate.odometer"] is wheel
                and cell.settings["calibration.effort"] == effort
                and np.quantile(results.values("stops.final_percent", cell), 0.95) <= 1.0
            ]
            lines.append(f"  {'with' if wheel else 'without'} odometer, {effort}: {', '.join(good) or 'no part'}")
    return "\n".join(lines)


def quadcopter(folder: Path, runs: int | None, workers: int) -> bool:
    """Loss probability over wind, vibration and part, with intervals."""
    from strapdown.campaigns.results.cells import Results

    run_campaign_file("quadcopter_map", folder, runs, workers)
    results = Results(folder / "quadcopter_map")
    return all(results.failed(cell) == 0 for cell in results.cells)


def many(folder: Path, runs: int | None, workers: int) -> bool:
    """1e5 short runs: the memory of the program that runs them stays bounded."""
    import strapdown as sd
    from campaign_cases import quick_trial

    count = (runs or 100_000) // 2
    sd.run_campaign(quick_trial, {"gain": [1.0, 2.0]}, 500, workers=workers, output=folder / "first")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    began = time.monotonic()
    found = sd.run_campaign(quick_trial, {"gain": [1.0, 2.0]}, count, workers=workers, output=folder / "many")
    took = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    size = sum(path.stat().st_size for path in (folder / "many").rglob("*") if path.is_file())
    parts = len(list((folder / "many" / "parts").iterdir()))
    print(
        f"{len(found)} runs in {took:.0f} s, {1e3 * took / len(found):.3f} ms each; peak memory {before:.0f} MB "
        f"after 1000 runs, {after:.0f} MB at the end; {size / 1e6:.1f} MB on disk in {parts} parts"
    )
    return len(found) == 2 * count and after - before < MOST_GROWTH_MB


def kills(folder: Path, runs: int | None, workers: int) -> bool:
    """30 kills (-9) at random times: the table is that of a campaign that was never killed."""
    import strapdown as sd
    from campaign_cases import killed_again_and_again, slow_trial

    seeds, count = 1000, runs or 30
    kept = killed_again_and_again(folder / "killed", count, seeds, workers)
    sd.run_campaign(slow_trial, {"gain": [1.0, 2.0, 4.0]}, seeds, workers=workers, output=folder / "whole")
    same = (folder / "killed" / "table.parquet").read_bytes() == (folder / "whole" / "table.parquet").read_bytes()
    print(f"{count} kills, kept before each: {kept}")
    print(f"nothing that was kept was lost: {kept == sorted(kept)}; table equal to the byte: {same}")
    return same and kept == sorted(kept)


CHECKS = {"paper-c": paper_c, "quadcopter": quadcopter, "many": many, "kills": kills}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("check", choices=CHECKS)
    parser.add_argument("--runs", type=int)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the campaign in this folder")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) if given.keep is None else given.keep
        folder.mkdir(parents=True, exist_ok=True)
        passed = CHECKS[given.check](folder, given.runs, given.workers)
    print("passed" if passed else "FAILED")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
