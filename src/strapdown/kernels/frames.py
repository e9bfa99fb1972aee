"""The motion of a frame that is fixed to a moving link."""

import math

from numba import njit

from strapdown.kernels.rotation import mul, rotate


@njit(cache=True, inline="always")
def cross(ax, ay, az, bx, by, bz):
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@njit(cache=True)
def mounted_rows(rows, g_n, r_bs_b, q_bs, p_n, v_n, a_n, q_ns, w_s, dw_s):
    """From the link's frame b to the sensor's frame s, row by row.

    rows: p_n 0:3, q_nb 3:7, v_n 7:10, w_n 10:13, f_n 13:16, dw_n 16:19, all of the link's origin; the linear
    acceleration has gravity in it (f = a - g), as physics engines give it.
    """
    for i in range(len(rows)):
        qw, qx, qy, qz = rows[i, 3], rows[i, 4], rows[i, 5], rows[i, 6]
        k = 1.0 / math.sqrt(qw * qw + qx * qx + qy * qy + qz * qz)
        qw, qx, qy, qz = k * qw, k * qx, k * qy, k * qz
        rx, ry, rz = rotate(qw, qx, qy, qz, r_bs_b[0], r_bs_b[1], r_bs_b[2])
        wx, wy, wz = rows[i, 10], rows[i, 11], rows[i, 12]
        tx, ty, tz = cross(wx, wy, wz, rx, ry, rz)
        cx, cy, cz = cross(wx, wy, wz, tx, ty, tz)
        ex, ey, ez = cross(rows[i, 16], rows[i, 17], rows[i, 18], rx, ry, rz)
        p_n[i, 0], p_n[i, 1], p_n[i, 2] = rows[i, 0] + rx, rows[i, 1] + ry, rows[i, 2] + rz
        v_n[i, 0], v_n[i, 1], v_n[i, 2] = rows[i, 7] + tx, rows[i, 8] + ty, rows[i, 9] + tz
        a_n[i, 0] = rows[i, 13] + g_n[0] + (ex + cx)
        a_n[i, 1] = rows[i, 14] + g_n[1] + (ey + cy)
        a_n[i, 2] = rows[i, 15] + g_n[2] + (ez + cz)
        qw, qx, qy, qz = mul(qw, qx, qy, qz, q_bs[0], q_bs[1], q_bs[2], q_bs[3])
        q_ns[i, 0], q_ns[i, 1], q_ns[i, 2], q_ns[i, 3] = qw, qx, qy, qz
        w_s[i, 0], w_s[i, 1], w_s[i, 2] = rotate(qw, -qx, -qy, -qz, wx, wy, wz)
        dw_s[i, 0], dw_s[i, 1], dw_s[i, 2] = rotate(qw, -qx, -qy, -qz, rows[i, 16], rows[i, 17], rows[i, 18])
