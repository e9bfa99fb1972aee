"""Recordings as CSV: two comment lines (version, meta), one header line, one row per sample.

pyarrow formats and parses the cells: the shortest text that reads back to the same bits, millions of cells a second.
Files are read and written block by block.
"""

import bisect
import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from strapdown.errors import InputError
from strapdown.io.blocks.gather import Gathered
from strapdown.io.blocks.text import LINE_END, Block, text_blocks, text_piece, text_writer
from strapdown.io.columns import FLAGS
from strapdown.io.foreign.clock import clock_column, clock_seconds
from strapdown.io.foreign.mapping import ColumnMapping, fits, sources
from strapdown.io.foreign.source import ROW_NUMBER, Source
from strapdown.io.foreign.unit_words import is_unit
from strapdown.io.table import Table, check_version, meta_from_json
from strapdown.types import Recording

_MARK = "# strapdown "
_DELIMITERS = ",;\t "
_HEADER_WITHIN_LINES = 100  # a foreign file may begin with notes
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|nan|inf|infinity)\s*", re.IGNORECASE)
# flags as programs write them: 1, 1.0, 1.000000e+00, True
_FALSE, _TRUE = (
    [word, word.title(), word.upper(), f"{n}.", f"{n}e0", *(f"{n:.{d}{form}}" for d in range(19) for form in "feE")]
    for n, word in enumerate(("false", "true"))
)
_NOT_BLANK, _NOT_LINE_END = re.compile(rb"\S"), re.compile(rb"[^\r\n]")


def write_csv(path: Path, recordings: Mapping[str, Recording]) -> None:
    table = Table(recordings, pa.int8())  # 0 and 1 are read by everything, true and false by some
    head = csv_head(f"{_MARK}{table.schema.metadata[b'strapdown'].decode()}", table.meta, table.schema.names)
    quoted = any(c in name for name in recordings for c in '",')
    write_parts(path, head, table.schema, table.parts(), quoted)


def csv_head(mark: str, notes: str, names: list[str]) -> bytes:
    """Two comment lines and the header."""
    return f"{mark}\n# {notes}\n".encode() + csv_header(names)


def csv_header(names: list[str]) -> bytes:
    """The line of column names."""
    head = io.StringIO()
    csv.writer(head, lineterminator="\n").writerow(names)
    return head.getvalue().encode()


def write_parts(path: Path, head: bytes, schema: pa.Schema, parts: Iterator[pa.Table], quoted: bool = False) -> None:
    """The head and then rows, a part at a time."""
    options = pa.csv.WriteOptions(include_header=False, quoting_style="needed" if quoted else "none")
    with text_writer(path) as file:
        file.write(head)
        with pa.csv.CSVWriter(file, schema, write_options=options) as writer:
            for part in parts:
                writer.write_table(part)


@dataclass(frozen=True)
class _Head:
    """The part above the rows: its lines and bytes, with the header."""

    meta: dict[str, dict]
    header: list[str]
    delimiter: str
    lines: int
    size: int


@dataclass(frozen=True)
class _Rows:
    """Place of a block of rows in the file, to read it again: its first row, its first line, its bytes."""

    row: int
    line: int
    begin: int
    size: int


def read_csv(
    path: Path, mapping: ColumnMapping | None = None, done: Callable[[float], None] = lambda part: None
) -> dict[str, Recording]:
    place = str(path)
    blocks = text_blocks(path)
    block = next(blocks)
    head = _head(block, mapping, place)
    all_found = sources(head.header, mapping, place)
    gathered = Gathered(all_found, path.name.split(".")[0], place)
    found = [source for source in all_found if source.index != ROW_NUMBER]
    names = next((s for s in found if s.column.name == "sensor"), None)
    read: list[_Rows] = []
    block = block.after(head.size, head.lines)
    blank = block.last and not _NOT_BLANK.search(block.data)
    while True:
        read.append(_Rows(gathered.rows, block.line, block.begin, len(block.data)))
        if not blank and _NOT_LINE_END.search(block.data):
            table = _parsed(block, head, found, place)
            gathered.begin(len(table), None if names is None else table[str(names.index)])
            for source in found:
                if source is not names:
                    gathered.put(source, table[str(source.index)])
            if len(read) == 1:
                gathered.refuse_too_long(block.share)
        done(block.share)
        if block.last:
            break
        block = next(blocks)
    if gathered.rows == 0:
        raise InputError(f"{place} has a header but no rows; nothing was recorded")
    return gathered.recordings(head.meta, lambda row: f"{place}, line {_line_of_row(path, head, read, row)}")


def _parsed(block: Block, head: _Head, found: list[Source], place: str) -> pa.Table:
    try:
        return _table(block, head, found, ".")
    except (pa.ArrowException, OSError, ValueError, MemoryError) as e:
        try:
            if head.delimiter != ",":
                return _table(block, head, found, ",")
        except (pa.ArrowException, ValueError):
            pass
        raise _explained(block, head, found, place, e) from e


def _table(block: Block, head: _Head, found: list[Source], decimal_point: str) -> pa.Table:
    types = {"sensor": pa.string(), **dict.fromkeys(FLAGS, pa.bool_())}
    types |= {s.column.name: pa.string() for s in found if s.unit is not None and s.unit.text}
    table = pa.csv.read_csv(
        pa.BufferReader(_single_spaces(block.data) if head.delimiter == " " else block.data),
        # columns go by their number: foreign files may have the same name twice where we do not look
        pa.csv.ReadOptions(column_names=[str(i) for i in range(len(head.header))]),
        pa.csv.ParseOptions(delimiter=head.delimiter),
        pa.csv.ConvertOptions(
            column_types={str(s.index): types.get(s.column.name, pa.float64()) for s in found},
            include_columns=[str(s.index) for s in found],
            null_values=[""],
            strings_can_be_null=True,
            true_values=_spelled(_TRUE, decimal_point),
            false_values=_spelled(_FALSE, decimal_point),
            decimal_point=decimal_point,
        ),
    )
    for source in found:
        if source.unit is not None and source.unit.text:
            table = _with_seconds(table, str(source.index))
    return table


def _with_seconds(table: pa.Table, name: str) -> pa.Table:
    """The table with a column of clock times as seconds; ValueError where a cell is none."""
    cells = table[name].to_pylist()
    seconds = clock_column(cells)
    empty = [cell is None for cell in cells]
    if any(value != value and not blank for value, blank in zip(seconds, empty, strict=True)):
        raise ValueError("a cell is no clock time")
    column = pa.array(seconds, pa.float64(), mask=np.array(empty, dtype=np.bool_))
    return table.set_column(table.schema.get_field_index(name), name, column)


def _single_spaces(data: memoryview) -> bytes:
    """Rows whose cells are separated by one space each, and not by several."""
    return re.sub(rb"(?m)^[ \t]+|[ \t]+(?=\r?$)", b"", re.sub(rb"[ \t]+", b" ", bytes(data)))


def _spelled(words: list[str], decimal_point: str) -> list[str]:
    """Whether a word is in the text; a space may be next to it, as for numbers."""
    pointed = [word.replace(".", decimal_point) for word in words]
    return [*pointed, *(f" {word}" for word in pointed), *(f"{word} " for word in pointed)]


def _head(block: Block, mapping: ColumnMapping | None, place: str) -> _Head:
    if block.last and not _NOT_BLANK.search(block.data):
        raise InputError(f"{place} is empty; check that it was recorded to the end")
    if mapping is not None and not mapping.get("header", True):
        return _numbered(block, place)
    meta: dict[str, dict] = {}
    ours = False
    first: _Head | None = None
    for number, (line, end) in enumerate(_lines(block.data, place), start=1):
        if line.startswith(_MARK):
            check_version(line.removeprefix(_MARK).strip(), place)
            ours = True
        elif ours and line.startswith("# {"):
            meta = meta_from_json(line[2:], f"{place}, line {number}")
        for delimiter in _DELIMITERS:
            cells = _cells(line, delimiter)
            if mapping is not None and fits(mapping, cells):
                return _without_units(_Head(meta, cells, delimiter, number, end), block, place)
        if first is None and line.strip() and not line.startswith("#"):
            if mapping is None:
                return _Head(meta, _cells(line, ","), ",", number, end)
            delimiter = max(",;\t", key=line.count)
            first = _Head(meta, _cells(line, delimiter), delimiter, number, end)
        if number == _HEADER_WITHIN_LINES:
            break
    if first is None:
        raise InputError(f"{place} has no header line; its first line should name the columns, like sensor,t [s],...")
    return first  # does not have the mapped columns, which sources() will explain


def _without_units(head: _Head, block: Block, place: str) -> _Head:
    """The head with the line of units that some programs write below the names."""
    line, end = next(_lines(block.data[head.size :], place), ("", 0))
    cells = [cell for cell in _cells(line, head.delimiter) if cell]
    if not cells or not all(is_unit(cell) for cell in cells) or any(_NUMBER.fullmatch(cell) for cell in cells):
        return head
    return _Head(head.meta, head.header, head.delimiter, head.lines + 1, head.size + end)


def _numbered(block: Block, place: str) -> _Head:
    """The head of a file without a header: columns are called 1, 2, 3, ... The rows begin at the first line of numbers
    alone, except for a mark in its first cell.
    """
    lines, size = 0, 0
    for line, end in _lines(block.data, place):
        for delimiter in _DELIMITERS:
            cells = _cells(line, delimiter)
            if len(cells) > 2 and all(_NUMBER.fullmatch(cell) for cell in cells[1:]):
                return _Head({}, [str(i + 1) for i in range(len(cells))], delimiter, lines, size)
        lines, size = lines + 1, end
        if lines == _HEADER_WITHIN_LINES:
            break
    raise InputError(f"{place} has no row of numbers in its first {lines} lines; give a table with one row per sample")


def _lines(data: memoryview, place: str) -> Iterator[tuple[str, int]]:
    """Lines as text, each with the place in data where the next begins."""
    begin = 0
    number = 0
    while begin < len(data):
        number += 1
        match = LINE_END.search(data, begin)
        stop, end = match.span() if match else (len(data), len(data))
        try:
            yield str(data[begin:stop], "utf-8"), end
        except UnicodeDecodeError:
            raise InputError(f"{place}, line {number} is not UTF-8 text; save the file as CSV in UTF-8") from None
        begin = end


def _cells(line: str, delimiter: str) -> list[str]:
    try:
        spaced = " ".join(line.split()) if delimiter == " " else line
        return [cell.strip() for cell in next(csv.reader([spaced], delimiter=delimiter), [])]
    except csv.Error:  # a cell of more than 128 kB: no header
        return [line]


def _rows(data: bytes | memoryview, line: int, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The slow way through the rows of a block, with line numbers: only for the sentence that explains an error."""
    text = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", errors="replace", newline="")
    reader = csv.reader(text, delimiter=delimiter, strict=False, skipinitialspace=delimiter == " ")
    for cells in reader:
        if cells:
            yield line - 1 + reader.line_num, cells


def _line_of_row(path: Path, head: _Head, read: list[_Rows], row: int) -> int:
    block = read[bisect.bisect_right([rows.row for rows in read], row) - 1]
    try:
        for i, (line, _) in enumerate(_rows(text_piece(path, block.begin, block.size), block.line, head.delimiter)):
            if block.row + i == row:
                return line
    except (csv.Error, OSError, EOFError):  # it was read once, but a pipe cannot be read again
        pass
    return block.line + row - block.row


def _explained(block: Block, head: _Head, found: list[Source], place: str, error: Exception) -> InputError:
    """An error of pyarrow, reported with the line and the column."""
    try:
        for line, cells in _rows(block.data, block.line, head.delimiter):
            at = f"{place}, line {line}"
            if len(cells) != len(head.header):
                return InputError(f"{at} has {len(cells)} cells, the header {len(head.header)}; correct or drop it")
            for source in found:
                cell, name = cells[source.index], source.column.name
                number = cell if head.delimiter == "," else cell.replace(",", ".", 1)
                if name == "sensor" or not cell:
                    continue
                if name in FLAGS and number.strip() not in (*_TRUE, *_FALSE):
                    return InputError(f"{at}: {name} is {_shown(cell)}, expected 0 or 1; correct or drop it")
                if source.unit is not None and source.unit.text:
                    if clock_seconds(cell) != clock_seconds(cell):
                        column = head.header[source.index]
                        return InputError(f"{at}: {_shown(cell)} in column {column} is no clock time; correct it")
                    continue
                if name not in FLAGS and not _NUMBER.fullmatch(number):
                    column = head.header[source.index]
                    if name == "t" and ":" in cell:
                        return InputError(
                            f'{at}: {_shown(cell)} in column {column} is a clock time; give t the unit "clock" in the '
                            "column mapping, or export elapsed seconds"
                        )
                    return InputError(f"{at}: {_shown(cell)} in column {column} is not a number; correct or drop it")
    except csv.Error as e:
        error = e
    reason = " ".join(str(error).split())[:200]
    return InputError(f"{place} cannot be read as CSV: {reason}; check that it is UTF-8 text with one row per line")


def _shown(cell: str) -> str:
    return repr(cell if len(cell) <= 30 else cell[:30] + "…")
