"""The samples of a recording as filters want them: checked, in one frame, the magnetometer's marked where new."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strapdown.errors import InputError
from strapdown.kernels.orientation.start import MOST, MOST_RATE
from strapdown.kernels.orientation.state import ACC_REJECTED, GAP, MAG_REJECTED
from strapdown.recordings.examination.faults import new_readings
from strapdown.recordings.examination.verdict import checked
from strapdown.recordings.join import rows_by_time
from strapdown.rotation import q_normalise, q_rotate
from strapdown.types import Array, Recording, Sample

LEAST_SAMPLES = 4
_INERTIAL = ("accelerometer", "gyroscope")


@dataclass(frozen=True, eq=False)
class Samples:
    """gyr (rad/s), acc (m/s2), mag (uT), one frame, rows at t; dt[k] (s) leads to row k, dt[0] is 0.

    mag has no rows where it is not used.

    mag_new: True in rows with a new reading of the magnetometer.
    step_s: the usual step, the median of the others.
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
    """Readings of a recording, in b if the mounting q_bs is given. Magnetometer readings from a recording of their own
    join the first row that is not earlier.
    """
    _check_types(recording, magnetometer)
    if recording.gyr_s is None or recording.acc_s is None:
        missing = "gyroscope" if recording.gyr_s is None else "accelerometer"
        raise InputError(f"the recording has no {missing}; an orientation filter needs gyroscope and accelerometer")
    n = len(recording)
    if n < LEAST_SAMPLES:
        counted = "1 sample" if n == 1 else f"{n} samples"
        raise InputError(f"the recording has {counted}; an orientation filter needs at least {LEAST_SAMPLES}")
    q = None if q_bs is None else unit_quaternion(q_bs, "the mounting q_bs")
    uses = ("accelerometer", "gyroscope", "magnetometer") if use_mag and magnetometer is None else _INERTIAL
    checked(recording, uses=uses, q_bs=q)
    dt = np.empty(n)
    np.subtract(recording.t[1:], recording.t[:-1], out=dt[1:])
    dt[0] = 0.0
    step_s = float(np.median(dt[1:]))
    mag, mag_new = np.empty((0, 3)), np.zeros(0, dtype=np.bool_)
    if use_mag:
        mag, mag_new = _own_times(recording, magnetometer) if magnetometer is not None else _same_times(recording)
    gyr, acc = recording.gyr_s, recording.acc_s
    if q is not None:
        gyr, acc, mag = (q_rotate(q, v) if len(v) else v for v in (gyr, acc, mag))
    samples = Samples(recording.t, dt, gyr, acc, mag, mag_new, step_s)
    for array in (samples.dt, samples.gyr, samples.acc, samples.mag, samples.mag_new):
        array.flags.writeable = False  # one signature for the kernels
    return samples


def without_faults(samples: Samples) -> tuple[Samples, NDArray[np.int64]]:
    """For passes that use many samples at once. Readings that no sensor gives are replaced as in the steps of
    a filter: a rate is that of the previous sample. The function returns the flags of the rows too.
    """
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
    """q made one of unit length.

    what: its name in an error message.
    """
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


def _same_times(recording: Recording) -> tuple[Array, NDArray[np.bool_]]:
    """Magnetometer of the recording's own column, in which a slower one repeats its last reading."""
    if recording.mag_s is None:
        raise InputError(
            "the recording has no magnetometer, which a 9-axis filter needs; use the filter without it "
            "(magnetometer=False)"
        )
    return recording.mag_s, new_readings(recording)


def _own_times(recording: Recording, own: Recording) -> tuple[Array, NDArray[np.bool_]]:
    """Readings of another recording in the rows of this one. Readings older than a step before the first row are
    dropped.
    """
    if own.mag_s is None:
        raise InputError("the recording given as magnetometer has no magnetometer readings; give another")
    checked(own, uses=("magnetometer",))
    n = len(recording)
    row, inside = rows_by_time(recording, own, "magnetometer")
    mag, new = np.zeros((n, 3)), np.zeros(n, dtype=np.bool_)
    inside &= new_readings(own)
    mag[row[inside]] = own.mag_s[inside]  # the last of several that fall to one row
    new[row[inside]] = True
    return mag, new
