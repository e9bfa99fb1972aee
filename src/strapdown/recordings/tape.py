"""A recording that grows: samples are put at its end while others read what is there.

Readers get recordings that are views of the tape's memory, locked and never written again: no copy, whatever their
length. Memory is bounded: at least the last `capacity` samples are kept, and older ones are dropped in one go when
twice as many are there.
"""

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strapdown.errors import InputError
from strapdown.sample import Fix, Fixes, Heights, Sample
from strapdown.types import Recording

_VECTORS = {"mag_s": 3, "tilt_s": 2}
_FIX = 7  # value, sigma, time
_HEIGHT = 2


class Tape:
    """Samples of one source. capacity: samples that are kept at least. odometer_m: reading before the first sample.

    An instrument without a reading in a sample keeps its last row, with a `new` flag that is false; before its first
    reading the row is zero. The flag clipped is there from the first clipped sample on. meta goes into every recording.
    A reader in another thread sees whole samples: the count is raised after the row is written.
    """

    def __init__(self, capacity: int, *, meta: Mapping[str, Any] | None = None, odometer_m: float = 0.0) -> None:
        if isinstance(capacity, bool) or not isinstance(capacity, int) or capacity < 1:
            raise InputError(f"capacity is {capacity!r}; give the number of samples to keep, 1 or more")
        self.capacity = capacity
        self.dropped = 0  # samples that are no longer there
        self._meta = dict(meta or {})
        self._columns: dict[str, NDArray[Any]] = {}
        self._count = 0
        self._travel = float(odometer_m)
        self._last_t = -math.inf
        for name, width in (("t", None), ("gyr_s", 3), ("acc_s", 3)):
            self._column(name, width)

    def __len__(self) -> int:
        return self._count

    @property
    def nbytes(self) -> int:
        """Memory of the columns; readers of dropped samples may hold as much again."""
        return sum(column.nbytes for column in self._columns.values())

    def put(self, sample: Sample) -> None:
        """The next sample; its time must be later than the last one's."""
        if not self._last_t < sample.t < math.inf:
            raise InputError(f"a sample at {sample.t:.9g} s follows one at {self._last_t:.9g} s; put them in order")
        if self._count == 2 * self.capacity:
            self._drop()
        i = self._count
        self._columns["t"][i] = sample.t
        for name, reading in (("gyr_s", sample.gyr_s), ("acc_s", sample.acc_s)):
            self._put(name, i, reading, 3)
        for name, width in _VECTORS.items():
            self._put_slow(name, i, getattr(sample, name), width)
        for name in ("temperature", "stop"):
            value = getattr(sample, name)
            if value is not None or name in self._columns:
                self._put(name, i, self._kept(name, i) if value is None else value, None)
        if sample.travel_m is not None or "odometer" in self._columns:
            self._travel += sample.travel_m or 0.0
            self._put("odometer", i, self._travel, None)
        for name in ("position_fix", "velocity_fix"):
            fix: Fix | None = getattr(sample, name)
            self._put_slow(name, i, None if fix is None else [*fix.value_n, *fix.sigma_n, fix.t_s], _FIX)
        self._put_slow("height", i, sample.height, _HEIGHT)
        if sample.clipped or "clipped" in self._columns:
            self._put("clipped", i, sample.clipped, None)
        self._last_t = sample.t
        self._count = i + 1  # last, for readers in other threads

    def recording(self) -> Recording:
        """All samples that are kept."""
        return self._view(0)

    def tail(self, since_s: float) -> Recording:
        """The samples from the time since_s (s) on."""
        first = int(np.searchsorted(self._columns["t"][: self._count], since_s))
        if first == self._count:
            raise InputError(f"no sample is later than {since_s:.9g} s; the tape ends at {self._last_t:.9g} s")
        return self._view(first)

    def _column(self, name: str, width: int | None) -> NDArray[Any]:
        kind = np.bool_ if name in ("stop", "clipped") or name.startswith("new ") else np.float64
        shape = 2 * self.capacity if width is None else (2 * self.capacity, width)
        column = self._columns[name] = np.zeros(shape, dtype=kind)
        return column

    def _put(self, name: str, i: int, value: Any, width: int | None) -> None:
        column = self._columns[name] if name in self._columns else self._column(name, width)
        try:
            column[i] = value
            whole = bool(np.isfinite(column[i]).all())
        except (TypeError, ValueError):
            whole = False
        if not whole:
            raise InputError(f"{name} of the sample at {self._columns['t'][i]:.9g} s is {value!r}; give finite numbers")

    def _put_slow(self, name: str, i: int, value: Any, width: int) -> None:
        if value is None and name not in self._columns:
            return
        self._put(name, i, self._kept(name, i) if value is None else value, width)
        self._put(f"new {name}", i, value is not None, None)

    def _kept(self, name: str, i: int) -> Any:
        return self._columns[name][i - 1] if i else 0.0

    def _drop(self) -> None:
        """A new memory with the last `capacity` samples; readers keep the old one."""
        old, kept = self._columns, self.capacity
        fresh: dict[str, NDArray[Any]] = {}
        for name, column in old.items():
            fresh[name] = np.zeros_like(column)
            fresh[name][:kept] = column[self._count - kept : self._count]
        self._columns, self._count = fresh, kept
        self.dropped += kept

    def _view(self, first: int) -> Recording:
        columns, rows = self._columns, slice(first, self._count)
        if not self._count:
            raise InputError("the tape has no sample yet; put one first")

        def locked(name: str) -> Any:
            view = columns[name][rows]
            view.flags.writeable = False
            return view

        parts: dict[str, Any] = {name: locked(name) for name in columns if not name.startswith("new ")}
        for name in ("position_fix", "velocity_fix"):
            if name in parts:
                fix = parts[name]
                parts[name] = _unchecked(Fixes, value_n=fix[:, :3], sigma_n=fix[:, 3:6], t_s=fix[:, 6])
        if "height" in parts:
            height = parts["height"]
            parts["height"] = _unchecked(Heights, height_m=height[:, 0], sigma_m=height[:, 1])
        new = {name.removeprefix("new "): locked(name) for name in columns if name.startswith("new ")}
        new = {name: flags for name, flags in new.items() if not flags.all()}
        parts |= {"meta": MappingProxyType(self._meta), "new": MappingProxyType(new)}
        absent = dict.fromkeys(Recording.__dataclass_fields__)
        return _unchecked(Recording, **{**absent, **parts})


def _unchecked(kind: type, **values: Any) -> Any:
    """A frozen type of these values as they are: its constructor would copy what is a view, and all was checked."""
    made: Any = object.__new__(kind)
    for name, value in values.items():
        object.__setattr__(made, name, value)
    return made
