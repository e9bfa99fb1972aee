"""The error-state filter: one sample, and the loop over the same step."""

import math

import numpy as np
from numba import njit

from strapdown.kernels.navigation.eskf.aids import looks_still, numbers, vectors
from strapdown.kernels.navigation.eskf.layout import (
    BIAS_M,
    COLUMNS,
    COVARIANCE,
    GAP,
    KINDS,
    LAST_ACC,
    LAST_GYR,
    NIS,
    ODOMETER_M,
    ODOMETER_S,
    REFUSED_S,
    REJECTED,
    S_GAP_S,
    S_ZARU_R,
    SEEN_STOP,
    SINCE_STOP_S,
    STARTED,
    STEP_S,
    STILL,
    T_COUNT,
    T_RHO,
    TRAVEL_M,
    TURNED_RAD,
    USED,
    X_SIZE,
    N,
    Q,
)
from strapdown.kernels.navigation.eskf.predict import predict, predict_gap
from strapdown.kernels.navigation.eskf.updates import correct

KIND_COUNT = len(KINDS)


@njit(cache=True)
def step(x, s, seen, gyr, acc, mag, extra, dt, tape):
    """x, at the sample before, becomes x at this one. seen: bits of what mag and extra hold, and of a believed stop.

    The first sample has no step: it is kept as the start of the next.
    """
    cov = x[COVARIANCE:X_SIZE].reshape(N, COLUMNS)
    x[USED] = x[REJECTED] = 0.0
    if len(tape) > 0:
        for i in range(T_COUNT + 1):
            tape[i] = 1.0 if T_RHO <= i < T_RHO + 7 else 0.0
    first = x[STARTED] == 0.0 or not dt > 0.0
    stop = seen & SEEN_STOP != 0
    still = False
    if first:
        x[STARTED] = 1.0
    elif dt > s[S_GAP_S]:
        predict_gap(x, cov, s, dt, tape)
        x[USED] += float(1 << GAP)
        x[ODOMETER_M] = x[TRAVEL_M] = x[ODOMETER_S] = x[TURNED_RAD] = x[REFUSED_S] = 0.0
    else:
        if x[STEP_S] == 0.0:
            x[STEP_S] = dt
        still = stop and s[S_ZARU_R] >= 0.0 and looks_still(x, s, gyr, dt)
        predict(x, cov, s, gyr, acc, dt, still and x[STILL] > 0.0, tape)
    for i in range(3):
        x[LAST_GYR + i], x[LAST_ACC + i] = gyr[i], acc[i]
    x[STILL] = 1.0 if still else 0.0
    passed = 0.0 if first else dt
    x[SINCE_STOP_S] += passed
    vectors(x, s, seen, gyr, extra, passed, still or s[S_ZARU_R] < 0.0, tape)
    numbers(x, s, seen, gyr, mag, extra, passed, tape)
    correct(x)
    if not first and dt <= s[S_GAP_S]:
        follow_step(x, dt)


@njit(cache=True)
def follow_step(x, dt):
    """The usual step goes to the median by fifths: within 25 samples from ten times it, and a lost sample hardly moves
    it."""
    usual = x[STEP_S]
    if dt > 1.01 * usual:
        x[STEP_S] = min(1.2 * usual, dt)
    elif dt < 0.99 * usual:
        x[STEP_S] = max(usual / 1.2, dt)


@njit(cache=True)
def rows(x, s, seen, gyr, acc, mag, extra, dt, nominal, sigma, nis, said, tapes, states):
    """step() over rows. mag, extra: no rows where there are none. nominal: q, p, v, biases (17 columns); sigma: of the
    error state (16); nis: one column per kind; said: bits used, bits rejected. tapes and states: no rows, or all."""
    nothing = np.empty(0)
    for i in range(len(dt)):
        m = mag[i] if len(mag) > 0 else gyr[i]
        more = extra[i] if len(extra) > 0 else gyr[i]
        step(x, s, seen[i], gyr[i], acc[i], m, more, dt[i], tapes[i] if len(tapes) > 0 else nothing)
        for j in range(Q, BIAS_M + 1):
            nominal[i, j] = x[j]
        for j in range(N):
            sigma[i, j] = math.sqrt(max(x[COVARIANCE + j * (COLUMNS + 1)], 0.0))
        for j in range(KIND_COUNT):
            nis[i, j] = x[NIS + j]
        said[i, 0], said[i, 1] = int(x[USED]), int(x[REJECTED])
        if len(states) > 0:
            states[i] = x
