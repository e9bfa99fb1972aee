"""Were quaternions written as x, y, z, w and read as w, x, y, z?

A body that is about level has small x and y. Shifted by one place, its w and x are small instead, and z of the body
points down while the heading changes. This is half a turn about an axis between y and z. No vehicle moves in this way.
"""

import numpy as np

from strapdown.arrays import Array

_SMALL = 0.2  # of w and x of a body that tilts by less than 23 deg
_MOST = 0.9  # of all rows
_HEADED = 0.05  # of y: a body that heads along the axes is the same in both orders but for half a turn


def looks_like_xyzw(q_nb: Array) -> bool:
    """Whether rows (n, 4), read as w, x, y, z, look like quaternions in the order x, y, z, w."""
    small = (np.abs(q_nb[:, 0]) < _SMALL) & (np.abs(q_nb[:, 1]) < _SMALL)
    down = q_nb[:, 0] ** 2 - q_nb[:, 1] ** 2 - q_nb[:, 2] ** 2 + q_nb[:, 3] ** 2 < 0.0
    headed = float(np.ptp(np.abs(q_nb[:, 2]))) > _HEADED
    return bool(small.mean() > _MOST and headed and down.any())


XYZW = (
    "the quaternions look like x, y, z, w: read as w, x, y, z they turn a level body upside down; map the file's "
    "columns in the order w, x, y, z"
)
