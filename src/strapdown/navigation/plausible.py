"""Is a log what it says? Readings that no sensor gives, and an accelerometer that does not read gravity at rest."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from strapdown import earth
from strapdown.errors import InputError
from strapdown.recordings.runs import runs_of
from strapdown.sensors.triad import Triad
from strapdown.types import Array, Event, Recording

# the widest range of the usual parts; a part that is known to read further may
MOST_FORCE_M_S2, MOST_RATE_RAD_S = 16.0 * earth.STANDARD_GRAVITY, float(np.radians(2000.0))
_SLACK = 1.25  # calibration stretches readings, and full scales are nominal
_LONGEST_SPIKE = 3  # samples; what lasts longer is no jump of single samples
_GRAVITY_SHARE = 0.05
_STILL_SHARE = 0.05  # deviation of |f| over its mean, above which a foot does not stand


def without_spikes(recording: Recording, noise: Mapping[str, Triad]) -> tuple[Recording, tuple[Event, ...]]:
    """Jumps of up to three samples beyond all that the sensor can read are bridged by a straight line, and told.

    A log that stays there for longer is refused: its unit is not what it says.
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
        limit = _SLACK * max(usual, (triad.full_scale if triad is not None else None) or 0.0)
        if max(readings.max(), -readings.min()) <= limit:  # most logs: nothing to look for in their rows
            continue
        largest = np.maximum(readings.max(axis=1), -readings.min(axis=1))
        beyond = largest > limit
        for first, last in runs_of(beyond):
            t_s, until_s, most = float(recording.t[first]), float(recording.t[last]), largest[first : last + 1].max()
            if last - first >= _LONGEST_SPIKE or (~beyond).sum() < 2:
                raise InputError(
                    f"the {instrument} reads {most:.4g} {unit} at t = {t_s:.6g} s and stays above {limit:.4g} {unit} "
                    f"for {last - first + 1} samples, more than such sensors read; check the unit of its columns"
                )
            text = f"the {instrument} jumps to {most:.4g} {unit}, more than it can read; bridged by a straight line"
            events.append(Event(t_s, until_s, "spike", text))
        good = np.flatnonzero(~beyond)
        bridged[name] = readings.copy()
        for i in range(3):
            bridged[name][beyond, i] = np.interp(recording.t[beyond], recording.t[good], readings[good, i])
        bridged[name].flags.writeable = False
    return (replace(recording, **bridged) if bridged else recording), tuple(sorted(events, key=lambda e: e.t_s))


def refuse_other_gravity(recording: Recording, rest_s: float, gravity: float | str, *, sways: bool = False) -> None:
    """At rest an accelerometer reads gravity; one that is more than 5 % off is in another unit, or not calibrated.

    rest_s: of the log's start. sways: of a foot, which may not stand there; then nothing is said.
    """
    if recording.acc_s is None:
        return
    acc = recording.acc_s[recording.t <= recording.t[0] + rest_s]
    size = np.linalg.norm(acc, axis=1)
    force, g = float(np.linalg.norm(acc.mean(axis=0))), earth.gravity(gravity)
    if sways and size.std() > _STILL_SHARE * size.mean():
        return
    if abs(force - g) <= _GRAVITY_SHARE * g:
        return
    if abs(force - 1.0) < 0.1:
        guess = "is it in g? say so in the column's header or with --columns"
    elif abs(force / 1000.0 - 1.0) < 0.1:
        guess = "is it in mg? say so in the column's header or with --columns"
    else:
        guess = "check its unit and range, or calibrate it first"
    raise InputError(f"the accelerometer reads {force:.2f} m/s2 at rest, gravity is {g:.2f}: {guess}")
