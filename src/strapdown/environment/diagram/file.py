"""Diagram files (TOML): the models of the tables are the format. docs/diagram.md explains every key."""

import os
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from strapdown.environment.diagram.problem import DiagramError, Problem, did_you_mean
from strapdown.environment.table import Number, Positive, Table
from strapdown.io.atomic import whole_bytes, whole_file
from strapdown.io.expected import expected
from strapdown.io.toml_text import shown, toml_key, toml_value

VERSION = 1
# version: what turns the plain values of that version into those of the next; version 1 is the first
UPGRADES: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}

MAX_BYTES = 500_000  # a diagram of the largest size has about 350 kB
MAX_DOTS = 100  # between two "=" of a line: tomllib takes a time that grows with the square of the parts of a key
MAX_BLOCKS = 2_000  # with all sub-diagrams expanded
MAX_WIRES = 10_000

_BASE_HZ, _CONTROL_HZ = 1000.0, 250.0


def _block_name(name: str) -> str:
    if not name.isprintable() or name != name.strip() or set(name) & set('./"'):
        raise ValueError(f'is {shown(name)}; use printable text without ".", "/", quotes or spaces at the ends')
    return name


BlockName = Annotated[str, Field(min_length=1, max_length=60), AfterValidator(_block_name)]
Text = Annotated[str, Field(max_length=10_000)]
Short = Annotated[str, Field(max_length=200)]
Place = tuple[Number, Number]
Count = Annotated[int, Field(strict=True, ge=1, le=1000)]


class BlockTable(Table):
    """A [[block]]: of a kind, or a use of a sub-diagram."""

    name: BlockName
    kind: Short | None = None
    diagram: BlockName | None = None
    parameters: dict[str, Any] = Field(default_factory=dict)
    rate_hz: Positive | None = None
    at: Place | None = None  # upper left corner on the canvas, px
    comment: Text = ""

    @model_validator(mode="after")
    def _one(self) -> "BlockTable":
        if (self.kind is None) == (self.diagram is None):
            raise ValueError("needs either a kind or a diagram, and not both")
        if self.diagram is not None and self.parameters:
            raise ValueError("uses a sub-diagram, which has no parameters; set those of the blocks in it")
        return self


class WireTable(Table):
    """A wire from "block.output" to "block.input"; in a sub-diagram its own ports have no dot."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)
    source: Short = Field(alias="from")
    target: Short = Field(alias="to")
    comment: Text = ""


class PortTable(Table):
    """A port of a sub-diagram; values that are not given are taken from the wires."""

    name: BlockName
    unit: Short | None = None
    frame: Short | None = None
    shape: tuple[Count, ...] | None = None
    at: Place | None = None
    comment: Text = ""


class Sheet(Table):
    """Common part of the main diagram and a sub-diagram."""

    title: Text = ""
    comment: Text = ""
    block: tuple[BlockTable, ...] = ()
    wire: tuple[WireTable, ...] = ()


class SubDiagram(Sheet):
    """A [[diagram]]: a named diagram that is used as a block."""

    name: BlockName
    input: tuple[PortTable, ...] = ()
    output: tuple[PortTable, ...] = ()


class Diagram(Sheet):
    """A whole diagram file."""

    version: Annotated[int, Field(strict=True)] = VERSION
    base_hz: Positive = _BASE_HZ  # ticks of the clock that all rates divide
    control_hz: Positive = _CONTROL_HZ  # rate of blocks without one of their own
    diagram: tuple[SubDiagram, ...] = ()

    def sheets(self) -> Iterator[tuple[str, Sheet]]:
        """The main diagram, named "", and the sub-diagrams by name."""
        yield "", self
        for sub in self.diagram:
            yield sub.name, sub


def read_diagram(path: str | os.PathLike[str]) -> Diagram:
    """The diagram in a TOML file; DiagramError if it cannot be read as one. check() finds problems of the content."""
    data = whole_bytes(path, "diagram")
    if len(data) > MAX_BYTES:
        raise _refused(f"has {len(data) / 1e6:.1f} MB, a diagram at most {MAX_BYTES / 1e6:g} MB", path, "size")
    try:
        text = data.decode("utf-8-sig")  # Notepad puts a mark in front
    except UnicodeDecodeError:
        raise _refused("not a text file in UTF-8; a diagram is a TOML file", path) from None
    return diagram_from_text(text, str(path))


def diagram_from_text(text: str, source: str = "") -> Diagram:
    """The diagram in TOML text.

    source: name for messages.
    """
    if len(text) > MAX_BYTES:
        raise _refused(f"has {len(text) / 1e6:.1f} MB, a diagram at most {MAX_BYTES / 1e6:g} MB", source, "size")
    for i, line in enumerate(text.split("\n"), start=1):
        if line.count(".") > MAX_DOTS and max(part.count(".") for part in line.split("=")) > MAX_DOTS:
            raise _refused(f"line {i} has a key or a list with more than {MAX_DOTS} dots; shorten it", source, "size")
    try:
        values = tomllib.loads(text)
    except RecursionError:
        raise _refused("not valid TOML: nested too deeply", source) from None
    except ValueError as error:  # tomllib's own, and numbers of thousands of digits
        raise _refused(f"not valid TOML: {error}; correct it there", source) from None
    return diagram_from(values, source)


def diagram_from(values: dict[str, Any], source: str = "") -> Diagram:
    """The diagram in plain values, for example from a message of the page."""
    version = values.get("version")
    if isinstance(version, bool) or not isinstance(version, int):
        raise _refused(f"version is {shown(version)}; give version = {VERSION}", source)
    if version > VERSION:
        raise _refused(
            f"version {shown(version)} is newer than this program, which reads up to {VERSION}; update strapdown",
            source,
        )
    for old in range(version, VERSION):
        if old not in UPGRADES:
            raise _refused(f"version {old} does not exist; give version = {VERSION}", source)
        values = UPGRADES[old](values)
    for sheet in (values, *_list(values.get("diagram"))):
        if isinstance(sheet, dict):
            for key, most in (("block", MAX_BLOCKS), ("wire", MAX_WIRES), ("diagram", MAX_BLOCKS)):
                if len(_list(sheet.get(key))) > most:
                    raise _refused(f"has {len(sheet[key])} {key} tables, at most {most} are possible", source, "size")
    try:
        return Diagram(**{**values, "version": VERSION})
    except (ValidationError, RecursionError) as error:
        if isinstance(error, RecursionError):
            raise _refused("nested too deeply", source) from None
        raise DiagramError([_problem(complaint, values) for complaint in _one_each(error)], source) from None


def _refused(message: str, source: Any, kind: str = "file") -> DiagramError:
    return DiagramError([Problem(kind, "", "", message)], str(source))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _one_each(error: ValidationError) -> list[Any]:
    """One error for each place: a field that may be one of several things has an error for each."""
    return list({complaint["loc"][:4]: complaint for complaint in reversed(error.errors(include_url=False))}.values())[
        ::-1
    ]


_MODELS: dict[str, type[BaseModel]] = {
    "block": BlockTable,
    "wire": WireTable,
    "diagram": SubDiagram,
    "input": PortTable,
    "output": PortTable,
}


def _problem(complaint: Any, values: Any) -> Problem:
    """An error of pydantic in our words, with the place in the file."""
    loc = list(complaint["loc"])
    model: type[BaseModel] = Diagram
    places, block = [], ""
    while len(loc) >= 2 and isinstance(loc[0], str) and isinstance(loc[1], int) and loc[0] in _MODELS:
        key, i = loc[0], loc[1]
        model, loc = _MODELS[key], loc[2:]
        values = values[key][i] if isinstance(values, dict) else None
        name = values.get("name") if isinstance(values, dict) else None
        named = isinstance(name, str) and len(name) <= 60
        places.append(f'{key} "{name}"' if named else f"{key} {i + 1}")
        block = str(name) if key == "block" and named else ""
    field = str(loc[0]) if loc else ""
    if complaint["type"] == "extra_forbidden":
        names = [f.alias or n for n, f in model.model_fields.items()]
        message = f'key "{field[:60]}" is not known; {did_you_mean(field, names)}'
    elif complaint["type"] == "missing" and len(loc) == 1:
        message = f'key "{field}" is missing; add it'
    elif complaint["type"] == "value_error":
        message = " ".join(filter(None, (field, str(complaint["ctx"]["error"]))))
    else:
        given = complaint["input"]
        if len(loc) > 1 and isinstance(values, dict):
            given = values.get(field)
        wanted = "all its values" if complaint["type"] == "missing" else expected(complaint)
        message = f"{field or 'the table'} is {shown(given)}; give {wanted}"
    return Problem("file", block, ", ".join(places), message)


def write_diagram(path: str | os.PathLike[str], diagram: Diagram) -> None:
    """Write a diagram file, whole or not at all; reading it again gives an equal Diagram."""
    text = diagram_text(diagram)
    with whole_file(path) as tmp:
        Path(tmp).write_text(text, encoding="utf-8")


def diagram_text(diagram: Diagram) -> str:
    """The diagram as TOML."""
    lines = [f"version = {VERSION}"]
    lines += _keys(diagram, ("title", "comment"))
    lines += [f"base_hz = {toml_value(diagram.base_hz)}", f"control_hz = {toml_value(diagram.control_hz)}"]
    lines += _wires(diagram) + _blocks(diagram, "")
    for sub in diagram.diagram:
        lines += ["", "[[diagram]]", *_keys(sub, ("name", "title", "comment")), *_wires(sub)]
        for key in ("input", "output"):
            for port in getattr(sub, key):
                lines += ["", f"[[diagram.{key}]]", *_keys(port, ("name", "unit", "frame", "shape", "at", "comment"))]
        lines += _blocks(sub, "diagram.")
    return "\n".join(lines) + "\n"


def _wires(sheet: Sheet) -> list[str]:
    """One line for each wire; the list is before the first table, as TOML requires."""
    if not sheet.wire:
        return []
    lines = []
    for wire in sheet.wire:
        comment = f", comment = {toml_value(wire.comment)}" if wire.comment else ""
        lines.append(f"  {{ from = {toml_value(wire.source)}, to = {toml_value(wire.target)}{comment} }},")
    return ["wire = [", *lines, "]"]


def _blocks(sheet: Sheet, prefix: str) -> list[str]:
    lines = []
    for table in sheet.block:
        lines += ["", f"[[{prefix}block]]", *_keys(table, ("name", "kind", "diagram", "rate_hz", "at", "comment"))]
        if table.parameters:
            inside = (f"{toml_key(k)} = {toml_value(v, k)}" for k, v in table.parameters.items())
            lines.append(f"parameters = {{ {', '.join(inside)} }}")
    return lines


def _keys(table: BaseModel, names: tuple[str, ...]) -> list[str]:
    """The given keys; empty texts and None are not written."""
    values = ((name, getattr(table, name)) for name in names)
    return [f"{name} = {toml_value(value, name)}" for name, value in values if value is not None and value != ""]
