"""Covariance of paper C's filter: prediction and update, by the places where their matrices are not zero.

States: p_n 0-2, v_n 3-5, a_n 6-8, body rates 9-11 (x right, y forward, z up), roll 12, heading 13, pitch 14.
"""

import math

import numpy as np
from numba import njit

N = 15
M = 7  # measurements: specific force, rates, heading
V, A, W, ROLL, HEADING, PITCH = 3, 6, 9, 12, 13, 14


@njit(cache=True, error_model="numpy")
def angle_jacobians(roll, pitch, wx, wy, wz, over_cosine, by_rate, by_angle):
    """Derivatives of (roll', heading', pitch') by the rates, (3, 3), and by (roll, heading, pitch), (3, 3).

    heading' = (wx sin(roll) - wz cos(roll)) / cos(pitch), roll' = wy + sin(pitch) heading',
    pitch' = wx cos(roll) + wz sin(roll). over_cosine False: heading' as printed, without the cosine.
    """
    sr, cr, sp, cp = math.sin(roll), math.cos(roll), math.sin(pitch), math.cos(pitch)
    if abs(cp) < 1e-3:  # the angles have a pole there, and a covariance must stay finite
        cp = math.copysign(1e-3, cp)
    k = 1.0 / cp if over_cosine else 1.0
    turn, dturn = wx * sr - wz * cr, wx * cr + wz * sr  # and its derivative by roll
    by_rate[0, 0], by_rate[0, 1], by_rate[0, 2] = sr * sp / cp, 1.0, -cr * sp / cp
    by_rate[1, 0], by_rate[1, 1], by_rate[1, 2] = sr * k, 0.0, -cr * k
    by_rate[2, 0], by_rate[2, 1], by_rate[2, 2] = cr, 0.0, sr
    by_angle[0, 0], by_angle[0, 1], by_angle[0, 2] = dturn * sp / cp, 0.0, turn / (cp * cp)
    by_angle[1, 0], by_angle[1, 1] = dturn * k, 0.0
    by_angle[1, 2] = turn * sp / (cp * cp) if over_cosine else 0.0
    by_angle[2, 0], by_angle[2, 1], by_angle[2, 2] = -turn, 0.0, 0.0


@njit(cache=True, error_model="numpy")
def _left(m, dt, by_rate, by_angle):
    """m <- F m, in place."""
    half = 0.5 * dt * dt
    for j in range(N):
        for i in range(3):
            m[i, j] += dt * m[V + i, j] + half * m[A + i, j]
            m[V + i, j] += dt * m[A + i, j]
        wx, wy, wz, ar, ah, ap = m[W, j], m[W + 1, j], m[W + 2, j], m[ROLL, j], m[HEADING, j], m[PITCH, j]
        for i in range(3):
            m[ROLL + i, j] += dt * (
                by_rate[i, 0] * wx
                + by_rate[i, 1] * wy
                + by_rate[i, 2] * wz
                + by_angle[i, 0] * ar
                + by_angle[i, 1] * ah
                + by_angle[i, 2] * ap
            )


@njit(cache=True, error_model="numpy")
def predict(cov, dt, by_rate, by_angle, q_acc, q_rate, q_angle):
    """cov <- F cov F' + Q, in place; q: variance gained in this step by acceleration, rates and angles."""
    _left(cov, dt, by_rate, by_angle)
    _left(cov.T, dt, by_rate, by_angle)
    for i in range(3):
        cov[A + i, A + i] += q_acc
        cov[W + i, W + i] += q_rate
        cov[ROLL + i, ROLL + i] += q_angle


@njit(cache=True, error_model="numpy")
def update(x, cov, force_by, innovation, variance, m, printed):
    """One Kalman update of x and cov with the first m of the measurements; returns the normalised innovation squared.

    force_by: (3, 6), derivatives of the specific force by acceleration and by the three angles; the other rows of H
    pick rates and heading. printed: cov = (E - K H) cov, which loses symmetry; else Joseph's form. The update is left
    out (-1 returned) where the innovation's covariance is not positive definite, as the printed forms bring about.
    """
    pht, gain, s = np.empty((N, M)), np.empty((N, M)), np.empty((M, M))
    for i in range(N):
        for j in range(3):
            total = 0.0
            for k in range(3):
                total += cov[i, A + k] * force_by[j, k] + cov[i, ROLL + k] * force_by[j, 3 + k]
            pht[i, j] = total
            pht[i, 3 + j] = cov[i, W + j]
        pht[i, 6] = cov[i, HEADING]
    for j in range(m):
        for i in range(3):
            total = 0.0
            for k in range(3):
                total += force_by[i, k] * pht[A + k, j] + force_by[i, 3 + k] * pht[ROLL + k, j]
            s[i, j] = total
            s[3 + i, j] = pht[W + i, j]
        s[6, j] = pht[HEADING, j]
        s[j, j] += variance[j]
    if not _factor(s, m):
        return -1.0
    nis = _solve_rows(s, m, pht, gain, innovation)
    for i in range(N):
        for j in range(m):
            x[i] += gain[i, j] * innovation[j]
    if printed:
        for i in range(N):
            for j in range(N):
                total = 0.0
                for k in range(m):
                    total += gain[i, k] * pht[j, k]
                cov[i, j] -= total
        return nis
    _joseph(cov, force_by, pht, gain, variance, m)
    return nis


@njit(cache=True, error_model="numpy")
def _joseph(cov, force_by, pht, gain, variance, m):
    """cov <- (E - K H) cov (E - K H)' + K R K', symmetric to the last bit."""
    left = np.empty(M)
    for i in range(N):
        for j in range(N):
            total = 0.0
            for k in range(m):
                total += gain[i, k] * pht[j, k]
            cov[i, j] -= total
    for i in range(N):
        for j in range(3):  # row i of (E - K H) cov H'
            total = 0.0
            for k in range(3):
                total += cov[i, A + k] * force_by[j, k] + cov[i, ROLL + k] * force_by[j, 3 + k]
            left[j] = total
            left[3 + j] = cov[i, W + j]
        left[6] = cov[i, HEADING]
        for k in range(m):
            left[k] -= gain[i, k] * variance[k]
        for j in range(N):
            total = 0.0
            for k in range(m):
                total += left[k] * gain[j, k]
            cov[i, j] -= total
    for i in range(N):
        for j in range(i):
            both = 0.5 * (cov[i, j] + cov[j, i])
            cov[i, j] = both
            cov[j, i] = both


@njit(cache=True, error_model="numpy")
def _factor(s, m):
    """Cholesky of the lower triangle, in place; False where s is not positive definite."""
    for j in range(m):
        d = s[j, j]
        for k in range(j):
            d -= s[j, k] * s[j, k]
        if not d > 0.0:
            return False
        root = math.sqrt(d)
        s[j, j] = root
        for i in range(j + 1, m):
            total = s[i, j]
            for k in range(j):
                total -= s[i, k] * s[j, k]
            s[i, j] = total / root
    return True


@njit(cache=True, error_model="numpy")
def _solve_rows(s, m, pht, gain, innovation):
    """gain = pht S^-1 from the factor of S; returns innovation' S^-1 innovation."""
    for i in range(N):
        for j in range(m):
            total = pht[i, j]
            for k in range(j):
                total -= s[j, k] * gain[i, k]
            gain[i, j] = total / s[j, j]
        for j in range(m - 1, -1, -1):
            total = gain[i, j]
            for k in range(j + 1, m):
                total -= s[k, j] * gain[i, k]
            gain[i, j] = total / s[j, j]
    nis, white = 0.0, np.empty(M)
    for j in range(m):
        total = innovation[j]
        for k in range(j):
            total -= s[j, k] * white[k]
        white[j] = total / s[j, j]
        nis += white[j] * white[j]
    return nis
