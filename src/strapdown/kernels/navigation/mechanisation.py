"""Readings to increments: the turn as a rotation vector (coning) and the velocity gained, expressed in the frame of the
start (rotation and sculling); Savage 1998. Rates and forces are tuples of three numbers."""

from numba import njit

from strapdown.kernels.jit import internal


@internal
def cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@internal
def increment_of_points(w0, w1, f0, f1, h):
    """Rate and force are linear from their values at the start to those at the end of h s.

    theta = int w + 1/2 int int w x w; dv = int f + int (int w) x f. The third order is as if both were constant. The
    third order does not average out, because gravity is always there.
    """
    c = cross(w0, w1)
    k = h * h / 12.0
    theta = (
        0.5 * h * (w0[0] + w1[0]) + k * c[0],
        0.5 * h * (w0[1] + w1[1]) + k * c[1],
        0.5 * h * (w0[2] + w1[2]) + k * c[2],
    )
    # int_0^1 (w0 s + (w1 - w0) s^2/2) x (f0 + (f1 - f0) s) ds, term by term, in 24ths
    a, b, d, e = cross(w0, f0), cross(w0, f1), cross(w1, f0), cross(w1, f1)
    k = h * h / 24.0
    plain = 0.5 * h * (f0[0] + f1[0]), 0.5 * h * (f0[1] + f1[1]), 0.5 * h * (f0[2] + f1[2])
    third = cross(theta, cross(theta, plain))
    dv = (
        plain[0] + k * (3.0 * a[0] + 5.0 * b[0] + d[0] + 3.0 * e[0]) + third[0] / 6.0,
        plain[1] + k * (3.0 * a[1] + 5.0 * b[1] + d[1] + 3.0 * e[1]) + third[1] / 6.0,
        plain[2] + k * (3.0 * a[2] + 5.0 * b[2] + d[2] + 3.0 * e[2]) + third[2] / 6.0,
    )
    return theta, dv


@internal
def increment_of_sums(a0, a1, b0, b1):
    """Increment from sums over two steps of one length: a0, b0 of the previous step, a1, b1 of this one (rad, m/s).

    Rate and force are linear through both. Coning is 1/12 a0 x a1, rotation 1/2 a1 x b1 and 1/6 a1 x (a1 x b1),
    sculling 1/12 (a0 x b1 + b0 x a1).
    """
    coning, turning = cross(a0, a1), cross(a1, b1)
    s0, s1, third = cross(a0, b1), cross(b0, a1), cross(a1, turning)
    theta = (a1[0] + coning[0] / 12.0, a1[1] + coning[1] / 12.0, a1[2] + coning[2] / 12.0)
    dv = (
        b1[0] + 0.5 * turning[0] + third[0] / 6.0 + (s0[0] + s1[0]) / 12.0,
        b1[1] + 0.5 * turning[1] + third[1] / 6.0 + (s0[1] + s1[1]) / 12.0,
        b1[2] + 0.5 * turning[2] + third[2] / 6.0 + (s0[2] + s1[2]) / 12.0,
    )
    return theta, dv


@njit(cache=True, error_model="numpy", no_cfunc_wrapper=True)
def increments_of_points_rows(t, gyr, acc, theta, dv):
    """Row i is the step that ends at t[i]; row 0 has no length and is not changed."""
    for i in range(1, len(t)):
        (theta[i, 0], theta[i, 1], theta[i, 2]), (dv[i, 0], dv[i, 1], dv[i, 2]) = increment_of_points(
            (gyr[i - 1, 0], gyr[i - 1, 1], gyr[i - 1, 2]),
            (gyr[i, 0], gyr[i, 1], gyr[i, 2]),
            (acc[i - 1, 0], acc[i - 1, 1], acc[i - 1, 2]),
            (acc[i, 0], acc[i, 1], acc[i, 2]),
            t[i] - t[i - 1],
        )


@internal
def before(rows, i, k, c, h):
    """The sum over h s before row i, on the line through the means of rows k and i."""
    return (
        h * (rows[i, 0] + c * (rows[k, 0] - rows[i, 0])),
        h * (rows[i, 1] + c * (rows[k, 1] - rows[i, 1])),
        h * (rows[i, 2] + c * (rows[k, 2] - rows[i, 2])),
    )


@njit(cache=True, error_model="numpy", no_cfunc_wrapper=True)
def increments_of_means_rows(dt, gyr, acc, theta, dv):
    """Readings are means over the step of dt[i] that ends at row i. The first step has no previous one and uses itself.
    With steps of other lengths the line through the two means is extended to a step of this length.
    """
    for i in range(len(dt)):
        h, k = dt[i], max(i - 1, 0)
        c = 2.0 * h / (h + dt[k]) if h > 0.0 else 1.0
        (theta[i, 0], theta[i, 1], theta[i, 2]), (dv[i, 0], dv[i, 1], dv[i, 2]) = increment_of_sums(
            before(gyr, i, k, c, h),
            (h * gyr[i, 0], h * gyr[i, 1], h * gyr[i, 2]),
            before(acc, i, k, c, h),
            (h * acc[i, 0], h * acc[i, 1], h * acc[i, 2]),
        )
