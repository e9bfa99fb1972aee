"""The memory of virtual instruments that are read while a simulation runs: a value, which reading does not change.

Random numbers are drawn in advance, in blocks, each term from its own generator. The block and the states of the
generators belong to the memory. States share blocks that none of them changes.
"""

import threading
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strapdown.errors import InputError
from strapdown.kernels.sensors import chain_memory as m
from strapdown.kernels.sensors import chain_settings as s
from strapdown.kernels.sensors.draws import draw_normals, draw_uniforms
from strapdown.kernels.sensors.live_chain import AHEAD

Array = NDArray[np.float64]


class ReadingState:
    """Memory of a chain or module of virtual instruments between two chunks of rows.

    origin: the class that started it, and the layout of its numbers.
    memory: numbers.
    drawn: random numbers drawn in advance, TERMS rows for each instrument, and the states of their generators.
    waiting: rows of the log that are stamped later than the newest row of the input.
    """

    __slots__ = ("drawn", "memory", "origin", "waiting")
    origin: "Origin"
    memory: Array
    drawn: "Drawn"
    waiting: tuple[Array, ...]

    def copy(self) -> "ReadingState":
        return state_of(self.origin, self.memory.copy(), self.drawn, self.waiting)

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> "ReadingState":
        ahead, generators = self.drawn
        return state_of(self.origin, self.memory.copy(), (ahead.copy(), generators), self.waiting)

    def _key(self) -> tuple[Any, ...]:
        ahead, generators = self.drawn
        waiting = tuple(row[:-1].tobytes() for row in self.waiting)  # the last column is the row within its chunk
        return self.origin, self.memory.tobytes(), ahead.tobytes(), generators, waiting

    def __eq__(self, other: object) -> bool:
        """Whether two states are equal to the bit."""
        return self._key() == other._key() if isinstance(other, ReadingState) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return state_of, (self.origin, self.memory, self.drawn, self.waiting)

    def __repr__(self) -> str:
        return f"<state of {self.origin[0].__name__}, {len(self.memory)} numbers>"


Origin = tuple[type, tuple[Any, ...]]
Drawn = tuple[Array, tuple[bytes, ...]]


def state_of(origin: Origin, memory: Array, drawn: Drawn, waiting: tuple[Array, ...] = ()) -> ReadingState:
    """A state without a call of its constructor, which would take a tenth of a live reading."""
    state = ReadingState()
    state.origin, state.memory, state.drawn, state.waiting = origin, memory, drawn, waiting
    return state


@lru_cache(maxsize=256)
def origin_of(owner: type, layout: tuple[Any, ...]) -> Origin:
    """One object for equal layouts, so that most states are compared by identity."""
    return owner, layout


def nothing_drawn(generators: list[np.random.Generator]) -> Drawn:
    """Random numbers before the first row: none.

    generators: TERMS of them for each instrument.
    """
    return np.zeros((len(generators), AHEAD)), tuple(map(kept_generator, generators))


def new_memory(size: int, turn_on: np.random.Generator, ahead: int = AHEAD) -> Array:
    """The memory of one error chain before its first row.

    ahead: how many numbers are drawn in advance for each term.
    """
    memory = np.zeros(size)
    memory[m.TIME] = np.nan
    memory[m.EARLIEST] = -np.inf
    memory[m.POSITION : m.POSITION + m.TERMS] = ahead  # nothing is drawn yet
    memory[m.TURN_ON : m.TURN_ON + 3] = turn_on.standard_normal(3)
    return memory


def drawn_ahead(settings: Array, memory: Array, ahead: Array, generators: Sequence[bytes]) -> tuple[bytes, ...]:
    """Fill the rows of one instrument in ahead, behind the unused numbers; returns the new states of its generators."""
    after = list(generators)
    for term in acting_terms(settings):
        generator = restored_generator(generators[term])
        draw_term(memory, ahead, term, generator)
        after[term] = kept_generator(generator)
    return tuple(after)


def acting_terms(settings: Array) -> list[int]:
    """The random terms that are switched on."""
    numbers = settings[: s.PARTS].tolist()
    return [term for term, place in _PLACES.items() if any(numbers[place : place + (3 if term < m.JITTER else 1)])]


def draw_term(memory: Array, ahead: Array, term: int, generator: np.random.Generator) -> None:
    """Move the numbers of a term that are not yet used to the front of its row, and draw the others."""
    numbers, used = ahead[term], int(memory[m.POSITION + term])
    left = len(numbers) - used
    if left > 0:
        numbers[:left] = numbers[used:].copy()
    memory[m.POSITION + term] = 0.0
    (draw_uniforms if term in (m.QUANTUM, m.LOSS) else draw_normals)(generator, numbers[left:])


_PLACES = {
    m.WHITE: s.WHITE,
    m.INSTABILITY: s.INSTABILITY,
    m.WALK: s.WALK,
    m.QUANTUM: s.QUANTUM,
    m.JITTER: s.JITTER,
    m.LOSS: s.LOSS,
}


def kept_generator(generator: np.random.Generator) -> bytes:
    numbers: bytes = generator.bit_generator.state["state"]["state"].tobytes()
    return numbers


_scratch = threading.local()  # a new generator takes longer than drawing a block


def restored_generator(kept: bytes) -> np.random.Generator:
    """A generator in this state; only until the next call in this thread."""
    generator: np.random.Generator | None = getattr(_scratch, "generator", None)
    if generator is None:
        generator = _scratch.generator = np.random.Generator(np.random.SFC64(0))
    numbers = np.frombuffer(kept, dtype=np.uint64)
    state = {"bit_generator": "SFC64", "state": {"state": numbers}, "has_uint32": 0, "uinteger": 0}
    generator.bit_generator.state = state
    return generator


def layout_of(state: object, owner: type, start: str) -> tuple[Any, ...]:
    """The layout of a state of this class; anything else is refused."""
    if isinstance(state, ReadingState) and state.origin[0] is owner:
        return state.origin[1]
    had = f"a state of {state.origin[0].__name__}" if isinstance(state, ReadingState) else f"a {type(state).__name__}"
    raise InputError(f"{owner.__name__}.read was given {had}; begin with {start}")


def adapted(memory: Array, layout: tuple[int, ...], wanted: tuple[int, ...], size: int) -> Array:
    """The memory of a chain whose settings have changed, laid out for the new ones.

    Instability that is switched on begins at this sample; one that is switched off is forgotten. The band and rate of
    the instability cannot change, because the steps of its processes would not fit.
    """
    if layout == wanted:
        return memory
    if () not in (layout, wanted):
        raise InputError(
            "the state was started with another mode, sample rate, instability_band_s or length of matlab_filter; "
            "start anew"
        )
    grown = np.zeros(size)
    grown[: m.PARTS] = memory[: m.PARTS]
    grown[m.DRIFT_STARTED] = 0.0
    return grown
