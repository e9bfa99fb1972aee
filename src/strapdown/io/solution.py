"""Solutions in files: CSV (also gzipped) and Parquet, one row per sample, every double bit for bit.

Columns: t [s]; q_w..z [1, nb]; p_x..z [m, n] and v_x..z [m/s, n] where known; bias_<what>_x..z and sigma_<what>_x..z
with their unit and frame; flag_<name>, 0 or 1. The solution's meta and events go along as JSON: in CSV in a comment
line above the header, in Parquet in the schema. As it has t, p and q, a solution is also a pose file.
"""

import csv
import gzip
import io
import json
import re
import zlib
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from strapdown.errors import InputError
from strapdown.io.atomic import whole_bytes, whole_file
from strapdown.io.columns import listed
from strapdown.types import Array, Event, Solution

SOLUTION_VERSION = "1"
MARK = "# strapdown-solution "
SUFFIXES = (".csv", ".csv.gz", ".parquet")
MOST_CSV_ROWS = 1_000_000
# by name in bias and sigma; others are in SI too, as everything inside
UNITS = {"gyr": "rad/s", "acc": "m/s2", "mag": "uT", "p": "m", "v": "m/s", "attitude": "rad"}
_HEADER = re.compile(r"(?P<name>[^\[\]]*?)\s*(?:\[(?P<unit>[^\],]*)(?:,\s*(?P<frame>[^\],]*))?\])?")
_KEY = re.compile(r"[A-Za-z0-9_]+")
_VECTOR = re.compile(r"(?P<kind>bias|sigma)_(?P<what>[A-Za-z0-9_]+)_(?P<axis>[xyz])")


def write_solution(path: str | PathLike[str], solution: Solution) -> None:
    """Write one solution; the file appears whole or not at all, and the same solution gives the same bytes."""
    path = Path(path)
    suffix = _suffix(path)
    columns = _columns(solution)
    notes = _notes_json(solution)
    if suffix == ".parquet":
        fields = [
            pa.field(name, pa.bool_() if values.dtype == bool else pa.float64()) for name, values in columns.items()
        ]
        meta = {"strapdown-solution": SOLUTION_VERSION, "strapdown-solution-notes": notes}
        table = pa.table([pa.array(values) for values in columns.values()], schema=pa.schema(fields, metadata=meta))
        with whole_file(path) as tmp:
            pa.parquet.write_table(table, tmp, use_dictionary=False, write_page_checksum=True)
        return
    head = io.StringIO()
    head.write(f"{MARK}{SOLUTION_VERSION}\n# {notes}\n")
    csv.writer(head, lineterminator="\n").writerow(columns)
    # 0 and 1 are read by everything, true and false by some
    cells = [pa.array(values.astype(np.int8) if values.dtype == bool else values) for values in columns.values()]
    table = pa.table(cells, names=list(columns))
    options = pa.csv.WriteOptions(include_header=False, quoting_style="none")
    with whole_file(path) as tmp, tmp.open("wb") as raw:
        if suffix == ".csv.gz":
            with gzip.GzipFile(filename="", mode="wb", compresslevel=3, fileobj=raw, mtime=0) as packed:
                packed.write(head.getvalue().encode())
                pa.csv.write_csv(table, packed, options)
        else:
            raw.write(head.getvalue().encode())
            pa.csv.write_csv(table, raw, options)


def solution_suffix(solution: Solution) -> str:
    """The kind of file for it: CSV reads everywhere, but millions of rows of it are gigabytes."""
    return ".csv" if len(solution) <= MOST_CSV_ROWS else ".parquet"


def read_solution(path: str | PathLike[str]) -> Solution:
    """The solution of a file that write_solution wrote."""
    path = Path(path)
    columns, notes = (_read_parquet if _suffix(path) == ".parquet" else _read_csv)(path)
    try:
        return _solution(columns, notes)
    except InputError as e:
        raise InputError(f"{path}: {e}") from None


def is_solution(path: str | PathLike[str]) -> bool:
    """Whether a file says of itself that it is a solution; a file that cannot be read says nothing."""
    path = Path(path)
    try:
        if _suffix(path) == ".parquet":
            return b"strapdown-solution" in (pa.parquet.read_schema(path).metadata or {})
        opened: Callable[..., Any] = gzip.open if _suffix(path) == ".csv.gz" else open
        with opened(path, "rb") as file:
            return file.read(len(MARK) + 3).removeprefix(b"\xef\xbb\xbf").startswith(MARK.encode())
    except Exception:  # damaged files make pyarrow and gzip raise many kinds
        return False


def _suffix(path: Path) -> str:
    for suffix in SUFFIXES:
        if path.name.lower().endswith(suffix):
            return suffix
    raise InputError(f"{path} has no suffix we know; name it {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}")


def _columns(solution: Solution) -> dict[str, Any]:
    """Header -> values, in the order of the file."""
    columns: dict[str, Any] = {"t [s]": solution.t}
    for name, values, unit, frame in (
        ("p", solution.p_n, "m", "n"),
        ("v", solution.v_n, "m/s", "n"),
        ("q", solution.q_nb, "1", "nb"),
    ):
        if values is not None:
            axes = "xyz" if values.shape[1] == 3 else "wxyz"
            columns |= {f"{name}_{a} [{unit}, {frame}]": _column(values, i) for i, a in enumerate(axes)}
    for kind in ("bias", "sigma"):
        for key, values in getattr(solution, kind).items():
            what, frame = _split(_checked_key(key, kind))
            inside = f"{UNITS.get(what, 'SI')}, {frame}" if frame else UNITS.get(what, "SI")
            columns |= {f"{kind}_{what}_{a} [{inside}]": _column(values, i) for i, a in enumerate("xyz")}
    return columns | {f"flag_{_checked_key(key, 'flag')}": values for key, values in solution.flags.items()}


def _column(values: Array, i: int) -> Array:
    return np.ascontiguousarray(values[:, i])


def _split(key: str) -> tuple[str, str]:
    """ "gyr_s" -> ("gyr", "s"); a key that ends in no frame has none."""
    what, _, frame = key.rpartition("_")
    return (what, frame) if what and frame in ("n", "b", "s") else (key, "")


def _checked_key(key: str, kind: str) -> str:
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        raise InputError(f"{kind} {key!r} cannot be the name of a column; use letters, digits and _")
    return key


def _notes_json(solution: Solution) -> str:
    def plain(value: Any) -> Any:
        if isinstance(value, np.generic | np.ndarray):
            return value.tolist()
        if isinstance(value, Mapping):
            return dict(value)
        raise TypeError(f"{type(value).__name__} is not a JSON value")

    events = [[e.t_s, e.until_s, e.kind, e.text] for e in solution.events]
    try:
        return json.dumps({"meta": dict(solution.meta), "events": events}, default=plain, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as e:
        raise InputError(
            f"the solution's meta or events cannot be written: {e}; "
            "use plain values (text, finite numbers, true, false, None, lists and dicts of them)"
        ) from None


def _solution(columns: Mapping[str, Any], notes: str) -> Solution:
    """Columns by header put together; the types check the rest."""
    plain: dict[str, Any] = {}
    vectors: dict[str, dict[str, dict[str, Any]]] = {"bias": {}, "sigma": {}}
    for header, values in columns.items():
        match = _HEADER.fullmatch(header)
        name, frame = (match["name"], match["frame"]) if match else (header, None)
        vector = _VECTOR.fullmatch(name)
        if vector:
            key = f"{vector['what']}_{frame}" if frame else vector["what"]
            vectors[vector["kind"]].setdefault(key, {})[vector["axis"]] = values
        else:
            plain[name] = values
    flags = {name.removeprefix("flag_"): plain.pop(name) for name in list(plain) if name.startswith("flag_")}
    own: dict[str, Any] = {"t": plain.pop("t", None)}
    for name, field, axes in (("q", "q_nb", "wxyz"), ("p", "p_n", "xyz"), ("v", "v_n", "xyz")):
        own[field] = _stacked({a: plain.pop(f"{name}_{a}") for a in axes if f"{name}_{a}" in plain}, name, axes)
    if own["t"] is None or own["q_nb"] is None:
        raise InputError("it has no column t or no columns q_w..z; a solution needs time and attitude")
    if plain:
        raise InputError(f"it has columns that are not known: {listed(list(plain))}; drop them")
    for kind, found in vectors.items():
        own[kind] = {key: _stacked(axes, f"{kind}_{key}", "xyz") for key, axes in found.items()}
    meta, events = _noted(notes)
    return Solution(**own, flags=flags, meta=meta, events=events)


def _stacked(columns: Mapping[str, Any], name: str, axes: str) -> Any:
    if columns and len(columns) < len(axes):
        raise InputError(f"it has only a part of {name}_{axes[0]}..{axes[-1]}; add the others or leave it out")
    return np.stack([columns[a] for a in axes], axis=-1) if columns else None


def _noted(notes: str) -> tuple[dict[str, Any], tuple[Event, ...]]:
    try:
        said = json.loads(notes)
        events = tuple(Event(float(a), float(b), str(kind), str(text)) for a, b, kind, text in said["events"])
        return dict(said["meta"]), events
    except (ValueError, TypeError, KeyError, RecursionError) as e:
        raise InputError(f"its notes are not of the form meta and events ({e}); mend or write it again") from None


def _read_parquet(path: Path) -> tuple[dict[str, Any], str]:
    data = whole_bytes(path, "solution file")
    try:
        file = pa.parquet.ParquetFile(pa.BufferReader(data), page_checksum_verification=True)
        meta = file.schema_arrow.metadata or {}
        _check_version(meta.get(b"strapdown-solution", b"").decode("utf-8", "replace"), path)
        table = file.read(use_threads=False)
        columns = {name: table[name].to_numpy() for name in table.column_names}
        return columns, meta.get(b"strapdown-solution-notes", b"").decode("utf-8", "replace")
    except InputError:
        raise
    except Exception as e:  # damaged files make pyarrow raise many kinds, among them plain OSError and KeyError
        reason = " ".join(str(e).split())[:200] or type(e).__name__
        raise InputError(f"{path} is not a whole Parquet file: {reason}; copy or write it again") from e


def _read_csv(path: Path) -> tuple[dict[str, Any], str]:
    data = whole_bytes(path, "solution file")
    try:
        text = gzip.decompress(data) if _suffix(path) == ".csv.gz" else data
        mark, notes, header, body = text.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").split(b"\n", 3)
        mark_text, notes_text, header_text = mark.decode(), notes.decode(), header.decode()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as e:
        raise InputError(f"{path} is not a whole text file: {e}; copy or write it again") from e
    except ValueError:  # fewer than four lines
        mark_text, notes_text, header_text, body = data[:200].decode("utf-8", "replace"), "", "", b""
    _check_version(mark_text.removeprefix(MARK).strip() if mark_text.startswith(MARK) else "", path)
    names = next(csv.reader([header_text]), [])
    if not names or not body.strip():
        raise InputError(f"{path} has no rows; write it again")
    if len(set(names)) < len(names):
        raise InputError(f"{path} names a column twice; keep one of them")
    types = {name: pa.bool_() if name.startswith("flag_") else pa.float64() for name in names}
    try:
        table = pa.csv.read_csv(
            pa.BufferReader(body),
            pa.csv.ReadOptions(column_names=names),
            convert_options=pa.csv.ConvertOptions(
                column_types=types, null_values=[], true_values=["1"], false_values=["0"]
            ),
        )
    except (pa.ArrowException, OSError, ValueError) as e:
        reason = " ".join(str(e).split())[:200]
        raise InputError(
            f"{path} cannot be read as CSV (rows begin in line 4): {reason}; mend or write it again"
        ) from e
    return {name: table[name].to_numpy() for name in names}, notes_text.removeprefix("# ")


def _check_version(version: str, path: Path) -> None:
    if not version:
        raise InputError(f"{path} is not a solution file; write one with io.solution.write_solution")
    if version != SOLUTION_VERSION:
        raise InputError(
            f"{path} is a solution of format version {version[:20]!r}, this program reads {SOLUTION_VERSION}; "
            "update strapdown"
        )
