"""Heights of a walk: a foot's sensor drifts up or down by centimetres with every swing, but floors have steps or none.

A swing whose stances differ by less than any stair rises ended on the floor it began on, and its height is taken so;
a higher one was a stair, and is kept as measured. Slopes of less than LEVEL_M in a stride (4 deg) and kerbs are lost
by this.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from strapdown.recordings.runs import runs_of
from strapdown.types import Solution

LEVEL_M = 0.1  # building codes allow no riser below 4 in (International Building Code, 1011.5.2)
FLOOR_SIGMA_M = 0.01  # of a foot from stance to stance on one floor: how the sole comes down
# of the height, by shocks and scale, in addition to what the filter states. Both set on the walks of foot_vicon, whose
# heights are off by 2 to 13 mm a stance, most of them upward, and by 38 mm in the fastest
SWING_SIGMA_M = 0.03  # of one swing
DRIFT_M = 0.01  # of every swing of a walk alike


def level_steps(solution: Solution, stance: NDArray[np.bool_]) -> tuple[Solution, int, int]:
    """The solution with level swings made level, p_n and v_n alike; how many were level, and of how many."""
    assert solution.p_n is not None and solution.v_n is not None
    stances = np.array(runs_of(stance))
    if len(stances) < 2:
        return solution, 0, 0
    height = np.array([solution.p_n[first : last + 1, 2].mean() for first, last in stances])
    filters_var = solution.sigma["p_n"][:, 2] ** 2
    grown = np.diff(filters_var[stances[:, 1]])
    rise, rise_var = np.diff(height), SWING_SIGMA_M**2 + np.maximum(grown, 0.0)
    level = np.abs(rise) < LEVEL_M
    trust = np.where(level, rise_var / (rise_var + FLOOR_SIGMA_M**2), 0.0)  # Kalman gain of "no rise"
    shift = np.concatenate([[0.0], -np.cumsum(trust * rise)])
    var = filters_var[stances[0, 1]] + np.concatenate([[0.0], np.cumsum((1.0 - trust) * rise_var)])
    t, edges_t = solution.t, solution.t[stances].ravel()
    p_n, v_n, sigma_p = solution.p_n.copy(), solution.v_n.copy(), solution.sigma["p_n"].copy()
    p_n[:, 2] += np.interp(t, edges_t, np.repeat(shift, 2))
    for (_, last), (first, _), more in zip(stances[:-1], stances[1:], np.diff(shift), strict=True):
        v_n[last + 1 : first, 2] += more / (t[first] - t[last])
    after, end = slice(stances[0, 1], None), stances[-1, 1]
    told_var = np.interp(t[after], edges_t, np.repeat(var, 2))
    told_var[end - stances[0, 1] :] += np.maximum(filters_var[end:] - filters_var[end], 0.0)  # a swing without an end
    sigma_p[after, 2] = np.sqrt(told_var)
    told = replace(solution, p_n=p_n, v_n=v_n, sigma={**solution.sigma, "p_n": sigma_p})
    return told, int(level.sum()), len(level)


def with_height_drift(solution: Solution, stance: NDArray[np.bool_]) -> Solution:
    """Heights as measured, and in their sigma the drift that every swing of a walk has alike."""
    begins = np.flatnonzero(np.diff(stance.astype(np.int8)) == 1) + 1
    swings = np.searchsorted(begins, np.arange(len(stance)), side="right")
    sigma_p = solution.sigma["p_n"].copy()
    sigma_p[:, 2] = np.hypot(sigma_p[:, 2], DRIFT_M * swings)
    return replace(solution, sigma={**solution.sigma, "p_n": sigma_p})
