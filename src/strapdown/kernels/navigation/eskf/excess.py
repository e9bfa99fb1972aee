"""What a gyroscope and an accelerometer of wrong scale and cross-coupling read too much: considered, not estimated.

Such an error hangs together over the whole drive: the velocity is off by a part of itself, so that braking takes off
what starting has put on, and the way is off by that part of the way. Noise would neither cancel nor add up so.
"""

import math

from numba import njit

from strapdown.kernels.navigation.eskf.layout import ACC_EXCESS, GYR_EXCESS, PHI_N, V_N, N


@njit(cache=True)
def considered(cov, k, c, g, variances):
    """Three numbers of the error state, k to k + 2, fall by g times the three considered ones of column c, which have
    these variances and nothing to do with each other. g: 3x3, row by row."""
    g0, g1, g2, g3, g4, g5, g6, g7, g8 = g
    for j in range(N):
        if not k <= j < k + 3:
            x, y, z = cov[j, c], cov[j, c + 1], cov[j, c + 2]
            one = g0 * x + g1 * y + g2 * z
            two = g3 * x + g4 * y + g5 * z
            three = g6 * x + g7 * y + g8 * z
            cov[k, j] -= one
            cov[k + 1, j] -= two
            cov[k + 2, j] -= three
            cov[j, k] -= one
            cov[j, k + 1] -= two
            cov[j, k + 2] -= three
    for i in range(3):
        for m in range(i + 1):
            change = 0.0
            for n in range(3):
                a, b = g[3 * i + n], g[3 * m + n]
                change += variances[n] * a * b - a * cov[k + m, c + n] - b * cov[k + i, c + n]
            cov[k + i, k + m] += change
            if m < i:
                cov[k + m, k + i] += change
    for i in range(3):
        for n in range(3):
            cov[k + i, c + n] -= variances[n] * g[3 * i + n]


@njit(cache=True)
def gyr_excess(cov, variance, r, turn_n):
    """A gyroscope of wrong scale and cross-coupling D reads D u too much for each radian about its axis u, a vector
    fixed in s: phi grows by -R D u times the turn (rad). A vehicle turns about the vertical, which keeps its place in
    s, so D u is one considered vector. Turns about level axes are few: their excess is taken for noise, of the variance
    that a vector fixed in s has gathered after a quarter turn, 2, and after half a turn, 4.
    """
    u = turn_n[2]
    g = (u * r[0], u * r[1], u * r[2], u * r[3], u * r[4], u * r[5], u * r[6], u * r[7], u * r[8])
    considered(cov, PHI_N, N + GYR_EXCESS, g, (variance, variance, variance))
    level = variance * 4.0 / math.pi * math.sqrt(turn_n[0] * turn_n[0] + turn_n[1] * turn_n[1])
    for i in range(3):
        cov[PHI_N + i, PHI_N + i] += level


@njit(cache=True)
def acc_excess(cov, scale_variance, axes_variance, free, dv_n, r, r_sb):
    """An accelerometer of wrong scale and cross-coupling E reads E a too much; what it reads of gravity too much is a
    bias. A vehicle speeds up and brakes along body x, so E's column of this axis, told in b, is considered: its scale,
    and what it reads across. free: 1 if the body may move in any direction, which then has this scale too. 0 for
    wheels: what is read across is noise, which the measurements of the speed across see as well, and by its chance
    correlation with them they would shorten the way. dv_n: change of velocity (m/s).
    """
    xx, xy, xz = axis_n(r, r_sb, 0)
    yx, yy, yz = axis_n(r, r_sb, 1)
    zx, zy, zz = axis_n(r, r_sb, 2)
    x, y, z = dv_n
    along = xx * x + xy * y + xz * z
    x = xx * along + free * (x - xx * along)
    y = xy * along + free * (y - xy * along)
    z = xz * along + free * (z - xz * along)
    g = (x, along * yx, along * zx, y, along * yy, along * zy, z, along * yz, along * zz)
    considered(cov, V_N, N + ACC_EXCESS, g, (scale_variance, axes_variance, axes_variance))


@njit(cache=True)
def axis_n(r, r_sb, axis):
    """A body axis told in n: R_ns times a column of R_sb."""
    a, b, c = r_sb[axis], r_sb[3 + axis], r_sb[6 + axis]
    return r[0] * a + r[1] * b + r[2] * c, r[3] * a + r[4] * b + r[5] * c, r[6] * a + r[7] * b + r[8] * c
