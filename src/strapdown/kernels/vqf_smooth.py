"""VQF over a whole recording at once (offline VQF of Laidig and Seel): every sample knows those after it too.

The filter runs forward and backward, which gives the bias as the mean of both weighted by their variances, and rest and
disturbances as either saw them. Then comes one integration with that bias, a low-pass of specific force forward and
backward, which has no delay, and the heading correction, filtered forward and backward.
"""

import numpy as np
from numba import njit

from strapdown.kernels.orientation_state import BIAS, FLAGS, GAP, MAG_REJECTED, REST
from strapdown.kernels.trigonometry import arc_tangent
from strapdown.kernels.vqf import (
    DECLINATION,
    DISTURBED,
    LONGEST_REJECTION,
    REJECTION_FACTOR,
    TAU_MAG,
    USE_REJECTION,
    advance,
    first_gain,
    gain_of,
    rejecting_gain,
    turned_by,
    wrapped,
)
from strapdown.kernels.vqf_inclination import AT_REST, LONGEST_STEP, SAME_STEP, TAU_ACC, VARIANCE, up_turned
from strapdown.kernels.vqf_lowpass import (
    INPUT,
    block_size,
    inner,
    lowpass,
    lowpass_gains,
    lowpass_restart,
    lowpass_settle,
    mul,
    rotate,
    turned,
    usual_step,
)

_BLOCK = block_size(3)


@njit(cache=True, error_model="numpy")
def smooth_rows(state, dt, gyr, acc, mag, mag_new, q, bias, flags):
    """q (s to n), bias (rad/s) and flags of every row; state: a fresh one of the filter, which stays as it is."""
    n = len(dt)
    has_mag = len(mag) > 0
    variance, force_i, delta = np.empty((n, 6)), np.empty((n, 3)), np.empty(n if has_mag else 0)
    forward, backward = state.copy(), state.copy()
    for j in range(n):
        _filter_row(forward, 1.0, j, dt[j], gyr, acc, mag, mag_new, has_mag)
        flags[j] = _seen(forward)
        for k in range(3):
            bias[j, k] = forward[BIAS + k]
        for k in range(6):
            variance[j, k] = forward[VARIANCE + k]
    for i in range(n):
        j = n - 1 - i
        _filter_row(backward, -1.0, j, dt[0] if i == 0 else dt[j + 1], gyr, acc, mag, mag_new, has_mag)
        flags[j] = _either(flags[j], _seen(backward))
        _weighted_mean(bias, variance, j, backward)
    _integrate(state, dt, gyr, acc, bias, q, force_i)
    _lowpass_both_ways(state, dt, force_i)
    w, x, y, z = 1.0, 0.0, 0.0, 0.0
    for j in range(n):
        w, x, y, z, _, _ = up_turned(w, x, y, z, force_i[j, 0], force_i[j, 1], force_i[j, 2])
        q[j, 0], q[j, 1], q[j, 2], q[j, 3] = mul(w, x, y, z, q[j, 0], q[j, 1], q[j, 2], q[j, 3])
    if has_mag:
        _heading_both_ways(state, dt, mag, mag_new, flags, q, delta)
        for j in range(n):
            q[j, 0], q[j, 1], q[j, 2], q[j, 3] = turned_by(delta[j], q[j, 0], q[j, 1], q[j, 2], q[j, 3])


@inner
def _filter_row(state, sign, j, dt, gyr, acc, mag, mag_new, has_mag):
    """A step of the filter to row j; seen backward in time every rate has the other sign."""
    mx, my, mz, new = 0.0, 0.0, 0.0, has_mag and mag_new[j]
    if new:
        mx, my, mz = mag[j, 0], mag[j, 1], mag[j, 2]
    gx, gy, gz = sign * gyr[j, 0], sign * gyr[j, 1], sign * gyr[j, 2]
    advance(state, gx, gy, gz, acc[j, 0], acc[j, 1], acc[j, 2], new, mx, my, mz, dt)


@inner
def _seen(state):
    """The flags of a step, with the field held for disturbed from the beginning on."""
    said = int(state[FLAGS]) & GAP
    said |= REST if state[AT_REST] != 0.0 else 0
    said |= MAG_REJECTED if state[DISTURBED] != 0.0 else 0
    return said


@inner
def _either(forward, backward):
    """Rest if either way says so; disturbed if both do; a gap belongs to the row after it."""
    one, other = int(forward), int(backward)
    return float((one & GAP) | ((one | other) & REST) | (one & other & MAG_REJECTED))


@inner
def _weighted_mean(bias, variance, j, backward):
    """bias[j] := b + P (P + P')^-1 (b' - b): b, P found forward, b', P' backward (where it has the other sign)."""
    dx, dy, dz = -backward[BIAS] - bias[j, 0], -backward[BIAS + 1] - bias[j, 1], -backward[BIAS + 2] - bias[j, 2]
    pa, pb, pc = variance[j, 0], variance[j, 1], variance[j, 2]
    pd, pe, pf = variance[j, 3], variance[j, 4], variance[j, 5]
    a, b, c = pa + backward[VARIANCE], pb + backward[VARIANCE + 1], pc + backward[VARIANCE + 2]
    d, e, f = pd + backward[VARIANCE + 3], pe + backward[VARIANCE + 4], pf + backward[VARIANCE + 5]
    # cofactors of the symmetric sum
    xx, xy, xz = d * f - e * e, c * e - b * f, b * e - c * d
    yy, yz, zz = a * f - c * c, b * c - a * e, a * d - b * b
    k = 1.0 / (a * xx + b * xy + c * xz)
    sx, sy, sz = k * (xx * dx + xy * dy + xz * dz), k * (xy * dx + yy * dy + yz * dz), k * (xz * dx + yz * dy + zz * dz)
    bias[j, 0] += pa * sx + pb * sy + pc * sz
    bias[j, 1] += pb * sx + pd * sy + pe * sz
    bias[j, 2] += pc * sx + pe * sy + pf * sz


@inner
def _usual(before, dt):
    """The step without the roundoff of its time stamps: `before` if it is the same."""
    return before if abs(dt - before) <= SAME_STEP * before else usual_step(dt)


@inner
def _integrate(state, dt, gyr, acc, bias, q, force_i):
    """q_is from the first row on, and specific force told in i."""
    w, x, y, z = 1.0, 0.0, 0.0, 0.0
    step = 0.0
    for j in range(len(dt)):
        step = _usual(step, min(dt[j], state[LONGEST_STEP]) if j == 0 else dt[j])
        rx, ry, rz = (gyr[j, 0] - bias[j, 0]) * step, (gyr[j, 1] - bias[j, 1]) * step, (gyr[j, 2] - bias[j, 2]) * step
        w, x, y, z = turned(w, x, y, z, rx, ry, rz)
        q[j, 0], q[j, 1], q[j, 2], q[j, 3] = w, x, y, z
        force_i[j, 0], force_i[j, 1], force_i[j, 2] = rotate(w, x, y, z, acc[j, 0], acc[j, 1], acc[j, 2])


@inner
def _lowpass_both_ways(state, dt, force_i):
    """Forward, then backward over the result; each stretch between gaps by itself."""
    n, tau, longest = len(dt), state[TAU_ACC], state[LONGEST_STEP]
    block = np.zeros(_BLOCK)
    for way in range(2):
        step, g, a = 0.0, 0.0, 1.0
        for i in range(n):
            j = i if way == 0 else n - 1 - i
            passed = dt[j] if way == 0 or i == 0 else dt[j + 1]
            first = i == 0 or passed > longest
            if not first or i == 0:
                before = step
                step = _usual(step, min(passed, longest))
                if step != before:
                    g, a = lowpass_gains(tau, step)
            for k in range(3):
                block[INPUT + k] = force_i[j, k]
            if first and way == 0:
                lowpass_restart(block, 0, 3)
            elif first:
                lowpass_settle(block, 0, 3)
            lowpass(block, 0, 3, tau, step, g, a)
            for k in range(3):
                force_i[j, k] = block[INPUT + 3 + k]


@inner
def _heading_both_ways(state, dt, mag, mag_new, flags, q, delta):
    """Heading of e in n, filtered forward and then backward over the result; rows without a reading keep the last."""
    n, longest, factor = len(dt), state[LONGEST_REJECTION], state[REJECTION_FACTOR]
    for way in range(2):
        heading, gain, first, rejected_t = 0.0, 0.0, 1.0, 0.0
        step, mag_step, since, begun = 0.0, 0.0, 0.0, False
        for i in range(n):
            j = i if way == 0 else n - 1 - i
            step = _usual(step, dt[j] if way == 0 or i == 0 else dt[j + 1])
            since += step
            if mag_new[j]:
                if way == 0:
                    mx_e, my_e, _ = rotate(q[j, 0], q[j, 1], q[j, 2], q[j, 3], mag[j, 0], mag[j, 1], mag[j, 2])
                    delta[j] = wrapped(arc_tangent(mx_e, my_e) - state[DECLINATION])
                if not begun:
                    heading, since, begun = delta[j], step, True
                if abs(since - mag_step) > SAME_STEP * mag_step:
                    mag_step = since
                    gain = gain_of(state[TAU_MAG], mag_step)
                k = gain
                if state[USE_REJECTION] != 0.0:
                    disturbed = int(flags[j]) & MAG_REJECTED != 0
                    k, rejected_t = rejecting_gain(gain, disturbed, rejected_t, mag_step, longest, factor)
                k, first = first_gain(k, first, state[TAU_MAG], mag_step)
                heading = wrapped(heading + k * wrapped(delta[j] - heading))
                since = 0.0
            if way == 0 or begun:  # rows after the last reading keep what came forward
                delta[j] = heading
