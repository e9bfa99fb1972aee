"""pydantic's complaints about a rig or scenario file in plain words, with the place in the file."""

import re
from typing import get_args

from pydantic import BaseModel, ValidationError

from strapdown.io.expected import expected


def first_complaint(error: ValidationError, model: type[BaseModel], noun: str) -> str:
    """The first complaint: field, what is wrong, what is valid. noun: what the file is called, "rig"."""
    complaints = error.errors(include_url=False)
    complaint = complaints[0]
    where = _field(complaint["loc"])
    if complaint["type"] == "extra_forbidden":
        valid = ", ".join(name for name in _table_at(model, complaint["loc"][:-1]).model_fields if name != "folder")
        return f'field "{where}" is not known; valid names: {valid}'
    if complaint["type"] == "missing":
        return f'field "{where}" is missing; add it'
    if complaint["type"] == "value_error":
        message = str(complaint["ctx"]["error"])
        return f'"{where}" {message}' if where else f"the {noun} {message}"
    shown = repr(complaint["input"])
    shown = shown if len(shown) < 60 else shown[:57] + "..."
    # a field that may be one of several things has a complaint for each
    wanted = dict.fromkeys(expected(c) for c in complaints if _field(c["loc"]) == where)
    return f'field "{where}" is {shown}; give {" or ".join(wanted)}'


def _field(loc: tuple[int | str, ...]) -> str:
    """The place as a user counts, without pydantic's names for the kinds of a field."""
    parts = [p for p in loc if isinstance(p, int) or not re.fullmatch(r".*[\[(].*|str|float|constrained-.*", p)]
    return ".".join(str(p + 1) if isinstance(p, int) else p for p in parts)


def _table_at(table: type[BaseModel], loc: tuple[int | str, ...]) -> type[BaseModel]:
    """The model of the table at a place of the file."""
    for part in loc:
        if isinstance(part, str):
            kinds = [table.model_fields[part].annotation]
            while not (isinstance(kinds[0], type) and issubclass(kinds[0], BaseModel)):
                kinds = [*get_args(kinds[0]), *kinds[1:]]
            table = kinds[0]
    return table
