"""Recordings as one long table and back: the part that CSV and Parquet share.

The rows of a sensor stand together. A column that one sensor has and another lacks is null (an empty cell) in
all rows of the other: missing is None, and neither zero nor NaN.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from strapdown.errors import InputError
from strapdown.io.columns import COLUMNS, FLAGS, ROW_NUMBER, Column, Source
from strapdown.types import Increments, Motion, Recording

FORMAT_VERSION = "1"


def table_from_recordings(recordings: Mapping[str, Recording]) -> pa.Table:
    """One row per sample; only columns that at least one sensor has."""
    if not recordings:
        raise InputError("there is no recording to write; give at least one")
    for name in recordings:
        if not isinstance(name, str) or not name or not name.isprintable():
            raise InputError(f"sensor name {name!r} cannot be written; use one line of printable text")
    fields, arrays = [], []
    for column in COLUMNS:
        parts = [_cells(name, recording, column) for name, recording in recordings.items()]
        if any(part is not None for part in parts):
            kind = _arrow_type(column)
            whole = [
                pa.nulls(len(recording), kind) if part is None else pa.array(part, kind)
                for part, recording in zip(parts, recordings.values(), strict=True)
            ]
            arrays.append(pa.concat_arrays(whole))
            notes = {"unit": column.unit, "frame": column.frame}
            fields.append(pa.field(column.header, kind, metadata={k: v for k, v in notes.items() if v}))
    meta = {"strapdown": FORMAT_VERSION, "strapdown_meta": meta_to_json(recordings)}
    return pa.table(arrays, schema=pa.schema(fields, metadata=meta))


def _arrow_type(column: Column) -> pa.DataType:
    if column.name in FLAGS:
        return pa.bool_()
    return pa.string() if column.name == "sensor" else pa.float64()


def _cells(name: str, recording: Recording, column: Column) -> Any:
    """The values of one column for one sensor, or None where it has none."""
    if column.name == "sensor":
        return [name] * len(recording)
    value: Any = recording
    for part in column.field.split("."):
        value = getattr(value, part)
        if value is None:
            return None
    return value if column.axis is None else np.ascontiguousarray(value[:, column.axis])


def with_row_numbers(
    found: Sequence[Source], read: Sequence[tuple[Source, pa.ChunkedArray]]
) -> list[tuple[Source, pa.ChunkedArray]]:
    """The columns read from a file, with the time of a log that has none: its row numbers."""
    made = [source for source in found if source.index == ROW_NUMBER]
    n = len(read[0][1]) if read else 0
    return [*((source, pa.chunked_array([np.arange(n, dtype=np.float64)])) for source in made), *read]


def recordings_from_table(
    columns: Sequence[tuple[Source, pa.ChunkedArray]],
    meta: Mapping[str, Mapping[str, Any]],
    place: str,
    row_place: Callable[[int], str],
    lone_name: str,
) -> dict[str, Recording]:
    """Split a long table by sensor.

    place names the file, row_place(i) the line of row i, lone_name the sensor of a file that names none.
    """
    # Empty cells are looked for in a mask of their own: to numpy they would be NaN, which is something else.
    cells = {source.column.name: _numbers(source, array) for source, array in columns if source.column.name != "sensor"}
    rows_of = _rows_by_sensor(
        next((a for s, a in columns if s.column.name == "sensor"), None), len(cells["t"][0]), lone_name
    )
    if None in rows_of:
        raise InputError(f"{row_place(int(rows_of[None][0]))} has no sensor name; fill the column sensor")
    read: dict[str, Recording] = {}
    for name, rows in rows_of.items():
        assert name is not None
        block = {}
        for column, (values, empty) in cells.items():
            if not empty[rows].any():
                block[column] = values[rows]
            elif not empty[rows].all():
                at = row_place(int(rows[np.argmax(empty[rows])]))
                raise InputError(
                    f"{at}: {column} is empty, but sensor {name} has it in other rows; "
                    "fill the cell, drop the row, or empty the whole column of this sensor"
                )
        _check_finite(name, block, rows, row_place)
        try:
            read[name] = _recording(block, meta.get(name, {}))
        except InputError as e:
            raise InputError(f"{place}, sensor {name}: {e}") from None
    return read


def _numbers(source: Source, array: pa.ChunkedArray) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Values in our unit, and where the cells are empty."""
    empty = array.is_null().to_numpy(zero_copy_only=False)
    values = array.fill_null(False if source.column.name in FLAGS else 0.0).to_numpy(zero_copy_only=False)
    if source.unit is not None:
        with np.errstate(over="ignore"):  # becomes inf, which is told with its line later
            values = source.unit.convert(values)
    return values, empty


def _rows_by_sensor(sensor: pa.ChunkedArray | None, n: int, lone_name: str) -> dict[str | None, NDArray[np.int64]]:
    """Row numbers of each sensor, sensors in the order in which they appear; None is an empty name."""
    if sensor is None:
        return {lone_name: np.arange(n)}
    codes = sensor.combine_chunks().dictionary_encode(null_encoding="encode")
    code = codes.indices.to_numpy(zero_copy_only=False)
    order = np.argsort(code, kind="stable")
    blocks = np.split(order, np.flatnonzero(np.diff(code[order])) + 1)
    names = codes.dictionary.to_pylist()
    return {names[code[rows[0]]] or None: rows for rows in blocks}


def _check_finite(
    name: str, block: Mapping[str, Any], rows: NDArray[np.int64], row_place: Callable[[int], str]
) -> None:
    for column, values in block.items():
        bad = ~np.isfinite(values)
        if bad.any():
            i = int(np.argmax(bad))
            when = f" (t = {block['t'][i]:.6g} s)" if "t" in block and np.isfinite(block["t"][i]) else ""
            raise InputError(
                f"{row_place(int(rows[i]))}: {column} of sensor {name} is not finite at sample {i}{when}, "
                f"{int(bad.sum())} of {len(bad)} samples; drop or fill these samples first"
            )


def _recording(block: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]) -> Recording:
    """One sensor's columns put together; the types check the rest."""
    parts: dict[str, dict[str, Any]] = {"": {}, "increments": {}, "truth": {}}
    for field in dict.fromkeys(column.field for column in COLUMNS if column.name != "sensor"):
        members = [column for column in COLUMNS if column.field == field]
        have = [column.name for column in members if column.name in block]
        if have and len(have) < len(members):
            lack = ", ".join(column.name for column in members if column.name not in block)
            raise InputError(f"{lack} empty but {have[0]} is not; fill them, or empty all of them")
        if have:
            owner, _, attribute = field.rpartition(".")
            lone = members[0].axis is None
            parts[owner][attribute] = block[have[0]] if lone else np.stack([block[name] for name in have], axis=-1)
    own = parts[""]
    if "t" not in own:
        raise InputError("t is empty; every row needs its time")
    for owner, kind, count in (("increments", Increments, 3), ("truth", Motion, 6)):
        if parts[owner]:
            if len(parts[owner]) < count:
                raise InputError(f"only a part of {owner} is filled; fill all its columns, or empty all of them")
            own[owner] = kind(t=own["t"], **parts[owner])
    return Recording(**own, meta=meta)


def meta_to_json(recordings: Mapping[str, Recording]) -> str:
    """One line of JSON: sensor -> its meta."""

    def plain(value: Any) -> Any:
        if isinstance(value, np.generic | np.ndarray):
            return value.tolist()
        if isinstance(value, Mapping):
            return dict(value)
        raise TypeError(f"{type(value).__name__} is not a JSON value")

    for name, recording in recordings.items():
        for key, value in recording.meta.items():
            try:
                json.dumps({key: value}, default=plain, allow_nan=False)
            except (TypeError, ValueError, RecursionError) as e:
                raise InputError(
                    f"meta {key!r} of sensor {name} cannot be written: {e}; "
                    "use plain values (text, finite numbers, true, false, None, lists and dicts of them)"
                ) from None
    return json.dumps({name: dict(r.meta) for name, r in recordings.items()}, default=plain, allow_nan=False)


def meta_from_json(text: str, place: str) -> dict[str, dict[str, Any]]:
    def no_constant(word: str) -> Any:
        raise ValueError(f"{word} is not a JSON number")

    try:
        meta = json.loads(text, parse_constant=no_constant)
    except (ValueError, RecursionError) as e:
        raise InputError(f"{place} has meta that is not JSON: {e}; mend it or delete it") from None
    if not isinstance(meta, dict) or not all(isinstance(value, dict) for value in meta.values()):
        raise InputError(f'{place} has meta that is not of the form {{"sensor": {{...}}}}; mend it or delete it')
    return meta


def check_version(version: str, place: str) -> None:
    if version != FORMAT_VERSION:
        raise InputError(
            f"{place} is of format version {version[:20]!r}, this program reads version {FORMAT_VERSION}; "
            "update strapdown"
        )
