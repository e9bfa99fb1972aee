"""The log of a module from the readings of its instruments: one clock for all, and the newest reading of each."""

import math

from strapdown.kernels.jit import internal_uncounted
from strapdown.kernels.sensors import chain_memory as m
from strapdown.kernels.sensors import chain_settings as s
from strapdown.kernels.sensors.chain_terms import CLIPPED, COLUMNS, ROW, STAMP, X
from strapdown.kernels.sensors.drift import BLOCK

ACCELEROMETER, GYROSCOPE, MAGNETOMETER, CLOCK = range(4)
INSTRUMENTS, TABLE = 4, BLOCK * COLUMNS  # at most, and the numbers of the table of readings of each
# columns of `parts`, one row for each instrument; the first is the lead: its samples are the rows of the log
# SOURCE: whose ideal readings it takes; the clock has none of its own, and any will do
KIND, SOURCE, SETTINGS, SETTINGS_END, MEMORY, MEMORY_END, PART_COLUMNS = range(7)
# memory: first time of the input, stamp of the lead's last sample, stamp of the log's last row, rows of the log so far
# if a chunk is not read to its end, then for each kind of instrument its last reading (3), whether it is clipped, and
# whether the log has not shown it; then that of the chains
BEGAN, LAST, SHOWN, COUNT, HELD, HELD_SIZE = 0, 1, 2, 3, 4, 5
HEAD_MEMORY = HELD + 3 * HELD_SIZE
# columns of the log
T, DT, READINGS, CELSIUS, ANY_CLIPPED, NEW_MAG, OF_ROW, LOG_COLUMNS = 0, 1, 2, 11, 12, 13, 14, 15


@internal_uncounted
def _hold(settings, own, memory, kind, tables, at):
    """Keep an instrument's newest reading, in the axes of the module.

    own: place where its settings begin.
    """
    held = HELD + HELD_SIZE * kind
    x, y, z = tables[at + X], tables[at + X + 1], tables[at + X + 2]
    memory[held], memory[held + 1], memory[held + 2] = x, y, z
    if settings[own + s.TURNED] != 0.0:
        for c in range(3):
            a = own + s.AXES + 3 * c
            memory[held + c] = settings[a] * x + settings[a + 1] * y + settings[a + 2] * z
    memory[held + 3] = max(tables[at + CLIPPED], tables[at + CLIPPED + 1], tables[at + CLIPPED + 2])
    memory[held + 4] = 1.0


@internal_uncounted
def _show(memory, stamp, celsius, row, out, at):
    """Write one row of the log; returns 1, or 0 if it is not written: stamped before the run, or not later than the
    last.
    """
    late = stamp > memory[LAST]
    memory[LAST] = stamp
    if not (late and stamp >= memory[BEGAN]):
        return 0
    out[at + T], out[at + DT] = stamp, stamp - memory[SHOWN] if memory[SHOWN] > -math.inf else 0.0
    memory[SHOWN] = stamp
    clipped = 0.0
    for kind in range(3):
        held, shown = HELD + HELD_SIZE * kind, at + READINGS + 3 * kind
        out[shown], out[shown + 1], out[shown + 2] = memory[held], memory[held + 1], memory[held + 2]
        clipped = max(clipped, memory[held + 3])
    out[at + ANY_CLIPPED], out[at + CELSIUS], out[at + OF_ROW] = clipped, celsius, row
    held = HELD + HELD_SIZE * MAGNETOMETER
    out[at + NEW_MAG] = memory[held + 4]
    memory[held + 4] = 0.0
    return 1


@internal_uncounted
def write_log(settings, parts, instruments, memory, celsius, varies, tables, seen, out, count):
    """Write the rows of the log from the readings of a block; returns the number of rows.

    seen: space for INSTRUMENTS.
    """
    rows = int(memory[parts[MEMORY] + m.COUNT])
    for i in range(instruments):
        seen[i] = 0.0
    for k in range(rows + 1):
        row = tables[k * COLUMNS + ROW] if k < rows else math.inf
        for i in range(instruments):
            p, j = i * PART_COLUMNS, int(seen[i])
            end = int(memory[parts[p + MEMORY] + m.COUNT])
            while j < end and tables[i * TABLE + j * COLUMNS + ROW] <= row:
                if parts[p + KIND] != CLOCK:
                    _hold(settings, parts[p + SETTINGS], memory, parts[p + KIND], tables, i * TABLE + j * COLUMNS)
                j += 1
            seen[i] = j
        if k < rows:
            warm = celsius[int(row)] if varies else celsius[0]
            count += _show(memory, tables[k * COLUMNS + STAMP], warm, row, out, count * LOG_COLUMNS)
    for i in range(instruments):
        memory[parts[i * PART_COLUMNS + MEMORY] + m.COUNT] = 0.0
    return count
