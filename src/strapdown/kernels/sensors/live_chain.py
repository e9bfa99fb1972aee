"""The error chains of one instrument, or of the instruments of a module, over a chunk of rows, down to one.

One kernel for both, live and recorded: the chain takes long to compile, and a second kernel would compile it again.
"""

import math

from strapdown.kernels.jit import live_unlocked, offset, pointer, row, space
from strapdown.kernels.sensors import chain_memory as m
from strapdown.kernels.sensors import chain_settings as s
from strapdown.kernels.sensors.chain_supply import good_rows, supplied_rows
from strapdown.kernels.sensors.chain_terms import CLIPPED, COLUMNS, ROW, STAMP, WORK, X
from strapdown.kernels.sensors.drift import BLOCK
from strapdown.kernels.sensors.error_chain import chain_rows
from strapdown.kernels.sensors.module import (
    BEGAN,
    COUNT,
    GYROSCOPE,
    INSTRUMENTS,
    MAGNETOMETER,
    MEMORY,
    PART_COLUMNS,
    SETTINGS,
    SOURCE,
    TABLE,
    write_log,
)

AHEAD = 4 * 3 * BLOCK  # numbers drawn ahead for each random term: drawing them takes a while to begin
LACKS, BAD, MISFIT = -1, -2, -3  # why a chunk was not read to its end
TABLES = INSTRUMENTS * TABLE


@live_unlocked
def read_rows(settings, parts, memory, ahead, t, acc, gyr, mag, celsius, out):
    """Read a chunk of rows of ideal readings; returns the number of rows in `out`. It allocates nothing.

    out: the rows of a module's log; or, if it has COLUMNS columns, a table of the readings of one instrument. This form
        takes `gyr` for its ideal readings and `acc` for the specific force.
    ahead: numbers drawn in advance, TERMS rows for each instrument. LACKS: the random numbers of NEXT_ROW must be
    drawn; called again, it continues there. BAD: NEXT_ROW is not valid. MISFIT: an array has a wrong shape; nothing was
        read.
    """
    work, tables, seen, single = space(WORK), space(TABLES), space(INSTRUMENTS), out.shape[1] == COLUMNS
    rows, instruments, part, lead = len(t), len(parts), pointer(parts), offset(memory, parts[0, MEMORY])
    times, force, warm, varies, width = pointer(t), pointer(acc), pointer(celsius), len(celsius) > 1, ahead.shape[1]
    kept, results, table = pointer(memory), pointer(out), tables
    if single:
        table = results
    first, block = int(lead[m.NEXT_ROW]), BLOCK * int(settings[s.STRIDE])
    count = 0 if single else int(kept[COUNT])
    if acc.shape[1] != 3 or gyr.shape[1] != 3 or mag.shape[1] != 3:
        return MISFIT
    while first < rows:
        end = min(rows, first + block)
        last = good = end
        for k in range(2 * instruments):  # how far all of them can go, and then there
            i = k % instruments
            at, drawn = i * PART_COLUMNS, row(ahead, m.TERMS * i)
            own, chain = offset(settings, part[at + SETTINGS]), offset(memory, part[at + MEMORY])
            ideal, length = force, len(acc)
            if part[at + SOURCE] == GYROSCOPE:
                ideal, length = pointer(gyr), len(gyr)
            elif part[at + SOURCE] == MAGNETOMETER:
                ideal, length = pointer(mag), len(mag)
            if length != rows or (own[s.FORCED] != 0.0 and len(acc) != rows):
                return MISFIT
            if k < instruments:
                good = good_rows(own, chain, times, ideal, force, warm, varies, first, good)
                last = min(last, first + supplied_rows(own, chain, width, good - first))
            else:
                chain_rows(
                    own, chain, drawn, width, times, ideal, force, warm, varies, first, last, work, table, i * TABLE
                )
        if not single and last > first:
            if kept[BEGAN] == -math.inf:
                kept[BEGAN] = t[first]
            count = write_log(pointer(settings), part, instruments, kept, warm, varies, tables, seen, results, count)
        first = last
        if last < end:
            lead[m.NEXT_ROW] = last
            if not single:
                kept[COUNT] = count
            return LACKS if last < good else BAD
    if single:
        count = int(lead[m.COUNT])
        lead[m.COUNT] = 0.0
    else:
        kept[COUNT] = 0.0
    lead[m.NEXT_ROW] = 0.0
    return count


@live_unlocked
def take_apart(table, rows, first, at, t, values, clipped, kept):
    """The first rows of a table of readings as rows of columns, from row `at` on.

    first: number added to the input's rows.
    """
    given, times, kept_rows, three = pointer(table), pointer(t), pointer(kept), pointer(values)
    for k in range(rows):
        i, j = k * COLUMNS, 3 * (at + k)
        times[at + k], kept_rows[at + k] = given[i + STAMP], first + int(given[i + ROW])
        three[j], three[j + 1], three[j + 2] = given[i + X], given[i + X + 1], given[i + X + 2]
        for c in range(3):
            clipped[at + k, c] = given[i + CLIPPED + c] != 0.0
