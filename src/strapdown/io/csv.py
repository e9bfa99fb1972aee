"""Recordings as CSV: two comment lines (version, meta), one header line, one row per sample.

pyarrow formats and parses the cells: the shortest text that reads back to the same bits, millions a second.
"""

import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.csv

from strapdown.errors import InputError
from strapdown.io.atomic import whole_bytes, whole_file
from strapdown.io.columns import FLAGS, ROW_NUMBER, ColumnMapping, Source, parse_mapping, sources
from strapdown.io.table import (
    check_version,
    meta_from_json,
    recordings_from_table,
    table_from_recordings,
    with_row_numbers,
)
from strapdown.types import Recording

_MARK = "# strapdown "
_LINE_END = re.compile(rb"\r\n|\n|\r")
_HEADER_WITHIN_LINES = 100  # a foreign file may begin with notes
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|nan|inf|infinity)\s*", re.IGNORECASE)
_TRUTH_WORDS = ("0", "1", "true", "false", "True", "False", "TRUE", "FALSE")


def write_csv(path: Path, recordings: Mapping[str, Recording]) -> None:
    table = table_from_recordings(recordings)
    meta = table.schema.metadata
    for flag in FLAGS:
        if flag in table.column_names:  # 0 and 1 are read by everything, true and false by some
            i = table.column_names.index(flag)
            table = table.set_column(i, flag, table[flag].cast(pa.int8()))
    head = io.StringIO()
    head.write(f"{_MARK}{meta[b'strapdown'].decode()}\n# {meta[b'strapdown_meta'].decode()}\n")
    csv.writer(head, lineterminator="\n").writerow(table.column_names)
    quoted = any(c in name for name in recordings for c in '",')
    options = pa.csv.WriteOptions(include_header=False, quoting_style="needed" if quoted else "none")
    with whole_file(path) as tmp, tmp.open("wb") as raw:
        if path.name.lower().endswith(".gz"):
            # no name and no time inside: the same recordings give the same bytes; level 3 is fast enough
            with gzip.GzipFile(filename="", mode="wb", compresslevel=3, fileobj=raw, mtime=0) as packed:
                packed.write(head.getvalue().encode())
                pa.csv.write_csv(table, packed, options)
        else:
            raw.write(head.getvalue().encode())
            pa.csv.write_csv(table, raw, options)


@dataclass(frozen=True)
class _Text:
    """A CSV file taken apart: what stands above the rows, and the rows as bytes."""

    place: str
    meta: dict[str, dict]
    header: list[str]
    delimiter: str
    lines_above: int
    body: bytes


def read_csv(path: Path, mapping: ColumnMapping | None = None) -> dict[str, Recording]:
    text = _take_apart(path, mapping)
    all_found = sources(text.header, mapping, text.place)
    if not text.body.strip():
        raise InputError(f"{text.place} has a header but no rows; nothing was recorded")
    types = {"sensor": pa.string(), **dict.fromkeys(FLAGS, pa.bool_())}
    found = [source for source in all_found if source.index != ROW_NUMBER]
    try:
        table = pa.csv.read_csv(
            pa.BufferReader(text.body),
            # columns go by their number: foreign files may have the same name twice where we do not look
            pa.csv.ReadOptions(column_names=[str(i) for i in range(len(text.header))]),
            pa.csv.ParseOptions(delimiter=text.delimiter),
            pa.csv.ConvertOptions(
                column_types={str(s.index): types.get(s.column.name, pa.float64()) for s in found},
                include_columns=[str(s.index) for s in found],
                null_values=[""],
                strings_can_be_null=True,
            ),
        )
    except (pa.ArrowException, OSError, ValueError, MemoryError) as e:
        raise _explained(text, found, e) from e
    return recordings_from_table(
        with_row_numbers(all_found, [(source, table[str(source.index)]) for source in found]),
        text.meta,
        text.place,
        lambda row: f"{text.place}, line {_line_of_row(text, row)}",
        path.name.split(".")[0],
    )


def _take_apart(path: Path, mapping: ColumnMapping | None) -> _Text:
    place = str(path)
    data = _unpacked(path).removeprefix(b"\xef\xbb\xbf")
    if not data.strip():
        raise InputError(f"{place} is empty; check that it was recorded to the end")
    wanted = None
    if mapping is not None:
        wanted = {column for column, _ in parse_mapping(mapping).values() if column is not None}
    meta: dict[str, dict] = {}
    ours = False
    first: _Text | None = None
    for number, (line, end) in enumerate(_lines(data, place), start=1):
        if line.startswith(_MARK):
            check_version(line.removeprefix(_MARK).strip(), place)
            ours = True
        elif ours and line.startswith("# {"):
            meta = meta_from_json(line[2:], f"{place}, line {number}")
        for delimiter in ",;\t":
            cells = _cells(line, delimiter)
            if wanted is not None and wanted <= set(cells):
                return _Text(place, meta, cells, delimiter, number, data[end:])
        if first is None and line.strip() and not line.startswith("#"):
            first = _Text(place, meta, _cells(line, ","), ",", number, data[end:])
            if wanted is None:
                return first
        if number == _HEADER_WITHIN_LINES:
            break
    if first is None:
        raise InputError(f"{place} has no header line; its first line should name the columns, like sensor,t [s],...")
    return first  # does not have the mapped columns, which sources() will explain


def _unpacked(path: Path) -> bytes:
    data = whole_bytes(path)
    if not path.name.lower().endswith(".gz"):
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as e:
        raise InputError(f"{path} is not a whole gzip file: {e}; copy or record it again") from e


def _lines(data: bytes, place: str) -> Iterator[tuple[str, int]]:
    """Lines as text, each with the place in data where the next begins."""
    begin = 0
    number = 0
    while begin < len(data):
        number += 1
        match = _LINE_END.search(data, begin)
        stop, end = match.span() if match else (len(data), len(data))
        try:
            yield data[begin:stop].decode("utf-8"), end
        except UnicodeDecodeError:
            raise InputError(f"{place}, line {number} is not UTF-8 text; save the file as CSV in UTF-8") from None
        begin = end


def _cells(line: str, delimiter: str) -> list[str]:
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter), [])]
    except csv.Error:  # a cell of more than 128 kB: no header
        return [line]


def _rows(text: _Text) -> Iterator[tuple[int, list[str]]]:
    """The slow way through the rows, with line numbers: only for the sentence that explains an error."""
    reader = csv.reader(
        io.StringIO(text.body.decode("utf-8", "replace"), newline=""), delimiter=text.delimiter, strict=False
    )
    for cells in reader:
        if cells:
            yield text.lines_above + reader.line_num, cells


def _line_of_row(text: _Text, row: int) -> int:
    try:
        for i, (line, _) in enumerate(_rows(text)):
            if i == row:
                return line
    except csv.Error:
        pass
    return text.lines_above + 1 + row


def _explained(text: _Text, found: list[Source], error: Exception) -> InputError:
    """What pyarrow could not read, said with the line and the column."""
    try:
        for line, cells in _rows(text):
            at = f"{text.place}, line {line}"
            if len(cells) != len(text.header):
                return InputError(f"{at} has {len(cells)} cells, the header {len(text.header)}; mend or drop the line")
            for source in found:
                cell, name = cells[source.index], source.column.name
                if name == "sensor" or not cell:
                    continue
                if name in FLAGS and cell not in _TRUTH_WORDS:
                    return InputError(f"{at}: {name} is {_shown(cell)}, expected 0 or 1; mend or drop the line")
                if name not in FLAGS and not _NUMBER.fullmatch(cell):
                    column = text.header[source.index]
                    return InputError(f"{at}: {_shown(cell)} in column {column} is not a number; mend or drop the line")
    except csv.Error as e:
        error = e
    reason = " ".join(str(error).split())[:200]
    return InputError(
        f"{text.place} cannot be read as CSV: {reason}; check that it is UTF-8 text with one row per line"
    )


def _shown(cell: str) -> str:
    return repr(cell if len(cell) <= 30 else cell[:30] + "…")
