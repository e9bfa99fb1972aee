"""Errors of pydantic about a rig or scenario file in plain words, with the place in the file."""

import re
from difflib import get_close_matches
from typing import get_args

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from strapdown.io.expected import expected


def first_complaint(error: ValidationError, model: type[BaseModel], noun: str) -> str:
    """The first error: field, what is wrong, what is valid.

    noun: name for the file, such as "rig".
    """
    complaints = error.errors(include_url=False)
    complaint = complaints[0]
    if complaint["type"] == "missing":  # a name that is misspelt in the same table is the cause
        table = complaint["loc"][:-1]
        unknown = [each for each in complaints if each["type"] == "extra_forbidden" and each["loc"][:-1] == table]
        complaint = unknown[0] if unknown else complaint
    where = _field(model, complaint["loc"])
    if complaint["type"] == "extra_forbidden":
        valid = [name for name in _table_at(model, complaint["loc"][:-1]).model_fields if name != "folder"]
        near = get_close_matches(str(complaint["loc"][-1]), valid, 1)
        meant = f"did you mean {near[0]}? " if near else ""
        return f'field "{where}" is not known; {meant}valid names: {", ".join(valid)}'
    if complaint["type"] == "union_tag_invalid":
        kind, valid_kinds = complaint["ctx"]["tag"], complaint["ctx"]["expected_tags"].replace("'", "")
        return f'field "{where}.kind" is "{kind}"; valid kinds: {valid_kinds}'
    if complaint["type"] == "missing":
        return f'field "{where}" is missing; add it'
    if complaint["type"] == "value_error":
        message = str(complaint["ctx"]["error"])
        return f'"{where}" {message}' if where else f"the {noun} {message}"
    shown = repr(complaint["input"])
    shown = shown if len(shown) < 60 else shown[:57] + "..."
    # a field that may be one of several things has a complaint for each
    wanted = dict.fromkeys(expected(c) for c in complaints if _field(model, c["loc"]) == where)
    return f'field "{where}" is {shown}; give {" or ".join(wanted)}'


def _field(model: type[BaseModel], loc: tuple[int | str, ...]) -> str:
    """The place as a user counts it, without pydantic's names for the kinds of a field."""
    tags = _tags(model, loc)
    parts = [
        part
        for i, part in enumerate(loc)
        if isinstance(part, int) or not (i in tags or re.fullmatch(r".*[\[(].*|str|float|constrained-.*", part))
    ]
    return ".".join(str(p + 1) if isinstance(p, int) else p for p in parts)


def _tags(table: type[BaseModel], loc: tuple[int | str, ...]) -> set[int]:
    """Places in loc that name the kind of a table with several kinds: fault.1.dead.sensor has one."""
    found: set[int] = set()
    kinds: dict[str, type[BaseModel]] = {}
    for i, part in enumerate(loc):
        if isinstance(part, int):
            continue
        if part in kinds:
            found.add(i)
            table, kinds = kinds[part], {}
        elif part in table.model_fields:
            models = _models(table.model_fields[part])
            kinds = {model.model_fields["kind"].default: model for model in models if "kind" in model.model_fields}
            table = models[0] if models else table
    return found


def _models(field: FieldInfo) -> list[type[BaseModel]]:
    """All tables that a field may contain."""
    kinds, found = [field.annotation], []
    while kinds:
        kind = kinds.pop(0)
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            found.append(kind)
        else:
            kinds = [*get_args(kind), *kinds]
    return found


def _table_at(table: type[BaseModel], loc: tuple[int | str, ...]) -> type[BaseModel]:
    """The model of the table at a place of the file."""
    tags, models = _tags(table, loc), [table]
    for i, part in enumerate(loc):
        if i in tags:
            table = next(model for model in models if model.model_fields["kind"].default == part)
        elif isinstance(part, str):
            models = _models(table.model_fields[part])
            table = models[0]
    return table
