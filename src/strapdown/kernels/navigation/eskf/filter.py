"""The error-state filter over samples: one live sample, or all rows of a recording, by the same code."""

import math

from numba import njit

from strapdown.kernels.jit import internal, offset, pointer
from strapdown.kernels.navigation.eskf.late import correct_past, keep_velocity
from strapdown.kernels.navigation.eskf.layout import (
    BIAS_M,
    COLUMNS,
    COVARIANCE,
    EXTRA,
    GAP,
    IN_A_ROW,
    KINDS,
    LAST_ACC,
    LAST_GYR,
    NIS,
    ODOMETER_M,
    ODOMETER_S,
    PAST_ACC_Q,
    PAST_COUNT,
    PAST_FREE_S,
    PAST_NOW_S,
    REFUSED_S,
    REJECTED,
    S_ACC_Q,
    S_ADAPTS,
    S_GAP_S,
    S_ZARU_R,
    SEEN_STOP,
    SINCE_STOP_S,
    SKIP,
    STARTED,
    STEP_S,
    STILL,
    T_RHO,
    T_SIZE,
    T_UPDATES,
    TRAVEL_M,
    TURNED_RAD,
    TURNS,
    USED,
    X_SIZE,
    N,
)
from strapdown.kernels.navigation.eskf.predict import predict, predict_gap
from strapdown.kernels.navigation.eskf.shaking import follow_shaking
from strapdown.kernels.navigation.eskf.single_numbers import numbers
from strapdown.kernels.navigation.eskf.stops_and_fixes import vectors
from strapdown.kernels.navigation.eskf.updates import correct
from strapdown.kernels.navigation.eskf.zero_rates import looks_still

KIND_COUNT = len(KINDS)


@internal
def follow_step(x, dt):
    """The usual step moves to the median in steps of a fifth: within 25 samples from ten times it. A lost sample hardly
    changes it.
    """
    usual = x[STEP_S]
    if dt > 1.01 * usual:
        x[STEP_S] = min(1.2 * usual, dt)
    elif dt < 0.99 * usual:
        x[STEP_S] = max(usual / 1.2, dt)


@njit(cache=True, error_model="numpy", no_cfunc_wrapper=True)
def rows(x, s, seen, gyr, acc, mag, extra, dt, nominal, sigma, nis, reported, tapes, states):
    """Update x from the previous sample to the last of these samples: one live sample, or many of a recording. The
    function returns False, with x unchanged, if an array has another length or the filter still aligns itself. It also
    returns False for a live sample with a number that is not finite or a negative step.

    Arrays are flat, row after row.

    seen: bits for the values in mag and extra, and for a believed stop.
    mag, extra: empty where no row has any.
    nominal: q, p, v, biases (17 numbers a row).
    sigma: sigma of the error state (16).
    nis: normalised innovations, one for each kind.
    reported: bits used, bits rejected. nominal empty: a live sample, of which only x is wanted.
    tapes, states: empty, or for all rows for the smoother.

    A first sample has no previous step: it is kept as the start of the next.
    """
    n = len(dt)
    live, taped, has_mag, has_extra = len(nominal) == 0, len(tapes) > 0, len(mag) > 0, len(extra) > 0
    if len(x) != X_SIZE or x[STARTED] < 0.0 or len(gyr) != 3 * n or len(acc) != 3 * n:
        return False
    if (has_mag and len(mag) != 3 * n) or (has_extra and len(extra) != EXTRA * n) or len(seen) != n:
        return False
    if live and n == 1:  # a recording was checked when it was made
        size = 0.0 if x[STARTED] == 0.0 else abs(dt[0])
        for j in range(3):
            size += abs(gyr[j]) + abs(acc[j])
        for j in range(len(mag)):
            size += abs(mag[j])
        for j in range(len(extra)):
            size += abs(extra[j])
        if not size < math.inf or (x[STARTED] > 0.0 and dt[0] < 0.0):
            return False
    at, settings = pointer(x), pointer(s)
    for i in range(n):
        rate, force = offset(gyr, 3 * i), offset(acc, 3 * i)
        field = offset(mag, 3 * i) if has_mag else rate
        more = offset(extra, EXTRA * i) if has_extra else rate
        tape = offset(tapes, T_SIZE * i) if taped else at
        at[USED] = at[REJECTED] = 0.0
        if taped:
            for j in range(T_UPDATES):
                tape[j] = 1.0 if T_RHO <= j < T_RHO + 7 else 0.0
        if at[SKIP] > 0.0:
            at[SKIP] -= 1.0
        else:
            h, bits = dt[i], seen[i]
            first = at[STARTED] == 0.0 or not h > 0.0
            still = False
            if first or h > settings[S_GAP_S]:
                at[IN_A_ROW] = 0.0
            if settings[S_ADAPTS] > 0.0:
                follow_shaking(at, rate, force, 0.0 if first else h, bits & SEEN_STOP != 0)
            if first:
                at[STARTED] = 1.0
            elif h > settings[S_GAP_S]:
                predict_gap(at, settings, h, tape, taped)
                at[USED] += float(1 << GAP)
                at[ODOMETER_M] = at[TRAVEL_M] = at[ODOMETER_S] = at[TURNED_RAD] = at[REFUSED_S] = 0.0
                at[PAST_COUNT] = min(at[PAST_COUNT], 0.0)  # none from before a gap is kept
            else:
                if at[STEP_S] == 0.0:
                    at[STEP_S] = h
                still = bits & SEEN_STOP != 0 and settings[S_ZARU_R] >= 0.0 and at[TURNS] == 0.0
                still = still and looks_still(at, settings, rate, h)
                predict(at, settings, rate, force, h, still and at[STILL] > 0.0, tape, taped)
            for j in range(3):
                at[LAST_GYR + j], at[LAST_ACC + j] = rate[j], force[j]
            at[STILL] = 1.0 if still else 0.0
            passed = 0.0 if first else h
            at[SINCE_STOP_S] += passed
            at[PAST_NOW_S] += passed
            if h > settings[S_GAP_S] or at[PAST_ACC_Q] != settings[S_ACC_Q]:  # before, the noise was another
                at[PAST_FREE_S], at[PAST_ACC_Q] = 0.0, settings[S_ACC_Q]
            else:
                at[PAST_FREE_S] += passed
            vectors(at, settings, bits, rate, more, passed, still or settings[S_ZARU_R] < 0.0, tape, taped)
            numbers(at, settings, bits, rate, field, more, passed, tape, taped)
            if at[PAST_COUNT] >= 0.0:
                if at[USED] > 0.0:
                    correct_past(at, settings)
                correct(at, settings, tape, taped)
                keep_velocity(at, settings)
            else:
                correct(at, settings, tape, taped)
            if not first and h <= settings[S_GAP_S]:
                follow_step(at, h)
        if live:
            continue
        for j in range(BIAS_M + 1):
            nominal[i * (BIAS_M + 1) + j] = at[j]
        for j in range(N):
            sigma[i * N + j] = math.sqrt(max(at[COVARIANCE + j * (COLUMNS + 1)], 0.0))
        for j in range(KIND_COUNT):
            nis[i * KIND_COUNT + j] = at[NIS + j]
        reported[2 * i], reported[2 * i + 1] = int(at[USED]), int(at[REJECTED])
        if taped:
            for j in range(X_SIZE):
                states[i * X_SIZE + j] = at[j]
    return True
