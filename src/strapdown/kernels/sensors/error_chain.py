"""The errors of a three-axis sensor in one pass over the samples; the order is that of docs/errors.md.

The pass goes on from a memory, so that a recording in one piece and rows that come one by one give the same bits. It
goes block by block: every term is a loop over a block that stays in the fastest cache, which the compiler can turn into
vector instructions. Every random term takes numbers that were drawn ahead from a generator of its own (SFC64 in use),
so that switching one on changes no other.
"""

import math

import numpy as np
from numba import njit

from strapdown.kernels.sensors import chain_memory as m
from strapdown.kernels.sensors import chain_settings as s
from strapdown.kernels.sensors.drift import acts, instability_block, instability_supplied, matlab_block, walk_block

BLOCK = 256  # samples; 2 kB for each axis and quantity
AHEAD = 3 * BLOCK  # numbers drawn ahead for each random term
# columns of a table of readings: stamp (s), x, y, z, 1 where an axis is clipped, row of the input
STAMP, X, CLIPPED, ROW, COLUMNS = 0, 1, 4, 7, 8
LACKS, BAD = -1, -2  # why a chunk was not read to its end
_ULPS = 4.0 * 2.220446049250313e-16  # roundoff of two times


# rows of a block's work, a column for each sample: x, y, z of each, and the temperature
_SIGNAL, _FORCE, _ERROR, _SCALE, _DRIFT, _HEAT, WORK = 0, 3, 6, 9, 12, 15, 16


@njit(cache=True)
def _add_nonlinearity(n, work, c, size, per_full_scale):
    """Subtract size * T3(x / full_scale): a cubic with peaks of +-size, no straight part, flatter towards the ends."""
    for k in range(n):
        u = min(max(work[_SIGNAL + c, k] * per_full_scale, -1.0), 1.0)
        work[_SIGNAL + c, k] += size * u * (3.0 - 4.0 * u * u)


@njit(cache=True)
def _power_series(n, work, out, settings, first, powers, start):
    """Row out = start + sum of the coefficients settings[first + 3 p] times heat^(p+1)."""
    if powers == 0:
        for k in range(n):
            work[out, k] = start
        return
    for k in range(n):
        work[out, k] = settings[first + 3 * (powers - 1)] * work[_HEAT, k]
    for p in range(powers - 2, -1, -1):
        a = settings[first + 3 * p]
        for k in range(n):
            work[out, k] = (work[out, k] + a) * work[_HEAT, k]
    for k in range(n):
        work[out, k] += start


@njit(cache=True)
def _mix(n, work, out, settings, matrix, rows):
    """Row out += the row of a matrix times three rows."""
    m0, m1, m2 = settings[matrix], settings[matrix + 1], settings[matrix + 2]
    for k in range(n):
        work[out, k] += m0 * work[rows, k] + m1 * work[rows + 1, k] + m2 * work[rows + 2, k]


@njit(cache=True)
def _clip_and_round(n, work, c, full_scale, resolution):
    """Readings as the part gives them, and in place of the scale where they were clipped. Halves go away from zero as
    MATLAB's round (rint takes them to the even)."""
    y, clipped = _ERROR + c, _SCALE + c
    for k in range(n):
        work[clipped, k] = 1.0 if abs(work[y, k]) > full_scale else 0.0
        work[y, k] = min(max(work[y, k], -full_scale), full_scale)
    if resolution > 0.0:
        for k in range(n):
            count = work[y, k] / resolution
            whole = np.rint(count)
            tie = abs(count - whole) == 0.5
            work[y, k] = (count + math.copysign(0.5, count) if tie else whole) * resolution


@njit(cache=True)
def _take(n, rows, row, skip, last, settings, memory, filter_at, last_at, work, out):
    """n samples, every STRIDE-th row, behind the part's low-pass; the filter sees all rows from `row` to `last` - 1.

    The value behind the filter at the last row goes into the memory.
    """
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


@njit(cache=True)
def _rest_at(settings, memory, last_at, filter_at):
    """The filter's memory as if its last value had been there for ever."""
    b0, b2, a2 = settings[s.LOWPASS], settings[s.LOWPASS + 2], settings[s.LOWPASS + 4]
    for c in range(3):
        memory[filter_at + 2 * c] = memory[last_at + c] * (1.0 - b0)
        memory[filter_at + 2 * c + 1] = memory[last_at + c] * (b2 - a2)


@njit(cache=True)
def _begin(settings, memory, ideal, force, row):
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


@njit(cache=True)
def _add_noise(n, settings, memory, ahead, work):
    """White noise, and the error of an angle read in whole steps, differenced."""
    if acts(settings, s.WHITE):
        w0, w1, w2 = settings[s.WHITE], settings[s.WHITE + 1], settings[s.WHITE + 2]
        used = int(memory[m.POSITION + m.WHITE])
        for k in range(n):
            work[_ERROR, k] += w0 * ahead[m.WHITE, used + 3 * k]
            work[_ERROR + 1, k] += w1 * ahead[m.WHITE, used + 3 * k + 1]
            work[_ERROR + 2, k] += w2 * ahead[m.WHITE, used + 3 * k + 2]
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
            work[_ERROR, k] += q0 * (vx - ux)
            work[_ERROR + 1, k] += q1 * (vy - uy)
            work[_ERROR + 2, k] += q2 * (vz - uz)
            ux, uy, uz = vx, vy, vz
        memory[m.QUANTUM_LAST], memory[m.QUANTUM_LAST + 1], memory[m.QUANTUM_LAST + 2] = ux, uy, uz
        memory[m.POSITION + m.QUANTUM] = used


@njit(cache=True)
def _add_drift(n, settings, memory, ahead, work):
    """Instability and random walk."""
    unstable, walks = acts(settings, s.INSTABILITY), acts(settings, s.WALK)
    if not (unstable or walks):
        return
    drift = work[_DRIFT : _DRIFT + 3]
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
            work[_ERROR + c, k] += work[_DRIFT + c, k]


@njit(cache=True)
def _arrive(n, row, settings, memory, ahead, t, work, out, count):
    """Which samples arrive, and what time their log shows; returns how many are in out then.

    Samples arrive in order: a stamp that jitter would put before its predecessor's is SHORTEST behind it. A lost sample
    has had its noise all the same: losses change no other reading.
    """
    stride, jitter, loss = int(settings[s.STRIDE]), settings[s.JITTER], settings[s.LOSS]
    jittered, lost = int(memory[m.POSITION + m.JITTER]), int(memory[m.POSITION + m.LOSS])
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
            out[count, X + c] = work[_ERROR + c, k]
            out[count, CLIPPED + c] = work[_SCALE + c, k]
        out[count, ROW] = i
        count += 1
    memory[m.POSITION + m.JITTER] += n if jitter > 0.0 else 0
    memory[m.POSITION + m.LOSS] += n if loss > 0.0 else 0
    return count


@njit(cache=True)
def samples_in(settings, memory, rows):
    """How many samples the next rows bring."""
    skip, stride = int(memory[m.SKIP]), int(settings[s.STRIDE])
    return 0 if rows <= skip else (rows - 1 - skip) // stride + 1


@njit(cache=True)
def supplied_rows(settings, memory, ahead, rows):
    """How many of the next rows find all their random numbers among those drawn ahead."""
    wanted, width = samples_in(settings, memory, rows), ahead.shape[1]
    n = wanted
    physical = settings[s.MATLAB] == 0.0
    left = width - int(memory[m.POSITION + m.WHITE])
    if acts(settings, s.WHITE):
        n = min(n, left // 3)
    if acts(settings, s.QUANTUM):
        first = 3 if memory[m.QUANTUM_STARTED] == 0.0 else 0
        n = min(n, max(width - int(memory[m.POSITION + m.QUANTUM]) - first, 0) // 3)
    if acts(settings, s.WALK):
        first = 3 if physical and memory[m.WALK_STARTED] == 0.0 else 0
        n = min(n, max(width - int(memory[m.POSITION + m.WALK]) - first, 0) // 3)
    if settings[s.JITTER] > 0.0:
        n = min(n, width - int(memory[m.POSITION + m.JITTER]))
    if settings[s.LOSS] > 0.0:
        n = min(n, width - int(memory[m.POSITION + m.LOSS]))
    if acts(settings, s.INSTABILITY):
        left = width - int(memory[m.POSITION + m.INSTABILITY])
        n = instability_supplied(n, settings, memory, left) if physical else min(n, left // 3)
    return rows if n == wanted else int(memory[m.SKIP]) + n * int(settings[s.STRIDE])


@njit(cache=True)
def good_rows(settings, memory, t, ideal, force, celsius, first, last):
    """Where the first row stands that is not finite, not in time, or beyond the limits of temperature; else last."""
    forced, before = settings[s.FORCED] != 0.0, memory[m.TIME]
    for i in range(first, last):
        # 0 times inf or NaN is NaN, and so is its sum with anything
        if 0.0 * ideal[i, 0] + 0.0 * ideal[i, 1] + 0.0 * ideal[i, 2] != 0.0:
            return i
        if forced and 0.0 * force[i, 0] + 0.0 * force[i, 1] + 0.0 * force[i, 2] != 0.0:
            return i
    if settings[s.UNEVEN] < math.inf:
        for i in range(first, last):
            even = abs(t[i] - before - settings[s.STEP]) <= settings[s.UNEVEN] + _ULPS * abs(t[i])
            begins = memory[m.STARTED] == 0.0 and i == first and abs(t[i]) < math.inf
            if not (even or begins):
                return i
            before = t[i]
    low, high = settings[s.LOW_C], settings[s.HIGH_C]
    if len(celsius) == 1:
        return last if low <= celsius[0] <= high else first
    for i in range(first, last):
        if not low <= celsius[i] <= high:
            return i
    return last


@njit(cache=True)
def new_work(settings, memory, rows):
    """Space for chain_rows."""
    return np.empty((WORK, min(BLOCK, samples_in(settings, memory, rows))))


@njit(cache=True)
def chain_rows(settings, memory, ahead, t, ideal, force, celsius, first, last, work, out, count):
    """True values to readings: rows first to last - 1, whose random numbers have been drawn.

    t (n), ideal, force (n, 3; (0, 3) without g-sensitivity), celsius (n, or 1 if constant). out: a table of readings,
    written from row `count` on; returns how many it has then.
    """
    if first >= last:
        return count
    _begin(settings, memory, ideal, force, first)
    stride, full_scale = int(settings[s.STRIDE]), settings[s.FULL_SCALE]
    forced, scale_all = settings[s.FORCED] != 0.0, settings[s.MATLAB] != 0.0
    bias_powers, scale_powers = int(settings[s.BIAS_POWERS]), int(settings[s.SCALE_POWERS])
    samples = samples_in(settings, memory, last - first)
    done, row = 0, first
    while row < last:
        n, skip = min(BLOCK, samples - done), int(memory[m.SKIP])
        done += n
        end = last if done == samples else row + skip + (n - 1) * stride + 1
        _take(n, ideal, row, skip, end, settings, memory, m.SIGNAL, m.SIGNAL_LAST, work, _SIGNAL)
        if forced:  # the part's filter stands behind both
            _take(n, force, row, skip, end, settings, memory, m.FORCE, m.FORCE_LAST, work, _FORCE)
        sampled = row + skip
        if bias_powers + scale_powers > 0:
            for k in range(n):
                warm = celsius[sampled + k * stride] if len(celsius) > 1 else celsius[0]
                work[_HEAT, k] = warm - settings[s.REFERENCE_C]
        for c in range(3):
            if settings[s.NONLINEARITY + c] != 0.0:
                _add_nonlinearity(n, work, c, settings[s.NONLINEARITY + c], 1.0 / full_scale)
        for c in range(3):
            offset = settings[s.BIAS + c] + settings[s.TURN_ON + c] * memory[m.TURN_ON + c]
            _power_series(n, work, _ERROR + c, settings, s.PARTS + c, bias_powers, offset)
            _power_series(n, work, _SCALE + c, settings, s.PARTS + 3 * bias_powers + c, scale_powers, 1.0)
            if forced:
                _mix(n, work, _ERROR + c, settings, s.G_MATRIX + 3 * c, _FORCE)
        _add_noise(n, settings, memory, ahead, work)
        _add_drift(n, settings, memory, ahead, work)
        for c in range(3):
            m0, m1, m2 = settings[s.MATRIX + 3 * c], settings[s.MATRIX + 3 * c + 1], settings[s.MATRIX + 3 * c + 2]
            if scale_all:
                _mix(n, work, _ERROR + c, settings, s.MATRIX + 3 * c, _SIGNAL)
                for k in range(n):
                    work[_ERROR + c, k] *= work[_SCALE + c, k]
            else:
                for k in range(n):
                    true = m0 * work[_SIGNAL, k] + m1 * work[_SIGNAL + 1, k] + m2 * work[_SIGNAL + 2, k]
                    work[_ERROR + c, k] += work[_SCALE + c, k] * true
            _clip_and_round(n, work, c, full_scale, settings[s.RESOLUTION])
        count = _arrive(n, sampled, settings, memory, ahead, t, work, out, count)
        memory[m.SKIP] = sampled + n * stride - end
        row = end
    memory[m.TIME] = t[last - 1]
    return count


@njit(cache=True)
def _make_space(memory, ahead, term):
    """Move the numbers not yet used to the front; those behind them are to be drawn."""
    numbers, used = ahead[term], int(memory[m.POSITION + term])
    for k in range(len(numbers) - used):
        numbers[k] = numbers[used + k]
    memory[m.POSITION + term] = 0.0
    return numbers[len(numbers) - used :]


@njit(cache=True)
def _fill_ahead(settings, memory, ahead, white, instability, walk, quantum, jitter, loss):
    """Draw the numbers of all terms that act, each from its own generator, behind those not yet used."""
    if acts(settings, s.WHITE):
        draw_normals(white, _make_space(memory, ahead, m.WHITE))
    if acts(settings, s.INSTABILITY):
        draw_normals(instability, _make_space(memory, ahead, m.INSTABILITY))
    if acts(settings, s.WALK):
        draw_normals(walk, _make_space(memory, ahead, m.WALK))
    if acts(settings, s.QUANTUM):
        draw_uniforms(quantum, _make_space(memory, ahead, m.QUANTUM))
    if settings[s.JITTER] > 0.0:
        draw_normals(jitter, _make_space(memory, ahead, m.JITTER))
    if settings[s.LOSS] > 0.0:
        draw_uniforms(loss, _make_space(memory, ahead, m.LOSS))


@njit(cache=True, nogil=True)
def draw_normals(rng, out):
    """Standard normal numbers."""
    for k in range(len(out)):
        out[k] = rng.standard_normal()


@njit(cache=True, nogil=True)
def draw_uniforms(rng, out):
    """Numbers from 0 to 1."""
    for k in range(len(out)):
        out[k] = rng.random()


@njit(cache=True)
def read_rows(settings, memory, ahead, t, ideal, force, celsius, out):
    """A chunk of rows, live: returns how many readings arrived.

    LACKS: the random numbers of NEXT_ROW must be drawn; called again, it goes on there. BAD: NEXT_ROW is not good.
    """
    row, count, rows = int(memory[m.NEXT_ROW]), int(memory[m.COUNT]), len(t)
    while row < rows:
        end = min(rows, row + BLOCK * int(settings[s.STRIDE]))
        good = good_rows(settings, memory, t, ideal, force, celsius, row, end)
        last = row + supplied_rows(settings, memory, ahead, good - row)
        work = new_work(settings, memory, last - row)
        count = chain_rows(settings, memory, ahead, t, ideal, force, celsius, row, last, work, out, count)
        row = last
        if last < end:
            memory[m.NEXT_ROW], memory[m.COUNT] = row, count
            return LACKS if last < good else BAD
    memory[m.NEXT_ROW] = memory[m.COUNT] = 0.0
    return count


@njit(cache=True, nogil=True)
def measure_rows(
    settings,
    memory,
    ahead,
    white,
    instability,
    walk,
    quantum,
    jitter,
    loss,
    t,
    ideal,
    force,
    celsius,
    stamps,  # out, (samples,)
    values,  # out, (samples, 3)
    clipped,  # out, (samples, 3)
    kept,  # out, (samples,): their rows of the input
):
    """A whole recording: returns the next row and how many readings arrived; the row is the last unless one is bad."""
    table, work = np.empty((BLOCK, COLUMNS)), np.empty((WORK, BLOCK))
    row, count, rows = 0, 0, len(ideal)
    while row < rows:
        end = min(rows, row + int(memory[m.SKIP]) + 1 + (BLOCK - 1) * int(settings[s.STRIDE]))
        good = good_rows(settings, memory, t, ideal, force, celsius, row, end)
        if supplied_rows(settings, memory, ahead, good - row) < good - row:
            _fill_ahead(settings, memory, ahead, white, instability, walk, quantum, jitter, loss)
        last = row + supplied_rows(settings, memory, ahead, good - row)
        arrived = chain_rows(settings, memory, ahead, t, ideal, force, celsius, row, last, work, table, 0)
        for k in range(arrived):
            stamps[count + k] = table[k, STAMP]
            kept[count + k] = int(table[k, ROW])
            for c in range(3):
                values[count + k, c] = table[k, X + c]
                clipped[count + k, c] = table[k, CLIPPED + c] != 0.0
        count += arrived
        row = last
        if good < end:
            break
    return row, count


@njit(cache=True, nogil=True)
def first_uneven(t, step, allowed):
    """Index of the first time that is not `step` after the one before, within `allowed`; -1 if there is none."""
    for i in range(1, len(t)):
        if not abs(t[i] - t[i - 1] - step) <= allowed:
            return i
    return -1
