"""Fewer points for a picture of a long log, without the loss of peaks."""

import numpy as np
from numpy.typing import NDArray

from strapdown.types import Array

MOST_POINTS = 2000  # per line: more than a page of A4 or a screen can show side by side


def evenly(n: int, most: int = MOST_POINTS) -> NDArray[np.int64]:
    """Rows of every n-th sample, the last included."""
    if n <= most:
        return np.arange(n)
    return np.unique(np.linspace(0, n - 1, most).astype(np.int64))


def peaks(values: Array, most: int = MOST_POINTS) -> NDArray[np.int64]:
    """Rows of the least and the largest of each of most / 2 bins, in order; first and last row are kept."""
    n = len(values)
    if n <= most:
        return np.arange(n)
    size = -(-n // (most // 2 - 1))
    whole = n // size * size
    bins = values[:whole].reshape(-1, size)
    start = np.arange(0, whole, size)
    rows = [start + bins.argmin(axis=1), start + bins.argmax(axis=1), np.array([0, n - 1])]
    if whole < n:
        rest = values[whole:]
        rows.append(whole + np.array([rest.argmin(), rest.argmax()]))
    return np.unique(np.concatenate(rows))


def cloud(values: Array, most: int = MOST_POINTS) -> NDArray[np.int64]:
    """Rows for single points: half of them evenly spaced to show the distribution, half of them peaks."""
    if len(values) <= most:
        return np.arange(len(values))
    return np.unique(np.concatenate([evenly(len(values), most // 2), peaks(values, most // 2)]))
