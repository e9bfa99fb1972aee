"""A motion known on a grid, at other times in between: quintic pieces that meet all its derivatives."""

import numpy as np
from numpy.typing import ArrayLike

from strapdown.errors import InputError
from strapdown.motion.hermite import hermite, hermite_attitude
from strapdown.types import Motion


def resample(motion: Motion, t: ArrayLike) -> Motion:
    """The same motion at times within its own; the error is of sixth order in the grid's step."""
    asked = np.asarray(t, dtype=np.float64)
    if len(motion) < 2 or asked.min() < motion.t[0] or asked.max() > motion.t[-1]:
        raise InputError(f"times from {asked.min():.6g} to {asked.max():.6g} s are not within the motion")
    row = np.clip(np.searchsorted(motion.t, asked, side="right") - 1, 0, len(motion) - 2)
    step = motion.t[row + 1] - motion.t[row]
    u = (asked - motion.t[row]) / step
    start, end = row, row + 1
    place = [(motion.p_n[i], motion.v_n[i], motion.a_n[i]) for i in (start, end)]
    attitude = [(motion.q_nb[i], motion.w_nb_b[i], motion.dw_nb_b[i]) for i in (start, end)]
    return Motion(asked, *hermite(u, step, *place), *hermite_attitude(u, step, *attitude))
