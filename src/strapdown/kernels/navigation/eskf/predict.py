"""The error-state filter between measurements: attitude, velocity and position forward, and their covariance.

P <- Phi P Phi^T + Q with Phi = I + h F: dp' = dv, dv' = -f_n x phi - R dba, phi' = -R dbg. F has few blocks. So Phi
acts on rows of P, P is transposed, and Phi acts once more: P Phi^T = (Phi P)^T for symmetric P.
"""

import math

from strapdown.kernels.jit import internal, not_constant
from strapdown.kernels.navigation.dead_reckoning import rotate, turned
from strapdown.kernels.navigation.eskf.excess import acc_excess, gyr_excess
from strapdown.kernels.navigation.eskf.layout import (
    ACC_BIAS,
    BIAS_A,
    BIAS_G,
    BIAS_M,
    COLUMNS,
    COVARIANCE,
    GYR_BIAS,
    IN_STOP_S,
    LAST_ACC,
    LAST_GYR,
    MAG_BIAS,
    MEANS,
    P_N,
    PHI_N,
    POSITION,
    ROUGH,
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
    S_SIDE_R,
    S_STILL_Q,
    SHAKE_A,
    SHAKE_G,
    STEP_S,
    STOP_UP,
    T_F,
    T_H,
    T_RHO,
    T_TURN,
    TILTED2,
    V_N,
    VELOCITY,
    WORK,
    N,
    Q,
)
from strapdown.kernels.navigation.eskf.shaking import shaken
from strapdown.kernels.navigation.mechanisation import increment_of_points

_WIDEST = math.pi**2 / 3.0  # variance of an angle of which nothing is known


@internal
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


@internal
def ends(m0, m1):
    """Values at the start and the end of this step, on the line with means m0 in the previous step and m1 in this
    one.
    """
    a, b, c = 0.5 * (m1[0] - m0[0]), 0.5 * (m1[1] - m0[1]), 0.5 * (m1[2] - m0[2])
    return (m1[0] - a, m1[1] - b, m1[2] - c), (m1[0] + a, m1[1] + b, m1[2] + c)


@internal
def phi_rows(x, columns, h, turn):
    """Multiply rows of P from the left by Phi, except for the decay of the biases. WORK: h f_n, then h R_ns row by row.

    turn: 1, or 0 if the body did not turn whatever the gyroscope's bias.
    """
    fx = x[WORK]
    fy = x[WORK + 1]
    fz = x[WORK + 2]
    r0 = x[WORK + 3]
    r1 = x[WORK + 4]
    r2 = x[WORK + 5]
    r3 = x[WORK + 6]
    r4 = x[WORK + 7]
    r5 = x[WORK + 8]
    r6 = x[WORK + 9]
    r7 = x[WORK + 10]
    r8 = x[WORK + 11]
    for j in range(columns):
        k = COVARIANCE + j
        phi = k + PHI_N * COLUMNS
        v = k + V_N * COLUMNS
        bias = k + ACC_BIAS * COLUMNS
        phi_x = x[phi]
        phi_y = x[phi + COLUMNS]
        phi_z = x[phi + 2 * COLUMNS]
        a = x[bias]
        b = x[bias + COLUMNS]
        c = x[bias + 2 * COLUMNS]
        half = 0.5 * h  # the mean of both velocities, as the position itself goes on
        x[k] += half * x[v]
        x[k + COLUMNS] += half * x[v + COLUMNS]
        x[k + 2 * COLUMNS] += half * x[v + 2 * COLUMNS]
        x[v] += phi_y * fz - phi_z * fy - (r0 * a + r1 * b + r2 * c)
        x[v + COLUMNS] += phi_z * fx - phi_x * fz - (r3 * a + r4 * b + r5 * c)
        x[v + 2 * COLUMNS] += phi_x * fy - phi_y * fx - (r6 * a + r7 * b + r8 * c)
        x[k] += half * x[v]
        x[k + COLUMNS] += half * x[v + COLUMNS]
        x[k + 2 * COLUMNS] += half * x[v + 2 * COLUMNS]
        bias = k + GYR_BIAS * COLUMNS
        a = turn * x[bias]
        b = turn * x[bias + COLUMNS]
        c = turn * x[bias + 2 * COLUMNS]
        x[phi] -= r0 * a + r1 * b + r2 * c
        x[phi + COLUMNS] -= r3 * a + r4 * b + r5 * c
        x[phi + 2 * COLUMNS] -= r6 * a + r7 * b + r8 * c


@internal
def propagate(x, h, turn):
    """Phi P Phi^T, and Phi times the considered columns."""
    columns = COLUMNS
    for _ in range(2):
        phi_rows(x, columns, h, turn)
        if columns == COLUMNS:
            for i in range(N):
                for j in range(i):
                    k = COVARIANCE + i * COLUMNS + j
                    m = COVARIANCE + j * COLUMNS + i
                    x[k], x[m] = x[m], x[k]
        columns = N


@internal
def predict(x, s, gyr, acc, h, still, tape, taped):
    """One step of h s, between the previous reading and this one.

    still: the body did not turn during the step.
    """
    w0 = (x[LAST_GYR] - x[BIAS_G], x[LAST_GYR + 1] - x[BIAS_G + 1], x[LAST_GYR + 2] - x[BIAS_G + 2])
    w1 = (gyr[0] - x[BIAS_G], gyr[1] - x[BIAS_G + 1], gyr[2] - x[BIAS_G + 2])
    f0 = (x[LAST_ACC] - x[BIAS_A], x[LAST_ACC + 1] - x[BIAS_A + 1], x[LAST_ACC + 2] - x[BIAS_A + 2])
    f1 = (acc[0] - x[BIAS_A], acc[1] - x[BIAS_A + 1], acc[2] - x[BIAS_A + 2])
    if x[MEANS] > 0.0:  # ends of the line that has these means
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

    x[WORK], x[WORK + 1], x[WORK + 2] = fx, fy, fz
    for i in range(9):
        x[WORK + 3 + i] = h * r[i]
    if taped:
        tape[T_H] = h
        for i in range(12):
            tape[T_F + i] = x[WORK + i]
        tape[T_TURN] = 0.0 if still else 1.0
    wander(x, s, h, tape, taped)
    propagate(x, h, 0.0 if still else 1.0)
    if s[S_GYR_EXCESS_VAR] > 0.0 and not still:
        gyr_excess(x, s[S_GYR_EXCESS_VAR], r, rotate(qw, qx, qy, qz, tx, ty, tz))
    if s[S_ACC_SCALE_VAR] + s[S_ACC_AXES_VAR] > 0.0 and not still:
        dv_n = (fx, fy, fz - s[S_GRAVITY] * h)
        free = 1.0 if s[S_SIDE_R] < 0.0 else 0.0
        acc_excess(x, s, free, dv_n, h, r)
        if free > 0.0:
            tilted_excess(x, s, r)
    # over a lost sample the same two readings stand for a longer time: their own noise does not shrink with it
    weight = h * max(h / x[STEP_S], 1.0) if x[STEP_S] > 0.0 else h
    turning = s[S_STILL_Q] * h if still else shaken(s[S_GYR_Q] * weight + s[S_GYR_READ] * h * h, x[SHAKE_G] * h * h)
    own = s[S_ACC_Q] * weight + s[S_ACC_READ] * h * h
    # a machine that shakes at one pitch moves less than one that shakes at random: its wheels show it over a window,
    # not a stop, which every sample shows
    rough = x[ROUGH] if x[IN_STOP_S] == 0.0 else max(x[ROUGH], 1.0)
    pushing = max(rough * shaken(own, x[SHAKE_A] * h * h), own)
    for i in range(3):
        x[COVARIANCE + (V_N + i) * (COLUMNS + 1)] += pushing
        x[COVARIANCE + (PHI_N + i) * (COLUMNS + 1)] += turning


@internal
def tilted_excess(x, s, r):
    """Tilted against its last stop, a body reads another part of gravity with the same errors of scale and axes: its
    bias is another by as much.

    r: R_ns by rows.
    """
    if x[IN_STOP_S] > 0.0:
        x[STOP_UP], x[STOP_UP + 1], x[STOP_UP + 2], x[TILTED2] = r[6], r[7], r[8], 0.0
        return
    away2 = (r[6] - x[STOP_UP]) ** 2 + (r[7] - x[STOP_UP + 1]) ** 2 + (r[8] - x[STOP_UP + 2]) ** 2
    if away2 > x[TILTED2]:
        more = s[S_GRAVITY] * s[S_GRAVITY] * (s[S_ACC_SCALE_VAR] + s[S_ACC_AXES_VAR]) * (away2 - x[TILTED2])
        for i in range(3):
            x[COVARIANCE + (ACC_BIAS + i) * (COLUMNS + 1)] += more
        x[TILTED2] = away2


@internal
def wander(x, s, h, tape, taped):
    """Biases are a random walk until their variance reaches its limit. From there a decay keeps it: Gauss-Markov."""
    for i in range(6):
        k = GYR_BIAS + i
        var = COVARIANCE + k * (COLUMNS + 1)
        q = (s[S_GYR_BIAS_Q] if i < 3 else s[S_ACC_BIAS_Q]) * h
        cap = s[S_GYR_BIAS_CAP] if i < 3 else s[S_ACC_BIAS_CAP]
        rho = 1.0
        if x[var] + q > cap:
            q = min(q, cap)
            rho = math.sqrt((cap - q) / x[var]) if x[var] > 0.0 else 1.0
            scale(x, k, rho)
        x[var] += q
        if taped:
            tape[T_RHO + i] = rho
    rho = 1.0
    if s[S_MAG_VAR] > 0.0:  # the disturbance belongs to the place: it changes with the way
        speed = math.sqrt(x[VELOCITY] ** 2 + x[VELOCITY + 1] ** 2)
        rho = math.exp(-h * (s[S_MAG_RATE] + speed * s[S_MAG_PER_M]))
        scale(x, not_constant(MAG_BIAS), rho)
        x[COVARIANCE + MAG_BIAS * (COLUMNS + 1)] += s[S_MAG_VAR] * (1.0 - rho * rho)
        x[BIAS_M] *= rho
    if taped:
        tape[T_RHO + 6] = rho


@internal
def scale(x, k, rho):
    for j in range(COLUMNS):
        x[COVARIANCE + k * COLUMNS + j] *= rho
    for j in range(N):
        x[COVARIANCE + j * COLUMNS + k] *= rho


@internal
def predict_gap(x, s, h, tape, taped):
    """A time without readings: the last velocity continues, and any motion up to the gap's acceleration and rate may
    have happened. The heading may have changed without limit; the tilt of a vehicle on a floor only by a limited angle.
    """
    for i in range(3):
        x[POSITION + i] += h * x[VELOCITY + i]
    if taped:
        for i in range(T_RHO):
            tape[i] = 0.0
        tape[T_H] = h
        for i in range(7):
            tape[T_RHO + i] = 1.0
    for i in range(12):
        x[WORK + i] = 0.0
    propagate(x, h, 0.0)
    q = s[S_GAP_ACC_Q]
    for i in range(3):
        p, v = COVARIANCE + (P_N + i) * (COLUMNS + 1), COVARIANCE + (V_N + i) * (COLUMNS + 1)
        x[p] += q * h * h * h / 3.0
        x[p + V_N - P_N] += 0.5 * q * h * h
        x[v + P_N - V_N] += 0.5 * q * h * h
        x[v] += q * h
        phi = COVARIANCE + (PHI_N + i) * (COLUMNS + 1)
        x[phi] += min(s[S_GAP_RATE_Q] * h, _WIDEST if i == 2 else s[S_GAP_TILT])
        x[COVARIANCE + (GYR_BIAS + i) * (COLUMNS + 1)] += s[S_GYR_BIAS_Q] * h
        x[COVARIANCE + (ACC_BIAS + i) * (COLUMNS + 1)] += s[S_ACC_BIAS_Q] * h
