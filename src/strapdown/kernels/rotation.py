"""Unit quaternions (w, x, y, z; Hamilton) and rotation vectors (rad): scalar building blocks, then loops over rows.

The scalar functions take and return plain numbers, so that numba inlines them into any other kernel.
"""

import math

from numba import njit


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


@njit(cache=True)
def exp(rx, ry, rz):
    """Quaternion of the rotation vector r."""
    angle2 = rx * rx + ry * ry + rz * rz
    if angle2 < 1e-8:  # the first terms left out are angle^4 / 384 and angle^4 / 3840 < 3e-19, below one ulp
        w = 1.0 - angle2 / 8.0
        k = 0.5 - angle2 / 48.0
    else:
        angle = math.sqrt(angle2)
        w = math.cos(0.5 * angle)
        k = math.sin(0.5 * angle) / angle
    return w, k * rx, k * ry, k * rz


@njit(cache=True)
def log(w, x, y, z):
    """Rotation vector of q, of length at most pi; atan2 keeps all digits near 0 and near pi alike."""
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    n2 = x * x + y * y + z * z
    # below: sin and angle agree to n^2 / 6 < 2e-17; also keeps clear of squares that underflow
    k = 2.0 / w if n2 < 1e-16 else 2.0 * math.atan2(math.sqrt(n2), w) / math.sqrt(n2)
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


@njit(cache=True)
def exp_rows(r, out):
    for i in range(len(out)):
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = exp(r[i, 0], r[i, 1], r[i, 2])


@njit(cache=True)
def log_rows(q, out):
    for i in range(len(out)):
        out[i, 0], out[i, 1], out[i, 2] = log(q[i, 0], q[i, 1], q[i, 2], q[i, 3])


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
