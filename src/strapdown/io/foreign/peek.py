"""First examination of a table without description: its header, its separator and its first rows as numbers."""

import csv
import gzip
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

import numpy as np

from strapdown.errors import InputError
from strapdown.io.foreign.clock import clock_column, clock_seconds
from strapdown.io.foreign.unit_words import is_unit
from strapdown.regular_file import opened
from strapdown.types import Array

ROWS = 20_000  # minutes of a usual log: enough to see units and rests
_WITHIN_LINES = 100  # notes may stand above the header
_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", " ": "spaces"}
_WORD = re.compile(r"[^\W\d]")


@dataclass(frozen=True, eq=False)
class Peek:
    """The beginning of a foreign table.

    header: names of the columns, or 1, 2, 3, ... where the file has none.
    values: first rows of each column, NaN where a cell is not a number.
    blank: empty cells of each column, of `rows` rows.
    words: a cell that is no number, of columns that have some.
    units: the line below the names, where it states units.
    clocks: columns of clock times; their values are seconds.
    """

    header: tuple[str, ...]
    values: dict[str, Array]
    rows: int
    separator: str
    has_header: bool = True
    blank: dict[str, int] | None = None
    words: dict[str, str] | None = None
    units: dict[str, str] = field(default_factory=dict)
    clocks: frozenset[str] = frozenset()


def peek(path: Path) -> Peek:
    """The header and the first rows of a CSV, text or Parquet file, whatever its columns are."""
    if path.name.lower().endswith(".parquet"):
        return _parquet(path)
    if path.name.lower().endswith(".mat"):
        return _matlab(path)
    lines = list(islice(_lines(path), ROWS + _WITHIN_LINES))
    if not any(line.strip() for line in lines):
        raise InputError(f"{path} is empty; check that it was recorded to the end")
    try:
        separator, first = _table(lines[:_WITHIN_LINES], path)
        reader = csv.reader(lines[first:], delimiter=separator, skipinitialspace=separator == " ")
        table = [row for row in reader if row]
    except csv.Error as error:
        raise InputError(f"{path} cannot be read as CSV: {error}; check that it is a text table") from None
    named = _is_header(table[0])
    header = tuple(cell.strip() for cell in table[0]) if named else tuple(str(i + 1) for i in range(len(table[0])))
    rows = [row for row in table[named:] if len(row) == len(header)]
    units: dict[str, str] = {}
    if named and rows and _is_units(rows[0]):
        units = {name: cell.strip().strip("[]()") for name, cell in zip(header, rows.pop(0), strict=True)}
    if not rows:
        raise InputError(f"{path} has a header but no rows; nothing was recorded")
    return replace(_columns(header, list(zip(*rows, strict=True)), _SEPARATORS[separator], named), units=units)


def _is_units(cells: list[str]) -> bool:
    """Whether a line holds units and nothing else, as `s, g, g, g, deg/s`."""
    stated = [cell for cell in cells if cell.strip()]
    return bool(stated) and all(is_unit(cell) and math.isnan(_number(cell, False)) for cell in stated)


def _matlab(path: Path) -> Peek:
    from strapdown.io.formats.matlab import columns_of

    table = {name: values[:ROWS] for name, values in columns_of(path).items()}
    rows = len(next(iter(table.values())))
    return Peek(tuple(table), table, rows, "MATLAB", blank={name: int(np.isnan(v).sum()) for name, v in table.items()})


def _lines(path: Path) -> Iterator[str]:
    with opened(path, "log") as raw:
        data = gzip.GzipFile(fileobj=raw) if path.name.lower().endswith(".gz") else raw
        try:
            for number, line in enumerate(data, 1):
                if number == 1 and line.startswith((b"\xff\xfe", b"\xfe\xff")):
                    raise InputError(f"{path} is UTF-16 text, not UTF-8; save the file as CSV in UTF-8")
                if len(line) > 1_000_000 or b"\0" in line:
                    raise InputError(f"{path} is not a text table; give a CSV, text or Parquet file")
                try:
                    text = line.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError:
                    raise InputError(
                        f"{path}, line {number} is not UTF-8 text; save the file as CSV in UTF-8"
                    ) from None
                yield from text.rstrip("\r\n").split("\r")
        except (OSError, EOFError) as error:
            raise InputError(f"{path} cannot be read: {error}; check that it was copied whole") from None


def _table(lines: list[str], path: Path) -> tuple[str, int]:
    """Separator and first line of the table: the pair with which most lines have the same number of cells."""
    best, found = 0.0, (",", 0)
    for separator in _SEPARATORS:
        counts = [
            len(next(csv.reader([line], delimiter=separator, skipinitialspace=separator == " "), [])) for line in lines
        ]
        last = next((n for n, line in zip(reversed(counts), reversed(lines), strict=True) if line.strip()), 0)
        alike = [i for i, n in enumerate(counts) if n == last and lines[i].strip()]
        # decimal commas cut a row of semicolons into cells as well: more of the lines must agree, or the cells be more
        if last > 1 and len(alike) * (1.0 + 0.01 * last) > best:
            best, found = len(alike) * (1.0 + 0.01 * last), (separator, alike[0])
    if not best:
        raise InputError(f"{path} is not a table: its lines have one cell; give a CSV, text or Parquet file")
    return found


def _is_header(cells: list[str]) -> bool:
    """Whether most cells contain a word and no number."""
    return 2 * sum(bool(_WORD.search(cell)) and math.isnan(_number(cell, False)) for cell in cells) > len(cells)


def _number(cell: str, decimal_comma: bool) -> float:
    try:
        return float(cell.replace(",", ".", 1) if decimal_comma else cell)
    except ValueError:
        return math.nan


def _columns(header: tuple[str, ...], columns: list[tuple[str, ...]], separator: str, named: bool) -> Peek:
    values: dict[str, Array] = {}
    blank: dict[str, int] = {}
    words: dict[str, str] = {}
    clocks: set[str] = set()
    for name, cells in zip(header, columns, strict=True):
        if name in values:
            continue
        try:
            values[name] = np.array(cells, dtype=np.float64)
        except ValueError:
            if np.isfinite(clock_seconds(cells[0])):
                values[name] = clock_column(cells)
                clocks.add(name)
                continue
            numbers = [_number(cell.strip(), separator != "commas") for cell in cells]
            values[name] = np.array(numbers)
            blank[name] = sum(cell.strip().lower() in ("", "nan") for cell in cells)
            other = [c for c, n in zip(cells, numbers, strict=True) if n != n and c.strip().lower() not in ("", "nan")]
            if other:
                words[name] = other[0].strip()[:30]
    return Peek(header, values, len(columns[0]), separator, named, blank, words, clocks=frozenset(clocks))


def _parquet(path: Path) -> Peek:
    import pyarrow as pa

    from strapdown.io.parquet import parquet_file

    with parquet_file(path, "file", "record") as file:
        batch = next(file.iter_batches(ROWS), None)
    if batch is None or not len(batch):
        raise InputError(f"{path} has no rows; nothing was recorded")
    values: dict[str, Array] = {}
    words: dict[str, str] = {}
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        try:
            values[name] = column.cast(pa.float64()).fill_null(math.nan).to_numpy(zero_copy_only=False)
        except pa.ArrowException:
            values[name] = np.full(len(batch), math.nan)
            words[name] = str(column[0].as_py())[:30]
    blank = {name: int(np.isnan(x).sum()) for name, x in values.items()}
    return Peek(tuple(batch.schema.names), values, len(batch), "Parquet", True, blank, words)
