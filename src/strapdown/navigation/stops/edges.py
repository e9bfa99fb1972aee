"""Samples of believed stops that are certainly at rest, found by looking ahead and back: the edges of stops.

A move begins and ends so gently that noise hides its edge, and the window of a judge is longer than the edge. So
without a controller's signal a stop ends AHEAD_S before the estimated begin of the motion that ends it. A stop begins,
within the window that showed it, only where its readings are those of its later half. Before that the end of a gentle
braking may still be present. A controller knows better when it lets the wheels turn. A stop that begins and ends with
its signal is used from its first to its last sample, if the readings gain no speed there. A signal that comes early or
goes late, as that of a coarse wheel encoder, is detected by such a gain. The edge is then not used.
"""

import numpy as np
from numpy.typing import NDArray

from strapdown.errors import InputError
from strapdown.navigation.stops.intervals import StopIntervals
from strapdown.navigation.stops.noise_stops import NoiseStops
from strapdown.types import Array, Recording

AHEAD_S = 0.15
_SIGMAS = 4.0  # of the speed that noise alone gains over an edge


def without_moving_edges(stops: StopIntervals, recording: Recording, settings: NoiseStops) -> NDArray[np.bool_]:
    """The samples of the believed stops of this recording that are certainly at rest.

    settings: settings of the judge.
    """
    if not np.array_equal(stops.t, recording.t) or recording.acc_s is None or stops.since_s is None:
        raise InputError("the stops have other times than the recording; judge this recording with NoiseStops")
    n, acc_s = len(recording), recording.acc_s
    signal = recording.stop if recording.stop is not None and recording.stop.any() else None
    step_s = recording.step_s
    edge, window = max(round(AHEAD_S / step_s), 1), settings.window_of(step_s)
    # of every row the first sample of the signal that holds there
    begins = None if signal is None else np.maximum.accumulate(np.where(signal, 0, np.arange(1, n + 1)))
    used = np.zeros(n, dtype=bool)
    behind = 0
    for first, last in stops.rows:
        begin, end = first, last + 1
        inside = _Rest(acc_s[begin : max(end - edge, begin + 1)], settings)
        by_signal = False
        if begins is not None:
            since = int(begins[first])
            # the window that confirmed the stop reaches back to the signal's beginning
            by_signal = first - since < window and inside.goes_on(acc_s[since : min(since + edge, end)])
            begin = since if by_signal else first
        elif first > 0:
            # what showed the stop was the window before, whose first part may hold the last of a braking
            begin = max(first - window + 1 + window // 3, behind)
        if not by_signal and first > 0:  # the last of a gentle braking
            half = (begin + end) // 2
            later = _Rest(acc_s[half:end], settings)
            while begin + edge <= half and not later.goes_on(acc_s[begin : begin + edge]):
                begin += edge
        if end < n:
            ends_by_signal = signal is not None and not signal[end]
            if not (ends_by_signal and inside.goes_on(acc_s[max(end - edge, begin) : end])):
                moved = int(np.searchsorted(recording.t, recording.t[end] - stops.since_s[end]))
                end = max(min(end, moved) - edge, begin)
        used[begin:end] = True
        behind = last + 1
    used.flags.writeable = False
    return used


class _Rest:
    """Mean force of a rest and its sigma."""

    def __init__(self, acc_s: Array, settings: NoiseStops) -> None:
        self.mean_s, self.rows, self.sigma_m_s2 = acc_s.mean(axis=0), len(acc_s), settings.acc_sigma_m_s2

    def goes_on(self, acc_s: Array) -> bool:
        """Whether readings add up to no more speed, against this mean, than the noise of both explains."""
        m = len(acc_s)
        gained = np.linalg.norm(acc_s.sum(axis=0) - m * self.mean_s)
        return bool(gained <= _SIGMAS * self.sigma_m_s2 * np.sqrt(m + m * m / self.rows))
