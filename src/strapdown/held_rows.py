"""Rows of a table that repeat an older reading of an instrument that is slower than the log or did not answer."""

import numpy as np
from numpy.typing import NDArray

from strapdown.arrays import Array

Flags = NDArray[np.bool_]
HELD_SHARE = 0.3  # of all rows repeat the row before: the magnetometer is slower than the log


def new_rows(values: Array) -> Flags | None:
    """Rows with a new reading of a magnetometer, where more than HELD_SHARE of them repeat the previous row. None: it
    has a new reading in every row.
    """
    held = held_rows(values)
    # a reading that never changes is rest without noise, not a slow instrument
    if not HELD_SHARE * len(values) < np.count_nonzero(held) < len(values) - 1:
        return None
    held &= ~zero_rows(values)  # no answer is not an old one
    return ~held if np.count_nonzero(held) > HELD_SHARE * len(values) else None


def held_rows(values: Array) -> Flags:
    """Rows that repeat the row before to the bit."""
    held = np.zeros(len(values), dtype=np.bool_)
    held[1:] = values[1:, 0] == values[:-1, 0]
    if held.any():
        held[1:] &= (values[1:, 1:] == values[:-1, 1:]).all(axis=1)
    return held


def zero_rows(values: Array) -> Flags:
    """Rows that are 0 on all axes: a magnetometer that did not answer."""
    zero = values[:, 0] == 0.0
    return np.asarray(zero & (values[:, 1] == 0.0) & (values[:, 2] == 0.0)) if zero.any() else zero
