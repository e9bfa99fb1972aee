"""The motion of a frame that is fixed to a moving link."""

import math

from strapdown.kernels.jit import inlined, internal, kernel, not_constant, pointer, row
from strapdown.kernels.rotation import mul, rotate


@inlined
def cross(ax, ay, az, bx, by, bz):
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@kernel
def mounted_rows(rows, g_n, r_bs_b, q_bs, p_n, v_n, a_n, q_ns, w_s, dw_s):
    """Convert rows from the link's frame b to the sensor's frame s.

    rows: p_n 0:3, q_nb 3:7, v_n 7:10, w_n 10:13, f_n 13:16, dw_n 16:19, all of the link's origin. The linear
    acceleration includes gravity (f = a - g), as physics engines give it.
    """
    g, r, m = pointer(g_n), pointer(r_bs_b), pointer(q_bs)
    for i in range(len(rows)):
        now, p, v, a = row(rows, i), row(p_n, i), row(v_n, i), row(a_n, i)
        k = 1.0 / math.sqrt(now[3] * now[3] + now[4] * now[4] + now[5] * now[5] + now[6] * now[6])
        qw, qx, qy, qz = k * now[3], k * now[4], k * now[5], k * now[6]
        rx, ry, rz = rotate(qw, qx, qy, qz, r[0], r[1], r[2])
        wx, wy, wz = now[10], now[11], now[12]
        tx, ty, tz = cross(wx, wy, wz, rx, ry, rz)
        cx, cy, cz = cross(wx, wy, wz, tx, ty, tz)
        ex, ey, ez = cross(now[16], now[17], now[18], rx, ry, rz)
        p[0], p[1], p[2] = now[0] + rx, now[1] + ry, now[2] + rz
        v[0], v[1], v[2] = now[7] + tx, now[8] + ty, now[9] + tz
        a[0], a[1], a[2] = now[13] + g[0] + (ex + cx), now[14] + g[1] + (ey + cy), now[15] + g[2] + (ez + cz)
        q, w, dw = row(q_ns, i), row(w_s, i), row(dw_s, i)
        qw, qx, qy, qz = mul(qw, qx, qy, qz, m[0], m[1], m[2], m[3])
        q[0], q[1], q[2], q[3] = qw, qx, qy, qz
        w[0], w[1], w[2] = rotate(qw, -qx, -qy, -qz, wx, wy, wz)
        dw[0], dw[1], dw[2] = rotate(qw, -qx, -qy, -qz, now[16], now[17], now[18])


@internal
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


@kernel
def unexplained_rows(rows, g_n, sizes, linear, angular):
    """Difference between each step's change of velocity and its accelerations: m/s2 and rad/s2, for the link's origin.

    rows as above, one more than steps. Implicit integrators damp more than the forces they report, and impacts fall
    between two readings; both show here, and a smooth, resolved motion does not. The mean acceleration of a step is
    computed in four ways. Two of them use only later or only earlier values (Adams and Moulton). The closest counts, so
    a command that switches on one side is no fault.
    """
    zero = (0.0, 0.0, 0.0)
    gravity = (g_n[0], g_n[1], g_n[2])
    for i in range(len(sizes)):
        linear[i] = _unexplained(rows, not_constant(7), not_constant(13), gravity, i, sizes[i])
        angular[i] = _unexplained(rows, not_constant(10), not_constant(16), zero, i, sizes[i])
