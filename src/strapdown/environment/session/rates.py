"""Rates of a diagram in a session: sensor blocks run at the rate of their sensor, filters and estimators at that of
their input.
"""

from collections.abc import Callable, Sequence

from strapdown.environment.diagram.checking.check import Rates
from strapdown.environment.diagram.checking.flatten import Node
from strapdown.environment.diagram.kinds import Kinds
from strapdown.environment.diagram.problem import Problem
from strapdown.environment.session.live_sensors import LiveSensor
from strapdown.errors import InputError

FOLLOWING = ("filter", "estimation")  # categories that run as fast as their input


def rates_of(kinds: Kinds, find: Callable[[str, str], LiveSensor]) -> Rates:
    """Rates of the blocks that read sensors.

    find: function that gives the sensor of a sensor block, by its kind and name. A sensor without a rate has its own
    times; its block runs as fast as the blocks that read it.
    """

    def own(node: Node) -> float | None:
        return node.rate_hz or getattr(node.block, "rate_hz", None)

    def fixed(node: Node) -> float | None:  # the rate of a sub-diagram is for blocks that no sensor drives
        return own(node) or node.around_hz

    def assign(nodes: Sequence[Node], control_hz: float) -> list[Problem]:
        problems = []
        found: dict[int, float] = {}  # rates that come from sensors
        slow: list[int] = []
        for i, node in enumerate(nodes):
            if kinds[node.kind].category != "sensor":
                continue
            try:
                sensor = find(node.kind, node.block.p.sensor)
            except InputError as error:
                problems.append(Problem("sensor", node.path, node.place, str(error)))
                continue
            if sensor.rate_hz is None:
                slow.append(i)
            else:
                found[i] = own(node) or sensor.rate_hz
        changed = True
        while changed:  # at most once for each block on the longest way through filters
            changed = False
            for i, node in enumerate(nodes):
                if i in found or own(node) or kinds[node.kind].category not in FOLLOWING:
                    continue
                above = [found[s.node] for s in node.sources.values() if s.node in found]
                if above:
                    found[i], changed = max(above), True
        for i in slow:
            readers = [n for n, node in enumerate(nodes) if any(s.node == i for s in node.sources.values())]
            found[i] = own(nodes[i]) or max(
                (found.get(n) or fixed(nodes[n]) or control_hz for n in readers), default=control_hz
            )
            for n in readers:
                if not own(nodes[n]) and kinds[nodes[n].kind].category in FOLLOWING:
                    found.setdefault(n, found[i])
        for i, rate in found.items():
            nodes[i].rate_hz = rate
        for i, node in enumerate(nodes):
            problems += _missed(nodes, node, found.get(i) or fixed(node) or control_hz, control_hz)
        return problems

    def _missed(nodes: Sequence[Node], node: Node, rate: float, control_hz: float) -> list[Problem]:
        """Inputs "new" that miss readings: such an input must be read as often as it is written."""
        wrong = []
        for port, source in node.sources.items():
            above = nodes[source.node]
            if not port.endswith("new") or source.port != "new":
                continue
            theirs = fixed(above) or control_hz
            if theirs != rate:
                message = (
                    f'runs at {rate:g} Hz and its input "{port}" comes from "{above.path}" at {theirs:g} Hz, so that '
                    "readings are missed or counted twice; use a second block for this sensor, or the same rate_hz"
                )
                wrong.append(Problem("rate", node.path, node.place, message))
        return wrong

    return assign
