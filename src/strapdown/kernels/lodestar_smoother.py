"""Lodestar, off line: every sample knows the whole recording.

Bias: Rauch, Tung and Striebel's backward pass over the bias filter, whose state walks at random. Inclination: the
gyroscope integrated anew without that bias, specific force low-passed forward and backward, which leaves no lag.
Heading: the filter of lodestar_heading.py on that inclination, then backward as modified by Bryson and Frazier, which
inverts no matrix: with K the gain, v the innovation, s its variance, h = (1, 0, 0, 0, 1), F the transition of a block,

    x_smooth = x - P l,   P_smooth = P - P L P         l, L: what later blocks say; zero after the last
    l <- l - h (K . l + v / s)                         back over the measurement, and the same for L
    l <- F^T l,   L <- F^T L F                         back over the block
"""

import math

import numpy as np
from numba import njit

from strapdown.kernels.lodestar import TILT_START, TILT_VARIANCE, forget_first_turn, tell_tilt
from strapdown.kernels.lodestar_heading import (
    ANY_HEADING,
    BLOCK_S,
    CERTAINTY,
    GAIN,
    KEPT,
    MOVED,
    OFF,
    SURPRISE,
    N,
    P,
    X,
    heading_begin,
    heading_gap,
    heading_sample,
    wrapped,
)
from strapdown.kernels.orientation_state import ACC_REJECTED, BIAS, GAP, MAG_REJECTED, REST, SIGMA, STARTED, Q
from strapdown.kernels.rotation import exp, mul, rotate
from strapdown.kernels.trigonometry import half_angle
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
from strapdown.kernels.vqf_lowpass import INPUT, block_size, lowpass, lowpass_gains, lowpass_new_step, lowpass_restart

LOWPASS_SIZE = block_size(3)
TRACE = 17  # numbers of a block that the way back needs: delta, row 0 of P, gain, v / s, 1 / s, F's entries
BOTH_WAYS = math.sqrt(0.75)  # deviation behind the low-pass both ways over one way: integrals of |H|^4 and |H|^2


@njit(cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _forward(state, dt, gyr, acc, ends, known, sigma, flags):
    """Bias and rest; rows of known are bias (3), its variance (6) and the time since the block before. Blocks made."""
    made, passed = 0, 0.0
    state[TILT_VARIANCE] = TILT_START
    state[SIGMA] = math.sqrt(TILT_START)
    for i in range(len(dt)):
        ax, ay, az = acc[i, 0], acc[i, 1], acc[i, 2]
        follows = inclination_step(state, gyr[i, 0], gyr[i, 1], gyr[i, 2], ax, ay, az, dt[i])
        if i == 0:
            forget_first_turn(state)
        passed += dt[i]
        flags[i] = (0 if follows else GAP) + (REST if state[AT_REST] != 0.0 else 0)
        flags[i] += ACC_REJECTED if ax == 0.0 and ay == 0.0 and az == 0.0 else 0
        if passed >= state[BLOCK_S] - 0.5 * dt[i] or i == len(dt) - 1:
            tell_tilt(state)
            for k in range(3):
                known[made, k] = state[BIAS + k]
            for k in range(6):
                known[made, 3 + k] = state[VARIANCE + k]
            known[made, 9] = passed
            ends[made] = i
            made, passed = made + 1, 0.0
        sigma[i, 0] = BOTH_WAYS * state[SIGMA]
        sigma[i, 1] = sigma[i, 0]
    return made


@njit(cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _bias_back(known, made, growth):
    """b_k <- b_k + P (P + Q)^-1 (b_k+1 - b_k), Q = growth times the time between them, the same for every axis."""
    for k in range(made - 2, -1, -1):
        q = growth * known[k + 1, 9]
        a, b, c = known[k, 3] + q, known[k, 4], known[k, 5]
        d, e, f = known[k, 6] + q, known[k, 7], known[k, 8] + q
        ux, uy, uz = known[k + 1, 0] - known[k, 0], known[k + 1, 1] - known[k, 1], known[k + 1, 2] - known[k, 2]
        aa, bb, cc = d * f - e * e, c * e - b * f, b * e - c * d  # adjugate of P + Q
        dd, ee, ff = a * f - c * c, b * c - a * e, a * d - b * b
        over = q / (a * aa + b * bb + c * cc)
        known[k, 0] += ux - over * (aa * ux + bb * uy + cc * uz)  # P (P + Q)^-1 is 1 - Q (P + Q)^-1
        known[k, 1] += uy - over * (bb * ux + dd * uy + ee * uz)
        known[k, 2] += uz - over * (cc * ux + ee * uy + ff * uz)


@njit(cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
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


@njit(cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _lowpass_row(scratch, force, i, dt, step, tau, g, a):
    """Filter row i of force in place; the gains of the step it was done with."""
    if abs(dt - step) > SAME_STEP * step:
        lowpass_new_step(scratch, 0, step, dt)
        step = dt
        g, a = lowpass_gains(tau, dt)
    for k in range(3):
        scratch[INPUT + k] = force[i, k]
    lowpass(scratch, 0, 3, tau, step, g, a)
    for k in range(3):
        force[i, k] = scratch[INPUT + 3 + k]
    return step, g, a


@njit(cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _turned_force(state, dt, gyr, acc, ends, known, q, bias, force):
    """q_is by the gyroscope without its smoothed bias, and specific force in i, low-passed forward and backward."""
    n, tau, longest = len(dt), state[TAU_ACC], state[LONGEST_STEP]
    w, x, y, z = 1.0, 0.0, 0.0, 0.0
    if state[STARTED] != 0.0:
        w, x, y, z = state[Q], state[Q + 1], state[Q + 2], state[Q + 3]
    scratch = np.zeros(LOWPASS_SIZE)
    step, g, a, block = 0.0, 0.0, 1.0, 0
    for i in range(n):
        bx, by, bz = known[block, 0], known[block, 1], known[block, 2]
        if i == ends[block]:
            block += 1
        bias[i, 0], bias[i, 1], bias[i, 2] = bx, by, bz
        h = min(dt[i], longest) if i == 0 else dt[i]
        tw, tx, ty, tz = exp((gyr[i, 0] - bx) * h, (gyr[i, 1] - by) * h, (gyr[i, 2] - bz) * h)
        w, x, y, z = mul(w, x, y, z, tw, tx, ty, tz)
        k = 1.0 / math.sqrt(w * w + x * x + y * y + z * z)
        w, x, y, z = k * w, k * x, k * y, k * z
        q[i, 0], q[i, 1], q[i, 2], q[i, 3] = w, x, y, z
        force[i, 0], force[i, 1], force[i, 2] = rotate(w, x, y, z, acc[i, 0], acc[i, 1], acc[i, 2])
        if h > longest:
            lowpass_restart(scratch, 0, 3)
            h = step
        step, g, a = _lowpass_row(scratch, force, i, h, step, tau, g, a)
    lowpass_restart(scratch, 0, 3)
    for i in range(n - 1, -1, -1):
        h = dt[i + 1] if i < n - 1 else step
        if h > longest:
            lowpass_restart(scratch, 0, 3)
            h = step
        step, g, a = _lowpass_row(scratch, force, i, h, step, tau, g, a)


@njit(cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _heading(state, dt, gyr, mag, mag_new, q, bias, force, ends, trace, flags):
    """q from q_is to q_es, and the heading filter over it. Blocks made, the sample each ends with, and their trace."""
    made = 0
    ew, ex, ey, ez = 1.0, 0.0, 0.0, 0.0
    heading_begin(state, len(mag) > 0)
    for i in range(len(dt)):
        ew, ex, ey, ez, _, _ = up_turned(ew, ex, ey, ez, force[i, 0], force[i, 1], force[i, 2])
        w, x, y, z = mul(ew, ex, ey, ez, q[i, 0], q[i, 1], q[i, 2], q[i, 3])
        q[i, 0], q[i, 1], q[i, 2], q[i, 3] = w, x, y, z
        said = int(flags[i])
        if said & GAP:
            heading_gap(state, dt[i])
            continue
        mx, my, mz, has_mag = 0.0, 0.0, 0.0, len(mag) > 0 and mag_new[i]
        if has_mag:
            mx, my, mz = mag[i, 0], mag[i, 1], mag[i, 2]
        gx, gy, gz = gyr[i, 0] - bias[i, 0], gyr[i, 1] - bias[i, 1], gyr[i, 2] - bias[i, 2]
        rate2 = gx * gx + gy * gy + gz * gz
        if heading_sample(state, w, x, y, z, rate2, has_mag, mx, my, mz, dt[i], said & REST != 0):
            trace[made, 0] = state[X]
            for k in range(N):
                trace[made, 1 + k] = state[P + k]
                trace[made, 6 + k] = state[GAIN + k]
            trace[made, 11], trace[made, 12] = state[SURPRISE], state[CERTAINTY]
            for k in range(3):
                trace[made, 13 + k] = state[MOVED + k]
            trace[made, 16] = state[KEPT]
            ends[made] = i
            made += 1
        flags[i] += MAG_REJECTED if state[OFF] >= 1.0 else 0
    return made


@njit(cache=True, error_model="numpy")
def heading_back(trace, made):
    """Columns 0 and 1 of the trace become the smoothed delta and its variance."""
    later, certain = np.zeros(N), np.zeros((N, N))  # l and L above
    product = np.zeros(N)
    for k in range(made - 1, -1, -1):
        delta, variance = trace[k, 0], trace[k, 1]
        for i in range(N):
            delta -= trace[k, 1 + i] * later[i]
            for j in range(N):
                variance -= trace[k, 1 + i] * certain[i, j] * trace[k, 1 + j]
        trace[k, 0], trace[k, 1] = delta, variance
        if trace[k, 12] > 0.0:
            told, twice = trace[k, 11], trace[k, 12]
            for i in range(N):
                told += trace[k, 6 + i] * later[i]
                product[i] = 0.0
                for j in range(N):
                    product[i] += certain[i, j] * trace[k, 6 + j]
                twice += trace[k, 6 + i] * product[i]
            for i in range(0, N, N - 1):  # h has ones at 0 and 4
                later[i] -= told
                for j in range(N):
                    certain[i, j] -= product[j]
                    certain[j, i] -= product[j]
                certain[i, 0] += twice
                certain[i, 4] += twice
        for i in range(3):
            moved = trace[k, 13 + i]
            later[1 + i] += moved * later[0]
            for j in range(N):
                certain[1 + i, j] += moved * certain[0, j]
            for j in range(N):
                certain[j, 1 + i] += moved * certain[j, 0]
        later[4] *= trace[k, 16]
        for j in range(N):
            certain[4, j] *= trace[k, 16]
            certain[j, 4] *= trace[k, 16]


@njit(cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _turn_to_n(dt, ends, trace, made, q, sigma):
    """q from q_es to q_ns by the smoothed heading, which is a straight line between the ends of blocks."""
    block, since = 0, 0.0
    span = 1.0
    for i in range(len(dt)):
        since += dt[i]
        if block > 0 and block < made:
            part = since / span
            delta = trace[block - 1, 0] + part * wrapped(trace[block, 0] - trace[block - 1, 0])
            variance = trace[block - 1, 1] + part * (trace[block, 1] - trace[block - 1, 1])
        elif made > 0:
            delta, variance = trace[min(block, made - 1), 0], trace[min(block, made - 1), 1]
        else:
            delta, variance = 0.0, ANY_HEADING
        if block < made and i == ends[block]:
            block, since, span = block + 1, 0.0, 0.0
            if block < made:
                for j in range(i + 1, ends[block] + 1):
                    span += dt[j]
        delta = wrapped(delta)
        c, k = half_angle(delta * delta)
        s = k * delta
        w, x, y, z = q[i, 0], q[i, 1], q[i, 2], q[i, 3]
        q[i, 0], q[i, 1], q[i, 2], q[i, 3] = c * w - s * z, c * x - s * y, c * y + s * x, c * z + s * w
        sigma[i, 2] = math.sqrt(min(max(variance, 0.0), ANY_HEADING))


@njit(cache=True, error_model="numpy")
def smooth_rows(state, dt, gyr, acc, mag, mag_new, q, bias, sigma, flags):
    """Attitude, bias, deviations and flags of every sample from all samples; state: as before the first one."""
    n = len(dt)
    ends = np.empty(n, dtype=np.int64)
    known, force, trace = np.empty((n, 10)), np.empty((n, 3)), np.empty((n, TRACE))
    made = _forward(state, dt, gyr, acc, ends, known, sigma, flags)
    _bias_back(known, made, state[BIAS_GROWTH])
    _rest_back(flags, dt, state[REST_TIME])
    _turned_force(state, dt, gyr, acc, ends, known, q, bias, force)
    made = _heading(state, dt, gyr, mag, mag_new, q, bias, force, ends, trace, flags)
    heading_back(trace, made)
    _turn_to_n(dt, ends, trace, made, q, sigma)
