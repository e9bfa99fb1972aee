"""Samples of all signals and poses of the last minutes, in the server: for frames and for looking back."""

from collections import deque
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Times = NDArray[np.float64]
Places = Mapping[str, tuple[int, int]]  # name: first column, count
_CHUNK = 512  # rows


class _Chunk:
    def __init__(self, rows: int, width: int, poses: int) -> None:
        self.t: Times = np.empty(rows)
        self.rows: Floats = np.empty((rows, width), np.float32)
        self.poses: Floats = np.empty((rows, poses), np.float32)


class Samples:
    """Rows have numbers that count up; `first` is the oldest that is kept, `end` the next one."""

    def __init__(self, width: int, bodies: int, most: int) -> None:
        self.width, self.bodies, self._most = width, bodies, max(2, most)
        self._size = min(_CHUNK, self._most)
        self._chunks: deque[_Chunk] = deque()
        self._gone = 0  # chunks that were dropped
        self.end = 0

    @property
    def first(self) -> int:
        return max(self._gone * self._size, self.end - self._most)

    def add(self, t: Times, rows: Floats, poses: Floats) -> None:
        done = 0
        while done < len(t):
            place = self.end % self._size
            if place == 0 and self.end // self._size == self._gone + len(self._chunks):
                self._chunks.append(_Chunk(self._size, self.width, 7 * self.bodies))
            count = min(len(t) - done, self._size - place)
            chunk = self._chunks[-1]
            chunk.t[place : place + count] = t[done : done + count]
            chunk.rows[place : place + count] = rows[done : done + count]
            chunk.poses[place : place + count] = poses[done : done + count]
            self.end += count
            done += count
        while (self._gone + 1) * self._size <= self.end - self._most:
            self._chunks.popleft()
            self._gone += 1

    def part(self, first: int, last: int) -> tuple[Times, Floats, Floats]:
        """Rows from first to before last: times, numbers, poses. Within a chunk nothing is copied."""
        first = max(first, self._gone * self._size)
        found = []
        while first < last:
            k, place = divmod(first, self._size)
            stop = min(self._size, place + last - first)
            chunk = self._chunks[k - self._gone]
            found.append((chunk.t[place:stop], chunk.rows[place:stop], chunk.poses[place:stop]))
            first += stop - place
        if len(found) == 1:
            return found[0]
        if not found:
            return np.empty(0), np.empty((0, self.width), np.float32), np.empty((0, 7 * self.bodies), np.float32)
        t, rows, poses = (np.concatenate(column) for column in zip(*found, strict=True))
        return t, rows, poses

    def between(self, from_s: float, to_s: float | None, most: int) -> tuple[Times, Floats, Floats]:
        """Rows between two times, thinned to at most `most`."""
        t, rows, poses = self.part(self.first, self.end)
        a = int(np.searchsorted(t, from_s - 1e-9))
        b = len(t) if to_s is None else int(np.searchsorted(t, to_s + 1e-9))
        thin = slice(a, b, max(1, -(-(b - a) // most)))
        return t[thin], rows[thin], poses[thin]

    def cut(self, t_s: float) -> "Samples":
        """Drop the rows after a time; they are returned as separate samples."""
        t, _, _ = self.part(self.first, self.end)
        keep = self.first + int(np.searchsorted(t, t_s + 1e-9))
        tail = Samples(self.width, self.bodies, self._most)
        tail.add(*self.part(keep, self.end))
        self.end = keep
        while len(self._chunks) > max(0, -(-keep // self._size) - self._gone):
            self._chunks.pop()
        return tail

    def laid_out(self, old: Places, new: Places, width: int) -> "Samples":
        """The same rows for another list of signals: numbers of signals that both have are kept, others are NaN."""
        other = Samples(width, self.bodies, self._most)
        pairs = [
            (old[name][0], place[0], place[1]) for name, place in new.items() if old.get(name, (0, 0))[1] == place[1]
        ]
        at = self.first
        while at < self.end:
            stop = min(at + _CHUNK, self.end)
            t, rows, poses = self.part(at, stop)
            moved = np.full((len(t), width), np.nan, np.float32)
            for source, target, count in pairs:
                moved[:, target : target + count] = rows[:, source : source + count]
            other.add(t, moved, poses)
            at = stop
        return other
