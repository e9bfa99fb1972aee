"""Result of a stop detector: a verdict on each sample, and the stops of a recording; the same for all detectors."""

from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from strapdown.errors import InputError
from strapdown.recordings.runs import runs_of
from strapdown.types import Array, Event, Recording, Sample, Solution

S = TypeVar("S")
_TOGETHER_S = 0.2  # verdicts interrupted for less are one event


class Verdict(NamedTuple):
    """On one sample.

    believed: it stands.
    doubted, rejected: the controller signals a stop, the detector does not confirm it, or is sure that it moves.
    signal: statistic of the detector; the sensor is at rest below threshold.
    late_s: so far back it was no stop, whatever earlier verdicts were; 0: they hold.
    """

    believed: bool
    doubted: bool
    rejected: bool
    signal: float
    threshold: float
    late_s: float = 0.0


@dataclass(frozen=True, eq=False)
class StopIntervals:
    """The stops of a recording: the verdict on each sample as columns, and events.

    used: samples that a filter may use as a stop, if they differ from the believed ones.
    notes: sentences for the user.
    """

    t: Array
    believed: NDArray[np.bool_]
    doubted: NDArray[np.bool_]
    rejected: NDArray[np.bool_]
    signal: Array
    threshold: Array
    events: tuple[Event, ...] = ()
    used: NDArray[np.bool_] | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        n = len(self.t)
        for name in ("believed", "doubted", "rejected", "signal", "threshold", "used"):
            column = getattr(self, name)
            if column is None:
                continue
            if len(column) != n:
                raise InputError(f"{name} of the stops has {len(column)} rows, t has {n}; give one row per sample")
            if column.flags.writeable:
                column.flags.writeable = False

    @property
    def flags(self) -> dict[str, NDArray[np.bool_]]:
        return {"stop_believed": self.believed, "stop_doubted": self.doubted, "stop_rejected": self.rejected}

    @property
    def standing(self) -> NDArray[np.bool_]:
        """Samples that a filter takes for a stop."""
        return self.believed if self.used is None else self.used

    @property
    def rows(self) -> list[tuple[int, int]]:
        """First and last sample of each believed stop."""
        return runs_of(self.believed)

    @property
    def intervals_s(self) -> list[tuple[float, float]]:
        """Begin and end of each believed stop (s)."""
        return [(float(self.t[first]), float(self.t[last])) for first, last in self.rows]


@runtime_checkable
class StopDetector(Protocol[S]):
    """Interface of every stop detector, also a user's own. For a detector that does not look ahead, find equals the
    steps to the bit.
    """

    def start(self, step_s: float) -> S:
        """State before the first sample, of a source that reads every step_s."""
        ...

    def step(self, state: S, sample: Sample) -> tuple[S, Verdict]: ...
    def find(self, recording: Recording) -> StopIntervals: ...


def solution_with_stops(solution: Solution, stops: StopIntervals) -> Solution:
    """The solution with the verdicts as flags and events; a believed stop that the filter rejected is rejected."""
    if not np.array_equal(solution.t, stops.t):
        raise InputError("the stops have other times than the solution; judge the recording that was navigated")
    refused = solution.flags.get("stop_rejected", np.zeros(len(solution), dtype=bool))
    flags = {
        **solution.flags,
        "stop_believed": stops.believed & ~refused,
        "stop_doubted": stops.doubted,
        "stop_rejected": stops.rejected | refused,
    }
    events = tuple(sorted((*solution.events, *stops.events), key=lambda event: event.t_s))
    return replace(solution, flags=flags, events=events)


def events_of(t: Array, flag: NDArray[np.bool_], kind: str, text: str) -> list[Event]:
    """One event for each run of samples with this flag."""
    rows = np.flatnonzero(flag)
    if len(rows) == 0:
        return []
    groups = np.split(rows, np.flatnonzero(np.diff(t[rows]) > _TOGETHER_S) + 1)
    return [Event(float(t[group[0]]), float(t[group[-1]]), kind, text) for group in groups]


def without_late(t: Array, believed: NDArray[np.bool_], late_s: Array) -> NDArray[np.bool_]:
    """Believed samples without those that a later verdict has taken back."""
    used = believed.copy()
    for i in np.flatnonzero(late_s):
        used[np.searchsorted(t, t[i] - late_s[i], side="right") : i] = False
    return used


def nowhere(n: int) -> NDArray[np.bool_]:
    """A flag that no sample has; it needs no memory."""
    return np.broadcast_to(np.zeros(1, dtype=bool), (n,))


def everywhere(value: float, n: int) -> Array:
    """The same number for all samples; it needs no memory."""
    return np.broadcast_to(np.float64(value), (n,))
