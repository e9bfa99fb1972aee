"""A column mapping for a table without a description: a ready one, or one guessed by names and readings."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from strapdown.errors import InputError
from strapdown.io.foreign.clock import CLOCK
from strapdown.io.foreign.column_guess import Guess, guessed_columns
from strapdown.io.foreign.layouts import Layout, layouts, recognised, spelled
from strapdown.io.foreign.peek import Peek, peek
from strapdown.io.foreign.source import HELD
from strapdown.io.own_header import own_sources
from strapdown.io.toml_text import toml_value
from strapdown.recordings.foreign.unit_guess import UnitGuess, guessed_units
from strapdown.types import Array

_TRIADS = ("acc", "gyr", "mag")
_NO_TIME_HZ = 100.0
_HUGE = 1e12  # a damaged cell: counts of no part are larger, and squares stay numbers


@dataclass(frozen=True)
class Read:
    """How one column of a file is read: our column, its unit, and the reason."""

    column: str
    ours: str
    unit: str
    why: str
    sure: bool = True


@dataclass(frozen=True, eq=False)
class GuessedMapping:
    """A column mapping that was guessed from a file.

    columns: the mapping, None for a file of our own format.
    reads: how each used column is read.
    unused: the others.
    layout: the ready mapping that was taken, or that the guess equals.
    doubts: points that the user must check.
    """

    peeked: Peek
    columns: dict[str, Any] | None
    reads: tuple[Read, ...]
    unused: tuple[str, ...]
    layout: Layout | None = None
    doubts: tuple[str, ...] = ()

    def toml(self, source: str) -> str:
        """The mapping as a TOML file that states how each line is known."""
        why = {read.ours: read for read in self.reads}
        lines = [f"# Columns of {source}, written by strapdown look. Check the lines that are marked."]
        lines += [f"# {doubt}" for doubt in self.doubts]
        for name, entry in (self.columns or {}).items():
            read = why.get(name)
            note = "" if read is None else f"  # {'' if read.sure else 'CHECK: '}{read.why}"
            lines.append(f"{name} = {toml_value(entry, name)}{note}")
        return "\n".join(lines) + "\n"


def guess_mapping(path: Path) -> GuessedMapping:
    """Reads the header and the first rows of a file, and states how its columns can be read."""
    peeked = peek(path)
    if _is_ours(peeked):
        reads = tuple(Read(text, text.split(" ")[0], "", "our own column") for text in peeked.header)
        return GuessedMapping(peeked, None, reads, ())
    ready = recognised(peeked.header, path.name) or _marked_lines(peeked)
    if ready is not None:
        return _with_layout(peeked, ready)
    return _guessed(peeked, path)


def _is_ours(peeked: Peek) -> bool:
    try:
        own_sources(peeked.header, "")
    except InputError:
        return False
    return True


def _marked_lines(peeked: Peek) -> Layout | None:
    """Lines `a/g:` and six counts, as the example of i2cdevlib prints them."""
    marked = not peeked.has_header and len(peeked.header) == 7 and (peeked.words or {}).get("1", "").startswith("a/g")
    return next((each for each in layouts() if each.name == "mpu6050-i2cdevlib"), None) if marked else None


def _with_layout(peeked: Peek, ready: Layout) -> GuessedMapping:
    columns, reads = spelled(ready.columns, peeked.header), []
    for name, entry in dict(columns).items():
        if name == "t" and isinstance(entry, dict) and entry.get("column") in peeked.clocks:
            columns[name] = entry = {**entry, "unit": CLOCK}
        if isinstance(entry, dict) and entry.get("column") in peeked.header:
            reads.append(Read(entry["column"], name, entry.get("unit", ""), f"ready mapping {ready.name}"))
        elif isinstance(entry, dict) and "column" in entry:
            del columns[name]
    columns.pop("optional", None)
    columns |= _emptiness(columns, peeked)
    used = {read.column for read in reads}
    doubts = (ready.note,) if ready.note else ()
    by_name = None if reads and reads[0].unit == CLOCK else ready  # the ready one has a time in numbers
    return GuessedMapping(peeked, columns, tuple(reads), _others(peeked, used), by_name, doubts)


def _others(peeked: Peek, used: set[str]) -> tuple[str, ...]:
    return tuple(name for name in dict.fromkeys(peeked.header) if name not in used)


def _guessed(peeked: Peek, path: Path) -> GuessedMapping:
    found = guessed_columns(peeked.header, peeked.values, peeked.has_header, peeked.units, peeked.clocks)
    if not any(name.startswith(_TRIADS) for name in found):
        raise InputError(
            f"{path} has no columns that look like an accelerometer, a gyroscope or a magnetometer; it has "
            f"{', '.join(peeked.header[:12])}; write a column mapping by hand (docs/io.md)"
        )
    clock = (peeked.words or {}).get(found["t"].column) if "t" in found else None
    if clock:
        raise InputError(
            f'{path}: the time column "{found["t"].column}" holds {clock!r}, which is not a number; export the time as '
            "elapsed seconds, or convert the column to numbers"
        )
    try:
        arrays, stated = _arrays(found, peeked)
        units = guessed_units(arrays, stated)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    doubts: list[str] = []
    columns: dict[str, Any] = {}
    if not peeked.has_header:
        columns["header"] = False
        doubts.append("the file has no header: columns are taken by their order, accelerometer before gyroscope")
    if "t" not in found:
        columns["t"] = {"rate_hz": _NO_TIME_HZ}
        doubts.append(
            f"no column was recognised as time: {_NO_TIME_HZ:g} Hz is assumed; name the column of time as t in the "
            "mapping, or write the rate of the log as rate_hz"
        )
    reads: list[Read] = []
    for name, guess in found.items():
        unit = units.get(name.partition("_")[0])
        columns[name] = _entry(guess, unit)
        if name == "t" and np.any(np.diff(peeked.values[guess.column]) == 0.0):
            columns[name]["repeated"] = "spread"
        why = unit.why if unit is not None else "by its name"
        reads.append(Read(guess.column, name, _shown(unit), why, unit is None or unit.sure))
    frame = _frame(arrays, units)
    if frame is not None:
        columns = {"frame": frame, **columns}
        doubts.append(
            "z reads -g at rest: axes forward-right-down are assumed; if the sign is turned instead, as in logs of "
            "iPhones, remove the line frame and give each acc a negative counts_per_unit"
        )
    columns |= _emptiness(columns, peeked)
    doubts += dict.fromkeys(f"{read.ours.partition('_')[0]}: {read.why}" for read in reads if not read.sure)
    same = next((each for each in layouts() if _same(each, columns)), None)
    used = {guess.column for guess in found.values()}
    return GuessedMapping(peeked, columns, tuple(reads), _others(peeked, used), same, tuple(doubts))


def _arrays(found: dict[str, Guess], peeked: Peek) -> tuple[dict[str, Array], dict[str, str]]:
    """Rows in which every column that was found is a number, by quantity; and units that the names state."""
    whole = np.ones(peeked.rows, dtype=np.bool_)
    for name, guess in found.items():
        if name not in HELD:  # a slow instrument must not cost the others their rows
            whole &= np.isfinite(peeked.values[guess.column])
    if np.count_nonzero(whole) < 2:
        raise InputError(
            "no two rows hold time and all inertial readings; export one table with common rows, or a file each"
        )
    arrays: dict[str, Array] = {}
    stated: dict[str, str] = {}
    for quantity in ("t", *_TRIADS, "temperature"):
        names = [quantity] if quantity in ("t", "temperature") else [f"{quantity}_{axis}" for axis in "xyz"]
        if names[0] not in found:
            continue
        values = np.column_stack([peeked.values[found[name].column][whole] for name in names])
        values = values[np.isfinite(values).all(axis=1)] if quantity in ("mag", "temperature") else values
        if quantity != "t":
            values = np.clip(values, -_HUGE, _HUGE)
        arrays[quantity] = np.ascontiguousarray(values[:, 0] if len(names) == 1 else values)
        unit = found[names[0]].unit
        if unit is not None:
            stated[quantity] = unit
    return arrays, stated


def _entry(guess: Guess, unit: UnitGuess | None) -> dict[str, Any]:
    entry: dict[str, Any] = {"column": guess.column}
    if unit is not None:
        entry["unit"] = unit.unit
        if unit.counts_per_unit != 1.0:
            entry["counts_per_unit"] = unit.counts_per_unit
    return entry


def _shown(unit: UnitGuess | None) -> str:
    if unit is None:
        return ""
    return unit.unit if unit.counts_per_unit == 1.0 else f"{unit.counts_per_unit:g} counts per {unit.unit}"


def _frame(arrays: dict[str, Array], units: dict[str, UnitGuess]) -> str | None:
    """Frame frd where z reads about -g at the median."""
    if "acc" not in arrays:
        return None
    acc = np.median(units["acc"].convert(arrays["acc"]), axis=0)
    return "frd" if acc[2] < -0.8 * np.linalg.norm(acc) and np.linalg.norm(acc) > 5.0 else None


def _emptiness(columns: dict[str, Any], peeked: Peek) -> dict[str, Any]:
    """Entries of columns with empty cells, which state what an empty cell means."""
    changed = {}
    for name, entry in columns.items():
        if isinstance(entry, dict) and (peeked.blank or {}).get(str(entry.get("column"))):
            changed[name] = {**entry, "empty": "hold" if name in HELD else "drop"}
    return changed


def _same(each: Layout, columns: dict[str, Any]) -> bool:
    """Whether a ready mapping reads the file as the guess does."""
    mine = {name: entry for name, entry in columns.items() if isinstance(entry, dict)}
    theirs = {name: entry for name, entry in each.columns.items() if isinstance(entry, dict)}
    return mine == theirs and columns.get("frame") == each.columns.get("frame")
