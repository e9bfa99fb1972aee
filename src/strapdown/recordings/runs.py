"""Runs of samples for which a flag is set."""

import numpy as np
from numpy.typing import NDArray


def runs_of(flag: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """First and last sample of each run."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flag, [False]]).astype(np.int8)))
    return [(int(first), int(behind) - 1) for first, behind in edges.reshape(-1, 2)]
