"""A stop as a measurement of the gyroscope's bias: the body does not turn, or it is found to turn slowly."""

import math

from strapdown.kernels.jit import internal, not_constant
from strapdown.kernels.navigation.dead_reckoning import turned
from strapdown.kernels.navigation.eskf.layout import (
    BIAS_G,
    BLOCK_S,
    COLUMNS,
    COVARIANCE,
    FIRST_VAR,
    GYR_BIAS,
    IN_STOP_S,
    LAST_TURN,
    NIS,
    PHI_N,
    S_ADAPTS,
    S_GATE_3,
    S_GYR_BIAS_Q,
    S_GYR_Q,
    S_GYR_READ,
    S_TURN_3,
    S_TURN_SHARE,
    S_ZARU_R,
    SHAKE_G,
    STEP_S,
    STOP_BIAS,
    STOP_DT2,
    STOP_INFO,
    STOP_SUM,
    STOP_TURN,
    STOP_VAR,
    TURNS,
    ZARU,
    Q,
)
from strapdown.kernels.navigation.eskf.predict import matrix
from strapdown.kernels.navigation.eskf.shaking import shaken
from strapdown.kernels.navigation.eskf.updates import nis_of_three, take_unit, told

BLOCK_OF_STOP_S = 0.5
UNSEEN_RAD_S = 1e-3  # 0.06 deg/s: however little is known of the bias, a faster turn of the ground is not expected


@internal
def looks_still(x, s, gyr, dt):
    """Whether the rate is that of a body that does not turn: the gate of the zero rate, before the prediction."""
    v = still_variance(x, s, dt)
    return nis_of_three(x, not_constant(GYR_BIAS), (v, v, v), unturned(x, gyr)) <= s[S_GATE_3]


@internal
def still_variance(x, s, dt):
    """Variance of a rate read at rest: white noise at the usual step, which a lost sample does not lower, and counts.
    Where the vibration of the machine is larger, it is used instead.
    """
    return s[S_ZARU_R] + shaken(s[S_GYR_READ] + s[S_GYR_Q] / max(min(dt, x[STEP_S]), 1e-9), x[SHAKE_G])


@internal
def unturned(x, gyr):
    return gyr[0] - x[BIAS_G], gyr[1] - x[BIAS_G + 1], gyr[2] - x[BIAS_G + 2]


@internal
def zero_rates(x, s, stop, gyr, dt, tape, taped):
    """A stop in blocks of BLOCK_OF_STOP_S. A turn that continues through the stop passes the gate of every sample. So
    the mean rate of the whole stop is tested against the bias before it. A stop that turns is no zero rate: the bias
    stays as before, and the turn so far is added to the attitude. Otherwise each block measures the bias, by its part
    of the information of a mean over the stop with one unseen turn in it. Ground that turns may do so equally in every
    stop. Where an equal turn fits, the turn of the last stop is subtracted; the stop then shows how the bias has
    changed."""
    if not stop:
        if x[IN_STOP_S] > 0.0 and s[S_TURN_SHARE] > 0.0:
            for j in range(3):
                x[LAST_TURN + j] = x[STOP_TURN + j] / x[IN_STOP_S] - x[BIAS_G + j]
            if s[S_ADAPTS] > 0.0:
                _, _, _, _, _, _, u0, u1, u2 = matrix(x[Q], x[Q + 1], x[Q + 2], x[Q + 3])
                about = x[LAST_TURN] * u0 + x[LAST_TURN + 1] * u1 + x[LAST_TURN + 2] * u2
                x[LAST_TURN], x[LAST_TURN + 1], x[LAST_TURN + 2] = about * u0, about * u1, about * u2
        x[IN_STOP_S] = x[TURNS] = 0.0
        return
    if dt <= 0.0:
        return
    if x[IN_STOP_S] == 0.0:
        for j in range(3):
            x[STOP_BIAS + j] = x[BIAS_G + j]
            x[STOP_VAR + j] = x[COVARIANCE + (GYR_BIAS + j) * (COLUMNS + 1)]
            if x[FIRST_VAR + j] == 0.0:
                x[FIRST_VAR + j] = min(x[STOP_VAR + j], UNSEEN_RAD_S**2)
            x[STOP_TURN + j] = x[STOP_INFO + j] = x[STOP_SUM + j] = 0.0
        x[BLOCK_S] = x[STOP_DT2] = 0.0
    x[IN_STOP_S] += dt
    x[STOP_DT2] += dt * dt
    x[BLOCK_S] += dt
    for j in range(3):
        x[STOP_TURN + j] += gyr[j] * dt
    if x[TURNS] > 0.0 or x[BLOCK_S] < BLOCK_OF_STOP_S * (1.0 - 1e-9):
        return
    x[BLOCK_S] = 0.0
    time_s = x[IN_STOP_S]
    v = still_variance(x, s, dt) * x[STOP_DT2] / (time_s * time_s) + rounded(s[S_GYR_READ], s[S_GYR_Q], x[STEP_S])
    away = 0.0
    for j in range(3):
        off = x[STOP_TURN + j] / time_s - x[STOP_BIAS + j]
        away += off * off / (x[STOP_VAR + j] + s[S_GYR_BIAS_Q] * time_s + v)
    if not told(x, ZARU, away, s[S_TURN_3]):
        turns(x, time_s)
        return
    nis = 0.0
    _, _, _, _, _, _, u0, u1, u2 = matrix(x[Q], x[Q + 1], x[Q + 2], x[Q + 3])
    for j in range(3):
        mean = x[STOP_TURN + j] / time_s
        unseen = s[S_TURN_SHARE] * x[FIRST_VAR + j]
        if s[S_ADAPTS] > 0.0:  # ground turns about the vertical
            up = u0 if j == 0 else (u1 if j == 1 else u2)
            unseen *= up * up
        info = 1.0 / (v + unseen)
        more, total = info - x[STOP_INFO + j], info * mean
        known = x[COVARIANCE + (GYR_BIAS + j) * (COLUMNS + 1)] * (1.0 + s[S_TURN_SHARE]) <= unseen
        if more > 1e-9 * info and not known:
            off = (total - x[STOP_SUM + j]) / more - x[BIAS_G + j]
            if abs(off - x[LAST_TURN + j]) < abs(off):
                off -= x[LAST_TURN + j]
            nis += off * off / (x[COVARIANCE + (GYR_BIAS + j) * (COLUMNS + 1)] + 1.0 / more)
            take_unit(x, not_constant(GYR_BIAS) + j, 1.0 / more, off, tape, taped)
            x[STOP_INFO + j], x[STOP_SUM + j] = info, total
    x[NIS + ZARU] = nis


def rounded_in_python(read, white, step_s):
    """Variance of the error that counts leave in a mean of equal readings, however many. For a count d and noise of
    sigma s the error is d / pi exp(-2 pi^2 s^2 / d^2) times a sine of the value.

    read: d^2 / 12.
    """
    if read == 0.0 or step_s <= 0.0:
        return 0.0
    count2 = 12.0 * read
    return count2 / (2.0 * math.pi**2) * math.exp(-4.0 * math.pi**2 * white / (step_s * count2))


rounded = internal(rounded_in_python)


@internal
def turns(x, time_s):
    """This stop turns, and has done so from its beginning."""
    x[TURNS] = 1.0
    for j in range(3):
        x[BIAS_G + j] = x[STOP_BIAS + j]
        at = COVARIANCE + (GYR_BIAS + j) * (COLUMNS + 1)
        x[at] = max(x[at], x[STOP_VAR + j])  # as before the zero rates of this stop
        x[COVARIANCE + (PHI_N + j) * (COLUMNS + 1)] += x[STOP_VAR + j] * time_s * time_s
    tx, ty, tz = (
        x[STOP_TURN] - time_s * x[STOP_BIAS],
        x[STOP_TURN + 1] - time_s * x[STOP_BIAS + 1],
        x[STOP_TURN + 2] - time_s * x[STOP_BIAS + 2],
    )
    x[Q], x[Q + 1], x[Q + 2], x[Q + 3] = turned(x[Q], x[Q + 1], x[Q + 2], x[Q + 3], tx, ty, tz)
