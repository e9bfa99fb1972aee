"""Detects whether a wheel turns. An odometer turns if it moves by more than its resolution and its noise at rest."""

import numpy as np
from numpy.typing import NDArray

from strapdown.recordings.runs import runs_of
from strapdown.types import Array, Recording

WINDOW_S = 0.3  # over which a wheel is seen to turn
TICKS, _SIGMAS = 1.5, 6.0  # of travel over a window, above which a wheel turns
CREEP_M_S = 0.01  # a wheel that moves slower stands
_LOOK_S = 1.0  # of the start, at rest: what an odometer does there is noise
_CLOCK = 1e-3  # of its way, by which a wheel differs from a steady count at least


def turning_travel_m(recording: Recording, window_s: float) -> float | None:
    """Travel within window_s above which the wheel of this recording turns, from its ticks and from its noise at the
    start, which is a rest. None without an odometer, or if the odometer counts steadily from first to last: it is then
    a clock, not a wheel."""
    if recording.odometer is None or len(recording) < 3:
        return None
    t, odometer = recording.t, recording.odometer
    back, travel = _travel(recording, window_s)
    steps = np.abs(np.diff(odometer))
    steps = steps[steps > 1e-9 * max(1.0, float(np.abs(odometer).max()))]  # roundoff
    look = max(int(np.searchsorted(t, t[0] + _LOOK_S)), 3)
    noise = float(np.diff(odometer[:look]).std())
    # a tick that falls between two samples is two smaller steps, so not the least of all
    tick = float(np.quantile(steps, 0.1)) if len(steps) else 0.0
    least = max(TICKS * tick, _SIGMAS * noise)
    moves_at_start = bool((travel[back[look - 1] + 1 : look] > least).all())
    if moves_at_start:  # what it does there is no noise
        least = max(TICKS * tick, CREEP_M_S * window_s)
        return None if _counts_steadily(t, odometer) else least
    return least if least > 0.0 else None


def _counts_steadily(t: Array, odometer: Array) -> bool:
    """Whether the odometer is a straight line over time."""
    way = float(np.ptp(odometer))
    return bool(np.ptp(odometer - np.polyval(np.polyfit(t - t[0], odometer, 1), t - t[0])) < _CLOCK * way)


def wheel_turns(recording: Recording, window_s: float) -> NDArray[np.bool_]:
    """Where the odometer has moved within the last window_s by more than that travel. False everywhere without an
    odometer.
    """
    least = turning_travel_m(recording, window_s)
    if least is None:
        return np.zeros(len(recording), dtype=bool)
    return np.asarray(_travel(recording, window_s)[1] > least)


def rolling(recording: Recording) -> NDArray[np.bool_]:
    """From the first to the last sample of each turn of the wheel, as a whole recording shows it."""
    late = wheel_turns(recording, WINDOW_S)
    rolls = np.zeros(len(late), dtype=bool)
    if not late.any():
        return rolls
    assert recording.odometer is not None
    moves = np.diff(recording.odometer, prepend=recording.odometer[0]) != 0.0
    for first, last in runs_of(late):
        begin = int(np.searchsorted(recording.t, recording.t[first] - WINDOW_S))
        moved = np.flatnonzero(moves[begin : last + 1])
        if len(moved):
            rolls[begin + moved[0] : begin + moved[-1] + 1] = True
    return rolls


def _travel(recording: Recording, window_s: float) -> tuple[NDArray[np.int64], Array]:
    """The first row of the window of each row, and the travel since."""
    assert recording.odometer is not None
    back = np.searchsorted(recording.t, recording.t - window_s * (1.0 + 1e-9))
    return back, np.abs(recording.odometer - recording.odometer[back])
