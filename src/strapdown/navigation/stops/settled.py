"""Which samples of a recording stand for sure, where one may look ahead and back: the edges of believed stops.

A move begins and ends so gently that noise hides its edge, and a judge's window is longer than the edge. So without a
controller's word a stop ends AHEAD_S before the motion that ends it was reckoned to begin, and begins, within the
window that showed it, only where its readings are those of its later half: before, the last of a gentle braking is
still there. A controller knows better when it lets the wheels turn: a stop that begins and ends with its word is used
from edge to edge, if the readings gain no speed there. A word that comes early or goes late, as that of a coarse wheel
encoder, is seen by such a gain, and the edge is then left out.
"""

import numpy as np
from numpy.typing import NDArray

from strapdown.errors import InputError
from strapdown.navigation.stops.vehicle import NoiseStops
from strapdown.navigation.stops.verdicts import JudgedStops
from strapdown.recordings.runs import runs_of
from strapdown.types import Array, Recording

AHEAD_S = 0.15
_DEVIATIONS = 4.0  # of the speed that noise alone gains over an edge


def settled(stops: JudgedStops, recording: Recording, settings: NoiseStops) -> NDArray[np.bool_]:
    """The believed samples of this recording with their edges settled. settings: by which it was judged."""
    if not np.array_equal(stops.t, recording.t) or recording.acc_s is None:
        raise InputError("the stops have other times than the recording; judge this recording")
    n, acc_s = len(recording), recording.acc_s
    told = recording.stop if recording.stop is not None and recording.stop.any() else None
    step_s = float(np.median(np.diff(recording.t)))
    edge, window = max(round(AHEAD_S / step_s), 1), settings.window_of(step_s)
    # of every row the first sample of the word that holds there
    words = None if told is None else np.maximum.accumulate(np.where(told, 0, np.arange(1, n + 1)))
    used = np.zeros(n, dtype=bool)
    behind = 0
    for first, last in runs_of(stops.believed):
        begin, end = first, last + 1
        inner = acc_s[begin : max(end - edge, begin + 1)]
        by_word = False
        if words is not None:
            word = int(words[first])
            # the window that confirmed the stop reaches back to the word's beginning
            by_word = first - word < window and _gains_nothing(acc_s[word : min(word + edge, end)], inner, settings)
            begin = word if by_word else first
        elif first > 0:
            # what showed the stop was the window before, whose first part may hold the last of a braking
            begin = max(first - window + 1 + window // 3, behind)
        if not by_word and first > 0:  # the last of a gentle braking
            half = (begin + end) // 2
            later = acc_s[half:end]
            while begin + edge <= half and not _gains_nothing(acc_s[begin : begin + edge], later, settings):
                begin += edge
        if end < n:
            ends_by_word = told is not None and not told[end]
            if not (ends_by_word and _gains_nothing(acc_s[max(end - edge, begin) : end], inner, settings)):
                moved = int(np.searchsorted(recording.t, recording.t[end] - stops.since_s[end]))
                end = max(min(end, moved) - edge, begin)
        used[begin:end] = True
        behind = last + 1
    used.flags.writeable = False
    return used


def _gains_nothing(acc_s: Array, rest_s: Array, settings: NoiseStops) -> bool:
    """Whether readings add up to no more speed, against the mean of the rest, than the noise of both makes them."""
    m = len(acc_s)
    gained = np.linalg.norm(acc_s.sum(axis=0) - m * rest_s.mean(axis=0))
    return bool(gained <= _DEVIATIONS * settings.acc_sigma_m_s2 * np.sqrt(m + m * m / len(rest_s)))
