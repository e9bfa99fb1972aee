"""Attitude over time: roll, pitch and yaw of filters and of the truth, and how far off they are."""

from collections.abc import Mapping
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from strapdown.evaluation.attitude import angles_deg, attitude_errors
from strapdown.reporting.figures import LEGEND_ABOVE, STYLE, panels
from strapdown.types import Array, Solution

# hues far from each other, none of them near the grey of the truth
COLOURS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#17becf", "#bcbd22", "#1a237e")
ANGLES = ("roll", "pitch", "yaw")
_MOST_POINTS = 4000
_LEAST_DEG = 1e-3  # of the error's axis
_STRAIGHT_DEG = 1.0  # of heading errors: below, the axis is linear, above logarithmic


@mpl.rc_context({**STYLE, "text.parse_math": False})
def orientation_figure(
    solutions: Mapping[str, Solution], t_truth: Array | None, q_truth: Array | None, title: str
) -> Figure:
    """Roll, pitch and yaw of every filter. With a truth (at the solutions' times): roll and pitch beside it, and the
    errors of heading and total angle, since lines of yaw that agree lie on each other."""
    rows = 3 if q_truth is None else 4
    figure, axes = panels(rows, 1, (9.0, 1.0 + 1.9 * rows))
    angles = ANGLES if q_truth is None else ANGLES[:2]
    if q_truth is not None and t_truth is not None:
        thin = slice(None, None, max(1, len(t_truth) // _MOST_POINTS))
        for axis, values in zip(axes[: len(angles), 0], angles_deg(q_truth).T, strict=False):
            axis.plot(t_truth[thin], unbroken(values[thin]), color="black", linewidth=2.2, alpha=0.35, label="truth")
    for colour, (name, solution) in zip(_cycle(len(solutions)), solutions.items(), strict=True):
        thin = slice(None, None, max(1, len(solution) // _MOST_POINTS))
        for axis, values in zip(axes[: len(angles), 0], angles_deg(solution.q_nb).T, strict=False):
            axis.plot(solution.t[thin], unbroken(values[thin]), color=colour, linewidth=0.9, label=name)
        if q_truth is not None:
            errors = attitude_errors(solution.q_nb[thin], q_truth[thin])
            heading, total = np.rad2deg(errors.heading), np.rad2deg(errors.total)
            axes[2, 0].plot(solution.t[thin], unbroken(heading), color=colour, linewidth=0.9)
            axes[3, 0].plot(solution.t[thin], np.maximum(total, _LEAST_DEG), color=colour, linewidth=0.9)
    for axis, name in zip(axes[:, 0], angles, strict=False):
        axis.set_ylabel(f"{name}, deg")
    if q_truth is not None:
        axes[2, 0].set_ylabel("heading error, deg")
        axes[2, 0].set_yscale("symlog", linthresh=_STRAIGHT_DEG)  # filters differ by orders of magnitude
        axes[3, 0].set_ylabel("total error, deg")
        axes[3, 0].set_yscale("log")
        for axis in axes[2:, 0]:
            axis.yaxis.set_major_formatter(lambda value, _: f"{value:g}")  # powers would need mathematical text
    axes[-1, 0].set_xlabel("time, s")
    axes[0, 0].legend(ncols=5, **LEGEND_ABOVE)
    figure.suptitle(title, x=0.01, ha="left", fontsize=10.0)
    return figure


def unbroken(degrees: Array) -> NDArray[np.float64]:
    """A gap where an angle passes ±180 deg, instead of a line across the picture."""
    shown = degrees.copy()
    shown[1:][np.abs(np.diff(degrees)) > 180.0] = np.nan
    return shown


def _cycle(n: int) -> list[Any]:
    return [COLOURS[i % len(COLOURS)] for i in range(n)]
