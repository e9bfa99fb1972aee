"""Figures like paper B's 3 and 4: pitch and roll in horizontal flight, computed and true."""

from contextlib import suppress

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from strapdown.environment.session.recording.outcome import DEG
from strapdown.environment.session.recording.record import SessionRecording, recording_of
from strapdown.environment.session.session import SessionStopped
from strapdown.papers.b.closed_loop.paper_filter import paper_job
from strapdown.papers.b.closed_loop.part import seeds
from strapdown.papers.b.closed_loop.quadcopter import flight_job
from strapdown.papers.b.closed_loop.runs import Job, session_of
from strapdown.reporting.figures import AXIS_COLOURS, GREY, LEGEND_ABOVE, STYLE, panels
from strapdown.rotation import euler_from_q, wrap

_FILES = {"pitch": "B_flight_pitch.png", "roll": "B_flight_roll.png"}
_THIN = 5


def _flown(job: Job) -> SessionRecording:
    session = session_of(job)
    with suppress(SessionStopped):  # drawn as far as it went
        session.run()
    return recording_of(session)


def angle_figures(repeat: int = 0) -> dict[str, Figure]:
    """The first reported seed on script 1, by each filter."""
    (seed,) = seeds(1, repeat)
    shown = {
        "mekf": flight_job("quadcopter", "mekf", seed),
        "eskf with velocity": flight_job("quadcopter", "eskf with velocity", seed),
        "paper B's filter, corrected, 100 Hz": paper_job(True, 100.0, 0.0, seed),
    }
    runs = {name: _flown(job) for name, job in shown.items()}
    return {_FILES[angle]: _figure(angle, runs) for angle in _FILES}


@mpl.rc_context(STYLE)
def _figure(angle: str, runs: dict[str, SessionRecording]) -> Figure:
    number = ("roll", "pitch").index(angle)
    figure, axes = panels(len(runs), 2, (11.0, 2.4 * len(runs)))
    for (name, run), (left, right) in zip(runs.items(), axes, strict=True):
        q = run.estimated("attitude")
        assert q is not None
        flying = np.flatnonzero(run.truth.p_n[:, 2] > run.truth.p_n[0, 2] + 0.05)
        rows = slice(flying[0], None, _THIN)
        t, true = run.t[rows], euler_from_q(run.truth.q_nb[rows])[number]
        computed = euler_from_q(q[rows])[number]
        left.plot(t, true * DEG, color=GREY, linewidth=2.4, alpha=0.6, label="true")
        left.plot(t, computed * DEG, color=AXIS_COLOURS[number], linewidth=1.0, label="computed")
        left.set_title(name)
        left.set_ylabel(f"{angle}, deg")
        right.plot(t, wrap(computed - true) * DEG, color=AXIS_COLOURS[number], linewidth=1.0)
        right.set_ylabel("computed - true, deg")
    axes[0, 0].legend(ncols=2, **LEGEND_ABOVE)
    for axis in axes[-1]:
        axis.set_xlabel("time, s")
    return figure
