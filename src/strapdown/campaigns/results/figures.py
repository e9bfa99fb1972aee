"""Pictures of a campaign: distribution of a figure by cell, map over two keys, effects of the factors."""

import math
from collections.abc import Mapping
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from strapdown.campaigns.results.cells import Results, Statistic, short_key, shown_value
from strapdown.campaigns.results.sensitivity import Effect
from strapdown.reporting.figures import GREY, STYLE, panels, plain_ticks
from strapdown.reporting.navigation_figures import colour_of

MOST_CELLS = 40  # in one picture: more become unreadable
_WIDE = 30.0  # ratio of the largest to the smallest value, beyond which the axis is logarithmic


@mpl.rc_context(STYLE)
def distribution_figure(results: Results, figure: str) -> Figure:
    """Every run as a point, mean and its interval as a bar, the 95th percentile as a tick; of a flag the share."""
    cells = results.cells[:MOST_CELLS]
    picture, axes = panels(1, 1, (9.0, 1.2 + 0.32 * len(cells)))
    axis = axes[0, 0]
    flag = results.is_flag(figure)
    for i, cell in enumerate(cells):
        values, y = results.values(figure, cell), len(cells) - 1 - i
        found = results.statistic(figure, cell)
        if not flag:
            spread = np.linspace(-0.3, 0.3, len(values)) if len(values) > 1 else np.zeros(len(values))
            axis.plot(values, y + spread, ".", color=colour_of(i), ms=3, alpha=0.5)
            axis.plot([found.high] * 2, [y - 0.3, y + 0.3], color="black", lw=1.0, ls=":")
        low, high = (x if math.isfinite(x) else found.mean for x in found.interval)
        axis.plot([low, high], [y, y], color="black", lw=2.0)
        axis.plot([found.mean], [y], "o", color="black", ms=4)
    axis.set_yticks(range(len(cells)), [results.shown(cell) for cell in reversed(cells)], parse_math=False)
    axis.set_ylim(-0.6, len(cells) - 0.4)
    values = results.values(figure)
    if not flag and len(values) and values.min() > 0.0 and values.max() > _WIDE * values.min():
        axis.set_xscale("log")
        plain_ticks(axis.xaxis)
    what = f"share of runs: {figure}" if flag else figure
    marks = "dot: mean, bar: its 95 % interval" + ("" if flag else ", dotted: 95th percentile, points: runs")
    axis.set_xlabel(f"{what}  ({marks})", parse_math=False)
    return picture


@mpl.rc_context(STYLE)
def map_figure(results: Results, figure: str) -> Figure | None:
    """The mean over the last two keys of the grid, a panel for each value of the third; None for another grid.

    Of a flag the share in %, with its interval."""
    if not 2 <= len(results.varied) <= 3:
        return None
    *more, down, across = results.varied
    grid = results.plan.space.grid
    panes = list(grid[more[0]]) if more else [None]
    rows, columns = list(grid[down]), list(grid[across])
    flag = results.is_flag(figure)
    size = (2.6 + 2.6 * len(panes), 1.6 + (0.6 if flag else 0.45) * len(rows))
    picture, axes = panels(1, len(panes), size, sharex=False)
    found = {_key(results, cell.settings): results.statistic(figure, cell) for cell in results.cells}
    known = [one.mean for one in found.values() if math.isfinite(one.mean)]
    if not known:
        return None
    low, high = (0.0, 1.0) if flag else (min(known), max(known))
    for pane, axis in zip(panes, axes[0], strict=True):
        picked = [({more[0]: pane} if more else {}) | {down: r, across: c} for r in rows for c in columns]
        some = [found.get(_key(results, one)) for one in picked]
        means = [math.nan if one is None else one.mean for one in some]
        values = np.array(means).reshape(len(rows), len(columns))
        axis.imshow(values, cmap="YlOrRd", vmin=low, vmax=max(high, low + 1e-12), aspect="auto", origin="lower")
        for n, one in enumerate(some):
            if one is not None and not math.isnan(one.mean):
                dark = (one.mean - low) > 0.6 * max(high - low, 1e-12)
                colour = "white" if dark else "black"
                axis.text(n % len(columns), n // len(columns), _in_map(one), ha="center", va="center", color=colour)
        axis.grid(False)
        axis.set_xticks(range(len(columns)), [shown_value(c) for c in columns], parse_math=False)
        axis.set_yticks(range(len(rows)), [shown_value(r) for r in rows], parse_math=False)
        axis.set_xlabel(across, parse_math=False)
        if pane is not None:
            axis.set_title(f"{short_key(more[0])} {shown_value(pane)}", parse_math=False)
    axes[0, 0].set_ylabel(down, parse_math=False)
    return picture


def _in_map(found: Statistic) -> str:
    """The mean; of a flag the share in %, and below it the interval."""
    if not found.flag:
        return f"{found.mean:.2g}"
    low, high = found.interval
    return f"{100 * found.mean:.0f} %\n{100 * low:.0f} to {100 * high:.0f}"


def _key(results: Results, settings: Mapping[str, Any]) -> str:
    return "|".join(str(settings[key]) for key in results.varied)


@mpl.rc_context(STYLE)
def effects_figure(found: list[Effect], figure: str) -> Figure:
    """One bar for each factor; of Sobol indices the total behind the first."""
    picture, axes = panels(1, 1, (7.0, 1.2 + 0.35 * len(found)))
    axis = axes[0, 0]
    for i, effect in enumerate(reversed(found)):
        if effect.total is not None:
            axis.barh(i, effect.total, color=GREY, alpha=0.4, xerr=effect.total_half, ecolor=GREY)
        axis.barh(i, effect.first, height=0.4, color=colour_of(0), xerr=effect.first_half, ecolor="black")
    axis.set_yticks(range(len(found)), [f"{e.factor} ({e.kind})" for e in reversed(found)], parse_math=False)
    axis.axvline(0.0, color="black", lw=0.8)
    axis.set_xlabel(f"effect on {figure} (grey: total Sobol index)", parse_math=False)
    return picture
