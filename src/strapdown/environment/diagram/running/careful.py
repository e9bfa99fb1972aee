"""A tick with every check, and the search for the block at fault when the quick code stops.

The first ticks of a run are checked: this finds blocks that return a wrong value or change their state in place.
"""

import numbers
import pickle
from collections.abc import Iterable
from typing import Any

import numpy as np

from strapdown.environment.diagram.port import Port
from strapdown.environment.diagram.running.schedule import Default, Plan, Step
from strapdown.errors import StrapdownError


class BlockError(StrapdownError):
    """A block raised an exception, or returned an invalid value. Nothing has changed since the end of the previous
    tick.
    """

    def __init__(self, block: str, t_s: float, reason: str, cause: BaseException | None = None) -> None:
        super().__init__(f'block "{block}" stopped the diagram at t = {t_s:.6g} s: {reason}')
        self.block, self.t_s, self.reason, self.cause = block, t_s, reason, cause

    def __reduce__(self) -> tuple[type, tuple[str, float, str]]:  # the cause may not be picklable
        return BlockError, (self.block, self.t_s, self.reason)


def raised(step: Step, t_s: float, error: BaseException) -> BlockError:
    """The error for a block whose step raised an exception."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    text = text if len(text) <= 300 else text[:297] + "..."
    return BlockError(step.path, t_s, f"it raised {text}; correct the block or its inputs", error)


def careful_tick(
    plan: Plan, due: Iterable[int], kept: tuple[Any, ...], feeds: list[Any], t_s: float
) -> tuple[Any, ...]:
    """The same as the quick code, to the bit, with every block checked; BlockError names the block."""
    chosen = set(due)
    now = list(kept)
    order = [i for i in plan.order if i in chosen and not plan.steps[i].watches]
    for step in (plan.steps[i] for i in order):
        if step.delays:
            assert step.state is not None
            _put(step, now, _called(step, t_s, "output", [now[step.state]]), t_s)
    for delaying in (False, True):
        for step in (plan.steps[i] for i in order):
            if step.delays is not delaying:
                continue
            given = [s.value if isinstance(s, Default) else now[s] for s in step.inputs]
            given += [feeds[k] for k in step.feeds]
            if step.memoryless:
                result = _called(step, t_s, "apply", given)
                _put(step, now, (result,) if len(step.slots) == 1 else result, t_s)
                continue
            assert step.state is not None
            result = _called(step, t_s, "step", [now[step.state], *given], dt=step.dt)
            if not isinstance(result, tuple) or len(result) != 2:
                raise BlockError(step.path, t_s, f"step returned {_short(result)}; return (state, outputs)")
            now[step.state] = result[0]
            if not delaying:
                _put(step, now, result[1], t_s)
    return tuple(now)


def _called(step: Step, t_s: float, method: str, arguments: list[Any], **more: Any) -> Any:
    before = _bits(step, t_s, arguments)
    try:
        result = getattr(step.block, method)(*arguments, **more)
    except (Exception, SystemExit) as error:  # a block may not end the program
        raise raised(step, t_s, error) from error
    if _bits(step, t_s, arguments) != before:
        raise BlockError(step.path, t_s, f"{method} changed its state or an input in place; return a new value instead")
    return result


def _bits(step: Step, t_s: float, arguments: list[Any]) -> list[bytes]:
    try:
        return [pickle.dumps(argument, protocol=5) for argument in arguments]
    except Exception as error:
        reason = f"its state cannot be pickled ({type(error).__name__}: {error}); keep plain values in it"
        raise BlockError(step.path, t_s, reason, error) from error


def _put(step: Step, now: list[Any], outputs: Any, t_s: float) -> None:
    if not isinstance(outputs, tuple) or len(outputs) != len(step.slots):
        names = ", ".join(step.output_ports) or "none"
        raise BlockError(step.path, t_s, f"it returned {_short(outputs)}; return a tuple of its outputs ({names})")
    for (name, port), slot, value in zip(step.output_ports.items(), step.slots, outputs, strict=True):
        fault = value_fault(value, port)
        if fault:
            raise BlockError(step.path, t_s, f'output "{name}" {fault}')
        now[slot] = value


def value_fault(value: Any, port: Port) -> str | None:
    """The fault of a value for a port; None if it has none."""
    if not port.shape:
        if not isinstance(value, numbers.Real | np.bool_):
            return f"is {_short(value)}; it must be a number"
        return None if np.isfinite(float(value)) else f"is {float(value)}; correct the block or its inputs"
    if not isinstance(value, np.ndarray) or value.shape != port.shape or value.dtype.kind not in "fiub":
        return f"is {_short(value)}; it must be an array of shape {port.shape}"
    if not np.isfinite(value).all():
        return f"is {_short(value.tolist())}, not finite; correct the block or its inputs"
    return None


def first_fault(plan: Plan, due: Iterable[int], values: dict[int, Any], t_s: float) -> BlockError | None:
    """The first block, in the order of computation, that has given a bad value; values by slot."""
    chosen = set(due)
    order = [i for i in plan.order if i in chosen]
    for delaying in (True, False):
        for step in (plan.steps[i] for i in order if plan.steps[i].delays is delaying):
            for (name, port), slot in zip(step.output_ports.items(), step.slots, strict=True):
                fault = value_fault(values[slot], port) if slot in values else None
                if fault:
                    return BlockError(step.path, t_s, f'output "{name}" {fault}')
    return None


def _short(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else text[:77] + "..."
