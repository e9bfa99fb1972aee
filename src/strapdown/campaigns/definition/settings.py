"""Settings by dotted keys: "sensor.imu.part" is the part of the sensor called imu, "scene.wind_m_s.1" the first number
of the wind."""

import copy
from collections.abc import Callable, Mapping
from typing import Any

from strapdown.errors import InputError

_AXES = ("1", "2", "3")


def flattened(values: Mapping[str, Any], is_leaf: Callable[[Any], bool], before: str = "") -> dict[str, Any]:
    """Nested tables as dotted keys. is_leaf: where a table is itself a value."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        key = f"{before}{name}"
        if isinstance(value, Mapping) and value and not is_leaf(value):
            found |= flattened(value, is_leaf, f"{key}.")
        else:
            found[key] = value
    return found


def with_settings(values: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of the values of a file with these settings."""
    changed = copy.deepcopy(_plain(values))
    for key, value in settings.items():
        _set(changed, key.split("."), _plain(value), key)
    return changed


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _set(table: Any, parts: list[str], value: Any, key: str) -> None:
    first, rest = parts[0], parts[1:]
    if isinstance(table, dict):
        if not rest:
            table[first] = value
            return
        if not isinstance(table.get(first), dict | list):
            # a number in a list that the file does not have yet: all lists of numbers in our files are vectors
            table[first] = [0.0, 0.0, 0.0] if rest == [rest[0]] and rest[0] in _AXES else {}
        _set(table[first], rest, value, key)
        return
    for i in _items(table, first, key):
        if rest and isinstance(table[i], dict | list):
            _set(table[i], rest, value, key)
        elif rest:
            raise InputError(f'key "{key}" leads into a plain value at "{first}"; shorten it')
        else:
            table[i] = value


def _items(items: list[Any], name: str, key: str) -> list[int]:
    """Entries of a list: all ("*"), by number from 1, or by their name."""
    if name == "*":
        return list(range(len(items)))
    if name.isdigit():
        if not 1 <= int(name) <= len(items):
            raise InputError(f'key "{key}": there is no entry {name}; the list has {len(items)}, counted from 1')
        return [int(name) - 1]
    named = [i for i, item in enumerate(items) if isinstance(item, dict) and item.get("name") == name]
    if not named:
        there = [str(item["name"]) for item in items if isinstance(item, dict) and "name" in item]
        valid = f"valid names: {', '.join(there)}" if there else f"give a number from 1 to {len(items)}"
        raise InputError(f'key "{key}": nothing there is called "{name}"; {valid}')
    return named
