"""Excess readings of a gyroscope and an accelerometer of wrong scale and cross-coupling: considered, not estimated.

Such an error is correlated over the whole drive. The velocity is wrong by a share of itself, so braking removes what
starting has added. The distance is wrong by the same share. Noise would neither cancel nor add up in this way.
"""

import math

from strapdown.kernels.jit import internal, not_constant
from strapdown.kernels.navigation.eskf.layout import (
    ACC_EXCESS,
    COLUMNS,
    COVARIANCE,
    GYR_EXCESS,
    LEVEL,
    PHI_N,
    S_ACC_AXES_VAR,
    S_ACC_SCALE_VAR,
    S_GRAVITY,
    S_R_SB,
    V_N,
    H,
    N,
)


@internal
def considered(x, k, c, v0, v1, v2):
    """Three numbers of the error state, k to k + 2, fall by g times the three considered ones of column c. The
    considered numbers have the variances v0, v1, v2 and are independent of each other.

    g: 3x3, row by row, in H, which no measurement uses meanwhile.
    """
    r0 = COVARIANCE + k * COLUMNS
    for i in range(3):
        r = r0 + i * COLUMNS
        a = x[H + 3 * i]
        b = x[H + 3 * i + 1]
        d = x[H + 3 * i + 2]
        for j in range(N):
            if not k <= j < k + 3:
                row = COVARIANCE + j * COLUMNS
                change = a * x[row + c] + b * x[row + c + 1] + d * x[row + c + 2]
                x[r + j] -= change
                x[row + k + i] -= change
    for i in range(3):
        for m in range(i + 1):
            ri = r0 + i * COLUMNS + c
            rm = r0 + m * COLUMNS + c
            change = 0.0
            for n in range(3):
                a = x[H + 3 * i + n]
                b = x[H + 3 * m + n]
                v = v0 if n == 0 else (v1 if n == 1 else v2)
                change += v * a * b - a * x[rm + n] - b * x[ri + n]
            x[ri - c + k + m] += change
            if m < i:
                x[rm - c + k + i] += change
    for i in range(3):
        r = r0 + i * COLUMNS + c
        x[r] -= v0 * x[H + 3 * i]
        x[r + 1] -= v1 * x[H + 3 * i + 1]
        x[r + 2] -= v2 * x[H + 3 * i + 2]


@internal
def gyr_excess(x, variance, r, turn_n):
    """A gyroscope of wrong scale and cross-coupling D reads D u too much for each radian about its axis u, a vector
    fixed in s. So phi grows by -R D u times the turn (rad). A vehicle turns about the vertical, which is constant in
    s, so D u is one considered vector. Turns about level axes are few. The excess of such turns is taken as noise. Its
    variance is that of a vector fixed in s after a quarter turn, 2, and after half a turn, 4.

    r: R_ns by rows.
    """
    for i in range(9):
        x[H + i] = turn_n[2] * r[i]
    considered(x, not_constant(PHI_N), not_constant(N + GYR_EXCESS), variance, variance, variance)
    level = variance * 4.0 / math.pi * math.sqrt(turn_n[0] * turn_n[0] + turn_n[1] * turn_n[1])
    for i in range(3):
        x[COVARIANCE + (PHI_N + i) * (COLUMNS + 1)] += level


@internal
def acc_excess(x, s, free, dv_n, h, r):
    """An accelerometer of wrong scale and cross-coupling E reads E f too much; for gravity as at the start this is a
    bias. A vehicle accelerates and brakes along body x, and on a slope gravity pulls along it. So E's column of this
    axis, expressed in b, is considered: its scale, and its reading across that axis.

    free: 1 if the body may move in any direction, which then has this scale too. 0 for wheels: the reading across body
        x is then noise. Measurements of the speed across include it too, and its random correlation with them would
        shorten the path.
    dv_n: change of velocity (m/s) within h (s).
    r: R_ns by rows.
    """
    for axis in range(3):  # columns 1 and 2: body y and z in n; column 0: body x in n, for now
        a = s[S_R_SB + axis]
        b = s[S_R_SB + 3 + axis]
        c = s[S_R_SB + 6 + axis]
        for i in range(3):
            x[H + 3 * i + axis] = r[3 * i] * a + r[3 * i + 1] * b + r[3 * i + 2] * c
    along = x[H] * dv_n[0] + x[H + 3] * dv_n[1] + x[H + 6] * dv_n[2]
    push = along + (1.0 - free) * s[S_GRAVITY] * h * (x[H + 6] - x[LEVEL])
    for i in range(3):
        forward = x[H + 3 * i]
        x[H + 3 * i] = forward * push + free * (dv_n[i] - forward * along)
        x[H + 3 * i + 1] *= push
        x[H + 3 * i + 2] *= push
    considered(
        x, not_constant(V_N), not_constant(N + ACC_EXCESS), s[S_ACC_SCALE_VAR], s[S_ACC_AXES_VAR], s[S_ACC_AXES_VAR]
    )
