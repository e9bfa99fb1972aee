"""The gyroscope alone: from the attitude of the first readings on, no correction."""

import math

from numba import njit

from strapdown.kernels.orientation_start import LEVEL, LONGEST, NOTHING, SEEN, begin, find_north, tell
from strapdown.kernels.orientation_state import FLAGS, GAP, Q
from strapdown.kernels.orientation_turn import predicted, unit_again


@njit(cache=True, forceinline=True, error_model="numpy", fastmath={"contract"})
def advance(state, gx, gy, gz, ax, ay, az, mx, my, mz, has_mag, dt):
    """One sample: gyr_s (rad/s), acc_s and mag_s (any units; for the start), dt (s) since the last one."""
    if state[SEEN] == NOTHING:
        begin(state, gx, gy, gz, ax, ay, az, mx, my, mz, has_mag)
        return
    qw, qx, qy, qz = predicted(state, gx, gy, gz, dt)
    state[Q], state[Q + 1], state[Q + 2], state[Q + 3] = unit_again(qw, qx, qy, qz)
    state[FLAGS] = 0.0 if dt <= state[LONGEST] else GAP
    if state[SEEN] == LEVEL and has_mag and 0.0 < mx * mx + my * my + mz * mz < math.inf:
        find_north(state, mx, my, mz)


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def step(state, gyr, acc, mag, dt):
    """One sample, in place; mag is empty without a new reading."""
    has_mag = len(mag) > 0
    mx, my, mz = (mag[0], mag[1], mag[2]) if has_mag else (0.0, 0.0, 0.0)
    advance(state, gyr[0], gyr[1], gyr[2], acc[0], acc[1], acc[2], mx, my, mz, has_mag, dt)


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def rows(state, dt, gyr, acc, mag, mag_new, q, bias, sigma, flags):
    """All samples; in the end the state is that after the last one."""
    for i in range(len(dt)):
        has_mag = len(mag) > 0 and mag_new[i]
        mx, my, mz = (mag[i, 0], mag[i, 1], mag[i, 2]) if has_mag else (0.0, 0.0, 0.0)
        advance(state, gyr[i, 0], gyr[i, 1], gyr[i, 2], acc[i, 0], acc[i, 1], acc[i, 2], mx, my, mz, has_mag, dt[i])
        tell(state, i, q, bias, sigma, flags)
