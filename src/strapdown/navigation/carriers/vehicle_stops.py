"""Stops of a wheeled vehicle or of a body on which a controller or the IMU shows them, for a whole recording."""

from dataclasses import replace

import numpy as np

from strapdown.navigation.start_at_rest import rest_at_start_s
from strapdown.navigation.stops.edges import without_moving_edges
from strapdown.navigation.stops.intervals import StopIntervals
from strapdown.navigation.stops.noise_stops import NoiseStops, looks_inverted, unseen_moves
from strapdown.recordings.facts import Facts
from strapdown.types import Recording


def has_signal(recording: Recording) -> bool:
    """Whether the controller signals a stop anywhere."""
    return recording.stop is not None and bool(recording.stop.any())


def vehicle_stops(recording: Recording, facts: Facts) -> StopIntervals:
    """By the controller's signal and the noise of the rest at the start; `used`: without the edges that may move."""
    t = recording.t
    rows = int(np.searchsorted(t, t[0] + rest_at_start_s(recording, facts), side="right"))
    rest_s = float(t[max(rows, 1) - 1] - t[0])
    triads = (facts.noise.get(name) for name in ("gyroscope", "accelerometer"))
    judge = NoiseStops.off_line(recording, *triads, rest_s=rest_s)
    notes = []
    stuck = recording.stop is not None and bool(recording.stop.all())
    if stuck or not has_signal(recording):
        unseen = "" if recording.odometer is not None else f"; {unseen_moves(judge, recording.step_s)}"
        what = "the stop flag is always set" if stuck else "the log has no stop flag"
        notes.append(f"{what}: stops are those that the sensor itself shows{unseen}")
    elif looks_inverted(recording, judge):
        notes.append("the stop flag is set in motion and not at rest: it looks inverted; turn it, or remove it")
    found = judge.find(recording)
    return replace(found, used=without_moving_edges(found, recording, judge), notes=tuple(notes))
