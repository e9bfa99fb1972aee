"""Parts next to each other: Allan deviation and expected drift from N, B and K, as numbers and as a picture.

With white noise N, bias instability B (floor b = 0.664 B) and random walk K, of gyroscope (g) and accelerometer (a):

Allan deviation     sigma(tau)^2 = N^2/tau + b^2 + K^2 tau/3
angle after t       s^2 = Ng^2 t + (bg t)^2 + Kg^2 t^3/3
position after t    s^2 = Na^2 t^3/3 + (ba t^2/2)^2 + Ka^2 t^5/20 + g^2 (Ng^2 t^5/20 + (bg t^3/6)^2 + Kg^2 t^7/252)
averaged field      sigma(tau); heading error atan(sigma / 20 uT)

A body at rest, calibrated as well as the part allows: the floor b remains as a constant bias. The second part of the
position is tilt: the wrong angle lets gravity in.
"""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from strapdown.reporting.figures import STYLE, panels, save
from strapdown.sensors.parts.part import Specimen
from strapdown.sensors.parts.units import DEG, HOUR_S, STANDARD_GRAVITY
from strapdown.sensors.triad import FLICKER_FLOOR, Array, Triad

HORIZONTAL_FIELD_UT = 20.0  # of middle latitudes
_COLOURS = ("#2460a7", "#c0392b", "#1e8449", "#8e44ad", "#d68910", "#148f8f", "#7f8c8d", "#5d4037")


def noise(triad: Triad) -> tuple[float, float, float]:
    """N, the Allan floor and K of the worst axis, SI."""
    return max(triad.white), FLICKER_FLOOR * max(triad.instability), max(triad.walk)


def allan_deviation(tau: ArrayLike, triad: Triad) -> Array:
    """Allan deviation of the worst axis, in the triad's unit."""
    tau = np.asarray(tau, dtype=float)
    n, floor, k = noise(triad)
    return np.sqrt(n**2 / tau + floor**2 + k**2 * tau / 3.0)


def angle_drift(t: ArrayLike, gyroscope: Triad) -> Array:
    """Standard deviation of the angle about one axis after t seconds, rad."""
    t = np.asarray(t, dtype=float)
    n, floor, k = noise(gyroscope)
    return np.sqrt(n**2 * t + (floor * t) ** 2 + k**2 * t**3 / 3.0)


def position_drift(t: ArrayLike, accelerometer: Triad, gyroscope: Triad | None) -> Array:
    """Standard deviation of one horizontal coordinate after t seconds, m; without gyroscope the attitude is known."""
    t = np.asarray(t, dtype=float)
    n, floor, k = noise(accelerometer)
    variance = n**2 * t**3 / 3.0 + (floor * t**2 / 2.0) ** 2 + k**2 * t**5 / 20.0
    if gyroscope is not None:
        n, floor, k = noise(gyroscope)
        tilt = n**2 * t**5 / 20.0 + (floor * t**3 / 6.0) ** 2 + k**2 * t**7 / 252.0
        variance = variance + STANDARD_GRAVITY**2 * tilt
    return np.sqrt(variance)


def compare(specimens: Mapping[str, Specimen], after_s: float = 60.0) -> dict[str, dict[str, float | None]]:
    """The table: for every part, numbers by name; None where it has no such instrument."""
    return {name: _row(specimen, after_s) for name, specimen in specimens.items()}


def _row(specimen: Specimen, after_s: float) -> dict[str, float | None]:
    acc, gyr, mag = specimen.accelerometer, specimen.gyroscope, specimen.magnetometer

    def of(triad: Triad | None, which: int, unit: float) -> float | None:
        value = 0.0 if triad is None else noise(triad)[which]
        return value / unit if value > 0.0 else None  # 0 is not on the data sheet

    ug = 1e-6 * STANDARD_GRAVITY
    drift = None if acc is None or not max(acc.white) > 0.0 else float(position_drift(after_s, acc, gyr))
    turned = None if gyr is None or not max(gyr.white) > 0.0 else float(angle_drift(after_s, gyr)) / DEG
    return {
        "gyroscope_range_deg_s": None if gyr is None or gyr.full_scale is None else gyr.full_scale / DEG,
        "angle_random_walk_deg_rth": of(gyr, 0, DEG / np.sqrt(HOUR_S)),
        "gyroscope_floor_deg_h": of(gyr, 1, DEG / HOUR_S),
        "angle_drift_deg": turned,
        "accelerometer_range_g": None if acc is None or acc.full_scale is None else acc.full_scale / STANDARD_GRAVITY,
        "velocity_random_walk_m_s_rth": of(acc, 0, 1.0 / np.sqrt(HOUR_S)),
        "accelerometer_floor_ug": of(acc, 1, ug),
        "position_drift_m": drift,
        "magnetometer_range_ut": None if mag is None else mag.full_scale,
        "magnetometer_noise_ut_rthz": of(mag, 0, 1.0 / np.sqrt(2.0)),  # one-sided, as on data sheets
    }


@mpl.rc_context(STYLE)
def comparison(specimens: Mapping[str, Specimen]) -> Figure:
    """Allan deviation above, expected drift below, one column for each instrument that any of the parts has."""
    names = [
        name
        for name in ("gyroscope", "accelerometer", "magnetometer")
        if any(getattr(specimen, name) is not None for specimen in specimens.values())
    ]
    figure, axes = panels(2, len(names), (max(6.5, 4.6 * len(names)), 7.0), sharex=False)
    tau, t = np.logspace(-2, 4, 200), np.logspace(-1, 3, 200)
    unit = {
        "gyroscope": ("°/h", DEG / HOUR_S),
        "accelerometer": ("µg", 1e-6 * STANDARD_GRAVITY),
        "magnetometer": ("µT", 1.0),
    }
    for column, name in enumerate(names):
        above, below = axes[0, column], axes[1, column]
        label, factor = unit[name]
        if name == "magnetometer":
            tau = np.logspace(-2, 1, 200)  # how they drift beyond is on no data sheet
        for (part, specimen), colour in zip(specimens.items(), _colours(len(specimens)), strict=True):
            triad: Triad | None = getattr(specimen, name)
            if triad is None or not max(triad.white) > 0.0:
                continue
            style = {"color": colour, "linestyle": _line(specimen, name)}
            above.loglog(tau, allan_deviation(tau, triad) / factor, label=part, **style)
            if name == "gyroscope":
                below.loglog(t, angle_drift(t, triad) / DEG, **style)
            elif name == "accelerometer":
                style["linestyle"] = _line(specimen, "accelerometer", "gyroscope")  # a tilt makes a position drift
                below.loglog(t, position_drift(t, triad, specimen.gyroscope), **style)
            else:
                heading = np.arctan(allan_deviation(tau, triad) / HORIZONTAL_FIELD_UT) / DEG
                below.loglog(tau, heading, **style)
        above.set_title(f"{name}: Allan deviation, {label}")
        above.set_xlabel("averaging time, s")
        below.set_title(
            {
                "gyroscope": "angle error at rest, °",
                "accelerometer": "position error at rest, m",
                "magnetometer": f"heading noise in {HORIZONTAL_FIELD_UT:g} µT, °",
            }[name]
        )
        below.set_xlabel("averaging time, s" if name == "magnetometer" else "time, s")
        for minutes in () if name == "magnetometer" else (1, 10):
            below.axvline(60.0 * minutes, color="#bbbbbb", linewidth=0.8, zorder=0)
            below.annotate(
                f"{minutes} min ",
                (60.0 * minutes, 0.03),
                xycoords=("data", "axes fraction"),
                color="#888888",
                ha="right",
            )
    figure.legend(*_entries(axes[0]), loc="outside lower center", ncols=min(len(specimens), 6))
    note = "; dashed: from numbers that are estimated" if any(each.estimated for each in specimens.values()) else ""
    figure.suptitle(f"Calibrated at the start: noise and bias instability only{note}", x=0.01, ha="left")
    return figure


def _line(specimen: Specimen, *instruments: str) -> str:
    """Dashed where a noise term of these instruments is not verified in a data sheet."""
    return "--" if any(term.startswith(instruments) for term in specimen.estimated) else "-"


def save_comparison(specimens: Mapping[str, Specimen], path: str | PathLike[str]) -> None:
    save(comparison(specimens), path)


def _colours(count: int) -> Sequence[str]:
    if count <= len(_COLOURS):
        return _COLOURS[:count]
    return [mpl.colors.to_hex(mpl.colormaps["turbo"](x)) for x in np.linspace(0.05, 0.95, count)]


def _entries(row: Any) -> tuple[list[Any], list[str]]:
    """Every part once, from any panel that has it."""
    found = {label: line for axis in row for line, label in zip(*axis.get_legend_handles_labels(), strict=True)}
    return list(found.values()), list(found)
