"""Dead reckoning: attitude, velocity and position from rates and specific force, sample by sample."""

from numba import njit

from strapdown.kernels.jit import internal
from strapdown.kernels.rotation import exp, mul
from strapdown.kernels.rotation import rotate as rotate_inlined


@internal
def rotate(qw, qx, qy, qz, vx, vy, vz):
    """rotation.rotate as a call: numba inlines the original into each caller, which takes long to compile."""
    return rotate_inlined(qw, qx, qy, qz, vx, vy, vz)


@internal
def turned(qw, qx, qy, qz, rx, ry, rz):
    """q * exp(r), normalised to length 1 by one Newton step, so that a million steps stay a rotation."""
    ew, ex, ey, ez = exp(rx, ry, rz)
    w, x, y, z = mul(qw, qx, qy, qz, ew, ex, ey, ez)
    k = 1.5 - 0.5 * (w * w + x * x + y * y + z * z)
    return k * w, k * x, k * y, k * z


@njit(cache=True, error_model="numpy", no_cfunc_wrapper=True)
def dead_reckon(t, gyr, acc, g, q, v, p):
    """Dead reckoning of point samples; row 0 of q, v, p is the state at t[0], the other rows are filled.

    Rate and specific force (in frame n) are linear between samples: second order in the step.
    """
    fx, fy, fz = rotate(q[0, 0], q[0, 1], q[0, 2], q[0, 3], acc[0, 0], acc[0, 1], acc[0, 2])
    ax, ay, az = fx + g[0], fy + g[1], fz + g[2]
    for i in range(1, len(t)):
        h = t[i] - t[i - 1]
        ux, uy, uz = gyr[i - 1, 0], gyr[i - 1, 1], gyr[i - 1, 2]
        wx, wy, wz = gyr[i, 0], gyr[i, 1], gyr[i, 2]
        # a rate that runs straight from u to w turns through the mean plus the coning term h^2 / 12 u x w
        # (Bortz)
        c = h * h / 12.0
        q[i, 0], q[i, 1], q[i, 2], q[i, 3] = turned(
            q[i - 1, 0],
            q[i - 1, 1],
            q[i - 1, 2],
            q[i - 1, 3],
            0.5 * h * (ux + wx) + c * (uy * wz - uz * wy),
            0.5 * h * (uy + wy) + c * (uz * wx - ux * wz),
            0.5 * h * (uz + wz) + c * (ux * wy - uy * wx),
        )
        fx, fy, fz = rotate(q[i, 0], q[i, 1], q[i, 2], q[i, 3], acc[i, 0], acc[i, 1], acc[i, 2])
        bx, by, bz = fx + g[0], fy + g[1], fz + g[2]
        k = h * h / 6.0
        p[i, 0] = p[i - 1, 0] + h * v[i - 1, 0] + k * (2.0 * ax + bx)
        p[i, 1] = p[i - 1, 1] + h * v[i - 1, 1] + k * (2.0 * ay + by)
        p[i, 2] = p[i - 1, 2] + h * v[i - 1, 2] + k * (2.0 * az + bz)
        v[i, 0] = v[i - 1, 0] + 0.5 * h * (ax + bx)
        v[i, 1] = v[i - 1, 1] + 0.5 * h * (ay + by)
        v[i, 2] = v[i - 1, 2] + 0.5 * h * (az + bz)
        ax, ay, az = bx, by, bz


@njit(cache=True, error_model="numpy", no_cfunc_wrapper=True)
def dead_reckon_increments(dt, theta, dv, g, q0, v0, p0, q, v, p):
    """Dead reckoning of increments; q0, v0, p0 is the state before the first interval, row i of q, v, p that after
    interval i.

    q <- q exp(theta) and v <- v + q dv + g dt are exact; for the position the velocity is linear in between.
    """
    qw, qx, qy, qz = q0[0], q0[1], q0[2], q0[3]
    vx, vy, vz = v0[0], v0[1], v0[2]
    px, py, pz = p0[0], p0[1], p0[2]
    for i in range(len(dt)):
        h = dt[i]
        fx, fy, fz = rotate(qw, qx, qy, qz, dv[i, 0], dv[i, 1], dv[i, 2])
        ux, uy, uz = vx + fx + g[0] * h, vy + fy + g[1] * h, vz + fz + g[2] * h
        px, py, pz = px + 0.5 * h * (vx + ux), py + 0.5 * h * (vy + uy), pz + 0.5 * h * (vz + uz)
        vx, vy, vz = ux, uy, uz
        qw, qx, qy, qz = turned(qw, qx, qy, qz, theta[i, 0], theta[i, 1], theta[i, 2])
        q[i, 0], q[i, 1], q[i, 2], q[i, 3] = qw, qx, qy, qz
        v[i, 0], v[i, 1], v[i, 2] = vx, vy, vz
        p[i, 0], p[i, 1], p[i, 2] = px, py, pz
