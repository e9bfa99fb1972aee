"""Figures that every command shares: one style, drawn without a screen, saved whole or not at all."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from strapdown.io import whole_file
from strapdown.types import Recording

AXIS_COLOURS = ("#c0392b", "#1e8449", "#2460a7")  # x, y, z
GREY = "#7f8c8d"
STYLE = {
    "font.size": 9.0,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10.0,
    "axes.titlelocation": "left",
    "legend.frameon": False,
    "lines.linewidth": 1.3,
}
LEGEND_ABOVE = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0), "borderpad": 0.0}
_MOST_POINTS = 4000  # per line: more than the picture has pixels


def panels(
    rows: int, columns: int = 1, size: tuple[float, float] = (8.0, 5.0), sharex: bool = True
) -> tuple[Figure, Any]:
    """A figure and its axes, always as an array of rows x columns; call it, and draw, in rc_context(STYLE)."""
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, columns, sharex=sharex, squeeze=False)


def draw_xyz(axis: Any, t: np.ndarray, values: np.ndarray, label: str, unit: str) -> None:
    """Three components in their colours."""
    thin = slice(None, None, max(1, len(t) // _MOST_POINTS))
    for i, name in enumerate("xyz"):
        axis.plot(t[thin], values[thin, i], color=AXIS_COLOURS[i], label=f"{name}")
    axis.set_ylabel(f"{label}, {unit}")


@mpl.rc_context(STYLE)
def signals(recordings: Mapping[str, Recording], title: str) -> Figure:
    """Accelerometer and gyroscope of each sensor over time."""
    figure, axes = panels(2, len(recordings), (max(8.0, 4.5 * len(recordings)), 5.0))
    for column, (name, recording) in enumerate(recordings.items()):
        method = f"{recording.meta.get('accelerometer_method', '')} / {recording.meta.get('gyroscope_method', '')}"
        if recording.acc_s is not None:
            draw_xyz(axes[0, column], recording.t, recording.acc_s, "specific force", "m/s²")
        if recording.gyr_s is not None:
            draw_xyz(axes[1, column], recording.t, recording.gyr_s, "rate", "rad/s")
        axes[0, column].set_title(f"{name} on {recording.meta.get('link', '?')}: {method}")
        axes[1, column].set_xlabel("time, s")
    axes[1, -1].legend(ncols=3, loc="best")
    figure.suptitle(title, x=0.01, ha="left")
    return figure


def save(figure: Figure, path: Path) -> None:
    """Write a PNG; nothing half-written is left behind."""
    with whole_file(path) as tmp:
        figure.savefig(tmp, dpi=130, format="png")
