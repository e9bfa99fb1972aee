"""The samples of a recording as filters want them: checked, in one frame, the magnetometer's marked where new."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strapdown.errors import InputError
from strapdown.rotation import q_normalise, q_rotate
from strapdown.types import Array, Recording

LEAST_SAMPLES = 4
_LOOKED_AT = 10_000  # samples tell the unit as well as all of them do
_REPEATS_TO_TELL = 0.5  # of all rows: then the magnetometer is slower than the log and its last reading is repeated


@dataclass(frozen=True, eq=False)
class Samples:
    """gyr (rad/s), acc (m/s2), mag (uT), one frame, rows at t; dt[k] leads to row k, dt[0] is the usual step.

    mag has no rows where it is not used; mag_new says in which rows the magnetometer has a new reading.
    """

    t: Array
    dt: Array
    gyr: Array
    acc: Array
    mag: Array
    mag_new: NDArray[np.bool_]


def samples_of(
    recording: Recording,
    *,
    magnetometer: Recording | None = None,
    q_bs: ArrayLike | None = None,
    use_mag: bool = True,
) -> Samples:
    """Readings of a recording, told in b if the mounting q_bs is given; magnetometer readings from a recording of
    their own join the first row that is not earlier."""
    if recording.gyr_s is None or recording.acc_s is None:
        missing = "gyroscope" if recording.gyr_s is None else "accelerometer"
        raise InputError(f"the recording has no {missing}; an orientation filter needs gyroscope and accelerometer")
    n = len(recording)
    if n < LEAST_SAMPLES:
        raise InputError(f"the recording has {n} samples; an orientation filter needs at least {LEAST_SAMPLES}")
    _check_units(recording)
    mag, mag_new = _magnetometer(recording, magnetometer) if use_mag else (np.empty((0, 3)), np.zeros(0, dtype=bool))
    gyr, acc = recording.gyr_s, recording.acc_s
    if q_bs is not None:
        q = q_normalise(np.asarray(q_bs, dtype=np.float64))
        gyr, acc, mag = (q_rotate(q, v) if len(v) else v for v in (gyr, acc, mag))
    steps = np.diff(recording.t)
    samples = Samples(recording.t, np.concatenate([[np.median(steps)], steps]), gyr, acc, mag, mag_new)
    for array in (samples.dt, samples.gyr, samples.acc, samples.mag, samples.mag_new):
        array.flags.writeable = False  # one signature for the kernels
    return samples


def _check_units(recording: Recording) -> None:
    """Readings in other units give a wrong attitude without any sign of it: told by their size."""
    some = np.asarray(recording.acc_s)[:: max(1, len(recording) // _LOOKED_AT)]
    force = float(np.median(np.linalg.norm(some, axis=1)))
    if force > 100.0:
        raise InputError(
            f"the accelerometer reads {force:.4g} m/s2 most of the time: these are raw counts, or another unit; "
            "give the unit in the column mapping (docs/io.md)"
        )
    if 0.5 < force < 2.0:
        raise InputError(
            f"the accelerometer reads {force:.3g} most of the time: that is g, not m/s2; "
            'give the unit "g" in the column mapping (docs/io.md)'
        )
    if force == 0.0:
        raise InputError("the accelerometer reads 0 in most samples; check that it is connected")
    gyr = np.asarray(recording.gyr_s)
    rate = max(float(gyr.max()), -float(gyr.min()))
    if rate > 150.0:  # 8600 deg/s: beyond every part
        raise InputError(
            f"the gyroscope reads up to {rate:.4g} rad/s: these are deg/s or raw counts; "
            "give the unit in the column mapping (docs/io.md)"
        )


def _magnetometer(recording: Recording, own: Recording | None) -> tuple[Array, NDArray[np.bool_]]:
    n = len(recording)
    if own is not None:
        if own.mag_s is None:
            raise InputError("the recording given as magnetometer has no magnetometer readings; give another")
        row = np.searchsorted(recording.t, own.t)
        inside = row < n
        if not inside.any():
            raise InputError("no magnetometer reading lies within the times of the recording; check the clocks")
        mag, new = np.zeros((n, 3)), np.zeros(n, dtype=bool)
        mag[row[inside]] = own.mag_s[inside]  # the last of several that fall to one row
        new[row[inside]] = True
    elif recording.mag_s is None:
        raise InputError(
            "the recording has no magnetometer, which a 9-axis filter needs; use the filter without it (6 axes)"
        )
    else:
        mag = recording.mag_s
        new = np.ones(n, dtype=bool)
        held = mag[1:] == mag[:-1]
        new[1:] = ~(held[:, 0] & held[:, 1] & held[:, 2])
        # few repeats are chance; a reading that never changes is rest without noise, not a slow magnetometer
        if n - new.sum() <= _REPEATS_TO_TELL * n or new.sum() < 2:
            new[:] = True
    zero = new & (mag[:, 0] == 0.0) & (mag[:, 1] == 0.0) & (mag[:, 2] == 0.0)
    if zero.sum() > 0.5 * new.sum():
        raise InputError("the magnetometer reads 0 in most samples; it is not connected: use the filter without it")
    return mag, new & ~zero
