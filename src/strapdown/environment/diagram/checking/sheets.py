"""Each sheet (the main diagram, a sub-diagram) checked separately: names, kinds, parameters, wires."""

import inspect
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from strapdown.environment.diagram.file import BlockTable, Diagram, PortTable, Sheet, SubDiagram
from strapdown.environment.diagram.kinds import Kinds
from strapdown.environment.diagram.port import Port
from strapdown.environment.diagram.problem import Hints, Problem
from strapdown.io.expected import expected
from strapdown.io.toml_text import shown

OWN = ""  # in a link: a port of the sheet itself instead of a block's


@dataclass(frozen=True)
class Link:
    """A wire with both ends found: block and port where it starts, and its number in the file."""

    block: str
    port: str
    wire: int


@dataclass
class Entry:
    """A block of a sheet. block and the ports are None where its kind or its parameters are wrong."""

    table: BlockTable
    block: Any = None  # None for a use of a sub-diagram too
    inputs: Mapping[str, Port] | None = None
    outputs: Mapping[str, Port] | None = None


@dataclass
class CheckedSheet:
    """entries by name; links by (block, input)."""

    name: str
    sheet: Sheet
    hint: Hints
    entries: dict[str, Entry] = field(default_factory=dict)
    links: dict[tuple[str, str], Link] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def place(self, rest: str = "") -> str:
        return ", ".join(filter(None, (f'diagram "{self.name}"' if self.name else "", rest)))

    def add(self, kind: str, block: str, rest: str, message: str) -> None:
        self.problems.append(Problem(kind, block, self.place(rest), message))


def port_of(table: PortTable) -> Port:
    return Port(table.unit, table.frame, table.shape)


def checked_sheets(diagram: Diagram, kinds: Kinds) -> dict[str, CheckedSheet]:
    """Every sheet by name, the main diagram as "". If several blocks have one name, the first counts."""
    subs: dict[str, SubDiagram] = {}
    hint = Hints()
    main = CheckedSheet("", diagram, hint)
    for sub in diagram.diagram:
        if sub.name in subs:
            main.add("name", "", f'diagram "{sub.name}"', "the name is used by two sub-diagrams; rename one")
        subs.setdefault(sub.name, sub)
    sheets = {"": main, **{name: CheckedSheet(name, sub, hint) for name, sub in subs.items()}}
    for checked in sheets.values():
        _entries(checked, subs, kinds)
        _links(checked)
    return sheets


def _entries(checked: CheckedSheet, subs: Mapping[str, SubDiagram], kinds: Kinds) -> None:
    for table in checked.sheet.block:
        where = f'block "{table.name}"'
        if table.name in checked.entries:
            checked.add("name", table.name, where, "the name is used by two blocks; give each its own")
            continue
        entry = checked.entries[table.name] = Entry(table)
        if table.diagram is not None:
            sub = subs.get(table.diagram)
            if sub is None:
                hint = checked.hint(table.diagram, subs, "define it as a [[diagram]]")
                checked.add("kind", table.name, where, f'sub-diagram "{table.diagram}" does not exist; {hint}')
            else:
                entry.inputs = {port.name: port_of(port) for port in sub.input}
                entry.outputs = {port.name: port_of(port) for port in sub.output}
            continue
        assert table.kind is not None
        if table.kind not in kinds:
            hint = checked.hint(
                table.kind, kinds, "see the table in docs/diagram.md, or load the Python file that defines it"
            )
            checked.add("kind", table.name, where, f'kind "{table.kind}" is not known; {hint}')
            continue
        try:
            made = kinds[table.kind].make(table.parameters)
            entry.inputs, entry.outputs = _ports(made, "inputs"), _ports(made, "outputs")
            _fits(made, table.kind)
            entry.block = made
        except ValidationError as error:
            names = list(kinds[table.kind].parameters.model_fields)
            for complaint in _first_each(error):
                checked.add("parameter", table.name, where, _parameter_sentence(complaint, names, checked.hint))
        except Exception as error:  # the user's own class may raise anything
            entry.inputs = entry.outputs = None
            text = " ".join(f"{type(error).__name__}: {error}".split())
            checked.add("parameter", table.name, where, f"cannot be made: {text[:200]}")


def _ports(block: Any, name: str) -> dict[str, Port]:
    ports = dict(getattr(block, name))
    if not all(isinstance(key, str) and isinstance(port, Port) for key, port in ports.items()):
        raise TypeError(f"{name} is not a mapping of names to Port")
    return ports


def _fits(block: Any, kind: str) -> None:
    """Whether the step accepts its arguments."""
    given = [0.0] * (len(block.inputs) + len(getattr(block, "feeds", {})))
    try:
        inspect.signature(block.step).bind(None, *given, dt=0.0)
        if callable(getattr(block, "apply", None)):
            inspect.signature(block.apply).bind(*given)
    except TypeError as error:
        raise TypeError(f"step of {kind} does not take its inputs and dt ({error})") from None


def _first_each(error: ValidationError) -> list[Any]:
    return list({complaint["loc"][:1]: complaint for complaint in reversed(error.errors(include_url=False))}.values())[
        ::-1
    ]


def _parameter_sentence(complaint: Any, names: list[str], hint: Hints) -> str:
    name = str(complaint["loc"][0]) if complaint["loc"] else ""
    if complaint["type"] == "extra_forbidden":
        return f'parameter "{name[:60]}" is not known; {hint(name, names, _listed(names))}'
    if complaint["type"] == "missing":
        return f'parameter "{name}" is missing; give it'
    if complaint["type"] == "value_error":
        return " ".join(filter(None, (f'parameter "{name}"' if name else "", str(complaint["ctx"]["error"]))))
    return f'parameter "{name}" is {shown(complaint["input"])}; give {expected(complaint)}'


def _listed(names: list[str]) -> str:
    return f"valid names: {', '.join(names)}" if names else "this kind has no parameters"


def _links(checked: CheckedSheet) -> None:
    sheet = checked.sheet
    inputs: dict[str, Port] = {}
    outputs: dict[str, Port] = {}
    if isinstance(sheet, SubDiagram):
        inputs = {port.name: port_of(port) for port in sheet.input}
        outputs = {port.name: port_of(port) for port in sheet.output}
        for direction, tables in (("input", sheet.input), ("output", sheet.output)):
            for name in (name for name, times in Counter(port.name for port in tables).items() if times > 1):
                checked.add("name", "", f'{direction} "{name}"', "the name is used by two ports; rename one")
    for number, wire in enumerate(sheet.wire, start=1):
        where = f'wire {number} from "{wire.source}" to "{wire.target}"'
        source = _end(checked, wire.source, where, "output", inputs)
        target = _end(checked, wire.target, where, "input", outputs)
        if source is None or target is None:
            continue
        if target in checked.links:
            other = checked.links[target]
            first = f"{other.block}.{other.port}" if other.block else other.port
            checked.add(
                "twice",
                target[0],
                where,
                f'"{wire.target}" has a wire from "{first}" already; keep one, or add the two with a sum',
            )
            continue
        checked.links[target] = Link(*source, number)
    ends = [(name, port) for name, entry in checked.entries.items() for port in _needed(entry.inputs)]
    meant = {wire.target for wire in sheet.wire}  # a wire whose start is wrong has been reported
    for block, port in (*ends, *((OWN, name) for name in outputs)):
        if (block, port) not in checked.links and (f"{block}.{port}" if block else port) not in meant:
            if block:
                message = f'input "{port}" is not connected; draw a wire to it'
                checked.add("unconnected", block, f'block "{block}"', message)
            else:
                checked.add("unconnected", "", f'output "{port}"', "is not connected; draw a wire to it")


def _needed(inputs: Mapping[str, Port] | None) -> Iterable[str]:
    return (name for name, port in (inputs or {}).items() if port.default is None)


def _end(checked: CheckedSheet, text: str, where: str, side: str, own: Mapping[str, Port]) -> tuple[str, str] | None:
    """Block and port of one end of a wire.

    side: the required side, seen from a block.
    """
    block, dot, port = text.rpartition(".")
    if not dot:
        if text in own:
            return OWN, text
        mirrored = "input" if side == "output" else "output"
        if isinstance(checked.sheet, SubDiagram):
            hint = checked.hint(text, own, 'write an end as "block.port"')
            checked.add("wire", "", where, f'the sub-diagram has no {mirrored} "{text}"; {hint}')
        else:
            checked.add("wire", "", where, f'"{text}" is no port; write an end as "block.port"')
        return None
    entry = checked.entries.get(block)
    if entry is None:
        hint = checked.hint(block, checked.entries, "add it, or remove the wire")
        checked.add("wire", "", where, f'block "{block}" does not exist; {hint}')
        return None
    ports, others = (entry.outputs, entry.inputs) if side == "output" else (entry.inputs, entry.outputs)
    if ports is None:  # the block itself is wrong; that has been reported
        return None
    if port not in ports:
        if port in (others or {}):
            hint = f'"{port}" is an {"input" if side == "output" else "output"}'
        else:
            hint = checked.hint(port, ports, f"its {side}s are {', '.join(ports)}" if ports else f"it has no {side}s")
        checked.add("port", block, where, f'block "{block}" has no {side} "{port}"; {hint}')
        return None
    return block, port
