"""Quintic Hermite pieces on R3 and on SO(3): value, first and second derivative are met at both ends.

On SO(3) the piece is in the chart q = q_0 exp(phi) of its first end. The rate is w = J(phi) phi' with the right
Jacobian J of SO(3). All is differentiated exactly, so q' = q w / 2 and dw = w' hold to roundoff.
"""

import math

import numpy as np
from numpy.typing import NDArray

from strapdown.rotation import q_conj, q_exp, q_log, q_mul

Array = NDArray[np.float64]

# Coefficients of u^0 .. u^5, u from 0 to 1; one row for each of x0, x0', x0'', x1, x1', x1''
_QUINTIC = np.array(
    [
        [1.0, 0.0, 0.0, -10.0, 15.0, -6.0],
        [0.0, 1.0, 0.0, -6.0, 8.0, -3.0],
        [0.0, 0.0, 0.5, -1.5, 1.5, -0.5],
        [0.0, 0.0, 0.0, 10.0, -15.0, 6.0],
        [0.0, 0.0, 0.0, -4.0, 7.0, -3.0],
        [0.0, 0.0, 0.0, 0.5, -1.0, 0.5],
    ]
)

# Entire functions of angle^2, as series: no branch near 0, and term 15 at pi is pi^30 / 31! < 1e-18
_TERMS = range(16)
_SIGN = [(-1.0) ** n for n in _TERMS]
_B = [_SIGN[n] / math.factorial(2 * n + 2) for n in _TERMS]  # (1 - cos a) / a^2
_C = [_SIGN[n] / math.factorial(2 * n + 3) for n in _TERMS]  # (a - sin a) / a^3
_DB = [2.0 * n * _B[n] for n in _TERMS][1:]  # (dB/da) / a
_DC = [2.0 * n * _C[n] for n in _TERMS][1:]


def _series(coefficients: list[float], x: Array) -> Array:
    total = np.full_like(x, coefficients[-1])
    for c in coefficients[-2::-1]:
        total = total * x + c
    return total


def hermite(u: Array, step: Array, start: tuple[Array, ...], end: tuple[Array, ...]) -> tuple[Array, Array, Array]:
    """Value, first and second derivative in time at the fraction u (n,) of a piece of length step (n,) in s.

    start and end are (value, first derivative, second derivative), (n, 3) each.
    """
    h = step[:, None]
    ends = np.stack([start[0], start[1] * h, start[2] * h**2, end[0], end[1] * h, end[2] * h**2], axis=1)
    c = np.einsum("jp,kji->pki", _QUINTIC, ends)
    u = u[:, None]
    value = c[0] + u * (c[1] + u * (c[2] + u * (c[3] + u * (c[4] + u * c[5]))))
    first = c[1] + u * (2.0 * c[2] + u * (3.0 * c[3] + u * (4.0 * c[4] + u * 5.0 * c[5])))
    second = 2.0 * c[2] + u * (6.0 * c[3] + u * (12.0 * c[4] + u * 20.0 * c[5]))
    return value, first / h, second / h**2


def rates_from_chart(phi: Array, dphi: Array, ddphi: Array) -> tuple[Array, Array]:
    """Angular rate and acceleration (w_nb_b, dw_nb_b) of q_0 exp(phi(t)).

    w = phi' - B phi x phi' + C phi x (phi x phi'), and its derivative.
    """
    angle2 = np.einsum("ki,ki->k", phi, phi)[:, None]
    growth = np.einsum("ki,ki->k", phi, dphi)[:, None]  # half the derivative of angle2
    b, c, db, dc = (_series(x, angle2) for x in (_B, _C, _DB, _DC))
    turn, dturn = np.cross(phi, dphi), np.cross(phi, ddphi)
    twice, dtwice = np.cross(phi, turn), np.cross(dphi, turn) + np.cross(phi, dturn)
    w = dphi - b * turn + c * twice
    dw = ddphi - b * dturn + c * dtwice - db * growth * turn + dc * growth * twice
    return w, dw


def chart_from_rates(phi: Array, w: Array, dw: Array) -> tuple[Array, Array]:
    """Derivatives (phi', phi'') where q_0 exp(phi) has angular rate w and acceleration dw: the inverse of
    rates_from_chart.
    """
    angle2 = np.einsum("ki,ki->k", phi, phi)[:, None]
    d = -0.5 * _series(_DB, angle2) / _series(_B, angle2)  # (1 - (a / 2) cot(a / 2)) / a^2

    def inverse_jacobian(x: Array) -> Array:
        turn = np.cross(phi, x)
        return x + 0.5 * turn + d * np.cross(phi, turn)

    dphi = inverse_jacobian(w)
    _, dw_without_ddphi = rates_from_chart(phi, dphi, np.zeros_like(phi))
    return dphi, inverse_jacobian(dw - dw_without_ddphi)


def hermite_attitude(
    u: Array, step: Array, start: tuple[Array, ...], end: tuple[Array, ...]
) -> tuple[Array, Array, Array]:
    """Attitude q_nb, rate w_nb_b and acceleration dw_nb_b at the fraction u of a piece; start and end are (q_nb,
    w_nb_b, dw_nb_b).
    """
    q_0 = start[0]
    phi_1 = q_log(q_mul(q_conj(q_0), end[0]))
    at_start = (
        np.zeros_like(phi_1),
        start[1],
        start[2],
    )  # J(0) = 1, and its derivative turns phi' onto itself
    phi, dphi, ddphi = hermite(u, step, at_start, (phi_1, *chart_from_rates(phi_1, end[1], end[2])))
    w, dw = rates_from_chart(phi, dphi, ddphi)
    return q_mul(q_0, q_exp(phi)), w, dw
