"""Places of the memory of an error chain in its array. Random numbers are drawn in advance, one row for each term."""

# rows of the numbers drawn ahead
WHITE, INSTABILITY, WALK, QUANTUM, JITTER, LOSS = range(6)
TERMS = 6

SKIP = 0  # rows to pass over before the next sample
STARTED = 1  # 1 after the first row
TIME = 2  # s, of the last row
EARLIEST = 3  # s, before which the next stamp must not be
POSITION = 4  # (TERMS) how many of the numbers drawn ahead are used, for each term
TURN_ON = 10  # (3) drawn once
LOWPASS = 13  # (5) coefficients that the filters' memory belongs to
SIGNAL, FORCE = 18, 24  # (6) memory of the low-pass of each
SIGNAL_LAST, FORCE_LAST = 30, 33  # (3) last value behind the low-pass
QUANTUM_STARTED, QUANTUM_LAST = 36, 37  # (3) error of the angle at the last sample
WALK_STARTED, WALK_AT, WALK_STEP = 40, 41, 44  # (3) each
DRIFT_STARTED, NODE, WITHIN, J, SINCE = 47, 48, 49, 50, 51
BASE, RISE, FASTEST = 52, 55, 58  # (3) each: all processes but the fastest, and the fastest
VALUE, SLOPE = 61, 64  # (3) each: at the node before, and per node; or at the node before and the one after
SUM = 67  # (3) MATLAB's random walk
NEXT_ROW, COUNT = 70, 71  # of a chunk that is not read to its end: the next row, and readings so far
PARTS = 72  # physical: values and slopes of the processes (3 each); MATLAB: memory of the filter, 3 per tap
