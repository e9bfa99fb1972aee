"""Measurements of the error-state filter, one number at a time.

P <- P - u u^T with u = P h / sqrt(S): both halves of P get the same bits, so it stays symmetric; with h = (P h)^T / S
as gain this is Joseph's form for one number. Corrections gather in DX and are put into the state once, at the end of
the step. A kind whose innovation is too large for its variance is left out and told.
"""

import math

from strapdown.kernels.jit import internal
from strapdown.kernels.navigation.dead_reckoning import turned
from strapdown.kernels.navigation.eskf.layout import (
    ACC_BIAS,
    BIAS_A,
    BIAS_G,
    BIAS_M,
    COLUMNS,
    COVARIANCE,
    DX,
    GYR_BIAS,
    MAG_BIAS,
    NIS,
    P_N,
    PHI_N,
    POSITION,
    REJECTED,
    T_COUNT,
    T_MOST,
    T_ROOM,
    T_UPDATES,
    USED,
    V_N,
    VELOCITY,
    WORK,
    H,
    N,
    Q,
)


@internal
def spread_of(x, considered, h_consider, considered_variance, variance, e):
    """P h into WORK; the variance of the innovation, and the innovation less what this step has already corrected.

    The row h stands in H; h_consider: derivative of the measurement by a considered parameter.
    """
    for j in range(COLUMNS):
        x[WORK + j] = 0.0
    spread = variance
    for i in range(N):
        h = x[H + i]
        if h != 0.0:
            e -= h * x[DX + i]
            for j in range(COLUMNS):
                x[WORK + j] += h * x[COVARIANCE + i * COLUMNS + j]
    if h_consider != 0.0:
        c = N + considered
        spread += h_consider * (x[WORK + c] + h_consider * considered_variance)
        x[WORK + c] += h_consider * considered_variance
        for j in range(N):
            x[WORK + j] += h_consider * x[COVARIANCE + j * COLUMNS + c]
    for j in range(N):
        spread += x[H + j] * x[WORK + j]
    return spread, e


@internal
def take(x, spread, e, tape, taped):
    """The measurement with h in H and P h in WORK, with the innovation e of variance spread.

    The considered parameters have no gain, but their covariance with the others changes as any (Schmidt): the last
    columns follow the same formula, and their own variance stays.
    """
    root = 1.0 / math.sqrt(spread)
    for j in range(COLUMNS):
        x[WORK + j] *= root
    if taped:
        write(tape, x, root, spread, e)
    gain = root * e
    for j in range(N):
        x[DX + j] += x[WORK + j] * gain
    for i in range(N):
        u = x[WORK + i]
        for j in range(COLUMNS):
            x[COVARIANCE + i * COLUMNS + j] -= u * x[WORK + j]


@internal
def take_unit(x, k, variance, e, tape, taped):
    """A measurement of the error state's number k itself: P h is a row of P."""
    for i in range(N):
        x[H + i] = 0.0
    x[H + k] = 1.0
    for j in range(COLUMNS):
        x[WORK + j] = x[COVARIANCE + k * COLUMNS + j]
    take(x, x[WORK + k] + variance, e - x[DX + k], tape, taped)


@internal
def write(tape, x, root, spread, e):
    count = int(tape[T_COUNT])
    if count < T_MOST:
        at = T_UPDATES + count * T_ROOM
        for i in range(N):
            tape[at + i] = x[H + i]
            tape[at + N + i] = x[WORK + i] * root
        tape[at + 2 * N], tape[at + 2 * N + 1] = spread, e
        tape[T_COUNT] = count + 1.0


@internal
def told(x, kind, nis, limit):
    """Note the normalised innovation; True if the measurement may be taken."""
    x[NIS + kind] = nis
    good = nis <= limit  # NaN is not
    if good:
        x[USED] += float(1 << kind)
    else:
        x[REJECTED] += float(1 << kind)
    return good


@internal
def nis_of_three(x, k, variance, e):
    """e^T (P_kk + variance)^-1 e of the error state's numbers k to k + 2, by Cholesky's square root."""
    at = COVARIANCE + k * COLUMNS + k
    a, b, c = x[at] + variance[0], x[at + COLUMNS], x[at + 2 * COLUMNS]
    d, f, g = x[at + COLUMNS + 1] + variance[1], x[at + 2 * COLUMNS + 1], x[at + 2 * COLUMNS + 2] + variance[2]
    l10, l20 = b / a, c / a
    d1 = d - b * l10
    l21 = (f - c * l10) / d1
    d2 = g - c * l20 - l21 * l21 * d1
    y0 = e[0] - x[DX + k]
    y1 = e[1] - x[DX + k + 1] - l10 * y0
    y2 = e[2] - x[DX + k + 2] - l20 * y0 - l21 * y1
    return y0 * y0 / a + y1 * y1 / d1 + y2 * y2 / d2


@internal
def correct(x):
    """Put the gathered correction into the state."""
    for i in range(3):
        x[POSITION + i] += x[DX + P_N + i]
        x[VELOCITY + i] += x[DX + V_N + i]
        x[BIAS_G + i] += x[DX + GYR_BIAS + i]
        x[BIAS_A + i] += x[DX + ACC_BIAS + i]
    x[BIAS_M] += x[DX + MAG_BIAS]
    # a turn in n stands on the left: exp(phi) q = q exp(R^T phi), and turned() wants it told in s
    w, i, j, k = x[Q], x[Q + 1], x[Q + 2], x[Q + 3]
    phi = DX + PHI_N
    cw, ci, cj, ck = turned(w, -i, -j, -k, -x[phi], -x[phi + 1], -x[phi + 2])
    x[Q], x[Q + 1], x[Q + 2], x[Q + 3] = cw, -ci, -cj, -ck
    for m in range(N):
        x[DX + m] = 0.0
