"""The errors of a three-axis sensor in one pass over the samples.

The pass goes on from a memory, so that a recording in one piece and rows that come one by one give the same bits. It
goes block by block: every term is a loop over a block that stays in the fastest cache, which the compiler can turn into
vector instructions. Every random term takes numbers that were drawn ahead from a generator of its own (SFC64 in use),
so that switching one on changes no other.
"""

import numpy as np
from numba import njit

from strapdown.kernels.jit import internal, internal_uncounted, pointer
from strapdown.kernels.sensors import chain_memory as m
from strapdown.kernels.sensors import chain_settings as s
from strapdown.kernels.sensors.chain_supply import good_rows, samples_in, supplied_rows
from strapdown.kernels.sensors.chain_terms import (
    CLIPPED,
    COLUMNS,
    ERROR,
    FORCE,
    HEAT,
    ROW,
    SCALE,
    SIGNAL,
    STAMP,
    WORK,
    X,
    add_drift,
    add_noise,
    add_nonlinearity,
    arrive,
    begin,
    clip_and_round,
    mix,
    power_series,
    take,
    turn,
)
from strapdown.kernels.sensors.draws import draw_normals, draw_uniforms
from strapdown.kernels.sensors.drift import acts

BLOCK = 256  # samples; 2 kB for each axis and quantity
AHEAD = 2 * 3 * BLOCK  # numbers drawn ahead for each random term, live: drawing them takes a while to begin
LACKS, BAD = -1, -2  # why a chunk was not read to its end


@internal_uncounted
def chain_rows(settings, memory, ahead, t, ideal, force, celsius, first, last, work, out):
    """True values to readings: rows first to last - 1, whose random numbers have been drawn.

    t (n), ideal, force (n, 3; (0, 3) without g-sensitivity), celsius (n, or 1 if constant). out: a table of readings,
    written from row COUNT of the memory on, which is then how many it has.
    """
    if first >= last:
        return
    begin(settings, memory, ideal, force, first)
    stride, full_scale = int(settings[s.STRIDE]), settings[s.FULL_SCALE]
    forced, scale_all = settings[s.FORCED] != 0.0, settings[s.MATLAB] != 0.0
    bias_powers, scale_powers = int(settings[s.BIAS_POWERS]), int(settings[s.SCALE_POWERS])
    samples = samples_in(settings, memory, last - first)
    done, row = 0, first
    while row < last:
        n, skip = min(BLOCK, samples - done), int(memory[m.SKIP])
        done += n
        end = last if done == samples else row + skip + (n - 1) * stride + 1
        for k in range(2 if forced else 1):  # the part's filter stands behind both
            take(n, force if k == 1 else ideal, row, skip, end, settings, memory, k, work)
        if settings[s.TURNED] != 0.0:
            turn(n, work, settings)
        sampled = row + skip
        if bias_powers + scale_powers > 0:
            for k in range(n):
                warm = celsius[sampled + k * stride] if len(celsius) > 1 else celsius[0]
                work[HEAT, k] = warm - settings[s.REFERENCE_C]
        for c in range(3):
            if settings[s.NONLINEARITY + c] != 0.0:
                add_nonlinearity(n, work, c, settings[s.NONLINEARITY + c], 1.0 / full_scale)
        for c in range(3):
            offset = settings[s.BIAS + c] + settings[s.TURN_ON + c] * memory[m.TURN_ON + c]
            power_series(n, work, ERROR + c, settings, s.PARTS + c, bias_powers, offset)
            power_series(n, work, SCALE + c, settings, s.PARTS + 3 * bias_powers + c, scale_powers, 1.0)
            if forced:
                mix(n, work, ERROR + c, settings, s.G_MATRIX + 3 * c, FORCE)
        add_noise(n, settings, memory, ahead, work)
        add_drift(n, settings, memory, ahead, work)
        for c in range(3):
            m0, m1, m2 = settings[s.MATRIX + 3 * c], settings[s.MATRIX + 3 * c + 1], settings[s.MATRIX + 3 * c + 2]
            if scale_all:
                mix(n, work, ERROR + c, settings, s.MATRIX + 3 * c, SIGNAL)
                for k in range(n):
                    work[ERROR + c, k] *= work[SCALE + c, k]
            else:
                for k in range(n):
                    true = m0 * work[SIGNAL, k] + m1 * work[SIGNAL + 1, k] + m2 * work[SIGNAL + 2, k]
                    work[ERROR + c, k] += work[SCALE + c, k] * true
            clip_and_round(n, work, c, full_scale, settings[s.RESOLUTION])
        arrive(n, sampled, settings, memory, ahead, t, work, out)
        memory[m.SKIP] = sampled + n * stride - end
        row = end
    memory[m.TIME] = t[last - 1]


@internal
def _make_space(memory, ahead, term):
    """Move the numbers not yet used to the front; those behind them are to be drawn."""
    numbers, used = ahead[term], int(memory[m.POSITION + term])
    for k in range(len(numbers) - used):
        numbers[k] = numbers[used + k]
    memory[m.POSITION + term] = 0.0
    return numbers[len(numbers) - used :]


@internal
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
    row, count, rows, own, kept_memory = int(memory[m.NEXT_ROW]), 0, len(ideal), pointer(settings), pointer(memory)
    while row < rows:
        end = min(rows, row + int(memory[m.SKIP]) + 1 + (BLOCK - 1) * int(settings[s.STRIDE]))
        good = good_rows(own, kept_memory, t, ideal, force, celsius, row, end)
        if supplied_rows(own, kept_memory, ahead, good - row) < good - row:
            _fill_ahead(own, kept_memory, ahead, white, instability, walk, quantum, jitter, loss)
        last = row + supplied_rows(own, kept_memory, ahead, good - row)
        memory[m.COUNT] = 0.0
        chain_rows(own, kept_memory, ahead, t, ideal, force, celsius, row, last, work, table)
        arrived = int(memory[m.COUNT])
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
