"""Stops of a wheeled vehicle or of a body on which a controller or the IMU shows them, for a whole recording."""

from dataclasses import replace

import numpy as np

from strapdown.errors import InputError
from strapdown.live import Start
from strapdown.navigation.alignment import LEAST_SAMPLES
from strapdown.navigation.start_at_rest import Heading, rest_at_start_s, start_at_rest
from strapdown.navigation.start_moving import SHORTEST_STAND_S, first_stand, start_moving
from strapdown.navigation.stops.intervals import StopIntervals
from strapdown.navigation.stops.segment_stops import SegmentStops, looks_inverted, unseen_moves
from strapdown.recordings.facts import Facts
from strapdown.types import Recording


def has_signal(recording: Recording) -> bool:
    """Whether the controller signals a stop anywhere."""
    return recording.stop is not None and bool(recording.stop.any())


def start_of_vehicle(recording: Recording, facts: Facts, heading: Heading) -> Start:
    """Start at rest, as long as the recording is at rest; otherwise by the wheels."""
    try:
        rest_at_start_s(recording, facts)
    except InputError as refused:
        return start_moving(recording, facts, heading, refused)
    return start_at_rest(recording, facts, heading)


def _quietest(recording: Recording) -> tuple[int, int]:
    """First and last row of the second in which the readings vary least."""
    assert recording.gyr_s is not None and recording.acc_s is not None
    size = max(round(SHORTEST_STAND_S / recording.step_s), LEAST_SAMPLES)
    starts = np.arange(0, max(len(recording) - size, 1), max(size // 4, 1))
    varies = [recording.acc_s[k : k + size].std(axis=0).max() for k in starts]
    first = int(starts[int(np.argmin(varies))])
    return first, min(first + size, len(recording)) - 1


def vehicle_stops(recording: Recording, facts: Facts) -> StopIntervals:
    """Stops by the evidence of readings, signal and wheel; `used`: without the edges that may move."""
    rest = known_rest(recording, facts)
    triads = (facts.noise.get(name) for name in ("gyroscope", "accelerometer"))
    settings = SegmentStops.of_rest(recording, rest, *triads)
    notes = []
    stuck = recording.stop is not None and bool(recording.stop.all())
    if stuck or not has_signal(recording):
        unseen = "" if recording.odometer is not None else f"; {unseen_moves(settings)}"
        what = "the stop flag is always set" if stuck else "the log has no stop flag"
        notes.append(f"{what}: stops are those that the sensor itself shows{unseen}")
    elif looks_inverted(recording, settings, rest):
        notes.append("the stop flag is set in motion and not at rest: it looks inverted; turn it, or remove it")
    return replace(settings.find(recording, rest), notes=tuple(notes))


def known_rest(recording: Recording, facts: Facts) -> tuple[int, int]:
    """First and last row of the rest at the start. Without one, of the first stop that wheels or controller show, or of
    the quietest second.
    """
    try:
        rest_s = rest_at_start_s(recording, facts)
    except InputError:
        return first_stand(recording) or _quietest(recording)
    return 0, int(np.searchsorted(recording.t, recording.t[0] + rest_s, side="right")) - 1
