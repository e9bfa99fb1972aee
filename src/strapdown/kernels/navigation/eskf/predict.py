"""The error-state filter between measurements: attitude, velocity and position forward, and their covariance.

P <- Phi P Phi^T + Q with Phi = I + h F: dp' = dv, dv' = -f_n x phi - R dba, phi' = -R dbg. F has few blocks, so Phi
acts on rows of P, P is turned over, and Phi acts once more: P Phi^T = (Phi P)^T for symmetric P.
"""

import math

from numba import njit

from strapdown.kernels.navigation.dead_reckoning import turned
from strapdown.kernels.navigation.eskf.excess import acc_excess, gyr_excess
from strapdown.kernels.navigation.eskf.layout import (
    ACC_BIAS,
    BIAS_A,
    BIAS_G,
    BIAS_M,
    COLUMNS,
    GYR_BIAS,
    LAST_ACC,
    LAST_GYR,
    MAG_BIAS,
    P_N,
    PHI_N,
    POSITION,
    S_ACC_AXES_VAR,
    S_ACC_BIAS_CAP,
    S_ACC_BIAS_Q,
    S_ACC_Q,
    S_ACC_READ,
    S_ACC_SCALE_VAR,
    S_GAP_ACC_Q,
    S_GAP_RATE_Q,
    S_GAP_TILT,
    S_GRAVITY,
    S_GYR_BIAS_CAP,
    S_GYR_BIAS_Q,
    S_GYR_EXCESS_VAR,
    S_GYR_Q,
    S_GYR_READ,
    S_MAG_PER_M,
    S_MAG_RATE,
    S_MAG_VAR,
    S_MEANS,
    S_R_SB,
    S_SIDE_R,
    S_STILL_Q,
    STEP_S,
    T_F,
    T_H,
    T_R,
    T_RHO,
    T_TURN,
    V_N,
    VELOCITY,
    N,
    Q,
)
from strapdown.kernels.navigation.mechanisation import increment_of_points
from strapdown.kernels.rotation import rotate

_WIDEST = math.pi**2 / 3.0  # variance of an angle of which nothing is known


@njit(cache=True)
def matrix(w, x, y, z):
    """R of q, row by row."""
    return (
        1.0 - 2.0 * (y * y + z * z),
        2.0 * (x * y - w * z),
        2.0 * (x * z + w * y),
        2.0 * (x * y + w * z),
        1.0 - 2.0 * (x * x + z * z),
        2.0 * (y * z - w * x),
        2.0 * (x * z - w * y),
        2.0 * (y * z + w * x),
        1.0 - 2.0 * (x * x + y * y),
    )


@njit(cache=True)
def ends(m0, m1):
    """Values at the start and the end of this step, on the line with means m0 in the step before and m1 in this."""
    a, b, c = 0.5 * (m1[0] - m0[0]), 0.5 * (m1[1] - m0[1]), 0.5 * (m1[2] - m0[2])
    return (m1[0] - a, m1[1] - b, m1[2] - c), (m1[0] + a, m1[1] + b, m1[2] + c)


@njit(cache=True)
def phi_rows(cov, columns, h, f, r, turn):
    """Rows of cov from the left by Phi, but for the biases' own decay. f: h f_n; r: h R_ns, row by row; turn: 1, or 0
    if the body did not turn whatever the gyroscope's bias."""
    fx, fy, fz = f
    r0, r1, r2, r3, r4, r5, r6, r7, r8 = r
    for j in range(columns):
        x, y, z = cov[6, j], cov[7, j], cov[8, j]
        a, b, c = cov[12, j], cov[13, j], cov[14, j]
        cov[0, j] += h * cov[3, j]
        cov[1, j] += h * cov[4, j]
        cov[2, j] += h * cov[5, j]
        cov[3, j] += y * fz - z * fy - (r0 * a + r1 * b + r2 * c)
        cov[4, j] += z * fx - x * fz - (r3 * a + r4 * b + r5 * c)
        cov[5, j] += x * fy - y * fx - (r6 * a + r7 * b + r8 * c)
        a, b, c = turn * cov[9, j], turn * cov[10, j], turn * cov[11, j]
        cov[6, j] -= r0 * a + r1 * b + r2 * c
        cov[7, j] -= r3 * a + r4 * b + r5 * c
        cov[8, j] -= r6 * a + r7 * b + r8 * c


@njit(cache=True)
def propagate(cov, h, f, r, turn):
    """Phi P Phi^T, and Phi times the considered columns."""
    columns = COLUMNS
    for _ in range(2):
        phi_rows(cov, columns, h, f, r, turn)
        if columns == COLUMNS:
            for i in range(N):
                for j in range(i):
                    cov[i, j], cov[j, i] = cov[j, i], cov[i, j]
        columns = N


@njit(cache=True)
def predict(x, cov, s, gyr, acc, h, still, tape):
    """One step of h s, between the reading before and this one. still: the body did not turn during it."""
    w0 = (x[LAST_GYR] - x[BIAS_G], x[LAST_GYR + 1] - x[BIAS_G + 1], x[LAST_GYR + 2] - x[BIAS_G + 2])
    w1 = (gyr[0] - x[BIAS_G], gyr[1] - x[BIAS_G + 1], gyr[2] - x[BIAS_G + 2])
    f0 = (x[LAST_ACC] - x[BIAS_A], x[LAST_ACC + 1] - x[BIAS_A + 1], x[LAST_ACC + 2] - x[BIAS_A + 2])
    f1 = (acc[0] - x[BIAS_A], acc[1] - x[BIAS_A + 1], acc[2] - x[BIAS_A + 2])
    if s[S_MEANS] > 0.0:  # ends of the line that has these means
        w0, w1 = ends(w0, w1)
        f0, f1 = ends(f0, f1)
    if still:
        w0 = w1 = (0.0, 0.0, 0.0)
    qw, qx, qy, qz = x[Q], x[Q + 1], x[Q + 2], x[Q + 3]
    r = matrix(qw, qx, qy, qz)
    (tx, ty, tz), (dx, dy, dz) = increment_of_points(w0, w1, f0, f1, h)
    fx, fy, fz = rotate(qw, qx, qy, qz, dx, dy, dz)
    vx, vy, vz = x[VELOCITY], x[VELOCITY + 1], x[VELOCITY + 2]
    ux, uy, uz = vx + fx, vy + fy, vz + fz - s[S_GRAVITY] * h
    x[VELOCITY], x[VELOCITY + 1], x[VELOCITY + 2] = ux, uy, uz
    x[POSITION] += 0.5 * h * (vx + ux)
    x[POSITION + 1] += 0.5 * h * (vy + uy)
    x[POSITION + 2] += 0.5 * h * (vz + uz)
    x[Q], x[Q + 1], x[Q + 2], x[Q + 3] = turned(qw, qx, qy, qz, tx, ty, tz)

    hr = (h * r[0], h * r[1], h * r[2], h * r[3], h * r[4], h * r[5], h * r[6], h * r[7], h * r[8])
    if len(tape) > 0:
        tape[T_H], tape[T_F], tape[T_F + 1], tape[T_F + 2] = h, fx, fy, fz
        for i, value in enumerate(hr):
            tape[T_R + i] = value
        tape[T_TURN] = 0.0 if still else 1.0
    wander(x, cov, s, h, tape)
    propagate(cov, h, (fx, fy, fz), hr, 0.0 if still else 1.0)
    if s[S_GYR_EXCESS_VAR] > 0.0 and not still:
        gyr_excess(cov, s[S_GYR_EXCESS_VAR], r, rotate(qw, qx, qy, qz, tx, ty, tz))
    if s[S_ACC_SCALE_VAR] + s[S_ACC_AXES_VAR] > 0.0 and not still:
        dv_n = (fx, fy, fz - s[S_GRAVITY] * h)
        free = 1.0 if s[S_SIDE_R] < 0.0 else 0.0
        acc_excess(cov, s[S_ACC_SCALE_VAR], s[S_ACC_AXES_VAR], free, dv_n, r, s[S_R_SB : S_R_SB + 9])
    # over a lost sample the same two readings stand for a longer time: their own noise does not shrink with it
    weight = h * max(h / x[STEP_S], 1.0) if x[STEP_S] > 0.0 else h
    turning = s[S_STILL_Q] * h if still else s[S_GYR_Q] * weight + s[S_GYR_READ] * h * h
    pushing = s[S_ACC_Q] * weight + s[S_ACC_READ] * h * h
    for i in range(3):
        cov[V_N + i, V_N + i] += pushing
        cov[PHI_N + i, PHI_N + i] += turning


@njit(cache=True)
def wander(x, cov, s, h, tape):
    """Biases: a walk until their variance reaches its cap, and from there the decay that keeps it: Gauss-Markov."""
    for i in range(6):
        k = GYR_BIAS + i
        q = (s[S_GYR_BIAS_Q] if i < 3 else s[S_ACC_BIAS_Q]) * h
        cap = s[S_GYR_BIAS_CAP] if i < 3 else s[S_ACC_BIAS_CAP]
        rho = 1.0
        if cov[k, k] + q > cap:
            q = min(q, cap)
            rho = math.sqrt((cap - q) / cov[k, k]) if cov[k, k] > 0.0 else 1.0
            scale(cov, k, rho)
        cov[k, k] += q
        if len(tape) > 0:
            tape[T_RHO + i] = rho
    rho = 1.0
    if s[S_MAG_VAR] > 0.0:  # the disturbance belongs to the place: it changes with the way
        speed = math.sqrt(x[VELOCITY] ** 2 + x[VELOCITY + 1] ** 2)
        rho = math.exp(-h * (s[S_MAG_RATE] + speed * s[S_MAG_PER_M]))
        scale(cov, MAG_BIAS, rho)
        cov[MAG_BIAS, MAG_BIAS] += s[S_MAG_VAR] * (1.0 - rho * rho)
        x[BIAS_M] *= rho
    if len(tape) > 0:
        tape[T_RHO + 6] = rho


@njit(cache=True)
def scale(cov, k, rho):
    for j in range(COLUMNS):
        cov[k, j] *= rho
    for j in range(N):
        cov[j, k] *= rho


@njit(cache=True)
def predict_gap(x, cov, s, h, tape):
    """A time without readings: the last velocity goes on, and anything up to the gap's acceleration and rate may have
    happened. The heading may have become anything; the tilt of a vehicle on a floor only so much."""
    for i in range(3):
        x[POSITION + i] += h * x[VELOCITY + i]
    if len(tape) > 0:
        tape[: T_RHO + 7] = 0.0
        tape[T_H] = h
        for i in range(7):
            tape[T_RHO + i] = 1.0
    nothing = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    propagate(cov, h, (0.0, 0.0, 0.0), nothing, 0.0)
    q = s[S_GAP_ACC_Q]
    for i in range(3):
        cov[P_N + i, P_N + i] += q * h * h * h / 3.0
        cov[P_N + i, V_N + i] += 0.5 * q * h * h
        cov[V_N + i, P_N + i] += 0.5 * q * h * h
        cov[V_N + i, V_N + i] += q * h
        cov[PHI_N + i, PHI_N + i] += min(s[S_GAP_RATE_Q] * h, _WIDEST if i == 2 else s[S_GAP_TILT])
        cov[GYR_BIAS + i, GYR_BIAS + i] += s[S_GYR_BIAS_Q] * h
        cov[ACC_BIAS + i, ACC_BIAS + i] += s[S_ACC_BIAS_Q] * h
