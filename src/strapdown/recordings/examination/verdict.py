"""One examination of a log, used by every entry point: orient, navigate, calibrate, allan and the library."""

import warnings
from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from strapdown.errors import LogWarning
from strapdown.motion.quaternion_order import looks_like_xyzw
from strapdown.recordings.examination.axes import (
    SCALES,
    Disagreement,
    accelerometer_disagreement,
    axes_words,
    gravity_kept,
    magnetometer_disagreement,
    turns_of,
)
from strapdown.recordings.examination.faults import field_findings, noiseless, stopped_gyroscope
from strapdown.recordings.examination.findings import REFUSE, WARN, Finding, Findings, sorted_findings
from strapdown.recordings.examination.limits import GRAVITY_LOST
from strapdown.recordings.examination.units import (
    FIELDS,
    calm_windows,
    moving_findings,
    rest_findings,
    size_findings,
    temperature_findings,
    time_findings,
)
from strapdown.recordings.examination.windows import Windows, windows_of
from strapdown.recordings.stated import gravity_to_compare
from strapdown.types import Array, Recording

ALL = ("accelerometer", "gyroscope", "magnetometer")
# a recording does not change, and every filter that runs over it asks the same
_EXAMINED: WeakKeyDictionary[Recording, dict[tuple[object, ...], Findings]] = WeakKeyDictionary()
_CERTAIN = 0.5  # share of windows that disagree, and of gravity that is lost: then no motion explains it


def examine(
    recording: Recording,
    *,
    uses: Sequence[str] = ALL,
    gravity: float | None = None,
    rests: bool = False,
    upright: bool = True,
    q_bs: ArrayLike | None = None,
) -> Findings:
    """What is wrong or notable about a log: units, signs, axes, faults.

    uses: instruments that the caller takes readings of.
    gravity (m/s2): gravity of the place; by default the value of the log, else the standard.
    rests: the log is meant to be at rest, throughout or in poses.
    upright: False where the sensor may have any attitude, z down as well.
    q_bs: mounting of the sensor.
    """
    uses = tuple(name for name in ALL if name in uses and getattr(recording, FIELDS[name]) is not None)
    g = gravity_to_compare(recording, gravity)
    q = None if q_bs is None else np.asarray(q_bs, dtype=np.float64)
    known = _EXAMINED.setdefault(recording, {})
    asked = (uses, g, rests, upright, None if q is None else tuple(q.tolist()))
    if asked not in known:
        found = _examined(recording, uses, g, rests, q)
        known[asked] = found if upright else sorted_findings(f for f in found if f.kind.partition("_")[0] != "z")
    return known[asked]


def _examined(recording: Recording, uses: tuple[str, ...], g: float, rests: bool, q_bs: Array | None) -> Findings:
    truth = recording.truth
    doubts = [Finding("quaternion_order", WARN)] if truth is not None and looks_like_xyzw(truth.q_nb) else []
    found = doubts + time_findings(recording) + size_findings(recording, uses, g)
    if any(finding.severity == REFUSE for finding in found):
        return sorted_findings(found)  # numbers in another unit would only give more of them
    if rests:
        found += noiseless({name: getattr(recording, FIELDS[name]) for name in uses if name in ALL[:2]})
    found += temperature_findings(recording.temperature)
    found += stopped_gyroscope(recording) if {"accelerometer", "gyroscope"} <= set(uses) else []
    turning = 0.0
    if recording.gyr_s is not None:
        turning = float(np.median(np.abs(recording.gyr_s[:: max(1, len(recording) // 10_000)]).max(axis=1)))
    if "magnetometer" in uses:
        found += field_findings(recording, turning)
    windows = windows_of(recording) if {"accelerometer", "gyroscope"} & set(uses) else None
    if windows is not None:
        at_rest = rest_findings(windows, g, rests=rests, q_bs=q_bs)
        found += [f for f in at_rest if f.kind.partition("_")[0] in (*uses, "z")]
        if {"accelerometer", "gyroscope"} <= set(uses):
            found += _axes_findings(recording, windows, g, "magnetometer" in uses)
    return sorted_findings(found)


def checked(
    recording: Recording,
    *,
    uses: Sequence[str] = ALL,
    gravity: float | None = None,
    rests: bool = False,
    upright: bool = True,
    q_bs: ArrayLike | None = None,
) -> Findings:
    """As examine, but a log that is certainly wrong raises its sentence; doubts are LogWarnings."""
    findings = examine(recording, uses=uses, gravity=gravity, rests=rests, upright=upright, q_bs=q_bs)
    findings.refuse()
    for finding in findings.of(WARN):
        warnings.warn(finding.sentence, LogWarning, stacklevel=3)
    return findings


def _axes_findings(recording: Recording, windows: Windows, gravity: float, field: bool) -> list[Finding]:
    turns = turns_of(recording, _offset(windows))
    if turns is None:
        return []
    found: list[Finding] = []
    other = accelerometer_disagreement(turns, gravity)
    if other is not None:
        found.append(_against_accelerometer(other, turns.seconds))
    elif not len(calm_windows(windows)):  # it never rests
        found += moving_findings(gravity_kept(turns, gravity), gravity)
    if field and other is None:
        off = magnetometer_disagreement(turns)
        if off is not None and off.factor is not None:
            guess = next(what for scale, what in SCALES if scale == off.factor)
            numbers = {"factor": off.factor, "kept": off.kept, "lost": off.lost, "guess": guess}
            found.append(Finding("gyroscope_scale_field", WARN, numbers))
        elif off is not None and off.axes is not None:
            confirmed = bool((gravity_kept(turns, gravity) > GRAVITY_LOST).all()) and _gravity_turns(turns.force)
            found.append(_against_magnetometer(off, confirmed))
    return found


def _offset(windows: Windows) -> Array | None:
    """Offset of the gyroscope where the accelerometer is calm."""
    calm = calm_windows(windows)
    if windows.gyr_mean is None or not len(calm):
        return None
    return np.asarray(np.median(windows.gyr_mean[calm], axis=0))


def _gravity_turns(force: Array) -> bool:
    """Whether gravity moves enough in the sensor for the accelerometer to check the gyroscope."""
    flat = force.reshape(-1, 3)
    return bool(np.linalg.norm((flat / np.linalg.norm(flat, axis=1, keepdims=True)).mean(axis=0)) < 0.9)


def _against_accelerometer(off: Disagreement, seconds: float) -> Finding:
    certain = off.share > _CERTAIN and off.lost < _CERTAIN
    if off.axes is not None:
        words = {"other": "accelerometer", "axes": axes_words(off.axes), "of": "gravity kept"}
        return Finding("gyroscope_axes", REFUSE, {**words, "good": off.kept, "bad": off.lost})
    if off.factor is not None and certain:
        guess = next(what for scale, what in SCALES if scale == off.factor)
        return Finding(
            "gyroscope_scale", REFUSE, {"factor": off.factor, "kept": off.kept, "lost": off.lost, "guess": guess}
        )
    return Finding("gyroscope_contradicts", REFUSE if certain else WARN, {"lost": off.lost, "seconds": seconds})


def _against_magnetometer(off: Disagreement, confirmed: bool) -> Finding:
    """Sentences on a magnetometer that contradicts the gyroscope.

    confirmed: the accelerometer agrees with the gyroscope, so the magnetometer is wrong.
    """
    assert off.axes is not None
    numbers = {"good": off.kept, "bad": off.lost}
    if confirmed:
        axes = off.axes.T if off.axes.sum() > 0.0 else -off.axes.T  # both turn alike
        return Finding("magnetometer_axes", WARN, {"axes": axes_words(axes), **numbers})
    words = {"other": "magnetometer", "axes": axes_words(off.axes), "of": "its changes unexplained"}
    return Finding("gyroscope_axes", WARN, {**words, **numbers})
