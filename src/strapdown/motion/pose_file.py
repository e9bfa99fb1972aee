"""Columns of numbers, picked by name, from a CSV file (also gzipped); errors name file, line and column."""

import csv
import io
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from os import PathLike
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv

from strapdown.errors import InputError
from strapdown.regular_file import unpacked, whole_bytes
from strapdown.types import Array

_HEADER_CELL = re.compile(r"\s*(?P<name>[^\[]*?)\s*(\[(?P<inside>[^\]]*)\])?\s*")
_MOST_BYTES = 1_000_000_000  # the file is read whole: about 10 million poses
_SHOWN = 60  # characters of a column's name
_LISTED = 24  # of the file's own column names in a message


@dataclass(frozen=True)
class _Text:
    """A CSV file split at its header row."""

    path: Path
    header: list[str]
    body: str
    header_line: int  # counted from 1
    delimiter: str

    def rows(self) -> Iterable[tuple[int, list[str]]]:
        """Line number and cells of every row that is not blank."""
        reader = csv.reader(self.body.splitlines(), delimiter=self.delimiter)
        try:
            for cells in reader:
                if any(cell.strip() for cell in cells):
                    yield self.header_line + reader.line_num, cells
        except csv.Error as error:
            raise InputError(f"{self.path} cannot be read as CSV: {error}") from None

    def line_of_row(self, row: int) -> int:
        return next((line for i, (line, _) in enumerate(self.rows()) if i == row), self.header_line)


def read_columns(
    path: str | PathLike[str],
    names: Mapping[str, str],
    units: Mapping[str, str] | None = None,
    may_be_missing: Iterable[str] = (),
) -> dict[str, Array]:
    """Our name -> numbers, for a mapping from our names to the file's.

    A column is found by its bare name or with its unit behind it, `name [unit]`. A unit in the file that differs from
    the unit we state is an error. Only the columns in may_be_missing may have cells without a number: they become NaN.
    """
    return _columns(_open(Path(path)), names, units or {}, may_be_missing)


def read_columns_on_clock(
    path: str | PathLike[str], names: Mapping[str, str], units: Mapping[str, str], clock: str
) -> tuple[dict[str, Array], float]:
    """The same, with the column `clock` counted from its first row, and its reading there.

    It is subtracted digit by digit as printed: a double has 2e-7 s of resolution at today's Unix time.
    """
    text = _open(Path(path))
    columns = _columns(text, names, units, ())
    start = float(columns[clock][0])
    if start != 0.0:
        place = _find(text, clock, names[clock], units.get(clock))
        stamps = [Decimal(cells[place].strip()) for _, cells in text.rows()]
        columns[clock] = np.array([float(stamp - stamps[0]) for stamp in stamps])
    return columns, start


def _columns(
    text: _Text, names: Mapping[str, str], units: Mapping[str, str], may_be_missing: Iterable[str]
) -> dict[str, Array]:
    place = {ours: _find(text, ours, theirs, units.get(ours)) for ours, theirs in names.items()}
    columns = _fast(text, place) or _slow(text, place)
    for ours in set(names) - set(may_be_missing):
        bad = np.flatnonzero(~np.isfinite(columns[ours]))
        if len(bad):
            line = text.line_of_row(int(bad[0]))
            raise InputError(
                f"{text.path}: no finite number in column {names[ours]} at line {line} ({len(bad)} of "
                f"{len(columns[ours])} rows); drop or fill these rows first"
            )
    return columns


def _open(path: Path) -> _Text:
    raw = whole_bytes(path, "pose file", _MOST_BYTES)
    if raw[:2] == b"\x1f\x8b":
        raw = unpacked(raw, path)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise InputError(f"{path} is not a text file; expected a CSV file with a header row")
    lines = text.splitlines()
    for number, line in enumerate(lines, start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            delimiter = max(",;\t", key=line.count)
            outside_brackets = re.escape(delimiter) + r"(?![^\[]*\])"
            header = [cell.strip().strip('"') for cell in re.split(outside_brackets, line)]
            return _Text(path, header, "\n".join(lines[number:]), number, delimiter)
    raise InputError(f"{path} is empty; expected a CSV file with a header row")


def _find(text: _Text, ours: str, theirs: str, unit: str | None) -> int:
    """The place of the one column of that name."""
    cells = [_HEADER_CELL.fullmatch(cell) for cell in text.header]
    places = [
        i for i, cell in enumerate(cells) if text.header[i] == theirs or (cell is not None and cell["name"] == theirs)
    ]
    if len(places) != 1:
        problem = f"no column {theirs}" if not places else f"{len(places)} columns {theirs}"
        wanted = "" if theirs == ours else f" (wanted as {ours})"
        there = ", ".join(name[:_SHOWN] for name in text.header[:_LISTED])
        there += ", ..." if len(text.header) > _LISTED else ""
        raise InputError(f"{text.path}: {problem}{wanted} in line {text.header_line}; its columns are: {there}")
    cell = cells[places[0]]
    stated = cell["inside"].split(",")[0].strip() if cell is not None and cell["inside"] else None
    if unit is not None and stated not in (None, "", unit):
        raise InputError(f"{text.path}: column {theirs} is in {stated}, expected {unit}; convert it first")
    return places[0]


def _fast(text: _Text, place: Mapping[str, int]) -> dict[str, Array] | None:
    """Read the table with Arrow; None if Arrow cannot read it."""
    numbered = [str(i) for i in range(len(text.header))]  # names may repeat
    wanted = [numbered[i] for i in place.values()]
    try:
        table = arrow_csv.read_csv(
            io.BytesIO(text.body.encode()),
            read_options=arrow_csv.ReadOptions(column_names=numbered, use_threads=False),
            parse_options=arrow_csv.ParseOptions(delimiter=text.delimiter),
            convert_options=arrow_csv.ConvertOptions(
                include_columns=wanted, column_types=dict.fromkeys(wanted, pa.float64())
            ),
        )
    except pa.ArrowInvalid:
        return None
    return {ours: np.array(table[numbered[i]].to_numpy(), dtype=np.float64) for ours, i in place.items()}


def _slow(text: _Text, place: Mapping[str, int]) -> dict[str, Array]:
    """Row by row: either it works, or the first bad line is known."""
    found: dict[str, list[float]] = {ours: [] for ours in place}
    for line, cells in text.rows():
        if len(cells) != len(text.header):
            raise InputError(
                f"{text.path}: line {line} has {len(cells)} columns, the header has {len(text.header)}; "
                "the file may be cut off or mixed up there"
            )
        for ours, i in place.items():
            cell = cells[i].strip()
            try:
                found[ours].append(float(cell) if cell else np.nan)
            except ValueError:
                raise InputError(
                    f"{text.path}: {cell[:40]!r} in column {text.header[i]}, line {line}, is not a number"
                ) from None
    if not found or not next(iter(found.values())):
        raise InputError(f"{text.path} has a header and no rows")
    return {ours: np.array(values) for ours, values in found.items()}
