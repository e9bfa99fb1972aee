"""Recordings as one long table, slice by slice: the part that writing CSV and Parquet shares; and their meta as JSON.

The rows of a sensor are together. A column that one sensor has and another lacks is null (an empty cell) in all rows of
the other.
"""

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from strapdown.errors import InputError
from strapdown.io.columns import COLUMNS, FLAGS, Column
from strapdown.types import Recording

FORMAT_VERSION = "1"
SLICE_ROWS = 1 << 18  # written at a time: some ten megabytes of columns, and a row group of Parquet
PLAIN_VALUES = "use plain values (text, finite numbers, true, false, None, lists and dicts of them)"


def slices(n: int) -> Iterator[slice]:
    """All of n rows, SLICE_ROWS at a time."""
    for begin in range(0, n, SLICE_ROWS):
        yield slice(begin, min(begin + SLICE_ROWS, n))


class Table:
    """Recordings as rows; only columns that at least one sensor has.

    flag_type: type in which true and false are written.
    """

    def __init__(self, recordings: Mapping[str, Recording], flag_type: pa.DataType) -> None:
        if not recordings:
            raise InputError("there is no recording to write; give at least one")
        for name in recordings:
            if not isinstance(name, str) or not name or not name.isprintable():
                raise InputError(f"sensor name {name!r} cannot be written; use one line of printable text")
        self.meta = meta_to_json(recordings)
        self._recordings = recordings
        self._columns = [
            column for column in COLUMNS if any(_has(recording, column) for recording in recordings.values())
        ]
        types = {"sensor": pa.string(), **dict.fromkeys(FLAGS, flag_type)}
        fields = []
        for column in self._columns:
            notes = {"unit": column.unit, "frame": column.frame}
            kind = types.get(column.name, pa.float64())
            fields.append(pa.field(column.header, kind, metadata={k: v for k, v in notes.items() if v}))
        self.schema = pa.schema(fields, metadata={"strapdown": FORMAT_VERSION, "strapdown_meta": self.meta})

    def parts(self) -> Iterator[pa.Table]:
        """One row per sample, some of them at a time."""
        for name, recording in self._recordings.items():
            for rows in slices(len(recording)):
                cells = [
                    _cells(name, recording, column, rows, field.type)
                    for column, field in zip(self._columns, self.schema, strict=True)
                ]
                yield pa.table(cells, schema=self.schema)


def _values(recording: Recording, column: Column) -> Any:
    value: Any = recording
    for part in column.field.split("."):
        value = value.get(part) if isinstance(value, Mapping) else getattr(value, part)
        if value is None:
            return None
    return value


def _has(recording: Recording, column: Column) -> bool:
    return column.name == "sensor" or _values(recording, column) is not None


def _cells(name: str, recording: Recording, column: Column, rows: slice, kind: pa.DataType) -> pa.Array:
    """The values of one column for one sensor, null where it has none."""
    n = rows.stop - rows.start
    if column.name == "sensor":
        return pa.repeat(pa.scalar(name, kind), n)
    values = _values(recording, column)
    if values is None:
        return pa.nulls(n, kind)
    cells = values[rows] if column.axis is None else np.ascontiguousarray(values[rows, column.axis])
    return pa.array(cells.astype(np.int8) if kind == pa.int8() else cells, kind)


def meta_to_json(recordings: Mapping[str, Recording]) -> str:
    """One line of JSON: sensor -> its meta."""

    for name, recording in recordings.items():
        for key, value in recording.meta.items():
            try:
                json.dumps({key: value}, default=plain_value, allow_nan=False)
            except (TypeError, ValueError, RecursionError) as e:
                raise InputError(f"meta {key!r} of sensor {name} cannot be written: {e}; {PLAIN_VALUES}") from None
    return json.dumps({name: dict(r.meta) for name, r in recordings.items()}, default=plain_value, allow_nan=False)


def plain_value(value: Any) -> Any:
    """Conversion for json.dumps: arrays and read-only mappings as JSON has them."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not a JSON value")


def meta_from_json(text: str, place: str) -> dict[str, dict[str, Any]]:
    try:
        meta = finite_json(text)
    except (ValueError, RecursionError) as e:
        raise InputError(f"{place} has meta that is not JSON: {e}; correct it or delete it") from None
    if not isinstance(meta, dict) or not all(isinstance(value, dict) for value in meta.values()):
        raise InputError(f'{place} has meta that is not of the form {{"sensor": {{...}}}}; correct it or delete it')
    return meta


def finite_json(text: str) -> Any:
    """JSON whose numbers are finite doubles or whole numbers of at most 64 bits; ValueError where it is not."""

    def number(word: str) -> float:
        value = float(word)
        if not math.isfinite(value):
            raise ValueError(f"{word[:20]} is not a finite number")
        return value

    def whole(word: str) -> int | float:
        return int(word) if len(word) < 19 else number(word)

    return json.loads(text, parse_constant=number, parse_float=number, parse_int=whole)


def check_version(version: str, place: str) -> None:
    if version != FORMAT_VERSION:
        raise InputError(
            f"{place} is of format version {version[:20]!r}, this program reads version {FORMAT_VERSION}; "
            "update strapdown"
        )
