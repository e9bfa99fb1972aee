"""Types of all signals: the types that generic blocks take from their wires, and wires whose ends differ."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from strapdown.environment.diagram.checking.flatten import Node
from strapdown.environment.diagram.port import ANY, Port
from strapdown.environment.diagram.problem import Problem

FIELDS = ("unit", "frame", "shape")
_Key = tuple[str, int | str, str]  # field, node (or sub-diagram port), port or group


@dataclass
class _Cells:
    """Sets of ports that have one unit, one frame or one shape in common (union-find)."""

    parent: dict[_Key, _Key] = field(default_factory=dict)
    value: dict[_Key, Any] = field(default_factory=dict)

    def root(self, key: _Key) -> _Key:
        while (up := self.parent.get(key, key)) != key:
            self.parent[key] = self.parent.get(up, up)
            key = up
        return key

    def join(self, a: _Key, b: _Key) -> tuple[Any, Any] | None:
        """Unite the two. If they differ, return the two values and unite nothing."""
        a, b = self.root(a), self.root(b)
        if a == b:
            return None
        at_a, at_b = self.value.get(a), self.value.get(b)
        if at_a is not None and at_b is not None and at_a != at_b:
            return at_a, at_b
        self.parent[a] = b
        if at_b is None and at_a is not None:
            self.value[b] = at_a
        return None


class SignalTypes:
    """The types of a flat diagram.

    problems: wires whose ends differ, in the order of the signal's flow.
    """

    def __init__(self, nodes: Sequence[Node], order: Sequence[int]) -> None:
        self._nodes = nodes
        self._cells = _Cells()
        self.problems: list[Problem] = []
        for i, node in enumerate(nodes):
            for side, ports in (("in", node.block.inputs), ("out", node.block.outputs)):
                for name, port in ports.items():
                    self._put(port, i, f"{side}.{name}")
        for i in order:
            for name in nodes[i].block.inputs:
                if name in nodes[i].sources:
                    self._join(i, name)

    def _put(self, port: Port, owner: int | str, name: str) -> None:
        for what in FIELDS:
            value = getattr(port, what)
            if value is not None and value != ANY:
                self._cells.value[what, owner, name] = value

    def _key(self, what: str, owner: int | str, name: str, port: Port) -> _Key | None:
        value = getattr(port, what)
        if value == ANY:
            return None
        if value is None and port.group is not None:
            return what, owner, f"group.{port.group}"
        return what, owner, name

    def _join(self, i: int, name: str) -> None:
        node, source = self._nodes[i], self._nodes[i].sources[name]
        begin = self._nodes[source.node]
        ends: list[tuple[str, int | str, str, Port]] = [
            (f'"{begin.path}.{source.port}"', source.node, f"out.{source.port}", begin.block.outputs[source.port])
        ]
        for label, port in reversed(source.through):
            self._put(port, label, "through")
            ends.append((f'port "{label}"', label, "through", port))
        ends.append((f'input "{name}"', i, f"in.{name}", node.block.inputs[name]))
        for (giver, *a), (taker, *b) in pairwise(ends):
            for what in FIELDS:
                one, other = self._key(what, *a), self._key(what, *b)  # type: ignore[arg-type]
                differ = None if one is None or other is None else self._cells.join(one, other)
                if differ is not None:
                    given, wanted = (_text(what, value) for value in differ)
                    message = f"{taker} expects {wanted}, receives {given} from {giver}; {_ADVICE[what]}"
                    problem = Problem("type", node.path, node.place, message)
                    if problem not in self.problems:
                        self.problems.append(problem)

    def port(self, i: int, side: str, name: str) -> Port:
        """The resolved type of a port.

        side: "in" or "out".

        A shape that is not determined is a number.
        """
        ports = self._nodes[i].block.inputs if side == "in" else self._nodes[i].block.outputs
        declared = ports[name]
        found = {}
        for what in FIELDS:
            key = self._key(what, i, f"{side}.{name}", declared)
            found[what] = None if key is None else self._cells.value.get(self._cells.root(key))
        return Port(found["unit"], found["frame"], found["shape"] or (), default=declared.default)


_ADVICE = {
    "unit": "connect another signal, or convert it with a gain that has unit_out",
    "frame": "connect another signal, or rotate it",
    "shape": "connect another signal, or use split or join",
}


def _text(what: str, value: Any) -> str:
    if what == "shape":
        return f"{' x '.join(str(n) for n in value)} numbers" if value else "one number"
    return f"{what} {value}"
