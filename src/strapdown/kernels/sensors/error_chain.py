"""The errors of a three-axis sensor in one pass over the samples.

The pass continues from a memory. So a recording in one piece and rows that come one by one give the same bits. It works
block by block. Every term is a loop over a block that stays in the fastest cache, which the compiler can turn into
vector instructions. Every random term takes numbers that were drawn in advance from its own generator (SFC64 in use).
So switching one on changes no other.
"""

from strapdown.kernels.jit import internal_uncounted, not_constant
from strapdown.kernels.sensors import chain_memory as m
from strapdown.kernels.sensors import chain_settings as s
from strapdown.kernels.sensors.chain_supply import samples_in
from strapdown.kernels.sensors.chain_terms import (
    ERROR,
    FORCE,
    HEAT,
    SCALE,
    SIGNAL,
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
from strapdown.kernels.sensors.drift import BLOCK, WIDTH


@internal_uncounted
def chain_rows(settings, memory, ahead, width, t, ideal, force, celsius, varies, first, last, work, out, table):
    """True values to readings: rows first to last - 1, whose random numbers have been drawn.

    t, ideal, force, celsius: rows of the input. Without g-sensitivity only the first row of force is used. Unless it
        varies, only the first row of celsius is used.
    out, table: the table of readings begins at out[table]. It is written from row COUNT of the memory on; COUNT is then
        its number of rows.
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
                warm = celsius[sampled + k * stride] if varies else celsius[0]
                work[HEAT + k] = warm - settings[s.REFERENCE_C]
        for c in range(3):
            y, scale = ERROR + c * WIDTH, SCALE + c * WIDTH
            if settings[s.NONLINEARITY + c] != 0.0:
                add_nonlinearity(n, work, SIGNAL + c * WIDTH, settings[s.NONLINEARITY + c], 1.0 / full_scale)
            offset = settings[s.BIAS + c] + settings[s.TURN_ON + c] * memory[m.TURN_ON + c]
            for k in range(2):  # bias, and scale
                powers = scale_powers if k == 1 else bias_powers
                begins = s.PARTS + c + 3 * k * bias_powers
                power_series(n, work, scale if k == 1 else y, settings, begins, powers, 1.0 if k == 1 else offset)
            if forced:
                mix(n, work, y, settings, s.G_MATRIX + 3 * c, not_constant(FORCE))
        add_noise(n, settings, memory, ahead, width, work)
        add_drift(n, settings, memory, ahead, width, work)
        for c in range(3):
            y, scale, matrix = ERROR + c * WIDTH, SCALE + c * WIDTH, s.MATRIX + 3 * c
            if scale_all:
                mix(n, work, y, settings, matrix, not_constant(SIGNAL))
                for k in range(n):
                    work[y + k] *= work[scale + k]
            else:
                m0, m1, m2 = settings[matrix], settings[matrix + 1], settings[matrix + 2]
                for k in range(n):
                    true = m0 * work[SIGNAL + k] + m1 * work[SIGNAL + WIDTH + k] + m2 * work[SIGNAL + 2 * WIDTH + k]
                    work[y + k] += work[scale + k] * true
            clip_and_round(n, work, y, scale, full_scale, settings[s.RESOLUTION])
        arrive(n, sampled, settings, memory, ahead, width, t, work, out, table)
        memory[m.SKIP] = sampled + n * stride - end
        row = end
    memory[m.TIME] = t[last - 1]
