"""Sub-diagrams expanded: one flat list of blocks with the source of every input."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from strapdown.environment.diagram.checking.sheets import OWN, CheckedSheet, Link, port_of
from strapdown.environment.diagram.file import MAX_BLOCKS, SubDiagram
from strapdown.environment.diagram.port import Port
from strapdown.environment.diagram.problem import Problem

MAX_DEPTH = 30  # of sub-diagrams in each other


@dataclass(frozen=True)
class Source:
    """Source of an input: node and output, and the types that sub-diagram ports on the way require."""

    node: int
    port: str
    through: tuple[tuple[str, Port], ...] = ()


@dataclass
class Node:
    """A block of the flat diagram.

    path: names of the enclosing sub-diagrams and of the block, joined by "/".
    """

    path: str
    kind: str
    block: Any
    sheet: str  # where the block is defined
    name: str  # in that sheet
    rate_hz: float | None  # asked for by the file, None: the block's own or that of the surroundings
    around_hz: float | None  # of the sub-diagram's use
    sources: dict[str, Source] = field(default_factory=dict)

    @property
    def place(self) -> str:
        return f'block "{self.path}"'


@dataclass(frozen=True)
class _Use:
    """One use of a sheet."""

    sheet: CheckedSheet
    prefix: str
    above: "_Use | None"
    name: str  # in the sheet above
    rate_hz: float | None


def size_problems(sheets: Mapping[str, CheckedSheet]) -> list[Problem]:
    """Recursion, depth and size, found without expanding anything."""
    subs = {name: _uses(checked) for name, checked in sheets.items()}
    done: dict[str, tuple[int, int]] = {}  # sheet: blocks, depth
    problems: list[Problem] = []
    on_path: list[str] = []
    work: list[tuple[str, bool]] = [(name, False) for name in reversed(list(sheets))]
    while work:
        name, leaving = work.pop()
        if leaving:
            on_path.pop()
            inner = [done.get(sub, (0, 0)) for sub in subs[name]]
            own = sum(entry.table.kind is not None for entry in sheets[name].entries.values())
            # clipped: the count of a hostile file has thousands of digits
            done[name] = min(own + sum(n for n, _ in inner), 10**9), 1 + max((d for _, d in inner), default=0)
            continue
        if name in done:
            continue
        if name in on_path:
            chain = [*on_path[on_path.index(name) :], name]
            text = " -> ".join(chain if len(chain) < 12 else [*chain[:5], "...", *chain[-5:]])
            message = f"contains itself ({text}); remove one of these uses"
            if not any(p.kind == "recursion" and p.message == message for p in problems):
                problems.append(Problem("recursion", "", f'diagram "{name}"', message))
            continue
        on_path.append(name)
        work.append((name, True))
        work += [(sub, False) for sub in reversed(dict.fromkeys(subs[name]))]
    if problems:
        return problems
    blocks, depth = done[""]
    if depth > MAX_DEPTH:
        problems.append(
            Problem("size", "", "", f"sub-diagrams are nested {depth} deep, at most {MAX_DEPTH} are possible")
        )
    if blocks > MAX_BLOCKS:
        count = f"{blocks}" if blocks < 10**9 else "more than 1e9"
        message = f"has {count} blocks with all sub-diagrams expanded, at most {MAX_BLOCKS} are possible"
        problems.append(Problem("size", "", "", message))
    return problems


def _uses(checked: CheckedSheet) -> list[str]:
    return [e.table.diagram for e in checked.entries.values() if e.table.diagram is not None and e.inputs is not None]


def flatten(sheets: Mapping[str, CheckedSheet]) -> tuple[list[Node], list[Problem]]:
    """All blocks that could be made, with the sources that were found. Call it only if size_problems finds none."""
    problems: list[Problem] = []
    nodes: list[Node] = []
    index: dict[str, int] = {}
    uses: dict[str, _Use] = {}

    def expand(use: _Use) -> None:
        uses[use.prefix] = use
        for name, entry in use.sheet.entries.items():
            path, table = use.prefix + name, entry.table
            if table.diagram is not None:
                if entry.inputs is not None:
                    rate = table.rate_hz or use.rate_hz
                    expand(_Use(sheets[table.diagram], f"{path}/", use, name, rate))
            elif entry.block is not None:
                assert table.kind is not None
                index[path] = len(nodes)
                nodes.append(Node(path, table.kind, entry.block, use.sheet.name, name, table.rate_hz, use.rate_hz))

    expand(_Use(sheets[""], "", None, "", None))
    for node in nodes:
        use = uses[node.path[: len(node.path) - len(node.name)]]
        for port in node.block.inputs:
            link = use.sheet.links.get((node.name, port))
            found = _trace(use, link, uses, index)
            if isinstance(found, Source):
                node.sources[port] = found
            elif found:
                message = f'input "{port}" is fed by ports of sub-diagrams in a circle, {found}; connect it to a block'
                problems.append(Problem("loop", node.path, node.place, message))
    return nodes, problems


def _trace(use: _Use, link: Link | None, uses: Mapping[str, _Use], index: Mapping[str, int]) -> Source | str | None:
    """Follow a wire back through ports of sub-diagrams to the block that computes the signal. Source of a wire. None: a
    wire is missing, which has been reported. The result is text if the ports are wired in a circle.
    """
    through: list[tuple[str, Port]] = []
    seen: set[tuple[str, str, str]] = set()
    while link is not None:
        here = (use.prefix, link.block, link.port)
        if here in seen:  # ports of sub-diagrams wired in a circle, without a block
            return ", ".join(name for name, _ in through)
        seen.add(here)
        if link.block == OWN:
            sheet = use.sheet.sheet
            above = use.above
            assert isinstance(sheet, SubDiagram) and above is not None
            table = next(port for port in sheet.input if port.name == link.port)
            through.append((f"{use.prefix}{link.port}", port_of(table)))
            use, link = above, above.sheet.links.get((use.name, link.port))
            continue
        path = use.prefix + link.block
        if path in index:
            return Source(index[path], link.port, tuple(through))
        inner = uses.get(f"{path}/")
        if inner is None:
            return None
        sheet = inner.sheet.sheet
        assert isinstance(sheet, SubDiagram)
        table = next(port for port in sheet.output if port.name == link.port)
        through.append((f"{path}.{link.port}", port_of(table)))
        use, link = inner, inner.sheet.links.get((OWN, link.port))
    return None
