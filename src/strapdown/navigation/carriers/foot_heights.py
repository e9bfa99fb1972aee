"""Heights of a walk: a foot's sensor drifts up or down by centimetres with every swing, but floors are flat or have
stairs.

A swing whose stances differ by less than any stair rises ended on the floor on which it began. The two heights are then
taken as equal. A higher one was a stair, and is kept as measured. Slopes of less than LEVEL_M in a stride (4 deg) and
kerbs are not detected.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from strapdown.recordings.runs import runs_of
from strapdown.types import Array, Solution

LEVEL_M = 0.1  # building codes allow no riser below 4 in (International Building Code, 1011.5.2)
HIGHEST_STRIDE_M = 0.45  # two risers of 0.22 m, the highest that building codes allow
ALIKE = 0.3  # of a riser: how much the next may differ, as measured
SOLE_SIGMA_M = 0.01  # of a foot's height in one stance on a flat floor
FLOOR_SIGMA_M = 0.007  # of a foot from stance to stance on one floor: how the sole comes down
# of the height, by shocks and scale, in addition to what the filter states. Both set on the walks of foot_vicon, whose
# heights are off by 2 to 13 mm a stance, most of them upward, and by 38 mm in the fastest
SWING_SIGMA_M = 0.03  # of one swing
DRIFT_M = 0.01  # of every swing of a walk alike


def level_steps(solution: Solution, stance: NDArray[np.bool_]) -> tuple[Solution, int, int]:
    """The solution with level swings made level, in p_n and v_n; also the number of level swings, and of all."""
    assert solution.p_n is not None and solution.v_n is not None
    stances = np.array(runs_of(stance))
    if len(stances) < 2:
        return solution, 0, 0
    height = np.array([solution.p_n[first : last + 1, 2].mean() for first, last in stances])
    filters_var = solution.sigma["p_n"][:, 2] ** 2
    grown = np.diff(filters_var[stances[:, 1]])
    rise = np.diff(height)
    level = np.abs(rise) < LEVEL_M
    # what level swings rise by is error: a run errs by more than a walk
    swing_var = max(SWING_SIGMA_M**2, float(np.mean(rise[level] ** 2)) if level.any() else 0.0)
    rise_var = swing_var + np.maximum(grown, 0.0)
    rise_var = rise_var + np.where(level | _is_stair(rise), 0.0, rise**2)
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


def _is_stair(rise: Array) -> NDArray[np.bool_]:
    """Stairs come in flights: a step up has a similar one within two swings. A foot lifted once, over a kerb or by a
    drift, has no similar one. The uncertainty of its rise is then as large as the rise.
    """
    found = np.zeros(len(rise), dtype=bool)
    for i, one in enumerate(rise):
        if abs(one) < HIGHEST_STRIDE_M:
            for j in (i - 2, i - 1, i + 1, i + 2):
                if 0 <= j < len(rise) and abs(rise[j] - one) <= ALIKE * abs(one):
                    found[i] = True
    return found


def with_height_drift(solution: Solution, stance: NDArray[np.bool_]) -> Solution:
    """Heights as measured; their sigma includes the drift that is common to all swings of a walk."""
    begins = np.flatnonzero(np.diff(stance.astype(np.int8)) == 1) + 1
    swings = np.searchsorted(begins, np.arange(len(stance)), side="right")
    sigma_p = solution.sigma["p_n"].copy()
    sigma_p[:, 2] = np.hypot(sigma_p[:, 2], DRIFT_M * swings)
    return replace(solution, sigma={**solution.sigma, "p_n": sigma_p})


def with_sole_height(solution: Solution) -> Solution:
    """Heights on a floor that is stated to be flat. Many stances average the filter's height, but not how the sole is
    placed in the first stance and in this one: each is as high as SOLE_SIGMA_M states.
    """
    sigma_p = solution.sigma["p_n"].copy()
    sigma_p[:, 2] = np.hypot(sigma_p[:, 2], np.sqrt(2.0) * SOLE_SIGMA_M)
    return replace(solution, sigma={**solution.sigma, "p_n": sigma_p})
