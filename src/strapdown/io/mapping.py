"""Which column of a file is which of ours: by its header, or by a mapping for files of others."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from os import PathLike

from strapdown.errors import InputError
from strapdown.io.atomic import whole_bytes
from strapdown.io.columns import BY_NAME, COLUMNS, UNITS, Column, Unit, listed
from strapdown.io.frames import OURS, checked_frame
from strapdown.io.plain_values import toml_values
from strapdown.types import SLOW

ColumnMapping = Mapping[str, str | Mapping[str, str | float]]  # and the options "empty" and "frame"
EMPTY = ("refuse", "drop", "hold")
_OPTIONS = ("empty", "frame")  # of the whole mapping
ROW_NUMBER = -1  # in place of a column: the time of a log that has none, made from its rate

MAPPING_HINT = (
    "give a mapping from our names to the file's, as a file MAPPING.toml or in Python "
    '{"t": {"column": "time", "unit": "ms"}, "acc_x": {"column": "ax", "unit": "g"}} (docs/io.md)'
)


# columns whose last value stands for an empty cell: slow instruments, and the controller's flag
HELD = tuple(c.name for c in COLUMNS if c.field.split(".")[0] in (*SLOW, "stop"))


@dataclass(frozen=True)
class Source:
    """Where one of our columns stands in a file (or ROW_NUMBER), and the unit it has there."""

    column: Column
    index: int
    unit: Unit | None
    spread: bool = False  # times that repeat are distinguished
    empty: str = EMPTY[0]  # what an empty cell means
    frame: str = OURS  # axes of the file's vectors, by the directions of x, y and z


def sources(header: Sequence[str], mapping: ColumnMapping | None, place: str) -> list[Source]:
    """Our columns in a file's header, by the mapping if there is one; `place` names the file in errors."""
    found = _own_sources(header, place) if mapping is None else _mapped_sources(header, mapping, place)
    _check_complete({s.column.name for s in found}, place)
    return found


def _other_separator(header: Sequence[str]) -> str:
    for mark, name in ((";", "semicolons"), ("\t", "tabs"), (" ", "spaces")):
        if len(header) == 1 and mark in header[0].strip():
            return f", separated by {name} instead of commas"
    return ""


def _own_sources(header: Sequence[str], place: str) -> list[Source]:
    found: list[Source] = []
    unknown: list[str] = []
    for index, text in enumerate(header):
        name, unit, frame = _parse_header(text)
        column = BY_NAME.get(name)
        if column is None:
            unknown.append(text)
        else:
            found.append(Source(column, index, _header_unit(column, unit, frame, text, place)))
    if not found:
        raise InputError(
            f"{place} has none of our columns; it has {listed(header, 12)}{_other_separator(header)}; {MAPPING_HINT}"
        )
    if unknown:
        raise InputError(
            f"{place} has columns that are not known: {listed(unknown, 12)}{_closest(unknown[0])}; rename them, or "
            f"{MAPPING_HINT}"
        )
    names = [s.column.name for s in found]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(f"{place} has column {twice[0]} twice; keep one of them")
    return found


def _mapped_sources(header: Sequence[str], mapping: ColumnMapping, place: str) -> list[Source]:
    found: list[Source] = []
    frame = checked_frame(mapping.get("frame", OURS))
    for name, (text, unit) in parse_mapping(mapping).items():
        if text is None:
            found.append(Source(BY_NAME[name], ROW_NUMBER, unit))
            continue
        if text not in header:
            near = get_close_matches(text, header, 3, 0.7)
            has = f"the closest is {listed(near)}" if near else f"it has {listed(header, 12)}{_other_separator(header)}"
            raise InputError(f'{place} has no column "{text}", which the mapping names for {name}; {has}')
        if list(header).count(text) > 1:
            raise InputError(f'{place} has column "{text}" twice; the mapping cannot tell which is {name}')
        spread = name == "t" and _spread(mapping[name])
        found.append(Source(BY_NAME[name], list(header).index(text), unit, spread, _empty(mapping, name), frame))
    return found


def _spread(entry: str | Mapping[str, str | float]) -> bool:
    return isinstance(entry, Mapping) and "repeated" in entry


def _empty(mapping: ColumnMapping, name: str) -> str:
    """What an empty cell of the column means: its own option, else that of the mapping. "hold" for all columns holds
    those of slow instruments: a gyroscope or accelerometer that repeats its last reading would be a wrong motion."""
    entry = mapping[name]
    if isinstance(entry, Mapping) and "empty" in entry:
        return str(entry["empty"])
    whole = str(mapping.get("empty", EMPTY[0]))
    return EMPTY[0] if whole == "hold" and name not in HELD else whole


def _refuse_option(value: object, name: str) -> None:
    if value not in EMPTY:
        raise InputError(f'empty is {value!r} in {name}; valid: "{EMPTY[0]}", "{EMPTY[1]}", "{EMPTY[2]}"')


def parse_mapping(mapping: ColumnMapping) -> dict[str, tuple[str | None, Unit | None]]:
    """Check a mapping: our name -> (the file's column, its unit). Without a unit the column has ours.

    Raw counts become (count - zero_counts) / counts_per_unit. The time of a log without time stamps is
    {"rate_hz": ...}: its column is None, and its "unit" turns row numbers into seconds. "repeated": "spread" for a
    clock whose stamps come several times: io/mended.unrepeated.
    """
    if not isinstance(mapping, Mapping):
        raise InputError(f"the column mapping is a {type(mapping).__name__}; {MAPPING_HINT}")
    parsed: dict[str, tuple[str | None, Unit | None]] = {}
    _refuse_option(mapping.get("empty", EMPTY[0]), "the column mapping")
    checked_frame(mapping.get("frame", OURS))
    for name, entry in mapping.items():
        if name in _OPTIONS:
            continue
        column = BY_NAME.get(name)
        if column is None:
            raise InputError(f'the column mapping names "{name}"; our columns are {listed(list(BY_NAME))}')
        entry = {"column": entry} if isinstance(entry, str) else entry
        if name == "t" and isinstance(entry, Mapping) and set(entry) == {"rate_hz"}:
            if "sensor" in mapping:
                raise InputError("the mapping makes t from a rate, which works for one sensor only; leave sensor out")
            parsed[name] = (None, Unit("s", over=_number(entry, "rate_hz", name, above_zero=True)))
            continue
        text, unit = (entry.get("column"), entry.get("unit")) if isinstance(entry, Mapping) else (None, None)
        if (
            not isinstance(entry, Mapping)
            or not set(entry) <= {"column", "unit", "repeated", "empty", *_COUNTS}
            or not isinstance(text, str)
            or not isinstance(unit, str | None)
        ):
            raise InputError(
                f'the column mapping of {name} is {entry!r}; write "ax" or {{"column": "ax", "unit": "g"}} '
                "(raw counts and logs without time: docs/io.md)"
            )
        if "repeated" in entry and (name != "t" or entry["repeated"] != "spread"):
            raise InputError(
                f'the column mapping of {name} has repeated = {entry["repeated"]!r}; only t has it, as "spread"'
            )
        if "empty" in entry:
            _refuse_option(entry["empty"], f"the column mapping of {name}")
            if entry["empty"] == "hold" and name not in HELD:
                raise InputError(
                    f'the column mapping of {name} has empty = "hold", which is for instruments slower than the log; '
                    'use "drop"'
                )
        known = _unit(column, unit, f"the mapping of {name}")
        parsed[name] = (text.strip(), _counted(known, entry, name) if set(entry) & set(_COUNTS) else known)
    named: dict[str, str] = {}
    for name, (text, _) in parsed.items():
        if text is not None and text in named:
            raise InputError(
                f'the column mapping names column "{text}" for {named[text]} and for {name}; give each its own column'
            )
        if text is not None:
            named[text] = name
    if not parsed or all(text is None for text, _ in parsed.values()):
        raise InputError(f"the column mapping names no column of the file; {MAPPING_HINT}")
    return parsed


_COUNTS = ("counts_per_unit", "zero_counts")


def _counted(unit: Unit | None, entry: Mapping[str, str | float], name: str) -> Unit:
    """The unit of a raw count: sensitivity and zero as a data sheet prints them."""
    if unit is None:
        raise InputError(f"the mapping of {name} has counts, but {name} has no unit; leave them out")
    over = unit.over * (_number(entry, "counts_per_unit", name) if "counts_per_unit" in entry else 1.0)
    zero = _number(entry, "zero_counts", name) if "zero_counts" in entry else 0.0
    return Unit(unit.si, unit.times, over, unit.plus - zero * unit.times / over)


def _number(entry: Mapping[str, str | float], key: str, name: str, above_zero: bool = False) -> float:
    value = entry[key]
    number = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    if math.isfinite(number) and (number > 0 or key == "zero_counts" or (number < 0 and not above_zero)):
        return number
    raise InputError(f"{key} in the mapping of {name} is {value!r}; give a number{' above 0' if above_zero else ''}")


def read_mapping(path: str | PathLike[str]) -> dict[str, str | dict[str, str | float]]:
    """A column mapping in a TOML file: lines like `acc_x = { column = "ax", unit = "g" }`, `t = "time"`."""
    mapping = toml_values(whole_bytes(path, "mapping file"), path, _TOML_HINT)
    if not mapping:
        raise InputError(f"{path} maps no column; {_TOML_HINT}")
    try:
        parse_mapping(mapping)
    except InputError as e:
        raise InputError(f"{path}: {e}") from None
    return mapping


_TOML_HINT = 'write lines like acc_x = { column = "ax", unit = "g" }'

_HEADER = re.compile(r"\s*([^\[\]]*?)\s*(?:\[\s*([^\[\],]*?)\s*(?:,\s*([^\[\],]*?)\s*)?\]\s*)?")


def _parse_header(text: str) -> tuple[str, str | None, str | None]:
    """`acc_x [m/s2, s]` -> ("acc_x", "m/s2", "s")."""
    match = _HEADER.fullmatch(text)
    return (match[1], match[2], match[3]) if match else (text, None, None)


def _header_unit(column: Column, unit: str | None, frame: str | None, text: str, place: str) -> Unit | None:
    if unit is None and column.unit not in (None, "1"):
        # a guess here would be wrong by 9.8 or 57 one day, without a sound
        raise InputError(f"{place}: column {text} names no unit; write {column.header}, or {MAPPING_HINT}")
    if frame is not None and frame != column.frame:
        raise InputError(f'{place}: column "{text}" is expressed in frame {frame}; expected {column.header}')
    return _unit(column, unit, f'{place}: column "{text}"')


def _unit(column: Column, unit: str | None, place: str) -> Unit | None:
    if column.unit is None:
        if unit is not None:
            raise InputError(f"{place} has unit {unit}, but {column.name} has none; leave it out")
        return None
    found = UNITS.get(column.unit if unit is None else unit)
    if found is None or found.si != column.unit:
        fitting = [name for name, known in UNITS.items() if known.si == column.unit]
        raise InputError(f"{place} has unit {unit}; {column.name} can be in {listed(fitting)}")
    return found


def _check_complete(names: set[str], place: str) -> None:
    """A quantity comes with all its axes; truth and increments with all their parts."""
    if "t" not in names:
        raise InputError(f"{place} has no column t [s]; every file needs the time of its rows, or {MAPPING_HINT}")
    for group in dict.fromkeys(_group(column) for column in COLUMNS):
        members = [column.name for column in COLUMNS if _group(column) == group]
        missing = [name for name in members if name not in names]
        if missing and len(missing) < len(members):
            raise InputError(f"{place} has only a part of {group}, without {listed(missing)}; add them or leave it out")


def _group(column: Column) -> str:
    owner = column.field.split(".")[0]
    return column.field if owner == "new" else owner


def _closest(text: str) -> str:
    """Our headers that are written most alike."""
    near = get_close_matches(_parse_header(text)[0][:80], BY_NAME, 3, 0.7)
    return f" (closest: {'; '.join(BY_NAME[name].header for name in near)})" if near else ""
