"""Recordings joined: one after the other in time, or the instruments of two logs by their time stamps."""

from collections.abc import Sequence
from dataclasses import fields, replace
from itertools import pairwise
from typing import Any

import numpy as np

from strapdown.errors import InputError
from strapdown.sample import Fixes, Heights
from strapdown.types import SLOW, Increments, Motion, Recording

INSTRUMENTS = {"mag_s": "magnetometer", "temperature": "thermometer", "tilt_s": "inclinometer"}
_RARE = {"position_fix": "position fixes", "velocity_fix": "velocity fixes", "height": "height"}  # may cover a part
_LEAST_COVER = 0.1  # of the recording's time, by an instrument with a clock of its own: less is a clock that is off


def join(parts: Sequence[Recording]) -> Recording:
    """Recordings that follow each other in time as one. All must have the same fields; meta is what they have in
    common."""
    if isinstance(parts, Recording) or not isinstance(parts, Sequence):
        raise InputError(f"join was given a {type(parts).__name__}; give a list of recordings")
    if not parts:
        raise InputError("there is no recording to join; give at least one")
    for i, part in enumerate(parts):
        if not isinstance(part, Recording):
            raise InputError(f"part {i} of those to join is a {type(part).__name__}; give a list of recordings")
    first = parts[0]
    for before, after in pairwise(parts):
        if not after.t[0] > before.t[-1]:
            raise InputError(
                f"a part begins at {after.t[0]:.9g} s and the one before ends at {before.t[-1]:.9g} s; give parts that "
                "follow each other in time"
            )
    kept: dict[str, Any] = {"meta": {k: v for k, v in first.meta.items() if all(p.meta.get(k) == v for p in parts)}}
    for each in fields(Recording):
        if each.name in ("meta", "new"):
            continue
        values = [getattr(part, each.name) for part in parts]
        missing = [i for i, value in enumerate(values) if value is None]
        if missing and len(missing) < len(values):
            raise InputError(f"part {missing[0]} has no {each.name} and others have; join recordings of equal fields")
        kept[each.name] = None if missing else _chained(values)
    names = {name for part in parts for name in part.new}
    every = {name: [part.new.get(name, np.ones(len(part), dtype=bool)) for part in parts] for name in names}
    return Recording(**kept, new={name: np.concatenate(flags) for name, flags in every.items()})


def _chained(values: Sequence[Any]) -> Any:
    """Arrays, or types made of arrays."""
    if isinstance(values[0], Increments | Motion | Fixes | Heights):
        names = [each.name for each in fields(values[0])]
        return type(values[0])(*(np.concatenate([getattr(v, name) for v in values]) for name in names))
    return np.concatenate(values)


def with_instrument(recording: Recording, other: Recording, name: str) -> Recording:
    """The recording with an instrument of another one, field `name` of SLOW. Each reading joins the first row that is
    not earlier; of several the last is used. Rows between repeat it, and `new` flags them. Fixes and heights are
    instruments too. An odometer is interpolated instead.
    """
    for given in (recording, other):
        if not isinstance(given, Recording):
            raise InputError(f"with_instrument was given a {type(given).__name__}; give two recordings and a field")
    if name not in SLOW:
        raise InputError(f"{name} cannot be taken from another recording; valid: {', '.join(SLOW)}")
    values = getattr(other, name)
    if values is None:
        raise InputError(f"the other recording has no {name}; give another")
    new = {key: flags for key, flags in recording.new.items() if key != name}
    if name == "odometer":
        travel = np.interp(recording.t, other.t, values)
        travel.flags.writeable = False
        return replace(recording, odometer=travel, new=new)
    row, inside = rows_by_time(recording, other, {**INSTRUMENTS, **_RARE}[name], rare=name in _RARE)
    fresh = np.zeros(len(recording), dtype=bool)
    fresh[row[inside]] = True
    # a row shows the last reading that is not later; rows before the first reading show the first
    last = np.maximum(np.searchsorted(other.t, recording.t, side="right") - 1, 0)
    held = values[last]
    if isinstance(held, np.ndarray):
        held.flags.writeable = False
    return replace(recording, **{name: held}, new={**new, name: fresh})


def rows_by_time(
    recording: Recording, other: Recording, instrument: str, *, rare: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """For each reading of `other`: the first row of the recording that is not earlier, and whether there is such a
    row.

    instrument: its name, for errors. Readings that are older than a step before the first row are too old for it.
    Clocks that hardly overlap are refused, except for rare readings, which may cover a part of the time.
    """
    t, n = recording.t, len(recording)
    row = np.searchsorted(t, other.t)
    inside = (row < n) & (other.t > t[0] - recording.step_s)
    if not inside.any():
        raise InputError(f"no reading of the {instrument} lies within the times of the recording; check the clocks")
    seen = other.t[inside]
    cover = (seen[-1] - seen[0] + other.step_s) / max(t[-1] - t[0], 1e-300)
    if cover < _LEAST_COVER and not rare:
        raise InputError(
            f"readings of the {instrument} lie within {100.0 * cover:.2g} % of the recording's time only (the "
            f"recording runs from {t[0]:.6g} to {t[-1]:.6g} s, the {instrument} from {other.t[0]:.6g} to "
            f"{other.t[-1]:.6g} s); check the clocks, or work without it"
        )
    return row, inside
