"""Input of a virtual chip: physical quantities as functions of time, from any motion and any specimen."""

import bisect
import math
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np

from strapdown.arrays import Array

_REPEATED_US = 1_000_000
_PIECE = 1000  # rows


class Felt(NamedTuple):
    """True input of the chips at an instant.

    acc: specific force (m/s2).
    gyr: rate (rad/s).
    mag: field (uT), each in the axes of its chip, with the errors of the specimen and before range, digital filter and
        rounding.
    celsius: temperature of the die.
    """

    acc: tuple[float, float, float]
    gyr: tuple[float, float, float]
    mag: tuple[float, float, float]
    celsius: float


class Feed(Protocol):
    """The input of a chip, requested by its own clock, in the order of time."""

    def at(self, time_us: int) -> Felt: ...


class Rows:
    """A feed from rows of numbers: t_s (n,), acc, gyr, mag (n, 3) and celsius (n,). Between rows the last one is used.

    blocks: further rows that are read while it runs. Past rows are dropped, so that memory is bounded. Before its time
    the first row is used. After the last row `ended` becomes true, and the rows of the last second are repeated. The
    reason is that a sensor that has come to rest is still noisy.
    """

    def __init__(self, blocks: Iterator[tuple[Array, Array, Array, Array, Array]]) -> None:
        self._blocks = _pieces(blocks)
        self._times: list[int] = []
        self._rows: list[Felt] = []
        self._at = 0
        self.ended = False
        self._repeated = (0, 0)  # first row, end (us)
        self._more()

    def _more(self) -> bool:
        """The next block; False: there is none."""
        for t, acc, gyr, mag, celsius in self._blocks:
            times = np.rint(np.asarray(t) * 1e6).astype(np.int64).tolist()
            columns = (x.tolist() for x in (acc, gyr, mag, celsius))
            rows = [Felt(tuple(a), tuple(g), tuple(m), c) for a, g, m, c in zip(*columns, strict=True)]
            first = bisect.bisect_left(self._times, times[0] - _REPEATED_US)  # the last second stays
            self._times, self._rows = [*self._times[first:], *times], [*self._rows[first:], *rows]
            self._at = max(self._at - first, 0)
            return True
        return False

    def at(self, time_us: int) -> Felt:
        if not self._rows:
            raise ValueError("a feed needs at least one row")
        if self.ended and time_us > self._times[-1]:
            first, end_us = self._repeated
            before_us = end_us - 1 - (time_us - end_us - 1) % max(end_us - self._times[first], 1)
            return self._rows[max(bisect.bisect_right(self._times, before_us) - 1, first)]
        while True:
            times, last = self._times, len(self._times) - 1
            while self._at < last and times[self._at + 1] <= time_us:
                self._at += 1
            while self._at > 0 and times[self._at] > time_us:  # a slower chip asks for a time a little before
                self._at -= 1
            if self._at < last or time_us < times[last] or self.ended:
                return self._rows[self._at]
            if not self._more():
                self.ended = True
                last_us = self._times[-1]
                self._repeated = (bisect.bisect_left(self._times, last_us - _REPEATED_US), last_us)
                return self._rows[self._at]


def _pieces(blocks: Iterator[tuple[Array, ...]]) -> Iterator[tuple[Array, ...]]:
    """Blocks of at most _PIECE rows: a long recording is not turned into objects at once."""
    for t, acc, gyr, mag, celsius in blocks:
        n = len(t)
        columns = [np.broadcast_to(x, (n, 3)) for x in (acc, gyr, mag)]
        warm = np.broadcast_to(celsius, n)
        for i in range(0, n, _PIECE):
            yield t[i : i + _PIECE], *(x[i : i + _PIECE] for x in columns), warm[i : i + _PIECE]


class LowPass:
    """First-order low-pass of a triad, read at steps of step_s. bandwidth_hz None: no low-pass. The filter starts at
    its first input.

    delay_s: delay of slow changes, as the data sheet states it; whole steps add what the low-pass lacks of it.
    """

    def __init__(self, bandwidth_hz: float | None, delay_s: float, step_s: float) -> None:
        self._gain, late = 1.0, 0
        if bandwidth_hz is not None:
            self._gain = 1.0 - math.exp(-2.0 * math.pi * bandwidth_hz * step_s)
            late = max(round((delay_s - 1.0 / (2.0 * math.pi * bandwidth_hz)) / step_s), 0)
        self._x: tuple[float, float, float] | None = None
        self._late: deque[tuple[float, float, float]] = deque(maxlen=late + 1)

    def step(self, x: tuple[float, float, float]) -> tuple[float, float, float]:
        self._late.append(x)
        x = self._late[0]
        if self._x is not None and self._gain < 1.0:
            k, (a, b, c) = self._gain, self._x
            x = (a + k * (x[0] - a), b + k * (x[1] - b), c + k * (x[2] - c))
        self._x = x
        return x


def counts(value: float, per_unit: float, least: int = -32768, most: int = 32767) -> int:
    """A reading rounded to counts, clipped at the ends of the range."""
    return max(least, min(most, math.floor(value * per_unit + 0.5)))
