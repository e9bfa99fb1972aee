"""Tests whether a solution can be trusted. The filter's own innovations over time decide.

A correct filter has normalised innovations of 1 for each number measured. If those of one kind stay far above that for
seconds, or are mostly rejected, the assumptions of the filter do not hold. The sigma of the filter is then wrong too. A
disturbed magnetic field is no such sign, because the filter expects it.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from strapdown.live import Start
from strapdown.navigation.eskf.outputs import Innovations
from strapdown.types import Array, Recording

LARGE, LARGE_S = 4.0, 10.0  # mean of the normalised innovations, over so long
REJECTED_S = 5.0  # of measurements since the last one that counts
LONGEST_STEP_S = 0.5  # that one stands for
LARGEST = 100.0  # ten sigmas: one that is farther off counts as this
TURNED_RAD = 0.1  # of heading, by a bias that is not known: the end is off by a tenth of the way
_WHAT = {
    "stop": "the zero velocity of stops",
    "floor": "the flat floor",
    "sideways": "the rule that wheels do not slide",
    "upward": "the rule that wheels stay on their floor",
    "odometer": "the wheel's travel",
    "fix": "the measured position",
    "height": "the measured height",
    "velocity": "the measured velocity",
}


class Divergence(NamedTuple):
    """Kind of measurement; start (s); largest mean of its normalised innovations within LARGE_S; whether it was
    rejected all the time.
    """

    kind: str
    t_s: float
    mean: float
    rejected: bool

    @property
    def sentence(self) -> str:
        how = (
            f"does not fit the motion for {REJECTED_S:g} s"
            if self.rejected
            else f"is off by {np.sqrt(self.mean):.1f} times its sigma"
        )
        return (
            f"do not trust this solution from t = {self.t_s:.1f} s on: {_WHAT[self.kind]} {how}; "
            "the stated sigmas are too small"
        )


def without_bias(start: Start, bias_sigma: float, recording: Recording) -> str | None:
    """A sentence if no rest shows the gyroscope's bias and it may turn the heading by more than TURNED_RAD; None
    otherwise. Wheels show the bias too, but less well than their white errors seem to.

    bias_sigma: standard deviation of the bias before any rest (rad/s).
    recording: with the believed stops.
    """
    known = start.alignment is None or np.max(start.alignment.gyr_bias_sigma) < bias_sigma
    turned = bias_sigma * float(recording.t[-1] - recording.t[0])
    if known or recording.stop is None or recording.stop.any() or turned < TURNED_RAD:
        return None
    return (
        "do not trust this solution: the log has no rest that shows the gyroscope's bias, and one of "
        f"{np.degrees(bias_sigma):.2g} deg/s turns the heading by {np.degrees(turned):.0f} deg; "
        "record a second of rest at the start or at the end, or calibrate the gyroscope"
    )


def divergences(innovations: Mapping[str, Innovations]) -> list[Divergence]:
    """Divergences by kind, the earliest first."""
    found = []
    for kind, seen in innovations.items():
        if kind not in _WHAT or len(seen.t) == 0:
            continue
        mean = _mean_of_time(seen.t, seen.nis / seen.degrees)
        long = seen.t - seen.t[0] >= LARGE_S
        large, out = long & (mean > LARGE), _rejected_s(seen.t, seen.taken) >= REJECTED_S
        if large.any() or out.any():
            first = int(np.argmax(large | out))
            found.append(Divergence(kind, float(seen.t[first]), float(mean[long].max(initial=0.0)), not large.any()))
    return sorted(found, key=lambda one: one.t_s)


def _rejected_s(t: Array, taken: NDArray[np.bool_]) -> Array:
    """Time of measurements since the last one that was used. Time without measurements of the kind does not count: the
    first tenth of a second of a stop after a drive is no five seconds.
    """
    passed = np.cumsum(_steps(t))
    return np.asarray(passed - np.maximum.accumulate(np.where(taken, passed, 0.0)))


def _steps(t: Array) -> Array:
    return np.clip(np.diff(t, prepend=t[0]), 0.0, LONGEST_STEP_S)


def _mean_of_time(t: Array, values: Array) -> Array:
    """The mean is over the last LARGE_S at each time. Mean over time. A kind without measurements counts as right, 1.
    So the first moment of a stop, which corrects the speed, is not counted as ten seconds.
    """
    step = _steps(t)
    total = np.concatenate([[0.0], np.cumsum((np.minimum(values, LARGEST) - 1.0) * step)])
    return np.asarray(1.0 + (total[1:] - total[np.searchsorted(t, t - LARGE_S)]) / LARGE_S)
