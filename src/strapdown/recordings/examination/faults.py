"""Invalid readings: spikes, held rows, zeros, stuck and saturated axes, silences."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strapdown.held_rows import held_rows, zero_rows
from strapdown.recordings.examination.findings import NOTE, REFUSE, Finding, LogError
from strapdown.recordings.examination.limits import (
    ALIKE_SAMPLES,
    DEAD_SHARE,
    LEAST_FIELD_UT,
    LONGEST_SPIKE,
    MOST_FORCE_M_S2,
    MOST_RATE_RAD_S,
    MOST_SATURATED,
    MOST_SPREAD,
    ONE_DIRECTION,
    RANGE_SLACK,
    SATURATED_SAMPLES,
    SILENT_S,
    SILENT_STEPS,
    TURNING_RAD_S,
)
from strapdown.recordings.examination.windows import tamed
from strapdown.recordings.runs import runs_of
from strapdown.sensors.triad import Triad
from strapdown.types import Array, Event, Recording

Flags = NDArray[np.bool_]
_LOOKED_AT = 20_000  # samples show the spread of the field as well as all of them do
_TURNED = 0.94  # cosine of 20 deg: gravity turned
_ROUGH = 0.5  # second over first differences of a column: 1.7 for white noise, rate times step for a motion
_NEIGHBOURS = 5.0  # a saturated reading comes so many times as often as those near it


def new_readings(recording: Recording) -> Flags:
    """Rows with a new reading of the magnetometer: by the recording's flags, and not 0 on all axes."""
    assert recording.mag_s is not None
    flags = recording.new.get("mag_s")
    answered = ~zero_rows(recording.mag_s)
    return answered if flags is None else flags & answered


def without_dead_field(recording: Recording) -> tuple[Recording, tuple[Finding, ...]]:
    """The recording without a magnetometer that never reads a field; one that is dead for a time is a finding."""
    if recording.mag_s is None:
        return recording, ()
    dead = np.abs(recording.mag_s).max(axis=1) < LEAST_FIELD_UT
    share = float(dead.mean())
    if not dead.all():
        numbers = {"percent": 100.0 * share}
        return recording, (Finding("magnetometer_zero", NOTE, numbers),) if share > DEAD_SHARE else ()
    new = {name: flags for name, flags in recording.new.items() if name != "mag_s"}
    return replace(recording, mag_s=None, new=new), (Finding("magnetometer_dead", NOTE),)


def saturated_rows(values: Array) -> Flags:
    """Rows in which an axis is at the end of its range. The largest or smallest reading of the axis then comes again
    and again while the other axes change. A sensor that is turned through its largest reading passes near it, not
    exactly at it.
    """
    rows = np.zeros(len(values), dtype=np.bool_)
    for i in range(3):
        column = values[:, i]
        for end in (column.min(), column.max()):
            stuck = column == end
            count = np.count_nonzero(stuck)
            if count < SATURATED_SAMPLES or count == len(column):
                continue
            near = np.abs(column - end)
            step = near[~stuck].min()
            others = np.delete(values[stuck], i, axis=1)
            changes = np.count_nonzero((others[1:] != others[:-1]).any(axis=1))
            if count > _NEIGHBOURS * np.sum((near > 0.0) & (near < 3.0 * step)) and 2 * changes > count:
                rows |= stuck
    return rows


def field_findings(recording: Recording, turning: float) -> list[Finding]:
    """Faults of the magnetometer.

    turning: usual rate of the sensor, rad/s, as far as the gyroscope shows it.
    """
    mag = recording.mag_s
    if mag is None:
        return []
    n = len(mag)
    flags = recording.new.get("mag_s")
    zero = zero_rows(mag) if flags is None else zero_rows(mag) & flags
    silent = float(np.count_nonzero(zero)) / max(1, n if flags is None else np.count_nonzero(flags))
    if silent > 0.5:
        return [Finding("magnetometer_zero", REFUSE, {"percent": 100.0 * silent})]
    found: list[Finding] = []
    if silent > DEAD_SHARE:
        found.append(Finding("magnetometer_zero", NOTE, {"percent": 100.0 * silent}))
    held = held_rows(mag)
    if n > 1 and np.count_nonzero(held) == n - 1:
        if turning > TURNING_RAD_S or _at_the_ends(mag[0]):
            found.append(Finding("magnetometer_stuck", REFUSE))
        return found
    spans = np.ptp(mag, axis=0)
    if spans.min() == 0.0 and n > ALIKE_SAMPLES and _noisy(mag[~held][:, int(np.argmax(spans))]):
        return [*found, axis_stuck("magnetometer", int(np.argmin(spans)), mag)]
    rows = saturated_rows(mag)
    share = float(rows.mean())
    if share > 0.0:
        first = int(np.argmax(rows))
        numbers = {"percent": 100.0 * share, "sample": first, "t_s": float(recording.t[first])}
        found.append(Finding("magnetometer_saturated", REFUSE if share > MOST_SATURATED else NOTE, numbers))
    new = new_readings(recording)
    if not new.all() and silent <= DEAD_SHARE:
        found.append(Finding("magnetometer_slow", NOTE, {"percent": 100.0 * float(new.mean())}))
    return found + _uneven_field(mag)


def _noisy(column: Array) -> bool:
    """Whether readings scatter from sample to sample. Motion is smooth: a vertical axis in a field without noise, as in
    a simulation, may stay the same while the others turn.
    """
    if len(column) < ALIKE_SAMPLES:
        return False
    rough, smooth = (float(np.median(np.abs(np.diff(column, n=order)))) for order in (2, 1))
    return rough > _ROUGH * smooth


def _at_the_ends(reading: Array) -> bool:
    """All axes at the same size: the end of the range, because no field points in this direction by chance."""
    size = np.abs(reading)
    return bool(size[0] > 0.0 and (size == size[0]).all())


def _uneven_field(mag_s: Array) -> list[Finding]:
    """Hard and soft iron show as a field whose norm changes with its direction in the sensor."""
    mag = tamed(mag_s[:: max(1, len(mag_s) // _LOOKED_AT)])
    norm = np.linalg.norm(mag, axis=1)
    mag, norm = mag[norm > 0.0], norm[norm > 0.0]
    if len(norm) == 0 or np.linalg.norm((mag / norm[:, None]).mean(axis=0)) > ONE_DIRECTION:
        return []
    low, middle, high = np.percentile(norm, (10.0, 50.0, 90.0))
    spread = 0.5 * (high - low) / middle
    if spread <= MOST_SPREAD:
        return []
    numbers = {"low": float(low), "high": float(high), "percent": 100.0 * float(spread)}
    return [Finding("magnetometer_uneven", NOTE, numbers)]


def stopped_gyroscope(recording: Recording) -> list[Finding]:
    """A gyroscope that reads 0 throughout while gravity turns."""
    if recording.gyr_s is None or recording.acc_s is None or np.any(recording.gyr_s):
        return []
    acc = tamed(recording.acc_s[:: max(1, len(recording) // _LOOKED_AT)])
    unit = acc / np.maximum(np.linalg.norm(acc, axis=1, keepdims=True), 1e-9)
    return [Finding("gyroscope_zero", REFUSE)] if np.median(unit @ unit[0]) < _TURNED else []


def noiseless(instruments: Mapping[str, Array]) -> list[Finding]:
    """Instruments of a log at rest that read the same in all samples, or on one axis while the others have noise."""
    found: list[Finding] = []
    for name, values in instruments.items():
        alike = (values == values[0]).all(axis=0)
        if len(values) <= ALIKE_SAMPLES or not alike.any():
            continue
        if alike.all():
            found.append(Finding("no_noise", REFUSE, {"instrument": name, "samples": len(values)}))
        else:
            i = int(np.argmax(alike))
            found.append(axis_stuck(name, i, values))
    return found


def axis_stuck(instrument: str, axis: int, values: Array) -> Finding:
    numbers = {"instrument": instrument, "axis": "xyz"[axis], "value": float(values[0, axis]), "samples": len(values)}
    return Finding(f"{instrument}_axis_stuck", REFUSE, numbers)


def silences(t: Array, new: Flags) -> list[tuple[float, float]]:
    """Times (s) between which a magnetometer in use gave no reading for long."""
    if not len(new):
        return []
    at = t[new]
    usual_s = float(np.median(np.diff(at))) if len(at) > 1 else 0.0
    ends = np.concatenate([t[:1], at, t[-1:]])
    long = np.flatnonzero(np.diff(ends) > max(SILENT_S, SILENT_STEPS * usual_s))
    return [(float(ends[i]), float(ends[i + 1])) for i in long]


def without_spikes(recording: Recording, noise: Mapping[str, Triad]) -> tuple[Recording, tuple[Event, ...]]:
    """Jumps of up to three samples beyond the range of any sensor are replaced by a straight line; each is an event.

    noise: errors of the part by instrument, whose range may be wider than that of common parts. A log that stays beyond
    for longer is refused: its unit is wrong.
    """
    events: list[Event] = []
    bridged: dict[str, Any] = {}
    for name, instrument, usual, unit in (
        ("acc_s", "accelerometer", MOST_FORCE_M_S2, "m/s2"),
        ("gyr_s", "gyroscope", MOST_RATE_RAD_S, "rad/s"),
    ):
        readings: Array | None = getattr(recording, name)
        if readings is None:
            continue
        triad = noise.get(instrument)
        limit = RANGE_SLACK * max(usual, (triad.full_scale if triad is not None else None) or 0.0)
        if max(readings.max(), -readings.min()) <= limit:  # most logs: nothing to look for in their rows
            continue
        largest = np.maximum(readings.max(axis=1), -readings.min(axis=1))
        beyond = largest > limit
        for first, last in runs_of(beyond):
            t_s, until_s = float(recording.t[first]), float(recording.t[last])
            most = float(largest[first : last + 1].max())
            if last - first >= LONGEST_SPIKE or (~beyond).sum() < 2:
                numbers = {"instrument": instrument, "most": most, "unit": unit, "t_s": t_s, "limit": limit}
                raise LogError(Finding("spikes", REFUSE, {**numbers, "samples": last - first + 1}))
            text = f"the {instrument} jumps to {most:.4g} {unit}, more than it can read; replaced by a straight line"
            events.append(Event(t_s, until_s, "spike", text))
        good = np.flatnonzero(~beyond)
        bridged[name] = readings.copy()
        for i in range(3):
            bridged[name][beyond, i] = np.interp(recording.t[beyond], recording.t[good], readings[good, i])
        bridged[name].flags.writeable = False
    return (replace(recording, **bridged) if bridged else recording), tuple(sorted(events, key=lambda e: e.t_s))
