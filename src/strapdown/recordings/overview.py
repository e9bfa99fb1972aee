"""Figures of a log: span, rate, jitter, gaps, rests, and the findings of the examination."""

from dataclasses import dataclass

import numpy as np

from strapdown.errors import InputError
from strapdown.recordings.examination.findings import Findings
from strapdown.recordings.examination.verdict import examine
from strapdown.recordings.examination.windows import tamed
from strapdown.recordings.rest import Still, still_intervals
from strapdown.types import Recording

_GAP = 1.5  # usual steps: beyond it a sample is missing


@dataclass(frozen=True, eq=False)
class Overview:
    """Facts about the samples of a log.

    rate_hz: rate by the usual step.
    jitter: standard deviation of the steps without gaps, over the usual step.
    gaps: (time, length) in s of steps with missing samples.
    rests: intervals at rest.
    why_no_rest: reason in words.
    """

    recording: Recording
    duration_s: float
    rate_hz: float
    jitter: float
    gaps: tuple[tuple[float, float], ...]
    rests: tuple[Still, ...]
    why_no_rest: str
    findings: Findings

    @property
    def rest_s(self) -> float:
        """Time at rest."""
        return sum(rest.duration_s for rest in self.rests)

    @property
    def begins_at_rest(self) -> bool:
        return bool(self.rests) and self.rests[0].t_s - float(self.recording.t[0]) <= 1.0


def _tamed(recording: Recording) -> Recording:
    """The log without single readings that no sensor gives, whose squares overflow."""
    acc, gyr = (None if x is None else tamed(x) for x in (recording.acc_s, recording.gyr_s))
    return Recording(recording.t, gyr_s=gyr, acc_s=acc)


def overview(recording: Recording) -> Overview:
    """The numbers of a log. The log is not refused, whatever is wrong with it: `findings` state that."""
    t = recording.t
    steps = np.diff(t)
    usual = float(np.median(steps)) if len(steps) else 0.0
    wide = np.flatnonzero(steps > _GAP * usual)
    gaps = tuple((float(t[i]), float(steps[i])) for i in wide)
    even = steps[steps <= _GAP * usual]
    jitter = float(np.std(even)) / usual if usual > 0.0 else 0.0
    rests: tuple[Still, ...] = ()
    why = ""
    try:
        rests = still_intervals(_tamed(recording))
    except InputError as error:
        why = str(error)
    rate = 1.0 / usual if usual > 0.0 else 0.0
    span = float(t[-1] - t[0]) if len(t) else 0.0
    return Overview(recording, span, rate, jitter, gaps, rests, why, examine(recording, upright=True))
