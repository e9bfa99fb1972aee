"""Detects that a body at rest has begun to move, so gently that no window of readings shows it.

Readings of a stop are summed in blocks of BLOCK_S. Against the mean force of all blocks before them, the last blocks
must not add up to a speed. Noise gives N sqrt(T) over T seconds, the mean over B seconds before them N T / sqrt(B), and
a rest drifts by `steady` m/s2. The number of blocks with the most sigmas shows when the motion began, and the speed
with which it continues. m/s, m/s2, frame s.

A stop is often believed during the last of a gentle braking. So a change after less than SETTLE_S is taken as the end
of that braking, and the mean force is read again.
"""

import math

import numpy as np
from numba import njit

from strapdown.kernels.jit import internal, not_constant, pointer, row

BLOCK_S, BLOCKS = 0.25, 12
SETTLE_S = 0.75
LONGEST_S = 5.0  # of the mean before: a bias wanders, and heat moves it

# in a state from `at` on: what is older than the blocks (integral of force, time); how many blocks are full; which is
# being filled; the blocks
BEFORE, BEFORE_S, FULL, NOW, RING = 0, 3, 4, 5, 6
SIZE = RING + 4 * (BLOCKS + 1)
_SLOTS = BLOCKS + 1  # the full ones and the one that is being filled


@internal
def begin(x, at, f0, f1, f2, time_s):
    """A stand begins.

    f0, f1, f2: the mean force over the window that showed the stop, of this length.
    """
    for k in range(SIZE):
        x[at + k] = 0.0
    x[at + BEFORE] = f0 * time_s
    x[at + BEFORE + 1] = f1 * time_s
    x[at + BEFORE + 2] = f2 * time_s
    x[at + BEFORE_S] = time_s


@internal
def add(x, at, acc, dt):
    """Add one sample of the stop; returns whether a block became full by it."""
    slot = at + RING + 4 * int(x[at + NOW])
    for j in range(3):
        x[slot + j] += acc[j] * dt
    x[slot + 3] += dt
    if x[slot + 3] < BLOCK_S * (1.0 - 1e-9):
        return False
    full, following = int(x[at + FULL]), (int(x[at + NOW]) + 1) % _SLOTS
    slot = at + RING + 4 * following
    if full == BLOCKS:  # the oldest block is merged into the sum before it
        for j in range(4):
            x[at + BEFORE + j] += x[slot + j]
        if x[at + BEFORE_S] > LONGEST_S:
            keep = LONGEST_S / x[at + BEFORE_S]
            for j in range(4):
                x[at + BEFORE + j] *= keep
    for j in range(4):
        x[slot + j] = 0.0
    x[at + FULL], x[at + NOW] = float(min(full + 1, BLOCKS)), float(following)
    return True


@internal
def gained(x, at, n2, steady, least_s, most_s, v, f_g):
    """(sigmas, T, B) of the blocks that most look like a motion, of those that have least_s to most_s before them. -1
    sigmas if there are none. v becomes the speed gained, f_g the mean force before.

    n2: N squared (m2/s3).
    """
    now, full = int(x[at + NOW]), int(x[at + FULL])
    total_s = x[at + BEFORE_S]
    total0, total1, total2 = x[at + BEFORE], x[at + BEFORE + 1], x[at + BEFORE + 2]
    for k in range(full + 1):
        slot = at + RING + 4 * ((now - k) % _SLOTS)
        total0, total1, total2 = total0 + x[slot], total1 + x[slot + 1], total2 + x[slot + 2]
        total_s += x[slot + 3]
    most, best_s, best_before_s = -1.0, 0.0, 0.0
    s0 = s1 = s2 = recent_s = 0.0
    for k in range(full + 1):
        slot = at + RING + 4 * ((now - k) % _SLOTS)
        s0, s1, s2, recent_s = s0 + x[slot], s1 + x[slot + 1], s2 + x[slot + 2], recent_s + x[slot + 3]
        before_s = total_s - recent_s
        if not (recent_s > 0.0 and before_s > 0.0 and least_s <= before_s < most_s):
            continue
        f0, f1, f2 = (total0 - s0) / before_s, (total1 - s1) / before_s, (total2 - s2) / before_s
        v0, v1, v2 = s0 - f0 * recent_s, s1 - f1 * recent_s, s2 - f2 * recent_s
        variance = n2 * recent_s * (1.0 + recent_s / before_s) + (steady * recent_s) ** 2
        deviations = math.sqrt((v0 * v0 + v1 * v1 + v2 * v2) / variance) if variance > 0.0 else 0.0
        if deviations > most:
            most, best_s, best_before_s = deviations, recent_s, before_s
            v[0], v[1], v[2] = v0, v1, v2
            f_g[0], f_g[1], f_g[2] = f0, f1, f2
    return most, best_s, best_before_s


@njit(cache=True, error_model="numpy", no_cfunc_wrapper=True)
def rest_rows(x, acc, dt, n2, steady, most, first_s):
    """For rows that begin at rest: the rows of this rest, and the time of the motion that ends it. All rows and 0 if no
    motion ends it.

    The first first_s are taken for a rest.

    x: SIZE numbers.
    most: number of sigmas of a speed that ends the rest.
    """
    v, f_g, mean = np.empty(3), np.empty(3), np.zeros(3)
    begun = 0
    time_s = 0.0
    while begun < len(dt) and time_s < first_s:
        for j in range(3):
            mean[j] += acc[begun, j]
        time_s += dt[begun]
        begun += 1
    for j in range(3):
        mean[j] /= max(begun, 1)
    at, begins = pointer(x), not_constant(0)
    begin(at, begins, mean[0], mean[1], mean[2], time_s)
    for i in range(begun, len(dt)):
        if add(at, begins, row(acc, i), dt[i]):
            deviations, since_s, _ = gained(at, begins, n2, steady, SETTLE_S, np.inf, v, f_g)
            if deviations > most:
                return i + 1, since_s
    return len(dt), 0.0
