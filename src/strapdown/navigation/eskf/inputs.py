"""Inputs of the error-state filter from a recording or a live sample: checked, and flat for the kernel."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from strapdown.errors import InputError
from strapdown.kernels.navigation.eskf import layout as at
from strapdown.navigation.live_step import EMPTY
from strapdown.sample import Fix, Fixes, Height, Heights
from strapdown.types import Array, Recording, Sample

# what of a sample goes into the row of further numbers
FURTHER = at.SEEN_ODOMETER | at.SEEN_FIX | at.SEEN_HEIGHT | at.SEEN_VELOCITY


@dataclass(frozen=True, eq=False)
class Rows:
    """A recording in the form of the kernel.

    seen: bits (kernels/navigation/eskf/layout.py) for the values in a row. dt[0] is 0. mag_s None: not used.
    """

    recording: Recording
    seen: NDArray[np.int16]
    dt: Array
    mag_s: Array | None
    travels: bool

    def __len__(self) -> int:
        return len(self.dt)

    def part(self, rows: slice) -> tuple[NDArray[np.int64], Array, Array, Array, Array, Array]:
        """seen, gyr, acc, mag, extra, dt of these rows: they need much memory, so only for some rows at a time."""
        gyr_s, acc_s = self.recording.gyr_s, self.recording.acc_s
        assert gyr_s is not None and acc_s is not None
        seen = self.seen[rows].astype(np.int64)
        seen.flags.writeable = False
        mag = EMPTY if self.mag_s is None else self.mag_s[rows].reshape(-1)
        return seen, gyr_s[rows].reshape(-1), acc_s[rows].reshape(-1), mag, self._extra(rows), self.dt[rows]

    def _extra(self, rows: slice) -> Array:
        """Wheel travel, fixes and heights of these rows; empty where there are none."""
        if not np.bitwise_or.reduce(self.seen[rows]) & FURTHER:
            return EMPTY
        r = self.recording
        extra = np.zeros((rows.stop - rows.start, at.EXTRA))
        if self.travels:
            assert r.odometer is not None
            before = r.odometer[max(rows.start - 1, 0)]
            extra[:, at.X_TRAVEL] = np.diff(r.odometer[rows], prepend=before)
        for fixes, bit, place in (
            (r.position_fix, at.SEEN_FIX, at.X_FIX),
            (r.velocity_fix, at.SEEN_VELOCITY, at.X_VELOCITY),
        ):
            if fixes is not None:
                new = self.seen[rows] & bit != 0
                extra[new, place : place + at.AGE_OF_FIX + 1] = _fix_numbers(fixes, r.t, rows)[new]
        if r.height is not None:
            new = self.seen[rows] & at.SEEN_HEIGHT != 0
            extra[new, at.X_HEIGHT] = r.height.height_m[rows][new]
            extra[new, at.X_HEIGHT_SIGMA] = r.height.sigma_m[rows][new]
        flat = extra.reshape(-1)
        flat.flags.writeable = False
        return flat


def _fix_numbers(fixes: Fixes, t: Array, rows: slice) -> Array:
    return np.column_stack([fixes.value_n[rows], fixes.sigma_n[rows], t[rows] - fixes.t_s[rows]])


def rows_of(recording: Recording, *, needs_stops: bool, needs_travel: bool, needs_mag: bool) -> Rows:
    if recording.gyr_s is None or recording.acc_s is None:
        missing = "gyroscope" if recording.gyr_s is None else "accelerometer"
        raise InputError(f"the recording has no {missing}; navigation needs gyroscope and accelerometer")
    if needs_stops and recording.stop is None:
        raise InputError(
            "the recording has no stop column; set it from a stop detector, replace(recording, stop=...), or use a "
            "filter without zero velocity"
        )
    if needs_mag and recording.mag_s is None:
        raise InputError("the recording has no magnetometer for the magnetic heading; run the filter without it")
    if needs_travel and recording.odometer is None:
        raise InputError("the recording has no odometer for the wheel's travel; run the filter without it")
    _refuse_zero_sigma(recording)
    seen = np.zeros(len(recording), dtype=np.int16)
    if recording.stop is not None:
        seen[recording.stop] = at.SEEN_STOP
    if needs_travel:
        seen |= at.SEEN_ODOMETER  # between two readings of it the wheel has not moved on by a count
    for name, bit, used in (
        ("mag_s", at.SEEN_MAG, needs_mag),
        ("position_fix", at.SEEN_FIX, True),
        ("velocity_fix", at.SEEN_VELOCITY, True),
        ("height", at.SEEN_HEIGHT, True),
    ):
        if used and getattr(recording, name) is not None:
            seen[recording.new.get(name, slice(None))] |= bit
    dt = np.diff(recording.t, prepend=recording.t[0])
    for array in (seen, dt):
        array.flags.writeable = False
    return Rows(recording, seen, dt, recording.mag_s if needs_mag else None, needs_travel)


def _refuse_fix(sample: Sample, fix: Fix | Height) -> InputError:
    need = "a standard deviation" if isinstance(fix, Height) else "vectors of three numbers, with standard deviations"
    return InputError(f"the live sample at t = {sample.t!r} s brings {fix}; give {need} above 0")


def _refuse_zero_sigma(recording: Recording) -> None:
    """Refuse a measurement without error, which has no weight."""
    for name in ("position_fix", "velocity_fix", "height"):
        part: Fixes | Heights | None = getattr(recording, name)
        if part is None:
            continue
        sigma = part.sigma_n.min(axis=1) if isinstance(part, Fixes) else part.sigma_m
        zero = (sigma <= 0.0) & recording.new.get(name, True)
        if zero.any():
            i = int(np.argmax(zero))
            raise InputError(
                f"{name} has a standard deviation of {sigma[i]:g} at sample {i} (t = {recording.t[i]:.6g} s); give one "
                "above 0"
            )


def further_of(sample: Sample, travels: bool) -> tuple[int, Array]:
    """Bits and numbers of the further values in one sample."""
    seen, extra = 0, np.zeros(at.EXTRA)
    if travels:
        seen |= at.SEEN_ODOMETER
        extra[at.X_TRAVEL] = 0.0 if sample.travel_m is None else sample.travel_m
    for fix, bit, place in (
        (sample.position_fix, at.SEEN_FIX, at.X_FIX),
        (sample.velocity_fix, at.SEEN_VELOCITY, at.X_VELOCITY),
    ):
        if fix is not None:
            if fix.value_n.shape != (3,) or fix.sigma_n.shape != (3,) or not min(fix.sigma_n.tolist()) > 0.0:
                raise _refuse_fix(sample, fix)
            seen |= bit
            extra[place : place + 3] = fix.value_n
            extra[place + at.SIGMA_OF_FIX : place + at.AGE_OF_FIX] = fix.sigma_n
            extra[place + at.AGE_OF_FIX] = sample.t - fix.t_s
    if sample.height is not None:
        if not sample.height.sigma_m > 0.0:
            raise _refuse_fix(sample, sample.height)
        seen |= at.SEEN_HEIGHT
        extra[at.X_HEIGHT], extra[at.X_HEIGHT_SIGMA] = sample.height
    extra.flags.writeable = False
    return seen, extra
