"""Unit quaternions (w, x, y, z; Hamilton) and rotation vectors (rad): scalar building blocks, then loops over rows.

The scalar functions take and return plain numbers, so that numba inlines them into any other kernel. Loops with
angles in them gather a block of rows into columns first: only over columns does the machine take several at a time.
"""

import math

import numpy as np
from numba import njit

from strapdown.kernels.trigonometry import LARGEST_ANGLE, arc_tangent, half_angle

_BLOCK = 128  # rows whose columns stay in the nearest cache


@njit(cache=True, inline="always")
def mul(aw, ax, ay, az, bw, bx, by, bz):
    """Hamilton product a * b."""
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )


@njit(cache=True, inline="always")
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


@njit(cache=True, error_model="numpy", fastmath=False)
def exp(rx, ry, rz):
    """Quaternion of the rotation vector r."""
    angle2 = rx * rx + ry * ry + rz * rz
    if angle2 > LARGEST_ANGLE * LARGEST_ANGLE:
        if angle2 > 1e30:  # a double no longer tells one turn from the next, and squares may overflow: no turn
            return 1.0, 0.0, 0.0, 0.0
        angle = math.sqrt(angle2)
        w, k = math.cos(0.5 * angle), math.sin(0.5 * angle) / angle
    else:
        w, k = half_angle(angle2)
    return w, k * rx, k * ry, k * rz


@njit(cache=True, inline="always", error_model="numpy")
def log_factor(w, n2):
    """Rotation vector over vector part, 2 atan2(n, w) / n; the arc tangent keeps all digits near 0 and near pi."""
    n = math.sqrt(n2)
    # below: sine and angle agree to n^2 / 6 < 2e-17; also keeps clear of squares that underflow
    return 2.0 / w if n2 < 1e-16 else 2.0 * arc_tangent(n, w) / n


@njit(cache=True, error_model="numpy")
def log(w, x, y, z):
    """Rotation vector of q, of length at most pi."""
    k = log_factor(abs(w), x * x + y * y + z * z)
    k = -k if w < 0.0 else k
    return k * x, k * y, k * z


@njit(cache=True)
def mul_rows(a, b, out):
    for i in range(len(out)):
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = mul(
            a[i, 0], a[i, 1], a[i, 2], a[i, 3], b[i, 0], b[i, 1], b[i, 2], b[i, 3]
        )


@njit(cache=True)
def rotate_rows(q, v, out):
    for i in range(len(out)):
        out[i, 0], out[i, 1], out[i, 2] = rotate(q[i, 0], q[i, 1], q[i, 2], q[i, 3], v[i, 0], v[i, 1], v[i, 2])


@njit(cache=True, error_model="numpy")
def exp_rows(r, out):
    angle2, w, k = np.empty(_BLOCK), np.empty(_BLOCK), np.empty(_BLOCK)
    for first in range(0, len(out), _BLOCK):
        n = min(_BLOCK, len(out) - first)
        for j in range(n):
            i = first + j
            angle2[j] = r[i, 0] * r[i, 0] + r[i, 1] * r[i, 1] + r[i, 2] * r[i, 2]
        for j in range(n):
            w[j], k[j] = half_angle(angle2[j])
        for j in range(n):
            i = first + j
            out[i, 0], out[i, 1], out[i, 2], out[i, 3] = w[j], k[j] * r[i, 0], k[j] * r[i, 1], k[j] * r[i, 2]
        far = 0
        for j in range(n):
            far += 1 if angle2[j] > LARGEST_ANGLE * LARGEST_ANGLE else 0
        if far > 0:
            for i in range(first, first + n):
                out[i, 0], out[i, 1], out[i, 2], out[i, 3] = exp(r[i, 0], r[i, 1], r[i, 2])


@njit(cache=True, error_model="numpy")
def log_rows(q, out):
    w, n2, k = np.empty(_BLOCK), np.empty(_BLOCK), np.empty(_BLOCK)
    for first in range(0, len(out), _BLOCK):
        n = min(_BLOCK, len(out) - first)
        for j in range(n):
            i = first + j
            w[j] = q[i, 0]
            n2[j] = q[i, 1] * q[i, 1] + q[i, 2] * q[i, 2] + q[i, 3] * q[i, 3]
        for j in range(n):
            factor = log_factor(abs(w[j]), n2[j])
            k[j] = -factor if w[j] < 0.0 else factor
        for j in range(n):
            i = first + j
            out[i, 0], out[i, 1], out[i, 2] = k[j] * q[i, 1], k[j] * q[i, 2], k[j] * q[i, 3]


@njit(cache=True, error_model="numpy")
def euler_rows(q, out):
    """Columns roll, pitch, yaw of Rz(yaw) Ry(pitch) Rx(roll).

    Half-angle sums and differences keep all digits up to the pole (Bernardes and Viollet 2022): (w - y, x + z) points
    at (yaw + roll)/2 and (w + y, z - x) at (yaw - roll)/2. At the pole one of them has no length and only the other
    means anything: roll is then 0.
    """
    a, b, c, d = np.empty(_BLOCK), np.empty(_BLOCK), np.empty(_BLOCK), np.empty(_BLOCK)
    for first in range(0, len(out), _BLOCK):
        n = min(_BLOCK, len(out) - first)
        for j in range(n):
            i = first + j
            a[j], b[j] = q[i, 0] - q[i, 2], q[i, 1] + q[i, 3]
            c[j], d[j] = q[i, 0] + q[i, 2], q[i, 3] - q[i, 1]
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
            i = first + j
            out[i, 0], out[i, 1], out[i, 2] = a[j], b[j], c[j]


@njit(cache=True)
def slerp_rows(a, b, fraction, out):
    """From a (fraction 0) to b (fraction 1) along the shorter arc, at constant rate."""
    for i in range(len(out)):
        dw, dx, dy, dz = mul(a[i, 0], -a[i, 1], -a[i, 2], -a[i, 3], b[i, 0], b[i, 1], b[i, 2], b[i, 3])
        rx, ry, rz = log(dw, dx, dy, dz)
        s = fraction[i]
        ew, ex, ey, ez = exp(s * rx, s * ry, s * rz)
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = mul(a[i, 0], a[i, 1], a[i, 2], a[i, 3], ew, ex, ey, ez)


@njit(cache=True)
def matrix_rows(q, out):
    for i in range(len(out)):
        w, x, y, z = q[i, 0], q[i, 1], q[i, 2], q[i, 3]
        out[i, 0, 0] = 1.0 - 2.0 * (y * y + z * z)
        out[i, 0, 1] = 2.0 * (x * y - w * z)
        out[i, 0, 2] = 2.0 * (x * z + w * y)
        out[i, 1, 0] = 2.0 * (x * y + w * z)
        out[i, 1, 1] = 1.0 - 2.0 * (x * x + z * z)
        out[i, 1, 2] = 2.0 * (y * z - w * x)
        out[i, 2, 0] = 2.0 * (x * z - w * y)
        out[i, 2, 1] = 2.0 * (y * z + w * x)
        out[i, 2, 2] = 1.0 - 2.0 * (x * x + y * y)


@njit(cache=True)
def from_matrix_rows(m, out):
    """Shepperd's choice: divide by the largest of the four components, so no digit is lost anywhere."""
    for i in range(len(out)):
        a, b, c = m[i, 0, 0], m[i, 1, 1], m[i, 2, 2]
        trace = a + b + c
        if trace >= a and trace >= b and trace >= c:
            w, x, y, z = 1.0 + trace, m[i, 2, 1] - m[i, 1, 2], m[i, 0, 2] - m[i, 2, 0], m[i, 1, 0] - m[i, 0, 1]
        elif a >= b and a >= c:
            w, x = m[i, 2, 1] - m[i, 1, 2], 1.0 + a - b - c
            y, z = m[i, 1, 0] + m[i, 0, 1], m[i, 0, 2] + m[i, 2, 0]
        elif b >= c:
            w, x = m[i, 0, 2] - m[i, 2, 0], m[i, 1, 0] + m[i, 0, 1]
            y, z = 1.0 + b - a - c, m[i, 2, 1] + m[i, 1, 2]
        else:
            w, x = m[i, 1, 0] - m[i, 0, 1], m[i, 0, 2] + m[i, 2, 0]
            y, z = m[i, 2, 1] + m[i, 1, 2], 1.0 + c - a - b
        k = 1.0 / math.sqrt(w * w + x * x + y * y + z * z)
        if w < 0.0:
            k = -k
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = k * w, k * x, k * y, k * z
