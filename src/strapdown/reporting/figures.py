"""Figures that every command shares: one style, drawn without a screen, saved whole or not at all."""

import textwrap
import warnings
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from strapdown.evaluation.readings import true_readings
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
    """Draw up to three components in their colours."""
    thin = slice(None, None, max(1, len(t) // _MOST_POINTS))
    for i, name in enumerate("xyz"[: values.shape[1]]):
        axis.plot(t[thin], values[thin, i], color=AXIS_COLOURS[i], label=f"{name}")
    axis.set_ylabel(f"{label}, {unit}")


CHANNELS = {
    "acc_s": ("specific force", "m/s²"),
    "gyr_s": ("rate", "rad/s"),
    "mag_s": ("magnetic field", "µT"),
    "tilt_s": ("tilt", "rad"),
    "odometer": ("odometer", "m"),
    "temperature": ("temperature", "°C"),
}
LEAST_SPAN = 1e-6  # of an axis: below it a signal is roundoff, and looks it


@mpl.rc_context({**STYLE, "text.parse_math": False})
def signals(recordings: Mapping[str, Recording], title: str, *, errors: bool = True) -> Figure:
    """Every signal of each sensor over time, a column for each sensor.

    errors: where a recording has its truth, the true readings are drawn behind the signal, and reading minus truth in a
    panel below it.
    """
    shown = [_rows_of(recording, errors) for recording in recordings.values()]
    rows, columns = max(map(len, shown)), len(recordings)
    size = (max(8.0, 4.5 * columns), max(3.0, 0.8 + 2.1 * rows))
    figure, axes = panels(rows, columns, size, sharex=False)
    for column, (name, recording) in enumerate(recordings.items()):
        for row, axis in enumerate(axes[:, column]):
            if row >= len(shown[column]):
                axis.set_axis_off()
                continue
            channel, values, true = shown[column][row]
            word, unit = CHANNELS[channel]
            if true is not None:
                _draw_truth(axis, recording.t, true)
            draw_xyz(axis, recording.t, values.reshape(len(values), -1), word, unit)
            if row and shown[column][row - 1][0] == channel:
                axis.set_ylabel(f"error of {word}, {unit}")
            if values.ndim == 1:  # no axis of the sensor: not in the colour of one, and not in the legend
                axis.lines[0].set(color=GREY, label="_")
            low, high = axis.get_ylim()
            if high - low < LEAST_SPAN:
                middle = 0.5 * (low + high)
                axis.set_ylim(middle - 0.5 * LEAST_SPAN, middle + 0.5 * LEAST_SPAN)
            axis.set_xlabel("time, s")
        link, kind = recording.meta.get("link"), _kind(recording)
        about = ": ".join(dict.fromkeys((name if link is None else f"{name} on {link}", kind)))
        axes[0, column].set_title("\n".join(textwrap.wrap(about, 50)))
    drawn = max((axis.get_legend_handles_labels() for axis in axes.flat), key=lambda found: len(found[1]))
    if len(drawn[1]) > 1:  # outside: a signal may go anywhere in its panel
        figure.legend(*drawn, loc="outside lower center", ncols=4)
    titled(figure, title)
    return figure


def _rows_of(recording: Recording, errors: bool) -> list[tuple[str, np.ndarray, np.ndarray | None]]:
    """Channel, values and true values of each panel; the panel of an error follows that of its signal."""
    true = true_readings(recording) if errors and recording.truth is not None else {}
    rows: list[tuple[str, np.ndarray, np.ndarray | None]] = []
    for channel in CHANNELS:
        values = getattr(recording, channel)
        if values is None:
            continue
        rows.append((channel, values, true.get(channel)))
        if channel in true:
            rows.append((channel, values - true[channel], None))
    return rows


def _draw_truth(axis: Any, t: np.ndarray, true: np.ndarray) -> None:
    """Draw the truth behind the signals, wider and lighter."""
    thin = slice(None, None, max(1, len(t) // _MOST_POINTS))
    for i in range(true.shape[1]):
        label = "truth" if i == 0 else "_"
        axis.plot(t[thin], true[thin, i], color="black", lw=2.6, alpha=0.25, label=label, zorder=1)


def titled(figure: Figure, text: str, size: float = 12.0) -> None:
    """A title above the whole figure, in as many lines as it needs: names of users may be long, and contain a $."""
    per_inch = 125.0 / size  # characters of mean width; measured: 11.6 at 12 points, less a margin
    lines = textwrap.wrap(text, max(10, int(per_inch * figure.get_figwidth()))) or [""]
    figure.suptitle("\n".join(lines), x=0.01, ha="left", fontsize=size, parse_math=False)


def plain_ticks(axis: Any) -> None:
    """Numbers on a logarithmic axis as plain text: matplotlib's own labels need its mathematical text."""
    axis.set_major_formatter(lambda value, _: f"{value:g}")
    axis.set_minor_formatter(lambda value, _: "")
    low, high = axis.get_view_interval()
    if high < 30.0 * low:  # little more than a decade holds one round number or two: label the others too
        axis.set_minor_formatter(lambda value, _: f"{value:g}" if f"{value:e}"[0] in "2357" else "")


def _kind(recording: Recording) -> str:
    """The part, or the methods of an ideal sensor."""
    meta = recording.meta
    said = meta.get("part") or meta.get("model")
    if isinstance(said, str) and said.lower().endswith((".toml", ".json")):
        said = Path(said).name
    if said is None and "accelerometer_method" in meta:
        said = f"{meta['accelerometer_method']} / {meta['gyroscope_method']}"
    return said or ("inclinometer" if recording.tilt_s is not None else "odometer")


def save(figure: Figure, path: str | PathLike[str]) -> None:
    """Write a PNG; no half-written file remains."""
    with whole_file(path) as tmp, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # letters the font has not are drawn as boxes
        figure.savefig(tmp, dpi=130, format="png", metadata={"Software": None})  # the same bytes whatever drew it
