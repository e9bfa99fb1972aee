"""The terms of the error chain, each a loop over a block of samples in `work`; the order is that of docs/errors.md.

Tables are passed as the address of their first number. Rows of readings have three numbers, numbers drawn in advance
`width` for each term, and `work` WIDTH for each of its rows.
"""

import math

import numpy as np

from strapdown.kernels.jit import internal_uncounted
from strapdown.kernels.sensors import chain_memory as m
from strapdown.kernels.sensors import chain_settings as s
from strapdown.kernels.sensors.drift import DRIFT, WIDTH, acts, instability_block, matlab_block, walk_block

# columns of a table of readings: stamp (s), x, y, z, 1 where an axis is clipped, row of the input
STAMP, X, CLIPPED, ROW, COLUMNS = 0, 1, 4, 7, 8
# rows of a block's work, a column for each sample: x, y, z of each, and the temperature; DRIFT stands in drift.py
SIGNAL, FORCE, ERROR, SCALE, HEAT = 0, 3 * WIDTH, 6 * WIDTH, 9 * WIDTH, 15 * WIDTH
WORK = 16 * WIDTH


@internal_uncounted
def turn(n, work, settings):
    """The signal in the instrument's own axes: v_module = AXES @ v_instrument."""
    a = s.AXES
    for k in range(n):
        x, y, z = work[SIGNAL + k], work[SIGNAL + WIDTH + k], work[SIGNAL + 2 * WIDTH + k]
        work[SIGNAL + k] = x * settings[a] + y * settings[a + 3] + z * settings[a + 6]
        work[SIGNAL + WIDTH + k] = x * settings[a + 1] + y * settings[a + 4] + z * settings[a + 7]
        work[SIGNAL + 2 * WIDTH + k] = x * settings[a + 2] + y * settings[a + 5] + z * settings[a + 8]


@internal_uncounted
def add_nonlinearity(n, work, signal, size, per_full_scale):
    """Subtract size * T3(x / full_scale): a cubic with peaks of +-size, without a linear part, flatter towards the
    ends.
    """
    for k in range(signal, signal + n):
        u = min(max(work[k] * per_full_scale, -1.0), 1.0)
        work[k] += size * u * (3.0 - 4.0 * u * u)


@internal_uncounted
def power_series(n, work, out, settings, first, powers, start):
    """Row out = start + sum of the coefficients settings[first + 3 p] times heat^(p+1)."""
    if powers == 0:
        for k in range(n):
            work[out + k] = start
        return
    for k in range(n):
        work[out + k] = settings[first + 3 * (powers - 1)] * work[HEAT + k]
    for p in range(powers - 2, -1, -1):
        a = settings[first + 3 * p]
        for k in range(n):
            work[out + k] = (work[out + k] + a) * work[HEAT + k]
    for k in range(n):
        work[out + k] += start


@internal_uncounted
def mix(n, work, out, settings, matrix, rows):
    """Row out += the row of a matrix times three rows."""
    m0, m1, m2 = settings[matrix], settings[matrix + 1], settings[matrix + 2]
    for k in range(n):
        work[out + k] += m0 * work[rows + k] + m1 * work[rows + WIDTH + k] + m2 * work[rows + 2 * WIDTH + k]


@internal_uncounted
def clip_and_round(n, work, y, clipped, full_scale, resolution):
    """Clip and round the readings, and flag the clipped ones. Halves are rounded away from
    zero as MATLAB's round (rint takes them to the even).
    """
    for k in range(n):
        work[clipped + k] = 1.0 if abs(work[y + k]) > full_scale else 0.0
        work[y + k] = min(max(work[y + k], -full_scale), full_scale)
    if resolution > 0.0:
        for k in range(n):
            count = work[y + k] / resolution
            whole = np.rint(count)
            tie = abs(count - whole) == 0.5
            work[y + k] = (count + math.copysign(0.5, count) if tie else whole) * resolution


@internal_uncounted
def take(n, rows, row, skip, last, settings, memory, number, work):
    """Take n samples, every STRIDE-th row, behind the part's low-pass; the filter uses all rows from `row` to `last` -
    1.

    number: 0 for the signal, 1 for the force. The value behind the filter at the last row goes into the memory.
    """
    filter_at, last_at, out = m.SIGNAL + 6 * number, m.SIGNAL_LAST + 3 * number, SIGNAL + FORCE * number
    stride = int(settings[s.STRIDE])
    x, y, z = 0.0, 0.0, 0.0
    if settings[s.FILTERED] == 0.0:
        i = 3 * (row + skip)
        for k in range(out, out + n):
            work[k], work[k + WIDTH], work[k + 2 * WIDTH] = rows[i], rows[i + 1], rows[i + 2]
            i += 3 * stride
        i = 3 * (last - 1)
        x, y, z = rows[i], rows[i + 1], rows[i + 2]
    else:
        b0, b1, b2 = settings[s.LOWPASS], settings[s.LOWPASS + 1], settings[s.LOWPASS + 2]
        a1, a2 = settings[s.LOWPASS + 3], settings[s.LOWPASS + 4]
        p1, p2, q1 = memory[filter_at], memory[filter_at + 1], memory[filter_at + 2]
        q2, r1, r2 = memory[filter_at + 3], memory[filter_at + 4], memory[filter_at + 5]
        i = 3 * row
        for k in range(n + 1):
            end = 3 * (row + skip + k * stride + 1 if k < n else last)
            while i < end:
                # transposed form
                x, y, z = b0 * rows[i] + p1, b0 * rows[i + 1] + q1, b0 * rows[i + 2] + r1
                # what does not wait for this output comes first: the loop is as slow as its longest chain
                p1, p2 = (b1 * rows[i] + p2) - a1 * x, b2 * rows[i] - a2 * x
                q1, q2 = (b1 * rows[i + 1] + q2) - a1 * y, b2 * rows[i + 1] - a2 * y
                r1, r2 = (b1 * rows[i + 2] + r2) - a1 * z, b2 * rows[i + 2] - a2 * z
                i += 3
            if k < n:
                work[out + k], work[out + WIDTH + k], work[out + 2 * WIDTH + k] = x, y, z
        memory[filter_at], memory[filter_at + 1], memory[filter_at + 2] = p1, p2, q1
        memory[filter_at + 3], memory[filter_at + 4], memory[filter_at + 5] = q2, r1, r2
    memory[last_at], memory[last_at + 1], memory[last_at + 2] = x, y, z


@internal_uncounted
def _rest_at(settings, memory, last_at, filter_at):
    """The filter's memory as if its last value had been constant."""
    b0, b2, a2 = settings[s.LOWPASS], settings[s.LOWPASS + 2], settings[s.LOWPASS + 4]
    for c in range(3):
        memory[filter_at + 2 * c] = memory[last_at + c] * (1.0 - b0)
        memory[filter_at + 2 * c + 1] = memory[last_at + c] * (b2 - a2)


@internal_uncounted
def begin(settings, memory, ideal, force, row):
    """The filters start in steady state, and continue from their last value if their coefficients have changed."""
    first = memory[m.STARTED] == 0.0
    changed = first
    for k in range(5):
        changed = changed or memory[m.LOWPASS + k] != settings[s.LOWPASS + k]
        memory[m.LOWPASS + k] = settings[s.LOWPASS + k]
    if first:
        memory[m.STARTED] = 1.0
        for c in range(3):
            memory[m.SIGNAL_LAST + c] = ideal[3 * row + c]
            memory[m.FORCE_LAST + c] = force[3 * row + c] if settings[s.FORCED] != 0.0 else 0.0
    if changed:
        for number in range(2):
            _rest_at(settings, memory, m.SIGNAL_LAST + 3 * number, m.SIGNAL + 6 * number)


@internal_uncounted
def add_noise(n, settings, memory, ahead, width, work):
    """White noise, and the error of an angle read in whole steps, differenced."""
    if acts(settings, s.WHITE):
        w0, w1, w2 = settings[s.WHITE], settings[s.WHITE + 1], settings[s.WHITE + 2]
        used = int(memory[m.POSITION + m.WHITE]) + m.WHITE * width
        for k in range(n):
            work[ERROR + k] += w0 * ahead[used + 3 * k]
            work[ERROR + WIDTH + k] += w1 * ahead[used + 3 * k + 1]
            work[ERROR + 2 * WIDTH + k] += w2 * ahead[used + 3 * k + 2]
        memory[m.POSITION + m.WHITE] += 3 * n
    if acts(settings, s.QUANTUM):
        q0, q1, q2 = settings[s.QUANTUM], settings[s.QUANTUM + 1], settings[s.QUANTUM + 2]
        used = int(memory[m.POSITION + m.QUANTUM]) + m.QUANTUM * width
        if memory[m.QUANTUM_STARTED] == 0.0:
            memory[m.QUANTUM_STARTED] = 1.0
            for c in range(3):
                memory[m.QUANTUM_LAST + c] = ahead[used + c]
            used += 3
        ux, uy, uz = memory[m.QUANTUM_LAST], memory[m.QUANTUM_LAST + 1], memory[m.QUANTUM_LAST + 2]
        for k in range(n):
            vx, vy, vz = ahead[used], ahead[used + 1], ahead[used + 2]
            used += 3
            work[ERROR + k] += q0 * (vx - ux)
            work[ERROR + WIDTH + k] += q1 * (vy - uy)
            work[ERROR + 2 * WIDTH + k] += q2 * (vz - uz)
            ux, uy, uz = vx, vy, vz
        memory[m.QUANTUM_LAST], memory[m.QUANTUM_LAST + 1], memory[m.QUANTUM_LAST + 2] = ux, uy, uz
        memory[m.POSITION + m.QUANTUM] = used - m.QUANTUM * width


@internal_uncounted
def add_drift(n, settings, memory, ahead, width, work):
    """Add instability and random walk."""
    unstable, walks = acts(settings, s.INSTABILITY), acts(settings, s.WALK)
    if not (unstable or walks):
        return
    if settings[s.MATLAB] != 0.0:
        matlab_block(n, settings, memory, ahead, width, work)
    else:
        if unstable:
            instability_block(n, settings, memory, ahead, width, work)
        else:
            for k in range(n):
                work[DRIFT + k] = work[DRIFT + WIDTH + k] = work[DRIFT + 2 * WIDTH + k] = 0.0
        if walks:
            walk_block(n, settings, memory, ahead, width, work)
    for k in range(n):
        work[ERROR + k] += work[DRIFT + k]
        work[ERROR + WIDTH + k] += work[DRIFT + WIDTH + k]
        work[ERROR + 2 * WIDTH + k] += work[DRIFT + 2 * WIDTH + k]


@internal_uncounted
def arrive(n, row, settings, memory, ahead, width, t, work, out, table):
    """Decide which samples arrive, and their time in the log. The table begins at out[table]; COUNT is its number of
    rows.

    Samples arrive in order: a stamp that jitter would put before the previous one is SHORTEST behind it. A lost sample
    uses its random numbers too: losses change no other reading.
    """
    stride, jitter, loss = int(settings[s.STRIDE]), settings[s.JITTER], settings[s.LOSS]
    jittered = int(memory[m.POSITION + m.JITTER]) + m.JITTER * width
    lost = int(memory[m.POSITION + m.LOSS]) + m.LOSS * width
    at = table + int(memory[m.COUNT]) * COLUMNS
    for k in range(n):
        i = row + k * stride
        if loss > 0.0 and ahead[lost + k] < loss:
            continue
        stamp = t[i] + settings[s.LATENCY]
        if jitter > 0.0:
            stamp = max(stamp + jitter * ahead[jittered + k], memory[m.EARLIEST])
            memory[m.EARLIEST] = stamp + settings[s.SHORTEST]
        out[at + STAMP], out[at + ROW] = stamp, i
        y, clipped = ERROR + k, SCALE + k
        out[at + X], out[at + X + 1], out[at + X + 2] = work[y], work[y + WIDTH], work[y + 2 * WIDTH]
        out[at + CLIPPED], out[at + CLIPPED + 1] = work[clipped], work[clipped + WIDTH]
        out[at + CLIPPED + 2] = work[clipped + 2 * WIDTH]
        at += COLUMNS
    memory[m.POSITION + m.JITTER] += n if jitter > 0.0 else 0
    memory[m.POSITION + m.LOSS] += n if loss > 0.0 else 0
    memory[m.COUNT] = (at - table) // COLUMNS
