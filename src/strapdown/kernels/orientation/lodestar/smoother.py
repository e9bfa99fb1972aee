"""Lodestar, off line: every sample uses the whole recording.

Bias: the backward pass of Rauch, Tung and Striebel over the bias filter, whose state is a random walk. Where a rest
turns out to be none (lodestar_still.py), the result of that rest is replaced first. The unobserved error of the bias is
propagated backward in the same way. Inclination: the gyroscope is integrated again without that bias, and specific
force is low-passed forward and backward, which leaves no lag. Heading: the filter of lodestar_heading.py on that
inclination, then backward (lodestar_back.py). If the field shows that a given heading was less certain than stated, the
filter starts again with the right sigma.
"""

import math

import numpy as np
from numba import njit

from strapdown.kernels.jit import internal, not_constant, pointer, row
from strapdown.kernels.orientation.lodestar.backward import (
    CERTAIN,
    ENDS,
    GAINS,
    KEEPS,
    MOVES,
    NO_REST,
    TOLD,
    TRACE,
    TRACE_END,
    heading_back,
    turn_to_n,
)
from strapdown.kernels.orientation.lodestar.filter import (
    TILT_START,
    TILT_T,
    TILT_VARIANCE,
    drift_by_bias,
    follow_wander,
    forget_first_turn,
    tilt_gap,
)
from strapdown.kernels.orientation.lodestar.heading import heading_begin, heading_gap, heading_sample
from strapdown.kernels.orientation.lodestar.layout import (
    BLOCK_S,
    BLOCK_T,
    CERTAINTY,
    DRIFTS,
    END,
    EXCESS,
    GAIN,
    IRON,
    KEPT,
    MOVED,
    OFF,
    PLACE_VARIANCE,
    SURPRISE,
    TILT_FLOOR,
    N,
    P,
    X,
)
from strapdown.kernels.orientation.lodestar.rest import DOUBT, still_block, still_gap, still_sample
from strapdown.kernels.orientation.start import LEAST_FORCE2
from strapdown.kernels.orientation.state import ACC_REJECTED, BIAS, GAP, LONGEST, MAG_REJECTED, REST, SIGMA, STARTED, Q
from strapdown.kernels.orientation.vqf.inclination import (
    A_ACC,
    ACC_BLOCK,
    ACC_X,
    ACC_Y,
    AT_REST,
    BIAS_GROWTH,
    G_ACC,
    REST_TIME,
    SAME_STEP,
    STEP,
    TAU_ACC,
    VARIANCE,
    inclination_step,
    up_turned,
)
from strapdown.kernels.orientation.vqf.lowpass import (
    lowpass,
    lowpass_gains,
    lowpass_new_step,
    lowpass_restart,
    mul,
    rotate,
)
from strapdown.kernels.rotation import exp

# columns of the table that the passes share: by block of the bias filter, by block of the heading filter
# (lodestar_back.py), and by sample
_BIAS, _VARIANCE, _DOUBT = TRACE_END, TRACE_END + 3, TRACE_END + 9
_TIME = TRACE_END + 12  # s since the block before
_FORCE = TRACE_END + 13
_COLUMNS = TRACE_END + 16
_ACC = (ACC_BLOCK, 3)


@internal
def _forward(state, settings, n, dt, gyr, acc, mag, mag_new, table, sigma, flags):
    """Bias and rest. Blocks made."""
    made, passed = 0, 0.0
    for i in range(n):
        g, a = row(gyr, i), row(acc, i)
        ax, ay, az = a[0], a[1], a[2]
        seen = 0.0
        if ax * ax + ay * ay + az * az < LEAST_FORCE2:
            ax, ay, az = 0.0, 0.0, 0.0
            seen = ACC_REJECTED
        if inclination_step(state, settings, g[0], g[1], g[2], ax, ay, az, dt[i]):
            mx, my, mz = 0.0, 0.0, 0.0
            if len(mag) > 0 and mag_new[i]:
                m = row(mag, i)
                mx, my, mz = m[0], m[1], m[2]
            still_sample(state, mx, my, mz, dt[i])
        else:
            seen += GAP
            still_gap(state)
        if i == 0:
            forget_first_turn(state, settings)
        passed += dt[i]
        flags[i] = seen + (REST if state[AT_REST] != 0.0 else 0.0)
        if passed >= settings[BLOCK_S] - 0.5 * dt[i] or i == n - 1:
            no_rest_s = still_block(state, settings)
            block = row(table, made)
            for k in range(3):
                block[_BIAS + k], block[_DOUBT + k] = state[BIAS + k], state[DOUBT + k]
            for k in range(6):
                block[_VARIANCE + k] = state[VARIANCE + k]
            block[_TIME], block[ENDS] = passed, i
            if no_rest_s > 0.0:
                _unlearn(table, flags, i, not_constant(made), no_rest_s)
            made, passed = made + 1, 0.0
    return made


@internal
def _unlearn(table, flags, i, last, since):
    """A rest of this many seconds until block `last` and sample i was not one: its blocks get the result of the last
    one.
    """
    now = row(table, last)
    k = last
    while k >= 0 and since > 0.0:
        block = row(table, k)
        since -= block[_TIME]
        for j in range(_BIAS, _TIME):
            block[j] = now[j]
        k -= 1
    first = row(table, k)[ENDS] if k >= 0 else -1.0
    while i > first:
        if int(flags[i]) & REST:
            flags[i] += NO_REST - REST
        i -= 1


@internal
def _bias_back(table, made, growth):
    """b_k <- b_k + P (P + Q)^-1 (b_k+1 - b_k), Q = growth times the time between them, the same for every axis. An
    error of the bias is treated in the same way. Returns the smallest sigma of the bias, rad/s, in the
    mean of the axes: what is known better later is then also known better before.
    """
    least = math.inf
    for k in range(made - 1, -1, -1):
        this, later = row(table, k), row(table, min(k + 1, made - 1))
        q = growth * later[_TIME]
        a, b, c = this[_VARIANCE], this[_VARIANCE + 1], this[_VARIANCE + 2]
        d, e, f = this[_VARIANCE + 3], this[_VARIANCE + 4], this[_VARIANCE + 5]
        least = min(least, (a + d + f) / 3.0)
        a, d, f = a + q, d + q, f + q
        aa, bb, cc = d * f - e * e, c * e - b * f, b * e - c * d  # adjugate of P + Q
        dd, ee, ff = a * f - c * c, b * c - a * e, a * d - b * b
        over = q / (a * aa + b * bb + c * cc)
        for j in range(_BIAS, _TIME, _DOUBT - _BIAS):
            ux, uy, uz = later[j] - this[j], later[j + 1] - this[j + 1], later[j + 2] - this[j + 2]
            this[j] += ux - over * (aa * ux + bb * uy + cc * uz)  # P (P + Q)^-1 is 1 - Q (P + Q)^-1
            this[j + 1] += uy - over * (bb * ux + dd * uy + ee * uz)
            this[j + 2] += uz - over * (cc * ux + ee * uy + ff * uz)
    return math.sqrt(max(least, 0.0))


@internal
def _rest_back(flags, n, dt, rest_time):
    """Rest is detected when it has lasted rest_time: it began that much earlier."""
    left = 0.0
    for i in range(n - 1, -1, -1):
        seen = int(flags[i])
        if seen & REST:
            left = rest_time
        elif left > 0.0 and not seen & GAP:
            flags[i] += REST
        left -= dt[i]


@internal
def _lowpass_row(state, settings, force, dt):
    """Filter three numbers in place, by the low-pass of the filter itself, which is no longer needed."""
    tau = settings[TAU_ACC]
    if abs(dt - state[STEP]) > SAME_STEP * state[STEP]:
        lowpass_new_step(state, not_constant(_ACC), state[STEP], dt)
        state[STEP] = dt
        state[G_ACC], state[A_ACC] = lowpass_gains(tau, dt)
    for k in range(3):
        state[ACC_X + k] = force[_FORCE + k]
    lowpass(state, not_constant(_ACC), tau, state[STEP], state[G_ACC], state[A_ACC])
    for k in range(3):
        force[_FORCE + k] = state[ACC_Y + k]


@internal
def _turned_force(state, settings, n, dt, gyr, acc, table, q, bias):
    """q_is by the gyroscope without its smoothed bias, and specific force in i, low-passed forward and backward."""
    longest, block = settings[LONGEST], 0
    w, x, y, z = 1.0, 0.0, 0.0, 0.0
    h = min(dt[0], longest)
    turned_s = h
    if state[STARTED] != 0.0:  # a given attitude is the one at the first sample
        w, x, y, z = state[Q], state[Q + 1], state[Q + 2], state[Q + 3]
        turned_s = 0.0
    lowpass_restart(state, not_constant(_ACC))
    state[STEP] = 0.0
    for i in range(n):
        known, g, a, q_i, f, b = row(table, block), row(gyr, i), row(acc, i), row(q, i), row(table, i), row(bias, i)
        b[0], b[1], b[2] = known[_BIAS], known[_BIAS + 1], known[_BIAS + 2]
        if i == known[ENDS]:
            block += 1
        if i > 0:
            h, turned_s = dt[i], dt[i]
        tw, tx, ty, tz = exp((g[0] - b[0]) * turned_s, (g[1] - b[1]) * turned_s, (g[2] - b[2]) * turned_s)
        w, x, y, z = mul(w, x, y, z, tw, tx, ty, tz)
        k = 1.0 / math.sqrt(w * w + x * x + y * y + z * z)
        w, x, y, z = k * w, k * x, k * y, k * z
        q_i[0], q_i[1], q_i[2], q_i[3] = w, x, y, z
        f[_FORCE], f[_FORCE + 1], f[_FORCE + 2] = rotate(w, x, y, z, a[0], a[1], a[2])
        if h > longest:
            lowpass_restart(state, not_constant(_ACC))
            h = state[STEP]
        _lowpass_row(state, settings, f, h)
    lowpass_restart(state, not_constant(_ACC))
    for i in range(n - 1, -1, -1):
        h = dt[i + 1] if i < n - 1 else state[STEP]
        if h > longest:
            lowpass_restart(state, not_constant(_ACC))
            h = state[STEP]
        _lowpass_row(state, settings, row(table, i), h)


@internal
def _level(state, settings, q, table, gyr, dt, flags, sigma, n):
    """q from q_is to q_es, and the sigma of the inclination. The third column of sigma gets the unobserved error of the
    bias about the vertical.
    """
    ew, ex, ey, ez = 1.0, 0.0, 0.0, 0.0
    block, left_s = 0, 0.0
    for i in range(n):
        left_s += dt[i]
    state[TILT_VARIANCE], state[TILT_T], state[SIGMA] = TILT_START, 0.0, math.sqrt(TILT_START)
    for i in range(n):
        f, q_i, known, sigma_i = row(table, i), row(q, i), row(table, block), row(sigma, i)
        ew, ex, ey, ez, _, _ = up_turned(ew, ex, ey, ez, f[_FORCE], f[_FORCE + 1], f[_FORCE + 2])
        w, x, y, z = mul(ew, ex, ey, ez, q_i[0], q_i[1], q_i[2], q_i[3])
        q_i[0], q_i[1], q_i[2], q_i[3] = w, x, y, z
        ux, uy, uz = 2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)
        left_s -= dt[i]
        if int(flags[i]) & GAP:
            g = row(gyr, i)
            tilt_gap(state, (1.0 + g[0] * g[0] + g[1] * g[1] + g[2] * g[2]) * dt[i] * dt[i])
        if i == known[ENDS]:
            follow_wander(state, settings, f[_FORCE], f[_FORCE + 1], f[_FORCE + 2], 2)
            # low-passed both ways, force has a lag only next to the first and the last sample
            lag = settings[TAU_ACC] * math.exp(-min(state[TILT_T], left_s) / settings[TAU_ACC])
            by_bias = lag * lag * (known[_VARIANCE] + known[_VARIANCE + 3] + known[_VARIANCE + 5]) / 3.0
            state[SIGMA] = math.sqrt(state[TILT_VARIANCE] + by_bias + settings[TILT_FLOOR])
            block += 1
        sigma_i[0], sigma_i[1] = state[SIGMA], state[SIGMA]
        sigma_i[2] = abs(ux * known[_DOUBT] + uy * known[_DOUBT + 1] + uz * known[_DOUBT + 2])


@internal
def _heading(state, settings, n, dt, gyr, mag, mag_new, q, bias, sigma, bias_sigma, table, flags):
    """Run the heading filter over q_es. Returns the number of blocks, the last sample of each, and their trace."""
    made, measures = 0, len(mag) > 0
    for k in range(BLOCK_T, END):
        if k != EXCESS:
            state[k] = 0.0
    heading_begin(state, settings, measures)
    for i in range(n):
        q_i, g, b = row(q, i), row(gyr, i), row(bias, i)
        seen = int(flags[i])
        if seen & GAP:
            heading_gap(state, settings, dt[i], g[0] * g[0] + g[1] * g[1] + g[2] * g[2])
            continue
        if seen & (NO_REST + REST) == NO_REST:  # it may as well be the field that turned
            state[IRON] = settings[PLACE_VARIANCE]
        mx, my, mz = 0.0, 0.0, 0.0
        if measures and mag_new[i]:
            m = row(mag, i)
            mx, my, mz = m[0], m[1], m[2]
        gx, gy, gz = g[0] - b[0], g[1] - b[1], g[2] - b[2]
        if heading_sample(
            state, settings, q_i[0], q_i[1], q_i[2], q_i[3], gx, gy, gz, mx, my, mz, dt[i], seen & REST != 0
        ):
            if not measures:
                drift_by_bias(state, settings, bias_sigma + row(sigma, i)[2])
            block = row(table, made)
            block[TRACE], block[ENDS] = state[X], i
            for k in range(N):
                block[TRACE + 1 + k] = state[P + k]
                block[GAINS + k] = state[GAIN + k]
            block[TOLD], block[CERTAIN], block[KEEPS] = state[SURPRISE], state[CERTAINTY], state[KEPT]
            for k in range(DRIFTS):
                block[MOVES + k] = state[MOVED + k]
            made += 1
        flags[i] = seen - (seen & MAG_REJECTED) + (MAG_REJECTED if state[OFF] >= 1.0 else 0)
    return made


@njit(cache=True, error_model="numpy", no_cfunc_wrapper=True)
def smooth_rows(state, settings, dt, gyr, acc, mag, mag_new, q, bias, sigma, flags):
    """Attitude, bias, standard deviations and flags of every sample from all samples.

    state: the state before the first sample. dt[0] is the usual step.
    """
    n, given = len(dt), pointer(settings)
    table = np.empty((n, _COLUMNS))
    numbers, steps, seen = pointer(state), pointer(dt), pointer(flags)
    made = _forward(numbers, given, n, steps, gyr, acc, mag, mag_new, table, sigma, seen)
    bias_sigma = _bias_back(table, made, given[BIAS_GROWTH])
    _rest_back(seen, n, steps, given[REST_TIME])
    _turned_force(numbers, given, n, steps, gyr, acc, table, q, bias)
    _level(numbers, given, q, table, gyr, steps, seen, sigma, n)
    for _ in range(2):
        made = _heading(numbers, given, n, steps, gyr, mag, mag_new, q, bias, sigma, bias_sigma, table, seen)
        if numbers[EXCESS] == 0.0:  # else a given heading was less sure than given, from the first sample
            break
    heading_back(numbers, table, made)
    turn_to_n(n, steps, table, made, q, sigma, seen)
