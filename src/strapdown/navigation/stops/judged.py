"""Verdicts of a judge that weighs the controller's signal against the IMU, as the stops of a recording."""

import numpy as np
from numpy.typing import NDArray

from strapdown.errors import InputError
from strapdown.kernels.navigation import stop_judge as judge
from strapdown.navigation.stops.intervals import StopIntervals, Verdict, events_of, everywhere
from strapdown.types import Array, Recording

_TEXTS = {
    "stop_believed": "the controller and the IMU agree that it stands",
    "stop_doubted": "the controller signals a stop, the IMU does not confirm it",
    "stop_rejected": "the controller signals a stop, the IMU shows motion; not used",
}
_ALONE = "the IMU shows that it stands"


def verdict_of(code: int, signal: float, threshold: float) -> Verdict:
    return Verdict(code == judge.BELIEVED, code == judge.DOUBTED, code == judge.REJECTED, signal, threshold)


def judged_stops(
    recording: Recording,
    verdict: NDArray[np.int64],
    signal: Array,
    threshold: float,
) -> StopIntervals:
    t = recording.t
    columns = [verdict == code for code in (judge.BELIEVED, judge.DOUBTED, judge.REJECTED)]
    signalled = recording.stop is not None and bool(recording.stop.any())
    texts = _TEXTS if signalled else {**_TEXTS, "stop_believed": _ALONE}
    events = [
        event
        for (kind, text), rows in zip(texts.items(), columns, strict=True)
        for event in events_of(t, rows, kind, text)
    ]
    believed, doubted, rejected = columns
    limits = everywhere(threshold, len(t))
    ordered = tuple(sorted(events, key=lambda e: e.t_s))
    return StopIntervals(t, believed, doubted, rejected, signal, limits, ordered)


def words_of(recording: Recording) -> NDArray[np.int64]:
    """The controller's signal of each sample, as the judge's kernel reads it."""
    if recording.stop is None:
        return np.full(len(recording), judge.SAYS_NOTHING, dtype=np.int64)
    return np.where(recording.stop, judge.SAYS_STOP, judge.SAYS_MOVE).astype(np.int64)


def both_instruments(recording: Recording) -> tuple[Array, Array]:
    """Readings gyr_s and acc_s; refused if one is missing or the recording has no duration."""
    if recording.gyr_s is None or recording.acc_s is None:
        missing = "gyroscope" if recording.gyr_s is None else "accelerometer"
        raise InputError(f"the recording has no {missing}; stops are judged by gyroscope and accelerometer")
    if len(recording) < 2:
        raise InputError("the recording has one sample; stops need a stretch of time")
    return recording.gyr_s, recording.acc_s
