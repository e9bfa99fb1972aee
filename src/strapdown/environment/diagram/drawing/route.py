"""Wires with right angles around boxes: the cheapest way on a grid, where corners and shared segments cost extra."""

import heapq
from collections.abc import Iterable
from itertools import pairwise

from strapdown.environment.diagram.drawing.picture import GRID, Box, Connection, Panel

_MAX_CELLS = 200_000  # of the grid; a larger canvas gets simple wires
_MAX_VISITS = 1_500_000  # cells looked at for all wires of a panel, a few seconds
_BEND, _CROSS, _SHARE, _CLOSE = 4, 3, 40, 2  # costs in cells

Point = tuple[float, float]
_Cell = tuple[int, int]
_SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1))


def routes(panel: Panel) -> list[list[Point]]:
    """The corners of every wire of the panel, both ends included."""
    boxes = list(panel.boxes.values())
    left, top = min(b.x for b in boxes) - 80.0, min(b.y for b in boxes) - 60.0
    right, bottom = max(b.x + b.width for b in boxes) + 80.0, max(b.y + b.height for b in boxes) + 60.0
    wide, high = int((right - left) / GRID) + 1, int((bottom - top) / GRID) + 1
    if wide * high > _MAX_CELLS:
        return [_simple(panel, c) for c in panel.connections]
    grid = _Grid(boxes, left, top, wide, high)
    for c in panel.connections:
        grid.reserve(panel.boxes[c.source].port_xy("out", c.output), 1, f"{c.source}.{c.output}")
        grid.reserve(panel.boxes[c.target].port_xy("in", c.input), -1, f"{c.source}.{c.output}")
    found: dict[int, list[Point]] = {}
    # short wires first: they have the fewest ways
    length = {i: _length(panel, c) for i, c in enumerate(panel.connections)}
    for i in sorted(length, key=lambda i: (length[i], i)):
        connection = panel.connections[i]
        begin = panel.boxes[connection.source].port_xy("out", connection.output)
        end = panel.boxes[connection.target].port_xy("in", connection.input)
        way = grid.way(begin, end, f"{connection.source}.{connection.output}")
        found[i] = way or _simple(panel, connection)
    return [found[i] for i in range(len(panel.connections))]


def _length(panel: Panel, c: Connection) -> float:
    (x0, y0), (x1, y1) = panel.boxes[c.source].port_xy("out", c.output), panel.boxes[c.target].port_xy("in", c.input)
    return abs(x1 - x0) + abs(y1 - y0) + (2000.0 if x1 < x0 else 0.0)


def _simple(panel: Panel, c: Connection) -> list[Point]:
    """Three segments to the right, or around below both boxes."""
    (x0, y0), (x1, y1) = panel.boxes[c.source].port_xy("out", c.output), panel.boxes[c.target].port_xy("in", c.input)
    if x1 - x0 >= 40.0:
        middle = round((x0 + x1) / 2.0 / GRID) * GRID
        return [(x0, y0), (middle, y0), (middle, y1), (x1, y1)]
    low = max(box.y + box.height for box in (panel.boxes[c.source], panel.boxes[c.target])) + 20.0
    return [(x0, y0), (x0 + 20.0, y0), (x0 + 20.0, low), (x1 - 20.0, low), (x1 - 20.0, y1), (x1, y1)]


class _Grid:
    def __init__(self, boxes: Iterable[Box], left: float, top: float, wide: int, high: int) -> None:
        self.left, self.top, self.wide, self.high = left, top, wide, high
        self.blocked: set[_Cell] = set()
        self.close: set[_Cell] = set()  # next to a box: possible, and not nice
        self.used: dict[tuple[_Cell, bool], str] = {}  # cell and whether horizontal: the signal that runs there
        self.visits = 0
        for box in boxes:
            x0, y0 = self._cell((box.x, box.y))
            x1, y1 = self._cell((box.x + box.width, box.y + box.height))
            around = {(x, y) for x in range(x0 - 1, x1 + 2) for y in range(y0 - 1, y1 + 2)}
            inside = {(x, y) for x, y in around if x0 <= x <= x1 and y0 <= y <= y1}
            self.blocked |= inside
            self.close |= around - inside

    def _cell(self, point: Point) -> _Cell:
        return round((point[0] - self.left) / GRID), round((point[1] - self.top) / GRID)

    def _point(self, cell: _Cell) -> Point:
        return cell[0] * GRID + self.left, cell[1] * GRID + self.top

    def reserve(self, port: Point, side: int, signal: str) -> None:
        """Keep the cells in front of a port for its own signal."""
        x, y = self._cell(port)
        for cell in ((x + side, y), (x + 2 * side, y)):
            self.used[cell, True] = self.used[cell, False] = signal

    def way(self, begin: Point, end: Point, signal: str) -> list[Point] | None:
        """The cheapest way from an output to an input (A*), None if there is none or the search takes too long."""
        first, last = self._cell(begin), self._cell(end)
        start, goal = (first[0] + 1, first[1]), (last[0] - 1, last[1])
        best: dict[tuple[_Cell, int], int] = {(start, 0): 0}
        came: dict[tuple[_Cell, int], tuple[_Cell, int]] = {}
        heap = [(0, 0, start, 0)]
        while heap:
            _, cost, cell, direction = heapq.heappop(heap)
            if cell == goal and direction == 0:
                return self._traced(came, (cell, direction), begin, end, signal)
            if cost > best[cell, direction]:
                continue
            self.visits += 1
            if self.visits > _MAX_VISITS:
                return None
            for turn, (dx, dy) in enumerate(_SIDES):
                step = (cell[0] + dx, cell[1] + dy)
                if (turn ^ 1) == direction or not (0 <= step[0] < self.wide and 0 <= step[1] < self.high):
                    continue
                if step in self.blocked:
                    continue
                price = cost + self._price(cell, step, turn, direction, signal)
                if price < best.get((step, turn), 1 << 60):
                    best[step, turn] = price
                    came[step, turn] = (cell, direction)
                    away = abs(goal[0] - step[0]) + abs(goal[1] - step[1])
                    heapq.heappush(heap, (price + away, price, step, turn))
        return None

    def _price(self, cell: _Cell, step: _Cell, turn: int, direction: int, signal: str) -> int:
        price = 1 + (_BEND if turn != direction else 0) + (_CLOSE if step in self.close else 0)
        level = turn < 2
        along = self.used.get((step, level))
        if along is not None:
            price += 0 if along == signal else _SHARE
        across = self.used.get((step, not level))
        if across is not None and across != signal:
            price += _CROSS
        if turn != direction:  # a corner on another wire looks like a junction
            there = self.used.get((cell, not level))
            price += _SHARE if there is not None and there != signal else 0
        return price

    def _traced(
        self,
        came: dict[tuple[_Cell, int], tuple[_Cell, int]],
        at: tuple[_Cell, int],
        begin: Point,
        end: Point,
        signal: str,
    ) -> list[Point]:
        cells = [at]
        while at in came:
            at = came[at]
            cells.append(at)
        cells.reverse()
        for (cell, _), (following, turn) in pairwise(cells):
            self.used[cell, turn < 2] = signal
            self.used[following, turn < 2] = signal
        points = [begin, *(self._point(cell) for cell, _ in cells), end]
        corners = [points[0]]
        for before, here, after in zip(points, points[1:], points[2:], strict=False):
            straight = (before[0] == here[0] == after[0]) or (before[1] == here[1] == after[1])
            if not straight:
                corners.append(here)
        return [*corners, points[-1]]
