"""Readings of an accelerometer and a gyroscope from poses alone, while a simulation runs.

Measured on CoppeliaSim 4.10: velocities that the simulator reports are one-step differences or wrong, poses are right.
Specific force is the second central difference of three positions, turned by the middle pose. The rate is the mean of
the two rotation vectors next to the middle pose, each of which belongs to the middle of its own step. Both belong to
the middle pose, and are known one step after it: half a step later than a rotation vector belongs to.
"""

import numpy as np
from numpy.typing import NDArray

from strapdown.earth import gravity_vector
from strapdown.rotation import q_conj, q_log, q_mul, q_rotate
from strapdown.sample import Sample

Array = NDArray[np.float64]

FIRST_POSES = 2  # after a start they are no inertial data: the simulator has not yet made its first steps
SAME_INSTANT_S = 1e-9


class PoseReadings:
    """Poses go in one by one; the sample of the middle of the last three comes out."""

    def __init__(self, gravity: float) -> None:
        self._gravity_n = gravity_vector(gravity)
        self.begin()

    def begin(self) -> None:
        """The simulation was started anew."""
        self._poses: list[tuple[float, Array, Array]] = []
        self._skipped = 0
        self._last_s: float | None = None

    def put(self, t_s: float, p_n: Array, q_nb: Array) -> Sample | None:
        """A new pose; the sample that it completes, if there is one. The same instant again adds nothing, and a time
        before the last one begins anew."""
        if self._poses and abs(t_s - self._poses[-1][0]) < SAME_INSTANT_S:
            return None
        if self._poses and t_s < self._poses[-1][0]:
            self.begin()
        if self._skipped < FIRST_POSES:
            self._skipped += 1
            return None
        self._poses = [*self._poses[-2:], (t_s, np.asarray(p_n, dtype=np.float64), np.asarray(q_nb, dtype=np.float64))]
        if len(self._poses) < 3:
            return None
        (t0, p0, q0), (t1, p1, q1), (t2, p2, q2) = self._poses
        early, late = t1 - t0, t2 - t1
        a_n = ((p2 - p1) / late - (p1 - p0) / early) / (0.5 * (early + late))
        turns = q_log(q_mul(q_conj(q0), q1)) + q_log(q_mul(q_conj(q1), q2))
        dt = 0.0 if self._last_s is None else t1 - self._last_s
        self._last_s = t1
        return Sample(t1, dt, turns / (early + late), q_rotate(q_conj(q1), a_n - self._gravity_n))
