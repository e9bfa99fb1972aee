"""The errors of a three-axis sensor in one pass over the samples; the order is that of docs/errors.md.

The pass goes block by block: every term is a loop over a block that stays in the fastest cache, which the compiler
can turn into vector instructions, and nothing as long as the recording is made. Every random term draws from a
generator of its own (SFC64 in use), so that switching one on changes no other.
"""

import math

import numpy as np
from numba import njit

BLOCK = 256  # samples; 2 kB for each axis and quantity


@njit(cache=True, inline="always")
def _any(v):
    return v[0] != 0.0 or v[1] != 0.0 or v[2] != 0.0


@njit(cache=True)
def _bend(n, x, bend, per_full_scale):
    """Take bend * T3(x / full_scale) off: a cubic with peaks of +-bend, no straight part, flatter towards the ends."""
    for k in range(n):
        u = min(max(x[k] * per_full_scale, -1.0), 1.0)
        x[k] += bend * u * (3.0 - 4.0 * u * u)


@njit(cache=True)
def _power_series(n, coefficients, c, warm, start, out):
    """out = start + sum of coefficients[p, c] warm^(p+1)."""
    powers = len(coefficients)
    out[:] = 0.0
    for p in range(powers - 1, -1, -1):
        a = coefficients[p, c]
        for k in range(n):
            out[k] = (out[k] + a) * warm[k]
    for k in range(n):
        out[k] += start


@njit(cache=True)
def _mix(n, m0, m1, m2, x, y, z, out):
    """out += m0 x + m1 y + m2 z."""
    for k in range(n):
        out[k] += m0 * x[k] + m1 * y[k] + m2 * z[k]


@njit(cache=True)
def _clip_and_round(n, y, full_scale, resolution, saturated):
    """Readings as the part gives them. Halves go away from zero as MATLAB's round (rint takes them to the even)."""
    for k in range(n):
        saturated[k] = abs(y[k]) > full_scale
    for k in range(n):
        y[k] = min(max(y[k], -full_scale), full_scale)
    if resolution > 0.0:
        for k in range(n):
            count = y[k] / resolution
            whole = np.rint(count)
            tie = abs(count - whole) == 0.5
            y[k] = (count + math.copysign(0.5, count) if tie else whole) * resolution


@njit(cache=True)
def _take(n, rows, first, stride, lowpass, memory, out):
    """Every stride-th row from sample `first` on, behind the part's low-pass filter, axis by axis."""
    if len(lowpass) == 0:
        for k in range(n):
            i = (first + k) * stride
            out[0, k], out[1, k], out[2, k] = rows[i, 0], rows[i, 1], rows[i, 2]
        return
    b0, b1, b2, a1, a2 = lowpass[0], lowpass[1], lowpass[2], lowpass[3], lowpass[4]
    p1, p2, q1, q2, r1, r2 = memory[0], memory[1], memory[2], memory[3], memory[4], memory[5]
    i = (first - 1) * stride + 1 if first > 0 else 0  # the filter sees the rows in between, too
    for k in range(n):
        x, y, z = 0.0, 0.0, 0.0
        while i <= (first + k) * stride:  # second-order sections, transposed form
            x, y, z = b0 * rows[i, 0] + p1, b0 * rows[i, 1] + q1, b0 * rows[i, 2] + r1
            # what does not wait for this output comes first: the loop is as slow as its longest chain
            p1, p2 = (b1 * rows[i, 0] + p2) - a1 * x, b2 * rows[i, 0] - a2 * x
            q1, q2 = (b1 * rows[i, 1] + q2) - a1 * y, b2 * rows[i, 1] - a2 * y
            r1, r2 = (b1 * rows[i, 2] + r2) - a1 * z, b2 * rows[i, 2] - a2 * z
            i += 1
        out[0, k], out[1, k], out[2, k] = x, y, z
    memory[0], memory[1], memory[2], memory[3], memory[4], memory[5] = p1, p2, q1, q2, r1, r2


@njit(cache=True)
def _settled(row, lowpass):
    """A filter's memory as if the row had been there for ever."""
    memory = np.zeros(6)
    if len(lowpass) > 0:
        for c in range(3):
            memory[2 * c] = row[c] * (1.0 - lowpass[0])
            memory[2 * c + 1] = row[c] * (lowpass[2] - lowpass[4])
    return memory


@njit(cache=True)
def _add_noise(n, white, white_rng, quantum, quantum_rng, u, out):
    """White noise, and the error of an angle read in whole steps, differenced; u is that error before the block."""
    if _any(white):
        w0, w1, w2 = white[0], white[1], white[2]
        for k in range(n):
            out[0, k] += w0 * white_rng.standard_normal()
            out[1, k] += w1 * white_rng.standard_normal()
            out[2, k] += w2 * white_rng.standard_normal()
    if _any(quantum):
        ux, uy, uz = u[0], u[1], u[2]
        for k in range(n):
            vx, vy, vz = quantum_rng.random(), quantum_rng.random(), quantum_rng.random()
            out[0, k] += quantum[0] * (vx - ux)
            out[1, k] += quantum[1] * (vy - uy)
            out[2, k] += quantum[2] * (vz - uz)
            ux, uy, uz = vx, vy, vz
        u[0], u[1], u[2] = ux, uy, uz


@njit(cache=True)
def _add_drift(n, drift, node, first, out):
    """Straight lines between the nodes of the drift's grid, `node` samples apart."""
    j, within = first // node, first % node
    per_node = 1.0 / node
    k = 0
    while k < n:
        x, y, z = drift[j, 0], drift[j, 1], drift[j, 2]
        dx, dy, dz = 0.0, 0.0, 0.0
        if node > 1:
            dx, dy, dz = drift[j + 1, 0] - x, drift[j + 1, 1] - y, drift[j + 1, 2] - z
        while k < n and within < node:
            part = within * per_node
            out[0, k] += x + part * dx
            out[1, k] += y + part * dy
            out[2, k] += z + part * dz
            k += 1
            within += 1
        j, within = j + 1, 0


@njit(cache=True, nogil=True)
def measure_rows(
    ideal,  # (n, 3)
    force,  # (n, 3) specific force for the g-sensitivity, or (0, 3)
    warm,  # T - reference: (n,), or (1,) if constant
    kept,  # rows of the input that come out, rising
    stride,  # every stride-th row is sampled
    lowpass,  # b0, b1, b2, a1, a2, or empty
    bend,  # (3,) unit, of either sign; zero without nonlinearity
    matrix,
    g_matrix,
    offset,  # (3,) bias and turn-on bias
    t_bias,  # (powers, 3)
    t_scale,  # (powers, 3)
    scale_all,  # temperature scale on everything (MATLAB, paper B) or on the true signal only
    white,  # (3,) deviation per sample
    white_rng,
    drift,  # (m, 3) instability and walk on a grid
    node,  # samples per step of that grid
    quantum,  # (3,) width of the quantisation error, per sample period
    quantum_rng,
    full_scale,  # inf: none
    resolution,  # 0: none
    values,  # out, (len(kept), 3)
    saturated,  # out, (len(kept), 3)
):
    """True values to readings."""
    forced = len(force) > 0
    x_memory = _settled(ideal[0], lowpass)
    f_memory = _settled(force[0], lowpass) if forced else np.zeros(6)
    u = np.zeros(3)
    if _any(quantum):
        u[0], u[1], u[2] = quantum_rng.random(), quantum_rng.random(), quantum_rng.random()
    x, f, e, s = np.empty((3, BLOCK)), np.empty((3, BLOCK)), np.empty((3, BLOCK)), np.empty((3, BLOCK))
    flags, heat = np.empty((3, BLOCK), np.bool_), np.full(BLOCK, warm[0])
    samples = (len(ideal) - 1) // stride + 1
    out = 0
    for first in range(0, samples, BLOCK):
        n = min(BLOCK, samples - first)
        _take(n, ideal, first, stride, lowpass, x_memory, x)
        if forced:  # the part's filter stands behind both
            _take(n, force, first, stride, lowpass, f_memory, f)
        if len(warm) > 1:
            for k in range(n):
                heat[k] = warm[(first + k) * stride]
        for c in range(3):
            if bend[c] != 0.0:
                _bend(n, x[c], bend[c], 1.0 / full_scale)
        for c in range(3):
            _power_series(n, t_bias, c, heat, offset[c], e[c])
            _power_series(n, t_scale, c, heat, 1.0, s[c])
            if forced:
                _mix(n, g_matrix[c, 0], g_matrix[c, 1], g_matrix[c, 2], f[0], f[1], f[2], e[c])
        _add_noise(n, white, white_rng, quantum, quantum_rng, u, e)
        if len(drift) > 0:
            _add_drift(n, drift, node, first, e)
        for c in range(3):
            m0, m1, m2 = matrix[c, 0], matrix[c, 1], matrix[c, 2]
            y, scale = e[c], s[c]
            if scale_all:
                _mix(n, m0, m1, m2, x[0], x[1], x[2], y)
                for k in range(n):
                    y[k] *= scale[k]
            else:
                for k in range(n):
                    y[k] += scale[k] * (m0 * x[0, k] + m1 * x[1, k] + m2 * x[2, k])
            _clip_and_round(n, y, full_scale, resolution, flags[c])
        for k in range(n):
            # a lost sample has had its noise all the same: losses change no other reading
            if out < len(kept) and kept[out] == (first + k) * stride:
                values[out, 0], values[out, 1], values[out, 2] = e[0, k], e[1, k], e[2, k]
                saturated[out, 0], saturated[out, 1], saturated[out, 2] = flags[0, k], flags[1, k], flags[2, k]
                out += 1


@njit(cache=True, nogil=True)
def arrival_rows(t, stride, latency, jitter, jitter_rng, loss, loss_rng, shortest, stamps, kept):
    """Which of every stride-th sample arrive, and what time their log shows; returns how many.

    Samples arrive in order: a stamp that jitter would put before its forerunner's is `shortest` behind it.
    """
    samples = (len(t) - 1) // stride + 1
    for k in range(samples):
        stamps[k] = t[k * stride] + latency
    if jitter > 0.0:
        for k in range(samples):
            stamps[k] += jitter * jitter_rng.standard_normal()
    count, earliest = 0, -math.inf
    for k in range(samples):
        if loss > 0.0 and loss_rng.random() < loss:
            continue
        stamp = stamps[k]
        if jitter > 0.0:
            stamp = max(stamp, earliest)
            earliest = stamp + shortest
        stamps[count] = stamp
        kept[count] = k * stride
        count += 1
    return count


@njit(cache=True, nogil=True)
def first_bad_row(x):
    """Index of the first row with a number that is not finite, -1 if there is none."""
    for i in range(len(x)):
        # 0 times inf or NaN is NaN, and so is its sum with anything
        if 0.0 * x[i, 0] + 0.0 * x[i, 1] + 0.0 * x[i, 2] != 0.0:
            return i
    return -1


@njit(cache=True, nogil=True)
def first_uneven(t, step, allowed):
    """Index of the first time that is not `step` after the one before, within `allowed`; -1 if there is none."""
    for i in range(1, len(t)):
        if not abs(t[i] - t[i - 1] - step) <= allowed:
            return i
    return -1
