"""Rows of numbers that grow at their end and can be cut there: the memory of a session's log."""

from typing import Any

import numpy as np

from strapdown.arrays import Array

_CHUNK = 4096  # rows


class GrowingRows:
    """Rows of `width` numbers in chunks: adding one copies nothing that is there."""

    def __init__(self, width: int) -> None:
        self.width = width
        self._chunks: list[Array] = []
        self._last = np.empty((0, width))
        self._used = 0

    def __len__(self) -> int:
        return _CHUNK * max(len(self._chunks) - 1, 0) + self._used

    def append(self, row: Any) -> None:
        if self._used == len(self._last):
            self._last, self._used = np.empty((_CHUNK, self.width)), 0
            self._chunks.append(self._last)
        self._last[self._used] = row
        self._used += 1

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
        del self._chunks[whole + (rest > 0) :]
        self._last = self._chunks[-1] if self._chunks else np.empty((0, self.width))
        self._used = rest if rest else len(self._last)

    def rows(self, first: int = 0) -> Array:
        """The rows from `first` on, as a new array."""
        start = first // _CHUNK
        chunks = self._chunks[start:-1] + [self._last[: self._used]]
        return np.concatenate(chunks)[first - start * _CHUNK :] if self._chunks else np.empty((0, self.width))
