"""What the error-state filter reads of a recording: checked once, told to the kernel as rows."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strapdown.arrays import locked_flags
from strapdown.errors import InputError
from strapdown.kernels.navigation.eskf import layout as at
from strapdown.navigation.eskf.updates import Heights, PositionFixes
from strapdown.recordings.faults import new_readings as new_readings
from strapdown.types import Array, Recording

NOTHING = np.empty(0)  # no tape
NO_ROWS = np.empty((0, 3))
NO_ROWS.flags.writeable = False
_NO_EXTRA = np.empty((0, at.EXTRA))
_NO_EXTRA.flags.writeable = False


@dataclass(frozen=True, eq=False)
class Rows:
    """t: all times of the recording; the others begin at row `first` of it, where the filter starts.

    seen: bits (kernels/eskf_layout.py) of what a row brings. dt[0] is 0. mag: no rows where nobody asked. odometer: its
    readings from the row before `first` on, None where it is not used. given: (row, numbers) of the rows that bring a
    fix or a height. means: readings are means over the step before.
    """

    t: Array
    first: int
    seen: NDArray[np.int16]
    dt: Array
    gyr: Array
    acc: Array
    mag: Array
    odometer: Array | None
    given: tuple[NDArray[np.int64], Array]
    means: bool

    def part(self, rows: slice) -> tuple[NDArray[np.int64], Array, Array, Array, Array, Array]:
        """seen, gyr, acc, mag, extra, dt of these rows, as the kernel has them: wide, so for some rows at a time."""
        seen = self.seen[rows].astype(np.int64)
        seen.flags.writeable = False
        return (
            seen,
            self.gyr[rows],
            self.acc[rows],
            self.mag[rows] if len(self.mag) else self.mag,
            self._extra(rows),
            self.dt[rows],
        )

    def _extra(self, rows: slice) -> Array:
        """Wheel travel, fixes and heights of these rows; no rows where nobody asked."""
        at_rows, numbers = self.given
        if self.odometer is None and not len(at_rows):
            return _NO_EXTRA
        extra = np.zeros((rows.stop - rows.start, at.EXTRA))
        here = slice(*np.searchsorted(at_rows, (rows.start, rows.stop)))
        extra[at_rows[here] - rows.start] = numbers[here]
        if self.odometer is not None:
            extra[:, at.X_TRAVEL] = np.diff(self.odometer[rows.start : rows.stop + 1])
        extra.flags.writeable = False
        return extra


def rows_of(
    recording: Recording,
    *,
    first: int,
    stopped: ArrayLike | None,
    needs_stops: bool,
    needs_travel: bool,
    needs_mag: bool,
    fixes: PositionFixes | None,
    heights: Heights | None,
) -> Rows:
    """The rows from `first` on."""
    if recording.gyr_s is None or recording.acc_s is None:
        missing = "gyroscope" if recording.gyr_s is None else "accelerometer"
        raise InputError(f"the recording has no {missing}; navigation needs gyroscope and accelerometer")
    t = recording.t
    n = len(t)
    if first >= n:
        raise InputError(f"the alignment took {first + 1} samples and the recording has {n}; align on fewer")
    seen = np.zeros(n, dtype=np.int16)
    seen[_stops(recording, stopped, needs_stops)] = at.SEEN_STOP
    mag = NO_ROWS
    if needs_mag:
        if recording.mag_s is None:
            raise InputError("the recording has no magnetometer for the magnetic heading; run the filter without it")
        mag = recording.mag_s
        seen[new_readings(recording)] |= at.SEEN_MAG
    odometer = None
    if needs_travel:
        if recording.odometer is None:
            raise InputError("the recording has no odometer for the wheel's travel; run the filter without it")
        seen[1:] |= at.SEEN_ODOMETER
        # a travel belongs to the step before its row, and the very first row has none
        odometer = recording.odometer[first - 1 :] if first else np.insert(recording.odometer, 0, recording.odometer[0])
    given = np.zeros((0, at.EXTRA))
    given_rows = np.empty(0, dtype=np.int64)
    if fixes is not None or heights is not None:
        given_rows, given = _given(t, first, seen, fixes, heights)
    dt = np.diff(t[first:], prepend=t[first])
    for array in (seen, dt):
        array.flags.writeable = False
    return Rows(
        t,
        first,
        seen[first:],
        dt,
        recording.gyr_s[first:],
        recording.acc_s[first:],
        mag[first:] if len(mag) else mag,
        odometer,
        (given_rows, given),
        "mean" in str(recording.meta.get("gyroscope_stamp", "")),
    )


def _given(
    t: Array, first: int, seen: NDArray[np.int16], fixes: PositionFixes | None, heights: Heights | None
) -> tuple[NDArray[np.int64], Array]:
    """Rows after `first` with a fix or a height, and their numbers; seen gets their bits."""
    nothing = np.empty(0, dtype=np.int64)
    fix_rows, fix_kept = (nothing,) * 2 if fixes is None else _joined(t, np.asarray(fixes.t), first, "position fix")
    height_rows, height_kept = (nothing,) * 2 if heights is None else _joined(t, np.asarray(heights.t), first, "height")
    rows = np.union1d(fix_rows, height_rows)
    numbers = np.zeros((len(rows), at.EXTRA))
    if fixes is not None:
        here = np.searchsorted(rows, fix_rows)
        numbers[here, at.X_FIX : at.X_FIX + 3] = np.asarray(fixes.p_n)[fix_kept]
        numbers[here, at.X_FIX_SIGMA] = np.asarray(fixes.sigma_m)[fix_kept]
        seen[fix_rows] |= at.SEEN_FIX
    if heights is not None:
        here = np.searchsorted(rows, height_rows)
        numbers[here, at.X_HEIGHT] = np.asarray(heights.height_m)[height_kept]
        numbers[here, at.X_HEIGHT_SIGMA] = np.asarray(heights.sigma_m)[height_kept]
        seen[height_rows] |= at.SEEN_HEIGHT
    return rows - first, numbers


def seen_with(
    seen: int, travel_m: float | None, fix: tuple[ArrayLike, float] | None, height: tuple[float, float] | None
) -> tuple[int, Array]:
    """Bits and numbers of what one sample brings besides."""
    extra = np.zeros(at.EXTRA)
    if travel_m is not None:
        seen |= at.SEEN_ODOMETER
        extra[at.X_TRAVEL] = travel_m
    if fix is not None:
        seen |= at.SEEN_FIX
        extra[at.X_FIX : at.X_FIX + 3], extra[at.X_FIX_SIGMA] = fix
    if height is not None:
        seen |= at.SEEN_HEIGHT
        extra[at.X_HEIGHT], extra[at.X_HEIGHT_SIGMA] = height
    extra.flags.writeable = False
    return seen, extra


def _stops(recording: Recording, stopped: ArrayLike | None, needed: bool) -> NDArray[np.bool_]:
    if stopped is not None:
        return locked_flags(stopped, len(recording), "stopped", recording.t)
    if recording.stop is not None:
        return recording.stop
    if needed:
        raise InputError(
            "the recording has no stop column; give stopped= from a stop detector, or a filter without zero velocity"
        )
    return np.zeros(len(recording), dtype=bool)


def _joined(t: Array, own: Array, first: int, what: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Each joins the first row that is not earlier; of several on one row the last counts."""
    row = np.searchsorted(t, own)
    kept = np.flatnonzero((row < len(t)) & (row >= first) & (own >= t[0]))
    if len(kept) == 0:
        raise InputError(f"no {what} lies within the times that the filter runs; check the clocks")
    last = np.append(np.diff(row[kept]) > 0, True)
    return row[kept][last], kept[last]
