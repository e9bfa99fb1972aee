"""Unit quaternions (w, x, y, z; Hamilton) and rotation vectors (rad): scalar building blocks, then loops over rows.

The scalar functions take and return plain numbers, so that numba inlines them into any other kernel. Loops with angles
in them first copy a block of rows into columns, because the processor vectorises only over columns.
"""

import math

import numpy as np

from strapdown.kernels.jit import inlined, internal, kernel, pointer, row
from strapdown.kernels.trigonometry import LARGEST_ANGLE, arc_tangent, half_angle

_BLOCK = 128  # rows whose columns stay in the nearest cache


@inlined
def mul(aw, ax, ay, az, bw, bx, by, bz):
    """Hamilton product a * b."""
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )


@inlined
def rotate(qw, qx, qy, qz, vx, vy, vz):
    """v + 2 w (u x v) + 2 u x (u x v): the vector turned by q."""
    tx = 2.0 * (qy * vz - qz * vy)
    ty = 2.0 * (qz * vx - qx * vz)
    tz = 2.0 * (qx * vy - qy * vx)
    return (
        vx + qw * tx + qy * tz - qz * ty,
        vy + qw * ty + qz * tx - qx * tz,
        vz + qw * tz + qx * ty - qy * tx,
    )


@internal
def exp(rx, ry, rz):
    """Quaternion of the rotation vector r."""
    angle2 = rx * rx + ry * ry + rz * rz
    if angle2 > LARGEST_ANGLE * LARGEST_ANGLE:
        if angle2 > 1e30:  # a double cannot distinguish one turn from the next, and squares may overflow: no turn
            return 1.0, 0.0, 0.0, 0.0
        angle = math.sqrt(angle2)
        w, k = math.cos(0.5 * angle), math.sin(0.5 * angle) / angle
    else:
        w, k = half_angle(angle2)
    return w, k * rx, k * ry, k * rz


@inlined
def log_factor(w, n2):
    """Rotation vector over vector part, 2 atan2(n, w) / n; the arc tangent keeps all digits near 0 and near pi."""
    n = math.sqrt(n2)
    # below: sine and angle agree to n^2 / 6 < 2e-17; also keeps clear of squares that underflow
    return 2.0 / w if n2 < 1e-16 else 2.0 * arc_tangent(n, w) / n


@internal
def log(w, x, y, z):
    """Rotation vector of q, of length at most pi."""
    k = log_factor(abs(w), x * x + y * y + z * z)
    k = -k if w < 0.0 else k
    return k * x, k * y, k * z


@kernel
def mul_rows(a, b, out):
    for i in range(len(out)):
        p, q, r = row(a, i), row(b, i), row(out, i)
        r[0], r[1], r[2], r[3] = mul(p[0], p[1], p[2], p[3], q[0], q[1], q[2], q[3])


@kernel
def rotate_rows(q, v, out):
    for i in range(len(out)):
        p, u, r = row(q, i), row(v, i), row(out, i)
        r[0], r[1], r[2] = rotate(p[0], p[1], p[2], p[3], u[0], u[1], u[2])


@kernel
def exp_rows(r, out):
    angle2, w, k = np.empty(_BLOCK), np.empty(_BLOCK), np.empty(_BLOCK)
    for first in range(0, len(out), _BLOCK):
        n = min(_BLOCK, len(out) - first)
        for j in range(n):
            u = row(r, first + j)
            angle2[j] = u[0] * u[0] + u[1] * u[1] + u[2] * u[2]
        for j in range(n):
            w[j], k[j] = half_angle(angle2[j])
        for j in range(n):
            u, q = row(r, first + j), row(out, first + j)
            q[0], q[1], q[2], q[3] = w[j], k[j] * u[0], k[j] * u[1], k[j] * u[2]
        far = 0
        for j in range(n):
            far += 1 if angle2[j] > LARGEST_ANGLE * LARGEST_ANGLE else 0
        if far > 0:
            for i in range(first, first + n):
                u, q = row(r, i), row(out, i)
                q[0], q[1], q[2], q[3] = exp(u[0], u[1], u[2])


@kernel
def log_rows(q, out):
    w, n2, k = np.empty(_BLOCK), np.empty(_BLOCK), np.empty(_BLOCK)
    for first in range(0, len(out), _BLOCK):
        n = min(_BLOCK, len(out) - first)
        for j in range(n):
            p = row(q, first + j)
            w[j], n2[j] = p[0], p[1] * p[1] + p[2] * p[2] + p[3] * p[3]
        for j in range(n):
            factor = log_factor(abs(w[j]), n2[j])
            k[j] = -factor if w[j] < 0.0 else factor
        for j in range(n):
            p, r = row(q, first + j), row(out, first + j)
            r[0], r[1], r[2] = k[j] * p[1], k[j] * p[2], k[j] * p[3]


@kernel
def euler_rows(q, out):
    """Columns roll, pitch, yaw of Rz(yaw) Ry(pitch) Rx(roll).

    Half-angle sums and differences keep all digits up to the pole (Bernardes and Viollet 2022). (w - y, x + z) points
    at (yaw + roll)/2 and (w + y, z - x) at (yaw - roll)/2. At the pole one of them has no length and only the other has
    a meaning: roll is then 0.
    """
    a, b, c, d = np.empty(_BLOCK), np.empty(_BLOCK), np.empty(_BLOCK), np.empty(_BLOCK)
    for first in range(0, len(out), _BLOCK):
        n = min(_BLOCK, len(out) - first)
        for j in range(n):
            p = row(q, first + j)
            a[j], b[j], c[j], d[j] = p[0] - p[2], p[1] + p[3], p[0] + p[2], p[3] - p[1]
        for j in range(n):
            up, down = math.sqrt(a[j] * a[j] + b[j] * b[j]), math.sqrt(c[j] * c[j] + d[j] * d[j])
            half_sum, half_difference = arc_tangent(b[j], a[j]), arc_tangent(d[j], c[j])
            plus = half_difference if up < 1e-12 else half_sum
            minus = half_sum if (down < 1e-12) & (up >= 1e-12) else half_difference
            roll, yaw = plus - minus, plus + minus
            roll = roll - 2.0 * math.pi if roll > math.pi else (roll + 2.0 * math.pi if roll <= -math.pi else roll)
            yaw = yaw - 2.0 * math.pi if yaw > math.pi else (yaw + 2.0 * math.pi if yaw <= -math.pi else yaw)
            a[j], b[j], c[j] = roll, 2.0 * arc_tangent(down, up) - 0.5 * math.pi, yaw
        for j in range(n):
            r = row(out, first + j)
            r[0], r[1], r[2] = a[j], b[j], c[j]


@kernel
def slerp_rows(a, b, fraction, out):
    """Interpolate from a (fraction 0) to b (fraction 1) along the shorter arc, at constant rate."""
    for i in range(len(out)):
        p, q, r = row(a, i), row(b, i), row(out, i)
        dw, dx, dy, dz = mul(p[0], -p[1], -p[2], -p[3], q[0], q[1], q[2], q[3])
        rx, ry, rz = log(dw, dx, dy, dz)
        s = fraction[i]
        ew, ex, ey, ez = exp(s * rx, s * ry, s * rz)
        r[0], r[1], r[2], r[3] = mul(p[0], p[1], p[2], p[3], ew, ex, ey, ez)


@kernel
def matrix_rows(q, out):
    for i in range(len(out)):
        p = row(q, i)
        w, x, y, z = p[0], p[1], p[2], p[3]
        m = pointer(out[i])
        m[0], m[1], m[2] = 1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)
        m[3], m[4], m[5] = 2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)
        m[6], m[7], m[8] = 2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)


@kernel
def from_matrix_rows(m, out):
    """Shepperd's method divides by the largest of the four components, so no digit is lost."""
    for i in range(len(out)):
        e = pointer(m[i])  # entries row by row
        a, b, c = e[0], e[4], e[8]
        trace = a + b + c
        if trace >= a and trace >= b and trace >= c:
            w, x, y, z = 1.0 + trace, e[7] - e[5], e[2] - e[6], e[3] - e[1]
        elif a >= b and a >= c:
            w, x, y, z = e[7] - e[5], 1.0 + a - b - c, e[3] + e[1], e[2] + e[6]
        elif b >= c:
            w, x, y, z = e[2] - e[6], e[3] + e[1], 1.0 + b - a - c, e[7] + e[5]
        else:
            w, x, y, z = e[3] - e[1], e[2] + e[6], e[7] + e[5], 1.0 + c - a - b
        k = 1.0 / math.sqrt(w * w + x * x + y * y + z * z)
        if w < 0.0:
            k = -k
        r = row(out, i)
        r[0], r[1], r[2], r[3] = k * w, k * x, k * y, k * z
