"""The samples of a recording as filters want them: checked, in one frame, the magnetometer's marked where new."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strapdown.errors import InputError
from strapdown.kernels.orientation.start import MOST, MOST_RATE
from strapdown.kernels.orientation.state import ACC_REJECTED, GAP, MAG_REJECTED
from strapdown.rotation import q_normalise, q_rotate
from strapdown.types import Array, Recording, Sample

LEAST_SAMPLES = 4
_LOOKED_AT = 10_000  # samples tell the unit as well as all of them do
_REPEATS_TO_TELL = 0.3  # of all rows: then the magnetometer is slower than the log and its last reading is repeated
_LEAST_COVER = 0.1  # of the recording's time, by a magnetometer of its own: less is a clock that is off
_PART_RATE = 150.0  # rad/s, 8600 deg/s: beyond every part
_FAULTS = 0.001  # of all rows: more is another unit
_TURNS = 0.35  # rad/s: faster is no rest
_TURNED = 0.94  # cosine of 20 deg
_SILENT_S = 5.0  # without a magnetometer reading, and ten times what is usual: told
_EARTH_LIKE = 4.0  # m/s2: in this gravity or more, readings of about 1 are in g


@dataclass(frozen=True, eq=False)
class Samples:
    """gyr (rad/s), acc (m/s2), mag (uT), one frame, rows at t; dt[k] (s) leads to row k, dt[0] is 0.

    mag has no rows where it is not used; mag_new: True in rows with a new reading of the magnetometer. step_s: the
    usual step, the median of the others.
    """

    t: Array
    dt: Array
    gyr: Array
    acc: Array
    mag: Array
    mag_new: NDArray[np.bool_]
    step_s: float

    def sample(self, i: int) -> Sample:
        """Row i, as a live source would give it."""
        mag_s = self.mag[i] if len(self.mag) and self.mag_new[i] else None
        return Sample(float(self.t[i]), float(self.dt[i]), self.gyr[i], self.acc[i], mag_s)


def samples_of(
    recording: Recording,
    *,
    magnetometer: Recording | None = None,
    q_bs: ArrayLike | None = None,
    use_mag: bool = True,
) -> Samples:
    """Readings of a recording, in b if the mounting q_bs is given; magnetometer readings from a recording of
    their own join the first row that is not earlier."""
    _check_types(recording, magnetometer)
    if recording.gyr_s is None or recording.acc_s is None:
        missing = "gyroscope" if recording.gyr_s is None else "accelerometer"
        raise InputError(f"the recording has no {missing}; an orientation filter needs gyroscope and accelerometer")
    n = len(recording)
    if n < LEAST_SAMPLES:
        counted = "1 sample" if n == 1 else f"{n} samples"
        raise InputError(f"the recording has {counted}; an orientation filter needs at least {LEAST_SAMPLES}")
    q = None if q_bs is None else unit_quaternion(q_bs, "the mounting q_bs")
    _check_units(recording)
    dt = np.empty(n)
    np.subtract(recording.t[1:], recording.t[:-1], out=dt[1:])
    dt[0] = 0.0
    step_s = float(np.median(dt[1:]))
    mag, mag_new = np.empty((0, 3)), np.zeros(0, dtype=np.bool_)
    if use_mag:
        if magnetometer is not None:
            mag, mag_new = _own_times(recording, magnetometer, step_s)
        elif recording.mag_s is not None and "mag_s" in recording.new:
            mag, mag_new = recording.mag_s, recording.new["mag_s"]
        else:
            mag, mag_new = _same_times(recording)
        mag_new = _without_zeros(mag, mag_new, magnetometer is None)
    gyr, acc = recording.gyr_s, recording.acc_s
    if q is not None:
        gyr, acc, mag = (q_rotate(q, v) if len(v) else v for v in (gyr, acc, mag))
    samples = Samples(recording.t, dt, gyr, acc, mag, mag_new, step_s)
    for array in (samples.dt, samples.gyr, samples.acc, samples.mag, samples.mag_new):
        array.flags.writeable = False  # one signature for the kernels
    return samples


def silences(samples: Samples) -> list[tuple[float, float]]:
    """Times (s) between which a magnetometer in use gave no reading for long."""
    if not len(samples.mag_new):
        return []
    at = samples.t[samples.mag_new]
    usual_s = float(np.median(np.diff(at))) if len(at) > 1 else 0.0
    ends = np.concatenate([samples.t[:1], at, samples.t[-1:]])
    long = np.flatnonzero(np.diff(ends) > max(_SILENT_S, 10.0 * usual_s))
    return [(float(ends[i]), float(ends[i + 1])) for i in long]


def without_faults(samples: Samples) -> tuple[Samples, NDArray[np.int64]]:
    """For passes that look at many samples at once: readings that no sensor gives are what a filter leaves out in its
    steps, a rate that of the sample before; with the flags of the rows."""
    beyond = {name: np.abs(getattr(samples, name)).sum(axis=1) for name in ("gyr", "acc", "mag")}
    gyr, acc, mag = beyond["gyr"] >= MOST_RATE, beyond["acc"] >= MOST, beyond["mag"] >= MOST
    flags = np.zeros(len(samples.t), dtype=np.int64)
    if not (gyr.any() or acc.any() or mag.any()):
        return samples, flags
    flags[gyr] |= GAP
    flags[acc] |= ACC_REJECTED
    last = np.maximum.accumulate(np.where(gyr, 0, np.arange(len(gyr))))
    mended: dict[str, Any] = {"gyr": samples.gyr[last], "acc": np.where(acc[:, None], 0.0, samples.acc)}
    if len(mag):
        flags[mag & samples.mag_new] |= MAG_REJECTED
        mended["mag_new"] = samples.mag_new & ~mag
        mended["mag"] = np.where(mag[:, None], 0.0, samples.mag)
    for array in mended.values():
        array.flags.writeable = False
    return replace(samples, **mended), flags


def unit_quaternion(q: ArrayLike, what: str) -> Array:
    """q made one of unit length; what: how a sentence of complaint calls it."""
    try:
        given = np.asarray(q, dtype=np.float64)
    except (ValueError, TypeError):  # text, rows of different lengths
        given = np.empty(0)
    if given.shape != (4,) or not np.isfinite(given).all() or not np.linalg.norm(given) > 0.0:
        raise InputError(f"{what} is {q!r}; give a unit quaternion, the four numbers (w, x, y, z)")
    return q_normalise(given)


def _check_types(recording: Recording, magnetometer: Recording | None) -> None:
    for what, given in (("recording", recording), ("magnetometer", magnetometer)):
        if not isinstance(given, Recording) and not (what == "magnetometer" and given is None):
            raise InputError(f"the {what} to run over is of type {type(given).__name__}; give a Recording")


def _check_units(recording: Recording) -> None:
    """Readings in other units give a wrong attitude without any sign of it: told by their size."""
    some = slice(None, None, max(1, len(recording) // _LOOKED_AT))
    acc = np.asarray(recording.acc_s)[some]
    force = math.sqrt(float(np.median(np.einsum("ij,ij->i", acc, acc))))
    if force > 100.0:
        raise InputError(
            f"the accelerometer reads {force:.4g} m/s2 most of the time: these are raw counts, or another unit; "
            "give the unit in the column mapping (docs/io.md)"
        )
    if 0.5 < force < 2.0 and not _stated_gravity(recording) < _EARTH_LIKE:
        raise InputError(
            f"the accelerometer reads {force:.3g} most of the time: that is g, not m/s2; "
            'give the unit "g" in the column mapping (docs/io.md), or the gravity of another world (gravity_m_s2, '
            "--gravity)"
        )
    if force == 0.0:
        raise InputError("the accelerometer reads 0 in most samples; check that it is connected")
    if not np.any(recording.gyr_s):
        unit = acc / np.maximum(np.linalg.norm(acc, axis=1, keepdims=True), 1e-9)
        if np.median(unit @ unit[0]) < _TURNED:
            raise InputError("the gyroscope reads 0 throughout while gravity turns; check that it is connected")
    gyr = np.asarray(recording.gyr_s)
    rate = max(float(gyr.max()), -float(gyr.min()))
    # single readings beyond every part are faults of a wire, which filters leave out
    if rate > _PART_RATE and np.count_nonzero((np.abs(gyr) > _PART_RATE).any(axis=1)) > _FAULTS * len(gyr):
        raise InputError(
            f"the gyroscope reads up to {rate:.4g} rad/s: these are deg/s or raw counts; "
            "give the unit in the column mapping (docs/io.md)"
        )


def _stated_gravity(recording: Recording) -> float:
    """What the log says of its place, m/s2; infinite where it says nothing, as on Earth."""
    said = recording.meta.get("gravity_m_s2")
    return float(said) if isinstance(said, int | float) and not isinstance(said, bool) and said > 0.0 else math.inf


def _same_times(recording: Recording) -> tuple[Array, NDArray[np.bool_]]:
    """The recording's own column, in which a slower magnetometer repeats its last reading."""
    mag, n = recording.mag_s, len(recording)
    if mag is None:
        raise InputError(
            "the recording has no magnetometer, which a 9-axis filter needs; use the filter without it (6 axes: "
            "magnetometer=False, or --axes 6)"
        )
    new = np.ones(n, dtype=np.bool_)
    held = mag[1:, 0] == mag[:-1, 0]
    # few repeats are chance; a reading that never changes is rest without noise, not a slow magnetometer
    if np.count_nonzero(held) > _REPEATS_TO_TELL * n:
        held &= (mag[1:, 1] == mag[:-1, 1]) & (mag[1:, 2] == mag[:-1, 2])
        if held.all() and mag.any() and np.median(np.abs(np.asarray(recording.gyr_s)).max(axis=1)) > _TURNS:
            raise InputError(
                "the magnetometer's reading never changes while the sensor turns: it is stuck; use the filter without "
                "it (6 axes: magnetometer=False, or --axes 6)"
            )
        if _REPEATS_TO_TELL * n < np.count_nonzero(held) < n - 1:
            new[1:] = ~held
    return mag, new


def _own_times(recording: Recording, own: Recording, step_s: float) -> tuple[Array, NDArray[np.bool_]]:
    """Readings of another recording in the rows of this one. Older than a step before the first row they are gone."""
    if own.mag_s is None:
        raise InputError("the recording given as magnetometer has no magnetometer readings; give another")
    t, n = recording.t, len(recording)
    row = np.searchsorted(t, own.t)
    inside = (row < n) & (own.t > t[0] - step_s)
    if not inside.any():
        raise InputError("no magnetometer reading lies within the times of the recording; check the clocks")
    seen = own.t[inside]
    usual_s = float(np.median(np.diff(own.t))) if len(own) > 1 else 0.0
    cover = (seen[-1] - seen[0] + usual_s) / (t[-1] - t[0])
    if cover < _LEAST_COVER:
        raise InputError(
            f"magnetometer readings lie within {100.0 * cover:.2g} % of the recording's time only (the recording runs "
            f"from {t[0]:.6g} to {t[-1]:.6g} s, the magnetometer from {own.t[0]:.6g} to {own.t[-1]:.6g} s); check the "
            "clocks, or use the filter without it (6 axes)"
        )
    mag, new = np.zeros((n, 3)), np.zeros(n, dtype=np.bool_)
    mag[row[inside]] = own.mag_s[inside]  # the last of several that fall to one row
    new[row[inside]] = True
    return mag, new


def _without_zeros(mag: Array, new: NDArray[np.bool_], own_rows: bool) -> NDArray[np.bool_]:
    """No new reading where all axes read 0: a magnetometer that did not answer. own_rows: every row is a reading."""
    zero = mag[:, 0] == 0.0
    if not zero.any():
        return new
    zero &= (mag[:, 1] == 0.0) & (mag[:, 2] == 0.0)
    # of its own times: rows without a reading are zeros too, and not new; else zeros that are held are
    silent = zero if own_rows else zero & new
    if np.count_nonzero(silent) > 0.5 * (len(new) if own_rows else np.count_nonzero(new)):
        raise InputError(
            "the magnetometer reads 0 in most samples; it is not connected: use the filter without it (6 axes: "
            "magnetometer=False, or --axes 6)"
        )
    return new & ~zero
