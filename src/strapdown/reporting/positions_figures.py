"""A calibration by positions at a glance: poses before and after, poses left out, where they point, and the turns."""

from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from strapdown.calibration.poses.positions import PositionsFit
from strapdown.reporting.figures import AXIS_COLOURS, GREY, LEGEND_ABOVE, STYLE, panels
from strapdown.types import Array

_BEFORE, _AFTER, _LEFT_OUT = GREY, AXIS_COLOURS[2], AXIS_COLOURS[0]


@mpl.rc_context({**STYLE, "text.parse_math": False})
def positions_figure(fit: PositionsFit, title: str) -> Figure:
    """|f| - g before, after and left out, in mg; directions of the poses; errors of the turns, in deg."""
    figure, axes = panels(2, 2, (10.0, 7.0), sharex=False)
    _residuals(axes[0, 0], fit)
    _logarithmic(axes[0, 1], fit)
    _directions(axes[1, 0], fit)
    _turns(axes[1, 1], fit)
    verdicts = ", ".join(f"{name} {c.found.verdict}" for name, c in fit.calibration.corrections.items())
    figure.suptitle(f"{title}: {len(fit.poses)} poses, model {fit.model}; {verdicts}", x=0.01, ha="left")
    return figure


def _mg(fit: PositionsFit, values: Array) -> Array:
    return np.asarray(1e3 * values / fit.poses.gravity)


def _residuals(panel: Any, fit: PositionsFit) -> None:
    """What is left in each pose, over the time of the log: a drift shows as a curve."""
    acc, middle = fit.accelerometer, 0.5 * (fit.poses.from_s + fit.poses.until_s)
    for values, colour, marker, label in (
        (acc.left_out, _LEFT_OUT, "x", "left out of the fit"),
        (acc.after, _AFTER, "o", "after"),
    ):
        panel.plot(middle, _mg(fit, values), marker, ms=4, color=colour, label=f"{label}: {_rms(_mg(fit, values))} mg")
    panel.axhline(0.0, color="black", lw=0.8)
    panel.set_title("|f| − g")
    panel.set_xlabel("time, s")
    panel.set_ylabel("|f| − g, mg")
    panel.legend(fontsize=8, ncols=2, **LEGEND_ABOVE)


def _logarithmic(panel: Any, fit: PositionsFit) -> None:
    """The same with the readings before calibration, whose errors are hundreds of times larger."""
    acc, number = fit.accelerometer, np.arange(1, len(fit.poses) + 1)
    before, after = np.abs(_mg(fit, acc.before)), np.abs(_mg(fit, acc.after))
    least = max(1e-3, 0.3 * float(np.median(after)))
    panel.vlines(number, np.maximum(after, least), np.maximum(before, least), color="#dddddd", lw=1.0)
    panel.semilogy(number, np.maximum(before, least), "s", ms=4, color=_BEFORE, label=f"before: {_rms(before)} mg")
    panel.semilogy(number, np.maximum(after, least), "o", ms=4, color=_AFTER, label=f"after: {_rms(after)} mg")
    panel.set_title("size")
    panel.set_xlabel("pose")
    panel.set_ylabel("| |f| − g |, mg")
    panel.legend(fontsize=8, ncols=2, **LEGEND_ABOVE)


def _directions(panel: Any, fit: PositionsFit) -> None:
    """Where up points in the sensor's frame: longitude and latitude on the sphere, the six axes marked."""
    up = fit.accelerometer.force / np.linalg.norm(fit.accelerometer.force, axis=1, keepdims=True)
    panel.plot(*_flat(up), "o", ms=5, color=_AFTER, alpha=0.7)
    for axis, name in ((np.eye(3), "+"), (-np.eye(3), "−")):
        for i, (x, y) in enumerate(np.array(_flat(axis)).T):
            panel.plot(x, y, "+", ms=9, color=AXIS_COLOURS[i])
            panel.annotate(f"{name}{'xyz'[i]}", (x, y), xytext=(4, 4), textcoords="offset points", fontsize=8)
    panel.set_title(f"directions of up, {fit.poses.distinct} of them more than 3 deg apart")
    panel.set_xlim(-185.0, 185.0)
    panel.set_ylim(-99.0, 99.0)
    panel.set_xticks(range(-180, 181, 60))
    panel.set_yticks(range(-90, 91, 30))
    panel.set_xlabel("longitude from x to y, deg")
    panel.set_ylabel("latitude towards z, deg")


def _flat(unit: Array) -> tuple[Array, Array]:
    return np.degrees(np.arctan2(unit[:, 1], unit[:, 0])), np.degrees(np.arcsin(np.clip(unit[:, 2], -1.0, 1.0)))


def _turns(panel: Any, fit: PositionsFit) -> None:
    turns = fit.turns
    panel.set_title("turns")
    panel.set_xlabel("turn")
    panel.set_ylabel("gravity carried along, error, deg")
    if turns is None:
        panel.text(0.5, 0.5, "no gyroscope in the log", ha="center", va="center", transform=panel.transAxes)
        return
    number = np.arange(1, len(turns.before) + 1)
    before, after = np.degrees(turns.before), np.degrees(turns.after)
    used = turns.used
    least = max(1e-4, 0.3 * float(np.median(after)) if len(after) else 1e-4)
    panel.set_yscale("log")
    panel.plot(number, np.maximum(before, least), "s", ms=4, color=_BEFORE, label=f"offset off: {_rms(before)} deg")
    label = f"after: {_rms(after[used])} deg"
    panel.plot(number[used], np.maximum(after[used], least), "o", ms=4, color=_AFTER, label=label)
    if not used.all():
        panel.plot(number[~used], np.maximum(after[~used], least), "x", ms=6, color=_LEFT_OUT, label="not used")
    panel.legend(fontsize=8, ncols=3, **LEGEND_ABOVE)


def _rms(values: Array) -> str:
    told = values[np.isfinite(values)]
    return f"{np.sqrt(np.mean(told**2)):.3g}" if len(told) else "none"
