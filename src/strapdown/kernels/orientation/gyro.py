"""The gyroscope alone: from the attitude of the first readings on, no correction.

Files of filters end in the same step and rows, around an advance of their own: numba caches a function by the file it
stands in, and a loop that was handed its advance would call it by address, for every sample.
"""

import math

from numba import njit

from strapdown.kernels.jit import live, pointer, row, three_each, woven
from strapdown.kernels.orientation.start import LEVEL, LONGEST, NOTHING, SEEN, begin, find_north, left_out, tell
from strapdown.kernels.orientation.state import FLAGS, GAP, Q
from strapdown.kernels.orientation.turn import predicted, unit_again


@woven
def advance(state, gx, gy, gz, ax, ay, az, mx, my, mz, has_mag, dt):
    """One sample: gyr_s (rad/s), acc_s and mag_s (any units; for the start), dt (s) since the last one."""
    if left_out(state, gx, gy, gz, dt):
        return
    if state[SEEN] == NOTHING:
        begin(state, gx, gy, gz, ax, ay, az, mx, my, mz, has_mag)
        return
    qw, qx, qy, qz = predicted(state, gx, gy, gz, dt)
    state[Q], state[Q + 1], state[Q + 2], state[Q + 3] = unit_again(qw, qx, qy, qz)
    state[FLAGS] = 0.0 if dt <= state[LONGEST] else GAP
    if state[SEEN] == LEVEL and has_mag and 0.0 < mx * mx + my * my + mz * mz < math.inf:
        find_north(state, mx, my, mz)


@live
def step(state, gyr, acc, mag, dt):
    """One sample, in place; mag is empty without a new reading. False: a reading has not three numbers."""
    if not three_each(gyr, acc, mag):
        return False
    g, a, m, has_mag = pointer(gyr), pointer(acc), pointer(mag), len(mag) > 0
    mx, my, mz = 0.0, 0.0, 0.0
    if has_mag:
        mx, my, mz = m[0], m[1], m[2]
    advance(pointer(state), g[0], g[1], g[2], a[0], a[1], a[2], mx, my, mz, has_mag, dt)
    return True


@njit(cache=True, error_model="numpy", fastmath={"contract"}, no_cfunc_wrapper=True)
def rows(state, dt, gyr, acc, mag, mag_new, q, bias, sigma, flags):
    """All samples; in the end the state is that after the last one."""
    numbers = pointer(state)
    for i in range(len(dt)):
        g, a, m, has_mag = row(gyr, i), row(acc, i), row(mag, i), len(mag) > 0 and mag_new[i]
        mx, my, mz = 0.0, 0.0, 0.0
        if has_mag:
            mx, my, mz = m[0], m[1], m[2]
        advance(numbers, g[0], g[1], g[2], a[0], a[1], a[2], mx, my, mz, has_mag, dt[i])
        tell(numbers, i, q, bias, sigma, flags)
