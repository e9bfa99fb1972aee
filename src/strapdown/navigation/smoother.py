"""The error-state filter's estimate at every sample from the whole recording, the samples after it as well.

The filter runs forward once and keeps its state every SEGMENT samples; backward, each segment is run again with all
that the backward pass needs. Memory: 8 kB for each sample of one segment and 3 kB for each segment, whatever the
length.
"""

from typing import Unpack

import numpy as np

from strapdown.kernels import eskf_layout as at
from strapdown.kernels.eskf_smoother import backward_rows
from strapdown.navigation.eskf import Eskf, Given
from strapdown.navigation.eskf_output import Output
from strapdown.types import Recording, Solution

SEGMENT = 1000


def smooth(filt: Eskf, recording: Recording, **given: Unpack[Given]) -> Solution:
    """As filt.run(...), smoothed: position, velocity, attitude, biases and their deviations; flags and events are the
    filter's. The considered scales stay as they are: their part of the deviations is that of the filter."""
    rows, state = filt.prepare(recording, **given)
    n = len(rows.dt)
    parts = [slice(i, min(i + SEGMENT, n)) for i in range(0, n, SEGMENT)]
    out = Output(len(rows.t), state.numbers, rows.first)
    x, kept = state.numbers.copy(), []
    for part in parts:
        kept.append(x.copy())
        out.fill(x, state.settings, rows, part)
    meta = {**filt.meta(), "filter": f"{filt.name}, smoothed"}
    out.refuse_lost(rows.t, meta["filter"])  # before it spreads backward
    lam, lam2 = np.zeros(at.N), np.zeros((at.N, at.N))
    longest = min(SEGMENT, n)
    tapes, states = np.empty((longest, at.T_SIZE)), np.empty((longest, at.X_SIZE))
    nominal, sigma = np.empty((longest, at.BIAS_M + 1)), np.empty((longest, at.N))
    for part, begin in zip(reversed(parts), reversed(kept), strict=True):
        m = part.stop - part.start
        out.fill(begin, state.settings, rows, part, tapes[:m], states[:m])
        here = slice(rows.first + part.start, rows.first + part.stop)
        backward_rows(lam, lam2, tapes[:m], states[:m], nominal[:m], sigma[:m])
        out.put(here, nominal[:m], sigma[:m])
    out.put(slice(0, rows.first), nominal[:1], sigma[:1])  # as at the first row, which came last
    return out.solution(rows, state.q_bs, meta)
