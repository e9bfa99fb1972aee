"""The backward pass: Rauch, Tung and Striebel's smoother in the form of Bryson and Frazier.

The backward pass carries lam and lam2 = cov(lam) back through the steps of the filter and needs no inverse of a
covariance (Bierman 1973). Before a prediction: lam <- Phi^T lam, lam2 <- Phi^T lam2 Phi. A correction that referred the
covariance to the corrected state by T (updates.reset) is treated in the same way. Before a measurement with row h, gain
K, innovation e of variance
S: lam <- A^T lam - h e / S, lam2 <- A^T lam2 A + h h^T / S, with A = I - K h^T. The smoothed error is -P lam, its
covariance P - P lam2 P.
"""

import math

import numpy as np
from numba import njit

from strapdown.kernels.jit import internal
from strapdown.kernels.navigation.dead_reckoning import turned
from strapdown.kernels.navigation.eskf.layout import (
    ACC_BIAS,
    BIAS_A,
    BIAS_G,
    BIAS_M,
    COLUMNS,
    COVARIANCE,
    GYR_BIAS,
    MAG_BIAS,
    P_N,
    PHI_N,
    POSITION,
    T_COUNT,
    T_F,
    T_H,
    T_MOVED,
    T_R,
    T_RHO,
    T_ROOM,
    T_TURN,
    T_UPDATES,
    V_N,
    VELOCITY,
    N,
    Q,
)


@internal
def phi_transposed_rows(m, tape):
    """Multiply rows of m from the left by Phi^T; Phi as eskf_predict.phi_rows after the biases' decay."""
    h, turn = tape[T_H], tape[T_TURN]
    fx, fy, fz = tape[T_F], tape[T_F + 1], tape[T_F + 2]
    r = tape[T_R : T_R + 9]
    for j in range(m.shape[1]):
        half = 0.5 * h
        px, py, pz = half * m[0, j], half * m[1, j], half * m[2, j]
        vx, vy, vz = m[3, j] + px, m[4, j] + py, m[5, j] + pz
        ax, ay, az = m[6, j], m[7, j], m[8, j]
        for i in range(3):
            m[9 + i, j] -= turn * (r[i] * ax + r[3 + i] * ay + r[6 + i] * az)
            m[12 + i, j] -= r[i] * vx + r[3 + i] * vy + r[6 + i] * vz
        # dv_x has + phi_y f_z - phi_z f_y, and so on
        m[6, j] += fy * vz - fz * vy
        m[7, j] += fz * vx - fx * vz
        m[8, j] += fx * vy - fy * vx
        m[3, j] = vx + px
        m[4, j] = vy + py
        m[5, j] = vz + pz
        for i in range(7):
            m[9 + i, j] *= tape[T_RHO + i]


@internal
def back_measurement(lam, lam2, tape, at, work):
    h, gain = tape[at : at + N], tape[at + N : at + 2 * N]
    spread, e = tape[at + 2 * N], tape[at + 2 * N + 1]
    seen = e / spread
    for i in range(N):
        seen += gain[i] * lam[i]
    inner = 1.0 / spread
    for i in range(N):
        lam[i] -= h[i] * seen
        total = 0.0
        for j in range(N):
            total += lam2[i, j] * gain[j]
        work[i] = total
        inner += gain[i] * total
    for i in range(N):
        for j in range(N):
            lam2[i, j] += h[i] * h[j] * inner - h[i] * work[j] - work[i] * h[j]


@internal
def back_correction(lam, lam2, tape):
    """Multiply from the left by T^T: phi gets DV x v and DP x p."""
    reset_transposed_rows(lam.reshape(N, 1), tape)
    for _ in range(2):
        reset_transposed_rows(lam2, tape)
        for i in range(N):
            for j in range(i):
                lam2[i, j], lam2[j, i] = lam2[j, i], lam2[i, j]


@internal
def reset_transposed_rows(m, tape):
    for k in (P_N, V_N):
        a, b, c = tape[T_MOVED + k], tape[T_MOVED + k + 1], tape[T_MOVED + k + 2]
        for j in range(m.shape[1]):
            x, y, z = m[k, j], m[k + 1, j], m[k + 2, j]
            m[PHI_N, j] += b * z - c * y
            m[PHI_N + 1, j] += c * x - a * z
            m[PHI_N + 2, j] += a * y - b * x


@internal
def back_prediction(lam, lam2, tape):
    phi_transposed_rows(lam.reshape(N, 1), tape)
    for _ in range(2):
        phi_transposed_rows(lam2, tape)
        for i in range(N):
            for j in range(i):
                lam2[i, j], lam2[j, i] = lam2[j, i], lam2[i, j]


@njit(cache=True, error_model="numpy", no_cfunc_wrapper=True)
def backward_rows(lam, lam2, tapes, states, nominal, sigma):
    """From the last of these rows to the first. lam and lam2 come from the rows after and go to those before. nominal
    and sigma become the smoothed ones.
    """
    work, dx = np.empty(N), np.empty(N)
    half = np.empty((N, N))
    for row in range(len(tapes) - 1, -1, -1):
        x, tape = states[row], tapes[row]
        cov = x[COVARIANCE:].reshape(N, COLUMNS)
        for i in range(N):
            total = 0.0
            for j in range(N):
                total -= cov[i, j] * lam[j]
            dx[i] = total
        put(x, dx, nominal[row])
        for i in range(N):
            for j in range(N):
                total = 0.0
                for k in range(N):
                    total += cov[i, k] * lam2[k, j]
                half[i, j] = total
        for i in range(N):
            variance = cov[i, i]
            for j in range(N):
                variance -= half[i, j] * cov[j, i]
            sigma[row, i] = math.sqrt(max(variance, 0.0))
        back_correction(lam, lam2, tape)
        for k in range(int(tape[T_COUNT]) - 1, -1, -1):
            back_measurement(lam, lam2, tape, T_UPDATES + k * T_ROOM, work)
        back_prediction(lam, lam2, tape)


@internal
def put(x, dx, out):
    """Write the state x, corrected by dx."""
    for i in range(3):
        out[POSITION + i] = x[POSITION + i] + dx[P_N + i]
        out[VELOCITY + i] = x[VELOCITY + i] + dx[V_N + i]
        out[BIAS_G + i] = x[BIAS_G + i] + dx[GYR_BIAS + i]
        out[BIAS_A + i] = x[BIAS_A + i] + dx[ACC_BIAS + i]
    out[BIAS_M] = x[BIAS_M] + dx[MAG_BIAS]
    w, i, j, k = turned(x[Q], -x[Q + 1], -x[Q + 2], -x[Q + 3], -dx[PHI_N], -dx[PHI_N + 1], -dx[PHI_N + 2])
    out[Q], out[Q + 1], out[Q + 2], out[Q + 3] = w, -i, -j, -k
