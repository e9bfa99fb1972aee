"""Positions and heights with times of their own, in the rows of a recording."""

import numpy as np

from strapdown.recordings.join import with_instrument
from strapdown.sample import Fixes, Heights
from strapdown.types import Recording


def with_position_fixes(log, t_s, p_n, sigma_m):
    p_n = np.asarray(p_n, dtype=float)
    return with_instrument(
        log, Recording(t_s, position_fix=Fixes(p_n, np.full(p_n.shape, sigma_m), t_s)), "position_fix"
    )


def with_heights(log, t_s, height_m, sigma_m):
    return with_instrument(log, Recording(t_s, height=Heights(height_m, np.full(len(t_s), sigma_m))), "height")
