"""Attitude over time: roll, pitch and yaw of filters and of the truth, and how far off they are."""

from collections.abc import Mapping
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from strapdown.evaluation.attitude import attitude_errors
from strapdown.evaluation.figures import LEGEND_ABOVE, STYLE, panels
from strapdown.rotation import euler_from_q
from strapdown.types import Array, Solution

COLOURS = ("#2460a7", "#c0392b", "#1e8449", "#8e44ad", "#d68910", "#16a085", "#7b241c", "#34495e")
ANGLES = ("roll", "pitch", "yaw")
_MOST_POINTS = 4000
_LEAST_DEG = 1e-3  # of the error's axis


def angles_deg(q: Array) -> Array:
    """Roll, pitch, yaw (deg) of attitudes, (n, 3)."""
    return np.rad2deg(np.stack(euler_from_q(q), axis=-1))


@mpl.rc_context({**STYLE, "text.parse_math": False})
def orientation_figure(
    solutions: Mapping[str, Solution], t_truth: Array | None, q_truth: Array | None, title: str
) -> Figure:
    """Three angles for every filter; with a truth (at the solutions' times), also the total error."""
    rows = 3 if q_truth is None else 4
    figure, axes = panels(rows, 1, (9.0, 1.0 + 1.9 * rows))
    if q_truth is not None and t_truth is not None:
        thin = slice(None, None, max(1, len(t_truth) // _MOST_POINTS))
        for axis, values in zip(axes[:, 0], angles_deg(q_truth).T, strict=False):
            axis.plot(t_truth[thin], unbroken(values[thin]), color="black", linewidth=2.2, alpha=0.35, label="truth")
    for colour, (name, solution) in zip(_cycle(len(solutions)), solutions.items(), strict=True):
        thin = slice(None, None, max(1, len(solution) // _MOST_POINTS))
        for axis, values in zip(axes[:, 0], angles_deg(solution.q_nb).T, strict=False):
            axis.plot(solution.t[thin], unbroken(values[thin]), color=colour, linewidth=1.0, label=name)
        if q_truth is not None:
            total = np.rad2deg(attitude_errors(solution.q_nb, q_truth).total)
            axes[3, 0].plot(solution.t[thin], np.maximum(total[thin], _LEAST_DEG), color=colour, linewidth=1.0)
    for axis, name in zip(axes[:, 0], ANGLES, strict=False):
        axis.set_ylabel(f"{name}, deg")
    if q_truth is not None:
        axes[3, 0].set_ylabel("total error, deg")
        axes[3, 0].set_yscale("log")  # filters differ by orders of magnitude
    axes[-1, 0].set_xlabel("time, s")
    axes[0, 0].legend(ncols=6, **LEGEND_ABOVE)
    axes[0, 0].set_title(title)
    return figure


def unbroken(degrees: Array) -> NDArray[np.float64]:
    """A gap where an angle passes ±180 deg, instead of a line across the picture."""
    shown = degrees.copy()
    shown[1:][np.abs(np.diff(degrees)) > 180.0] = np.nan
    return shown


def _cycle(n: int) -> list[Any]:
    return [COLOURS[i % len(COLOURS)] for i in range(n)]
