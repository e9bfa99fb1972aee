"""A sensor's lever arm: from the path of the sensor to that of the body's origin, and back."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from strapdown.navigation.alignment import Alignment
from strapdown.rotation import q_conj, q_mul, q_rotate
from strapdown.types import Array, Motion, Recording, Solution


def sensor_at_start(alignment: Alignment, q_bs: ArrayLike, r_bs_b: ArrayLike) -> Array:
    """Position p_n (m) of the sensor while the body's origin is at the origin of n, as aligned."""
    q_nb = q_mul(alignment.q_ns, q_conj(np.asarray(q_bs, dtype=np.float64)))
    return q_rotate(q_nb, np.asarray(r_bs_b, dtype=np.float64))


def of_body_origin(solution: Solution, recording: Recording, q_bs: ArrayLike, r_bs_b: ArrayLike) -> Solution:
    """A solution of the sensor's path, converted to the body's origin: p_n - R_nb r, v_n - R_nb (w x r).

    The sigma of the attitude adds to that of the position by the lever, as if independent.
    """
    r_b = np.asarray(r_bs_b, dtype=np.float64)
    if not r_b.any():
        return solution
    assert solution.p_n is not None and solution.v_n is not None and recording.gyr_s is not None
    w_s = recording.gyr_s - solution.bias.get("gyr_s", np.zeros(3))
    w_b = q_rotate(np.asarray(q_bs, dtype=np.float64), w_s)
    lever_n = q_rotate(solution.q_nb, r_b)
    sigma = dict(solution.sigma)
    if {"p_n", "attitude_n"} <= set(sigma):
        by_turn = (lever_n**2)[:, [1, 2, 0]] * (sigma["attitude_n"] ** 2)[:, [2, 0, 1]]
        by_turn += (lever_n**2)[:, [2, 0, 1]] * (sigma["attitude_n"] ** 2)[:, [1, 2, 0]]
        sigma["p_n"] = np.sqrt(sigma["p_n"] ** 2 + by_turn)
    return replace(
        solution,
        p_n=solution.p_n - lever_n,
        v_n=solution.v_n - q_rotate(solution.q_nb, np.cross(w_b, r_b)),
        sigma=sigma,
    )


def body_motion(sensor: Motion, q_bs: ArrayLike, r_bs_b: ArrayLike) -> Motion:
    """The motion of the body that carries a sensor of this motion, mounting and lever arm."""
    q_sb = q_conj(np.asarray(q_bs, dtype=np.float64))
    return sensor.seen_from(-q_rotate(q_sb, np.asarray(r_bs_b, dtype=np.float64)), q_sb)
