"""Lodestar, off line: every sample knows the whole recording.

Bias: Rauch, Tung and Striebel's backward pass over the bias filter, whose state walks at random; where a rest turns out
to be none (lodestar_still.py), what was learned in it is replaced first. Inclination: the gyroscope integrated anew
without that bias, specific force low-passed forward and backward, which leaves no lag. Heading: the filter of
lodestar_heading.py on that inclination, then backward (lodestar_back.py). If the field shows that a given heading was
less sure than it was said to be, the filter begins anew with what it should have been told.
"""

import math

import numpy as np
from numba import njit

from strapdown.kernels.inner import inner, plain, pointer, row
from strapdown.kernels.lodestar import TILT_START, TILT_VARIANCE, drift_by_bias, forget_first_turn, tell_tilt, tilt_gap
from strapdown.kernels.lodestar_back import TRACE, heading_back, turn_to_n
from strapdown.kernels.lodestar_heading import heading_begin, heading_gap, heading_sample
from strapdown.kernels.lodestar_layout import (
    BLOCK_S,
    BLOCK_T,
    CERTAINTY,
    END,
    EXCESS,
    GAIN,
    KEPT,
    MOVED,
    OFF,
    SURPRISE,
    N,
    P,
    X,
)
from strapdown.kernels.lodestar_still import doubt_up, still_block, still_gap, still_sample
from strapdown.kernels.orientation_start import LEAST_FORCE2
from strapdown.kernels.orientation_state import ACC_REJECTED, BIAS, GAP, MAG_REJECTED, REST, SIGMA, STARTED, Q
from strapdown.kernels.rotation import exp
from strapdown.kernels.vqf_inclination import (
    AT_REST,
    BIAS_GROWTH,
    LONGEST_STEP,
    REST_TIME,
    SAME_STEP,
    TAU_ACC,
    VARIANCE,
    inclination_step,
    up_turned,
)
from strapdown.kernels.vqf_lowpass import (
    INPUT,
    block_size,
    lowpass,
    lowpass_gains,
    lowpass_new_step,
    lowpass_restart,
    mul,
    rotate,
)

_BLOCK, _SIZE = (0, 3), block_size(3)
BOTH_WAYS = math.sqrt(0.75)  # deviation behind the low-pass both ways over one way: integrals of |H|^4 and |H|^2


@inner
def _forward(state, dt, gyr, acc, mag, mag_new, ends, known, sigma, flags):
    """Bias and rest; rows of known are bias (3), its variance (6) and the time since the block before. Blocks made."""
    made, passed = 0, 0.0
    state[TILT_VARIANCE] = TILT_START
    state[SIGMA] = math.sqrt(TILT_START)
    for i in range(len(dt)):
        g, a = row(gyr, i), row(acc, i)
        ax, ay, az = a[0], a[1], a[2]
        falls = ax * ax + ay * ay + az * az < LEAST_FORCE2
        if falls:
            ax, ay, az = 0.0, 0.0, 0.0
        follows = inclination_step(state, g[0], g[1], g[2], ax, ay, az, dt[i])
        if i == 0:
            forget_first_turn(state)
        if follows:
            mx, my, mz, has_mag = 0.0, 0.0, 0.0, len(mag) > 0 and mag_new[i]
            if has_mag:
                m = row(mag, i)
                mx, my, mz = m[0], m[1], m[2]
            still_sample(state, has_mag, mx, my, mz, dt[i])
        else:
            still_gap(state)
            tilt_gap(state, (1.0 + g[0] * g[0] + g[1] * g[1] + g[2] * g[2]) * dt[i] * dt[i])
        passed += dt[i]
        said = (0 if follows else GAP) + (REST if state[AT_REST] != 0.0 else 0)
        flags[i] = said + (ACC_REJECTED if falls else 0)
        if passed >= state[BLOCK_S] - 0.5 * dt[i] or i == len(dt) - 1:
            tell_tilt(state)
            no_rest_s = still_block(state)
            block = row(known, made)
            for k in range(3):
                block[k] = state[BIAS + k]
            for k in range(6):
                block[3 + k] = state[VARIANCE + k]
            block[9] = passed
            ends[made] = i
            if no_rest_s > 0.0:
                _unlearn(known, ends, flags, made, no_rest_s)
            made, passed = made + 1, 0.0
        told = row(sigma, i)
        told[0], told[1] = BOTH_WAYS * state[SIGMA], BOTH_WAYS * state[SIGMA]
    return made


@inner
def _unlearn(known, ends, flags, last, since):
    """A rest of so many s until block `last` was none: what its blocks learned is now that of the last one."""
    now = row(known, last)
    k, i = last, int(ends[last])
    while k >= 0 and since > 0.0:
        block = row(known, k)
        since -= block[9]
        for j in range(9):
            block[j] = now[j]
        first = int(ends[k - 1]) if k > 0 else -1
        while i > first:
            flags[i] -= REST if int(flags[i]) & REST else 0
            i -= 1
        k -= 1


@inner
def _bias_back(known, made, growth):
    """b_k <- b_k + P (P + Q)^-1 (b_k+1 - b_k), Q = growth times the time between them, the same for every axis."""
    for k in range(made - 2, -1, -1):
        this, later = row(known, k), row(known, k + 1)
        q = growth * later[9]
        a, b, c = this[3] + q, this[4], this[5]
        d, e, f = this[6] + q, this[7], this[8] + q
        ux, uy, uz = later[0] - this[0], later[1] - this[1], later[2] - this[2]
        aa, bb, cc = d * f - e * e, c * e - b * f, b * e - c * d  # adjugate of P + Q
        dd, ee, ff = a * f - c * c, b * c - a * e, a * d - b * b
        over = q / (a * aa + b * bb + c * cc)
        this[0] += ux - over * (aa * ux + bb * uy + cc * uz)  # P (P + Q)^-1 is 1 - Q (P + Q)^-1
        this[1] += uy - over * (bb * ux + dd * uy + ee * uz)
        this[2] += uz - over * (cc * ux + ee * uy + ff * uz)


@inner
def _least_sigma(known, made):
    """The smallest deviation of the bias, rad/s, in the mean of the axes: what later is known better is so before."""
    least = math.inf
    for k in range(made):
        block = row(known, k)
        least = min(least, (block[3] + block[6] + block[8]) / 3.0)
    return math.sqrt(max(least, 0.0))


@inner
def _rest_back(flags, dt, rest_time):
    """Rest is told when it has lasted rest_time: it began that much earlier."""
    left = 0.0
    for i in range(len(dt) - 1, -1, -1):
        said = int(flags[i])
        if said & REST:
            left = rest_time
        elif left > 0.0 and not said & GAP:
            flags[i] += REST
        left -= dt[i]


@inner
def _lowpass_row(scratch, force, dt, step, tau, g, a):
    """Filter a row of force in place; the gains of the step it was done with."""
    if abs(dt - step) > SAME_STEP * step:
        lowpass_new_step(scratch, plain(_BLOCK), step, dt)
        step = dt
        g, a = lowpass_gains(tau, dt)
    for k in range(3):
        scratch[INPUT + k] = force[k]
    lowpass(scratch, plain(_BLOCK), tau, step, g, a)
    for k in range(3):
        force[k] = scratch[INPUT + 3 + k]
    return step, g, a


@inner
def _turned_force(state, dt, gyr, acc, ends, known, q, bias, force, memory):
    """q_is by the gyroscope without its smoothed bias, and specific force in i, low-passed forward and backward."""
    n, tau, longest = len(dt), state[TAU_ACC], state[LONGEST_STEP]
    w, x, y, z = 1.0, 0.0, 0.0, 0.0
    if state[STARTED] != 0.0:
        w, x, y, z = state[Q], state[Q + 1], state[Q + 2], state[Q + 3]
    scratch = row(memory, 0)
    lowpass_restart(scratch, plain(_BLOCK))
    step, g, a, block = 0.0, 0.0, 1.0, 0
    for i in range(n):
        b, g_i, a_i, q_i, f_i, bias_i = (
            row(known, block),
            row(gyr, i),
            row(acc, i),
            row(q, i),
            row(force, i),
            row(bias, i),
        )
        bx, by, bz = b[0], b[1], b[2]
        if i == ends[block]:
            block += 1
        bias_i[0], bias_i[1], bias_i[2] = bx, by, bz
        h = min(dt[i], longest) if i == 0 else dt[i]
        if i == 0 and state[STARTED] != 0.0:  # a given attitude is the one at the first sample
            h = 0.0
        tw, tx, ty, tz = exp((g_i[0] - bx) * h, (g_i[1] - by) * h, (g_i[2] - bz) * h)
        w, x, y, z = mul(w, x, y, z, tw, tx, ty, tz)
        k = 1.0 / math.sqrt(w * w + x * x + y * y + z * z)
        w, x, y, z = k * w, k * x, k * y, k * z
        h = min(dt[i], longest) if i == 0 else dt[i]
        q_i[0], q_i[1], q_i[2], q_i[3] = w, x, y, z
        f_i[0], f_i[1], f_i[2] = rotate(w, x, y, z, a_i[0], a_i[1], a_i[2])
        if h > longest:
            lowpass_restart(scratch, plain(_BLOCK))
            h = step
        step, g, a = _lowpass_row(scratch, row(force, i), h, step, tau, g, a)
    lowpass_restart(scratch, plain(_BLOCK))
    for i in range(n - 1, -1, -1):
        h = dt[i + 1] if i < n - 1 else step
        if h > longest:
            lowpass_restart(scratch, plain(_BLOCK))
            h = step
        step, g, a = _lowpass_row(scratch, row(force, i), h, step, tau, g, a)


@inner
def _level(q, force, n):
    """q from q_is to q_es."""
    ew, ex, ey, ez = 1.0, 0.0, 0.0, 0.0
    for i in range(n):
        f, q_i = row(force, i), row(q, i)
        ew, ex, ey, ez, _, _ = up_turned(ew, ex, ey, ez, f[0], f[1], f[2])
        q_i[0], q_i[1], q_i[2], q_i[3] = mul(ew, ex, ey, ez, q_i[0], q_i[1], q_i[2], q_i[3])


@inner
def _heading(state, dt, gyr, mag, mag_new, q, bias, bias_sigma, ends, trace, flags):
    """The heading filter over q_es. Blocks made, the sample each ends with, and their trace."""
    made = 0
    for k in range(BLOCK_T, END):
        if k != EXCESS:
            state[k] = 0.0
    heading_begin(state, len(mag) > 0)
    for i in range(len(dt)):
        q_i = row(q, i)
        w, x, y, z = q_i[0], q_i[1], q_i[2], q_i[3]
        said = int(flags[i])
        if said & GAP:
            g = row(gyr, i)
            heading_gap(state, dt[i], g[0] * g[0] + g[1] * g[1] + g[2] * g[2])
            continue
        mx, my, mz, has_mag = 0.0, 0.0, 0.0, len(mag) > 0 and mag_new[i]
        if has_mag:
            m = row(mag, i)
            mx, my, mz = m[0], m[1], m[2]
        g, b = row(gyr, i), row(bias, i)
        gx, gy, gz = g[0] - b[0], g[1] - b[1], g[2] - b[2]
        rate2 = gx * gx + gy * gy + gz * gz
        if heading_sample(state, w, x, y, z, rate2, has_mag, mx, my, mz, dt[i], said & REST != 0):
            if len(mag) == 0:
                drift_by_bias(state, bias_sigma + doubt_up(state, w, x, y, z))
            block = row(trace, made)
            block[0] = state[X]
            for k in range(N):
                block[1 + k] = state[P + k]
                block[6 + k] = state[GAIN + k]
            block[11], block[12] = state[SURPRISE], state[CERTAINTY]
            for k in range(3):
                block[13 + k] = state[MOVED + k]
            block[16] = state[KEPT]
            ends[made] = i
            made += 1
        flags[i] = said - (said & MAG_REJECTED) + (MAG_REJECTED if state[OFF] >= 1.0 else 0)
    return made


@njit(cache=True, error_model="numpy")
def smooth_rows(state, dt, gyr, acc, mag, mag_new, q, bias, sigma, flags):
    """Attitude, bias, deviations and flags of every sample from all samples; state: as before the first one."""
    n = len(dt)
    ends = np.empty(n, dtype=np.int64)
    known, force, trace, memory = np.empty((n, 10)), np.empty((n, 3)), np.empty((n, TRACE)), np.empty((1, _SIZE))
    numbers = pointer(state)
    made = _forward(numbers, dt, gyr, acc, mag, mag_new, ends, known, sigma, flags)
    bias_sigma = _least_sigma(known, made)
    _bias_back(known, made, numbers[BIAS_GROWTH])
    _rest_back(flags, dt, numbers[REST_TIME])
    _turned_force(numbers, dt, gyr, acc, ends, known, q, bias, force, memory)
    _level(q, force, n)
    for _ in range(2):
        made = _heading(numbers, dt, gyr, mag, mag_new, q, bias, bias_sigma, ends, trace, flags)
        if numbers[EXCESS] == 0.0:  # else a given heading was less sure than it was said to be, from the first sample
            break
    heading_back(trace, made)
    turn_to_n(dt, ends, trace, made, q, sigma)
