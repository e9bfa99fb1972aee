"""Calibrations at rest as pictures: bias against temperature with its curve, and readings before and after."""

from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from strapdown.calibration.calibration import Correction
from strapdown.calibration.static import StaticFit
from strapdown.calibration.temperature.bias_curve import TemperatureCurve, TemperatureFit
from strapdown.reporting.figures import AXIS_COLOURS, GREY, LEGEND_ABOVE, STYLE, panels, titled

_UNITS = {"accelerometer": ("m/s²", 1.0), "gyroscope": ("°/s", 180.0 / np.pi)}


@mpl.rc_context(STYLE)
def temperature_figure(fit: TemperatureFit, title: str) -> Figure:
    """For each instrument the change of the reading with its curve and band of two sigma, and the residual."""
    figure, axes = panels(2 * len(fit.curves), 1, (8.0, 0.8 + 3.6 * len(fit.curves)))
    for k, (name, curve) in enumerate(fit.curves.items()):
        above, below = axes[2 * k, 0], axes[2 * k + 1, 0]
        correction = fit.calibration.corrections[name]
        unit, factor = _UNITS[name]
        _draw_curve(above, curve, correction, factor)
        above.set_title(f"{name}: degree {curve.degree}, {correction.found.verdict}")
        what = "bias" if name == "gyroscope" else "change"
        above.set_ylabel(f"{what}, {unit}")
        below.set_ylabel(f"residual, {unit}")
        for i in range(3):
            left = curve.after[:, i] - _level(curve, curve.after, i)
            below.plot(curve.celsius, factor * left, "o", ms=2.5, color=AXIS_COLOURS[i])
            for side in (-2.0, 2.0):
                below.axhline(side * factor * curve.sigma_left[i], color=AXIS_COLOURS[i], lw=0.7, ls=":")
        below.set_title("after the correction; dotted: two sigma of a mean, by the noise model")
    axes[0, 0].legend(ncols=3, **LEGEND_ABOVE)
    axes[-1, 0].set_xlabel("temperature, °C")
    titled(figure, title)
    return figure


def _draw_curve(panel: Any, curve: TemperatureCurve, correction: Correction, factor: float) -> None:
    """Means as read, from heating (full) and cooling (hollow), and the curve through them."""
    celsius = np.linspace(float(curve.celsius.min()), float(curve.celsius.max()), 200)
    value, sigma = curve.curve(correction, celsius)
    warming = np.gradient(curve.celsius) >= 0.0
    for i, axis in enumerate("xyz"):
        points = factor * (curve.before[:, i] - (_level(curve, curve.before, i) if curve.name != "gyroscope" else 0.0))
        line = factor * (value[:, i] - (_curve_level(curve, correction, i) if curve.name != "gyroscope" else 0.0))
        colour = AXIS_COLOURS[i]
        panel.plot(curve.celsius[warming], points[warming], "o", ms=2.5, color=colour, label=axis)
        panel.plot(curve.celsius[~warming], points[~warming], "o", ms=2.5, mfc="none", mew=0.6, color=colour)
        panel.plot(celsius, line, color="black", lw=0.9)
        band = 2.0 * factor * sigma[:, i]
        panel.fill_between(celsius, line - band, line + band, color=GREY, alpha=0.35, lw=0)


def _level(curve: TemperatureCurve, values: np.ndarray, axis: int) -> np.ndarray:
    """The mean of each pose, for every block, which removes gravity."""
    if curve.name == "gyroscope":
        return np.zeros(len(values))
    of_pose = np.array([values[curve.pose == k, axis].mean() for k in range(int(curve.pose.max()) + 1)])
    return np.asarray(of_pose[curve.pose])


def _curve_level(curve: TemperatureCurve, correction: Correction, axis: int) -> float:
    """The curve's own mean over the data, subtracted as from the points."""
    return float(curve.curve(correction, curve.celsius)[0][:, axis].mean())


@mpl.rc_context(STYLE)
def static_figure(fit: StaticFit, title: str) -> Figure:
    """Means of intervals at rest against time, as read and corrected; the line is the true value in this attitude."""
    figure, axes = panels(len(fit.before), 2, (9.0, 0.8 + 2.8 * len(fit.before)))
    for row, name in zip(axes, fit.before, strict=True):
        unit, factor = _UNITS[name]
        sigma = fit.calibration.corrections[name].sigma["bias"]
        for panel, values, what in zip(row, (fit.before[name], fit.after[name]), ("as read", "corrected"), strict=True):
            for i, axis in enumerate("xyz"):
                error = factor * (values[:, i] - fit.expected[name][i])
                panel.plot(fit.blocks.t, error, "o", ms=2.5, color=AXIS_COLOURS[i], label=axis)
            panel.axhline(0.0, color="black", lw=0.8)
            panel.set_title(f"{name}, {what}{' (shaded: bias ± σ)' if what == 'corrected' else ''}")
        row[0].set_ylabel(f"reading − expected, {unit}")
        for i in range(3):
            row[1].axhspan(-factor * sigma[i], factor * sigma[i], color=AXIS_COLOURS[i], alpha=0.12, lw=0)
    axes[0, 0].legend(ncols=3, **LEGEND_ABOVE)
    for panel in axes[-1]:
        panel.set_xlabel("time, s")
    titled(figure, title)
    return figure
