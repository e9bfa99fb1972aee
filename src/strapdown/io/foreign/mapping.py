"""Relation of a file's columns to ours: by its header, or by a mapping for files of others."""

import math
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from os import PathLike, fspath

from strapdown.errors import InputError
from strapdown.io.atomic import whole_bytes
from strapdown.io.columns import BY_NAME, COLUMNS, Column, Unit, listed
from strapdown.io.foreign.frames import OURS, checked_frame
from strapdown.io.foreign.key_hints import instead_of
from strapdown.io.foreign.layouts import layout_columns, spelled
from strapdown.io.foreign.source import EMPTY, HELD, MAPPING_HINT, ROW_NUMBER, Source, unit_of
from strapdown.io.own_header import other_separator, own_sources
from strapdown.io.plain_values import toml_values

ColumnMapping = Mapping[str, str | Mapping[str, str | float]]  # and the options of the whole mapping
OPTIONS = ("empty", "frame", "header", "optional")  # of the whole mapping
_ENTRY = ("column", "unit", "repeated", "empty", "counts_per_unit", "zero_counts", "rate_hz")


def sources(header: Sequence[str], mapping: ColumnMapping | None, place: str) -> list[Source]:
    """Our columns in a file's header, by the mapping if there is one; `place` names the file in errors."""
    found = own_sources(header, place) if mapping is None else _mapped_sources(header, mapping, place)
    _check_complete({s.column.name for s in found}, place, mapping is not None)
    return found


def _mapped_sources(header: Sequence[str], mapping: ColumnMapping, place: str) -> list[Source]:
    found: list[Source] = []
    frame = checked_frame(mapping.get("frame", OURS))
    mapping = spelled(mapping, header)
    parsed = parse_mapping(mapping)
    omitted = _omitted(header, mapping, {name: text for name, (text, _) in parsed.items()})
    if omitted and len(parsed) - len(omitted) <= ("t" in parsed):
        raise InputError(f"{place} has no whole quantity of the mapping; it has {listed(header, 12)}")
    for name, (text, unit) in parsed.items():
        if name in omitted:
            continue
        if text is None:
            found.append(Source(BY_NAME[name], ROW_NUMBER, unit))
            continue
        if text not in header:
            near = [name for name in header if name.lower() == text.lower()] or get_close_matches(text, header, 3, 0.7)
            has = f"the closest is {listed(near)}" if near else f"it has {listed(header, 12)}{other_separator(header)}"
            raise InputError(f'{place} has no column "{text}", which the mapping names for {name}; {has}')
        if list(header).count(text) > 1:
            raise InputError(f'{place} has column "{text}" twice; the mapping cannot tell which is {name}')
        spread = name == "t" and _spread(mapping[name])
        found.append(Source(BY_NAME[name], list(header).index(text), unit, spread, _empty(mapping, name), frame))
    return found


def _omitted(header: Sequence[str], mapping: ColumnMapping, columns: Mapping[str, str | None]) -> set[str]:
    """Our columns of the quantities that a file lacks, for a mapping whose quantities are optional."""
    if not mapping.get("optional"):
        return set()
    lacking = {_group(BY_NAME[name]) for name, text in columns.items() if text is not None and text not in header}
    return {name for name in columns if name != "t" and _group(BY_NAME[name]) in lacking}


def fits(mapping: ColumnMapping, cells: Sequence[str]) -> bool:
    """Whether these cells are a header that has the columns of the mapping; of optional ones, those of one quantity are
    enough.
    """
    mapping = spelled(mapping, cells)
    columns = {name: text for name, (text, _) in parse_mapping(mapping).items()}
    omitted = _omitted(cells, mapping, columns)
    wanted = {text for name, text in columns.items() if name not in omitted and text is not None}
    return wanted <= set(cells) and len(columns) - len(omitted) > ("t" in columns)


def _spread(entry: str | Mapping[str, str | float]) -> bool:
    return isinstance(entry, Mapping) and "repeated" in entry


def _empty(mapping: ColumnMapping, name: str) -> str:
    """Meaning of an empty cell of the column: its own option, else that of the mapping. "hold" for all columns applies
    to slow instruments. A gyroscope or accelerometer that repeats its last reading would be a wrong motion.
    """
    entry = mapping[name]
    if isinstance(entry, Mapping) and "empty" in entry:
        return str(entry["empty"])
    whole = str(mapping.get("empty", EMPTY[0]))
    return EMPTY[0] if whole == "hold" and name not in HELD else whole


def _refuse_option(value: object, name: str) -> None:
    if value not in EMPTY:
        raise InputError(f'empty is {value!r} in {name}; valid: "{EMPTY[0]}", "{EMPTY[1]}", "{EMPTY[2]}"')


def parse_mapping(mapping: ColumnMapping) -> dict[str, tuple[str | None, Unit | None]]:
    """Check a mapping: our name -> (the file's column, its unit). Without a unit the column has our unit.

    Raw counts become (count - zero_counts) / counts_per_unit. The time of a log without time stamps is
    {"rate_hz": ...}: its column is None, and its "unit" turns row numbers into seconds. "repeated": "spread" is for a
    clock that gives some stamps several times: io/mended.unrepeated.
    """
    if not isinstance(mapping, Mapping):
        raise InputError(f"the column mapping is a {type(mapping).__name__}; {MAPPING_HINT}")
    parsed: dict[str, tuple[str | None, Unit | None]] = {}
    _refuse_option(mapping.get("empty", EMPTY[0]), "the column mapping")
    checked_frame(mapping.get("frame", OURS))
    for option in ("header", "optional"):
        if not isinstance(mapping.get(option, True), bool):
            raise InputError(f"{option} is {mapping[option]!r} in the column mapping; give true or false")
    for name, entry in mapping.items():
        if name in OPTIONS:
            continue
        column = BY_NAME.get(name)
        if column is None:
            hint = instead_of(name, (*BY_NAME, *OPTIONS)) or f"our columns are {listed(list(BY_NAME))}"
            raise InputError(f'the column mapping names "{name}"; {hint}')
        entry = {"column": entry} if isinstance(entry, str) else entry
        if name == "t" and isinstance(entry, Mapping) and set(entry) == {"rate_hz"}:
            if "sensor" in mapping:
                raise InputError("the mapping makes t from a rate, which works for one sensor only; leave sensor out")
            parsed[name] = (None, Unit("s", over=_number(entry, "rate_hz", name, above_zero=True)))
            continue
        wrong = next((key for key in entry if key not in _ENTRY), None) if isinstance(entry, Mapping) else None
        if wrong is not None:
            hint = instead_of(str(wrong), _ENTRY) or f"valid keys: {listed(_ENTRY)}"
            raise InputError(f'the column mapping of {name} has the key "{wrong}"; {hint}')
        text, unit = (entry.get("column"), entry.get("unit")) if isinstance(entry, Mapping) else (None, None)
        if (
            not isinstance(entry, Mapping)
            or "rate_hz" in entry
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
        known = unit_of(column, unit, f"the mapping of {name}")
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
    """A column mapping in a TOML file: lines like `acc_x = { column = "ax", unit = "g" }`, `t = "time"`.

    The name of a ready mapping, as "phyphox", is taken too (docs/foreign-logs.md).
    """
    ready = layout_columns(fspath(path))
    if ready is not None:
        return ready
    mapping = toml_values(whole_bytes(path, "mapping file"), path, _TOML_HINT)
    if not mapping:
        raise InputError(f"{path} maps no column; {_TOML_HINT}")
    try:
        parse_mapping(mapping)
    except InputError as e:
        raise InputError(f"{path}: {e}") from None
    return mapping


_TOML_HINT = 'write lines like acc_x = { column = "ax", unit = "g" }'


def _check_complete(names: set[str], place: str, mapped: bool) -> None:
    """A quantity comes with all its axes; truth and increments with all their parts."""
    if "t" not in names and mapped:
        raise InputError(
            'the column mapping has no time; add t = { column = "time", unit = "ms" }, or for a log without time '
            "stamps its rate, t = { rate_hz = 100 }"
        )
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
