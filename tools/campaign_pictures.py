#!/usr/bin/env python3
"""Pictures of docs/campaigns.md and their answers in words, from the folders of finished campaigns.

Usage: python tools/campaign_pictures.py paper-c DIR [-o FILE.png]
       python tools/campaign_pictures.py quadcopter DIR [-o FILE.png]

DIR is what `python tools/campaign_checks.py paper-c --keep OUT` leaves as OUT/paper_c, or quadcopter as
OUT/quadcopter_map. By default the pictures of the documentation are replaced.
"""

import argparse
import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from strapdown.campaigns.results.cells import Results
from strapdown.campaigns.results.figures import map_figure
from strapdown.reporting.figures import STYLE, panels, plain_ticks, save
from strapdown.reporting.navigation_figures import colour_of

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
PART, EFFORT, WHEEL = "sensor.imu.part", "calibration.effort", "navigate.odometer"
ERROR = "stops.final_percent"
ALLOWED, SHARE = 1.0, 0.95  # % of the way at the end, and the share of drives that must keep it


def errors(results: Results, part: str, effort: str, wheel: bool) -> np.ndarray:
    wanted = {PART: part, EFFORT: effort, WHEEL: wheel}
    found = [cell for cell in results.cells if dict(cell.settings) == wanted]
    return results.values(ERROR, found[0]) if found else np.zeros(0)


@mpl.rc_context(STYLE)
def paper_c(results: Results) -> Figure:
    """Every drive as a point by part and effort, without and with odometer; a bar where 95 % are below."""
    grid = results.plan.space.grid
    parts, efforts = list(grid[PART]), list(grid[EFFORT])
    picture, axes = panels(1, 2, (11.0, 1.6 + 0.55 * len(parts)), sharex=True)
    for wheel, axis in zip((False, True), axes[0], strict=True):
        for i, part in enumerate(parts):
            for k, effort in enumerate(efforts):
                values = errors(results, part, effort, wheel)
                if not len(values):
                    continue
                y = len(parts) - 1 - i + 0.3 - 0.6 * k / max(len(efforts) - 1, 1)
                axis.plot(values, np.full(len(values), y), ".", ms=3, alpha=0.3, color=colour_of(k))
                high = [np.quantile(values, SHARE)]
                axis.plot(high, [y], "|", ms=10, mew=2.4, color=colour_of(k), label=effort if i == 0 else None)
        axis.axvline(ALLOWED, color="#c0392b", ls="--")
        axis.set_xscale("log")
        plain_ticks(axis.xaxis)
        axis.set_yticks(range(len(parts)), list(reversed(parts)) if not wheel else [])
        axis.set_ylim(-0.6, len(parts) - 0.4)
        axis.set_title("with odometer" if wheel else "without odometer")
        axis.set_xlabel(f"error at the end, % of the way (points: drives, bar: {100 * SHARE:g} % are below)")
    axes[0, 0].legend(title="calibration", loc="lower left", frameon=True)
    return picture


def paper_c_words(results: Results) -> list[str]:
    """A row of a table for each part: where 95 % of the drives end, in % of the way."""
    grid = results.plan.space.grid
    kinds = [(wheel, effort) for wheel in (False, True) for effort in grid[EFFORT]]
    lines = ["| part | " + " | ".join(f"{'wheel, ' if wheel else ''}{effort}" for wheel, effort in kinds) + " |"]
    lines.append("|---|" + "---|" * len(kinds))
    for part in grid[PART]:
        found = [errors(results, part, effort, wheel) for wheel, effort in kinds]
        highs = [np.quantile(values, SHARE) if len(values) else np.nan for values in found]
        texts = [f"**{high:.2g}**" if high <= ALLOWED else f"{high:.2g}" for high in highs]
        lines.append(f"| {part} | " + " | ".join(texts) + " |")
    return lines


def quadcopter(results: Results) -> Figure:
    """Loss probability over wind and vibration, with intervals; a panel for each part."""
    found = map_figure(results, "lost")
    if found is None:
        sys.exit("the grid of this campaign is no map")
    return found


def quadcopter_words(results: Results) -> list[str]:
    lines = []
    for cell in results.cells:
        one = results.statistic("lost", cell)
        low, high = one.interval
        lines.append(
            f"{results.shown(cell)}: lost {100 * one.mean:.0f} % ({100 * low:.0f} to {100 * high:.0f}) of {one.runs}"
        )
    return lines


CHOICES = {
    "paper-c": (paper_c, paper_c_words, "campaign_paper_c.png"),
    "quadcopter": (quadcopter, quadcopter_words, "campaign_quadcopter.png"),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("which", choices=CHOICES)
    parser.add_argument("folder", type=Path)
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    picture, words, name = CHOICES[given.which]
    results = Results(given.folder)
    target = given.output or PICTURES / name
    save(picture(results), target)
    print("\n".join(words(results)))
    print(f"{len(results.table)} runs; picture: {target}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
