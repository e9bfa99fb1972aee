"""Arrays that are filled block by block, from files whose length is not known before their end."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from strapdown.errors import InputError

_MORE = 10  # a tenth more than is there: at most so much is memory that is not used in the end


class Growing:
    """Rows of an array that grows in place; the system moves its pages, so that there are never two copies."""

    def __init__(self, width: int | None, dtype: type = np.float64) -> None:
        self._width = () if width is None else (width,)
        self._array: NDArray[Any] = np.empty((0, *self._width), dtype)

    def put(self, begin: int, values: NDArray[Any], axis: int | None = None) -> None:
        """Write values from row begin on, of one component of a vector if axis is given."""
        end = begin + len(values)
        if end > len(self._array):
            self._resize(max(end, len(self._array) + len(self._array) // _MORE))
        if axis is None:
            self._array[begin:end] = values
        else:
            self._array[begin:end, axis] = values

    def locked(self, rows: int) -> NDArray[Any]:
        """The array cut to this many rows and made read-only, so that types use it without a copy."""
        if len(self._array) != rows:
            self._resize(rows)
        self._array.flags.writeable = False
        return self._array

    def _resize(self, rows: int) -> None:
        try:
            self._array.resize((rows, *self._width), refcheck=False)  # nobody else has seen it yet
        except MemoryError:
            raise InputError(
                f"the file has more rows than fit into memory: {rows:.3g} at least; cut it into parts"
            ) from None
