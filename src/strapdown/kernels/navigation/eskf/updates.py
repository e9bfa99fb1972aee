"""Measurements of the error-state filter, one number at a time.

P <- P - u u^T with u = P h / sqrt(S). Both halves of P get the same bits, so it stays symmetric. With h = (P h)^T / S
as gain this is Joseph's form for one number. Corrections are collected in DX and added to the state once, at the end of
the step. A kind whose innovation is too large for its variance is rejected and reported.
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
    S_LINEAR_3,
    T_COUNT,
    T_MOST,
    T_MOVED,
    T_ROOM,
    T_UPDATES,
    USED,
    V_N,
    VELOCITY,
    WORK,
    ZUPT,
    H,
    N,
    Q,
)

NOT_USED = (
    False,
    0.0,
    0.0,
    0.0,
)  # whether, derivative by the considered number, variance, innovation


@internal
def spread_of(x, considered, h_consider, considered_variance, variance, e):
    """Write P h into WORK. Return the variance of the innovation, and the innovation less the corrections of this step
    so far.

    The row h is in H.

    h_consider: derivative of the measurement by a considered parameter.
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
    return max(spread, variance), e  # less is roundoff: after a correction far beyond its sigma


@internal
def only(x, k):
    """The row of the error state's number k itself."""
    for i in range(N):
        x[H + i] = 0.0
    x[H + k] = 1.0


@internal
def take(x, spread, e, tape, taped):
    """The measurement with h in H and P h in WORK, with the innovation e of variance spread.

    The considered parameters have no gain, but their covariance with the others changes as usual (Schmidt). The last
    columns follow the same formula, and their own variance does not change.
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
    """Record the normalised innovation; True if the measurement may be used."""
    x[NIS + kind] = nis
    good = nis <= limit  # NaN is not
    if good:
        x[USED] += float(1 << kind)
    else:
        x[REJECTED] += float(1 << kind)
    return good


@internal
def nis_of_three(x, k, variance, e):
    """Normalised square e^T (P_kk + variance)^-1 e of the error state's numbers k to k + 2."""
    at = COVARIANCE + k * COLUMNS + k
    below = (x[at + COLUMNS], x[at + 2 * COLUMNS], x[at + 2 * COLUMNS + 1])
    diagonal = (x[at] + variance[0], x[at + COLUMNS + 1] + variance[1], x[at + 2 * COLUMNS + 2] + variance[2])
    return normalised(diagonal, below, (e[0] - x[DX + k], e[1] - x[DX + k + 1], e[2] - x[DX + k + 2]))


@internal
def normalised(diagonal, below, e):
    """Normalised square e^T S^-1 e by Cholesky's square root.

    below: elements 10, 20, 21 of the symmetric S.
    """
    a, d, g = diagonal
    b, c, f = below
    l10, l20 = b / a, c / a
    d1 = d - b * l10
    l21 = (f - c * l10) / d1
    d2 = g - c * l20 - l21 * l21 * d1
    y0 = e[0]
    y1 = e[1] - l10 * y0
    y2 = e[2] - l20 * y0 - l21 * y1
    return y0 * y0 / a + y1 * y1 / d1 + y2 * y2 / d2


@internal
def stands_row(x, i):
    """Row i of "the body does not move", expressed in the body and turned back to n: dv - phi x v. Expressed in n the
    row would not contain the attitude, and would measure a heading that no stop shows. (Where the velocity is wrong far
    beyond its sigma the row is that of the true one, 0, and has no such part.)
    """
    for j in range(N):
        x[H + j] = 0.0
    j, k = (i + 1) % 3, (i + 2) % 3
    x[H + V_N + i], x[H + PHI_N + k], x[H + PHI_N + j] = 1.0, x[VELOCITY + j], -x[VELOCITY + k]


@internal
def reset(x):
    """P <- T P T^T, with T: dv + phi x DV, dp + phi x DP, where DV and DP are the corrections of the step.

    The errors of heading, velocity and position that no measurement shows have one ratio, (z x p, z x v, z). The ratio
    belongs to the present velocity and position, so it must change with them. Otherwise later rows show a heading that
    nothing has measured. With it the filter is, to first order, the invariant one (Barrau and Bonnabel 2017).
    """
    for block in range(2):
        k = V_N if block == 0 else P_N
        a, b, c = x[DX + k], x[DX + k + 1], x[DX + k + 2]
        if a == 0.0 and b == 0.0 and c == 0.0:
            continue
        row, phi = COVARIANCE + k * COLUMNS, COVARIANCE + PHI_N * COLUMNS
        for j in range(COLUMNS):
            px = x[phi + j]
            py = x[phi + COLUMNS + j]
            pz = x[phi + 2 * COLUMNS + j]
            x[row + j] += py * c - pz * b
            x[row + COLUMNS + j] += pz * a - px * c
            x[row + 2 * COLUMNS + j] += px * b - py * a
        for j in range(N):  # P is symmetric: these columns are those rows
            if j < k or j >= k + 3:
                r = COVARIANCE + j * COLUMNS + k
                x[r] = x[row + j]
                x[r + 1] = x[row + COLUMNS + j]
                x[r + 2] = x[row + 2 * COLUMNS + j]
        for j in range(3):
            r = row + j * COLUMNS
            px = x[r + PHI_N]
            py = x[r + PHI_N + 1]
            pz = x[r + PHI_N + 2]
            x[r + k] += py * c - pz * b
            x[r + k + 1] += pz * a - px * c
            x[r + k + 2] += px * b - py * a


@internal
def correct(x, s, tape, taped):
    """Add the collected correction to the state, and refer the covariance to the corrected state. The covariance is not
    changed where a stop was far from linear: the velocity is then 0 whatever the attitude.
    """
    if not (int(x[USED]) >> ZUPT & 1 and x[NIS + ZUPT] > s[S_LINEAR_3]):
        if taped:
            for i in range(6):
                tape[T_MOVED + i] = x[DX + P_N + i]
        reset(x)
    for i in range(3):
        x[POSITION + i] += x[DX + P_N + i]
        x[VELOCITY + i] += x[DX + V_N + i]
        x[BIAS_G + i] += x[DX + GYR_BIAS + i]
        x[BIAS_A + i] += x[DX + ACC_BIAS + i]
    x[BIAS_M] += x[DX + MAG_BIAS]
    # a turn in n stands on the left: exp(phi) q = q exp(R^T phi), and turned() wants it expressed in s
    w, i, j, k = x[Q], x[Q + 1], x[Q + 2], x[Q + 3]
    phi = DX + PHI_N
    cw, ci, cj, ck = turned(w, -i, -j, -k, -x[phi], -x[phi + 1], -x[phi + 2])
    x[Q], x[Q + 1], x[Q + 2], x[Q + 3] = cw, -ci, -cj, -ck
    for m in range(N):
        x[DX + m] = 0.0
