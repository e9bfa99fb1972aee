"""The code of a tick without branches: one line for each call of a block that is due, then one test of all new values.

The code is a function (kept, feeds) -> kept. The function changes nothing: a block that raises an exception leaves all
values unchanged. Blocks are called through names b0, b1, ... of one namespace. So a block with new parameters acts from
the next tick on without new code.
"""

import inspect
import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from strapdown.environment.diagram.running.schedule import Default, Plan, Step

Cycle = Callable[[tuple[Any, ...], list[Any]], tuple[Any, ...]]
FILE = "<diagram>"
_UNPACKED = 9  # vectors up to this length are tested number by number, which is quicker than numpy


class NotFinite(Exception):
    """A value of this tick is not finite; the runner finds out which one."""


def namespace(plan: Plan) -> dict[str, Any]:
    """The names that the code uses."""
    names: dict[str, Any] = {"NotFinite": NotFinite, "total": total}
    for i, step in enumerate(plan.steps):
        bind(names, i, step)
        for j, source in enumerate(step.inputs):
            if isinstance(source, Default):
                names[f"c{i}_{j}"] = source.value
    return names


def bind(names: dict[str, Any], i: int, step: Step) -> None:
    """Use the block of this step as number i from now on."""
    names[f"b{i}"] = step.block.apply if step.memoryless else step.block.step
    if step.delays:
        names[f"o{i}"] = step.block.output


def total(value: Any, shape: tuple[int, ...]) -> float:
    """A number that is not finite if an element of the array is not, or if it has another shape."""
    return math.nan if np.shape(value) != shape else float(np.sum(value))


def generate(plan: Plan, due: Iterable[int], names: dict[str, Any]) -> tuple[Cycle, dict[int, int]]:
    """The function of a tick at which these steps are due, and the step of each of its lines."""
    chosen = set(due)
    order = [i for i in plan.order if i in chosen and not plan.steps[i].watches]
    lines = ["def cycle(kept, feeds):"]
    owner: dict[int, int] = {}
    new: set[int] = set()  # slots that have a new value, in a variable of their own

    def call(i: int, text: str, slots: tuple[int, ...]) -> None:
        lines.append(f" {text}")
        owner[len(lines)] = i
        new.update(slots)

    for i in order:
        step = plan.steps[i]
        if step.delays:
            call(i, f"({_names(step.slots)}) = o{i}({_slot(step.state, new)})", step.slots)
    for i in order:
        step = plan.steps[i]
        if step.memoryless:
            results = f"v{step.slots[0]}" if len(step.slots) == 1 else f"({_names(step.slots)})"
            call(i, f"{results} = {_call(step, i, new)}", step.slots)
        elif not step.delays:
            assert step.state is not None
            call(i, f"v{step.state}, ({_names(step.slots)}) = {_call(step, i, new)}", (step.state, *step.slots))
    for i in order:
        step = plan.steps[i]
        if step.delays:
            assert step.state is not None
            call(i, f"v{step.state}, _ = {_call(step, i, new)}", (step.state,))
    lines += _test(plan, order)
    lines.append(f" return ({_kept(plan, new)})")
    made: dict[str, Any] = {}
    exec(compile("\n".join(lines) + "\n", FILE, "exec"), names, made)
    return made["cycle"], owner


def _names(slots: Iterable[int]) -> str:
    return " ".join(f"v{slot}," for slot in slots)


def _slot(slot: int | None, new: set[int]) -> str:
    return f"v{slot}" if slot in new else f"kept[{slot}]"


def _kept(plan: Plan, new: set[int]) -> str:
    """The new tuple; slots without a new value are copied in runs of neighbours."""
    parts: list[str] = []
    slot = 0
    while slot < plan.slots:
        end = slot
        while end < plan.slots and end not in new:
            end += 1
        parts.append(f"v{slot}," if end == slot else f"*kept[{slot}:{end}],")
        slot = max(end, slot + 1)
    return " ".join(parts)


def _call(step: Step, i: int, new: set[int]) -> str:
    arguments = [] if step.memoryless else [_slot(step.state, new)]
    arguments += [f"c{i}_{j}" if isinstance(s, Default) else _slot(s, new) for j, s in enumerate(step.inputs)]
    arguments += [f"feeds[{k}]" for k in step.feeds]
    if not step.memoryless:
        arguments.append(f"dt={step.dt!r}" if _dt_by_name(step.block.step) else repr(step.dt))
    return f"b{i}({', '.join(arguments)})"


def _dt_by_name(function: Callable[..., Any]) -> bool:
    """Whether dt must be given by name; a dt given by place makes the call quicker."""
    kinds = [p.kind for p in inspect.signature(function).parameters.values()]
    return any(kind is not inspect.Parameter.POSITIONAL_OR_KEYWORD for kind in kinds)


def _test(plan: Plan, order: list[int]) -> list[str]:
    """The sum of all new values minus itself is 0, unless one of them is infinite or not a number. A sum that is too
    large also fails the test; the runner then finds no fault.
    """
    lines, terms = [], []
    for i in order:
        for slot, port in zip(plan.steps[i].slots, plan.steps[i].output_ports.values(), strict=True):
            shape = port.shape or ()
            if not shape:
                terms.append(f"v{slot}")
            elif len(shape) == 1 and shape[0] <= _UNPACKED:
                names = [f"x{slot}_{k}" for k in range(shape[0])]
                lines.append(f" {', '.join(names)}, = v{slot}.tolist()")
                terms += names
            else:
                terms.append(f"total(v{slot}, {shape!r})")
    for k in range(0, len(terms), 100):  # the parser has a limit on long sums
        lines.append(f" sum_ {'+=' if k else '='} {' + '.join(terms[k : k + 100])}")
    if terms:
        lines += [" if sum_ - sum_ != 0.0:", "  raise NotFinite"]
    return lines
