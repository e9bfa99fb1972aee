"""The instruments of a module row by row: their error chains, one clock for all, and the rows of the module's log."""

import math

from strapdown.kernels.jit import internal_uncounted, live, pointer
from strapdown.kernels.sensors import chain_memory as m
from strapdown.kernels.sensors import chain_settings as s
from strapdown.kernels.sensors.chain_supply import good_rows, supplied_rows
from strapdown.kernels.sensors.chain_terms import CLIPPED, ROW, STAMP, X
from strapdown.kernels.sensors.error_chain import BAD, BLOCK, LACKS, chain_rows

ACCELEROMETER, GYROSCOPE, MAGNETOMETER, CLOCK = range(4)
# columns of `parts`, one row for each instrument; the first is the lead: its samples are the rows of the log
# SOURCE: whose ideal readings it takes; the clock has none of its own, and any will do
KIND, SOURCE, SETTINGS, SETTINGS_END, MEMORY, MEMORY_END = range(6)
# memory: first time of the input, stamp of the lead's last sample, stamp of the log's last row, then for each kind of
# instrument its last reading (3), whether it is clipped, and whether the log has not shown it; then that of the chains
BEGAN, LAST, SHOWN, HELD, HELD_SIZE = 0, 1, 2, 5, 5
NEXT_ROW, COUNT = 3, 4  # of a chunk that is not read to its end: the next row, and rows of the log so far
HEAD_MEMORY = HELD + 3 * HELD_SIZE
_READINGS, _SEEN = 0, 1  # of the last row of a table: how many readings it has, and how many the log has seen
# columns of the log
T, DT, READINGS, CELSIUS, ANY_CLIPPED, NEW_MAG, OF_ROW, LOG_COLUMNS = 0, 1, 2, 11, 12, 13, 14, 15


@internal_uncounted
def _hold(settings, memory, kind, tables, i, j):
    """Keep an instrument's newest reading, in the axes of the module."""
    held = HELD + HELD_SIZE * kind
    x, y, z = tables[i, j, X], tables[i, j, X + 1], tables[i, j, X + 2]
    memory[held], memory[held + 1], memory[held + 2] = x, y, z
    if settings[s.TURNED] != 0.0:
        for c in range(3):
            a = s.AXES + 3 * c
            memory[held + c] = settings[a] * x + settings[a + 1] * y + settings[a + 2] * z
    memory[held + 3] = max(tables[i, j, CLIPPED], tables[i, j, CLIPPED + 1], tables[i, j, CLIPPED + 2])
    memory[held + 4] = 1.0


@internal_uncounted
def _show(memory, stamp, celsius, row, out, at):
    """One row of the log; returns 1, or 0 if it is not shown: stamped before the run, or not later than the last."""
    late = stamp > memory[LAST]
    memory[LAST] = stamp
    if not (late and stamp >= memory[BEGAN]):
        return 0
    out[at, T], out[at, DT] = stamp, stamp - memory[SHOWN] if memory[SHOWN] > -math.inf else 0.0
    memory[SHOWN] = stamp
    out[at, ANY_CLIPPED] = 0.0
    for kind in range(3):
        held = HELD + HELD_SIZE * kind
        for c in range(3):
            out[at, READINGS + 3 * kind + c] = memory[held + c]
        out[at, ANY_CLIPPED] = max(out[at, ANY_CLIPPED], memory[held + 3])
    out[at, CELSIUS], out[at, OF_ROW] = celsius, row
    held = HELD + HELD_SIZE * MAGNETOMETER
    out[at, NEW_MAG] = memory[held + 4]
    memory[held + 4] = 0.0
    return 1


@internal_uncounted
def _write_log(settings, parts, memory, celsius, tables, out, count):
    """The rows of the log from the readings of a block; returns how many it has then."""
    rows = int(tables[0, BLOCK, _READINGS])
    for k in range(rows + 1):
        row = tables[0, k, ROW] if k < rows else math.inf
        for i in range(len(parts)):
            j, end = int(tables[i, BLOCK, _SEEN]), int(tables[i, BLOCK, _READINGS])
            while j < end and tables[i, j, ROW] <= row:
                if parts[i, KIND] != CLOCK:
                    _hold(pointer(settings[parts[i, SETTINGS] :]), memory, parts[i, KIND], tables, i, j)
                j += 1
            tables[i, BLOCK, _SEEN] = j
        if k < rows:
            warm = celsius[int(row)] if len(celsius) > 1 else celsius[0]
            count += _show(memory, tables[0, k, STAMP], warm, row, out, count)
    return count


@live
def module_rows(settings, parts, memory, ahead, t, acc, gyr, mag, celsius, work, tables, out):
    """A chunk of rows of ideal readings: returns how many rows the log has got. It allocates nothing.

    ahead: numbers drawn ahead, TERMS rows for each instrument. tables: for each instrument BLOCK + 1 rows. LACKS: the
    random numbers of NEXT_ROW must be drawn; called again, it goes on there. BAD: NEXT_ROW is not good.
    """
    first, count = int(memory[NEXT_ROW]), int(memory[COUNT])
    while first < len(t):
        end = min(len(t), first + BLOCK * int(settings[parts[0, SETTINGS] + s.STRIDE]))
        last = good = end
        for i in range(len(parts)):
            own, kept = pointer(settings[parts[i, SETTINGS] :]), pointer(memory[parts[i, MEMORY] :])
            ideal = gyr if parts[i, SOURCE] == GYROSCOPE else mag if parts[i, SOURCE] == MAGNETOMETER else acc
            good = good_rows(own, kept, t, ideal, acc, celsius, first, good)
            drawn = ahead[m.TERMS * i : m.TERMS * (i + 1)]
            last = min(last, good, first + supplied_rows(own, kept, drawn, good - first))
        if memory[BEGAN] == -math.inf and last > first:
            memory[BEGAN] = t[first]
        for i in range(len(parts)):
            own, kept = pointer(settings[parts[i, SETTINGS] :]), pointer(memory[parts[i, MEMORY] :])
            ideal = gyr if parts[i, SOURCE] == GYROSCOPE else mag if parts[i, SOURCE] == MAGNETOMETER else acc
            drawn = ahead[m.TERMS * i : m.TERMS * (i + 1)]
            chain_rows(own, kept, drawn, t, ideal, acc, celsius, first, last, work, tables[i])
            tables[i, BLOCK, _READINGS], tables[i, BLOCK, _SEEN] = kept[m.COUNT], 0.0
            kept[m.COUNT] = 0.0
        count = _write_log(settings, parts, memory, celsius, tables, out, count)
        first = last
        if last < end:
            memory[NEXT_ROW], memory[COUNT] = last, count
            return LACKS if last < good else BAD
    memory[NEXT_ROW] = memory[COUNT] = 0.0
    return count
