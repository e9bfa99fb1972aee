"""Logs of two chips as one recording: an accelerometer and a gyroscope of different chips, or a magnetometer apart."""

from dataclasses import replace
from typing import Any

import numpy as np

from strapdown.errors import InputError
from strapdown.recordings.join import with_instrument
from strapdown.types import SLOW, Array, Recording

FAST = ("gyr_s", "acc_s")
PART_OF = "part_of"  # in the meta: parts of instruments that are of another chip than the log's; "" is not known
_INSTRUMENTS = {"gyr_s": "gyroscope", "acc_s": "accelerometer", "mag_s": "magnetometer"}
_LEAST_SHARE = 0.1  # of the shorter log, that both cover: less is two clocks, not one


def with_chip(recording: Recording, other: Recording) -> Recording:
    """The recording with all instruments of another one that it lacks, joined by time. Both logs must have one clock.

    The rows are those of the faster log that has an accelerometer or a gyroscope. The slower of these two instruments
    is interpolated in a straight line, and rows outside the time that both cover are omitted. Slower instruments are
    repeated, and `new` flags their new readings. What both have is taken from the first.
    """
    for given in (recording, other):
        if not isinstance(given, Recording):
            raise InputError(f"with_chip was given a {type(given).__name__}; give two recordings")
    missing = [name for name in (*FAST, *SLOW) if _lacks(recording, name) and not _lacks(other, name)]
    if not missing:
        raise InputError("the log of the second chip has no instrument that the first lacks; leave it out")
    _refuse_apart(recording, other)
    moved = [name for name in missing if name in FAST]
    if moved and _base(recording, other) is other:
        own = [name for name in FAST if not _lacks(recording, name)]
        slow = [name for name in SLOW if not _lacks(recording, name)]
        without: dict[str, Any] = dict.fromkeys(own)
        both = _interpolated(replace(other, **without), recording, own)
        both = replace(both, meta=_meta(recording, other, missing), truth=None, increments=None)
        for name in slow:
            both = with_instrument(both, recording, name)
        return both
    joined = _interpolated(recording, other, moved) if moved else recording
    for name in missing:
        if name in SLOW:
            joined = with_instrument(joined, other, name)
    return replace(joined, meta=_meta(recording, other, missing))


def _meta(recording: Recording, other: Recording, taken: list[str]) -> dict[str, Any]:
    """Facts of both logs, those of the first before those of the second, and the part of each instrument taken."""
    part = other.meta.get("part")
    parts = {_INSTRUMENTS[name]: part if isinstance(part, str) else "" for name in taken if name in _INSTRUMENTS}
    return {**other.meta, **recording.meta, PART_OF: parts}


def _lacks(recording: Recording, name: str) -> bool:
    return getattr(recording, name) is None


def _base(recording: Recording, other: Recording) -> Recording:
    """The recording whose rows are kept: the only one with a fast instrument, else the faster."""
    if all(_lacks(recording, name) for name in FAST):
        return other
    return other if other.step_s < recording.step_s else recording


def _refuse_apart(recording: Recording, other: Recording) -> None:
    a, b = recording.t, other.t
    shared = min(a[-1], b[-1]) - max(a[0], b[0])
    shorter = min(a[-1] - a[0], b[-1] - b[0])
    if shared <= 0.0 or shared < _LEAST_SHARE * shorter:
        raise InputError(
            f"the logs of the two chips do not overlap in time: the first runs from {a[0]:.6g} to {a[-1]:.6g} s, the "
            f"second from {b[0]:.6g} to {b[-1]:.6g} s; give logs whose times come from one clock"
        )


def _interpolated(recording: Recording, other: Recording, names: list[str]) -> Recording:
    """The recording, cut to the time that both cover, with instruments of the other in a straight line between its
    samples.
    """
    if not names:
        return recording
    inside = recording.between(float(other.t[0]), float(other.t[-1]))
    found: dict[str, Any] = {name: _between(inside.t, other.t, getattr(other, name)) for name in names}
    if other.clipped is not None:
        near = np.interp(inside.t, other.t, other.clipped.astype(np.float64)) > 0.0
        found["clipped"] = near if inside.clipped is None else near | inside.clipped
    return replace(inside, **found)


def _between(t: Array, times: Array, values: Array) -> Array:
    return np.stack([np.interp(t, times, column) for column in values.T], axis=1)
