"""Settings as plain values: the text of a TOML or JSON file, refused where no reader behind could work with it."""

import json
import os
import tomllib
from typing import Any

from strapdown.errors import InputError

MOST_DEPTH = 32  # of tables and lists in each other: our formats need 5
_LARGEST = 2**63  # whole numbers of TOML have 64 bits, the sign included


def toml_values(data: bytes, path: str | os.PathLike[str], expected: str = "use tables and plain values") -> dict:
    """Bytes of a TOML file.

    expected: expected content of the file, for the message on one that is nested too deeply.
    """
    try:
        values = tomllib.loads(data.decode("utf-8-sig"))  # Notepad puts a mark in front
    except UnicodeDecodeError:
        raise InputError(f"{path} is not a text file in UTF-8; give a TOML file here") from None
    except ValueError as error:  # tomllib's own, and numbers of thousands of digits
        raise InputError(f"{path}: not valid TOML: {error}; correct it there") from None
    except RecursionError:
        raise InputError(f"{path}: not valid TOML: nested too deeply; {expected}") from None
    _refuse_unusable(values, path, expected)
    return values


def check_settings_version(version: Any, newest: int, path: str | os.PathLike[str]) -> None:
    """Refuse a file without a version, and one of a later program. newest: the latest version that is read."""
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        had = "is missing" if version is None else f"is {str(version)[:40]!r}"
        raise InputError(f"{path}: version {had}; give version = {newest}")
    if version > newest:
        raise InputError(
            f"{path}: version {version} is newer than this program, which reads up to {newest}; update strapdown"
        )


def json_values(data: bytes, path: str | os.PathLike[str], expected: str = "use plain values") -> Any:
    """Bytes of a JSON file; a whole number of more than 64 bits becomes a float, one beyond all floats infinite."""
    try:
        values = json.loads(data.decode("utf-8-sig"), parse_int=_whole_number)
    except UnicodeDecodeError:
        raise InputError(f"{path} is not a text file in UTF-8; give a JSON file here") from None
    except ValueError as error:
        raise InputError(f"{path}: not valid JSON: {error}; correct it there") from None
    except RecursionError:
        raise InputError(f"{path}: not valid JSON: nested too deeply; {expected}") from None
    _refuse_unusable(values, path, expected)
    return values


def _whole_number(digits: str) -> int | float:
    return int(digits) if len(digits) < 19 else float(digits)


def _refuse_unusable(values: Any, path: str | os.PathLike[str], expected: str) -> None:
    """Refuse values that are too deep or too large, level by level: a recursive function would reach Python's own
    limit.
    """
    level = [("", values)]
    for _ in range(MOST_DEPTH):
        inner: list[tuple[str, Any]] = []
        for where, value in level:
            if isinstance(value, dict):
                inner += [(f"{where}.{key}" if where else str(key), item) for key, item in value.items()]
            elif isinstance(value, list):
                inner += [(where, item) for item in value]
            elif isinstance(value, int) and not -_LARGEST <= value < _LARGEST:
                what = "is a whole number of more than 64 bits; give a finite number that fits"
                raise InputError(f'{path}: "{where[:80]}" {what}')
        if not inner:
            return
        level = inner
    raise InputError(f"{path}: nested too deeply; {expected}")
