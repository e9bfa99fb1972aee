"""The error-state filter's estimate at every sample from the whole recording, the samples after it as well.

The filter runs forward once and keeps its state every SEGMENT samples; backward, each segment is run again with all
that the backward pass needs. Memory: 8 kB for each sample of one segment and 3 kB for each segment, whatever the
length.
"""

import numpy as np
from numpy.typing import ArrayLike

from strapdown.kernels import eskf_layout as at
from strapdown.kernels.eskf_smoother import backward_rows
from strapdown.navigation.alignment import Alignment
from strapdown.navigation.eskf import Eskf
from strapdown.navigation.eskf_output import Output
from strapdown.navigation.updates import Heights, PositionFixes
from strapdown.types import Recording, Solution

SEGMENT = 1000


def smooth(
    filt: Eskf,
    recording: Recording,
    *,
    stopped: ArrayLike | None = None,
    alignment: Alignment | None = None,
    p_n: ArrayLike = (0.0, 0.0, 0.0),
    fixes: PositionFixes | None = None,
    heights: Heights | None = None,
) -> Solution:
    """As filt.run(...), smoothed: position, velocity, attitude, biases and their deviations; flags and events are the
    filter's. The considered scales stay as they are: their part of the deviations is that of the filter."""
    rows, state = filt.prepare(recording, stopped, alignment, p_n, fixes, heights)
    n = len(rows.dt)
    parts = [slice(i, min(i + SEGMENT, n)) for i in range(0, n, SEGMENT)]
    out = Output(len(rows.t), state.numbers, rows.first)
    x, kept = state.numbers.copy(), []
    for part in parts:
        kept.append(x.copy())
        out.fill(x, state.settings, rows, part)
    meta = {**filt.meta(), "filter": f"{filt.name}, smoothed"}
    out.solution(rows, state.q_bs, meta)  # tells a lost state by its sample, before it spreads backward
    lam, lam2 = np.zeros(at.N), np.zeros((at.N, at.N))
    tapes, states = np.empty((min(SEGMENT, n), at.T_SIZE)), np.empty((min(SEGMENT, n), at.X_SIZE))
    for part, begin in zip(reversed(parts), reversed(kept), strict=True):
        m = part.stop - part.start
        out.fill(begin, state.settings, rows, part, tapes[:m], states[:m])
        here = slice(rows.first + part.start, rows.first + part.stop)
        backward_rows(lam, lam2, tapes[:m], states[:m], out.nominal[here], out.sigma[here])
    out.nominal[: rows.first], out.sigma[: rows.first] = out.nominal[rows.first], out.sigma[rows.first]
    return out.solution(rows, state.q_bs, meta)
