"""Figures like paper A's, drawn from the recordings of its reproduction."""

from collections.abc import Callable
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from strapdown.evaluation.readings import error_against_truth
from strapdown.papers.a.experiments import METHODS, STEPS_MS
from strapdown.papers.a.ramp import CASES
from strapdown.papers.a.results import Reproduction
from strapdown.reporting.figures import AXIS_COLOURS, GREY, LEGEND_ABOVE, STYLE, draw_xyz, panels
from strapdown.rotation import q_rotate
from strapdown.types import Recording

_METHOD_COLOURS = dict(zip(METHODS, ("#111111", "#c0392b", "#2460a7", "#1e8449", "#e67e22"), strict=True))


@mpl.rc_context(STYLE)
def figures(result: Reproduction) -> dict[str, Figure]:
    """File name -> figure, for the experiments that were run."""
    drawers: dict[str, tuple[str, Callable[[Reproduction], Figure]]] = {
        "A-a_50ms": ("A-a_poses.png", _poses),
        "A-b_50ms": ("A-b_lift_and_fall.png", _lift_and_fall),
        "A-c_50ms": ("A-c_rotation.png", _rotation),
        "A-d1_50ms": ("A-d_run_up.png", _run_up),
        "A-e_50ms": ("A-e_pendulum.png", _pendulum),
    }
    return {name: draw(result) for key, (name, draw) in drawers.items() if key in result.recordings}


_POSES = (("a", 0.0, 10.0), ("b", 25.0, 30.0), ("c", 45.0, 50.0))


def _poses(result: Reproduction) -> Figure:
    figure = Figure(figsize=(11.0, 8.0), layout="constrained")
    FigureCanvasAgg(figure)
    above, below = figure.subfigures(2, 1, height_ratios=(1.0, 2.0))  # type: ignore[misc]
    runs = {place: result.recordings["A-a_50ms"][f"{place} exact"] for place in ("D1", "D2")}
    for axis, (name, begin, end) in zip(above.subplots(1, 3), _POSES, strict=True):
        _draw_arm(axis, runs, 0.5 * (begin + end))
        axis.set_title(f"pose {name}")
    axes = below.subplots(2, 2, sharex=True)
    for column, (place, recording) in enumerate(runs.items()):
        acc_s, gyr_s, _ = recording.inertial()
        draw_xyz(axes[0, column], recording.t, acc_s, "specific force", "m/s²")
        draw_xyz(axes[1, column], recording.t, np.degrees(gyr_s), "rate", "deg/s")
        axes[0, column].set_title(f"{place} on the {recording.meta['link'].replace('_', ' ')}")
        axes[1, column].set_xlabel("time, s")
        for name, begin, end in _POSES:
            for axis in axes[:, column]:
                axis.axvspan(begin, end, color=GREY, alpha=0.15, lw=0)
            axes[0, column].text(0.5 * (begin + end), 10.6, f"pose {name}", ha="center", color="#444444")
        axes[0, column].set_ylim(-1.0, 11.8)
    axes[0, 1].legend(ncols=3, **LEGEND_ABOVE)
    figure.suptitle("A-a: manipulator, 3 deg/s about X, step 50 ms, method exact", x=0.01, ha="left")
    return figure


def _draw_arm(axis: Any, runs: dict[str, Recording], t: float) -> None:
    """The manipulator in the plane it moves in (y, z), its sensors and their axes; links of 0.4 m, sensors half-way."""
    ends = [np.array([0.0, 0.2])]
    for place in ("D2", "D1"):
        truth = runs[place].inertial()[2]
        row = int(np.searchsorted(truth.t, t))
        middle = truth.p_n[row, 1:]
        ends.append(2.0 * middle - ends[-1])
        for direction, colour in ((1, AXIS_COLOURS[1]), (2, AXIS_COLOURS[2])):
            along = 0.14 * q_rotate(truth.q_nb[row], np.eye(3)[direction])[1:]
            axis.annotate("", middle + along, middle, arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 1.6})
        axis.plot(*middle, "s", color="#111111", ms=7, zorder=3)
        axis.text(middle[0] + 0.05, middle[1] - 0.09, place, color="#111111")
    axis.plot(*np.array(ends).T, "o-", color="#b0b8bf", lw=7, ms=9, zorder=1, solid_capstyle="round")
    axis.add_patch(Rectangle((-0.16, 0.0), 0.32, 0.12, color="#8a949c"))
    axis.plot([0.0, 0.0], [0.1, 0.2], color="#8a949c", lw=9, zorder=0)
    axis.axhline(0.0, color="#555555", lw=1.0)
    axis.set_aspect("equal")
    axis.set_xlim(-1.0, 0.5)
    axis.set_ylim(-0.05, 1.15)
    axis.set_axis_off()


_ROUNDOFF = 1e-16  # m/s2: an axis of powers of ten has to end somewhere


def _lift_and_fall(result: Reproduction) -> Figure:
    figure, axes = panels(2, 1, (8.0, 5.6))
    runs = result.recordings["A-b_50ms"]
    for method in ("exact", "paper", "proof-mass-soft"):
        recording = runs[f"D1 {method}"]
        acc_s, _, _ = recording.inertial()
        axes[0, 0].plot(recording.t, acc_s[:, 2], ".-", ms=4, color=_METHOD_COLOURS[method], label=method)
        if method == "exact":
            continue
        error, _ = error_against_truth(recording)
        axes[1, 0].semilogy(recording.t, np.maximum(error, _ROUNDOFF), color=_METHOD_COLOURS[method], label=method)
    for value, label in ((9.81, "g"), (10.81, "1.1 g"), (0.0, "0")):
        axes[0, 0].axhline(value, color=GREY, lw=0.7, ls=":")
        beside = {"xycoords": ("axes fraction", "data"), "va": "center", "annotation_clip": False}
        axes[0, 0].annotate(f" {label}", (1.0, value), color=GREY, **beside)
    axes[0, 0].set_ylabel("specific force z, m/s²")
    axes[1, 0].set_ylabel("difference to exact, m/s²")
    axes[1, 0].set_title(f"smaller differences, and none, are drawn at {_ROUNDOFF:g}", fontsize=8)
    axes[1, 0].set_xlabel("time, s")
    axes[0, 0].legend(ncols=3, **LEGEND_ABOVE)
    figure.suptitle("A-b: a cube of 5 kg at rest, lifted by 54.05 N, and in free fall; step 50 ms", x=0.01, ha="left")
    return figure


def _rotation(result: Reproduction) -> Figure:
    figure, axes = panels(1, 3, (12.0, 3.8), sharex=False)
    for axis, component, label in (
        (axes[0, 0], 0, "specific force x (to the axis), m/s²"),
        (axes[0, 1], 1, "specific force y (along the path), m/s²"),
    ):
        for method in ("exact", "paper", "second-order"):
            recording = result.recordings["A-c_50ms"][f"D1 {method}"]
            axis.plot(recording.t, recording.inertial()[0][:, component], color=_METHOD_COLOURS[method], label=method)
        axis.set_ylabel(label)
        axis.set_xlabel("time, s")
        axis.ticklabel_format(useOffset=False)
    axes[0, 1].legend(loc="center right")
    _error_against_step(axes[0, 2], result, "A-c", "steady")
    figure.suptitle("A-c: 0.75 m from the axis at π/4 rad/s; left and middle: step 50 ms", x=0.01, ha="left")
    return figure


def _run_up(result: Reproduction) -> Figure:
    figure, axes = panels(2, 3, (12.0, 6.2), sharex=False)
    rows = {r.case: r for r in result.run_ups if r.method == "exact" and r.step_ms == 50}
    for axis, case in zip(axes.flat, CASES, strict=True):
        recording = result.recordings[f"A-d{case.number}_50ms"]["exact"]
        row = rows[case.number]
        t = np.array([0.0, row.fit.line_s])
        axis.plot(t, np.degrees(row.fit.slope * t + row.fit.offset), color="#2460a7", label="fitted line")
        axis.axhline(case.speed_deg_s, color=GREY, ls=":", lw=1.0)
        shown = recording.t < case.analytic_s + 0.2
        axis.plot(
            recording.t[shown],
            np.degrees(recording.inertial()[1][shown, 2]),
            "o",
            ms=4,
            color="#111111",
            label="samples",
        )
        axis.plot(row.fit.line_s, case.speed_deg_s, "x", ms=9, color="#c0392b", label="end of run-up")
        axis.set_title(
            f"{case.number}: {case.torque_nm:g} N m, {case.mass_kg:g} kg: line {row.fit.line_s:.4f} s, "
            f"analytic {case.analytic_s:.4f}\nfirst sample {row.fit.first_sample_s:.2f}, paper {case.published_s:g} s",
            fontsize=8.5,
        )
        axis.set_xlabel("time, s")
        axis.set_ylabel("rate z, deg/s")
    axes[0, 0].legend(loc="lower right")
    figure.suptitle("A-d: run-up under constant torque, step 50 ms", x=0.01, ha="left")
    return figure


def _pendulum(result: Reproduction) -> Figure:
    figure, axes = panels(2, 2, (11.0, 6.0), sharex=False)
    recording = result.recordings["A-e_1ms"]["D1 exact"]
    acc_s, gyr_s, _ = recording.inertial()
    draw_xyz(axes[0, 0], recording.t, acc_s, "specific force", "m/s²")
    draw_xyz(axes[1, 0], recording.t, gyr_s, "rate", "rad/s")
    axes[0, 0].legend(ncols=3, **LEGEND_ABOVE)
    axes[1, 0].set_xlabel("time, s")
    _error_against_step(axes[0, 1], result, "A-e", "swing")
    _error_against_step(axes[1, 1], result, "A-e", "swing", "gyr", "rad/s", ("exact", "paper", "second-order"))
    figure.suptitle("A-e: vigorous double pendulum; left: method exact at 1 ms", x=0.01, ha="left")
    return figure


def _label(method: str) -> str:
    return f"{method}\n(against its own run)" if method.startswith("proof") else method


def _error_against_step(
    axis: Any,
    result: Reproduction,
    experiment: str,
    phase: str,
    instrument: str = "acc",
    unit: str = "m/s²",
    methods: tuple[str, ...] = tuple(METHODS),
) -> None:
    """Largest error over the sample time, both in decades: the slope is the order of the method."""
    for method in methods:
        values = [
            max(
                getattr(r, instrument)
                for r in result.errors
                if (r.experiment, r.phase, r.method, r.step_ms) == (experiment, phase, method, step)
            )
            for step in STEPS_MS
        ]
        axis.loglog(
            STEPS_MS, np.maximum(values, 1e-17), "o-", ms=4, color=_METHOD_COLOURS[method], label=_label(method)
        )
    axis.set_xlabel("step, ms")
    axis.set_ylabel(f"largest {instrument} error, {unit}")
    axis.set_xticks(STEPS_MS, [str(s) for s in STEPS_MS])
    axis.minorticks_off()
    axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
