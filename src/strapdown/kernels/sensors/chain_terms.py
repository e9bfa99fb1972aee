"""The terms of the error chain, each a loop over a block of samples in `work`; the order is that of docs/errors.md."""

import math

import numpy as np

from strapdown.kernels.jit import internal_uncounted
from strapdown.kernels.sensors import chain_memory as m
from strapdown.kernels.sensors import chain_settings as s
from strapdown.kernels.sensors.drift import acts, instability_block, matlab_block, walk_block

# columns of a table of readings: stamp (s), x, y, z, 1 where an axis is clipped, row of the input
STAMP, X, CLIPPED, ROW, COLUMNS = 0, 1, 4, 7, 8
# rows of a block's work, a column for each sample: x, y, z of each, and the temperature
SIGNAL, FORCE, ERROR, SCALE, DRIFT, HEAT, WORK = 0, 3, 6, 9, 12, 15, 16


@internal_uncounted
def turn(n, work, settings):
    """The signal in the instrument's own axes: v_module = AXES @ v_instrument."""
    a = s.AXES
    for k in range(n):
        x, y, z = work[SIGNAL, k], work[SIGNAL + 1, k], work[SIGNAL + 2, k]
        for c in range(3):
            work[SIGNAL + c, k] = x * settings[a + c] + y * settings[a + 3 + c] + z * settings[a + 6 + c]


@internal_uncounted
def add_nonlinearity(n, work, c, size, per_full_scale):
    """Subtract size * T3(x / full_scale): a cubic with peaks of +-size, no straight part, flatter towards the ends."""
    for k in range(n):
        u = min(max(work[SIGNAL + c, k] * per_full_scale, -1.0), 1.0)
        work[SIGNAL + c, k] += size * u * (3.0 - 4.0 * u * u)


@internal_uncounted
def power_series(n, work, out, settings, first, powers, start):
    """Row out = start + sum of the coefficients settings[first + 3 p] times heat^(p+1)."""
    if powers == 0:
        for k in range(n):
            work[out, k] = start
        return
    for k in range(n):
        work[out, k] = settings[first + 3 * (powers - 1)] * work[HEAT, k]
    for p in range(powers - 2, -1, -1):
        a = settings[first + 3 * p]
        for k in range(n):
            work[out, k] = (work[out, k] + a) * work[HEAT, k]
    for k in range(n):
        work[out, k] += start


@internal_uncounted
def mix(n, work, out, settings, matrix, rows):
    """Row out += the row of a matrix times three rows."""
    m0, m1, m2 = settings[matrix], settings[matrix + 1], settings[matrix + 2]
    for k in range(n):
        work[out, k] += m0 * work[rows, k] + m1 * work[rows + 1, k] + m2 * work[rows + 2, k]


@internal_uncounted
def clip_and_round(n, work, c, full_scale, resolution):
    """Readings as the part gives them, and in place of the scale where they were clipped. Halves go away from zero as
    MATLAB's round (rint takes them to the even)."""
    y, clipped = ERROR + c, SCALE + c
    for k in range(n):
        work[clipped, k] = 1.0 if abs(work[y, k]) > full_scale else 0.0
        work[y, k] = min(max(work[y, k], -full_scale), full_scale)
    if resolution > 0.0:
        for k in range(n):
            count = work[y, k] / resolution
            whole = np.rint(count)
            tie = abs(count - whole) == 0.5
            work[y, k] = (count + math.copysign(0.5, count) if tie else whole) * resolution


@internal_uncounted
def take(n, rows, row, skip, last, settings, memory, number, work):
    """n samples, every STRIDE-th row, behind the part's low-pass; the filter sees all rows from `row` to `last` - 1.

    number: 0 for the signal, 1 for the force. The value behind the filter at the last row goes into the memory.
    """
    filter_at, last_at, out = m.SIGNAL + 6 * number, m.SIGNAL_LAST + 3 * number, SIGNAL + 3 * number
    stride = int(settings[s.STRIDE])
    x, y, z = 0.0, 0.0, 0.0
    if settings[s.FILTERED] == 0.0:
        for k in range(n):
            i = row + skip + k * stride
            work[out, k], work[out + 1, k], work[out + 2, k] = rows[i, 0], rows[i, 1], rows[i, 2]
        x, y, z = rows[last - 1, 0], rows[last - 1, 1], rows[last - 1, 2]
    else:
        b0, b1, b2 = settings[s.LOWPASS], settings[s.LOWPASS + 1], settings[s.LOWPASS + 2]
        a1, a2 = settings[s.LOWPASS + 3], settings[s.LOWPASS + 4]
        p1, p2, q1 = memory[filter_at], memory[filter_at + 1], memory[filter_at + 2]
        q2, r1, r2 = memory[filter_at + 3], memory[filter_at + 4], memory[filter_at + 5]
        i = row
        for k in range(n + 1):
            end = row + skip + k * stride + 1 if k < n else last
            while i < end:
                # transposed form
                x, y, z = b0 * rows[i, 0] + p1, b0 * rows[i, 1] + q1, b0 * rows[i, 2] + r1
                # what does not wait for this output comes first: the loop is as slow as its longest chain
                p1, p2 = (b1 * rows[i, 0] + p2) - a1 * x, b2 * rows[i, 0] - a2 * x
                q1, q2 = (b1 * rows[i, 1] + q2) - a1 * y, b2 * rows[i, 1] - a2 * y
                r1, r2 = (b1 * rows[i, 2] + r2) - a1 * z, b2 * rows[i, 2] - a2 * z
                i += 1
            if k < n:
                work[out, k], work[out + 1, k], work[out + 2, k] = x, y, z
        memory[filter_at], memory[filter_at + 1], memory[filter_at + 2] = p1, p2, q1
        memory[filter_at + 3], memory[filter_at + 4], memory[filter_at + 5] = q2, r1, r2
    memory[last_at], memory[last_at + 1], memory[last_at + 2] = x, y, z


@internal_uncounted
def _rest_at(settings, memory, last_at, filter_at):
    """The filter's memory as if its last value had been there for ever."""
    b0, b2, a2 = settings[s.LOWPASS], settings[s.LOWPASS + 2], settings[s.LOWPASS + 4]
    for c in range(3):
        memory[filter_at + 2 * c] = memory[last_at + c] * (1.0 - b0)
        memory[filter_at + 2 * c + 1] = memory[last_at + c] * (b2 - a2)


@internal_uncounted
def begin(settings, memory, ideal, force, row):
    """The filters start in steady state, and go on from their last value if their coefficients have changed."""
    first = memory[m.STARTED] == 0.0
    changed = first
    for k in range(5):
        changed = changed or memory[m.LOWPASS + k] != settings[s.LOWPASS + k]
        memory[m.LOWPASS + k] = settings[s.LOWPASS + k]
    if first:
        memory[m.STARTED] = 1.0
        for c in range(3):
            memory[m.SIGNAL_LAST + c] = ideal[row, c]
            memory[m.FORCE_LAST + c] = force[row, c] if settings[s.FORCED] != 0.0 else 0.0
    if changed:
        _rest_at(settings, memory, m.SIGNAL_LAST, m.SIGNAL)
        _rest_at(settings, memory, m.FORCE_LAST, m.FORCE)


@internal_uncounted
def add_noise(n, settings, memory, ahead, work):
    """White noise, and the error of an angle read in whole steps, differenced."""
    if acts(settings, s.WHITE):
        w0, w1, w2 = settings[s.WHITE], settings[s.WHITE + 1], settings[s.WHITE + 2]
        used = int(memory[m.POSITION + m.WHITE])
        for k in range(n):
            work[ERROR, k] += w0 * ahead[m.WHITE, used + 3 * k]
            work[ERROR + 1, k] += w1 * ahead[m.WHITE, used + 3 * k + 1]
            work[ERROR + 2, k] += w2 * ahead[m.WHITE, used + 3 * k + 2]
        memory[m.POSITION + m.WHITE] += 3 * n
    if acts(settings, s.QUANTUM):
        q0, q1, q2 = settings[s.QUANTUM], settings[s.QUANTUM + 1], settings[s.QUANTUM + 2]
        used = int(memory[m.POSITION + m.QUANTUM])
        if memory[m.QUANTUM_STARTED] == 0.0:
            memory[m.QUANTUM_STARTED] = 1.0
            for c in range(3):
                memory[m.QUANTUM_LAST + c] = ahead[m.QUANTUM, used + c]
            used += 3
        ux, uy, uz = memory[m.QUANTUM_LAST], memory[m.QUANTUM_LAST + 1], memory[m.QUANTUM_LAST + 2]
        for k in range(n):
            vx, vy, vz = ahead[m.QUANTUM, used], ahead[m.QUANTUM, used + 1], ahead[m.QUANTUM, used + 2]
            used += 3
            work[ERROR, k] += q0 * (vx - ux)
            work[ERROR + 1, k] += q1 * (vy - uy)
            work[ERROR + 2, k] += q2 * (vz - uz)
            ux, uy, uz = vx, vy, vz
        memory[m.QUANTUM_LAST], memory[m.QUANTUM_LAST + 1], memory[m.QUANTUM_LAST + 2] = ux, uy, uz
        memory[m.POSITION + m.QUANTUM] = used


@internal_uncounted
def add_drift(n, settings, memory, ahead, work):
    """Instability and random walk."""
    unstable, walks = acts(settings, s.INSTABILITY), acts(settings, s.WALK)
    if not (unstable or walks):
        return
    drift = work[DRIFT : DRIFT + 3]
    if settings[s.MATLAB] != 0.0:
        matlab_block(n, settings, memory, ahead, drift)
    else:
        if unstable:
            instability_block(n, settings, memory, ahead[m.INSTABILITY], drift)
        else:
            drift[:, :n] = 0.0
        if walks:
            walk_block(n, settings, memory, ahead[m.WALK], drift)
    for c in range(3):
        for k in range(n):
            work[ERROR + c, k] += work[DRIFT + c, k]


@internal_uncounted
def arrive(n, row, settings, memory, ahead, t, work, out):
    """Which samples arrive, and what time their log shows; COUNT is how many are in out.

    Samples arrive in order: a stamp that jitter would put before its predecessor's is SHORTEST behind it. A lost sample
    has had its noise all the same: losses change no other reading.
    """
    stride, jitter, loss = int(settings[s.STRIDE]), settings[s.JITTER], settings[s.LOSS]
    jittered, lost = int(memory[m.POSITION + m.JITTER]), int(memory[m.POSITION + m.LOSS])
    count = int(memory[m.COUNT])
    for k in range(n):
        i = row + k * stride
        if loss > 0.0 and ahead[m.LOSS, lost + k] < loss:
            continue
        stamp = t[i] + settings[s.LATENCY]
        if jitter > 0.0:
            stamp = max(stamp + jitter * ahead[m.JITTER, jittered + k], memory[m.EARLIEST])
            memory[m.EARLIEST] = stamp + settings[s.SHORTEST]
        out[count, STAMP] = stamp
        for c in range(3):
            out[count, X + c] = work[ERROR + c, k]
            out[count, CLIPPED + c] = work[SCALE + c, k]
        out[count, ROW] = i
        count += 1
    memory[m.POSITION + m.JITTER] += n if jitter > 0.0 else 0
    memory[m.POSITION + m.LOSS] += n if loss > 0.0 else 0
    memory[m.COUNT] = count
