"""A diagram as an SVG picture that is readable on light and dark ground."""

from itertools import pairwise
from xml.sax.saxutils import escape, quoteattr

from strapdown.environment.diagram.drawing.picture import HEADER, Box, Panel, panels
from strapdown.environment.diagram.drawing.route import Point, routes
from strapdown.environment.diagram.file import Diagram
from strapdown.environment.diagram.kinds import Kinds, builtin
from strapdown.environment.diagram.port import FLAG, QUATERNION, Port

_MARGIN, _TITLE, _ROUND = 30.0, 34.0, 6.0
_COLOURS = {  # category: colour of its square
    "sensor": "z",
    "filter": "field",
    "estimation": "estimate",
    "control": "y",
    "output": "x",
    "simulation only": "warn",
}

_STYLE = """
svg { --bg: #ffffff; --node: #f1f4f7; --line: #7b8894; --text: #16202a; --soft: #56636f; --wire: #3f4c58;
  --x: #bf4405; --y: #0b7d5f; --z: #0b4aa6; --field: #6a45cf; --estimate: #96157a; --warn: #8a6200; --error: #96172a; }
@media (prefers-color-scheme: dark) {
svg { --bg: #10161c; --node: #1b232c; --line: #6a7885; --text: #e8edf2; --soft: #909dab; --wire: #b3bec9;
  --x: #f78d57; --y: #48e0b0; --z: #4c97f5; --field: #b9a2ff; --estimate: #f886d6; --warn: #f7c137;
  --error: #ff686e; } }
text { font: 12px "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", Arial, sans-serif; fill: var(--text); }
.ground { fill: var(--bg); }
.title { font-size: 15px; font-weight: 600; }
.name { font-size: 13px; font-weight: 600; }
.note, .unit { font-size: 11px; fill: var(--soft); }
.unit { paint-order: stroke; stroke: var(--bg); stroke-width: 3px; }
.node { fill: var(--node); stroke: var(--line); }
.inner { fill: none; stroke: var(--line); }
.truth { stroke: var(--warn); stroke-dasharray: 5 3; }
.bad { stroke: var(--error); stroke-width: 2px; }
.port { fill: var(--node); stroke: var(--wire); stroke-width: 1.4px; }
.wire { fill: none; stroke: var(--wire); stroke-width: 1.5px; }
.vector { stroke-width: 2.4px; }
.flag { stroke-dasharray: 2 3; }
.dot { fill: var(--wire); }
"""


def svg_of(diagram: Diagram, kinds: Kinds | None = None) -> str:
    """The picture: the main diagram, below it every sub-diagram."""
    parts: list[str] = []
    y, widest = _MARGIN, 300.0
    for panel in panels(diagram, builtin() if kinds is None else kinds):
        drawn, width, height = _panel(panel, y)
        parts += drawn
        y += height + _MARGIN
        widest = max(widest, width)
    width = widest + 2 * _MARGIN
    size = f'width="{width:g}" height="{y:g}" viewBox="0 0 {width:g} {y:g}"'
    title = f"<title>{escape(diagram.title)}</title>" if diagram.title else ""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">{title}<style>{_STYLE}</style>'
    return "\n".join([head, f'<rect class="ground" width="{width:g}" height="{y:g}"/>', *parts, "</svg>"]) + "\n"


def _panel(panel: Panel, top: float) -> tuple[list[str], float, float]:
    """Elements, width and height of a panel."""
    parts = [f'<text class="title" x="{_MARGIN:g}" y="{top + 16:g}">{_text(panel.title)}</text>'] if panel.title else []
    head = _TITLE if panel.title else 0.0
    boxes = list(panel.boxes.values())
    if not boxes:
        parts.append(f'<text class="note" x="{_MARGIN:g}" y="{top + head + 14:g}">no blocks</text>')
        return parts, 200.0, head + 30.0
    ways = routes(panel)
    corners = [point for way in ways for point in way]
    xs = [b.x for b in boxes] + [b.x + b.width for b in boxes] + [x for x, _ in corners]
    ys = [b.y for b in boxes] + [b.y + b.height for b in boxes] + [y for _, y in corners]
    dx, dy = _MARGIN + 10.0 - min(xs), top + head + 10.0 - min(ys)
    signals: dict[tuple[str, str], list[list[Point]]] = {}
    for c, way in zip(panel.connections, ways, strict=True):
        signals.setdefault((c.source, c.output), []).append(way)
    wires, dots = [], []
    for (key, name), branches in signals.items():
        # one path for all branches: a stretch they share is drawn once
        path = "".join(_path(way) for way in branches)
        wires.append(f'<path class="wire{_wire_class(panel.boxes[key].outputs[name])}" d="{path}"/>')
        dots += [f'<circle class="dot" cx="{x:g}" cy="{y:g}" r="3"/>' for x, y in sorted(_junctions(branches))]
    labels = [_unit(panel.boxes[key].outputs[name], ways[0][0]) for (key, name), ways in signals.items()]
    inside = [*wires, *dots, *(_box(box) for box in boxes), *filter(None, labels)]
    group = [f'<g transform="translate({dx:g} {dy:g})">', *inside, "</g>"]
    return parts + group, max(xs) - min(xs) + 20.0, head + max(ys) - min(ys) + 20.0


def _text(text: str) -> str:
    return escape(" ".join(text.split()))


def _wire_class(port: Port) -> str:
    return " flag" if port.unit == FLAG else " vector" if port.shape else ""


def _unit(port: Port, at: Point) -> str:
    if not port.unit or port.unit in (FLAG, QUATERNION):
        return ""
    return f'<text class="unit" x="{at[0] + 8:g}" y="{at[1] - 5:g}">{_text(port.unit)}</text>'


def _path(corners: list[Point]) -> str:
    """Straight segments with round corners."""
    x, y = corners[0]
    words = [f"M{x:g} {y:g}"]
    for (ax, ay), (bx, by), (cx, cy) in zip(corners, corners[1:], corners[2:], strict=False):
        before, after = abs(bx - ax) + abs(by - ay), abs(cx - bx) + abs(cy - by)
        r = min(_ROUND, before / 2.0, after / 2.0)
        if r <= 0.0:
            continue
        px, py = bx - r * (bx - ax) / before, by - r * (by - ay) / before
        qx, qy = bx + r * (cx - bx) / after, by + r * (cy - by) / after
        words.append(f"L{px:g} {py:g}Q{bx:g} {by:g} {qx:g} {qy:g}")
    x, y = corners[-1]
    return "".join([*words, f"L{x:g} {y:g}"])


def _junctions(branches: list[list[Point]]) -> set[Point]:
    """Points where wires of one signal branch: those with segments in three directions."""
    stretches = [(a, b) for way in branches for a, b in pairwise(way)]
    found = set()
    for corner in {point for way in branches for point in way[1:-1]}:
        sides = set()
        for a, b in stretches:
            if a == corner or _within(corner, a, b):
                sides.add(_direction(corner, b))
            if b == corner or _within(corner, a, b):
                sides.add(_direction(corner, a))
        if len(sides) > 2:
            found.add(corner)
    return found


def _direction(a: Point, b: Point) -> tuple[bool, bool]:
    return a[0] == b[0], (b[0] - a[0]) + (b[1] - a[1]) > 0.0


def _within(p: Point, a: Point, b: Point) -> bool:
    level = a[1] == b[1] == p[1] and min(a[0], b[0]) < p[0] < max(a[0], b[0])
    upright = a[0] == b[0] == p[0] and min(a[1], b[1]) < p[1] < max(a[1], b[1])
    return level or upright


def _box(box: Box) -> str:
    x, y, w, h = box.x, box.y, box.width, box.height
    truth = " truth" if box.category == "simulation only" else ""
    classes = f"node{truth}{' bad' if box.bad else ''}"
    parts = [f"<g><title>{_text(f'{box.name}. {box.hint}' if box.hint else box.name)}</title>"]
    radius = 10.0 if box.own_port else _ROUND
    parts.append(f'<rect class="{classes}" x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="{radius:g}"/>')
    if box.nested:
        size = f'width="{w - 6:g}" height="{h - 6:g}" rx="{_ROUND - 2:g}"'
        parts.append(f'<rect class="inner" x="{x + 3:g}" y="{y + 3:g}" {size}/>')
    if box.own_port:
        parts.append(f'<text x="{x + w / 2:g}" y="{y + 14:g}" text-anchor="middle">{_text(box.name)}</text>')
    else:
        colour = f"var(--{_COLOURS.get(box.category, 'soft')})"
        parts.append(f'<rect x="{x + 10:g}" y="{y + 11:g}" width="8" height="8" rx="1" fill={quoteattr(colour)}/>')
        parts.append(f'<text class="name" x="{x + 25:g}" y="{y + 20:g}">{_text(box.name)}</text>')
        if box.note:
            parts.append(f'<text class="note" x="{x + 10:g}" y="{y + HEADER + 8:g}">{_text(box.note)}</text>')
    for side, ports in (("in", box.inputs), ("out", box.outputs)):
        for name, port in ports.items():
            px, py = box.port_xy(side, name)
            parts.append(_port_mark(port, px, py))
            if not box.own_port:
                anchor, tx = ("start", px + 10) if side == "in" else ("end", px - 10)
                parts.append(f'<text x="{tx:g}" y="{py + 4:g}" text-anchor="{anchor}">{_text(name)}</text>')
    return "".join([*parts, "</g>"])


def _port_mark(port: Port, x: float, y: float) -> str:
    """The shape is the type: circle number, square vector, diamond on / off, hexagon attitude."""
    if port.unit == FLAG:
        corners = [(-5.0, 0.0), (0.0, -5.0), (5.0, 0.0), (0.0, 5.0)]
    elif port.unit == QUATERNION:
        corners = [(-5.0, 0.0), (-2.5, -4.5), (2.5, -4.5), (5.0, 0.0), (2.5, 4.5), (-2.5, 4.5)]
    elif port.shape:
        corners = [(-4.0, -4.0), (4.0, -4.0), (4.0, 4.0), (-4.0, 4.0)]
    else:
        return f'<circle class="port" cx="{x:g}" cy="{y:g}" r="4"/>'
    return f'<path class="port" d="M{"L".join(f"{x + dx:g} {y + dy:g}" for dx, dy in corners)}Z"/>'
