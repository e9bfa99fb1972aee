"""Positions of the boxes of a sheet: their canvas positions, or columns by depth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from strapdown.environment.diagram.checking.flatten import flatten, size_problems
from strapdown.environment.diagram.checking.order import order_of
from strapdown.environment.diagram.checking.sheets import OWN, CheckedSheet, Entry, checked_sheets, port_of
from strapdown.environment.diagram.checking.signal_types import SignalTypes
from strapdown.environment.diagram.file import Diagram, PortTable, SubDiagram
from strapdown.environment.diagram.kinds import Kinds
from strapdown.environment.diagram.port import Port

GRID = 10.0  # px; wires run on it
HEADER, NOTE, ROW, FOOT = 30.0, 20.0, 20.0, 10.0
_CHARACTER = 7.2  # px, of the 12 px font
_GAP_X, _GAP_Y = 90.0, 40.0


@dataclass
class Box:
    """A block, or a port of the sub-diagram itself.

    x, y: upper left corner, px.
    """

    key: str
    name: str
    note: str = ""
    hint: str = ""
    category: str = ""
    inputs: dict[str, Port] = field(default_factory=dict)
    outputs: dict[str, Port] = field(default_factory=dict)
    nested: bool = False
    bad: bool = False
    own_port: bool = False
    at: tuple[float, float] | None = None
    x: float = 0.0
    y: float = 0.0

    @property
    def width(self) -> float:
        ports = max((len(a) for a in self.inputs), default=0) + max((len(b) for b in self.outputs), default=0)
        longest = 0 if self.own_port else ports * _CHARACTER + 44.0
        wide = max(len(self.name) * _CHARACTER * 1.1 + 36.0, len(self.note) * 6.4 + 20.0, longest, 80.0)
        return -(-wide // (2 * GRID)) * 2 * GRID

    @property
    def height(self) -> float:
        if self.own_port:
            return 20.0
        rows = max(len(self.inputs), len(self.outputs))
        return HEADER + (NOTE if self.note else 0.0) + rows * ROW + FOOT

    def port_xy(self, side: str, name: str) -> tuple[float, float]:
        """Where a wire meets the box.

        side: "in" or "out".
        """
        x = self.x if side == "in" else self.x + self.width
        if self.own_port:
            return x, self.y + 10.0
        row = list(self.inputs if side == "in" else self.outputs).index(name)
        return x, self.y + HEADER + (NOTE if self.note else 0.0) + row * ROW + 10.0


@dataclass(frozen=True)
class Connection:
    """A wire of the picture: keys of its boxes and names of its ports."""

    source: str
    output: str
    target: str
    input: str


@dataclass
class Panel:
    """The picture of one sheet."""

    title: str
    boxes: dict[str, Box]
    connections: list[Connection]


def panels(diagram: Diagram, kinds: Kinds) -> list[Panel]:
    """The main diagram and every sub-diagram, with positions. Blocks with problems are marked, not omitted."""
    sheets = checked_sheets(diagram, kinds)
    ports: dict[tuple[str, str], tuple[dict[str, Port], dict[str, Port]]] = {}
    bad: set[str] = set()
    if not size_problems(sheets):
        nodes, circles = flatten(sheets)
        order, loops = order_of(nodes)
        types = SignalTypes(nodes, order)
        for i, node in enumerate(nodes):
            found = (
                {name: types.port(i, "in", name) for name in node.block.inputs},
                {name: types.port(i, "out", name) for name in node.block.outputs},
            )
            ports.setdefault((node.sheet, node.name), found)
        bad = {problem.block for problem in (*circles, *loops, *types.problems)}
    made = []
    for name, checked in sheets.items():
        wrong = bad | {problem.block for problem in checked.problems}
        title = checked.sheet.title or (name if name else "")
        if name:
            title = f"{name}: {checked.sheet.title}" if checked.sheet.title else name
        boxes = {key: _box(checked, entry, kinds, ports, key in wrong) for key, entry in checked.entries.items()}
        if isinstance(checked.sheet, SubDiagram):
            for port in checked.sheet.input:
                boxes[f"> {port.name}"] = _own(port, "out")
            for port in checked.sheet.output:
                boxes[f"< {port.name}"] = _own(port, "in")
        panel = Panel(title, boxes, _connections(checked, boxes))
        place(panel)
        made.append(panel)
    return made


def _box(
    checked: CheckedSheet,
    entry: Entry,
    kinds: Kinds,
    ports: Mapping[tuple[str, str], tuple[dict[str, Port], dict[str, Port]]],
    bad: bool,
) -> Box:
    table = entry.table
    inputs, outputs = ports.get((checked.name, table.name), (dict(entry.inputs or {}), dict(entry.outputs or {})))
    kind = kinds.get(table.kind or "")
    note = f"diagram {table.diagram}" if table.diagram else str(table.kind)
    values = ", ".join(
        f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in table.parameters.items()
        if name not in ("unit", "unit_out", "frame")  # the wires show them
    )
    if values:
        note = f"{note}: {values}"
    box = Box(
        key=table.name,
        name=table.name,
        note=note if len(note) <= 34 else note[:33] + "…",
        hint=" ".join(filter(None, (kind.description if kind else "", values, table.comment))),
        category=kind.category if kind else "",
        inputs=dict(inputs),
        outputs=dict(outputs),
        nested=table.diagram is not None,
        bad=bad,
        at=table.at,
    )
    if entry.inputs is None:  # the kind is not known: the wires show which ports it should have
        for wire in checked.sheet.wire:
            for end, side in ((wire.source, box.outputs), (wire.target, box.inputs)):
                block, dot, port = end.rpartition(".")
                if dot and block == table.name:
                    side[port] = Port()
    return box


def _own(port: PortTable, side: str) -> Box:
    ports = {port.name: port_of(port)}
    key = f"{'>' if side == 'out' else '<'} {port.name}"
    inputs, outputs = (ports, {}) if side == "in" else ({}, ports)
    return Box(key, port.name, hint=port.comment, inputs=inputs, outputs=outputs, own_port=True, at=port.at)


def _connections(checked: CheckedSheet, boxes: Mapping[str, Box]) -> list[Connection]:
    found = []
    for (target, port), link in checked.links.items():
        source = link.block if link.block != OWN else f"> {link.port}"
        end = target if target != OWN else f"< {port}"
        if source in boxes and end in boxes:
            found.append(Connection(source, link.port, end, port))
    known = {(c.target, c.input) for c in found}
    for wire in checked.sheet.wire:  # wires of blocks with unknown ports
        (a, _, out), (b, _, into) = wire.source.rpartition("."), wire.target.rpartition(".")
        if (b, into) not in known and a in boxes and b in boxes and out in boxes[a].outputs and into in boxes[b].inputs:
            found.append(Connection(a, out, b, into))
    return found


def place(panel: Panel) -> None:
    """Positions of all boxes: those of the file; the others in columns by depth, below them."""
    placed = [box for box in panel.boxes.values() if box.at is not None]
    for box in placed:
        assert box.at is not None
        box.x, box.y = (round(v / GRID) * GRID for v in box.at)
    rest = [box for box in panel.boxes.values() if box.at is None]
    if not rest:
        return
    left = min((box.x for box in placed), default=0.0)
    top = max((box.y + box.height + 2 * _GAP_Y for box in placed), default=0.0)
    columns = _columns([box.key for box in rest], panel.connections)
    _untangle(columns, panel.connections)
    x = left
    tallest = max(sum(panel.boxes[key].height + _GAP_Y for key in column) for column in columns)
    for column in columns:
        boxes = [panel.boxes[key] for key in column]
        y = top + (tallest - sum(box.height + _GAP_Y for box in boxes)) / 2.0
        for box in boxes:
            box.x, box.y = x, round(y / GRID) * GRID
            y += box.height + _GAP_Y
        x += max(box.width for box in boxes) + _GAP_X


def _columns(keys: Sequence[str], connections: Sequence[Connection]) -> list[list[str]]:
    """Boxes by their longest way from a source; wires that close a loop do not count."""
    after: dict[str, list[str]] = {key: [] for key in keys}
    before = dict.fromkeys(keys, 0)
    for c in connections:
        if c.source in after and c.target in after and c.source != c.target:
            after[c.source].append(c.target)
            before[c.target] += 1
    # depth-first from the sources; a wire to a box that is still open closes a loop
    forward: dict[str, list[str]] = {key: [] for key in keys}
    done: list[str] = []
    state: dict[str, int] = {}
    for root in sorted(keys, key=lambda key: before[key] > 0):
        stack = [(root, iter(after[root]))] if root not in state else []
        state.setdefault(root, 1)
        while stack:
            key, following = stack[-1]
            child = next(following, None)
            if child is None:
                state[key] = 2
                done.append(key)
                stack.pop()
            elif state.get(child) != 1:
                forward[key].append(child)
                if child not in state:
                    state[child] = 1
                    stack.append((child, iter(after[child])))
    depth = dict.fromkeys(keys, 0)
    for key in reversed(done):
        for child in forward[key]:
            depth[child] = max(depth[child], depth[key] + 1)
    columns: list[list[str]] = [[] for _ in range(max(depth.values()) + 1)]
    for key in keys:
        columns[depth[key]].append(key)
    return columns


def _untangle(columns: list[list[str]], connections: Sequence[Connection]) -> None:
    """Order each column by the mean place of the connected boxes, a few times forward and backward."""
    for sweep in range(4):
        at = {key: i / max(len(column), 1) for column in columns for i, key in enumerate(column)}
        near: dict[str, list[float]] = {key: [] for key in at}
        for c in connections:
            if c.source in at and c.target in at:
                near[c.target].append(at[c.source])
                if sweep % 2:
                    near[c.source].append(at[c.target])
        for column in columns:
            column.sort(key=lambda key: sum(near[key]) / len(near[key]) if near[key] else at[key])
