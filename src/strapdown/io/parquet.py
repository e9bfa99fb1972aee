"""Recordings as Parquet: the same columns as in CSV, doubles bit for bit, meta in the schema."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from strapdown.errors import InputError
from strapdown.io.atomic import whole_file
from strapdown.io.blocks.gather import Gathered
from strapdown.io.columns import FLAGS
from strapdown.io.foreign.mapping import ColumnMapping, sources
from strapdown.io.foreign.source import ROW_NUMBER, Source
from strapdown.io.table import Table, check_version, meta_from_json
from strapdown.regular_file import opened
from strapdown.types import Recording

_FREE_BYTES = 1 << 27  # below this the ratio does not matter
_MOST_UNPACKED = 1000  # doubles in memory to bytes of the file: with one column that changes, 40 constant ones give 320


def write_parquet(path: Path, recordings: Mapping[str, Recording]) -> None:
    table = Table(recordings, pa.bool_())
    # measured doubles hardly ever repeat, so only the sensor's name is worth a dictionary
    write_row_groups(path, table.schema, table.parts(), ["sensor"])


def write_row_groups(path: Path, schema: pa.Schema, parts: Iterator[pa.Table], dictionary: list[str] | bool) -> None:
    """Write a row group for each part; checksums let the reader detect a damaged page."""
    with (
        whole_file(path) as tmp,
        pa.parquet.ParquetWriter(tmp, schema, use_dictionary=dictionary, write_page_checksum=True) as writer,
    ):
        for part in parts:
            writer.write_table(part)


def read_parquet(
    path: Path, mapping: ColumnMapping | None = None, done: Callable[[float], None] = lambda part: None
) -> dict[str, Recording]:
    place = str(path)
    with parquet_file(path, "file", "record") as file:
        schema = file.schema_arrow
        found = sources(schema.names, mapping, place)
        notes = schema.metadata or {}
        if b"strapdown" in notes:
            check_version(_text(notes[b"strapdown"]), place)
        meta = meta_from_json(_text(notes.get(b"strapdown_meta", b"{}")), place)
        gathered = Gathered(found, path.name.split(".")[0], place)
        _gather(file, schema, gathered, done)
    if gathered.rows == 0:
        raise InputError(f"{place} has no rows; nothing was recorded")
    return gathered.recordings(meta, lambda row: f"{place}, row {row}")


@contextmanager
def parquet_file(path: Path, kind: str, again: str) -> Iterator[Any]:
    """An open Parquet file.

    kind and again: the expected content, and what to do with a damaged file.
    """
    with opened(path, kind) as raw:
        size = os.fstat(raw.fileno()).st_size
        if not size:
            raise InputError(f"{path} is empty; check that it was recorded to the end")
        try:
            file = pa.parquet.ParquetFile(raw, page_checksum_verification=True)
            file.schema_arrow  # noqa: B018 - damage shows here
        except Exception as e:  # damaged files make pyarrow raise many kinds, among them plain OSError and KeyError
            raise InputError(f"{path} is not a whole Parquet file: {reason_of(e)}; copy or {again} it again") from e
        _refuse_bomb(path, file.metadata, size)
        yield file


def _refuse_bomb(path: Path, metadata: Any, size: int) -> None:
    """Refuse a small file that expands to far too many equal rows, by the memory of all columns against the size of the
    file.
    """
    unpacked = 8 * metadata.num_rows * metadata.num_columns
    if unpacked > _FREE_BYTES and unpacked > _MOST_UNPACKED * size:
        raise InputError(
            f"{path} holds {metadata.num_rows:.3g} rows of {metadata.num_columns} columns in {size / 1e6:.3g} MB, "
            "as no recording does; check where it is from"
        )


def _gather(file: Any, schema: pa.Schema, gathered: Gathered, done: Callable[[float], None]) -> None:
    """Read the row groups and their columns one after the other: only one column of a row group is in memory in
    addition.
    """
    stored = []
    for source in gathered.found:
        if source.index != ROW_NUMBER:
            name, kind = schema.names[source.index], schema.field(source.index).type
            wanted = _wanted(source, kind)
            if wanted is None:
                raise InputError(
                    f"{gathered.place}: column {name} holds {kind}, expected {_expected(source)}; convert it first"
                )
            stored.append((source, name, wanted))
    stored.sort(key=lambda entry: entry[0].column.name != "sensor")  # whose rows they are comes first
    for group in range(file.num_row_groups):
        rows = None
        for source, name, wanted in stored:
            try:
                array = file.read_row_group(group, columns=[name], use_threads=False).column(0)
                array = array.cast(wanted, safe=False)
            except Exception as e:  # as above
                raise InputError(
                    f"{gathered.place}: column {name} is damaged: {reason_of(e)}; copy or record it again"
                ) from e
            if rows is not None and len(array) != rows:
                raise InputError(f"{gathered.place} has columns of different lengths; copy or record it again")
            of_sensors = source.column.name == "sensor"
            if rows is None:
                rows = len(array)
                gathered.begin(rows, array if of_sensors else None)
            if rows and not of_sensors:
                gathered.put(source, array)
        if group == 0 and gathered.rows:
            gathered.refuse_too_long(gathered.rows / max(file.metadata.num_rows, gathered.rows))
        done((group + 1) / file.num_row_groups)


def _wanted(source: Source, kind: pa.DataType) -> pa.DataType | None:
    """The type to read a column as, or None if its own type does not fit the column."""
    types = pa.types
    inner = kind.value_type if types.is_dictionary(kind) else kind
    if source.column.name == "sensor":
        return pa.string() if types.is_string(inner) or types.is_large_string(inner) else None
    if source.column.name in FLAGS:
        return pa.bool_() if types.is_boolean(kind) or types.is_integer(kind) else None
    number = types.is_floating(kind) or types.is_integer(kind) or types.is_decimal(kind) or types.is_null(kind)
    return pa.float64() if number else None


def _expected(source: Source) -> str:
    if source.column.name in FLAGS:
        return "true or false"
    return "text" if source.column.name == "sensor" else "numbers"


def _text(note: bytes) -> str:
    return note.decode("utf-8", "replace")


def reason_of(e: Exception) -> str:
    return " ".join(str(e).split())[:200] or type(e).__name__
