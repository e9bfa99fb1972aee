"""The gyroscope alone: it starts from the attitude of the first readings, without corrections.

Files of filters end with the same step and rows, around their own advance. numba caches a function by the file it is
in. A loop with its advance as an argument would call it by address, for every sample. A magnetometer reading
of three zeros is no reading: a part that does not answer gives them.
"""

import math

from numba import njit

from strapdown.kernels.jit import inlined_fused, live, pointer, row, three_each
from strapdown.kernels.orientation.start import (
    AFTER_START,
    LEVEL,
    NOTHING,
    SEEN,
    begin,
    find_north,
    rejected,
    write_row,
)
from strapdown.kernels.orientation.state import FLAGS, GAP, LONGEST, OWN_SETTINGS, USE_MAG, Q
from strapdown.kernels.orientation.turn import predicted, unit_again

STATE_SIZE = AFTER_START
SETTINGS_SIZE = OWN_SETTINGS


@inlined_fused
def advance(state, settings, gx, gy, gz, ax, ay, az, mx, my, mz, dt):
    """Process a sample: gyr_s (rad/s), acc_s and mag_s (any units; for the start), dt (s) since the last one."""
    first, has_mag = state[SEEN] == NOTHING, mx != 0.0 or my != 0.0 or mz != 0.0
    if rejected(state, first, gx, gy, gz, dt):
        return
    if first:
        begin(state, settings, gx, gy, gz, ax, ay, az, mx, my, mz, has_mag)
        return
    qw, qx, qy, qz = predicted(state, gx, gy, gz, dt)
    state[Q], state[Q + 1], state[Q + 2], state[Q + 3] = unit_again(qw, qx, qy, qz)
    state[FLAGS] = 0.0 if dt <= settings[LONGEST] else GAP
    if state[SEEN] == LEVEL and has_mag and 0.0 < mx * mx + my * my + mz * mz < math.inf:
        find_north(state, settings, mx, my, mz)


@live
def step(state, settings, gyr, acc, mag, dt):
    """Process one sample in place; mag is empty without a new reading. Returns False if an array has a wrong length."""
    if len(state) != STATE_SIZE or len(settings) != SETTINGS_SIZE or not three_each(gyr, acc, mag):
        return False
    g, a, m = pointer(gyr), pointer(acc), pointer(mag)
    mx, my, mz = 0.0, 0.0, 0.0
    if len(mag) > 0 and settings[USE_MAG] != 0.0:
        mx, my, mz = m[0], m[1], m[2]
    advance(pointer(state), pointer(settings), g[0], g[1], g[2], a[0], a[1], a[2], mx, my, mz, dt)
    return True


@njit(cache=True, error_model="numpy", no_cfunc_wrapper=True)
def rows(state, settings, dt, gyr, acc, mag, mag_new, q, bias, sigma, flags):
    """Process all samples; afterwards the state is that after the last one."""
    numbers, given = pointer(state), pointer(settings)
    for i in range(len(dt)):
        g, a, m = row(gyr, i), row(acc, i), row(mag, i)
        mx, my, mz = 0.0, 0.0, 0.0
        if len(mag) > 0 and mag_new[i]:
            mx, my, mz = m[0], m[1], m[2]
        advance(numbers, given, g[0], g[1], g[2], a[0], a[1], a[2], mx, my, mz, dt[i])
        write_row(numbers, i, q, bias, sigma, flags)
