"""A rotation spline: attitudes at given times, joined without jumps in rate or angular acceleration.

Between two attitudes, q(t) = q_i exp(phi(t)) with a quintic phi that meets a common rate and angular
acceleration at each knot. With Jr the right Jacobian of SO(3), w = Jr(phi) phi' and its time derivative are
exact.
"""

import math

import numpy as np

from strapdown.errors import InputError
from strapdown.motion.checks import Array
from strapdown.motion.profile import derivatives, interval_of, quintic
from strapdown.rotation import q_conj, q_continuous, q_exp, q_log, q_mul

# Beyond this the shorter way round is chance: a printed half turn may lie on either side of pi
LARGEST_TURN = math.pi - 1e-6

HELD = 1e-9  # rad: the same attitude, but for the roundoff of how it was computed


class RotationSpline:
    """At rest at both ends, and at the attitudes that are held (the same attitude twice in a row)."""

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
        self._times_s, self._q_nb = times_s, q_nb
        self._lengths_s = np.diff(times_s)
        w, dw = _knot_rates(turn, self._lengths_s)
        self._coefficients = np.stack(
            [_segment(turn[i], self._lengths_s[i], w[i], dw[i], w[i + 1], dw[i + 1]) for i in range(len(turn))]
        )

    def at(self, t: Array) -> tuple[Array, Array, Array]:
        """(q_nb, w_nb_b, dw_nb_b)."""
        i = interval_of(t, self._times_s)
        h = self._lengths_s[i]
        phi, d_phi, dd_phi = derivatives(self._coefficients[i], (t - self._times_s[i]) / h, h, 2)
        return q_mul(self._q_nb[i], q_exp(phi)), *body_rate(phi, d_phi, dd_phi)


def _knot_rates(turn: Array, lengths_s: Array) -> tuple[Array, Array]:
    """Rate and angular acceleration at the knots: those of the parabola through each knot and its neighbours.

    A turn's vector is the same told before and after the turn, so neighbouring turns may be compared at the
    knot.
    """
    held = np.linalg.norm(turn, axis=1) < HELD
    mean_rate, h = turn / lengths_s[:, None], lengths_s[:, None]
    w, dw = np.zeros((len(turn) + 1, 3)), np.zeros((len(turn) + 1, 3))
    w[1:-1] = (h[1:] * mean_rate[:-1] + h[:-1] * mean_rate[1:]) / (h[:-1] + h[1:])
    dw[1:-1] = 2.0 * (mean_rate[1:] - mean_rate[:-1]) / (h[:-1] + h[1:])
    for next_to_hold in (np.append(held, False), np.append(False, held)):
        w[next_to_hold], dw[next_to_hold] = 0.0, 0.0
    return w, dw


def _segment(turn: Array, length_s: float, w0: Array, dw0: Array, w1: Array, dw1: Array) -> Array:
    """The quintic phi (6, 3) with these rates at its ends; at phi = 0, phi' is w and phi'' is dw."""
    jacobian, _ = body_rate(np.tile(turn, (3, 1)), np.eye(3), np.zeros((3, 3)))  # row j is Jr e_j
    d_phi1: Array = np.linalg.solve(jacobian.T, w1).astype(np.float64)
    _, apparent = body_rate(turn[None], d_phi1[None], np.zeros((1, 3)))
    dd_phi1 = np.linalg.solve(jacobian.T, dw1 - apparent[0])
    h, h2 = length_s, length_s**2
    return quintic(np.zeros(3), h * w0, h2 * dw0, turn, h * d_phi1, h2 * dd_phi1)


def body_rate(phi: Array, d_phi: Array, dd_phi: Array) -> tuple[Array, Array]:
    """Rate and its derivative in b of exp(phi(t)), rows: w = phi' - A phi x phi' + B phi x (phi x phi')."""
    a, b, da, db = (x[:, None] for x in _jacobian_terms(np.einsum("ij,ij->i", phi, phi)))
    along = np.einsum("ij,ij->i", phi, d_phi)[:, None]
    once, once_dd = np.cross(phi, d_phi), np.cross(phi, dd_phi)
    twice, twice_dd = np.cross(phi, once), np.cross(phi, once_dd)
    w = d_phi - a * once + b * twice
    dw = dd_phi - a * once_dd + b * twice_dd + b * np.cross(d_phi, once) + along * (db * twice - da * once)
    return w, dw


_TERMS = 10  # at angle 1 the first term left out is 1 / 22!, below one ulp of the sums


def _series(offset: int, slope: bool) -> Array:
    """Coefficients in angle^2 of sum (-1)^k angle^2k / (2k + offset)!, or of its derivative over angle."""
    c = np.array([(-1.0) ** k / math.factorial(2 * k + offset) for k in range(_TERMS)])
    return c[1:] * 2.0 * np.arange(1, _TERMS) if slope else c


def _jacobian_terms(angle2: Array) -> tuple[Array, Array, Array, Array]:
    """A = (1 - cos) / angle^2, B = (angle - sin) / angle^3, and dA/dangle / angle, dB/dangle / angle."""
    small = angle2 < 1.0  # the closed forms lose digits as the angle goes to 0
    x = np.where(small, 1.0, angle2)
    angle = np.sqrt(x)
    one_less_cos, angle_less_sin = 1.0 - np.cos(angle), angle - np.sin(angle)
    closed = (
        one_less_cos / x,
        angle_less_sin / (x * angle),
        (angle * np.sin(angle) - 2.0 * one_less_cos) / x**2,
        (one_less_cos - 3.0 * angle_less_sin / angle) / x**2,
    )
    near = np.where(small, angle2, 0.0)
    a, b, da, db = (
        np.where(small, np.polynomial.polynomial.polyval(near, _series(offset, slope)), far)
        for far, offset, slope in zip(closed, (2, 3, 2, 3), (False, False, True, True), strict=True)
    )
    return a, b, da, db
