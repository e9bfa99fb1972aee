"""All problems of a diagram at once, and the runner of a diagram without problems."""

from collections.abc import Callable, Sequence

from strapdown.environment.diagram.checking.flatten import Node, flatten, size_problems
from strapdown.environment.diagram.checking.order import order_of
from strapdown.environment.diagram.checking.sheets import checked_sheets
from strapdown.environment.diagram.checking.signal_types import SignalTypes
from strapdown.environment.diagram.file import Diagram
from strapdown.environment.diagram.kinds import Kinds, builtin
from strapdown.environment.diagram.problem import DiagramError, Problem
from strapdown.environment.diagram.running.runner import Runner
from strapdown.environment.diagram.running.schedule import Plan, periods, plan_of

# sets the rates of blocks that have none of their own, from what they are connected to; and the problems with it
Rates = Callable[[Sequence[Node], float], list[Problem]]


def analysed(
    diagram: Diagram,
    kinds: Kinds,
    base_hz: float | None = None,
    control_hz: float | None = None,
    rates: Rates | None = None,
) -> tuple[list[Problem], Plan | None]:
    """Every problem, and the plan if there is none."""
    base_hz = diagram.base_hz if base_hz is None else base_hz
    control_hz = diagram.control_hz if control_hz is None else control_hz
    sheets = checked_sheets(diagram, kinds)
    problems = [problem for sheet in sheets.values() for problem in sheet.problems]
    too_large = size_problems(sheets)
    if too_large:
        return problems + too_large, None
    nodes, circles = flatten(sheets)
    order, loops = order_of(nodes)
    types = SignalTypes(nodes, order)
    mixed = [] if rates is None else rates(nodes, control_hz)
    every, wrong_rates = periods(nodes, base_hz, control_hz)
    problems += [*circles, *loops, *types.problems, *mixed, *wrong_rates]
    if problems:
        return problems, None
    return [], plan_of(nodes, order, types, every, base_hz)


def check(
    diagram: Diagram, kinds: Kinds | None = None, *, base_hz: float | None = None, control_hz: float | None = None
) -> list[Problem]:
    """All problems of a diagram; an empty list if it can run.

    kinds: kinds of blocks; default those of the package.
    base_hz, control_hz: rates instead of those of the file.
    """
    return analysed(diagram, builtin() if kinds is None else kinds, base_hz, control_hz)[0]


def compile_diagram(
    diagram: Diagram, kinds: Kinds | None = None, *, base_hz: float | None = None, control_hz: float | None = None
) -> Runner:
    """A runner at its first tick; DiagramError with the first problem if there is one."""
    known = builtin() if kinds is None else kinds
    return Runner(diagram, known, planner(known, base_hz, control_hz))


def planner(
    kinds: Kinds,
    base_hz: float | None = None,
    control_hz: float | None = None,
    source: str = "",
    rates: Rates | None = None,
) -> Callable[[Diagram], Plan]:
    """A function that makes the plan of a diagram or raises DiagramError."""

    def plan(diagram: Diagram) -> Plan:
        problems, made = analysed(diagram, kinds, base_hz, control_hz, rates)
        if made is None:
            raise DiagramError(problems, source)
        return made

    return plan
