"""Solutions in files: CSV (also gzipped) and Parquet, one row per sample, every double bit for bit.

Columns: t [s]; q_w..z [1, nb]; p_x..z [m, n] and v_x..z [m/s, n] where known; bias_<what>_x..z and sigma_<what>_x..z
with their unit and frame; flag_<name>, 0 or 1. The solution's meta and events go along as JSON: in CSV in a comment
line above the header, in Parquet in the schema. As it has t, p and q, a solution is also a pose file.
"""

import csv
import gzip
import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from strapdown.errors import InputError
from strapdown.io.blocks.text import LINE_END, Block, text_blocks
from strapdown.io.csv import csv_head, write_parts
from strapdown.io.parquet import parquet_file, reason_of, write_row_groups
from strapdown.io.solutions.columns import Filling, columns_of, parts_of
from strapdown.io.table import PLAIN_VALUES, finite_json, plain_value
from strapdown.regular_file import opened
from strapdown.types import Event, Solution

SOLUTION_VERSION = "1"
MARK = "# strapdown-solution "
SUFFIXES = (".csv", ".csv.gz", ".parquet")
MOST_CSV_ROWS = 1_000_000


def write_solution(path: str | PathLike[str], solution: Solution) -> None:
    """Write one solution; the file appears whole or not at all, and the same solution gives the same bytes."""
    path = Path(path)
    suffix = _suffix(path)
    columns = columns_of(solution)
    notes = _notes_json(solution)
    flag = pa.bool_() if suffix == ".parquet" else pa.int8()  # 0 and 1 are read by everything, true and false by some
    schema = pa.schema(
        [(name, flag if values.dtype == bool else pa.float64()) for name, (values, _) in columns.items()],
        metadata={"strapdown-solution": SOLUTION_VERSION, "strapdown-solution-notes": notes},
    )
    if suffix == ".parquet":
        write_row_groups(path, schema, parts_of(columns, schema), dictionary=False)
    else:
        write_parts(path, csv_head(f"{MARK}{SOLUTION_VERSION}", notes, schema.names), schema, parts_of(columns, schema))


def solution_suffix(solution: Solution) -> str:
    """The kind of file for a solution: CSV can be read everywhere, but millions of rows need gigabytes."""
    return ".csv" if len(solution) <= MOST_CSV_ROWS else ".parquet"


def read_solution(path: str | PathLike[str]) -> Solution:
    """The solution of a file that write_solution wrote."""
    path = Path(path)
    return (_read_parquet if _suffix(path) == ".parquet" else _read_csv)(path)


def is_solution(path: str | PathLike[str]) -> bool:
    """Whether a file states that it is a solution; False for a file that cannot be read."""
    path = Path(path)
    try:
        with opened(path) as raw:
            if _suffix(path) == ".parquet":
                return b"strapdown-solution" in (pa.parquet.read_schema(raw).metadata or {})
            file = gzip.GzipFile(fileobj=raw, mode="rb") if _suffix(path) == ".csv.gz" else raw
            return file.read(len(MARK) + 3).removeprefix(b"\xef\xbb\xbf").startswith(MARK.encode())
    except Exception:  # damaged files make pyarrow and gzip raise many kinds
        return False


def _suffix(path: Path) -> str:
    for suffix in SUFFIXES:
        if path.name.lower().endswith(suffix):
            return suffix
    raise InputError(
        f"{path} is not named as a solution; use a name that ends in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}"
    )


def _notes_json(solution: Solution) -> str:
    events = [[e.t_s, e.until_s, e.kind, e.text] for e in solution.events]
    try:
        return json.dumps({"meta": dict(solution.meta), "events": events}, default=plain_value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as e:
        raise InputError(f"the solution's meta or events cannot be written: {e}; {PLAIN_VALUES}") from None


def _noted(notes: str) -> tuple[dict[str, Any], tuple[Event, ...]]:
    try:
        said = finite_json(notes)
        events = tuple(Event(float(a), float(b), str(kind), str(text)) for a, b, kind, text in said["events"])
        return dict(said["meta"]), events
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as e:
        raise InputError(f"its notes are not of the form meta and events ({e}); correct it or write it anew") from None


@contextmanager
def _named(path: Path) -> Iterator[None]:
    try:
        yield
    except InputError as e:
        raise InputError(f"{path}: {e}") from None


def _read_parquet(path: Path) -> Solution:
    with parquet_file(path, "solution file", "write") as file:
        schema = file.schema_arrow
        meta = schema.metadata or {}
        _check_version(meta.get(b"strapdown-solution", b"").decode("utf-8", "replace"), path)
        _refuse_twice(schema.names, path)
        with _named(path):
            filling = Filling(schema.names)
        try:
            for group in range(file.num_row_groups):
                sizes = set()
                for field in schema:
                    array = file.read_row_group(group, columns=[field.name], use_threads=False).column(0)
                    filling.put(field.name, array if field.type == pa.bool_() else array.cast(pa.float64()))
                    sizes.add(len(array))
                if len(sizes) > 1:
                    raise ValueError("columns of different lengths")
                filling.rows += sizes.pop()
        except Exception as e:  # damaged files make pyarrow raise many kinds, among them plain OSError and KeyError
            raise InputError(f"{path} is not a whole Parquet file: {reason_of(e)}; copy or write it again") from e
    with _named(path):
        return filling.solution(*_noted(meta.get(b"strapdown-solution-notes", b"").decode("utf-8", "replace")))


def _read_csv(path: Path) -> Solution:
    blocks = text_blocks(path, "solution file", "is not a whole text file: {}; copy or write it again")
    first = next(blocks)
    (mark, notes, header), size = _first_lines(first, path)
    _check_version(mark.removeprefix(MARK).strip() if mark.startswith(MARK) else "", path)
    names = next(csv.reader([header]), [])
    block = first.after(size, 3)
    if not names or (block.last and not bytes(block.data[:100]).strip()):
        raise InputError(f"{path} has no rows; write it again")
    _refuse_twice(names, path)
    with _named(path):
        filling = Filling(names)
    while True:
        if len(block.data):
            table = _parsed(block, names, path)
            for name in names:
                filling.put(name, table[name])
            filling.rows += len(table)
        if block.last:
            break
        block = next(blocks)
    with _named(path):
        return filling.solution(*_noted(notes.removeprefix("# ")))


def _first_lines(block: Block, path: Path) -> tuple[list[str], int]:
    """Mark, notes and header, empty where there are fewer lines; and their size in bytes."""
    lines, begin = [], 0
    for match in islice(LINE_END.finditer(block.data), 3):
        lines.append(bytes(block.data[begin : match.start()]))
        begin = match.end()
    if not lines:
        lines = [bytes(block.data[:200])]
    try:
        texts = [line.decode() for line in lines]
    except UnicodeDecodeError as e:
        raise InputError(f"{path} is not a whole text file: {e}; copy or write it again") from e
    return texts + [""] * (3 - len(texts)), begin


def _parsed(block: Block, names: list[str], path: Path) -> pa.Table:
    types = {name: pa.bool_() if name.startswith("flag_") else pa.float64() for name in names}
    try:
        return pa.csv.read_csv(
            pa.BufferReader(block.data),
            pa.csv.ReadOptions(column_names=names),
            convert_options=pa.csv.ConvertOptions(
                column_types=types, null_values=[], true_values=["1"], false_values=["0"]
            ),
        )
    except (pa.ArrowException, OSError, ValueError) as e:
        raise InputError(
            f"{path} cannot be read as CSV (rows from line {block.line} on): {reason_of(e)}; correct or rewrite it"
        ) from e


def _refuse_twice(names: list[str], path: Path) -> None:
    if len(set(names)) < len(names):
        raise InputError(f"{path} names a column twice; keep one of them")


def _check_version(version: str, path: Path) -> None:
    if not version:
        raise InputError(f"{path} is not a solution file; write one with io.solutions.file.write_solution")
    if version != SOLUTION_VERSION:
        raise InputError(
            f"{path} is a solution of format version {version[:20]!r}, this program reads {SOLUTION_VERSION}; "
            "update strapdown"
        )
