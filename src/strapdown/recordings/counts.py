"""Readings that are whole counts: the size of a count."""

import numpy as np

from strapdown.types import Array


def smallest_step(values: Array) -> float | None:
    """Unit per count of readings that are whole multiples of a step; None for other readings."""
    distinct = np.unique(values)
    gaps = np.diff(distinct)
    # the same count may be written with different roundoff
    roundoff = 1e-9 * max(abs(float(distinct[0])), abs(float(distinct[-1])))
    gaps = gaps[gaps > roundoff]
    if len(gaps) == 0 or len(gaps) + 1 > len(values) // 4:
        return None
    for part in (1.0, 2.0, 3.0):  # the smallest gap may be two or three counts
        step = float(gaps.min()) / part
        if np.all(np.abs(gaps / step - np.round(gaps / step)) < 1e-3 + roundoff / step):
            counts = np.round(gaps / step)
            return float(gaps.sum() / counts.sum())  # over the whole span: better than a single gap
    return None
