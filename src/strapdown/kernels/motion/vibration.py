"""A vibrating body: rows of its smooth motion become rows of the shaken one.

The shaken frame is at r from the smooth one and is turned by exp(theta). Both r and theta are sums of lines: r = a
cos(phase) + b sin(phase), theta = c cos(phase) + d sin(phase). Products of up to three thetas are kept: with angles of
at most
0.01 rad the rest is below 1e-9 of the turn.
"""

import math

from strapdown.kernels.environment.ideal import CARRIED, FIELD, FIXED, MAGNETS, ideal_row
from strapdown.kernels.jit import inlined, internal, kernel, offset, pointer, row, space
from strapdown.kernels.rotation import mul, rotate

# columns of a line: number of its source (-1: time), its factor, phase at 0; a, b (m), c, d (rad)
SOURCE, FACTOR, PHASE, LINEAR, ANGULAR, LINE = 0, 1, 2, 3, 9, 15
# columns of a source at one instant: phase, its first and its second derivative
JET = 3
# columns of a row of a plant (live.PLANT_COLUMNS)
P, Q, V, A, W, DW, F, ROW = 0, 3, 7, 10, 13, 16, 19, 22
# sums over lines: r, theta, each with two derivatives
R, DR, DDR, TH, DTH, DDTH, SUMS = 0, 3, 6, 9, 12, 15, 18


@inlined
def cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@inlined
def plus(a, factor, b):
    """a + factor b."""
    return a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2]


@internal
def turned_back(v, theta):
    """v expressed in the shaken frame: v - theta x v + theta x (theta x v) / 2 - ... / 6."""
    once = cross(theta, v)
    twice = cross(theta, once)
    return plus(plus(plus(v, -1.0, once), 0.5, twice), -1.0 / 6.0, cross(theta, twice))


@internal
def gather(lines, jets, t, count, sums):
    """Sum r and theta with their derivatives over all lines."""
    for k in range(SUMS):
        sums[k] = 0.0
    for i in range(count):
        line = row(lines, i)
        factor = line[FACTOR]
        phase, rate, change = factor * t, factor, 0.0
        if line[SOURCE] >= 0.0:
            k = JET * int(line[SOURCE])
            phase, rate, change = factor * jets[k], factor * jets[k + 1], factor * jets[k + 2]
        c, s = math.cos(phase + line[PHASE]), math.sin(phase + line[PHASE])
        for k in range(6):
            far = k // 3  # 0: displacement, 1: turn
            value = line[LINEAR + k + 3 * far] * c + line[LINEAR + 3 + k + 3 * far] * s
            slope = line[LINEAR + 3 + k + 3 * far] * c - line[LINEAR + k + 3 * far] * s
            sums[R + k + 6 * far] += value
            sums[DR + k + 6 * far] += slope * rate
            sums[DDR + k + 6 * far] += slope * change - value * rate * rate


@internal
def shake(m, n):
    """Apply the vibration to one row m, with the sums n of gather()."""
    q = m[Q], m[Q + 1], m[Q + 2], m[Q + 3]
    w = m[W], m[W + 1], m[W + 2]
    dw = m[DW], m[DW + 1], m[DW + 2]
    r = n[R], n[R + 1], n[R + 2]
    dr = n[DR], n[DR + 1], n[DR + 2]
    # against the smooth frame, in its axes: velocity, and acceleration ddr + 2 w x dr + dw x r + w x (w x r)
    moving = plus(dr, 1.0, cross(w, r))
    pushed = plus(plus((n[DDR], n[DDR + 1], n[DDR + 2]), 1.0, cross(w, plus(moving, 1.0, dr))), 1.0, cross(dw, r))
    x, y, z = rotate(*q, *r)
    m[P], m[P + 1], m[P + 2] = m[P] + x, m[P + 1] + y, m[P + 2] + z
    x, y, z = rotate(*q, *moving)
    m[V], m[V + 1], m[V + 2] = m[V] + x, m[V + 1] + y, m[V + 2] + z
    x, y, z = rotate(*q, *pushed)
    m[A], m[A + 1], m[A + 2] = m[A] + x, m[A + 1] + y, m[A + 2] + z
    # of exp(theta), in its own axes: rate J dtheta = dtheta - theta x dtheta / 2 + theta x (theta x dtheta) / 6, and
    # its derivative
    theta = n[TH], n[TH + 1], n[TH + 2]
    dtheta = n[DTH], n[DTH + 1], n[DTH + 2]
    ddtheta = n[DDTH], n[DDTH + 1], n[DDTH + 2]
    once, donce = cross(theta, dtheta), cross(theta, ddtheta)
    rate = plus(plus(dtheta, -0.5, once), 1.0 / 6.0, cross(theta, once))
    change = plus(plus(ddtheta, -0.5, donce), 1.0 / 6.0, plus(cross(dtheta, once), 1.0, cross(theta, donce)))
    # w' = turned back w + rate, so that its derivative has turned back dw - rate x turned back w
    w = turned_back(w, theta)
    dw = plus(plus(turned_back(dw, theta), -1.0, cross(rate, w)), 1.0, change)
    m[W], m[W + 1], m[W + 2] = w[0] + rate[0], w[1] + rate[1], w[2] + rate[2]
    m[DW], m[DW + 1], m[DW + 2] = dw[0], dw[1], dw[2]
    f = turned_back((m[F] + pushed[0], m[F + 1] + pushed[1], m[F + 2] + pushed[2]), theta)
    m[F], m[F + 1], m[F + 2] = f[0], f[1], f[2]
    a2 = theta[0] * theta[0] + theta[1] * theta[1] + theta[2] * theta[2]
    half = 0.5 - a2 / 48.0
    turn = mul(*q, 1.0 - a2 / 8.0 + a2 * a2 / 384.0, half * theta[0], half * theta[1], half * theta[2])
    m[Q], m[Q + 1], m[Q + 2], m[Q + 3] = turn[0], turn[1], turn[2], turn[3]


@kernel
def felt_rows(rows, j, first, hz, t, jets, lines, shaken, apart, around, acc, gyr, mag):
    """Rows of a mount with the vibration, and the readings of perfect instruments there.

    rows: (n, mounts, 22), smooth.
    j: the mount.
    t: times; if hz is not 0, those of ticks from `first` on are written into t.
    jets: (n, 3 sources), phase, rate and acceleration of every source.
    lines: lines of the vibration. Row i is written to shaken from number i apart on.
    around: iron, field, number of magnets in the world and on the body, magnets (environment/ideal.py).
    acc, gyr, mag: (n, 3), without rows if nothing is to be read.
    """
    n, mounts, count, read = space(SUMS), rows.shape[1], len(lines), len(acc) > 0
    times, iron = pointer(t), pointer(around)
    for i in range(len(rows)):
        smooth, m = offset(rows, (i * mounts + j) * ROW), offset(shaken, i * apart)
        for k in range(ROW):
            m[k] = smooth[k]
        if hz > 0.0:
            times[i] = (first + i) / hz
        if count > 0:
            gather(lines, row(jets, i), times[i], count, n)
            shake(m, n)
        if read:
            fixed, carried = int(iron[FIXED]), int(iron[CARRIED])
            field, magnets = offset(around, FIELD), offset(around, MAGNETS)
            body = offset(rows, i * mounts * ROW)
            ideal_row(m, body, iron, field, magnets, fixed, carried, row(acc, i), row(gyr, i), row(mag, i))
