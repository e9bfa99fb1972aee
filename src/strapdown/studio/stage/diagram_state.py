"""The running diagram as the page draws it: values with positions, resolved ports, and the signal of each wire."""

from collections.abc import Iterator
from typing import Any

from strapdown.environment.diagram.drawing.picture import panels
from strapdown.environment.diagram.file import Diagram, Sheet
from strapdown.environment.diagram.kinds import Kinds
from strapdown.environment.diagram.port import Port
from strapdown.environment.diagram.running.runner import Runner
from strapdown.studio import messages as m

_DEEPEST = 64  # ports of sub-diagrams that a wire passes


def plain_diagram(diagram: Diagram, kinds: Kinds) -> dict[str, Any]:
    """The values of the diagram file. Every block and port has a position `at`: its own, or that of the picture."""
    plain: dict[str, Any] = diagram.model_dump(by_alias=True, exclude_none=True, mode="json")
    sheets = [plain, *plain.get("diagram", [])]
    for sheet, panel in zip(sheets, panels(diagram, kinds), strict=False):
        for group, mark in (("block", ""), ("input", "> "), ("output", "< ")):
            for table in sheet.get(group, []):
                box = panel.boxes.get(f"{mark}{table['name']}")
                if box is not None:
                    table.setdefault("at", [box.x, box.y])
    return plain


def port_list(ports: Any) -> list[m.PortInfo]:
    return [port_info(name, port) for name, port in ports.items()]


def port_info(name: str, port: Port) -> m.PortInfo:
    shape = None if port.shape is None else list(port.shape)
    return m.PortInfo(name=name, unit=port.unit, frame=port.frame, shape=shape, default=port.default)


def diagram_state(runner: Runner, kinds: Kinds, revision: int, by: int) -> m.DiagramState:
    blocks = [
        m.BlockState(
            path=step.path,
            kind=step.kind,
            rate_hz=runner.plan.base_hz / step.every,
            inputs=port_list(step.input_ports),
            outputs=port_list(step.output_ports),
        )
        for step in runner.plan.steps
    ]
    return m.DiagramState(
        revision=revision,
        by=by,
        diagram=plain_diagram(runner.diagram, kinds),
        blocks=blocks,
        edges=list(edges_of(runner.diagram)),
    )


def edges_of(diagram: Diagram) -> Iterator[m.Edge]:
    """The signal of each wire of each use of each sheet."""
    sheets = dict(diagram.sheets())

    def walk(sheet: Sheet, uses: tuple[tuple[str, str], ...]) -> Iterator[m.Edge]:
        path = "/".join(name for name, _ in uses)
        for wire in sheet.wire:
            signal = _traced(sheets, uses, wire.source)
            if signal is not None:
                yield m.Edge(sheet=path, source=wire.source, signal=f"diagram/{signal}")
        for table in sheet.block:
            if table.diagram in sheets and len(uses) < _DEEPEST:
                yield from walk(sheets[table.diagram], (*uses, (table.name, table.diagram)))

    return walk(diagram, ())


def _traced(sheets: dict[str, Sheet], uses: tuple[tuple[str, str], ...], source: str) -> str | None:
    """The signal, followed through ports of sub-diagrams.

    uses: (name, sheet) from the main diagram down.
    """
    for _ in range(_DEEPEST):
        sheet = sheets[uses[-1][1]] if uses else sheets[""]
        block, dot, port = source.rpartition(".")
        if not dot:  # a port of the sub-diagram itself: go on above it
            if not uses:
                return None
            (name, _), uses = uses[-1], uses[:-1]
            above = sheets[uses[-1][1]] if uses else sheets[""]
            found = next((w.source for w in above.wire if w.target == f"{name}.{source}"), None)
        else:
            table = next((b for b in sheet.block if b.name == block), None)
            if table is None:
                return None
            if table.diagram is None:
                return "/".join([*(name for name, _ in uses), source])
            if table.diagram not in sheets:
                return None
            uses = (*uses, (block, table.diagram))
            found = next((w.source for w in sheets[table.diagram].wire if w.target == port), None)
        if found is None:
            return None
        source = found
    return None
