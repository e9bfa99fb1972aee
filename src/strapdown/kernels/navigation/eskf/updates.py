"""Measurements of the error-state filter, one number at a time.

P <- P - u u^T with u = P h / sqrt(S): both halves of P get the same bits, so it stays symmetric; with h = (P h)^T / S
as gain this is Joseph's form for one number. Corrections gather in DX and are put into the state once, at the end of
the step. A kind whose innovation is too large for its variance is left out and told.
"""

import math

from numba import njit

from strapdown.kernels.navigation.dead_reckoning import turned
from strapdown.kernels.navigation.eskf.layout import (
    ACC_BIAS,
    BIAS_A,
    BIAS_G,
    BIAS_M,
    COLUMNS,
    COVARIANCE,
    DX,
    FLOOR,
    FLOOR_SLOPE,
    GYR_BIAS,
    MAG_BIAS,
    NIS,
    ODOMETER_SCALE,
    P_N,
    PHI_N,
    POSITION,
    REJECTED,
    S_FLOOR_SLOPE_VAR,
    S_GATE_1,
    S_ODO_SCALE_VAR,
    T_COUNT,
    T_MOST,
    T_ROOM,
    T_UPDATES,
    USED,
    V_N,
    VELOCITY,
    WORK,
    X_SIZE,
    H,
    N,
    Q,
)


@njit(cache=True)
def spread_of(x, considered, h_consider, considered_variance, variance, e):
    """P h into WORK; the variance of the innovation, and the innovation less what this step has already corrected.

    The row h stands in H; h_consider: derivative of the measurement by a considered parameter.
    """
    cov = x[COVARIANCE:X_SIZE].reshape(N, COLUMNS)
    for j in range(COLUMNS):
        x[WORK + j] = 0.0
    spread = variance
    for i in range(N):
        h = x[H + i]
        if h != 0.0:
            e -= h * x[DX + i]
            for j in range(COLUMNS):
                x[WORK + j] += h * cov[i, j]
    if h_consider != 0.0:
        c = N + considered
        spread += h_consider * (x[WORK + c] + h_consider * considered_variance)
        x[WORK + c] += h_consider * considered_variance
        for j in range(N):
            x[WORK + j] += h_consider * cov[j, c]
    for j in range(N):
        spread += x[H + j] * x[WORK + j]
    return spread, e


@njit(cache=True)
def take(x, spread, e, tape):
    """The measurement with h in H and P h in WORK, with the innovation e of variance spread.

    The considered parameters have no gain, but their covariance with the others changes as any (Schmidt): the last
    columns follow the same formula, and their own variance stays.
    """
    cov = x[COVARIANCE:X_SIZE].reshape(N, COLUMNS)
    root = 1.0 / math.sqrt(spread)
    for j in range(COLUMNS):
        x[WORK + j] *= root
    if len(tape) > 0:
        write(tape, x[H : H + N], x[WORK : WORK + N], root, spread, e)
    gain = root * e
    for j in range(N):
        x[DX + j] += x[WORK + j] * gain
    work = x[WORK : WORK + COLUMNS]
    for i in range(cov.shape[0]):
        u = work[i]
        for j in range(COLUMNS):
            cov[i, j] -= u * work[j]


@njit(cache=True)
def take_unit(x, k, variance, e, tape):
    """A measurement of the error state's number k itself: P h is a row of P."""
    for i in range(N):
        x[H + i] = 0.0
    x[H + k] = 1.0
    for j in range(COLUMNS):
        x[WORK + j] = x[COVARIANCE + k * COLUMNS + j]
    take(x, x[WORK + k] + variance, e - x[DX + k], tape)


@njit(cache=True)
def write(tape, h, work, root, spread, e):
    count = int(tape[T_COUNT])
    if count < T_MOST:
        at = T_UPDATES + count * T_ROOM
        for i in range(N):
            tape[at + i] = h[i]
            tape[at + N + i] = work[i] * root
        tape[at + 2 * N], tape[at + 2 * N + 1] = spread, e
        tape[T_COUNT] = count + 1.0


@njit(cache=True)
def told(x, kind, nis, limit):
    """Note the normalised innovation; True if the measurement may be taken."""
    x[NIS + kind] = nis
    good = nis <= limit  # NaN is not
    if good:
        x[USED] += float(1 << kind)
    else:
        x[REJECTED] += float(1 << kind)
    return good


@njit(cache=True)
def one(x, s, kind, h_consider, variance, e, tape):
    """A gated measurement of one number, its row in H."""
    if kind == FLOOR:
        considered, of_it = FLOOR_SLOPE, s[S_FLOOR_SLOPE_VAR]
    else:
        considered, of_it = ODOMETER_SCALE, s[S_ODO_SCALE_VAR]
    spread, left = spread_of(x, considered, h_consider if of_it > 0.0 else 0.0, of_it, variance, e)
    if told(x, kind, left * left / spread, s[S_GATE_1]):
        take(x, spread, left, tape)


@njit(cache=True)
def nis_of_three(x, k, variance, e):
    """e^T (P_kk + variance I)^-1 e of the error state's numbers k to k + 2, by Cholesky's square root."""
    at = COVARIANCE + k * COLUMNS + k
    a, b, c = x[at] + variance, x[at + COLUMNS], x[at + 2 * COLUMNS]
    d, f, g = x[at + COLUMNS + 1] + variance, x[at + 2 * COLUMNS + 1], x[at + 2 * COLUMNS + 2] + variance
    l10, l20 = b / a, c / a
    d1 = d - b * l10
    l21 = (f - c * l10) / d1
    d2 = g - c * l20 - l21 * l21 * d1
    y0 = e[0] - x[DX + k]
    y1 = e[1] - x[DX + k + 1] - l10 * y0
    y2 = e[2] - x[DX + k + 2] - l20 * y0 - l21 * y1
    return y0 * y0 / a + y1 * y1 / d1 + y2 * y2 / d2


@njit(cache=True)
def three(x, k, variance, e, tape):
    """A measurement of the error state's numbers k to k + 2."""
    for i in range(3):
        take_unit(x, k + i, variance, e[i], tape)


@njit(cache=True)
def correct(x):
    """Put the gathered correction into the state."""
    dx = x[DX : DX + N]
    for i in range(3):
        x[POSITION + i] += dx[P_N + i]
        x[VELOCITY + i] += dx[V_N + i]
        x[BIAS_G + i] += dx[GYR_BIAS + i]
        x[BIAS_A + i] += dx[ACC_BIAS + i]
    x[BIAS_M] += dx[MAG_BIAS]
    # a turn in n stands on the left: exp(phi) q = q exp(R^T phi), and turned() wants it told in s
    w, i, j, k = x[Q], x[Q + 1], x[Q + 2], x[Q + 3]
    cw, ci, cj, ck = turned(w, -i, -j, -k, -dx[PHI_N], -dx[PHI_N + 1], -dx[PHI_N + 2])
    x[Q], x[Q + 1], x[Q + 2], x[Q + 3] = cw, -ci, -cj, -ck
    for m in range(N):
        dx[m] = 0.0
