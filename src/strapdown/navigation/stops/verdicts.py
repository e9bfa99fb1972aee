"""What a judge says of a vehicle's stops: a verdict for each sample, and flags and events of a solution."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from strapdown.errors import InputError
from strapdown.kernels.navigation import stop_judge as judge
from strapdown.types import Array, Event, Solution

_TOGETHER_S = 0.2  # verdicts interrupted for less are one event
_TEXTS = {
    "stop_believed": "the controller and the IMU agree that it stands",
    "stop_doubted": "the controller says stop, the IMU does not confirm it",
    "stop_rejected": "the controller says stop, the IMU says that it moves; not used",
}
_ALONE = "the IMU says that it stands"


@dataclass(frozen=True, eq=False)
class JudgedStops:
    """One verdict for each sample, as three columns; statistic and threshold for a picture; speed_m_s as the judge
    reckons it since the last stop, since_s after this one's end, which shows late: at the first sample after a stop it
    tells for how long the vehicle has moved by then. A sample of none of the three moves."""

    t: Array
    believed: NDArray[np.bool_]
    doubted: NDArray[np.bool_]
    rejected: NDArray[np.bool_]
    statistic: Array
    threshold: float
    speed_m_s: Array
    since_s: Array
    events: tuple[Event, ...]

    @property
    def flags(self) -> dict[str, NDArray[np.bool_]]:
        return {"stop_believed": self.believed, "stop_doubted": self.doubted, "stop_rejected": self.rejected}


def told_with(solution: Solution, stops: JudgedStops) -> Solution:
    """The solution with the verdicts as flags and events; a believed stop that the filter refused is a rejected one."""
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


def judged(
    t: Array, verdict: NDArray[np.int64], statistic: Array, threshold: float, speed: Array, since: Array, alone: bool
) -> JudgedStops:
    columns = [verdict == code for code in (judge.BELIEVED, judge.DOUBTED, judge.REJECTED)]
    for array in (*columns, statistic, speed, since):
        array.flags.writeable = False
    texts = {**_TEXTS, "stop_believed": _ALONE} if alone else _TEXTS
    events = [
        event
        for (kind, text), rows in zip(texts.items(), columns, strict=True)
        for event in _events(t, rows, kind, text)
    ]
    believed, doubted, rejected = columns
    return JudgedStops(
        t, believed, doubted, rejected, statistic, threshold, speed, since, tuple(sorted(events, key=lambda e: e.t_s))
    )


def _events(t: Array, flag: NDArray[np.bool_], kind: str, text: str) -> list[Event]:
    rows = np.flatnonzero(flag)
    if len(rows) == 0:
        return []
    groups = np.split(rows, np.flatnonzero(np.diff(t[rows]) > _TOGETHER_S) + 1)
    return [Event(float(t[group[0]]), float(t[group[-1]]), kind, text) for group in groups]
