"""Common part of sensors with their own rate: when a reading is due, and random numbers drawn in advance. Both are
values.

Such a sensor is called at every cycle of a simulation and reads at the call nearest to its own time.
"""

import math
from typing import NamedTuple

import numpy as np

from strapdown.checks import positive
from strapdown.errors import InputError
from strapdown.sensors.chain.state import kept_generator, restored_generator
from strapdown.sensors.streams import branch
from strapdown.types import Motion

Stream = np.random.Generator | np.random.SeedSequence

_AHEAD = 60  # numbers drawn at once: a generator's state takes longer to restore than these to draw
_NEAREST = 0.5 - 1e-6  # of the time between calls: a tie waits for the later call, whatever the roundoff of t


class Chance(NamedTuple):
    """Random numbers of one term of a sensor: drawn in advance, how many are used, and their generator."""

    uniform: bool
    numbers: tuple[float, ...]
    used: int
    kept: bytes

    def next(self, count: int) -> "tuple[Chance, tuple[float, ...]]":
        """The next numbers: standard normal, or uniform from 0 to 1."""
        end = self.used + count
        if end <= len(self.numbers):
            return Chance(self.uniform, self.numbers, end, self.kept), self.numbers[self.used : end]
        generator = restored_generator(self.kept)
        drawn = generator.random(_AHEAD) if self.uniform else generator.standard_normal(_AHEAD)
        numbers = (*self.numbers[self.used :], *drawn.tolist())
        return Chance(self.uniform, numbers, count, kept_generator(generator)), numbers[:count]


def chances(stream: Stream, *uniform: bool) -> list[Chance]:
    """Random numbers for each term, so that switching on a term does not change the others' numbers."""
    below = branch(stream, len(uniform))
    return [Chance(each, (), 0, kept_generator(source)) for each, source in zip(uniform, below, strict=True)]


class Pace(NamedTuple):
    """Times at which a sensor reads.

    half_s: half the time between calls.
    first_s: time of the first call, NaN before it.
    done: readings that were due so far.
    next_s: no reading is due at calls before it.
    """

    half_s: float
    first_s: float = math.nan
    done: int = 0
    next_s: float = -math.inf

    def after(self, t: float, rate_hz: float | None) -> "Pace":
        """The state after the reading at t, which was due. rate_hz None: at every call."""
        if not math.isfinite(t):
            raise InputError(f"t is {t!r}; give the time of the reading in s")
        first_s = t if self.done == 0 else self.first_s
        if rate_hz is None:
            return Pace(self.half_s, first_s, self.done + 1)
        count = math.floor((t - first_s + self.half_s) * rate_hz) + 1
        return Pace(self.half_s, first_s, count, first_s + count / rate_hz - self.half_s)


def pace_of(step_s: float, rate_hz: float | None, what: str) -> Pace:
    """State before the first call, for calls step_s apart."""
    step = positive("step_s", step_s)
    if rate_hz is not None and rate_hz * step > 1.0 + 1e-6:  # typed step
        raise InputError(
            f"the {what} reads at {rate_hz:g} Hz and is called every {step:g} s; call it as often as it reads"
        )
    return Pace(_NEAREST * step)


def refuse_state_of(state: object, owner: type) -> InputError:
    """The error for a state that belongs to another sensor."""
    name = owner.__name__
    return InputError(f"{name}.read was given a {type(state).__name__}; begin with {name}(...).start(stream, step_s)")


def step_of_motion(motion: Motion) -> float:
    """The usual time between rows (s)."""
    if len(motion) < 2:
        raise InputError("the motion has one row; a sensor with a rate of its own needs at least two")
    return float(np.median(np.diff(motion.t)))
