"""VQF over a whole recording at once (offline VQF of Laidig and Seel): every sample also uses later ones.

The filter runs forward and backward. The bias is the mean of both weighted by their variances; rest and disturbances
are those that either found. Then comes one integration with that bias, and a low-pass of specific force forward and
backward, which has no delay. The heading correction is filtered forward and backward.
"""

import numpy as np
from numba import njit

from strapdown.kernels.jit import internal, not_constant, pointer, row
from strapdown.kernels.orientation.state import BIAS, DECLINATION, FLAGS, GAP, LONGEST, MAG_REJECTED, REST, STARTED, Q
from strapdown.kernels.orientation.vqf.filter import (
    DISTURBED,
    LONGEST_REJECTION,
    REJECTION_FACTOR,
    STATE_SIZE,
    TAU_MAG,
    USE_REJECTION,
    advance,
    first_gain,
    gain_of,
    rejecting_gain,
    turned_by,
    wrapped,
)
from strapdown.kernels.orientation.vqf.inclination import AT_REST, SAME_STEP, TAU_ACC, VARIANCE, up_turned
from strapdown.kernels.orientation.vqf.lowpass import (
    INPUT,
    block_size,
    lowpass,
    lowpass_gains,
    lowpass_restart,
    lowpass_settle,
    mul,
    rotate,
    turned,
    usual_step,
)
from strapdown.kernels.trigonometry import arc_tangent

_BLOCK, _SIZE = (0, 3), block_size(3)


@njit(cache=True, error_model="numpy", no_cfunc_wrapper=True)
def smooth_rows(state, settings, dt, gyr, acc, mag, mag_new, q, bias, sigma, flags):
    """q (s to n), bias (rad/s) and flags of every row.

    state: a new state of the filter, which is not changed. sigma is not written: this filter has none. dt[0] is the
        usual step.
    """
    n, has_mag, fresh, given = len(dt), len(mag) > 0, pointer(state), pointer(settings)
    variance, force_i, delta = np.empty((n, 6)), np.empty((n, 3)), np.empty(n if has_mag else 0)
    states = np.empty((2, STATE_SIZE))
    for k in range(STATE_SIZE):
        states[0, k], states[1, k] = fresh[k], fresh[k]
    states[1, STARTED] = 0.0  # a given attitude is the one at the first sample
    for way in range(2):
        numbers, sign = row(states, way), 1.0 - 2.0 * way  # seen backward in time every rate has the other sign
        for i in range(n):
            j = i if way == 0 else n - 1 - i
            g, a, m = row(gyr, j), row(acc, j), row(mag, j)
            mx, my, mz = 0.0, 0.0, 0.0
            if has_mag and mag_new[j]:
                mx, my, mz = m[0], m[1], m[2]
            passed = dt[j] if way == 0 or i == 0 else dt[j + 1]
            advance(numbers, given, sign * g[0], sign * g[1], sign * g[2], a[0], a[1], a[2], mx, my, mz, passed)
            if way == 0:
                flags[j] = _seen(numbers)
                _keep(numbers, bias, variance, j)
            else:
                flags[j] = _either(flags[j], _seen(numbers))
                _weighted_mean(bias, variance, j, numbers)
    _integrate(fresh, given, dt, gyr, acc, bias, q, force_i)
    _lowpass_both_ways(given, dt, force_i, np.empty((1, _SIZE)))
    _levelled(q, force_i)
    if has_mag:
        _heading_both_ways(given, dt, mag, mag_new, flags, q, delta)
        _turned_to_north(q, delta)
    states[0, 0] = 0.0  # held until here: a pointer keeps nothing alive


@internal
def _keep(numbers, bias, variance, j):
    """Write bias and its variance of a step as row j."""
    bias_j, variance_j = row(bias, j), row(variance, j)
    bias_j[0], bias_j[1], bias_j[2] = numbers[BIAS], numbers[BIAS + 1], numbers[BIAS + 2]
    for k in range(6):
        variance_j[k] = numbers[VARIANCE + k]


@internal
def _levelled(q, force_i):
    """q from q_is to q_es, z of e along the force."""
    w, x, y, z = 1.0, 0.0, 0.0, 0.0
    for j in range(len(q)):
        f, q_j = row(force_i, j), row(q, j)
        w, x, y, z, _, _ = up_turned(w, x, y, z, f[0], f[1], f[2])
        q_j[0], q_j[1], q_j[2], q_j[3] = mul(w, x, y, z, q_j[0], q_j[1], q_j[2], q_j[3])


@internal
def _turned_to_north(q, delta):
    """q from q_es to q_ns."""
    for j in range(len(q)):
        q_j = row(q, j)
        q_j[0], q_j[1], q_j[2], q_j[3] = turned_by(delta[j], q_j[0], q_j[1], q_j[2], q_j[3])


@internal
def _seen(state):
    """The flags of a step; the field is taken as disturbed from the beginning on."""
    flags = int(state[FLAGS]) & GAP
    flags |= REST if state[AT_REST] != 0.0 else 0
    flags |= MAG_REJECTED if state[DISTURBED] != 0.0 else 0
    return flags


@internal
def _either(forward, backward):
    """Rest if either pass finds it; disturbed if both do; a gap belongs to the row after it."""
    one, other = int(forward), int(backward)
    return float((one & GAP) | ((one | other) & REST) | (one & other & MAG_REJECTED))


@internal
def _weighted_mean(bias, variance, j, back):
    """bias[j] := b + P (P + P')^-1 (b' - b): b, P found forward, b', P' backward (where it has the other sign)."""
    mean, p = row(bias, j), row(variance, j)
    dx, dy, dz = -back[BIAS] - mean[0], -back[BIAS + 1] - mean[1], -back[BIAS + 2] - mean[2]
    pa, pb, pc, pd, pe, pf = p[0], p[1], p[2], p[3], p[4], p[5]
    a, b, c = pa + back[VARIANCE], pb + back[VARIANCE + 1], pc + back[VARIANCE + 2]
    d, e, f = pd + back[VARIANCE + 3], pe + back[VARIANCE + 4], pf + back[VARIANCE + 5]
    # cofactors of the symmetric sum
    xx, xy, xz = d * f - e * e, c * e - b * f, b * e - c * d
    yy, yz, zz = a * f - c * c, b * c - a * e, a * d - b * b
    k = 1.0 / (a * xx + b * xy + c * xz)
    sx, sy, sz = k * (xx * dx + xy * dy + xz * dz), k * (xy * dx + yy * dy + yz * dz), k * (xz * dx + yz * dy + zz * dz)
    mean[0] += pa * sx + pb * sy + pc * sz
    mean[1] += pb * sx + pd * sy + pe * sz
    mean[2] += pc * sx + pe * sy + pf * sz


@internal
def _usual(before, dt):
    """The step without the roundoff of its time stamps: `before` if it is the same."""
    return before if abs(dt - before) <= SAME_STEP * before else usual_step(dt)


@internal
def _integrate(state, settings, dt, gyr, acc, bias, q, force_i):
    """q_is from the first row on, and specific force in i."""
    w, x, y, z = 1.0, 0.0, 0.0, 0.0
    if state[STARTED] != 0.0:
        w, x, y, z = state[Q], state[Q + 1], state[Q + 2], state[Q + 3]
    step = 0.0
    for j in range(len(dt)):
        step = _usual(step, min(dt[j], settings[LONGEST]) if j == 0 else dt[j])
        g, a, b, q_j, f = row(gyr, j), row(acc, j), row(bias, j), row(q, j), row(force_i, j)
        if j > 0 or state[STARTED] == 0.0:
            w, x, y, z = turned(w, x, y, z, (g[0] - b[0]) * step, (g[1] - b[1]) * step, (g[2] - b[2]) * step)
        q_j[0], q_j[1], q_j[2], q_j[3] = w, x, y, z
        f[0], f[1], f[2] = rotate(w, x, y, z, a[0], a[1], a[2])


@internal
def _lowpass_both_ways(settings, dt, force_i, memory):
    """Low-pass forward, then backward over the result; each interval between gaps separately."""
    n, tau, longest = len(dt), settings[TAU_ACC], settings[LONGEST]
    block = row(memory, 0)
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
            f = row(force_i, j)
            for k in range(3):
                block[INPUT + k] = f[k]
            if first and way == 0:
                lowpass_restart(block, not_constant(_BLOCK))
            elif first:
                lowpass_settle(block, not_constant(_BLOCK))
            lowpass(block, not_constant(_BLOCK), tau, step, g, a)
            for k in range(3):
                f[k] = block[INPUT + 3 + k]


@internal
def _heading_both_ways(settings, dt, mag, mag_new, flags, q, delta):
    """Heading of e in n, filtered forward and then backward over the result; rows without a reading keep the last."""
    n, longest, factor = len(dt), settings[LONGEST_REJECTION], settings[REJECTION_FACTOR]
    for way in range(2):
        heading, gain, first, rejected_t = 0.0, 0.0, 1.0, 0.0
        step, mag_step, since, begun = 0.0, 0.0, 0.0, False
        for i in range(n):
            j = i if way == 0 else n - 1 - i
            step = _usual(step, dt[j] if way == 0 or i == 0 else dt[j + 1])
            since += step
            if step > settings[LONGEST] and i > 0:  # each stretch between gaps by itself
                first, begun = 1.0, False
            if mag_new[j]:
                if way == 0:
                    q_j, m = row(q, j), row(mag, j)
                    mx_e, my_e, _ = rotate(q_j[0], q_j[1], q_j[2], q_j[3], m[0], m[1], m[2])
                    delta[j] = wrapped(arc_tangent(mx_e, my_e) - settings[DECLINATION])
                if not begun:
                    heading, since, begun = delta[j], step, True
                if abs(since - mag_step) > SAME_STEP * mag_step:
                    mag_step = since
                    gain = gain_of(settings[TAU_MAG], mag_step)
                k = gain
                if settings[USE_REJECTION] != 0.0:
                    disturbed = int(flags[j]) & MAG_REJECTED != 0
                    k, rejected_t = rejecting_gain(gain, disturbed, rejected_t, mag_step, longest, factor)
                k, first = first_gain(k, first, settings[TAU_MAG], mag_step)
                heading = wrapped(heading + k * wrapped(delta[j] - heading))
                since = 0.0
            if way == 0 or begun:  # rows after the last reading keep what came forward
                delta[j] = heading
