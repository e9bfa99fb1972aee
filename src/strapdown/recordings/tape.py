"""A recording that grows: one thread adds samples at its end while others read.

Readers get recordings that are views of the tape's memory, locked and never written again: no copy, whatever their
length. Memory is bounded: at least the last `capacity` samples are kept, in blocks of twice as many. When a block is
full its newer half begins the next one. Rows are copied there a few at a time, so that no `put` takes long.
"""

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strapdown.errors import InputError
from strapdown.recordings.tape_checks import OTHERS, refused, rows_of_others
from strapdown.sample import Fixes, Heights, Sample
from strapdown.types import SLOW, Recording

_Columns = dict[str, NDArray[Any]]
_PIECE = 256  # rows that are copied to the next block at a time: a few us
_FLAGS = ("stop", "clipped")
_isfinite, _inf = math.isfinite, math.inf


class Tape:
    """Samples of one source.

    capacity: number of samples that are kept at least.
    odometer_m: reading before the first sample.

    An instrument without a reading in a sample keeps its last row, with a `new` flag that is false. Before its first
    reading the row is zero (of an odometer: odometer_m). The flag clipped is there from the first clipped sample on.
    meta goes into every recording.

    One thread puts. Readers in other threads get whole samples: columns and count are one tuple, which is replaced
    after the row is written. A sample that is refused does not change the tape.
    """

    def __init__(self, capacity: int, *, meta: Mapping[str, Any] | None = None, odometer_m: float = 0.0) -> None:
        if isinstance(capacity, bool) or not isinstance(capacity, int) or capacity < 1:
            raise InputError(f"capacity is {capacity!r}; give the number of samples to keep, 1 or more")
        self.capacity = capacity
        self._meta = dict(meta or {})
        self._travel = float(odometer_m)
        self._others = False  # columns besides those of gyroscope, accelerometer and magnetometer
        self._next: _Columns = {}  # the block that follows, and how many of its rows are filled
        self._copied = 0
        columns = {name: self._empty(width) for name, width in (("t", 0), ("gyr_s", 3), ("acc_s", 3))}
        self._now: tuple[_Columns, int, int, float] = (columns, 0, 0, -math.inf)  # and samples dropped, last time

    def __len__(self) -> int:
        return self._now[1]

    @property
    def dropped(self) -> int:
        """Number of samples that are no longer stored."""
        return self._now[2]

    @property
    def nbytes(self) -> int:
        """Memory of the block and of the next one; readers of dropped samples may hold as much again."""
        return sum(column.nbytes for block in (self._now[0], self._next) for column in block.values())

    def put(self, sample: Sample) -> None:
        """Add the next sample; its time must be later than the last one's."""
        columns, i, dropped, last_t = self._now
        try:
            t, _, gyr_s, acc_s, mag_s, temperature, tilt_s, stop, travel_m, position, velocity, height, clipped = sample
            gx, gy, gz = gyr_s.tolist()
            ax, ay, az = acc_s.tolist()
            total = gx + gy + gz + ax + ay + az
            if mag_s is not None:
                mx, my, mz = mag_s.tolist()
                total += mx + my + mz
            fits = last_t < t < _inf and _isfinite(total)
        except (TypeError, ValueError, AttributeError):
            fits = False
        if not fits or not isinstance(sample, Sample):
            raise refused(sample, last_t)
        others: dict[str, Any] = {}
        if self._others or not (
            temperature is None and tilt_s is None and stop is None and travel_m is None and height is None
            and position is None and velocity is None and not clipped
        ):  # fmt: skip
            others = rows_of_others(sample, self._travel)
        # everything is checked: from here on nothing fails
        if i >= self.capacity:
            columns, i, dropped = self._turned(columns, i, dropped)
        if mag_s is not None and "mag_s" not in columns:
            columns = self._with(columns, "mag_s", 3, i)
        columns["t"][i] = t
        columns["gyr_s"][i] = gyr_s
        columns["acc_s"][i] = acc_s
        if mag_s is not None:
            columns["mag_s"][i] = mag_s
            columns["new mag_s"][i] = True
        elif i and "mag_s" in columns:
            columns["mag_s"][i] = columns["mag_s"][i - 1]
        if others:
            columns = self._put_others(columns, i, others)
        self._now = columns, i + 1, dropped, t  # last, for readers in other threads

    def recording(self) -> Recording:
        """All samples that are kept."""
        columns, count, _, _ = self._now
        return self._view(columns, 0, count)

    def tail(self, since_s: float) -> Recording:
        """The samples from the time since_s (s) on."""
        columns, count, _, last_t = self._now
        try:
            first = int(columns["t"][:count].searchsorted(float(since_s)))
        except (TypeError, ValueError):
            raise InputError(f"the tail is asked for since {since_s!r}; give a time in s") from None
        if count and first == count:
            raise InputError(f"no sample is later than {since_s:.9g} s; the tape ends at {last_t:.9g} s")
        return self._view(columns, first, count)

    def _empty(self, width: int, kind: type = np.float64) -> NDArray[Any]:
        return np.zeros((2 * self.capacity, width) if width else 2 * self.capacity, dtype=kind)

    def _with(self, columns: _Columns, name: str, width: int, i: int) -> _Columns:
        """A new dictionary with a column that begins at row i; readers may still use the old one."""
        more = {name: self._empty(width, np.bool_ if name in _FLAGS else np.float64)}
        if name in SLOW:
            more[f"new {name}"] = self._empty(0, np.bool_)
        if name == "odometer":
            more[name][:i] = self._travel
        return {**columns, **more}

    def _put_others(self, columns: _Columns, i: int, others: Mapping[str, Any]) -> _Columns:
        for name, row in others.items():
            if name == "clipped" and not row and name not in columns:
                continue
            if row is not None and name not in columns:
                columns = self._with(columns, name, OTHERS[name], i)
                self._others = True
            if row is not None:
                columns[name][i] = row
                if name in SLOW:
                    columns[f"new {name}"][i] = True
            elif i and name in columns:
                columns[name][i] = columns[name][i - 1]
        if others["odometer"] is not None:
            self._travel = others["odometer"]
        return columns

    def _turned(self, columns: _Columns, count: int, dropped: int) -> tuple[_Columns, int, int]:
        """Copy rows to the next block, which begins with them; it is used when the present one is full."""
        full = count == 2 * self.capacity
        done = self._copied
        if full or count - self.capacity - done >= _PIECE:
            following = dict(self._next)
            for name, column in columns.items():
                if name not in following:
                    following[name] = np.zeros_like(column)
                    following[name][:done] = column[self.capacity : self.capacity + done]
                following[name][done : count - self.capacity] = column[self.capacity + done : count]
            self._next, self._copied = following, count - self.capacity
        if not full:
            return columns, count, dropped
        fresh, self._next, self._copied = self._next, {}, 0
        return fresh, self.capacity, dropped + self.capacity

    def _view(self, columns: _Columns, first: int, count: int) -> Recording:
        if not count:
            raise InputError("the tape has no sample yet; put one first")
        parts: dict[str, Any] = {}
        new: dict[str, Any] = {}
        for name, column in columns.items():
            view = column[first:count]
            view.flags.writeable = False
            if name.startswith("new "):
                new[name[4:]] = view
            else:
                parts[name] = view
        for name in ("position_fix", "velocity_fix"):
            if name in parts:
                fix = parts[name]
                parts[name] = _unchecked(Fixes, {"value_n": fix[:, :3], "sigma_n": fix[:, 3:6], "t_s": fix[:, 6]})
        if "height" in parts:
            height = parts["height"]
            parts["height"] = _unchecked(Heights, {"height_m": height[:, 0], "sigma_m": height[:, 1]})
        return _unchecked(
            Recording, {**_ABSENT, **parts, "meta": MappingProxyType(self._meta), "new": MappingProxyType(new)}
        )


_ABSENT = dict.fromkeys(Recording.__dataclass_fields__)


def _unchecked(kind: type, values: Mapping[str, Any]) -> Any:
    """A frozen type of these values without checks: its constructor would copy views, and all values are already
    checked.
    """
    made: Any = object.__new__(kind)
    made.__dict__.update(values)
    return made
