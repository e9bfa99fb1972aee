"""The loop of a live navigation: samples in, solutions out, on the terminal or as JSON lines."""

import json
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from strapdown.cli.device.session import Meter, figures, sentence
from strapdown.cli.device.view import Path, view

if TYPE_CHECKING:
    from strapdown.devices.protocol.stream import Stamped
    from strapdown.devices.source import ModuleSource
    from strapdown.navigation.live_program import LiveNavigator, LiveSolution

_VIEWS_HZ = 8.0
_KEPT_EVENTS = 200


class LiveRun:
    """One run on a live module, with its figures for the end of the command.

    source: greeted. each: called with every solution. What was seen remains for the end of the command.
    """

    def __init__(
        self,
        source: "ModuleSource",
        navigator: "LiveNavigator",
        each: "Callable[[LiveSolution], None]" = lambda solution: None,
        pace: float = 1.0,
    ) -> None:
        self.source, self.navigator, self.each, self.pace = source, navigator, each, pace
        self.path, self.meter = Path(), Meter(source)
        self.solution: LiveSolution | None = None
        self.events: list[str] = []

    def take(self, found: "list[Stamped]") -> None:
        for stamped in found:
            solution = self.navigator.put(stamped.sample)
            if solution is not None:
                self.solution = solution
                self.path.put(solution)
                self.each(solution)

    def _news(self) -> list[str]:
        news = [f"{event.t_s:.3f} s: {event.text}" for event in self.source.happened]
        self.source.happened.clear()
        self.events = (self.events + news)[-_KEPT_EVENTS:]
        return news

    def run(self, until: Callable[[], bool], as_json: bool) -> None:
        """Run until it ends or Ctrl-C."""
        from strapdown.cli import screen

        self.source.start()
        told = screen.told()
        try:
            if as_json or not told.is_terminal:
                self._plain(until, as_json)
            else:
                self._shown(until)
        except KeyboardInterrupt:
            pass
        self.take(self.source.stop())
        self._news()

    def _plain(self, until: Callable[[], bool], as_json: bool) -> None:
        from strapdown.cli import screen

        told, aligned = screen.told(), False
        while not until():
            self.take(self.source.poll())
            for line in self._news():
                told.print(line, soft_wrap=True, markup=False)
            if not aligned and self.solution is not None:
                aligned = True
                told.print("aligned; navigating", soft_wrap=True)
            if self.meter.look() and not as_json:
                print(self.line(), flush=True)
        if as_json:
            sys.stdout.flush()

    def _shown(self, until: Callable[[], bool]) -> None:
        from rich.live import Live

        from strapdown.cli.tables import output_console

        with Live(console=output_console(), refresh_per_second=_VIEWS_HZ, screen=False, get_renderable=self.view):
            while not until():
                self.take(self.source.poll())
                self._news()
                self.meter.look()

    def view(self) -> Any:
        return view(self.source, self.navigator, self.meter, self.path, self.solution, self.events, self.pace)

    def line(self) -> str:
        """Print one line a second, where there is no terminal."""
        if self.solution is None:
            return f"aligning {100.0 * min(self.navigator.aligned_part, 1.0):.0f} %, {self.meter.samples_hz:.0f} Hz"
        p, s = self.solution.p_n, self.solution
        state = "stands" if s.verdict.believed else "moves"
        return (
            f"{s.t:.2f} s: east {p[0]:.3f} m, north {p[1]:.3f} m, {state}, {len(self.path.stops)} stops, "
            f"{self.meter.samples_hz:.0f} Hz, {self.source.stream.counts.lost} lost"
        )

    def summary(self) -> str:
        return sentence(figures(self.source))


def json_line(solution: "LiveSolution") -> str:
    """One solution for other programs; docs/device.md has the names."""
    return json.dumps(
        {
            "t_s": solution.t,
            "q_nb": solution.q_nb.tolist(),
            "p_n_m": solution.p_n.tolist(),
            "v_n_m_s": solution.v_n.tolist(),
            "sigma_p_n_m": solution.sigma["p_n"].tolist(),
            "sigma_attitude_n_rad": solution.sigma["attitude_n"].tolist(),
            "stop": solution.verdict.believed,
            "stop_signal": solution.signalled,
        }
    )
