"""A calibration by positions: residuals of the poses before and after, where they point, and the turns."""

from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from strapdown.calibration.poses.positions import PositionsFit
from strapdown.reporting.figures import AXIS_COLOURS, GREY, LEGEND_ABOVE, STYLE, panels, plain_ticks, titled
from strapdown.types import Array

_OVER_LEGEND = 18.0  # points: a title above the legend, which stands above the panel
_BEFORE, _AFTER, _LEFT_OUT = GREY, AXIS_COLOURS[2], AXIS_COLOURS[0]


@mpl.rc_context({**STYLE, "text.parse_math": False})
def positions_figure(fit: PositionsFit, title: str) -> Figure:
    """|f| - g before, after, and of each pose by a fit without it, in mg; directions; errors of the turns, in deg."""
    figure, axes = panels(2, 2, (10.0, 7.0), sharex=False)
    _residuals(axes[0, 0], fit)
    _logarithmic(axes[0, 1], fit)
    _directions(axes[1, 0], fit)
    _turns(axes[1, 1], fit)
    verdicts = ", ".join(f"{name} {c.found.verdict}" for name, c in fit.calibration.corrections.items())
    titled(figure, f"{title}: {len(fit.poses)} poses, model {fit.model}; {verdicts}")
    return figure


def _mg(fit: PositionsFit, values: Array) -> Array:
    return np.asarray(1e3 * values / fit.poses.gravity)


def _checked(fit: PositionsFit) -> bool:
    """Whether there are more poses than unknowns. Without more, the fit meets every pose exactly and shows nothing."""
    return fit.calibration.corrections["accelerometer"].found.residual_rms is not None


def _residuals(panel: Any, fit: PositionsFit) -> None:
    """The residual of each pose, over the time of the log: a drift shows as a curve."""
    panel.set_title("each pose, as fitted and as predicted by the others", pad=_OVER_LEGEND)
    panel.set_xlabel("time, s")
    panel.set_ylabel("|f| − g, mg")
    acc, middle = fit.accelerometer, 0.5 * (fit.poses.from_s + fit.poses.until_s)
    if not _checked(fit):
        text = f"no residual: {len(fit.poses)} poses determine\nas many unknowns exactly"
        panel.text(0.5, 0.5, text, ha="center", va="center", transform=panel.transAxes)
        panel.set_xticks([])
        panel.set_yticks([])
        return
    for values, colour, marker, label in (
        (acc.left_out, _LEFT_OUT, "x", "predicted"),
        (acc.after, _AFTER, "o", "fitted"),
    ):
        if np.isfinite(values).any():
            label = f"{label}: {_rms(_mg(fit, values))} mg rms"
            panel.plot(middle, _mg(fit, values), marker, ms=4, color=colour, label=label)
    panel.axhline(0.0, color="black", lw=0.8)
    panel.legend(fontsize=8, ncols=2, columnspacing=1.0, **LEGEND_ABOVE)


def _logarithmic(panel: Any, fit: PositionsFit) -> None:
    """Residuals on a logarithmic axis, with the readings before calibration, whose errors are hundreds of times
    larger.
    """
    acc, number = fit.accelerometer, np.arange(1.0, len(fit.poses) + 1)
    before, after = np.abs(_mg(fit, acc.before)), np.abs(_mg(fit, acc.after))
    panel.set_title("each pose before and after the calibration", pad=_OVER_LEGEND)
    panel.set_yscale("log")
    if _checked(fit):
        least = max(1e-3, 0.3 * float(np.median(after)))
        panel.vlines(number, np.maximum(after, least), np.maximum(before, least), color="#dddddd", lw=1.0)
        _above(panel, number, before, least, _BEFORE, "s", f"before: {_rms(before)} mg rms", "mg")
        _above(panel, number, after, least, _AFTER, "o", f"after: {_rms(after)} mg rms", "mg")
    else:
        _above(panel, number, before, 1e-3, _BEFORE, "s", f"before: {_rms(before)} mg rms", "mg")
    panel.set_xlabel("pose")
    panel.xaxis.set_major_locator(MaxNLocator(integer=True))
    panel.set_ylabel("| |f| − g |, mg")
    plain_ticks(panel.yaxis)
    panel.legend(fontsize=8, ncols=4, columnspacing=1.0, **LEGEND_ABOVE)


def _above(
    panel: Any, number: Array, values: Array, least: float, colour: str, marker: str, label: str, unit: str
) -> None:
    """Points on a logarithmic axis that ends at `least`; smaller ones are arrows at its end, and are counted."""
    inside = values >= least
    panel.plot(number[inside], values[inside], marker, ms=4, color=colour, label=label)
    if not inside.all():
        some = f"{int(np.sum(~inside))} below {least:.2g} {unit}"
        below = np.full(int(np.sum(~inside)), least)
        panel.plot(number[~inside], below, "v", ms=5, mfc="none", color=colour, label=some)


def _directions(panel: Any, fit: PositionsFit) -> None:
    """Direction of up in the sensor's frame: longitude and latitude on the sphere, the six axes marked.

    A pole has no longitude: +z and -z are the upper and the lower edge of the map."""
    up = fit.accelerometer.force / np.linalg.norm(fit.accelerometer.force, axis=1, keepdims=True)
    panel.plot(*_flat(up), "o", ms=5, color=_AFTER, alpha=0.7)
    for axis, sign in ((np.eye(3), "+"), (-np.eye(3), "−")):
        for i, (x, y) in enumerate(np.array(_flat(axis[:2])).T):
            panel.plot(x, y, "+", ms=9, color=AXIS_COLOURS[i])
            panel.annotate(f"{sign}{'xy'[i]}", (x, y), xytext=(4, 4), textcoords="offset points", fontsize=8)
        pole = 90.0 * axis[2, 2]
        panel.axhline(pole, color=AXIS_COLOURS[2], lw=1.0)
        panel.annotate(f"{sign}z", (-180.0, pole), xytext=(4, 4), textcoords="offset points", fontsize=8)
    panel.set_title(f"directions of up, {fit.poses.distinct} of them more than 3 deg apart")
    panel.set_xlim(-185.0, 185.0)
    panel.set_ylim(-99.0, 110.0)
    panel.set_xticks(range(-180, 181, 60))
    panel.set_yticks(range(-90, 91, 30))
    panel.set_xlabel("longitude from x to y, deg")
    panel.set_ylabel("latitude towards z, deg")


def _flat(unit: Array) -> tuple[Array, Array]:
    return np.degrees(np.arctan2(unit[:, 1], unit[:, 0])), np.degrees(np.arcsin(np.clip(unit[:, 2], -1.0, 1.0)))


def _turns(panel: Any, fit: PositionsFit) -> None:
    turns = fit.turns
    panel.set_title("turns between poses", pad=_OVER_LEGEND)
    panel.set_xlabel("turn")
    panel.xaxis.set_major_locator(MaxNLocator(integer=True))
    panel.set_ylabel("error of gravity's direction, deg")
    if turns is None:
        panel.text(0.5, 0.5, "no gyroscope in the log", ha="center", va="center", transform=panel.transAxes)
        return
    number = np.arange(1.0, len(turns.before) + 1)
    before, after = np.degrees(turns.before), np.degrees(turns.after)
    used = turns.used
    least = max(1e-4, 0.3 * float(np.median(after)) if len(after) else 1e-4)
    panel.set_yscale("log")
    _above(panel, number, before, least, _BEFORE, "s", f"bias removed: {_rms(before)} deg rms", "deg")
    _above(panel, number[used], after[used], least, _AFTER, "o", f"after: {_rms(after[used])} deg rms", "deg")
    if not used.all():
        panel.plot(number[~used], np.maximum(after[~used], least), "x", ms=6, color=_LEFT_OUT, label="rejected")
    plain_ticks(panel.yaxis)
    panel.legend(fontsize=8, ncols=4, columnspacing=1.0, **LEGEND_ABOVE)


def _rms(values: Array) -> str:
    known = values[np.isfinite(values)]
    return f"{np.sqrt(np.mean(known**2)):.3g}" if len(known) else "none"
