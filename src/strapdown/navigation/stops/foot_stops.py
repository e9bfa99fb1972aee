"""Stops of a foot, with a threshold that follows the gait: one setting for a slow walk and for a run.

A foot at rest in a walk reads 0.1 rad/s and in a run 2 rad/s, so no fixed threshold fits both. A stance is detected by
contrast: the foot moves much less than just before. In Bayes' terms (Wahlström, Skog, Gustafsson, Markham and Trigoni
2019), the readings of a foot at rest grow with the speed of the gait. The cost of a missed stop grows with the time
since the last one. The speed of the gait is taken from the recent peak of the signal itself. So the verdict does not
depend on a filter that depends on the verdict.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from strapdown import earth
from strapdown.kernels.navigation import stop_detectors as kernel
from strapdown.navigation.stops.windowed import Windowed
from strapdown.recordings.runs import runs_of
from strapdown.types import Array, Event, Recording

LONG_S = 5.0  # a walk without a stance for so long is an event


@dataclass(frozen=True)
class FootStops(Windowed):
    """The signal is SHOE's: root mean square of rate and of force without gravity; 1 m/s2 counts as force_as_rate
    rad/s.

    ratio: the foot is at rest below this share of the recent peak, which is forgotten within forget_s.
    least_rad_s: below this the foot is always at rest.
    patience_s: time without a stop after which the threshold rises by a factor e each second.
    """

    name: str = field(default="foot", init=False)
    window_s: float = 0.055
    force_as_rate: float = 0.4
    ratio: float = 0.125
    forget_s: float = 0.5
    least_rad_s: float = 0.1
    patience_s: float = 2.0
    gravity: str | float = "earth"

    def _numbers(self) -> dict[int, float]:
        return {
            kernel.S_KIND: kernel.GAIT,
            kernel.S_GRAVITY: earth.gravity(self.gravity),
            kernel.S_ACC: 1.0 / self.force_as_rate,
            kernel.S_GYR: 1.0,
            kernel.S_RATIO: self.ratio,
            kernel.S_FORGET_S: self.forget_s,
            kernel.S_LEAST: self.least_rad_s,
            kernel.S_PATIENCE_S: self.patience_s,
        }

    def _events(self, t: Array, stop: NDArray[np.bool_]) -> list[Event]:
        ends = np.concatenate([[t[0]], t[stop], [t[-1]]])
        return [
            Event(float(ends[i]), float(ends[i + 1]), "no_stance", f"no stance found for {ends[i + 1] - ends[i]:.1f} s")
            for i in np.flatnonzero(np.diff(ends) > LONG_S)
        ]

    @property
    def delay_s(self) -> float:
        """Delay of the verdict on a sample."""
        return self.window_s / 2.0 if self.look_ahead else 0.0


def rest_samples(recording: Recording, settings: FootStops, most_s: float) -> int:
    """Number of samples at the start that are a rest: below least_rad_s, at most most_s of them."""
    moving = np.flatnonzero(settings.find(recording).signal >= settings.least_rad_s)
    after = settings.window_of(recording.step_s)
    after = after - 1 - after // 2 if settings.look_ahead else 0
    first = max(int(moving[0]) - after, 0) if len(moving) else len(recording)
    return min(first, int(np.searchsorted(recording.t, recording.t[0] + most_s, side="right")))


def rests(recording: Recording, settings: FootStops, least: int, least_s: float) -> list[tuple[int, int]]:
    """Rests of a foot: the first row, and the row after the last. The one at the start has `least` samples, others last
    least_s.
    """
    size = settings.window_of(recording.step_s)
    after = size - 1 - size // 2 if settings.look_ahead else 0
    t, found = recording.t, []
    for first, last in runs_of(settings.find(recording).signal < settings.least_rad_s):
        begin = first if first == 0 else first + size - 1 - after
        end = last + 1 if last == len(t) - 1 else last + 1 - after
        if end - begin >= least and (first == 0 or t[end - 1] - t[begin] >= least_s):
            found.append((begin, end))
    return found
