"""From true values to readings: a Triad's errors applied to a recording, or to live rows.

The terms and their order are in docs/errors.md.
"""

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strapdown.errors import InputError
from strapdown.kernels.sensors import chain_memory as m
from strapdown.kernels.sensors.chain_terms import COLUMNS
from strapdown.kernels.sensors.live_chain import AHEAD, BAD, MISFIT, read_rows, take_apart
from strapdown.kernels.sensors.module import GYROSCOPE
from strapdown.sensors.chain.inputs import (
    even_times,
    exact_step,
    listed_kernel,
    locked,
    refuse_row,
    rows,
    step_of,
    stride_of,
)
from strapdown.sensors.chain.measured import Measured as Measured
from strapdown.sensors.chain.numbers import PHYSICAL, chain_settings, drift_layout, memory_size, refuse_missing
from strapdown.sensors.chain.numbers import as_mode as as_mode
from strapdown.sensors.chain.state import (
    Origin,
    ReadingState,
    acting_terms,
    adapted,
    draw_term,
    drawn_ahead,
    layout_of,
    new_memory,
    nothing_drawn,
    origin_of,
    state_of,
)
from strapdown.sensors.streams import branch
from strapdown.sensors.temperature import Temperature, temperature_at
from strapdown.sensors.triad import NO_MATRIX, Triad

Array = NDArray[np.float64]
Stream = np.random.Generator | np.random.SeedSequence

# not locked: numba takes longer to look at an array that is read-only
_NO_ROWS, _ONE_READING = np.empty((0, 3)), (1, COLUMNS)
_ALONE = np.array([[GYROSCOPE, GYROSCOPE, 0, 0, 0, 0]])  # one instrument: its settings and memory are all
_CHUNK = 8192  # samples of a recording that are read at a time: their readings stay in the cache


class _Prepared(NamedTuple):
    """Data that a chain needs for every chunk."""

    settings: Array
    origin: Origin
    stride: int
    forced: bool


@dataclass(frozen=True)
class ErrorChain:
    """The errors of one sensor while it is read: rows of true values step_s apart, in chunks of any size.

    output_rate_hz: the part's data rate: that of the input, or that divided by a whole number. Chunks give the bits of
    `measure` on the whole. Another ErrorChain may continue with a state: its settings act from the next row on.
    """

    triad: Triad
    step_s: float
    output_rate_hz: float | None = None
    mode: str = PHYSICAL
    _prepared: _Prepared = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        refuse_missing(self.triad, self.mode)
        step_s = exact_step(None, step_of(self.step_s), self.output_rate_hz)
        stride = stride_of(step_s, self.output_rate_hz)
        settings = chain_settings(self.triad, self.mode, step_s, stride, even=True)
        origin = origin_of(ErrorChain, drift_layout(settings))
        prepared = _Prepared(settings.copy(), origin, stride, self.triad.g_sensitivity != NO_MATRIX)
        object.__setattr__(self, "_prepared", prepared)
        listed_kernel(read_rows)

    def start(self, stream: Stream) -> ReadingState:
        """The state before the first row. The same SeedSequence gives the same readings."""
        turn_on, *generators = branch(stream, 1 + m.TERMS)
        memory = new_memory(memory_size(self._prepared.settings), turn_on)
        return state_of(self._prepared.origin, memory, nothing_drawn(generators))

    def read(
        self,
        state: ReadingState,
        t: Array,
        ideal: Array,
        temperature_c: Temperature = 25.0,
        specific_force: Array | None = None,
    ) -> tuple[ReadingState, Measured]:
        """The next rows: times t (n,), true values (n, 3), specific force (n, 3) if there is g_sensitivity."""
        settings, origin, stride, forced = self._prepared
        force = specific_force if forced else _NO_ROWS
        try:
            if state.origin is not origin or type(temperature_c) is not float:
                raise TypeError
            n, memory, drawn = len(t), state.memory.copy(), state.drawn
            out = np.empty(_ONE_READING if n == 1 else ((n - 1) // stride + 1, COLUMNS))
            celsius = _constant(temperature_c)
            count = read_rows(settings, _ALONE, memory, drawn[0], t, force, ideal, _NO_ROWS, celsius, out)
            if count == MISFIT:
                raise TypeError
        except (TypeError, AttributeError):  # not as the kernel takes it: a list, one row as (3,), other settings
            memory, drawn = self._adopted(state), state.drawn
            t, ideal, force, celsius = self._checked(t, ideal, specific_force, temperature_c)
            out = np.empty(((len(t) - 1) // stride + 1, COLUMNS))
            count = read_rows(settings, _ALONE, memory, drawn[0], t, force, ideal, _NO_ROWS, celsius, out)
        while count < 0:
            if count == BAD:
                refuse_row(settings, memory, t, ideal, force, celsius, int(memory[m.NEXT_ROW]))  # type: ignore[arg-type]
            ahead = drawn[0].copy()
            drawn = ahead, drawn_ahead(settings, memory, ahead, drawn[1])
            count = read_rows(settings, _ALONE, memory, ahead, t, force, ideal, _NO_ROWS, celsius, out)
        after = ReadingState()
        after.origin, after.memory, after.drawn, after.waiting = origin, memory, drawn, ()
        measured = Measured()
        measured.columns = out if count == len(out) else out[:count]
        measured.resolution = self.triad.resolution
        return after, measured

    def _adopted(self, state: ReadingState) -> Array:
        """The memory of a state, laid out for our settings."""
        layout = layout_of(state, ErrorChain, "ErrorChain(...).start(stream)")
        return adapted(state.memory.copy(), layout, self._prepared.origin[1], memory_size(self._prepared.settings))

    def _checked(self, t: Any, ideal: Any, force: Any, temperature_c: Temperature) -> tuple[Array, Array, Array, Array]:
        times = np.ascontiguousarray(np.atleast_1d(np.asarray(t, dtype=np.float64)))
        true = rows(np.reshape(ideal, (1, 3)) if np.shape(ideal) == (3,) else ideal, times, "ideal")
        force = np.reshape(force, (1, 3)) if np.shape(force) == (3,) else force
        celsius = np.ascontiguousarray(temperature_at(temperature_c, times, self.triad.limits_c))
        return times, true, _force(self.triad, force, times), celsius


def measure(
    triad: Triad,
    t: ArrayLike,
    ideal: ArrayLike,
    *,
    stream: Stream,
    temperature_c: Temperature = 25.0,
    specific_force: ArrayLike | None = None,
    output_rate_hz: float | None = None,
    mode: str = PHYSICAL,
) -> Measured:
    """Readings of a sensor whose frame has the true values `ideal` (n, 3) at the evenly spaced times t.

    specific_force (n, 3), same frame: for the g-sensitivity of gyroscopes.

    output_rate_hz: the part's data rate: that of the input, or that divided by a whole number.

    The same SeedSequence gives the same readings; a Generator continues from call to call.
    """
    task = _Whole(triad, t, temperature_c, output_rate_hz, mode)
    return task.run(ideal, specific_force, stream)


def measure_batch(
    triads: Triad | Sequence[Triad],
    t: ArrayLike,
    ideal: ArrayLike,
    *,
    streams: Sequence[Stream],
    temperature_c: Temperature = 25.0,
    specific_force: ArrayLike | None = None,
    output_rate_hz: float | None = None,
    mode: str = PHYSICAL,
    workers: int | None = None,
) -> list[Measured]:
    """Many recordings at once, one for each stream, on all cores: the same bits as `measure` one by one.

    ideal and specific_force: (m, n, 3), or (n, 3) for all.
    triads: one for all, or m specimens.
    """
    count = len(streams)
    many = [triads] * count if isinstance(triads, Triad) else list(triads)
    if len(many) != count:
        raise InputError(f"{len(many)} triads for {count} streams; give one for all or one for each")
    if len({id(source) for source in streams if isinstance(source, np.random.Generator)}) < sum(
        isinstance(source, np.random.Generator) for source in streams
    ):
        raise InputError("one generator stands twice in streams; give each recording its own")
    tasks = {triad: _Whole(triad, t, temperature_c, output_rate_hz, mode) for triad in dict.fromkeys(many)}

    def each(x: ArrayLike | None, name: str) -> Iterable[Any]:
        array = None if x is None else np.asarray(x)
        if array is None or array.ndim == 2:
            return [array] * count
        if array.ndim != 3 or len(array) != count:
            raise InputError(f"{name} has shape {array.shape}; expected ({count}, n, 3), one recording for each stream")
        return array

    def one(work: tuple[Triad, Any, Any, Stream]) -> Measured:
        return tasks[work[0]].run(*work[1:])

    work = zip(many, each(ideal, "ideal"), each(specific_force, "specific_force"), streams, strict=True)
    with ThreadPoolExecutor(workers or os.cpu_count()) as pool:  # the kernels run without the interpreter's lock
        return list(pool.map(one, work))


class _Whole:
    """Common data of all recordings of one sensor: checked once, in the form of the kernels."""

    def __init__(
        self, triad: Triad, t: ArrayLike, temperature_c: Temperature, output_rate_hz: float | None, mode: str
    ) -> None:
        refuse_missing(triad, mode)
        self.triad = triad
        self.t, mean = even_times(t, output_rate_hz)
        step = exact_step(self.t, mean, output_rate_hz)
        stride = stride_of(step, output_rate_hz)
        self.celsius = locked(temperature_at(temperature_c, self.t, triad.limits_c))
        self.settings = chain_settings(triad, mode, step, stride, even=False)
        self.samples, self.stride = (len(self.t) - 1) // stride + 1, stride
        self.terms = acting_terms(self.settings)
        listed_kernel(read_rows)

    def run(self, ideal: ArrayLike, specific_force: ArrayLike | None, source: Stream) -> Measured:
        true, force = rows(ideal, self.t, "ideal"), _force(self.triad, specific_force, self.t)
        turn_on, *generators = branch(source, 1 + m.TERMS)
        n, chunk, settings = self.samples, min(_CHUNK, self.samples), self.settings
        table, ahead = np.empty((chunk, COLUMNS)), np.empty((m.TERMS, max(3 * chunk, AHEAD)))
        memory = new_memory(memory_size(settings), turn_on, ahead.shape[1])
        columns = np.empty(n), np.empty((n, 3)), np.empty((n, 3), np.bool_), np.empty(n, np.int64)
        arrived = 0
        for first in range(0, len(self.t), chunk * self.stride):
            cut = slice(first, first + chunk * self.stride)
            celsius = self.celsius if len(self.celsius) == 1 else self.celsius[cut]
            given = self.t[cut], force[cut], true[cut], _NO_ROWS, celsius
            while (count := read_rows(settings, _ALONE, memory, ahead, *given, table)) < 0:
                if count == BAD:
                    row = first + int(memory[m.NEXT_ROW])
                    refuse_row(settings, memory, self.t, true, force, self.celsius, row)
                for term in self.terms:
                    draw_term(memory, ahead, term, generators[term])
            take_apart(table, count, first, arrived, *columns)
            arrived += count
        measured = Measured()
        measured.columns, measured.resolution = [column[:arrived] for column in columns], self.triad.resolution
        return measured


def _force(triad: Triad, specific_force: ArrayLike | None, t: Array) -> Array:
    if triad.g_sensitivity == NO_MATRIX:
        return _NO_ROWS
    if specific_force is None:
        raise InputError("g_sensitivity needs the specific force in the sensor's frame; give specific_force")
    return rows(specific_force, t, "specific_force")


@lru_cache(maxsize=256)
def _constant(celsius: float) -> Array:
    return np.array([celsius])
