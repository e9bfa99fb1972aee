"""Madgwick's filter: the gyroscope turns the attitude, and a gradient step of fixed length corrects it.

Madgwick 2010. Madgwick writes the gradient of |R_sn d_n - s_s|^2 (d_n: up, or the measured field; s_s: its reading) as
J^T f, a quaternion. Only the part of it that is tangent to the unit sphere turns. The tangent part of the gradient is
-2 q (0, e) with e = sum of s_s x R_sn d_n. So Madgwick's q' = q (0, w)/2 - beta grad/|grad| is a turn at 2 beta about
e/|e|. In this form the filter is the same in every level frame. One rule is added: a step never goes beyond the
minimum.
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
BETA, ZETA = OWN_SETTINGS, OWN_SETTINGS + 1  # rad/s, rad/s2
COS_D, SIN_D = OWN_SETTINGS + 2, OWN_SETTINGS + 3  # of the declination
SETTINGS_SIZE = OWN_SETTINGS + 4
STATE_SIZE = AFTER_START


@inlined_fused
def descent(qw, qx, qy, qz, ax, ay, az, mx, my, mz, cos_d, sin_d):
    """e in s for directions a_s and m_s, zeros where there is no reading."""
    ux, uy, uz = 2.0 * (qx * qz - qw * qy), 2.0 * (qy * qz + qw * qx), 1.0 - 2.0 * (qx * qx + qy * qy)
    xx, xy, xz = 1.0 - 2.0 * (qy * qy + qz * qz), 2.0 * (qx * qy - qw * qz), 2.0 * (qx * qz + qw * qy)
    yx, yy, yz = 2.0 * (qx * qy + qw * qz), 1.0 - 2.0 * (qx * qx + qz * qz), 2.0 * (qy * qz - qw * qx)
    east, north, up = xx * mx + xy * my + xz * mz, yx * mx + yy * my + yz * mz, ux * mx + uy * my + uz * mz
    level = math.sqrt(east * east + north * north)
    b_east, b_north = level * sin_d, level * cos_d  # the field as seen, turned to magnetic north
    bx, by, bz = (
        xx * b_east + yx * b_north + ux * up,
        xy * b_east + yy * b_north + uy * up,
        xz * b_east + yz * b_north + uz * up,
    )
    return (
        ay * uz - az * uy + my * bz - mz * by,
        az * ux - ax * uz + mz * bx - mx * bz,
        ax * uy - ay * ux + mx * by - my * bx,
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
    ex, ey, ez = descent(qw, qx, qy, qz, ax, ay, az, hx, hy, hz, settings[COS_D], settings[SIN_D])
    # turn by 2 beta dt about e, and never by more than e, which is the error itself where it is small
    length = math.sqrt(ex * ex + ey * ey + ez * ez)
    angle = 2.0 * dt * settings[BETA]
    k = angle / length if length > angle else (1.0 if angle > 0.0 else 0.0)
    cx, cy, cz = k * ex, k * ey, k * ez
    drift = settings[ZETA] / settings[BETA] if settings[BETA] > 0.0 else 0.0
    state[BIAS] -= drift * cx
    state[BIAS + 1] -= drift * cy
    state[BIAS + 2] -= drift * cz
    qw, qx, qy, qz = product(qw, qx, qy, qz, 1.0, 0.5 * cx, 0.5 * cy, 0.5 * cz)
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
