"""The columns of a solution's file: from the arrays of a solution, and back into them, some rows at a time."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from strapdown.errors import InputError
from strapdown.io.blocks.growing import Growing
from strapdown.io.columns import listed
from strapdown.io.table import slices
from strapdown.types import Event, Solution

# by name in bias and sigma; others are in SI too, as everything inside
UNITS = {"gyr": "rad/s", "acc": "m/s2", "mag": "uT", "p": "m", "v": "m/s", "attitude": "rad"}
_HEADER = re.compile(r"(?P<name>[^\[\]]*?)\s*(?:\[(?P<unit>[^\],]*)(?:,\s*(?P<frame>[^\],]*))?\])?")
_KEY = re.compile(r"[A-Za-z0-9_]+")
_VECTOR = re.compile(r"(?P<kind>bias|sigma)_(?P<what>[A-Za-z0-9_]+)_(?P<axis>[xyz])")

Column = tuple[NDArray[Any], int | None]  # values, and which component of them


def columns_of(solution: Solution) -> dict[str, Column]:
    """Header -> values, in the order of the file."""
    columns: dict[str, Column] = {"t [s]": (solution.t, None)}
    for name, values, unit, frame in (
        ("p", solution.p_n, "m", "n"),
        ("v", solution.v_n, "m/s", "n"),
        ("q", solution.q_nb, "1", "nb"),
    ):
        if values is not None:
            axes = "xyz" if values.shape[1] == 3 else "wxyz"
            columns |= {f"{name}_{a} [{unit}, {frame}]": (values, i) for i, a in enumerate(axes)}
    for kind in ("bias", "sigma"):
        for key, values in getattr(solution, kind).items():
            what, frame = _split(_checked_key(key, kind))
            inside = f"{UNITS.get(what, 'SI')}, {frame}" if frame else UNITS.get(what, "SI")
            columns |= {f"{kind}_{what}_{a} [{inside}]": (values, i) for i, a in enumerate("xyz")}
    return columns | {f"flag_{_checked_key(key, 'flag')}": (values, None) for key, values in solution.flags.items()}


def parts_of(columns: Mapping[str, Column], schema: pa.Schema) -> Iterator[pa.Table]:
    """Rows, some of them at a time."""
    for rows in slices(len(next(iter(columns.values()))[0])):
        cells = []
        for (values, axis), field in zip(columns.values(), schema, strict=True):
            some = values[rows] if axis is None else np.ascontiguousarray(values[rows, axis])
            cells.append(pa.array(some.astype(np.int8) if field.type == pa.int8() else some, field.type))
        yield pa.table(cells, schema=schema)


def _split(key: str) -> tuple[str, str]:
    """ "gyr_s" -> ("gyr", "s"); a key that ends in no frame has none."""
    what, _, frame = key.rpartition("_")
    return (what, frame) if what and frame in ("n", "b", "s") else (key, "")


def _checked_key(key: str, kind: str) -> str:
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        raise InputError(f"{kind} {key!r} cannot be the name of a column; use letters, digits and _")
    return key


_AXES = {"q_nb": ("q", "wxyz"), "p_n": ("p", "xyz"), "v_n": ("v", "xyz")}


class Filling:
    """A solution while its file is read: the place of each column, and its arrays as far as they are filled."""

    def __init__(self, headers: list[str]) -> None:
        self.rows = 0
        self._place: dict[str, tuple[str, str, int | None]] = {}  # header -> kind, name in the solution, component
        unknown: list[str] = []
        for header in headers:
            place = _place(header)
            if place is None:
                unknown.append(header)
            else:
                self._place[header] = place
        self._arrays: dict[tuple[str, str], Growing] = {}
        self._refuse_incomplete(unknown)

    def _refuse_incomplete(self, unknown: list[str]) -> None:
        axes: dict[tuple[str, str], set[int | None]] = {}
        for kind, name, axis in self._place.values():
            axes.setdefault((kind, name), set()).add(axis)
        for name, (letter, letters) in _AXES.items():
            if 0 < len(axes.get(("", name), ())) < len(letters):
                self._refuse_part(letter, letters)
        if ("", "t") not in axes or ("", "q_nb") not in axes:
            raise InputError("it has no column t or no columns q_w..z; a solution needs time and attitude")
        if unknown:
            raise InputError(f"it has columns that are not known: {listed(unknown)}; drop them")
        for (kind, name), there in axes.items():
            if kind in ("bias", "sigma") and len(there) < 3:
                self._refuse_part(f"{kind}_{name}", "xyz")

    @staticmethod
    def _refuse_part(name: str, axes: str) -> None:
        raise InputError(f"it has only a part of {name}_{axes[0]}..{axes[-1]}; add the others or leave it out")

    def put(self, header: str, array: pa.ChunkedArray) -> None:
        """A column of the block that begins at row `rows`."""
        kind, name, axis = self._place[header]
        values = array.to_numpy(zero_copy_only=False)
        if (kind, name) not in self._arrays:
            width = None if axis is None else 4 if name == "q_nb" else 3
            self._arrays[kind, name] = Growing(width, np.bool_ if values.dtype == np.bool_ else np.float64)
        self._arrays[kind, name].put(self.rows, values, axis)

    def solution(self, meta: Mapping[str, Any], events: tuple[Event, ...]) -> Solution:
        if self.rows == 0:
            raise InputError("it has no rows; write it again")
        found: dict[str, dict[str, Any]] = {"": {}, "bias": {}, "sigma": {}, "flags": {}}
        for (kind, name), array in self._arrays.items():
            found[kind][name] = array.locked(self.rows)
        return Solution(
            **found[""], bias=found["bias"], sigma=found["sigma"], flags=found["flags"], meta=meta, events=events
        )


def _place(header: str) -> tuple[str, str, int | None] | None:
    match = _HEADER.fullmatch(header)
    name, frame = (match["name"], match["frame"]) if match else (header, None)
    vector = _VECTOR.fullmatch(name)
    if vector:
        return vector["kind"], f"{vector['what']}_{frame}" if frame else vector["what"], "xyz".index(vector["axis"])
    if name == "t":
        return "", "t", None
    if name.startswith("flag_"):
        return "flags", name.removeprefix("flag_"), None
    for field, (letter, axes) in _AXES.items():
        if name[:-1] == f"{letter}_" and name[-1] in axes:
            return "", field, axes.index(name[-1])
    return None
