"""Measurements of three numbers: a stop has no velocity, a fix has a known position or velocity."""

from strapdown.kernels.jit import internal, not_constant
from strapdown.kernels.navigation.eskf.late import late_update, velocity_before
from strapdown.kernels.navigation.eskf.layout import (
    AGE_OF_FIX,
    COLUMNS,
    COVARIANCE,
    FIX,
    GYR_BIAS,
    INSISTED,
    NIS,
    P_N,
    PAST_COUNT,
    PAST_FREE_S,
    POSITION,
    REFUSED_S,
    REJECTED,
    S_GAP_ACC_Q,
    S_GATE_3,
    S_INSIST_S,
    S_LINEAR_3,
    S_ZARU_R,
    S_ZUPT_ARM2,
    S_ZUPT_R,
    SEEN_FIX,
    SEEN_STOP,
    SEEN_VELOCITY,
    SIGMA_OF_FIX,
    SINCE_STOP_S,
    USED,
    V_N,
    VELOCITY,
    VELOCITY_FIX,
    X_FIX,
    X_VELOCITY,
    ZARU,
    ZUPT,
    N,
)
from strapdown.kernels.navigation.eskf.updates import nis_of_three, spread_of, stands_row, take, take_unit, told
from strapdown.kernels.navigation.eskf.zero_rates import unturned, zero_rates

OPENED = 1e12  # of the variance of a stop: a prior as wide as this is as good as none, and loses no digits


@internal
def vectors(x, s, seen, gyr, extra, dt, still, tape, taped):
    """Measurements of three numbers: no turn, no velocity, a known position, a known velocity."""
    stop = seen & SEEN_STOP != 0
    for kind in (ZARU, ZUPT, FIX, VELOCITY_FIX):
        v = 0.0
        if kind == ZARU:
            use, k, e = False, GYR_BIAS, (0.0, 0.0, 0.0)
            if s[S_ZARU_R] >= 0.0:
                zero_rates(x, s, stop, gyr, dt, tape, taped)
        elif kind == ZUPT:
            use, k, e = stop and s[S_ZUPT_R] >= 0.0, V_N, (-x[VELOCITY], -x[VELOCITY + 1], -x[VELOCITY + 2])
            v = s[S_ZUPT_R]
            if use and s[S_ZUPT_ARM2] > 0.0:  # a sole that rolls moves the sensor above it
                w0, w1, w2 = unturned(x, gyr)
                v += s[S_ZUPT_ARM2] * (w0 * w0 + w1 * w1 + w2 * w2)
        else:
            use = seen & (SEEN_FIX if kind == FIX else SEEN_VELOCITY) != 0
            k, e = P_N if kind == FIX else V_N, (0.0, 0.0, 0.0)
        variance = (v, v, v)
        if use and kind in (FIX, VELOCITY_FIX):
            place = X_FIX if kind == FIX else X_VELOCITY
            e, variance = fix_of(x, extra, place, POSITION if kind == FIX else VELOCITY)
            age = extra[place + AGE_OF_FIX]
            if age > 0.0:
                vx, vy, vz = x[VELOCITY], x[VELOCITY + 1], x[VELOCITY + 2]
                then = (vx, vy, vz)
                known = kind == FIX
                if known:
                    e = (e[0] + age * vx, e[1] + age * vy, e[2] + age * vz)
                else:
                    x[PAST_COUNT] = max(x[PAST_COUNT], 0.0)  # from now on velocities are kept
                    known, then = velocity_before(x, age)
                    if known:
                        e = (e[0] + vx - then[0], e[1] + vy - then[1], e[2] + vz - then[2])
                if known:
                    late_update(x, s, kind, age, e, then, variance, tape, taped)
                    use = False
                else:  # by its age the velocity may have changed as over a gap
                    v = s[S_GAP_ACC_Q] * age * age
                    variance = (variance[0] + v, variance[1] + v, variance[2] + v)
        if use:
            taken = told(x, kind, nis_of_three(x, k, variance, e), s[S_GATE_3])
            if kind == ZUPT:
                taken = taken or insist(x, s, e, dt, still)
                x[REFUSED_S] = 0.0 if taken else x[REFUSED_S] + dt
                x[SINCE_STOP_S] = 0.0 if taken else x[SINCE_STOP_S]
            if taken:
                x[PAST_FREE_S] = 0.0
                for i in range(3):
                    if kind == ZUPT and x[NIS + ZUPT] <= s[S_LINEAR_3]:
                        stands_row(x, i)
                        spread, left = spread_of(x, not_constant(0), 0.0, 0.0, v, e[i])
                        take(x, spread, left, tape, taped)
                    else:
                        take_unit(x, k + i, variance[i], e[i], tape, taped)


@internal
def fix_of(x, extra, place, state):
    """Innovation and variances of a fix of position or velocity."""
    at = place + SIGMA_OF_FIX
    e = (extra[place] - x[state], extra[place + 1] - x[state + 1], extra[place + 2] - x[state + 2])
    return e, (extra[at] ** 2, extra[at + 1] ** 2, extra[at + 2] ** 2)


@internal
def insist(x, s, e, dt, still):
    """Stops are rejected for long although the body does not turn. Then the velocity is wrong, and its variance is
    increased to the measured error. The variance of the position is increased by the effect of such a velocity since
    the last stop.
    """
    if not still or x[REFUSED_S] + dt <= s[S_INSIST_S]:
        return False
    wrong = e[0] * e[0] + e[1] * e[1] + e[2] * e[2]
    for i in range(3):
        v = V_N + i
        for j in range(COLUMNS):  # what it went with is as wrong as it: nothing is learned of it by this stop
            x[COVARIANCE + v * COLUMNS + j] = 0.0
        for j in range(N):
            x[COVARIANCE + j * COLUMNS + v] = 0.0
        x[COVARIANCE + v * (COLUMNS + 1)] = min(wrong, OPENED * s[S_ZUPT_R])
        x[COVARIANCE + (P_N + i) * (COLUMNS + 1)] += wrong * x[SINCE_STOP_S] * x[SINCE_STOP_S]
    x[REJECTED] -= float(1 << ZUPT)
    x[USED] += float(1 << ZUPT) + float(1 << INSISTED)
    return True
