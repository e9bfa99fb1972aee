"""Columns of our own files: headers like `acc_x [m/s2, s]`, with their unit and frame."""

import re
from collections.abc import Sequence
from difflib import get_close_matches

from strapdown.errors import InputError
from strapdown.io.columns import BY_NAME, Column, Unit, listed
from strapdown.io.foreign.source import MAPPING_HINT, Source, unit_of

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
    return unit_of(column, unit, f'{place}: column "{text}"')


def other_separator(header: Sequence[str]) -> str:
    for mark, name in ((";", "semicolons"), ("\t", "tabs"), (" ", "spaces")):
        if len(header) == 1 and mark in header[0].strip():
            return f", separated by {name} instead of commas"
    return ""


def own_sources(header: Sequence[str], place: str) -> list[Source]:
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
            f"{place} has none of our columns; it has {listed(header, 12)}{other_separator(header)}; {MAPPING_HINT}"
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


def _closest(text: str) -> str:
    """Our headers with the most similar spelling."""
    near = get_close_matches(_parse_header(text)[0][:80], BY_NAME, 3, 0.7)
    return f" (closest: {'; '.join(BY_NAME[name].header for name in near)})" if near else ""
