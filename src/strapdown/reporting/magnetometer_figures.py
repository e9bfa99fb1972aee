"""Figures of a magnetometer's calibration: readings before and after, residual radius, and the coverage."""

from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, Rectangle

from strapdown.calibration.coverage import cell_edges
from strapdown.calibration.magnetometer.fit import MagnetometerFit
from strapdown.reporting.figures import AXIS_COLOURS, GREY, LEGEND_ABOVE, STYLE, titled

_MOST_POINTS = 6000
_BEFORE, _AFTER = "#b9c2c8", AXIS_COLOURS[2]
_PLANES = ((0, 1), (0, 2), (1, 2))


@mpl.rc_context(STYLE)
def magnetometer_figure(fit: MagnetometerFit, title: str) -> Figure:
    """Three planes before and after, the radius over the log, and the map of directions."""
    figure = Figure(figsize=(11.0, 7.4), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.add_gridspec(2, 6, height_ratios=(1.25, 1.0))
    thin = slice(None, None, max(1, len(fit.readings) // _MOST_POINTS))
    correction = fit.calibration.corrections["magnetometer"]
    middle, half = _reach(fit)
    for k, (i, j) in enumerate(_PLANES):
        axis = figure.add_subplot(grid[0, 2 * k : 2 * k + 2])
        _plane(axis, fit, correction.bias, thin, i, j)
        axis.set_xlim(middle[i] - half, middle[i] + half)
        axis.set_ylim(middle[j] - half, middle[j] + half)
        if k == 2:
            handles = [_dot(_BEFORE, "readings"), _dot(_AFTER, "corrected"), _dot(AXIS_COLOURS[0], "hard iron", "+")]
            axis.legend(handles=handles, ncols=3, handletextpad=0.1, columnspacing=0.9, **LEGEND_ABOVE)
    _radius(figure.add_subplot(grid[1, :3]), fit, thin)
    _map(figure.add_subplot(grid[1, 3:]), fit)
    found = correction.found
    direction = f"direction known to ±{np.degrees(fit.direction_sigma_rad):.2g}°"
    titled(figure, f"{title}: {found.verdict}, radius error {100.0 * fit.radius_rms:.2g} % rms, {direction}")
    return figure


def _reach(fit: MagnetometerFit) -> tuple[np.ndarray, float]:
    """Middle of each axis, and one half width for all planes; gross errors are excluded."""
    good = fit.weight > 0.0
    both = np.concatenate([fit.readings[good], fit.corrected[good]])
    low, high = both.min(axis=0), both.max(axis=0)
    return 0.5 * (low + high), 0.55 * float(np.max(high - low))


def _dot(colour: str, label: str, marker: str = "o") -> Line2D:
    """A dot for legends: the dots of the panels are too small to show their colour."""
    return Line2D([], [], ls="", marker=marker, ms=8 if marker == "+" else 4, mew=1.6, color=colour, label=label)


def _plane(axis: Any, fit: MagnetometerFit, bias: np.ndarray, thin: slice, i: int, j: int) -> None:
    before, after = fit.readings[thin], fit.corrected[thin]
    dots = {"ls": "", "marker": ".", "ms": 1.6, "mew": 0.0, "rasterized": True}
    axis.plot(before[:, i], before[:, j], color=_BEFORE, **dots)
    axis.plot(after[:, i], after[:, j], color=_AFTER, **dots)
    axis.plot(bias[i], bias[j], "+", ms=9, mew=1.6, color=AXIS_COLOURS[0])
    axis.add_patch(Circle((0.0, 0.0), fit.field_ut, fill=False, ec="black", lw=1.0))
    axis.axhline(0.0, color=GREY, lw=0.5, zorder=0)
    axis.axvline(0.0, color=GREY, lw=0.5, zorder=0)
    axis.set_aspect("equal")
    axis.set_xlabel(f"{'xyz'[i]}, µT")
    axis.set_ylabel(f"{'xyz'[j]}, µT")
    axis.set_title(f"{'xyz'[i]}{'xyz'[j]}" + (f", circle: {fit.field_ut:.3g} µT" if i + j == 1 else ""))


def _radius(axis: Any, fit: MagnetometerFit, thin: slice) -> None:
    """Length of the field over the log, as a part of its mean. The axis is that of the corrected field."""
    before = np.linalg.norm(fit.readings, axis=1)
    number = np.arange(len(before))[thin]
    dots = {"ls": "", "marker": ".", "ms": 1.8, "mew": 0.0, "rasterized": True}
    axis.plot(number, 100.0 * (before / np.median(before) - 1.0)[thin], color=_BEFORE, **dots)
    axis.plot(number, 100.0 * fit.radius_error[thin], color=_AFTER, **dots)
    gross = np.flatnonzero(fit.weight == 0.0)
    span = max(5.0 * 100.0 * float(np.std(fit.radius_error[fit.weight > 0.0])), 1.0)
    if len(gross):
        at = np.clip(100.0 * fit.radius_error[gross], -0.96 * span, 0.96 * span)
        axis.plot(gross, at, "x", ms=3.5, mew=0.8, color=AXIS_COLOURS[0])
    axis.set_ylim(-span, span)  # the readings may go far beyond: the corrected field is what is looked at
    axis.set_xlim(0, len(before))
    axis.set_xlabel("sample")
    axis.set_ylabel("length against its mean, %")
    beyond = np.abs(100.0 * (before / np.median(before) - 1.0)) > span
    outside = f", {100.0 * float(beyond.mean()):.0f} % beyond the axis" if beyond.any() else ""
    axis.set_title("field strength")
    handles = [_dot(_BEFORE, f"readings{outside}"), _dot(_AFTER, "corrected")]
    if len(gross):
        far = int(np.sum(np.abs(100.0 * fit.radius_error[gross]) > 0.96 * span))
        edge = f", {far} of them beyond the axis, at its edge" if far else ""
        handles.append(_dot(AXIS_COLOURS[0], f"{len(gross)} gross errors{edge}", "x"))
    axis.legend(handles=handles, ncols=2, handletextpad=0.1, columnspacing=0.9, fontsize=8, **LEGEND_ABOVE)


def _map(axis: Any, fit: MagnetometerFit) -> None:
    """Cells of equal area: angle about z against z; those never visited are hatched."""
    counts = fit.coverage.counts
    top = max(1.0, float(np.percentile(counts, 95.0)))
    colours = mpl.colormaps["Blues"]
    for (start, end, low, high), count in zip(cell_edges(), counts, strict=True):
        place = (np.degrees(start), low), np.degrees(end - start), high - low
        shade = colours(0.25 + 0.6 * min(1.0, count / top)) if count else "white"
        axis.add_patch(Rectangle(*place, fc=shade, ec="white", lw=1.0))
        if not count:
            axis.add_patch(Rectangle(*place, fill=False, ec=AXIS_COLOURS[0], lw=0.0, hatch="////"))
    axis.set_xlim(0, 360)
    axis.set_ylim(-1, 1)
    axis.set_xticks(range(0, 361, 90), ["+x", "+y", "−x", "−y", "+x"])
    axis.set_yticks([-1.0, -0.5, 0.0, 0.5, 1.0], ["−z", "−0.5", "0", "0.5", "+z"])
    axis.grid(False)
    axis.set_xlabel("direction of the field about z")
    axis.set_ylabel("z part of the field")
    axis.set_title(f"{100.0 * fit.coverage.share:.0f} % of the sphere visited, hatched: never")
