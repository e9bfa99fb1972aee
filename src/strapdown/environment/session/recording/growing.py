"""Rows of numbers that grow at their end and can be cut there: the memory of a session's log."""

from typing import Any

import numpy as np

from strapdown.arrays import Array

_CHUNK = 4096  # rows


class GrowingRows:
    """Rows of `width` numbers in chunks: adding one copies no earlier row. Rows at the beginning can be forgotten; the
    others keep their numbers.
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self._chunks: list[Array] = []
        self._last = np.empty((0, width))
        self._used = 0
        self._gone = 0  # chunks that were forgotten
        self.first = 0  # number of the first row that is kept

    def __len__(self) -> int:
        """Number of all rows, including those that are no longer stored."""
        return _CHUNK * max(self._gone + len(self._chunks) - 1, 0) + self._used

    @property
    def begun(self) -> bool:
        """Whether there is a row, or was one that is no longer stored."""
        return self._used > 0

    def append(self, row: Any) -> None:
        if self._used == len(self._last):
            self.added()[:] = row
        else:
            self._last[self._used] = row
            self._used += 1

    def added(self) -> Array:
        """Add one more row, to be filled."""
        at = self._used
        if at == len(self._last):
            self._last, at = np.empty((_CHUNK, self.width)), 0
            self._chunks.append(self._last)
        self._used = at + 1
        return self._last[at]

    def extend(self, rows: Array) -> None:
        """Several rows."""
        first = 0
        while first < len(rows):
            if self._used == len(self._last):
                self._last, self._used = np.empty((_CHUNK, self.width)), 0
                self._chunks.append(self._last)
            count = min(len(rows) - first, _CHUNK - self._used)
            self._last[self._used : self._used + count] = rows[first : first + count]
            self._used, first = self._used + count, first + count

    def cut(self, count: int) -> None:
        """Keep the first rows only."""
        whole, rest = divmod(count, _CHUNK)
        del self._chunks[max(whole + (rest > 0) - self._gone, 0) :]
        self._last = self._chunks[-1] if self._chunks else np.empty((0, self.width))
        self._used = rest if rest and self._chunks else len(self._last)
        self.first = min(self.first, len(self))

    def forget(self, count: int) -> None:
        """Forget the first rows. The last chunk stays."""
        self.first = max(self.first, min(count, len(self)))
        gone = min(self.first // _CHUNK - self._gone, len(self._chunks) - 1)
        if gone > 0:
            del self._chunks[:gone]
            self._gone += gone

    def newest(self) -> Array | None:
        """The last row; it must not be changed. The last row; None if there is none."""
        return self._last[self._used - 1] if self._used else None

    def rows(self, first: int = 0) -> Array:
        """The rows from `first` on that are kept, as a new array."""
        if not self._chunks:
            return np.empty((0, self.width))
        first = max(first, self.first)
        start = first // _CHUNK - self._gone
        chunks = [*self._chunks[start:-1], self._last[: self._used]]
        return np.concatenate(chunks)[first - (start + self._gone) * _CHUNK :]
