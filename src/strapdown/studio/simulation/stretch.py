"""An interval of a recorded session, for downloads."""

from dataclasses import replace

import numpy as np

from strapdown.environment.session.recording.record import SessionRecording
from strapdown.errors import InputError


def stretch(run: SessionRecording, from_s: float | None, to_s: float | None) -> SessionRecording:
    """The session between two times."""
    if from_s is None and to_s is None:
        return run
    first, last = from_s or 0.0, run.t[-1] if to_s is None else to_s
    rows = (run.t >= first) & (run.t <= last)
    logs = {
        name: log.between(max(first, log.t[0]), min(last, log.t[-1]))
        for name, log in run.recordings.items()
        if log.t[0] < last and log.t[-1] > first
    }
    if not rows.any():
        raise InputError(f"nothing was recorded from {first:g} to {last:g} s")
    return replace(
        run,
        recordings=logs,
        t=run.t[rows],
        signals={name: values[rows] for name, values in run.signals.items()},
        truth=run.truth[np.flatnonzero(rows)],
        actuators={name: values[rows] for name, values in run.actuators.items()},
        events=tuple(event for event in run.events if first <= event.t_s <= last),
        meta={**run.meta, "from_s": first, "to_s": last},
    )
