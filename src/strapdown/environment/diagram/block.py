"""A block, and the description of its parameters, from which a form can be made.

A block is its settings: it is made from its parameters and never changes. The memory of a block is its state, a value
that step takes and returns. A new block is one class with the decorator `block`.
"""

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from strapdown.environment.diagram.port import Port, Value

S = TypeVar("S")
C = TypeVar("C", bound=type)

# categories of the palette; a block of the user may bring a further one
CATEGORIES = (
    "source",
    "sensor",
    "math",
    "vector",
    "logic",
    "filter",
    "estimation",
    "control",
    "output",
    "simulation only",
)


class Block(Protocol[S]):
    """One block of a diagram. Optional attributes are read with getattr:

    apply: method apply(*inputs) of a block without memory, used instead of step; see Memoryless.
    output: method output(state) -> outputs of a block whose outputs depend on the state only, so that it breaks loops.
        step is then called at the end of the cycle, when its inputs are known, and its outputs are not used.
    feeds: names and start values of the numbers that the session writes before each cycle; step gets them after the
        inputs.
    watches: True if the block shows or records its inputs; it is never stepped and costs nothing.
    resolved: method resolved(inputs, outputs) -> block for ports of known shape, for a start that needs them.
    refuses: method refuses(dt) that gives a sentence on why the block cannot run with this step (s), or None.
    """

    rate_hz: float | None  # None: the control rate
    inputs: Mapping[str, Port]
    outputs: Mapping[str, Port]

    def start(self) -> S: ...
    def step(self, state: S, *inputs: Value, dt: float) -> tuple[S, tuple[Value, ...]]:
        """The next state and the outputs. Neither the state nor an input array may be changed in place."""
        ...


class Memoryless:
    """Base of a block without memory and without a rate of its own. Such a block defines `apply(*inputs)`, which
    returns the output (one output), or the tuple of outputs (several). The schedule calls apply; step is the same.
    """

    rate_hz: float | None = None
    inputs: Mapping[str, Port]
    outputs: Mapping[str, Port]
    apply: Callable[..., Any]

    def start(self) -> None:
        return None

    def step(self, state: None, *inputs: Value, dt: float) -> tuple[None, tuple[Value, ...]]:
        result = self.apply(*inputs)
        return None, (result,) if len(self.outputs) == 1 else result


class BlockParameters(BaseModel):
    """Base of the parameters of a block: unknown names are refused, numbers are numbers."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


def parameter(
    default: Any,
    *,
    title: str,
    description: str,
    unit: str | None = None,
    limits: tuple[float, float] | None = None,
    **more: Any,
) -> Any:
    """A field of a block's parameters. Numbers need a unit ("1" for none, "signal" for that of the connected signal)
    and limits, both inclusive; the schema carries them to the form.

    more: further arguments of pydantic's Field.
    """
    if limits is not None:
        more = {"ge": limits[0], "le": limits[1], **more}
    extra: dict[str, Any] = {} if unit is None else {"unit": unit}
    return Field(default, title=title, description=description, json_schema_extra=extra, **more)


def block(kind: str, *, category: str) -> Callable[[C], C]:
    """Mark a class as a kind of block. Its docstring is the description in the palette."""

    def mark(cls: C) -> C:
        vars_of: Any = cls
        vars_of.block_kind, vars_of.block_category = kind, category
        return cls

    return mark
