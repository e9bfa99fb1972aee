"""MATLAB files (.mat), up to version 7 by scipy and 7.3 by h5py: arrays become columns that a mapping reads.

An array `imu_acc` of n x 3 (or 3 x n) has the columns imu_acc_x, imu_acc_y, imu_acc_z; one of n x 6 the columns
imu_1 ... imu_6. Fields of structs have the name of the struct and a dot before their own, cells of a cell array the
number in braces.
"""

import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from strapdown.errors import InputError
from strapdown.io.atomic import whole_file
from strapdown.io.columns import BY_NAME, listed
from strapdown.io.foreign.layouts import recognised
from strapdown.io.foreign.mapping import ColumnMapping
from strapdown.io.foreign.source import MAPPING_HINT
from strapdown.io.formats.contents import Contents, Track
from strapdown.io.formats.library import damage_refused, library
from strapdown.io.in_memory import from_columns
from strapdown.io.table import Table, finite_json
from strapdown.regular_file import opened, refuse_bomb
from strapdown.rotation import q_normalise
from strapdown.types import Array, Recording

SOURCE, KIND = "MATLAB file", "a MATLAB file"
FRAMES = "MATLAB: axes and units as the column mapping states them"
_AXES = {1: ("",), 3: ("_x", "_y", "_z"), 4: ("_w", "_x", "_y", "_z")}
_MOST_COLUMNS, _DEEPEST = 40, 4  # wider arrays are pictures or covariances; structs in structs
_HDF = b"\x89HDF\r\n\x1a\n"
_OURS = "strapdown_meta"  # text in files that we wrote: the meta of each sensor, as JSON
_TABLES = "tables, timetables and objects cannot be read: save arrays, or table2struct(T, 'ToScalar', true)"
# poses of well-known data sets: positions, attitudes (w first)
_KNOWN_TRACKS = {"optical": ("opt_pos", "opt_quat")}


def read_matlab(
    path: Path, done: Callable[[float], None], tracks: bool, columns: ColumnMapping | None = None
) -> Contents:
    """One recording, by the mapping or by a ready one; all recordings of a file that we wrote."""
    values = _values(path)
    done(1.0)
    if columns is None and _OURS in values:
        with damage_refused(path, KIND):
            return Contents(SOURCE, "ours", _own(values, path))
    table = columns_of(path, values)
    name, header = path.name.split(".")[0], list(table)
    if columns is None:
        ready = recognised(header, path.name)
        if ready is None:
            raise InputError(f"{path} has the columns {listed(header, 12)}, which state no units; {MAPPING_HINT}")
        columns = ready.columns
    rows = len(next(iter(table.values())))
    meta = {"source": SOURCE, "frames": FRAMES}
    arrays = list(table.values())
    recording = from_columns(header, lambda i: arrays[i], rows, columns, str(path), meta)
    return Contents(SOURCE, FRAMES, {name: recording}, _tracks(values, recording.t) if tracks else {})


def columns_of(path: Path, values: Mapping[str, Any] | None = None) -> dict[str, Array]:
    """All columns of the arrays that share the most frequent length."""
    flat: dict[str, Array] = {}
    _flatten(_values(path) if values is None else values, "", flat, 0)
    lengths = [max(each.shape) for each in flat.values() if max(each.shape) > 1]
    if not lengths:
        names = listed(list(_values(path) if values is None else values)) or "nothing"
        raise InputError(f"{path} holds no arrays of readings; it has {names}; {_TABLES}")
    n = max(set(lengths), key=lambda length: (lengths.count(length) * length, length))
    found: dict[str, Array] = {}
    for name, array in flat.items():
        rows = array if array.shape[0] == n else array.T
        width = rows.shape[1]
        if rows.shape[0] != n or width > _MOST_COLUMNS:
            continue
        ends = _AXES.get(width, tuple(f"_{i + 1}" for i in range(width)))
        found |= {f"{name}{end}": np.ascontiguousarray(rows[:, i], dtype=np.float64) for i, end in enumerate(ends)}
    return found


def _flatten(values: Mapping[str, Any], before: str, flat: dict[str, Array], depth: int) -> None:
    for name, value in values.items():
        value = _stacked(value) if isinstance(value, list) or _is_cell(value) else value
        if isinstance(value, Mapping):
            if depth < _DEEPEST:
                _flatten(value, f"{before}{name}.", flat, depth + 1)
        elif isinstance(value, np.ndarray) and value.dtype.kind in "fiub" and value.ndim in (1, 2) and value.size:
            flat[f"{before}{name}".replace(".{", "{")] = value.reshape(len(value), -1) if value.ndim == 1 else value


def _is_cell(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind == "O"


def _stacked(value: Any) -> Any:
    """An array of structs as a struct of arrays; a long cell of numbers as rows; another cell by {1}, {2}, ..."""
    parts = list(np.ravel(value, order="F")) if _is_cell(value) else value
    if parts and all(isinstance(each, Mapping) and each.keys() == parts[0].keys() for each in parts):
        return {name: [each[name] for each in parts] for name in parts[0]}
    if len(parts) > _MOST_COLUMNS:
        try:
            return np.array([np.ravel(each) for each in parts], dtype=np.float64)
        except (TypeError, ValueError):  # of several lengths, or no numbers
            return {}
    return {f"{{{i + 1}}}": each for i, each in enumerate(parts)}


def _values(path: Path) -> dict[str, Any]:
    """Variables by name: arrays, texts and dicts of structs."""
    with opened(path, "MATLAB file") as file:
        start = file.read(520)
        packed = path.stat().st_size
        if start[:8] == _HDF or start[512:520] == _HDF:
            h5py = library("h5py", path, "a MATLAB file of version 7.3")
            file.seek(0)
            with damage_refused(path, KIND), h5py.File(file, "r") as tree:
                budget = _Budget(path, packed)
                return {str(name): _unpacked(each, budget, 0) for name, each in tree.items() if name[:1] != "#"}
        from scipy.io import loadmat, whosmat

        with damage_refused(path, KIND):
            file.seek(0)
            size = sum(8 * math.prod(int(n) for n in shape) for _, shape, _ in whosmat(file))
            refuse_bomb(path, packed, size)
            file.seek(0)
            found = loadmat(file, simplify_cells=True)
    return {name: value for name, value in found.items() if not name.startswith("__")}


class _Budget:
    """What may still be unpacked: an array that is not stored has any size."""

    def __init__(self, path: Path, packed: int) -> None:
        self._path, self._packed, self._size = path, packed, 0

    def spend(self, size: int) -> None:
        self._size += size
        refuse_bomb(self._path, self._packed, self._size)


def _unpacked(node: Any, budget: _Budget, depth: int) -> Any:
    """A dataset as MATLAB has it: HDF5 stores arrays with their axes in the other order."""
    if hasattr(node, "shape"):
        budget.spend(8 * int(node.size))
        kind = node.attrs.get("MATLAB_class", b"")
        value = node[()]
        if value.dtype.kind == "O" if isinstance(value, np.ndarray) else False:  # references to the cells
            if depth >= _DEEPEST:
                return {}
            return [_unpacked(node.file[each], budget, depth + 1) for each in np.ravel(value)]
        if kind == b"char":
            return "".join(chr(code) for code in np.ravel(value, order="F"))
        return value.T if isinstance(value, np.ndarray) else np.atleast_1d(value)
    if depth >= _DEEPEST:
        return {}
    return {str(name): _unpacked(each, budget, depth + 1) for name, each in node.items()}


def _tracks(values: Mapping[str, Any], t: Array) -> dict[str, Track]:
    found = {}
    for name, (place, turn) in _KNOWN_TRACKS.items():
        p, q = values.get(place), values.get(turn)
        if (
            isinstance(p, np.ndarray)
            and isinstance(q, np.ndarray)
            and p.shape == (len(t), 3)
            and q.shape == (len(t), 4)
        ):
            seen = (
                np.isfinite(p).all(axis=1)
                & np.isfinite(q).all(axis=1)
                & (np.abs(np.linalg.norm(q, axis=1) - 1.0) < 1e-2)
            )
            if np.count_nonzero(seen) > 1:
                found[name] = Track(t[seen], p[seen], q_normalise(q[seen]), None, f"{place} and {turn}")
    return found


def _own(values: Mapping[str, Any], path: Path) -> dict[str, Recording]:
    meta = finite_json(str(values[_OURS]))
    found = {}
    for name, own in meta.items():
        fields = values[own["variable"]]
        known = {column: np.atleast_1d(value) for column, value in fields.items() if column in BY_NAME}
        arrays = list(known.values())
        headers = [BY_NAME[column].header for column in known]
        found[name] = from_columns(headers, arrays.__getitem__, len(arrays[0]), None, str(path), own["meta"])
    return found


def write_matlab(path: Path, recordings: Mapping[str, Recording]) -> None:
    """One struct for each sensor, with our columns as fields (t, gyr_x, ...): units as in docs/io.md."""
    import pyarrow as pa
    from scipy.io import savemat

    document: dict[str, Any] = {}
    meta = {}
    for number, (name, recording) in enumerate(recordings.items()):
        table = Table({name: recording}, pa.int8())
        parts = [part.drop_columns(["sensor"]) for part in table.parts()]
        whole = pa.concat_tables(parts)
        variable = f"sensor{number}"
        columns = [header.partition(" [")[0] for header in whole.schema.names]
        document[variable] = {column: whole.column(i).to_numpy() for i, column in enumerate(columns)}
        meta[name] = {"variable": variable, "meta": json.loads(table.meta)[name]}
    document[_OURS] = json.dumps(meta)
    with whole_file(path) as tmp, tmp.open("wb") as file:
        savemat(file, document, do_compression=True, oned_as="column", long_field_names=True)
