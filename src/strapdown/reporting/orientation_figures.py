"""Attitude over time: roll, pitch and yaw of filters and of the truth, and their errors."""

from collections.abc import Mapping
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from strapdown.evaluation.attitude import angles_deg, attitude_errors
from strapdown.reporting.figures import STYLE, panels, titled
from strapdown.types import Array, Solution

# hues far from each other, none of them near the grey of the truth
COLOURS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#17becf", "#bcbd22", "#1a237e")
ANGLES = ("roll", "pitch", "yaw")
_MOST_POINTS = 4000
_FAR = 6.0  # a filter whose errors are so many times those of the middle one does not set the scale
_MOST_OF = 99.0  # percent of a filter's errors that its part of the axis holds


@mpl.rc_context({**STYLE, "text.parse_math": False})
def orientation_figure(
    solutions: Mapping[str, Solution], t_truth: Array | None, q_truth: Array | None, title: str
) -> Figure:
    """Roll, pitch and yaw of every filter. With a truth (at the solutions' times): roll and pitch next to it, and the
    errors of heading and total angle. Lines of yaw that agree would cover each other.
    """
    rows = 3 if q_truth is None else 4
    figure, axes = panels(rows, 1, (9.0, 1.0 + 1.9 * rows))
    angles = ANGLES if q_truth is None else ANGLES[:2]
    if q_truth is not None and t_truth is not None:
        thin = slice(None, None, max(1, len(t_truth) // _MOST_POINTS))
        for axis, values in zip(axes[: len(angles), 0], angles_deg(q_truth).T, strict=False):
            axis.plot(t_truth[thin], unbroken(values[thin]), color="black", linewidth=2.2, alpha=0.35, label="truth")
    heading: dict[str, Array] = {}
    total: dict[str, Array] = {}
    for colour, (name, solution) in zip(_cycle(len(solutions)), solutions.items(), strict=True):
        thin = slice(None, None, max(1, len(solution) // _MOST_POINTS))
        for axis, values in zip(axes[: len(angles), 0], angles_deg(solution.q_nb).T, strict=False):
            axis.plot(solution.t[thin], unbroken(values[thin]), color=colour, linewidth=0.9, label=name)
        if q_truth is not None:
            errors = attitude_errors(solution.q_nb[thin], q_truth[thin])
            heading[name], total[name] = np.rad2deg(errors.heading), np.rad2deg(errors.total)
    for axis, name in zip(axes[:, 0], angles, strict=False):
        axis.set_ylabel(f"{name}, deg")
    if q_truth is not None:
        _errors(axes[2, 0], "heading error, deg", solutions, heading)
        _errors(axes[3, 0], "total error, deg", solutions, total)
        axes[3, 0].set_ylim(bottom=0.0)
    axes[-1, 0].set_xlabel("time, s")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    titled(figure, title, 10.0)
    return figure


def _errors(panel: Any, label: str, solutions: Mapping[str, Solution], errors: Mapping[str, Array]) -> None:
    """Errors over time on a linear scale for the filters that work; filters far beyond it are named."""
    limit, far = error_scale(errors)
    for colour, (name, values) in zip(_cycle(len(errors)), errors.items(), strict=True):
        t = solutions[name].t
        thin = slice(None, None, max(1, len(t) // _MOST_POINTS))
        faint = {"alpha": 0.35, "linestyle": ":"} if name in far else {}
        panel.plot(t[thin], unbroken(values), color=colour, linewidth=0.9, **faint)
    panel.set_ylim(-limit, limit)
    panel.set_ylabel(label)
    if far:
        said = ", ".join(f"{name} (to {np.abs(errors[name]).max():.3g}°)" for name in far)
        panel.set_title(f"beyond this axis: {said}", fontsize=8)


def error_scale(errors: Mapping[str, Array]) -> tuple[float, list[str]]:
    """End of the axis (deg), and the filters that do not set it: far worse than the median one."""
    size = {name: float(np.percentile(np.abs(values), _MOST_OF)) for name, values in errors.items()}
    middle = max(float(np.median(list(size.values()))), 1e-9)
    far = [name for name, each in size.items() if each > _FAR * middle]
    most = max(float(np.abs(values).max()) for name, values in errors.items() if name not in far)
    held = max(each for name, each in size.items() if name not in far)
    limit = 1.05 * most if most < 3.0 * held else 1.5 * held
    cut = [name for name, values in errors.items() if name not in far and np.abs(values).max() > limit]
    return max(limit, 1e-6), far + cut


def unbroken(degrees: Array) -> NDArray[np.float64]:
    """A gap where an angle passes ±180 deg, instead of a line across the picture."""
    shown = degrees.copy()
    shown[1:][np.abs(np.diff(degrees)) > 180.0] = np.nan
    return shown


def _cycle(n: int) -> list[Any]:
    return [COLOURS[i % len(COLOURS)] for i in range(n)]
