"""Stops of a foot, with a threshold that follows the gait: one setting for a slow walk and for a run.

A walking foot that stands still reads 0.1 rad/s and a running one 2 rad/s, so no fixed threshold fits both. A stance
is told by contrast: the foot moves much less than just before. In Bayes' words (Wahlström, Skog, Gustafsson, Markham
and Trigoni 2019): what a standing foot reads grows with the speed of the gait, and the cost of a missed stop grows
with the time since the last one. The speed of the gait is taken from the recent peak of the signal itself, so that
the verdict does not hang on a filter that hangs on the verdict.
"""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from strapdown.errors import InputError
from strapdown.kernels.navigation import stop_detectors as kernels
from strapdown.navigation.stops.detectors import Shoe, windows
from strapdown.types import Array, Event, Recording, Solution

LONG_S = 5.0  # a walk without a stance for so long is told


@dataclass(frozen=True, eq=False)
class FoundStops:
    """believed: where the foot stands. signal: what was looked at, and the threshold it had to be below (rad/s)."""

    t: Array
    believed: NDArray[np.bool_]
    signal: Array
    threshold: Array
    events: tuple[Event, ...]


@dataclass(frozen=True)
class FootStops:
    """The signal is SHOE's: root mean square of rate and of force beside gravity; 1 m/s2 counts as force_as_rate rad/s.

    ratio: it stands below this part of the recent peak, which is forgotten within forget_s. least_rad_s: below this it
    always stands. patience_s: so long without a stop, and the threshold rises by a factor e each second.
    """

    name: str = field(default="foot", init=False)
    window_s: float = 0.055
    force_as_rate: float = 0.4
    ratio: float = 0.125
    forget_s: float = 0.67
    least_rad_s: float = 0.1
    patience_s: float = 2.0
    gravity: str | float = "earth"
    look_ahead: bool = True

    def __post_init__(self) -> None:
        for name in ("window_s", "force_as_rate", "ratio", "forget_s", "least_rad_s", "patience_s"):
            if not 0.0 < getattr(self, name) < np.inf:
                raise InputError(f"{name} of the stop detector is {getattr(self, name)}; give a number above 0")

    def signal(self, recording: Recording) -> Array:
        """rad/s; small where the foot stands."""
        shoe = Shoe(
            window_s=self.window_s,
            look_ahead=self.look_ahead,
            sigma_m_s2=1.0 / self.force_as_rate,
            sigma_rad_s=1.0,
            gravity=self.gravity,
        )
        signal = np.sqrt(shoe.statistic(recording))
        signal.flags.writeable = False
        return signal

    def find(self, recording: Recording) -> FoundStops:
        signal = self.signal(recording)
        threshold, stop = np.empty(len(signal)), np.empty(len(signal), dtype=bool)
        dt = np.diff(recording.t, prepend=recording.t[0])
        dt.flags.writeable = False
        kernels.gait_threshold_rows(
            np.zeros(2), signal, dt, self.ratio, self.forget_s, self.least_rad_s, self.patience_s, threshold, stop
        )
        for array in (threshold, stop):
            array.flags.writeable = False
        return FoundStops(recording.t, stop, signal, threshold, tuple(_without_stance(recording.t, stop)))

    @property
    def delay_s(self) -> float:
        """By how much the verdict on a sample comes after it."""
        return self.window_s / 2.0 if self.look_ahead else 0.0


def rest_samples(recording: Recording, settings: FootStops, most_s: float) -> int:
    """How many samples at the start are a rest: below least_rad_s, at most most_s of them."""
    moving = np.flatnonzero(settings.signal(recording) >= settings.least_rad_s)
    _, after = windows(recording.t, settings.window_s, settings.look_ahead)
    first = max(int(moving[0]) - after, 0) if len(moving) else len(recording)
    return min(first, int(np.searchsorted(recording.t, recording.t[0] + most_s, side="right")))


def told_with(solution: Solution, found: FoundStops) -> Solution:
    """The solution, with its stops as flags and the detector's events beside the filter's."""
    none = np.zeros(len(solution), dtype=bool)  # nobody's word is there to doubt
    refused = solution.flags.get("stop_rejected", none)
    stops = {"stop_believed": found.believed & ~refused, "stop_doubted": none, "stop_rejected": refused}
    flags = {**solution.flags, **stops}
    events = tuple(sorted((*solution.events, *found.events), key=lambda event: event.t_s))
    return replace(solution, flags=flags, events=events)


def _without_stance(t: Array, stop: NDArray[np.bool_]) -> list[Event]:
    ends = np.concatenate([[t[0]], t[stop], [t[-1]]])
    return [
        Event(float(ends[i]), float(ends[i + 1]), "no_stance", f"no stance found for {ends[i + 1] - ends[i]:.1f} s")
        for i in np.flatnonzero(np.diff(ends) > LONG_S)
    ]
