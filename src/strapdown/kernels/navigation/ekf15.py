"""Paper C's filter, one sample at a time: a stop that is believed resets it, any other sample is one EKF cycle.

Frames: n as ours; body as the paper's, x right, y forward, z up. C = Rz(-heading) Rx(pitch) Ry(roll), body to n.
"""

import math

import numpy as np
from numba import njit

from strapdown.kernels.navigation.ekf15_covariance import (
    HEADING,
    PITCH,
    ROLL,
    A,
    M,
    N,
    V,
    W,
    angle_jacobians,
    predict,
    update,
)

# numbers of a state: the 15 states, then
STOP_ROWS, FORCE_SUM, FIELD_ROWS, FIELD_SUM = 15, 16, 19, 20  # of the stop that goes on: rows and sums
SAID, NIS = 23, 24  # bits of this row, normalised innovation squared (-1: no update)
COVARIANCE = 25
X_SIZE = COVARIANCE + N * N
# what a row brings
SEEN_STOP, SEEN_FIELD = 1, 2
# what a row said
BELIEVED, REFUSED, GAP, UPDATED, NOT_UPDATED = 1, 2, 4, 8, 16
# settings
S_GRAVITY, S_FORCE_VAR, S_RATE_VAR, S_HEADING_VAR, S_ACC_Q, S_RATE_Q, S_ANGLE_Q = 0, 1, 2, 3, 4, 5, 6
S_STOP_FORCE, S_STOP_RATE, S_TILT_VAR, S_HEADING_VAR_0, S_DECLINATION = 7, 8, 9, 10, 11
S_GAP_S, S_GAP_ACC_Q, S_GAP_RATE_Q = 12, 13, 14
S_PRINTED_RATE, S_PRINTED_INNOVATION, S_PRINTED_CASES, S_PRINTED_RESET, S_PRINTED_COVARIANCE = 15, 16, 17, 18, 19
S_RATE_BIAS, S_R_PS = 20, 23  # of the sensor's frame s; from s to the paper's body, by rows
S_SIZE = 32


@njit(cache=True)
def wrapped(angle):
    """The same angle in (-pi, pi]."""
    if -math.pi < angle <= math.pi:
        return angle
    turned = math.pi - (math.pi - angle) % (2.0 * math.pi)
    return math.pi if turned == -math.pi else turned


@njit(cache=True, error_model="numpy")
def magnetic_heading(hx, hy, hz, roll, pitch, printed):
    """Clockwise from magnetic north. printed: by the paper's cases, which leave out south (hx = 0, hy < 0)."""
    sr, cr, sp, cp = math.sin(roll), math.cos(roll), math.sin(pitch), math.cos(pitch)
    x = hx * cr + hz * sr
    y = hy * cp + hx * sr * sp - hz * cr * sp
    if not printed:
        return math.atan2(-x, y)
    if y > 0.0:
        return -math.atan(x / y)
    if y == 0.0 and x != 0.0:
        return math.copysign(0.5 * math.pi, -x)
    if y < 0.0 and x < 0.0:
        return math.pi - math.atan(x / y)
    if y < 0.0 and x > 0.0:
        return -math.pi - math.atan(x / y)
    return 0.0


@njit(cache=True, error_model="numpy")
def body_to_n(roll, heading, pitch, c):
    """C, (3, 3)."""
    sr, cr, sh, ch, sp, cp = (
        math.sin(roll),
        math.cos(roll),
        math.sin(heading),
        math.cos(heading),
        math.sin(pitch),
        math.cos(pitch),
    )
    c[0, 0], c[0, 1], c[0, 2] = ch * cr + sh * sp * sr, sh * cp, ch * sr - sh * sp * cr
    c[1, 0], c[1, 1], c[1, 2] = -sh * cr + ch * sp * sr, ch * cp, -sh * sr - ch * sp * cr
    c[2, 0], c[2, 1], c[2, 2] = -cp * sr, sp, cp * cr


@njit(cache=True, error_model="numpy")
def _turned(x, c, dt):
    """Angles after C exp(Omega dt); c: C before."""
    rx, ry, rz = x[W] * dt, x[W + 1] * dt, x[W + 2] * dt
    angle2 = rx * rx + ry * ry + rz * rz
    if angle2 < 1e-8:  # next terms: angle^4 / 120 and / 720 < 1e-18, below one ulp
        a, b = 1.0 - angle2 / 6.0, 0.5 - angle2 / 24.0
    else:
        angle = math.sqrt(angle2)
        a, b = math.sin(angle) / angle, (1.0 - math.cos(angle)) / angle2
    # the rows of exp(Omega) that the angles need: C[2, :] and C[:, 1] of the product
    e01, e11, e21 = b * rx * ry - a * rz, 1.0 - b * (rx * rx + rz * rz), b * ry * rz + a * rx
    e00, e10, e20 = 1.0 - b * (ry * ry + rz * rz), b * rx * ry + a * rz, b * rx * rz - a * ry
    e02, e12, e22 = b * rx * rz + a * ry, b * ry * rz - a * rx, 1.0 - b * (rx * rx + ry * ry)
    x[HEADING] = math.atan2(
        c[0, 0] * e01 + c[0, 1] * e11 + c[0, 2] * e21, c[1, 0] * e01 + c[1, 1] * e11 + c[1, 2] * e21
    )
    x[ROLL] = math.atan2(
        -(c[2, 0] * e00 + c[2, 1] * e10 + c[2, 2] * e20), c[2, 0] * e02 + c[2, 1] * e12 + c[2, 2] * e22
    )
    x[PITCH] = math.asin(max(-1.0, min(1.0, c[2, 0] * e01 + c[2, 1] * e11 + c[2, 2] * e21)))


@njit(cache=True, error_model="numpy")
def _predict(x, cov, settings, dt, c, by_rate, by_angle):
    """Constant acceleration and rate over dt; attitude through the direction cosine matrix."""
    roll, heading, pitch = x[ROLL], x[HEADING], x[PITCH]
    body_to_n(roll, heading, pitch, c)
    printed = settings[S_PRINTED_RATE] != 0.0
    angle_jacobians(roll, pitch, x[W], x[W + 1], x[W + 2], not printed, by_rate, by_angle)
    for i in range(3):
        x[i] += dt * x[V + i] + 0.5 * dt * dt * x[A + i]
        x[V + i] += dt * x[A + i]
    rate = x[W] * math.sin(roll) - x[W + 2] * math.cos(roll)
    _turned(x, c, dt)
    if printed:
        x[HEADING] = wrapped(heading + dt * rate)
    predict(cov, dt, by_rate, by_angle, settings[S_ACC_Q] * dt, settings[S_RATE_Q] * dt, settings[S_ANGLE_Q] * dt)


@njit(cache=True, error_model="numpy")
def _over_gap(x, cov, settings, dt):
    """No readings for long: acceleration and rates are not known any more, and the variances open."""
    for i in range(3):
        x[i] += dt * x[V + i]
        x[A + i] = x[W + i] = 0.0
    for j in range(N):  # cov <- F cov F' with p += dt v
        for i in range(3):
            cov[i, j] += dt * cov[V + i, j]
    for i in range(N):
        for j in range(3):
            cov[i, j] += dt * cov[i, V + j]
    for k in range(A, W + 3):
        for j in range(N):
            cov[k, j] = cov[j, k] = 0.0
    for i in range(3):
        cov[i, i] += settings[S_GAP_ACC_Q] * dt * dt * dt / 3.0
        cov[V + i, V + i] += settings[S_GAP_ACC_Q] * dt
        cov[A + i, A + i], cov[W + i, W + i] = settings[S_GAP_ACC_Q], settings[S_GAP_RATE_Q]
        cov[ROLL + i, ROLL + i] += settings[S_GAP_RATE_Q] * dt


@njit(cache=True, error_model="numpy")
def _reset(x, cov, settings, force, field, has_field):
    """The paper's zero-velocity update, from the averages of the stop so far."""
    x[STOP_ROWS] += 1.0
    for i in range(3):
        x[FORCE_SUM + i] += force[i]
        x[V + i] = x[A + i] = x[W + i] = 0.0
    fx, fy, fz = x[FORCE_SUM], x[FORCE_SUM + 1], x[FORCE_SUM + 2]
    x[PITCH] = math.atan2(fy, math.sqrt(fx * fx + fz * fz))
    x[ROLL] = math.atan2(-fx, fz)
    if has_field:
        x[FIELD_ROWS] += 1.0
        for i in range(3):
            x[FIELD_SUM + i] += field[i]
    known = x[FIELD_ROWS] > 0.0
    if known:
        x[HEADING] = wrapped(
            magnetic_heading(
                x[FIELD_SUM], x[FIELD_SUM + 1], x[FIELD_SUM + 2], x[ROLL], x[PITCH], settings[S_PRINTED_CASES] != 0.0
            )
            + settings[S_DECLINATION]
        )
    for k in range(V, N):
        if k == HEADING and not known:  # nothing was re-read: the heading is as uncertain as before
            continue
        if settings[S_PRINTED_RESET] == 0.0:
            for j in range(N):
                cov[k, j] = cov[j, k] = 0.0
        if k < ROLL:
            cov[k, k] = 0.0
        else:
            cov[k, k] = settings[S_HEADING_VAR_0] if k == HEADING else settings[S_TILT_VAR]


@njit(cache=True, error_model="numpy")
def _update(x, cov, settings, force, rate, field, has_field, c, force_by):
    """The seven measurements, or six without a new reading of the magnetometer."""
    innovation, variance = np.empty(M), np.empty(M)
    roll, heading, pitch = x[ROLL], x[HEADING], x[PITCH]
    body_to_n(roll, heading, pitch, c)
    ax, ay, az = x[A], x[A + 1], x[A + 2] + settings[S_GRAVITY]  # a - g, frame n
    sr, cr = math.sin(roll), math.cos(roll)
    for i in range(3):
        innovation[i] = force[i] - (c[0, i] * ax + c[1, i] * ay + c[2, i] * az)
        innovation[3 + i] = rate[i] - x[W + i]
        variance[i], variance[3 + i] = settings[S_FORCE_VAR], settings[S_RATE_VAR]
        for k in range(3):
            force_by[i, k] = c[k, i]
    fx, fy, fz = force[0] - innovation[0], force[1] - innovation[1], force[2] - innovation[2]
    # by roll: d/dr Ry(-r) u = (-u'_z, 0, u'_x) with u' the force itself
    force_by[0, 3], force_by[1, 3], force_by[2, 3] = -fz, 0.0, fx
    # by heading: C' turns the horizontal part by +heading, so its derivative is that of (-y, x)
    for i in range(3):
        force_by[i, 4] = -c[0, i] * ay + c[1, i] * ax
    # by pitch: d/dp Rx(-p) u = (0, z, -y) of the vector between, then Ry(-roll)
    y1 = cr * fz - sr * fx  # z of the vector between, as Ry(roll) f
    force_by[0, 5], force_by[1, 5], force_by[2, 5] = sr * fy, y1, -cr * fy
    m = 6
    if has_field:
        m = 7
        found = magnetic_heading(field[0], field[1], field[2], roll, pitch, settings[S_PRINTED_CASES] != 0.0)
        off = wrapped(found + settings[S_DECLINATION]) - heading
        innovation[6] = off if settings[S_PRINTED_INNOVATION] != 0.0 else wrapped(off)
        variance[6] = settings[S_HEADING_VAR]
    nis = update(x, cov, force_by, innovation, variance, m, settings[S_PRINTED_COVARIANCE] != 0.0)
    x[HEADING], x[ROLL] = wrapped(x[HEADING]), wrapped(x[ROLL])
    return nis


@njit(cache=True, error_model="numpy")
def _row(x, settings, seen, gyr, acc, mag, dt, work, vectors):
    """One sample; work: (4, 3, 6) and vectors (3, 3) are room for matrices."""
    cov = x[COVARIANCE:].reshape(N, N)
    c, by_rate, by_angle, force_by = work[0, :, :3], work[1, :, :3], work[2, :, :3], work[3]
    force, rate, field = vectors[0], vectors[1], vectors[2]
    for i in range(3):
        force[i] = rate[i] = field[i] = 0.0
        for k in range(3):
            turn = settings[S_R_PS + 3 * i + k]
            force[i] += turn * acc[k]
            rate[i] += turn * (gyr[k] - settings[S_RATE_BIAS + k])
            field[i] += turn * mag[k]
    has_field = (seen & SEEN_FIELD) != 0
    said = 0
    if dt > settings[S_GAP_S]:
        said |= GAP
        _over_gap(x, cov, settings, dt)
    elif dt > 0.0:
        _predict(x, cov, settings, dt, c, by_rate, by_angle)
    stopped = False
    if (seen & SEEN_STOP) != 0:
        length = math.sqrt(force[0] * force[0] + force[1] * force[1] + force[2] * force[2])
        turning = math.sqrt(rate[0] * rate[0] + rate[1] * rate[1] + rate[2] * rate[2])
        stopped = abs(length - settings[S_GRAVITY]) < settings[S_STOP_FORCE] and turning < settings[S_STOP_RATE]
        said |= BELIEVED if stopped else REFUSED
    if stopped:
        _reset(x, cov, settings, force, field, has_field)
        x[NIS] = -1.0
    else:
        for i in range(STOP_ROWS, SAID):  # whatever it was, the averages of a stop end with it
            x[i] = 0.0
        x[NIS] = _update(x, cov, settings, force, rate, field, has_field, c, force_by)
        said |= UPDATED if x[NIS] >= 0.0 else NOT_UPDATED
    x[SAID] = said


@njit(cache=True, error_model="numpy")
def step(x, settings, seen, gyr, acc, mag, dt):
    """x becomes the state one sample later."""
    _row(x, settings, seen, gyr, acc, mag, dt, np.empty((4, 3, 6)), np.empty((3, 3)))


@njit(cache=True, error_model="numpy")
def rows(x, settings, seen, gyr, acc, mag, dt, states, sigma, said, nis):
    """A whole recording. states: the 15; sigma: deviations of p_n, v_n and the small rotation in n, (n, 9)."""
    work, vectors = np.empty((4, 3, 6)), np.empty((3, 3))
    for i in range(len(dt)):
        _row(x, settings, seen[i], gyr[i], acc[i], mag[i] if len(mag) > 0 else gyr[i], dt[i], work, vectors)
        for k in range(N):
            states[i, k] = x[k]
        deviations(x, sigma[i])
        said[i] = int(x[SAID])
        nis[i] = x[NIS]


@njit(cache=True, error_model="numpy")
def deviations(x, out):
    """Of position, velocity (frame n) and of the small rotation (rad, frame n) between truth and estimate."""
    cov = x[COVARIANCE:].reshape(N, N)
    for i in range(6):
        out[i] = math.sqrt(max(cov[i, i], 0.0))
    sh, ch, sp, cp = math.sin(x[HEADING]), math.cos(x[HEADING]), math.sin(x[PITCH]), math.cos(x[PITCH])
    # axes of roll (y of the body), heading (-z of n) and pitch (x turned by the heading alone), told in n
    axes = ((sh * cp, 0.0, ch), (ch * cp, 0.0, -sh), (sp, -1.0, 0.0))
    for i in range(3):
        axis = axes[i]
        total = 0.0
        for j in range(3):
            for k in range(3):
                total += axis[j] * cov[ROLL + j, ROLL + k] * axis[k]
        out[6 + i] = math.sqrt(max(total, 0.0))
