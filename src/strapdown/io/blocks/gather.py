"""Columns of a file, block by block, into the arrays of its recordings: common part of reading CSV and Parquet.

A column that one sensor has and another lacks is null (an empty cell) in all rows of the other. A missing value is
None, and neither zero nor NaN. Faults are remembered by their first row and stated when the file is read.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from strapdown.errors import InputError
from strapdown.io.blocks.growing import Growing
from strapdown.io.blocks.memory import refuse_beyond_memory
from strapdown.io.columns import COLUMNS, FLAGS, NEW
from strapdown.io.foreign.frames import OURS
from strapdown.io.foreign.mended import blanked, mended, refuse_repeated, unrepeated
from strapdown.io.foreign.source import EMPTY, HELD, ROW_NUMBER, Source
from strapdown.sample import Fixes, Heights
from strapdown.types import Increments, Motion, Recording

_WIDTH = {name: sum(c.field == name for c in COLUMNS) for name in dict.fromkeys(c.field for c in COLUMNS)}


# types of several columns, and how many of them besides t
_OWNERS: dict[str, tuple[Any, int]] = {
    "increments": (Increments, 3),
    "truth": (Motion, 6),
    "position_fix": (Fixes, 3),
    "velocity_fix": (Fixes, 3),
    "height": (Heights, 2),
}


@dataclass
class _Column:
    """State of one column of one sensor; rows are those of the file, samples those of the sensor."""

    filled: bool = False
    empty_row: int | None = None
    bad: int = 0
    bad_row: int = 0
    bad_sample: int = 0


@dataclass
class _Sensor:
    samples: int = 0
    blank: dict[str, Growing] = field(default_factory=dict)  # empty cells of columns that may have them
    columns: dict[str, _Column] = field(default_factory=dict)
    fields: dict[str, Growing] = field(default_factory=dict)


@dataclass(frozen=True)
class _Part:
    """Rows of a block that belong to one sensor: its samples from `begin` on. rows is None where all rows do."""

    sensor: _Sensor
    begin: int
    rows: NDArray[np.int64] | None


class Gathered:
    """The recordings of a file while it is read: for each block begin(), then put() each of its columns.

    found: our columns in the file.
    lone_name: the sensor of a file that names none.
    """

    def __init__(self, found: Sequence[Source], lone_name: str, place: str) -> None:
        self.found = found
        self.place = place
        self.rows = 0
        self._lone_name = lone_name
        self._sensors: dict[str, _Sensor] = {}
        self._nameless_row: int | None = None
        self._first = 0
        self._parts: list[_Part] = []

    def begin(self, rows: int, sensor: pa.ChunkedArray | None) -> None:
        """Start the next block, which has this many rows.

        sensor: its names, where the file has such a column.
        """
        self._first, self.rows = self.rows, self.rows + rows
        self._parts = []
        for name, where in _rows_by_sensor(sensor, self._lone_name).items():
            if name is None:
                if self._nameless_row is None:
                    self._nameless_row = self._first + (0 if where is None else int(where[0]))
                continue
            one = self._sensors.setdefault(name, _Sensor())
            self._parts.append(_Part(one, one.samples, where))
            one.samples += rows if where is None else len(where)
        for source in self.found:
            if source.index == ROW_NUMBER:  # the time of a log that has none
                self._put(source, np.arange(self._first, self.rows, dtype=np.float64), None)

    def put(self, source: Source, array: pa.ChunkedArray) -> None:
        """Add one column of the block. Empty cells have a separate mask: numpy would make them NaN, which has another
        meaning.
        """
        if array.null_count == 0:
            self._put(source, array.to_numpy(zero_copy_only=False), None)
            return
        empty = array.is_null().to_numpy(zero_copy_only=False)
        if empty.all():
            self._put(source, None, empty)
            return
        filled = array.fill_null(False if source.column.name in FLAGS else 0.0)
        self._put(source, filled.to_numpy(zero_copy_only=False), empty)

    def _put(self, source: Source, values: NDArray[Any] | None, empty: NDArray[np.bool_] | None) -> None:
        """Put the values of a block into the columns.

        values: None where all are empty.
        empty: None where no cell is empty.
        """
        name, where = source.column.name, source.column.field
        if values is not None and source.unit is not None:
            with np.errstate(over="ignore"):  # becomes inf, which is reported with its line later
                values = source.unit.convert(values)
        for part in self._parts:
            seen = part.sensor.columns.setdefault(name, _Column())
            gaps = empty if empty is None or part.rows is None else empty[part.rows]
            cells = values if values is None or part.rows is None else values[part.rows]
            if source.empty != EMPTY[0]:
                gaps, cells = blanked(gaps, cells)
                if gaps is not None and gaps.any():
                    part.sensor.blank.setdefault(name, Growing(None, np.bool_)).put(part.begin, gaps)
                    if cells is None or gaps.all():
                        continue  # rows that are never put are zero
            elif gaps is not None and gaps.any():
                if seen.empty_row is None:
                    seen.empty_row = self._row(part, int(np.argmax(gaps)))
                if cells is None or gaps.all():
                    continue
            seen.filled = True
            if seen.empty_row is not None or cells is None:
                continue  # filled here and empty there is refused in the end
            self._look(seen, part, cells)
            if where not in part.sensor.fields:
                width = None if source.column.axis is None else _WIDTH[where]
                part.sensor.fields[where] = Growing(width, np.bool_ if name in FLAGS else np.float64)
            part.sensor.fields[where].put(part.begin, cells, source.column.axis)

    @property
    def _frame(self) -> str:
        return next((source.frame for source in self.found if source.frame != OURS), OURS)

    def _blanks(self, sensor: _Sensor) -> dict[str, tuple[str, NDArray[np.bool_]]]:
        """For each column: the meaning of an empty cell, and where they are. Columns that are empty throughout are
        skipped.
        """
        means = {source.column.name: source.empty for source in self.found}
        return {
            name: (means[name], mask.locked(sensor.samples))
            for name, mask in sensor.blank.items()
            if sensor.columns[name].filled
        }

    def _row(self, part: _Part, i: int) -> int:
        return self._first + (i if part.rows is None else int(part.rows[i]))

    def _look(self, seen: _Column, part: _Part, cells: NDArray[Any]) -> None:
        finite = np.isfinite(cells)
        if finite.all():
            return
        if not seen.bad:
            i = int(np.argmin(finite))
            seen.bad_row, seen.bad_sample = self._row(part, i), part.begin + i
        seen.bad += int(len(finite) - np.count_nonzero(finite))

    def refuse_too_long(self, share: float) -> None:
        """Refuse a file that does not fit into memory, by its first block, which is this share of the file."""
        numbers = sum(source.column.name != "sensor" for source in self.found)
        refuse_beyond_memory(
            8.0 * numbers * self.rows / share,
            f"{self.place}, about {self.rows / share:.2g} rows of {numbers} columns,",
            "cut it into parts, or read fewer columns with a mapping",
        )

    def recordings(
        self, meta: Mapping[str, Mapping[str, Any]], row_place: Callable[[int], str]
    ) -> dict[str, Recording]:
        """All sensors, in the order in which they appear. row_place(i) names the line of row i."""
        if self._nameless_row is not None:
            raise InputError(f"{row_place(self._nameless_row)} has no sensor name; fill the column sensor")
        read: dict[str, Recording] = {}
        for name, sensor in self._sensors.items():
            for column, seen in sensor.columns.items():
                if seen.filled and seen.empty_row is not None:
                    ways = '"drop" or "hold"' if column in HELD else '"drop"'
                    raise InputError(
                        f"{row_place(seen.empty_row)}: {column} is empty, but sensor {name} has it in other rows; fill "
                        f"the cell, or give empty = {ways} in a column mapping (docs/io.md)"
                    )
            fields = {where: array.locked(sensor.samples) for where, array in sensor.fields.items()}
            _refuse_not_finite(name, sensor, fields, row_place)
            try:
                fields = mended(fields, self._blanks(sensor), sensor.samples, self._frame)
                if "t" in fields and any(source.spread for source in self.found):
                    fields["t"] = unrepeated(fields["t"])
                elif "t" in fields:
                    refuse_repeated(fields["t"])
                have = {c for c, seen in sensor.columns.items() if seen.filled}
                have |= {f"new_{short}" for short, where in NEW.items() if f"new.{where}" in fields}
                read[name] = _recording(fields, have, meta.get(name, {}))
            except InputError as e:
                raise InputError(f"{self.place}, sensor {name}: {e}") from None
        return read


def _rows_by_sensor(sensor: pa.ChunkedArray | None, lone_name: str) -> dict[str | None, NDArray[np.int64] | None]:
    """Rows of each sensor in a block, in the order in which the sensors appear. Name None: the cell is empty. Rows
    None: all of them."""
    if sensor is None:
        return {lone_name: None}
    codes = sensor.combine_chunks().dictionary_encode(null_encoding="encode")
    names = codes.dictionary.to_pylist()
    if len(names) == 1:
        return {names[0] or None: None}
    code = codes.indices.to_numpy(zero_copy_only=False)
    order = np.argsort(code, kind="stable")
    blocks = np.split(order, np.flatnonzero(np.diff(code[order])) + 1)
    return {names[code[rows[0]]] or None: rows for rows in blocks}


def _refuse_not_finite(
    name: str, sensor: _Sensor, fields: Mapping[str, NDArray[Any]], row_place: Callable[[int], str]
) -> None:
    for column, seen in sensor.columns.items():
        if seen.bad:
            t = fields["t"][seen.bad_sample] if "t" in fields else np.nan
            when = f" (t = {t:.6g} s)" if np.isfinite(t) else ""
            raise InputError(
                f"{row_place(seen.bad_row)}: {column} of sensor {name} is not finite at sample "
                f"{seen.bad_sample}{when}, {seen.bad} of {sensor.samples} samples; drop or fill these samples first"
            )


def _recording(fields: Mapping[str, NDArray[Any]], have: set[str], meta: Mapping[str, Any]) -> Recording:
    """The arrays of one sensor joined, of the columns that it has; the types check the rest."""
    parts: dict[str, dict[str, Any]] = {"": {}, "new": {}, **{owner: {} for owner in _OWNERS}}
    for where in _WIDTH:
        members = [column.name for column in COLUMNS if column.field == where]
        there = [name for name in members if name in have]
        if there and len(there) < len(members):
            lack = ", ".join(name for name in members if name not in have)
            raise InputError(f"{lack} empty but {there[0]} is not; fill them, or empty all of them")
        if there:
            owner, _, attribute = where.rpartition(".")
            parts[owner][attribute] = fields[where]
    own = parts[""]
    if "t" not in own:
        raise InputError("t is empty; every row needs its time")
    for owner, (kind, count) in _OWNERS.items():
        if parts[owner]:
            if len(parts[owner]) < count:
                raise InputError(f"only a part of {owner} is filled; fill all its columns, or empty all of them")
            timed = {"t": own["t"]} if owner in ("increments", "truth") else {}
            own[owner] = kind(**timed, **parts[owner])
    return Recording(**own, new=parts["new"], meta=meta)
