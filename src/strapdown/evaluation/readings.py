"""Readings of a virtual sensor against the motion that made them."""

import numpy as np
from numpy.typing import NDArray

from strapdown.earth import gravity_vector
from strapdown.rotation import q_conj, q_rotate
from strapdown.types import Motion, Recording

Array = NDArray[np.float64]


def ideal_readings(motion: Motion, gravity: float) -> tuple[Array, Array]:
    """(specific force m/s2, rate rad/s) in the moving frame, as an ideal sensor in it reads them."""
    return q_rotate(q_conj(motion.q_nb), motion.a_n - gravity_vector(gravity)), np.array(motion.w_nb_b)


def error_against_truth(recording: Recording) -> tuple[Array, Array]:
    """Length of the error vector at every sample: accelerometer (m/s2), gyroscope (rad/s)."""
    acc_s, gyr_s, truth = recording.inertial()
    true_acc_s, true_gyr_s = ideal_readings(truth, float(recording.meta["gravity_m_s2"]))
    return np.linalg.norm(acc_s - true_acc_s, axis=1), np.linalg.norm(gyr_s - true_gyr_s, axis=1)
