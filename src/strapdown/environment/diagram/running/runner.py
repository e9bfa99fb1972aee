"""A running diagram: ticks, values by name, parameters and whole diagrams changed between ticks, snapshots."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import itemgetter
from typing import Any

from strapdown.environment.diagram.edit import block_table, with_parameters
from strapdown.environment.diagram.file import Diagram
from strapdown.environment.diagram.kinds import Kinds
from strapdown.environment.diagram.port import Port
from strapdown.environment.diagram.problem import did_you_mean
from strapdown.environment.diagram.running.careful import BlockError, careful_tick, first_fault, raised
from strapdown.environment.diagram.running.generate import FILE, Cycle, NotFinite, bind, generate, namespace
from strapdown.environment.diagram.running.schedule import Plan, Step, refusal, resolved
from strapdown.errors import InputError

_CAREFUL = 2  # ticks of every combination of due blocks; at the second one a block has a state of its own


@dataclass(frozen=True)
class Signal:
    """A signal on a wire: its type, its rate, and its place among the values."""

    port: Port
    rate_hz: float
    slot: int


@dataclass(frozen=True)
class Snapshot:
    """Everything that a runner needs to continue from here to the bit. A snapshot can be pickled."""

    diagram: Diagram
    ticks: int
    kept: tuple[Any, ...]
    feeds: tuple[Any, ...]
    pending: frozenset[int]


class Runner:
    """Runs a diagram tick by tick of its base clock. `ticks` counts those done; the next one belongs to `t_s`."""

    def __init__(self, diagram: Diagram, kinds: Kinds, planner: Callable[[Diagram], Plan]) -> None:
        self._kinds, self._planner = kinds, planner
        self.ticks = 0
        self._kept: tuple[Any, ...] = ()
        self._feeds: list[Any] = []
        self._pending: frozenset[int] = frozenset()  # new blocks that have not run yet
        self._install(diagram, planner(diagram))
        self.reset()

    def _install(self, diagram: Diagram, plan: Plan) -> None:
        self.diagram, self.plan = diagram, plan
        self._names = namespace(plan)
        self._dues: list[tuple[int, ...]] = []  # steps that are due together
        self._owners: list[dict[int, int]] = []  # step of each line of their code
        self._functions: list[Cycle | None] = []
        self._cycle = plan.cycle
        self._table = self._group_ticks()
        self._index = {step.path: i for i, step in enumerate(plan.steps)}
        self.__dict__.pop("signals", None)

    def _group_ticks(self) -> list[int]:
        """For each tick of the cycle the number of its set of due steps."""
        rates = sorted({step.every for step in self.plan.steps})
        groups: dict[tuple[int, ...], int] = {}
        table = []
        for n in range(self._cycle):
            key = tuple(every for every in rates if n % every == 0)
            if key not in groups:
                groups[key] = len(groups)
                due = tuple(i for i, step in enumerate(self.plan.steps) if step.every in key and not step.watches)
                self._dues.append(due)
                self._owners.append({})
                self._functions.append(self._careful(groups[key]) if due else None)
            table.append(groups[key])
        return table

    def _careful(self, group: int) -> Cycle:
        left = _CAREFUL

        def tick(kept: tuple[Any, ...], feeds: list[Any]) -> tuple[Any, ...]:
            nonlocal left
            new = careful_tick(self.plan, self._dues[group], kept, feeds, self.t_s)
            left -= 1
            if left == 0:
                self._functions[group], self._owners[group] = generate(self.plan, self._dues[group], self._names)
            return new

        return tick

    @property
    def t_s(self) -> float:
        """Time of the next tick, s."""
        return self.ticks / self.plan.base_hz

    def tick(self) -> None:
        """Run one tick of the base clock: every block that is due, in order. BlockError names a block that fails; then
        nothing has changed.
        """
        if self._pending:
            self._tick_with_pending()
            return
        group = self._table[self.ticks % self._cycle]
        function = self._functions[group]
        if function is not None:
            try:
                self._kept = function(self._kept, self._feeds)
            except (Exception, SystemExit) as error:  # a block may not end the program
                self._kept = self._explained(error, group)
        self.ticks += 1

    def skip(self, ticks: int) -> None:
        """Skip ticks at which no block is due; the caller knows that from the plan's steps."""
        self.ticks += ticks

    def advance(self, ticks: int) -> None:
        """Several ticks."""
        for _ in range(ticks):
            self.tick()

    def run_until(self, t_s: float) -> None:
        """Run all ticks before this time."""
        while self.t_s < t_s - 0.5 / self.plan.base_hz:
            self.tick()

    def _tick_with_pending(self) -> None:
        """The first tick after new blocks were added: they run whatever their rate, because others read their
        outputs.
        """
        due = self._pending.union(self._dues[self._table[self.ticks % self._cycle]])
        self._kept = careful_tick(self.plan, due, self._kept, self._feeds, self.t_s)
        self._pending = frozenset()
        self.ticks += 1

    def _explained(self, error: BaseException, group: int) -> tuple[Any, ...]:
        """Raise BlockError with the block at fault; return the new values if only the sum of finite values was too
        large.
        """
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename != FILE:
            trace = trace.tb_next
        if isinstance(error, BlockError) or trace is None:
            raise error
        now, line, owner = trace.tb_frame.f_locals, trace.tb_lineno, self._owners[group]
        done = {i for at, i in owner.items() if at < line}
        values = {slot: now[f"v{slot}"] for i in done for slot in self.plan.steps[i].slots}
        fault = first_fault(self.plan, done, values, self.t_s)
        if fault is not None:
            raise fault from None
        if isinstance(error, NotFinite):
            return tuple(now.get(f"v{slot}", kept) for slot, kept in enumerate(self._kept))
        if line not in owner:
            raise error
        raise raised(self.plan.steps[owner[line]], self.t_s, error) from error

    # values by name

    @cached_property
    def signals(self) -> Mapping[str, Signal]:
        """Every output "block.output" and every connected input "block.input"; of two with one name, the output."""
        found = {}
        by_slot: dict[int, Signal] = {}
        for step in self.plan.steps:
            for (name, port), slot in zip(step.output_ports.items(), step.slots, strict=True):
                by_slot[slot] = found[f"{step.path}.{name}"] = Signal(port, self.plan.base_hz / step.every, slot)
        for step in self.plan.steps:
            for name, source in zip(step.input_ports, step.inputs, strict=True):
                if isinstance(source, int):
                    found.setdefault(f"{step.path}.{name}", by_slot[source])
        return found

    def value(self, name: str) -> Any:
        """The value on a wire after the last tick, by the name of one of its ends; None before the first tick."""
        return self._kept[self._signal(name).slot]

    def value_at(self, slot: int) -> Any:
        """The value at a place that `signals` gives."""
        return self._kept[slot]

    def reader(self, names: Sequence[str]) -> Callable[[], tuple[Any, ...]]:
        """A quick function that gives the values of these signals; make a new one after the diagram was replaced."""
        slots = [self._signal(name).slot for name in names]
        if len(slots) < 2:
            return lambda: tuple(self._kept[slot] for slot in slots)
        get = itemgetter(*slots)
        return lambda: get(self._kept)

    def _signal(self, name: str) -> Signal:
        if name not in self.signals:
            raise InputError(f'signal "{name}" does not exist; {did_you_mean(name, self.signals)}')
        return self.signals[name]

    def watched(self) -> dict[str, tuple[str, ...]]:
        """Signals that scopes and loggers are connected to, by the path of the scope or logger."""
        return {s.path: tuple(f"{s.path}.{name}" for name in s.input_ports) for s in self.plan.steps if s.watches}

    def state(self, path: str) -> Any:
        """The state of a block."""
        slot = self.plan.steps[self._number(path)].state
        return None if slot is None else self._kept[slot]

    def _number(self, path: str) -> int:
        if path not in self._index:
            raise InputError(f'block "{path}" does not exist; {did_you_mean(path, self._index)}')
        return self._index[path]

    # what the session writes

    def feed(self, name: str, value: Any) -> None:
        """Write a feed "block.feed"; the block reads it when it is next due."""
        self._feeds[self.feed_slot(name)] = value

    def feed_slot(self, name: str) -> int:
        """Place of a feed in `feeds`, for writing many quickly; ask again after the diagram was replaced."""
        path, _, feed = name.rpartition(".")
        step = self.plan.steps[self._number(path)]
        known = list(getattr(step.block, "feeds", {}))
        if feed not in known:
            raise InputError(f'block "{path}" has no feed "{feed}"; {did_you_mean(feed, known)}')
        return step.feeds[known.index(feed)]

    @property
    def feeds(self) -> list[Any]:
        return self._feeds

    # changes between two ticks

    def reset(self) -> None:
        """Back to the first tick, with the present diagram and parameters."""
        kept = [None] * self.plan.slots
        for step in self.plan.steps:
            if step.state is not None:
                kept[step.state] = _started(step)
        self._kept = tuple(kept)
        self._feeds = list(self.plan.feeds)
        self._pending = frozenset()
        self.ticks = 0

    def set_parameters(self, path: str, **changes: Any) -> None:
        """New parameters of a block, from the next tick on; its state stays. A block in a sub-diagram changes in all
        uses of that sub-diagram."""
        step = self.plan.steps[self._number(path)]
        diagram = with_parameters(self.diagram, step.place, changes)
        try:
            values = block_table(diagram, step.place)
            made = resolved(self._kinds[step.kind].make(values.parameters), step.input_ports, step.output_ports)
        except Exception:  # replace has the sentence on it
            self.replace(diagram)
            return
        if _outside(made) != _outside(step.block) or refusal(made, step.dt):
            self.replace(diagram)
            return
        steps = list(self.plan.steps)
        for i, other in enumerate(steps):
            if other.place == step.place:
                steps[i] = replace(other, block=made)
                bind(self._names, i, steps[i])
        self.diagram, self.plan = diagram, replace(self.plan, steps=tuple(steps))

    def replace(self, diagram: Diagram) -> None:
        """Another diagram from the next tick on. Blocks with the same name, kind, rate and shapes keep their states.
        After a DiagramError nothing has changed.
        """
        plan = self._planner(diagram)
        if plan.base_hz != self.plan.base_hz:
            raise InputError(
                f"the running base clock is {self.plan.base_hz:g} Hz, base_hz of the new diagram {plan.base_hz:g} Hz; "
                "make them equal, or start anew"
            )
        old = {step.layout(): i for i, step in enumerate(self.plan.steps)}
        feeds = {
            (step.path, name): self._feeds[k]
            for step in self.plan.steps
            for name, k in zip(getattr(step.block, "feeds", {}), step.feeds, strict=True)
        }
        kept: list[Any] = [None] * plan.slots
        pending = set()
        for i, step in enumerate(plan.steps):
            j = old.get(step.layout())
            if j is not None:
                before = self.plan.steps[j]
                for slot, had in zip((step.state, *step.slots), (before.state, *before.slots), strict=True):
                    if slot is not None and had is not None:
                        kept[slot] = self._kept[had]
            elif step.state is not None:
                kept[step.state] = _started(step)
            if not step.watches and self.ticks > 0 and (j is None or j in self._pending):
                pending.add(i)
        new_feeds = list(plan.feeds)
        for step in plan.steps:
            for name, k in zip(getattr(step.block, "feeds", {}), step.feeds, strict=True):
                new_feeds[k] = feeds.get((step.path, name), new_feeds[k])
        self._install(diagram, plan)
        self._kept, self._feeds, self._pending = tuple(kept), new_feeds, frozenset(pending)

    def snapshot(self) -> Snapshot:
        """The present states and values. Nothing is copied: they are values that no block changes."""
        return Snapshot(self.diagram, self.ticks, self._kept, tuple(self._feeds), self._pending)

    def restore(self, snapshot: Snapshot) -> None:
        """Continue from a snapshot, with the diagram and the parameters of its time."""
        if snapshot.diagram is not self.diagram and snapshot.diagram != self.diagram:
            plan = self._planner(snapshot.diagram)
            self._install(snapshot.diagram, plan)
        if (len(snapshot.kept), len(snapshot.feeds)) != (self.plan.slots, len(self.plan.feeds)):
            raise InputError("the snapshot was made with other kinds of blocks; load the same block file")
        self._kept, self._feeds = snapshot.kept, list(snapshot.feeds)
        self._pending, self.ticks = snapshot.pending, snapshot.ticks


def _started(step: Step) -> Any:
    try:
        return step.block.start()
    except Exception as error:
        raise raised(step, 0.0, error) from error


def _outside(block: Any) -> tuple[Any, ...]:
    """The conditions on which the plan depends. If they are equal, only the bound step changes."""
    return (
        dict(block.inputs),
        dict(block.outputs),
        getattr(block, "rate_hz", None),
        list(getattr(block, "feeds", {})),
        callable(getattr(block, "output", None)),
        callable(getattr(block, "apply", None)),
    )
