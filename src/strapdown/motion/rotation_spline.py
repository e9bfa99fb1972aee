"""A rotation spline: attitudes at given times, joined without jumps in rate or angular acceleration."""

import math

import numpy as np

from strapdown.checks import Array
from strapdown.errors import InputError
from strapdown.motion.hermite import hermite_attitude
from strapdown.motion.paths.profile import interval_of
from strapdown.rotation import q_conj, q_continuous, q_log, q_mul

# Beyond this the shorter way round is chance: a printed half turn may lie on either side of pi
LARGEST_TURN = math.pi - 1e-6

HELD = 1e-9  # rad: the same attitude, but for the roundoff of how it was computed


class RotationSpline:
    """At rest at both ends, and at the attitudes that are held (the same attitude twice in a row).

    Each knot gets a rate and an angular acceleration, and quintic pieces on SO(3) meet them exactly.
    """

    def __init__(self, times_s: Array, q_nb: Array) -> None:
        q_nb = q_continuous(q_nb)
        turn = q_log(q_mul(q_conj(q_nb[:-1]), q_nb[1:]))
        too_far = np.linalg.norm(turn, axis=1) > LARGEST_TURN
        if too_far.any():
            i = int(np.argmax(too_far))
            raise InputError(
                f"the attitudes at {times_s[i]:g} s and {times_s[i + 1]:g} s are half a turn apart, "
                "so the way round is open; add an attitude between them"
            )
        self._times_s = times_s
        self._knots = (q_nb, *_knot_rates(turn, np.diff(times_s)))

    def at(self, t: Array) -> tuple[Array, Array, Array]:
        """(q_nb, w_nb_b, dw_nb_b)."""
        i = interval_of(t, self._times_s)
        start_s, step_s = self._times_s[i], self._times_s[i + 1] - self._times_s[i]
        start, end = (tuple(x[k] for x in self._knots) for k in (i, i + 1))
        return hermite_attitude((t - start_s) / step_s, step_s, start, end)


def _knot_rates(turn: Array, lengths_s: Array) -> tuple[Array, Array]:
    """Rate and angular acceleration at the knots: those of the parabola through each knot and its neighbours.

    The vector of a turn is the same before and after it, so neighbouring turns can be compared at the knot.
    """
    held = np.linalg.norm(turn, axis=1) < HELD
    mean_rate, h = turn / lengths_s[:, None], lengths_s[:, None]
    w, dw = np.zeros((len(turn) + 1, 3)), np.zeros((len(turn) + 1, 3))
    w[1:-1] = (h[1:] * mean_rate[:-1] + h[:-1] * mean_rate[1:]) / (h[:-1] + h[1:])
    dw[1:-1] = 2.0 * (mean_rate[1:] - mean_rate[:-1]) / (h[:-1] + h[1:])
    for next_to_hold in (np.append(held, False), np.append(False, held)):
        w[next_to_hold], dw[next_to_hold] = 0.0, 0.0
    return w, dw
