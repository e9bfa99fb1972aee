"""Madgwick's filter: the gyroscope turns the attitude, a step of fixed length down the gradient corrects it.

Madgwick 2010. He writes the gradient of |R_sn d_n - s_s|^2 (d_n: up, or the field as seen; s_s: its reading) as J^T f,
a quaternion. The part of it that is tangent to the unit sphere, the only one that turns, is -2 q (0, e) with
e = sum of s_s x R_sn d_n: so his q' = q (0, w)/2 - beta grad/|grad| is a turn at 2 beta about e/|e|. Written so, the
filter is the same in every level frame. One thing is added: a step never goes past the minimum.
"""

import math

from numba import njit

from strapdown.kernels.jit import live, pointer, row, three_each, woven
from strapdown.kernels.orientation.start import (
    FURTHER,
    LEVEL,
    LONGEST,
    NOTHING,
    SEEN,
    begin,
    find_north,
    left_out,
    tell,
)
from strapdown.kernels.orientation.state import ACC_REJECTED, BIAS, FLAGS, GAP, MAG_REJECTED, Q
from strapdown.kernels.orientation.turn import inverse_force, inverse_length, predicted, product, unit_again

BETA = FURTHER  # rad/s
ZETA = FURTHER + 1  # rad/s2
COS_D = FURTHER + 2  # of the declination
SIN_D = FURTHER + 3


@woven
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


@woven
def advance(state, gx, gy, gz, ax, ay, az, mx, my, mz, has_mag, dt):
    """One sample: gyr_s (rad/s), acc_s and mag_s (any units), dt (s) since the last one."""
    if left_out(state, gx, gy, gz, dt):
        return
    if state[SEEN] == NOTHING:
        begin(state, gx, gy, gz, ax, ay, az, mx, my, mz, has_mag)
        return
    qw, qx, qy, qz = predicted(state, gx, gy, gz, dt)
    gap = not dt <= state[LONGEST]
    ka = 0.0 if gap else inverse_force(ax, ay, az)
    km = 0.0 if gap or not has_mag else inverse_length(mx, my, mz)
    first_field = state[SEEN] == LEVEL and km > 0.0
    ax, ay, az = (ka * ax, ka * ay, ka * az) if ka > 0.0 else (0.0, 0.0, 0.0)
    hx, hy, hz = (km * mx, km * my, km * mz) if km > 0.0 and not first_field else (0.0, 0.0, 0.0)
    ex, ey, ez = descent(qw, qx, qy, qz, ax, ay, az, hx, hy, hz, state[COS_D], state[SIN_D])
    # turn by 2 beta dt about e, and never by more than e, which is the error itself where it is small
    length = math.sqrt(ex * ex + ey * ey + ez * ez)
    angle = 2.0 * dt * state[BETA]
    k = angle / length if length > angle else (1.0 if angle > 0.0 else 0.0)
    cx, cy, cz = k * ex, k * ey, k * ez
    drift = state[ZETA] / state[BETA] if state[BETA] > 0.0 else 0.0
    state[BIAS] -= drift * cx
    state[BIAS + 1] -= drift * cy
    state[BIAS + 2] -= drift * cz
    qw, qx, qy, qz = product(qw, qx, qy, qz, 1.0, 0.5 * cx, 0.5 * cy, 0.5 * cz)
    state[Q], state[Q + 1], state[Q + 2], state[Q + 3] = unit_again(qw, qx, qy, qz)
    refused = (0.0 if ka > 0.0 else ACC_REJECTED) + (MAG_REJECTED if has_mag and not km > 0.0 else 0.0)
    state[FLAGS] = GAP if gap else refused
    if first_field:
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
