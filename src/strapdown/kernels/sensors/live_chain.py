"""The error chain of one sensor, live: a chunk of rows, down to one."""

from strapdown.kernels.jit import live, pointer
from strapdown.kernels.sensors import chain_memory as m
from strapdown.kernels.sensors import chain_settings as s
from strapdown.kernels.sensors.chain_supply import good_rows, supplied_rows
from strapdown.kernels.sensors.error_chain import BAD, BLOCK, LACKS, chain_rows


@live
def read_rows(settings, memory, ahead, t, ideal, force, celsius, work, out):
    """A chunk of rows, live: returns how many readings arrived. It allocates nothing.

    LACKS: the random numbers of NEXT_ROW must be drawn; called again, it goes on there. BAD: NEXT_ROW is not good.
    """
    row, rows, own, kept = int(memory[m.NEXT_ROW]), len(t), pointer(settings), pointer(memory)
    while row < rows:
        end = min(rows, row + BLOCK * int(settings[s.STRIDE]))
        good = good_rows(own, kept, t, ideal, force, celsius, row, end)
        last = row + supplied_rows(own, kept, ahead, good - row)
        chain_rows(own, kept, ahead, t, ideal, force, celsius, row, last, work, out)
        row = last
        if last < end:
            memory[m.NEXT_ROW] = row
            return LACKS if last < good else BAD
    count = int(memory[m.COUNT])
    memory[m.NEXT_ROW] = memory[m.COUNT] = 0.0
    return count
