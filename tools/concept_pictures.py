#!/usr/bin/env python3
"""The pictures of docs/concepts.md, made by the product itself.

Usage: python tools/concept_pictures.py [FOLDER]
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import strapdown as sd

ROOT = Path(__file__).parents[1]
G = 9.80665


def frames() -> Figure:
    """Body and local frame seen from above, at the heading of 30 deg."""
    figure = Figure(figsize=(7.0, 3.4), layout="constrained")
    above, side = figure.subplots(1, 2)
    arrows = {"angles": "xy", "scale_units": "xy", "scale": 1.0, "width": 0.012}
    heading = np.radians(30.0)  # clockwise from north
    forward = np.array([np.sin(heading), np.cos(heading)])
    left = np.array([-forward[1], forward[0]])
    for vector, name, colour in (((1.0, 0.0), "x east", "tab:grey"), ((0.0, 1.0), "y north", "tab:grey")):
        above.quiver(0, 0, *vector, color=colour, **arrows)
        above.annotate(f"n: {name}", vector, xytext=(4, 4), textcoords="offset points", color=colour)
    for vector, name in ((forward, "x forward"), (left, "y left")):
        above.quiver(0, 0, *vector, color="tab:blue", **arrows)
        above.annotate(f"b: {name}", vector, xytext=(4, 4), textcoords="offset points", color="tab:blue")
    above.set(xlim=(-1.3, 1.6), ylim=(-0.4, 1.4), aspect="equal", title="from above, heading 30°")
    for vector, name, colour in (
        ((0.0, G), "accelerometer reads +g, up", "tab:red"),
        ((0.0, -G), "gravity", "tab:grey"),
    ):
        side.quiver(0, 0, *vector, color=colour, **arrows)
        side.annotate(name, vector, xytext=(6, 0), textcoords="offset points", color=colour)
    side.set(xlim=(-3.0, 16.0), ylim=(-11.0, 12.0), title="from the side, at rest")
    for axes in (above, side):
        axes.set_xticks([])
        axes.set_yticks([])
    return figure


def drift() -> Figure:
    """Position of a sensor at rest, integrated from a calibrated part, and the growth that theory gives."""
    figure = Figure(figsize=(7.0, 3.4), layout="constrained")
    tilt, place = figure.subplots(1, 2)
    for name in ("MPU-6050", "ICM-42688-P", "ADIS16470"):
        log = sd.record(sd.motion.Rest(duration_s=70.0), sd.load_part(name).draw(seed=1, rate_hz=100), seed=1)
        t = log.t[1000:] - 10.0
        acc = log.acc_s[1000:] - log.acc_s[:1000].mean(axis=0)
        gyr = log.gyr_s[1000:] - log.gyr_s[:1000].mean(axis=0)
        angle = np.cumsum(gyr[:, 0]) / 100.0
        position = np.cumsum(np.cumsum(acc[:, 1] + G * np.sin(angle))) / 100.0**2
        tilt.plot(t, np.degrees(angle), label=name)
        place.plot(t, position, label=name)
    tilt.set(xlabel="time, s", ylabel="tilt, deg", title="gyroscope, integrated once")
    place.set(xlabel="time, s", ylabel="position, m", title="gravity adds up in the path")
    tilt.legend()
    return figure


def stops() -> Figure:
    """The error of position with and without stops believed, of one drive."""
    log = sd.record(
        sd.motion.StopAndGo.square(first_rest_s=10), sd.load_part("MPU-6050").draw(seed=1, rate_hz=100), seed=1
    )
    offset = log.acc_s[:900].mean(axis=0) - np.array([0.0, 0.0, G])
    gyr = log.gyr_s - log.gyr_s[:900].mean(axis=0)
    log = sd.Recording(log.t, gyr_s=gyr, acc_s=log.acc_s - offset, stop=log.stop, truth=log.truth, meta=log.meta)
    start = log.truth[900:]
    alone = sd.dead_reckon(log[900:], start.q_nb[0], start.p_n[0], start.v_n[0], G)
    helped = sd.navigate(log, sd.WheeledRobot(heading_deg=0)).solution
    figure = Figure(figsize=(7.0, 3.4), layout="constrained")
    axes = figure.subplots()
    for name, solution, truth in (("without stops", alone, start), ("with stops", helped, log.truth)):
        axes.semilogy(solution.t, np.linalg.norm(solution.p_n - truth.p_n, axis=1) + 1e-4, label=name)
    axes.set(xlabel="time, s", ylabel="error of position, m", title="a square of 1.2 m, driven with an MPU-6050")
    axes.legend()
    return figure


PICTURES = {"concept_frames.png": frames, "concept_drift.png": drift, "concept_stops.png": stops}


def main(arguments: list[str]) -> int:
    folder = Path(arguments[0]) if arguments else ROOT / "docs" / "pictures"
    for name, make in PICTURES.items():
        make().savefig(folder / name, dpi=90)
        print(folder / name)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
