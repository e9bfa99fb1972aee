"""The error-state filter's estimate at every sample from the whole recording, the samples after it as well.

The filter runs forward once and keeps its state every SEGMENT samples. In the backward pass, each segment is run again
to get the data that the pass needs. Memory: 8 kB for each sample of one segment and 3 kB for each segment, whatever the
length.

The backward pass needs optimal gains, and those of a filter that considers parameters are not optimal. With them the
backward pass would give sigmas of 0 and wrong heights. So it runs on a filter whose scales are taken as exact and whose
floor has no unknown slope. The height, and the contribution of considered parameters to the sigmas, are the filter's
own.
"""

from dataclasses import replace

import numpy as np

from strapdown.kernels.navigation.eskf import layout as at
from strapdown.kernels.navigation.eskf.smoother import backward_rows
from strapdown.live import Start
from strapdown.navigation.eskf.filter import Eskf
from strapdown.navigation.fixes import at_their_instants
from strapdown.types import Recording, Solution

SEGMENT = 1000
NOT_SMOOTHED = "not_smoothed"  # in meta: the solution is the filter's
MOST_DISAGREEMENT = 4.0  # about 1 where smoothing helps, 18 and more where it does harm
_ROWS = 2000  # that are compared


def smooth(filt: Eskf, recording: Recording, given: Start | None = None) -> Solution:
    """As filt.run(...), smoothed: position, velocity, attitude, biases and their sigmas. Flags and events are the
    filter's, and so is the height where its floor may slope. A fix that came late is used in the row of its own
    instant.
    """
    plain, recording = _without_considered(filt), at_their_instants(recording)
    alone = plain.run(recording, given)
    smoothed = _backward(plain, recording, given)
    if disagreement(alone, smoothed) > MOST_DISAGREEMENT:
        told = filt.run(recording, given)
        return replace(told, meta={**told.meta, NOT_SMOOTHED: True})
    if plain == filt:
        return smoothed
    told = filt.run(recording, given)
    more = {name: np.maximum(told.sigma[name] ** 2 - alone.sigma[name] ** 2, 0.0) for name in told.sigma}
    del alone
    sigma = {name: np.sqrt(smoothed.sigma[name] ** 2 + more[name]) for name in more}
    p_n, v_n = np.array(smoothed.p_n), np.array(smoothed.v_n)
    if plain.flat_floor != filt.flat_floor:
        for name, mine, its in (("p_n", p_n, told.p_n), ("v_n", v_n, told.v_n)):
            assert its is not None
            mine[:, 2], sigma[name][:, 2] = its[:, 2], told.sigma[name][:, 2]
    return replace(smoothed, p_n=p_n, v_n=v_n, sigma=sigma, flags=told.flags, events=told.events)


def disagreement(filtered: Solution, smoothed: Solution) -> float:
    """Mean over the path of (x_s - x_f)^2 / (P_f - P_s), position and velocity. By theory it is 1: the reduction of the
    filter's variance is the variance of the change.
    """
    rows = slice(None, None, max(len(filtered) // _ROWS, 1))
    parts = []
    for name in ("p_n", "v_n"):
        change = (getattr(smoothed, name)[rows] - getattr(filtered, name)[rows]) ** 2
        before, after = filtered.sigma[name][rows] ** 2, smoothed.sigma[name][rows] ** 2
        gained = before - after
        seen = gained > 0.1 * before  # less is roundoff
        parts.append(change[seen] / gained[seen])
    ratios = np.concatenate(parts)
    return float(ratios.mean()) if len(ratios) else 0.0


def _without_considered(filt: Eskf) -> Eskf:
    wheel, floor = filt.wheel_travel, filt.flat_floor
    return replace(
        filt,
        gyr_matrix_sigma=0.0,
        acc_scale_sigma=0.0,
        acc_axes_sigma=0.0,
        wheel_travel=None if wheel is None else replace(wheel, scale_sigma=0.0),
        flat_floor=None if floor is None or floor.slope_of_pitch > 0.0 else floor,
    )


def _backward(filt: Eskf, recording: Recording, given: Start | None = None) -> Solution:
    rows, out, state, begun = filt.prepare(recording, given)
    n, settings = len(rows), filt.settings
    parts = [slice(i, min(i + SEGMENT, n)) for i in range(begun, n, SEGMENT)]
    x, kept = state.numbers.copy(), []
    for part in parts:
        kept.append(x.copy())
        out.fill(x, settings, rows, part)
    meta = {**filt.meta(), "filter": f"{filt.name}, smoothed"}
    out.refuse_lost(recording.t, meta["filter"])  # before it spreads backward
    lam, lam2 = np.zeros(at.N), np.zeros((at.N, at.N))
    longest = min(SEGMENT, n - begun)
    tapes, states = np.empty((longest, at.T_SIZE)), np.empty((longest, at.X_SIZE))
    nominal, sigma = np.empty((longest, at.BIAS_M + 1)), np.empty((longest, at.N))
    for part, begin in zip(reversed(parts), reversed(kept), strict=True):
        m = part.stop - part.start
        out.fill(begin, settings, rows, part, tapes[:m], states[:m])
        backward_rows(lam, lam2, tapes[:m], states[:m], nominal[:m], sigma[:m])
        out.put(part, nominal[:m], sigma[:m])
    if begun < n:
        for i in range(begun):  # as at the first row that was filtered, which came last
            out.put(slice(i, i + 1), nominal[:1], sigma[:1])
    return out.solution(rows, filt.q_bs, meta)
