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


@njit(cache=True)
def _unexplained(rows, velocity, acceleration, offset, i, h):
    """Distance of one step's change of velocity from the closest of four means of its acceleration."""
    n = len(rows)
    first, mean, forward, backward = 0.0, 0.0, 0.0, 0.0
    for c in range(3):
        v, a = velocity + c, acceleration + c
        g = offset[c]
        change = (rows[i + 1, v] - rows[i, v]) / h - g
        now, end = rows[i, a], rows[i + 1, a]
        after, after2 = rows[min(i + 2, n - 1), a], rows[min(i + 3, n - 1), a]
        before, before2 = rows[max(i - 1, 0), a], rows[max(i - 2, 0), a]
        first += (change - now) ** 2
        mean += (change - 0.5 * (now + end)) ** 2
        forward += (change - (9.0 * now + 19.0 * end - 5.0 * after + after2) / 24.0) ** 2
        backward += (change - (9.0 * end + 19.0 * now - 5.0 * before + before2) / 24.0) ** 2
    return math.sqrt(min(first, mean, forward, backward))


@njit(cache=True)
def unexplained_rows(rows, g_n, sizes, linear, angular):
    """How far each step's change of velocity is from its accelerations: m/s2 and rad/s2, for the link's origin.

    rows as above, one more than steps. Implicit integrators damp more than the forces they report, and impacts fall
    between two readings; both show here, and a smooth, resolved motion does not. The mean acceleration of a step is
    taken in four ways, two of which look only forward or only backward (Adams and Moulton), and the closest counts: a
    command that switches on one side is no fault.
    """
    zero = (0.0, 0.0, 0.0)
    gravity = (g_n[0], g_n[1], g_n[2])
    for i in range(len(sizes)):
        linear[i] = _unexplained(rows, 7, 13, gravity, i, sizes[i])
        angular[i] = _unexplained(rows, 10, 16, zero, i, sizes[i])
