"""Covariance of paper C's filter: prediction and update, using the elements of their matrices that are not zero.

x is a pointer to the state; matrices are stored in it by rows, at the places of ekf15_layout.py.
"""

import math

from strapdown.kernels.jit import internal, not_constant
from strapdown.kernels.navigation.ekf15_layout import (
    BY_ANGLE,
    BY_RATE,
    COVARIANCE,
    FORCE_BY,
    GAIN,
    HEADING,
    INNOVATION,
    LEFT,
    PHT,
    ROLL,
    VARIANCE,
    WHITE,
    A,
    M,
    N,
    S,
    V,
    W,
)


@internal
def angle_jacobians(x, roll, pitch, over_cosine):
    """Derivatives of (roll', heading', pitch') by the rates, into BY_RATE, and by (roll, heading, pitch), BY_ANGLE.

    heading' = (wx sin(roll) - wz cos(roll)) / cos(pitch), roll' = wy + sin(pitch) heading',
    pitch' = wx cos(roll) + wz sin(roll). over_cosine False: heading' as printed, without the cosine.
    """
    wx, wz = x[W], x[W + 2]
    sr, cr, sp, cp = math.sin(roll), math.cos(roll), math.sin(pitch), math.cos(pitch)
    if abs(cp) < 1e-3:  # the angles have a pole there, and a covariance must stay finite
        cp = math.copysign(1e-3, cp)
    k = 1.0 / cp if over_cosine else 1.0
    turn, dturn = wx * sr - wz * cr, wx * cr + wz * sr  # and its derivative by roll
    for i in range(9):
        x[BY_RATE + i] = x[BY_ANGLE + i] = 0.0
    x[BY_RATE], x[BY_RATE + 1], x[BY_RATE + 2] = sr * sp / cp, 1.0, -cr * sp / cp
    x[BY_RATE + 3], x[BY_RATE + 5] = sr * k, -cr * k
    x[BY_RATE + 6], x[BY_RATE + 8] = cr, sr
    x[BY_ANGLE], x[BY_ANGLE + 2] = dturn * sp / cp, turn / (cp * cp)
    x[BY_ANGLE + 3] = dturn * k
    if over_cosine:
        x[BY_ANGLE + 5] = turn * sp / (cp * cp)
    x[BY_ANGLE + 6] = -turn


@internal
def _times_transition(x, n, down, across, dt):
    """cov <- F cov, in place.

    down, across: steps from one element to the next below it and next to it. With down and across swapped it is cov <-
    cov F'.
    """
    half = 0.5 * dt * dt
    for j in range(n):
        k = COVARIANCE + across * j
        for i in range(3):
            a = x[k + down * (A + i)]
            x[k + down * i] += dt * x[k + down * (V + i)] + half * a
            x[k + down * (V + i)] += dt * a
        wx, wy, wz = x[k + down * W], x[k + down * (W + 1)], x[k + down * (W + 2)]
        ar, ah, ap = x[k + down * ROLL], x[k + down * (ROLL + 1)], x[k + down * (ROLL + 2)]
        for i in range(3):
            b, c = BY_RATE + 3 * i, BY_ANGLE + 3 * i
            x[k + down * (ROLL + i)] += dt * (
                x[b] * wx + x[b + 1] * wy + x[b + 2] * wz + x[c] * ar + x[c + 1] * ah + x[c + 2] * ap
            )


@internal
def predict(x, n, dt, q_acc, q_rate, q_angle):
    """cov <- F cov F' + Q, in place; q: variance gained in this step by acceleration, rates and angles."""
    down, across = not_constant(N), not_constant(1)
    for _ in range(2):
        _times_transition(x, n, down, across, dt)
        down, across = across, down
    for i in range(3):
        x[COVARIANCE + (A + i) * (N + 1)] += q_acc
        x[COVARIANCE + (W + i) * (N + 1)] += q_rate
        x[COVARIANCE + (ROLL + i) * (N + 1)] += q_angle


@internal
def _row_times_h(x, row, out):
    """A row of N numbers times H', M numbers from out on. H has FORCE_BY in its first three rows; the others pick rates
    and heading.
    """
    for j in range(3):
        total = 0.0
        for k in range(3):
            total += x[row + A + k] * x[FORCE_BY + 6 * j + k] + x[row + ROLL + k] * x[FORCE_BY + 6 * j + 3 + k]
        x[out + j] = total
        x[out + 3 + j] = x[row + W + j]
    x[out + 6] = x[row + HEADING]


@internal
def update(x, n, m, printed):
    """One Kalman update of x and cov with the first m of the measurements; returns the normalised innovation squared.

    printed: cov = (E - K H) cov, which loses symmetry; else Joseph's form. The update is skipped (-1 returned) where
    the innovation's covariance is not positive definite, which the printed forms can cause.
    """
    for i in range(n):
        _row_times_h(x, COVARIANCE + N * i, PHT + M * i)
    for j in range(m):
        for i in range(3):
            total = 0.0
            for k in range(3):
                f = FORCE_BY + 6 * i + k
                total += x[f] * x[PHT + M * (A + k) + j] + x[f + 3] * x[PHT + M * (ROLL + k) + j]
            x[S + M * i + j] = total
            x[S + M * (3 + i) + j] = x[PHT + M * (W + i) + j]
        x[S + M * 6 + j] = x[PHT + M * HEADING + j]
        x[S + (M + 1) * j] += x[VARIANCE + j]
    if not _factor(x, m):
        return -1.0
    nis = _solve_rows(x, n, m)
    for i in range(n):
        for j in range(m):
            x[i] += x[GAIN + M * i + j] * x[INNOVATION + j]
    for i in range(n):
        for j in range(n):
            total = 0.0
            for k in range(m):
                total += x[GAIN + M * i + k] * x[PHT + M * j + k]
            x[COVARIANCE + N * i + j] -= total
    if not printed:
        _joseph(x, n, m)
    return nis


@internal
def _joseph(x, n, m):
    """cov = (E - K H) cov becomes (E - K H) cov (E - K H)' + K R K', symmetric to the last bit."""
    for i in range(n):
        _row_times_h(x, COVARIANCE + N * i, not_constant(LEFT))  # row i of (E - K H) cov H'
        for k in range(m):
            x[LEFT + k] -= x[GAIN + M * i + k] * x[VARIANCE + k]
        for j in range(n):
            total = 0.0
            for k in range(m):
                total += x[LEFT + k] * x[GAIN + M * j + k]
            x[COVARIANCE + N * i + j] -= total
    for i in range(n):
        for j in range(i):
            both = 0.5 * (x[COVARIANCE + N * i + j] + x[COVARIANCE + N * j + i])
            x[COVARIANCE + N * i + j] = both
            x[COVARIANCE + N * j + i] = both


@internal
def _factor(x, m):
    """Cholesky of the lower triangle of S, in place; False where S is not positive definite."""
    for j in range(m):
        d = x[S + (M + 1) * j]
        for k in range(j):
            d -= x[S + M * j + k] * x[S + M * j + k]
        if not d > 0.0:
            return False
        root = math.sqrt(d)
        x[S + (M + 1) * j] = root
        for i in range(j + 1, m):
            total = x[S + M * i + j]
            for k in range(j):
                total -= x[S + M * i + k] * x[S + M * j + k]
            x[S + M * i + j] = total / root
    return True


@internal
def _solve_rows(x, n, m):
    """GAIN = PHT S^-1 from the factor of S; returns innovation' S^-1 innovation."""
    for i in range(n):
        row = GAIN + M * i
        for j in range(m):
            total = x[PHT + M * i + j]
            for k in range(j):
                total -= x[S + M * j + k] * x[row + k]
            x[row + j] = total / x[S + (M + 1) * j]
        for j in range(m - 1, -1, -1):
            total = x[row + j]
            for k in range(j + 1, m):
                total -= x[S + M * k + j] * x[row + k]
            x[row + j] = total / x[S + (M + 1) * j]
    nis = 0.0
    for j in range(m):
        total = x[INNOVATION + j]
        for k in range(j):
            total -= x[S + M * j + k] * x[WHITE + k]
        x[WHITE + j] = total / x[S + (M + 1) * j]
        nis += x[WHITE + j] * x[WHITE + j]
    return nis
