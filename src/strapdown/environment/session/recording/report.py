"""The report of a session: one HTML file with figures, table, events, parameters."""

import base64
import io
from importlib import resources
from os import PathLike
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from strapdown.environment.diagram.checking.check import analysed
from strapdown.environment.diagram.drawing.svg import svg_of
from strapdown.environment.diagram.file import diagram_from_text
from strapdown.environment.diagram.kinds import builtin
from strapdown.environment.session.events import sentence
from strapdown.environment.session.recording.outcome import DEG, errors_of, figures
from strapdown.environment.session.recording.record import SessionRecording
from strapdown.errors import InputError
from strapdown.io.atomic import whole_file
from strapdown.reporting.figures import AXIS_COLOURS, GREY, LEGEND_ABOVE, STYLE, panels
from strapdown.rotation import euler_from_q, wrap

_ANGLES = ("roll", "pitch", "heading")
_MOST_POINTS = 3000

# what a figure of the table is called, and its unit
TABLE = {
    "roll_rmse_deg": ("roll error, RMS", "deg"),
    "pitch_rmse_deg": ("pitch error, RMS", "deg"),
    "heading_rmse_deg": ("heading error, RMS", "deg"),
    "tilt_max_deg": ("roll or pitch error, largest", "deg"),
    "heading_drift_deg": ("heading error, change from start to end", "deg"),
    "velocity_rmse_m_s": ("velocity error, RMS", "m/s"),
    "position_rmse_m": ("position error, RMS", "m"),
    "position_max_m": ("position error, largest", "m"),
    "height_rmse_m": ("height error, RMS", "m"),
    "height_max_m": ("height error, largest", "m"),
    "path_m": ("true path", "m"),
    "end_distance_m": ("distance from the start at the end", "m"),
    "highest_m": ("greatest height above the start", "m"),
}


def table_rows(found: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Name, value and unit of each figure that exists."""
    return [(what, f"{found[key]:.3g}", unit) for key, (what, unit) in TABLE.items() if found.get(key) is not None]


@mpl.rc_context(STYLE)
def attitude_figure(run: SessionRecording) -> Figure | None:
    """Roll, pitch and heading, estimated and true, and their errors with 3 sigma: paper B's figures 3 and 4."""
    q = run.estimated("attitude")
    if q is None:
        return None
    known = np.isfinite(q).all(axis=1)
    estimate, truth = np.stack(euler_from_q(q), axis=1), np.stack(euler_from_q(run.truth.q_nb), axis=1)
    error = wrap(estimate - truth) * DEG
    thin = slice(None, None, max(1, len(run.t) // _MOST_POINTS))
    sigmas = (run.estimated("tilt_sigma"), run.estimated("tilt_sigma"), run.estimated("heading_sigma"))
    figure, axes = panels(3, 2, (11.0, 7.0))
    for i, name in enumerate(_ANGLES):
        left, right = axes[i]
        shown = np.where(known, estimate[:, i], np.nan)
        left.plot(run.t[thin], truth[thin, i] * DEG, color=GREY, linewidth=2.4, alpha=0.6, label="true")
        left.plot(run.t[thin], shown[thin] * DEG, color=AXIS_COLOURS[i], linewidth=1.0, label="estimated")
        left.set_ylabel(f"{name}, deg")
        right.plot(run.t[thin], np.where(known, error[:, i], np.nan)[thin], color=AXIS_COLOURS[i], label="error")
        sigma = sigmas[i]
        if sigma is not None and np.nanmax(sigma) > 0.0:
            band = 3.0 * sigma[thin] * DEG
            right.fill_between(run.t[thin], -band, band, color=AXIS_COLOURS[i], alpha=0.12, label="3 sigma")
        right.set_ylabel(f"{name} error, deg")
        low, high = _limits(error[known, i], run.t[known])
        right.set_ylim(low, high)
    for axis in axes[0]:
        axis.legend(ncols=3, **LEGEND_ABOVE)
    for axis in axes[-1]:
        axis.set_xlabel("time, s")
    return figure


def _limits(error: Any, t: Any) -> tuple[float, float]:
    """Limits of an axis that show the run, without the first moments before the filter has its attitude."""
    late = error[t > t[0] + 0.1 * (t[-1] - t[0])] if len(t) else error
    most = max(float(np.percentile(np.abs(late), 99.9)) * 1.3, 1e-3) if len(late) else 1.0
    return -most, most


@mpl.rc_context(STYLE)
def path_figure(run: SessionRecording) -> Figure:
    """The path from above and the height, true and estimated."""
    p, estimate = run.truth.p_n, run.estimated("position")
    thin = slice(None, None, max(1, len(run.t) // _MOST_POINTS))
    figure, axes = panels(1, 2, (11.0, 4.2), sharex=False)
    left, right = axes[0]
    left.plot(p[thin, 0], p[thin, 1], color=GREY, linewidth=2.2, alpha=0.7, label="true")
    left.plot(*p[0, :2], marker="o", color="#1d2429", linestyle="none", label="start")
    right.plot(run.t[thin], p[thin, 2], color=GREY, linewidth=2.2, alpha=0.7, label="true")
    if estimate is not None:
        left.plot(estimate[thin, 0], estimate[thin, 1], color=AXIS_COLOURS[2], label="estimated")
    height = run.estimated("height")
    if height is not None:
        right.plot(run.t[thin], height[thin], color=AXIS_COLOURS[2], linewidth=1.0, label="estimated")
    left.set_aspect("equal", adjustable="datalim")
    left.set_xlabel("east, m")
    left.set_ylabel("north, m")
    right.set_xlabel("time, s")
    right.set_ylabel("height, m")
    for axis in (left, right):
        axis.legend(ncols=3, **LEGEND_ABOVE)
    for event in run.events:
        if event.kind in ("fault", "fault_ends", "tipped", "impact"):
            right.axvline(event.t_s, color="#d68910", linewidth=0.9, linestyle=":")
    return figure


@mpl.rc_context(STYLE)
def actuator_figure(run: SessionRecording) -> Figure:
    """Figure of the states of the actuators."""
    thin = slice(None, None, max(1, len(run.t) // _MOST_POINTS))
    figure, axes = panels(1, 1, (11.0, 2.8))
    for name, values in run.actuators.items():
        axes[0, 0].plot(run.t[thin], values[thin], linewidth=0.9, label=name)
    axes[0, 0].set_xlabel("time, s")
    units = sorted(set(run.meta.get("actuator_units", {}).values()))
    axes[0, 0].set_ylabel(f"actuators, {' or '.join(units) or 'SI'}")
    axes[0, 0].legend(ncols=6, **LEGEND_ABOVE)
    return figure


def session_figures(run: SessionRecording) -> dict[str, Figure]:
    """All figures of a run by their title."""
    attitude = attitude_figure(run)
    found = {} if attitude is None else {"Attitude, estimated and true": attitude}
    return {**found, "Path and height": path_figure(run), "Actuators": actuator_figure(run)}


_KINDS = {"attitude": "Attitude, estimated and true", "path": "Path and height", "actuators": "Actuators"}


def figure_of(run: SessionRecording, kind: str | None) -> Figure:
    """One of the figures of a run."""
    found = session_figures(run)
    if kind is None:
        return next(iter(found.values()))
    if kind not in _KINDS:
        raise InputError(f'a session has no plot of kind "{kind}"; valid: {", ".join(_KINDS)}')
    if _KINDS[kind] not in found:
        raise InputError("the diagram of this session estimates no attitude; use path or actuators")
    return found[_KINDS[kind]]


def report_html(run: SessionRecording) -> str:
    """The report as text; the same run gives the same bytes."""
    from jinja2 import Environment, StrictUndefined

    template = (
        resources.files("strapdown.environment.session.recording")
        .joinpath("report.html.j2")
        .read_text(encoding="utf-8")
    )
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    found = figures(run)
    errors = errors_of(run)
    return environment.from_string(template).render(
        title=run.meta["title"] or f"Session of {run.meta['vehicle']}",
        vehicle=run.meta["vehicle"],
        seed=run.meta["seed"],
        duration_s=f"{found['duration_s']:g}",
        counted=None if not len(errors.t) else f"{errors.t[0]:g}",
        lost=found["lost_by"],
        lost_at=None if found["lost_at_s"] is None else f"{found['lost_at_s']:.2f}",
        stopped=found["stopped"],
        rows=table_rows(found),
        pictures=[(title, _encoded(figure)) for title, figure in session_figures(run).items()],
        events=[(f"{event.t_s:.3f}", sentence(event)) for event in run.events],
        sensors=[
            (name, log.meta.get("part") or "ideal", f"{log.meta['rate_hz']:g} Hz", len(log))
            for name, log in run.recordings.items()
        ],
        diagram=run.meta["diagram"],
        diagram_picture=_drawn(run.meta["diagram"]),
    )


def _drawn(text: str) -> str | None:
    """The diagram as a picture, encoded; None if it has blocks of a user, whose ports are not known here."""
    diagram, kinds = diagram_from_text(text), builtin()
    if any(problem.kind == "kind" for problem in analysed(diagram, kinds)[0]):
        return None
    return base64.b64encode(svg_of(diagram, kinds).encode("utf-8")).decode("ascii")


def _encoded(figure: Figure) -> str:
    data = io.BytesIO()
    figure.savefig(data, format="png", dpi=110, metadata={"Software": None})
    return base64.b64encode(data.getvalue()).decode("ascii")


def write_session_report(path: str | PathLike[str], run: SessionRecording) -> None:
    """Write the report, whole or not at all."""
    text = report_html(run)
    with whole_file(path) as tmp:
        Path(tmp).write_text(text, encoding="utf-8")
