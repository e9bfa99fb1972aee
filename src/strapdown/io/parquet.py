"""Recordings as Parquet: the same columns as in CSV, doubles bit for bit, meta in the schema."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from strapdown.errors import InputError
from strapdown.io.atomic import whole_bytes, whole_file
from strapdown.io.columns import FLAGS, ROW_NUMBER, ColumnMapping, Source, sources
from strapdown.io.table import (
    check_version,
    meta_from_json,
    recordings_from_table,
    table_from_recordings,
    with_row_numbers,
)
from strapdown.types import Recording


def write_parquet(path: Path, recordings: Mapping[str, Recording]) -> None:
    table = table_from_recordings(recordings)
    with whole_file(path) as tmp:
        # measured doubles hardly ever repeat, so only the sensor's name is worth a dictionary;
        # checksums let the reader see a damaged page
        pa.parquet.write_table(table, tmp, use_dictionary=["sensor"], write_page_checksum=True)


def read_parquet(path: Path, mapping: ColumnMapping | None = None) -> dict[str, Recording]:
    place = str(path)
    data = whole_bytes(path)
    if not data:
        raise InputError(f"{place} is empty; check that it was recorded to the end")
    schema, file = _opened(data, place)
    found = sources(schema.names, mapping, place)
    stored = [source for source in found if source.index != ROW_NUMBER]
    columns = with_row_numbers(found, _columns(file, schema, stored, place))
    notes = schema.metadata or {}
    if b"strapdown" in notes:
        check_version(_text(notes[b"strapdown"]), place)
    meta = meta_from_json(_text(notes.get(b"strapdown_meta", b"{}")), place)
    if not len(columns[0][1]):
        raise InputError(f"{place} has no rows; nothing was recorded")
    return recordings_from_table(columns, meta, place, lambda row: f"{place}, row {row}", path.name.split(".")[0])


def _opened(data: bytes, place: str) -> tuple[pa.Schema, Any]:
    try:
        file = pa.parquet.ParquetFile(pa.BufferReader(data), page_checksum_verification=True)
        return file.schema_arrow, file
    except Exception as e:  # damaged files make pyarrow raise many kinds, among them plain OSError and KeyError
        raise InputError(f"{place} is not a whole Parquet file: {_reason(e)}; copy or record it again") from e


def _columns(file: Any, schema: pa.Schema, found: list[Source], place: str) -> list[tuple[Source, Any]]:
    columns = []
    for source in found:
        name = schema.names[source.index]
        kind = schema.field(source.index).type
        wanted = _wanted(source, kind)
        if wanted is None:
            raise InputError(f"{place}: column {name} holds {kind}, expected {_expected(source)}; convert it first")
        try:
            array = file.read(columns=[name], use_threads=False).column(0)
            columns.append((source, array.cast(wanted, safe=False)))
        except Exception as e:  # as above
            raise InputError(f"{place}: column {name} is damaged: {_reason(e)}; copy or record it again") from e
    if len({len(array) for _, array in columns}) > 1:
        raise InputError(f"{place} has columns of different lengths; copy or record it again")
    return columns


def _wanted(source: Source, kind: pa.DataType) -> pa.DataType | None:
    """The type to read a column as, or None if its own type cannot mean what the column says."""
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


def _reason(e: Exception) -> str:
    return " ".join(str(e).split())[:200] or type(e).__name__
