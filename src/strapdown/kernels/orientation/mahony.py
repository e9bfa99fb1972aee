"""Mahony's filter: the gyroscope turns the attitude, and a proportional and integral part corrects it towards gravity
and north.

Mahony, Hamel, Pflimlin 2008, explicit complementary filter; here the magnetometer corrects only the heading. One sample
depends on the previous one, so the time of a loop is that of the longest chain from q to q. No root, division or
trigonometric function is on that chain: the gyroscope's turn and the lengths of readings do not depend on q. The sine
of the heading error is divided by the level part of the field of the previous reading.
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
from strapdown.kernels.orientation.state import (
    ACC_REJECTED,
    BIAS,
    FLAGS,
    GAP,
    LONGEST,
    MAG_REJECTED,
    OWN_SETTINGS,
    USE_MAG,
    Q,
)
from strapdown.kernels.orientation.turn import inverse_force, inverse_length, predicted, product, unit_again

# settings
INCLINATION_GAIN = OWN_SETTINGS  # 1/s
HEADING_GAIN = OWN_SETTINGS + 1  # 1/s
BIAS_GAIN = OWN_SETTINGS + 2  # 1/s2
COS_D, SIN_D = OWN_SETTINGS + 3, OWN_SETTINGS + 4  # of the declination
SETTINGS_SIZE = OWN_SETTINGS + 5
# memory
STEEPNESS = AFTER_START  # field over its level part at the last magnetometer reading, 1/cos(dip)
WAITED = AFTER_START + 1  # s since the last magnetometer reading, whose weight is that of all this time
STATE_SIZE = AFTER_START + 2

LEAST_LEVEL2 = 1e-4  # a field steeper than 89.4 deg has no north


@inlined_fused
def pulls(qw, qx, qy, qz, ax, ay, az, mx, my, mz, cos_d, sin_d):
    """Corrections of q_ns by gravity and north, for directions a_s and m_s. The corrections are the sine of the
    inclination error as a rotation vector in s, and the heading error times the level part of the field. The function
    also returns the vertical expressed in s, and the level part squared.
    """
    ux, uy, uz = 2.0 * (qx * qz - qw * qy), 2.0 * (qy * qz + qw * qx), 1.0 - 2.0 * (qx * qx + qy * qy)
    east = (1.0 - 2.0 * (qy * qy + qz * qz)) * mx + 2.0 * (qx * qy - qw * qz) * my + 2.0 * (qx * qz + qw * qy) * mz
    north = 2.0 * (qx * qy + qw * qz) * mx + (1.0 - 2.0 * (qx * qx + qz * qz)) * my + 2.0 * (qy * qz - qw * qx) * mz
    return (
        ay * uz - az * uy,
        az * ux - ax * uz,
        ax * uy - ay * ux,
        east * cos_d - north * sin_d,
        ux,
        uy,
        uz,
        east * east + north * north,
    )


@inlined_fused
def advance(state, settings, gx, gy, gz, ax, ay, az, mx, my, mz, dt):
    """Process a sample: gyr_s (rad/s), acc_s and mag_s (any units), dt (s) since the last one."""
    first, has_mag = state[SEEN] == NOTHING, mx != 0.0 or my != 0.0 or mz != 0.0
    if rejected(state, first, gx, gy, gz, dt):
        return
    if first:
        begin(state, settings, gx, gy, gz, ax, ay, az, mx, my, mz, has_mag)
        return
    qw, qx, qy, qz = predicted(state, gx, gy, gz, dt)
    gap = not dt <= settings[LONGEST]
    ka = 0.0 if gap else inverse_force(ax, ay, az)
    km = 0.0 if gap else inverse_length(mx, my, mz)
    first_field = state[SEEN] == LEVEL and km > 0.0
    ax, ay, az = (ka * ax, ka * ay, ka * az) if ka > 0.0 else (0.0, 0.0, 0.0)
    hx, hy, hz = (km * mx, km * my, km * mz) if km > 0.0 and not first_field else (0.0, 0.0, 0.0)
    ex, ey, ez, turn, ux, uy, uz, level2 = pulls(
        qw, qx, qy, qz, ax, ay, az, hx, hy, hz, settings[COS_D], settings[SIN_D]
    )
    turn *= state[STEEPNESS]
    waited = 0.0 if gap else state[WAITED] + dt
    state[WAITED] = waited
    if km > 0.0 and not first_field:
        state[STEEPNESS] = 1.0 / math.sqrt(level2) if level2 > LEAST_LEVEL2 else 0.0
        state[WAITED] = 0.0
    level_weight = min(0.5, 0.5 * dt * settings[INCLINATION_GAIN])
    north_weight = min(0.5, 0.5 * waited * settings[HEADING_GAIN]) * turn
    bias_level, bias_north = dt * settings[BIAS_GAIN], waited * settings[BIAS_GAIN] * turn
    state[BIAS] -= bias_level * ex + bias_north * ux
    state[BIAS + 1] -= bias_level * ey + bias_north * uy
    state[BIAS + 2] -= bias_level * ez + bias_north * uz
    cx = level_weight * ex + north_weight * ux
    cy = level_weight * ey + north_weight * uy
    cz = level_weight * ez + north_weight * uz
    qw, qx, qy, qz = product(qw, qx, qy, qz, 1.0, cx, cy, cz)
    state[Q], state[Q + 1], state[Q + 2], state[Q + 3] = unit_again(qw, qx, qy, qz)
    refused = (0.0 if ka > 0.0 else ACC_REJECTED) + (MAG_REJECTED if not km > 0.0 and has_mag else 0.0)
    state[FLAGS] = GAP if gap else refused
    if first_field:
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
