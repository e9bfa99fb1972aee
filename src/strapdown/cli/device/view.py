"""The terminal view of a live module: attitude, position, stops, rates, losses, and the path as a map."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from strapdown.rotation import euler_from_q

if TYPE_CHECKING:
    from pathlib import Path as FilePath

    from strapdown.cli.device.session import Meter
    from strapdown.devices.source import ModuleSource
    from strapdown.navigation.live_program import LiveNavigator, LiveSolution

MAP_WIDTH, MAP_HEIGHT = 46, 15  # characters
_PICTURE_WIDTH = 108
_MOST_POINTS = 20_000  # of the path; every other one is dropped where they are more
_APART_M = 0.005
_DOT_ROWS, _DOT_COLUMNS = 4, 2  # of one braille character
_BITS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
_DEG = 180.0 / math.pi


class Path:
    """The path so far, and the places of stops, with bounded memory."""

    def __init__(self) -> None:
        self.points: list[tuple[float, float]] = []
        self.stops: list[tuple[float, float]] = []
        self.length_m = 0.0
        self.standing = False
        self._last_stop: tuple[float, float] | None = None

    def put(self, solution: "LiveSolution") -> None:
        x, y = float(solution.p_n[0]), float(solution.p_n[1])
        if not self.points or math.dist(self.points[-1], (x, y)) > _APART_M:
            self.points.append((x, y))
            if len(self.points) > _MOST_POINTS:
                self.points = self.points[::2]
        stands = solution.verdict.believed
        if stands and not self.standing:
            if self._last_stop is not None:
                self.length_m += math.dist(self._last_stop, (x, y))
            self.stops.append((x, y))
            self._last_stop = (x, y)
        elif stands and self.stops:
            self.stops[-1] = (x, y)
        self.standing = stands


def path_map(path: Path, width: int = MAP_WIDTH, height: int = MAP_HEIGHT) -> Text:
    """The path in dots, stops as squares, the present place as a cross; east to the right, north up, one scale."""
    columns, rows = width * _DOT_COLUMNS, height * _DOT_ROWS
    points = np.array(path.points or [(0.0, 0.0)])
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    span = np.ptp(points, axis=0) + 0.1
    scale = min(0.9 * columns / span[0], 0.9 * rows / span[1])  # dots per metre; a dot is as wide as it is high

    def place(p: Any) -> tuple[int, int]:
        column = round(columns / 2 + (p[0] - middle[0]) * scale)
        row = round(rows / 2 - (p[1] - middle[1]) * scale)
        return min(max(row, 0), rows - 1), min(max(column, 0), columns - 1)

    cells = np.zeros((height, width), dtype=int)
    for point in points:
        row, column = place(point)
        cells[row // _DOT_ROWS, column // _DOT_COLUMNS] |= _BITS[row % _DOT_ROWS][column % _DOT_COLUMNS]
    grid = [[(chr(0x2800 + bits) if bits else " ", "cyan") for bits in line] for line in cells]
    for stop in path.stops:
        row, column = place(stop)
        grid[row // _DOT_ROWS][column // _DOT_COLUMNS] = ("■", "white")
    row, column = place(points[-1])
    grid[row // _DOT_ROWS][column // _DOT_COLUMNS] = ("✚", "bold yellow")
    text = Text(no_wrap=True)
    for i, line in enumerate(grid):
        for character, style in line:
            text.append(character, style)
        if i < height - 1:
            text.append("\n")
    text.append(f"\n{width * _DOT_COLUMNS / scale:.2f} m wide, north is up", "dim")
    return text


def view(
    source: "ModuleSource",
    navigator: "LiveNavigator",
    meter: "Meter",
    path: Path,
    solution: "LiveSolution | None",
    events: list[str],
    pace: float = 1.0,
) -> RenderableType:
    """The whole view."""
    hello = source.stream.hello
    title = "module" if hello is None else f"module {hello.serial} on {source.link.name}"
    if not source.link.connected:
        title += "  [bold red]port vanished, waiting[/]"
    left = Group(_solution(navigator, path, solution), _line(source, meter, pace))
    right = Panel(path_map(path), title="path", border_style="dim")
    note = Text("\n".join(events[-4:]) or "no events", style="dim", no_wrap=True, overflow="ellipsis")
    return Panel(Group(Columns([left, right]), note), title=title, border_style="cyan", expand=False)


def _solution(navigator: "LiveNavigator", path: Path, solution: "LiveSolution | None") -> Table:
    table = _table("solution")
    if solution is None:
        bar = round(24 * min(navigator.aligned_part, 1.0))
        table.add_row("state", Text("aligning at rest, keep it still", style="bold yellow"))
        table.add_row("", f"{'█' * bar}{'░' * (24 - bar)} {100 * min(navigator.aligned_part, 1.0):.0f} %")
        return table
    roll, pitch, yaw = (float(x) * _DEG for x in euler_from_q(solution.q_nb))
    sigma = {name: np.asarray(values) for name, values in solution.sigma.items()}
    tilt, up = (float(s) * _DEG for s in (sigma["attitude_n"][:2].max(), sigma["attitude_n"][2]))
    state = Text("standing", style="bold green") if solution.verdict.believed else Text("moving", style="bold")
    if solution.verdict.doubted or solution.verdict.rejected:
        state = Text("stop signalled, IMU does not confirm it", style="bold red")
    table.add_row("state", state)
    table.add_row("time", f"{solution.t:10.2f} s")
    table.add_row("roll, pitch", f"{roll:8.2f}, {pitch:7.2f} ± {tilt:.2f} deg")
    table.add_row("heading", f"{(90.0 - yaw) % 360.0:8.2f} ± {up:.2f} deg")
    p, v, s = solution.p_n, solution.v_n, sigma["p_n"]
    table.add_row("east, north", f"{p[0]:8.3f}, {p[1]:8.3f} ± {max(s[0], s[1]):.3f} m")
    table.add_row("height", f"{p[2]:8.3f} ± {s[2]:.3f} m")
    table.add_row("speed", f"{float(np.linalg.norm(v)):8.3f} m/s")
    table.add_row("stops, way", f"{len(path.stops):5d}, {path.length_m:8.2f} m")
    return table


def _line(source: "ModuleSource", meter: "Meter", pace: float) -> Table:
    table, counts, status = _table("line"), source.stream.counts, source.stream.status
    table.add_row("rate", f"{meter.samples_hz:6.1f} samples/s, {meter.bytes_s / 1e3:.1f} kB/s")
    table.add_row("samples", f"{counts.samples}")
    lost = f"{counts.lost} samples, {source.decoder.bad} bad frames"
    table.add_row("lost", Text(lost, style="red" if counts.lost or source.decoder.bad else ""))
    if status is not None:
        errors = f"{status.overruns} overruns, {status.i2c_errors} I2C errors"
        table.add_row("module", Text(errors, style="red" if status.overruns or status.i2c_errors else ""))
    others = [
        (counts.resets, "resets"),
        (source.link.lost, "times vanished"),
        (counts.silent, "silent"),
        (counts.frozen, "repeated"),
    ]
    if any(n for n, _ in others):
        table.add_row("", Text(", ".join(f"{n} {what}" for n, what in others if n), style="red"))
    fit = source.stream.clock.fit()
    if fit is not None and pace == 1.0:
        table.add_row("clock", f"host {fit[1]:+.1f} ppm, residual {1e3 * fit[2]:.2f} ms")
    elif pace != 1.0:
        table.add_row("clock", f"emulated, {pace:g} times as fast")
    return table


def _table(title: str) -> Table:
    table = Table(title=title, title_style="bold", title_justify="left", box=None, show_header=False, padding=(0, 1))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(no_wrap=True, min_width=34)
    return table


def save_view(path: "FilePath", shown: RenderableType) -> None:
    """The view as an SVG picture, with the fonts of the reader's own computer."""
    import io
    import re

    from rich._export_format import CONSOLE_SVG_FORMAT
    from rich.console import Console

    from strapdown.io import whole_file

    console = Console(
        record=True, width=_PICTURE_WIDTH, file=io.StringIO(), force_terminal=True, color_system="truecolor"
    )
    console.print(shown)
    plain = re.sub(r"@font-face \{\{.*?\}\}", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    with whole_file(path) as new:
        new.write_text(console.export_svg(title="strapdown device navigate", code_format=plain), "utf-8")
