"""Checks whether a sensor at rest meets its data sheet. Noise, rest reading, sampling, each with a verdict."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from strapdown.errors import InputError
from strapdown.sensors.parts.part import Part
from strapdown.sensors.parts.units import unit
from strapdown.sensors.triad import Triad
from strapdown.types import Array, Recording

GOOD, SUSPECT, BAD = "good", "suspect", "bad"
_NOISIER, _MUCH_NOISIER, _QUIETER = 2.0, 5.0, 0.3  # times the data sheet's noise: suspect, bad, suspect
_JITTER, _RATE = 0.05, 0.03  # of a step; of the stated rate
_FIELD_UT = (15.0, 80.0)  # the Earth's is 22 to 67; iron nearby adds
_LOST = 1e-3  # part of the samples
_LEAST_S = 3.0
_PART_S = 0.5
# between two parts: slower changes are drift of a warming part or a table that gives way
_TURNING_RAD_S, _FORCE_M_S2 = math.radians(3.0), 0.5
_OF_NOISE = 10.0  # the range of 20 means of white noise on three axes is 6.5 of their sigma
STILLNESS = "rest"


@dataclass(frozen=True)
class Checked:
    """A measured quantity, its value, and the limit of the data sheet or of a rule.

    verdict: good, suspect, bad.
    """

    what: str
    measured: str
    allowed: str
    verdict: str


def check_part(recording: Recording, part: Part | None, noise: Mapping[str, Triad], gravity: float) -> list[Checked]:
    """Check a recording at rest, in any attitude.

    part: part with the tolerances of the rest reading.
    noise: noise of the part at its rate and range.
    """
    if recording.t[-1] - recording.t[0] < _LEAST_S:
        raise InputError(
            f"the recording is {recording.t[-1] - recording.t[0]:.1f} s long; a check needs {_LEAST_S:g} s"
        )
    found = _sampling(recording)
    first = len(found)
    for name, field, shown, factor in (
        ("accelerometer", recording.acc_s, "mg", 1e3 / 9.80665),
        ("gyroscope", recording.gyr_s, "deg/s", 180.0 / math.pi),
    ):
        if field is not None:
            found.append(_noise(name, field, noise.get(name), recording, shown, factor))
    found += _rest(recording, part, gravity)
    moved = _moved(recording)
    if moved:  # noise and rest reading say nothing about the part then
        judged = [replace(row, verdict=SUSPECT) if row.verdict == BAD else row for row in found[first:]]
        return [*found[:first], Checked(STILLNESS, moved, "kept still", SUSPECT), *judged]
    return [*found[:first], Checked(STILLNESS, "kept still", "kept still", GOOD), *found[first:]]


def _moved(recording: Recording) -> str:
    """How much the sensor moved between parts of half a second; "" if it rested. White noise, however strong, is not
    motion: its means are compared with what the differences of neighbouring readings explain.
    """
    part = np.floor((recording.t - recording.t[0]) / _PART_S).astype(int)
    count = np.bincount(part)[:-1]  # the last one is cut
    said = []
    for x, least, words in (
        (recording.gyr_s, _TURNING_RAD_S, lambda size: f"rate changed by {math.degrees(size):.1f} deg/s"),
        (recording.acc_s, _FORCE_M_S2, lambda size: f"specific force changed by {size:.1f} m/s2"),
    ):
        if x is None or not len(count) or count.min() < 2:
            continue
        means = np.stack([np.bincount(part, column)[:-1] / count for column in x.T], axis=1)
        size = float(np.linalg.norm(np.ptp(means, axis=0)))
        noise = float(np.sqrt(0.5 * np.mean(np.diff(x, axis=0) ** 2))) / math.sqrt(float(count.min()))
        if size > max(least, _OF_NOISE * noise):
            said.append(words(size))
    return ", ".join(said)


def _sampling(recording: Recording) -> list[Checked]:
    steps = np.diff(recording.t)
    usual = float(np.median(steps))
    rate, stated = 1.0 / usual, recording.meta.get("rate_hz")
    regular = steps[np.abs(steps - usual) < 0.5 * usual]
    jitter = float(regular.std()) if len(regular) else math.inf
    missing = float(np.round(steps / usual).sum() - len(steps))
    found = [
        Checked(
            "regular sampling",
            f"sigma of a step {1e6 * jitter:.1f} us of {1e3 * usual:.3f} ms",
            f"{100 * _JITTER:g} % of a step",
            GOOD if jitter <= _JITTER * usual else SUSPECT,
        ),
        Checked(
            "missing samples",
            f"{missing:.0f} of {len(recording)}",
            f"{100 * _LOST:g} %",
            GOOD if missing <= _LOST * len(recording) else BAD,
        ),
    ]
    if isinstance(stated, int | float) and stated > 0:
        off = rate / stated - 1.0
        verdict = GOOD if abs(off) <= _RATE else BAD
        found.append(
            Checked("rate", f"{rate:.2f} Hz ({100 * off:+.2f} %)", f"{stated:g} Hz to {100 * _RATE:g} %", verdict)
        )
    return found


def _noise(name: str, x: Array, triad: Triad | None, recording: Recording, shown: str, factor: float) -> Checked:
    # differences of neighbours: slow drift does not count
    sigma = float(np.sqrt(0.5 * np.mean(np.diff(x, axis=0) ** 2, axis=0)).max())
    stuck = [axis for axis, column in zip("xyz", x.T, strict=True) if np.ptp(column) == 0.0]
    measured = f"{factor * sigma:.3g} {shown} rms"
    if stuck:
        return Checked(f"{name} noise", f"axis {', '.join(stuck)} does not change at all", "noise", BAD)
    if triad is None or not max(triad.white) > 0.0:
        return Checked(f"{name} noise", measured, "the part is not in the catalogue", GOOD)
    expected = expected_sigma(triad, 1.0 / recording.step_s, _low_pass(recording, name))
    ratio = sigma / expected
    verdict = BAD if ratio > _MUCH_NOISIER else SUSPECT if ratio > _NOISIER or ratio < _QUIETER else GOOD
    return Checked(
        f"{name} noise", f"{measured}, {ratio:.2f} of the data sheet", f"{factor * expected:.3g} {shown}", verdict
    )


def _low_pass(recording: Recording, name: str) -> float | None:
    stated = recording.meta.get("low_pass_hz")
    value = stated.get(name) if isinstance(stated, Mapping) else None
    return float(value) if isinstance(value, int | float) else None


def expected_sigma(triad: Triad, rate_hz: float, low_pass_hz: float | None) -> float:
    """Sigma of one reading. White noise N behind a first-order low-pass has variance pi f N^2, at most that of the
    rate. The rounding to counts is added.
    """
    band = rate_hz if low_pass_hz is None else math.pi * low_pass_hz
    return math.hypot(max(triad.white) * math.sqrt(band), triad.resolution / math.sqrt(12.0))


def _rest(recording: Recording, part: Part | None, gravity: float) -> list[Checked]:
    found = []
    if recording.acc_s is not None:
        size = float(np.linalg.norm(recording.acc_s.mean(axis=0)))
        allowed = _limit(part, "accelerometer", "offset") + gravity * _limit(part, "accelerometer", "scale_tolerance")
        allowed = allowed or 0.1 * gravity
        off = abs(size - gravity)
        verdict = GOOD if off <= allowed else BAD
        found.append(
            Checked("specific force at rest", f"{size:.3f} m/s2", f"{gravity:.3f} to {allowed:.2f} m/s2", verdict)
        )
    if recording.gyr_s is not None:
        largest = math.degrees(float(np.abs(recording.gyr_s.mean(axis=0)).max()))
        most = math.degrees(_limit(part, "gyroscope", "offset")) or 20.0
        found.append(
            Checked("gyroscope offset", f"{largest:.2f} deg/s", f"{most:g} deg/s", GOOD if largest <= most else BAD)
        )
    if recording.mag_s is not None:
        size = float(np.median(np.linalg.norm(recording.mag_s, axis=1)))
        inside = _FIELD_UT[0] <= size <= _FIELD_UT[1]
        text = f"{_FIELD_UT[0]:g} to {_FIELD_UT[1]:g} uT, before calibration"
        found.append(Checked("magnetic field", f"{size:.1f} uT", text, GOOD if inside else SUSPECT))
    if recording.temperature is not None:
        warm = float(recording.temperature.mean())
        found.append(
            Checked("temperature", f"{warm:.1f} degC", "-40 to 85 degC", GOOD if -40.0 <= warm <= 85.0 else BAD)
        )
    return found


def _limit(part: Part | None, instrument: str, field: str) -> float:
    """The data sheet's limit in SI; 0 where there is none."""
    sheet = None if part is None else getattr(part.file, instrument)
    number = None if sheet is None else getattr(sheet, field)
    if number is None or number.unit == "LSB":
        return 0.0
    return float(max(abs(value) for value in number.all()) * unit(number.unit).factor)
