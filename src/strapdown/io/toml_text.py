"""Plain values as TOML text; the standard library only reads it."""

import datetime
import json
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from strapdown.errors import InputError


def toml_key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _text(key)


def _text(value: str) -> str:
    # JSON's escapes are TOML's, but for the delete sign, which TOML wants escaped too
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_value(value: Any, key: str = "") -> str:
    """A value in TOML; floats with all their digits.

    key: name for the message about a value that TOML cannot hold.
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value)  # inf and nan are TOML's words too
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return f"[{', '.join(toml_value(item, key) for item in value)}]"
    if isinstance(value, Mapping):
        inside = (f"{toml_key(str(k))} = {toml_value(v, k)}" for k, v in value.items() if v is not None)
        return f"{{ {', '.join(inside)} }}"
    raise InputError(f'"{key}" is {shown(value)}, which a TOML file cannot hold; give text, numbers or lists')


def shown(value: Any) -> str:
    """A value for a message: on one line, and short."""
    text = repr(value)
    return text if len(text) < 60 else text[:57] + "..."
