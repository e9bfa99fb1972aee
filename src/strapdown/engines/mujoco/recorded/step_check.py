"""How well a run's accelerations explain its velocities, step by step, while only a few rows are kept."""

import numpy as np
from numpy.typing import NDArray

from strapdown.engines.mujoco.motion_rows import BLOCK_SIZE, unexplained

Array = NDArray[np.float64]

_BEFORE, _AFTER = 2, 3  # rows on each side that the figures of a step look at
# A resolved motion has 7 samples a cycle or more, where neighbouring differences differ by 1.6 at most
_JUMP = 1.9


class StepCheck:
    """Takes the rows (19 columns) of one link in order of time and judges every step, with a lag of three rows. It
    returns

    begin and end (s), the integrator's defect (m/s2 and rad/s2), and the turn (rad).
    """

    def __init__(self, gravity: float) -> None:
        self._gravity = gravity
        self._t, self._switched = np.empty(0), np.empty(0, dtype=bool)
        self._rows, self._sizes = np.empty((0, BLOCK_SIZE)), np.empty(0)
        self._judged = 0  # steps among those kept that were returned before

    def add(self, t: Array, sizes: Array, switched: NDArray[np.bool_], rows: Array) -> tuple[Array, Array, Array]:
        """Add a row at each time t, with the sizes of the steps that begin there (one less than rows at the very end).

        Gives the nodes of the steps that can be judged now (one more than steps), their defects (n, 2) and turns (n,).
        """
        t, sizes = np.append(self._t, t), np.append(self._sizes, sizes)
        switched, rows = np.append(self._switched, switched), np.concatenate([self._rows, rows])
        at_end = len(sizes) < len(rows)
        steps = len(rows) - 1
        first, last = self._judged, steps if at_end else max(self._judged, steps - _AFTER)
        if last > first:
            defects = np.stack(unexplained(self._gravity, sizes[:steps], rows), axis=-1)[:steps]
            for column, acceleration in enumerate((rows[:, 13:16], rows[:, 16:19])):
                defects[:, column] = np.maximum(defects[:, column], _jumps(acceleration, switched[1:]))
            rate = np.sqrt(np.einsum("ki,ki->k", rows[:, 10:13], rows[:, 10:13]))
            turns = np.maximum(rate[1:], rate[:-1]) * sizes[:steps]
        else:
            defects, turns = np.empty((steps, 2)), np.empty(steps)
        keep = max(last - _BEFORE, 0)
        self._t, self._sizes, self._switched, self._rows = t[keep:], sizes[keep:], switched[keep:], rows[keep:]
        self._judged = last - keep
        return t[first : last + 1], defects[first:last], turns[first:last]


def _jumps(acceleration: Array, excused: NDArray[np.bool_]) -> Array:
    """Jump of the acceleration within each step; 0 where it changes as smoothly as its neighbours.

    An integrator that keeps the force of the beginning of a step explains every impact exactly, so it shows none. But
    neither side of a jump leads up to it. The difference is larger than all but at most one of its four neighbours (an
    impact within a single step has two flanks). A jump is excused where the program itself switches.
    """
    change = np.diff(acceleration, axis=0)
    size2 = np.einsum("ki,ki->k", change, change)
    a, b, _, c, d = (np.pad(size2, 2)[k : k + len(size2)] for k in range(5))
    second_largest2 = np.maximum(
        np.minimum(np.maximum(a, b), np.maximum(c, d)), np.maximum(np.minimum(a, b), np.minimum(c, d))
    )
    return np.where((size2 > _JUMP**2 * second_largest2) & ~excused, np.sqrt(size2), 0.0)
