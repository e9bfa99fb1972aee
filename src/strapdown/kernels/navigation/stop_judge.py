"""Decides whether a sensor in a hand is at rest. The decision is made sample by sample from the IMU, and from a stop
signal where there is one.

Readings at a stop vary over a window no more than the sensor's own noise. Quiet readings are not enough: a smooth drive
is as quiet. So the mean force must be that of gravity, and the speed since the last stop must have returned to 0. Speed
and force come from a small strapdown in the sensor's frame: v' = f - f_g - w x v and f_g' = - w x f_g. f_g is read at
the last stop. Their limits grow with the time since that stop. Readings that stay calm and the same for S_CALM_S are a
stop whatever they show. Of a vehicle stop_segments.py and stop_forward.py know better.

The cost of a sample does not depend on the length of the window. Sums over it are updated, and computed again once in a
window, so that roundoff does not accumulate.
"""

import math

from numba import njit

from strapdown.kernels.jit import internal, offset, pointer

# verdicts
MOVES, BELIEVED, DOUBTED, REJECTED = 0, 1, 2, 3
# the controller's signal
SAYS_MOVE, SAYS_STOP, SAYS_NOTHING = 0, 1, 2

# state x
COUNT, NEXT, SINCE_S, DOUBT_S, KNOWN, STATISTIC, SPEED, LAST, HELD_S, CALM_S = range(10)
V, F_G, BIAS = 10, 13, 16  # m/s, m/s2, rad/s; frame s
MEAN, CALM_F = 19, 22  # mean force of the window, now and when the calm began, m/s2
TOLD = 25  # samples since the controller signals stop
APART_S = 26  # since the last believed sample
SIZE = 27  # samples of the window
STEP_S = 28  # the usual step that the window was laid out for
SPOKEN = 29  # 1: the controller has signalled a stop at least once; before, its signal counts for nothing
# readings less a reference near them: sums of six over the window, of squares two
REFERENCE, SUMS, SQUARES = 30, 36, 42
WINDOW = 44  # its rows: rate, force

# settings s
S_ACC_VAR, S_GYR_VAR, S_LIMIT, S_STRONG, S_SHIFT, S_TURN = range(6)
S_SPEED, S_DRIFT, S_DOUBT_S, S_GAP_S, S_MEAN_S, S_CALM_S, S_WINDOW_S = range(6, 13)
S_SIZE = 13


def state_size(size):
    """Number of numbers in a state whose window has this many samples."""
    return WINDOW + 6 * size


@njit(cache=True, error_model="numpy", no_cfunc_wrapper=True)
def rows(x, s, word, gyr, acc, dt, verdict, statistic):
    """Update the state x with these samples: one live sample, or many of a recording. Arrays are flat.

    word: stop signal of the controller.
    verdict, statistic: for each sample, or empty. False, and x as before, if an array has another length.
    """
    n = len(dt)
    size = int(x[SIZE])
    if len(x) != WINDOW + 6 * size or len(gyr) != 3 * n or len(acc) != 3 * n or len(word) != n:
        return False
    at, settings = pointer(x), pointer(s)
    for i in range(n):
        _judge(at, settings, word[i], offset(gyr, 3 * i), offset(acc, 3 * i), dt[i])
        if len(verdict) > 0:
            verdict[i] = int(at[LAST])
            statistic[i] = at[STATISTIC]
    return True


@internal
def _judge(x, s, word, gyr, acc, dt):
    """Judge one sample; the verdict is written to LAST."""
    size = int(x[SIZE])
    if word == SAYS_STOP:
        x[SPOKEN] = 1.0
    elif x[SPOKEN] == 0.0:
        word = SAYS_NOTHING
    if dt > s[S_GAP_S]:
        x[COUNT] = 0.0
    x[TOLD] = x[TOLD] + 1.0 if word == SAYS_STOP else 0.0
    _keep(x, size, gyr, acc)
    x[SINCE_S] += dt
    x[APART_S] += dt
    if x[KNOWN] > 0.0:
        _move(x, gyr, acc, min(dt, s[S_GAP_S]))
    shift, turn = _spread(x, s)
    full = x[COUNT] >= size
    known = x[KNOWN] > 0.0
    quiet = full and x[STATISTIC] <= s[S_LIMIT] and (turn <= s[S_TURN] or not known)
    _calm_stretch(x, s, quiet, dt)
    x[SPEED] = math.sqrt(x[V] ** 2 + x[V + 1] ** 2 + x[V + 2] ** 2)
    stands = quiet and (not known or _back(x, s, shift))
    verdict = MOVES
    if word != SAYS_MOVE and stands:
        verdict = BELIEVED
    elif x[TOLD] >= size and full:  # before, the window still holds the move before the stop
        x[DOUBT_S] += dt
        sure = x[STATISTIC] > s[S_STRONG] or x[DOUBT_S] > s[S_DOUBT_S]
        verdict = REJECTED if sure or x[LAST] == REJECTED else DOUBTED
    if verdict == BELIEVED:
        _stand(x, s, size, gyr, acc, dt)
    if verdict == BELIEVED or word == SAYS_MOVE:
        x[DOUBT_S] = 0.0
    x[LAST] = verdict


@internal
def _back(x, s, shift):
    """Whether force and speed have returned to those of a stop, within what the time since the last one allows."""
    slack = s[S_DRIFT] * x[SINCE_S]
    return (shift <= s[S_SHIFT] + slack and x[SPEED] <= s[S_SPEED] + slack) or x[CALM_S] > s[S_CALM_S]


@internal
def _keep(x, size, gyr, acc):
    """Add the sample to the window and remove the oldest; update the sums."""
    row = WINDOW + 6 * int(x[NEXT])
    full = x[COUNT] >= size
    if x[COUNT] == 0.0:
        for j in range(3):
            x[REFERENCE + j], x[REFERENCE + 3 + j] = gyr[j], acc[j]
        for j in range(8):
            x[SUMS + j] = 0.0
    for j in range(6):
        squares = SQUARES + j // 3
        if full:
            off = x[row + j] - x[REFERENCE + j]
            x[SUMS + j] -= off
            x[squares] -= off * off
        x[row + j] = gyr[j] if j < 3 else acc[j - 3]
        off = x[row + j] - x[REFERENCE + j]
        x[SUMS + j] += off
        x[squares] += off * off
    x[NEXT] = (x[NEXT] + 1.0) % size
    x[COUNT] = min(x[COUNT] + 1.0, float(size))
    if x[NEXT] == 0.0:
        _sum_anew(x, size)


@internal
def _sum_anew(x, size):
    """Compute the sums again from the rows of the window, against their mean."""
    count = int(x[COUNT])
    for j in range(6):
        x[REFERENCE + j] += x[SUMS + j] / count
        x[SUMS + j] = 0.0
    x[SQUARES] = x[SQUARES + 1] = 0.0
    for k in range(count):  # after a gap the newest stand just before NEXT
        row = WINDOW + 6 * ((int(x[NEXT]) - 1 - k) % size)
        for j in range(6):
            off = x[row + j] - x[REFERENCE + j]
            x[SUMS + j] += off
            x[SQUARES + j // 3] += off * off


@internal
def _move(x, gyr, acc, dt):
    """Integrate speed and gravity's reading over one sample, in the turning frame."""
    w0, w1, w2 = gyr[0] - x[BIAS], gyr[1] - x[BIAS + 1], gyr[2] - x[BIAS + 2]
    v0, v1, v2 = x[V], x[V + 1], x[V + 2]
    f0, f1, f2 = x[F_G], x[F_G + 1], x[F_G + 2]
    x[V] = v0 + dt * (acc[0] - f0 - (w1 * v2 - w2 * v1))
    x[V + 1] = v1 + dt * (acc[1] - f1 - (w2 * v0 - w0 * v2))
    x[V + 2] = v2 + dt * (acc[2] - f2 - (w0 * v1 - w1 * v0))
    g0 = f0 - dt * (w1 * f2 - w2 * f1)
    g1 = f1 - dt * (w2 * f0 - w0 * f2)
    g2 = f2 - dt * (w0 * f1 - w1 * f0)
    # one Euler step makes the vector longer; gravity keeps its length
    grown = g0 * g0 + g1 * g1 + g2 * g2
    scale = math.sqrt((f0 * f0 + f1 * f1 + f2 * f2) / grown) if grown > 0.0 else 1.0
    x[F_G], x[F_G + 1], x[F_G + 2] = g0 * scale, g1 * scale, g2 * scale


@internal
def _calm_stretch(x, s, quiet, dt):
    """How long the readings have been quiet with a constant mean force."""
    off = 0.0
    for j in range(3):
        off += (x[MEAN + j] - x[CALM_F + j]) ** 2
    if quiet and x[CALM_S] > 0.0 and math.sqrt(off) <= s[S_SHIFT]:
        x[CALM_S] += dt
    else:
        x[CALM_S] = dt if quiet else 0.0
        for j in range(3):
            x[CALM_F + j] = x[MEAN + j]


@internal
def _spread(x, s):
    """Variance over the window against the sensor's, the larger of force and rate, into STATISTIC. Returns the distance
    of the window's means from those at rest: force (m/s2) and rate (rad/s).
    """
    count = x[COUNT]
    x[STATISTIC] = 0.0
    shift = turn = 0.0
    for instrument in range(2):
        spread = x[SQUARES + instrument]
        for j in range(3):
            k = 3 * instrument + j
            off = x[SUMS + k] / count
            mean = x[REFERENCE + k] + off
            spread -= x[SUMS + k] * off
            if instrument == 0:
                turn += (mean - x[BIAS + j]) ** 2
            else:
                shift += (mean - x[F_G + j]) ** 2
                x[MEAN + j] = mean
        variance = s[S_GYR_VAR] if instrument == 0 else s[S_ACC_VAR]
        if count > 1.0:
            x[STATISTIC] = max(x[STATISTIC], spread / (3.0 * (count - 1.0) * variance))
    return math.sqrt(shift), math.sqrt(turn)


@internal
def _stand(x, s, size, gyr, acc, dt):
    """At a believed stop the speed is 0, and the readings at rest are learned: a mean over S_MEAN_S."""
    # a window in which the stand before has still a part shows the same stand
    anew = x[KNOWN] == 0.0 or (x[LAST] != BELIEVED and x[APART_S] >= s[S_WINDOW_S])
    if x[KNOWN] == 0.0:
        for j in range(3):
            x[BIAS + j] = 0.0
            for k in range(size):
                x[BIAS + j] += x[WINDOW + 6 * k + j] / size
        x[KNOWN] = 1.0
    if anew:
        x[HELD_S] = 0.0
        for j in range(3):  # the tilt of the new place is read anew; the bias goes on
            x[F_G + j] = 0.0
            for k in range(size):
                x[F_G + j] += x[WINDOW + 6 * k + 3 + j] / size
    x[HELD_S] = min(x[HELD_S] + dt, s[S_MEAN_S])
    share = min(dt / (x[HELD_S] + size * dt), 1.0) if dt > 0.0 else 0.0
    slow = min(dt / s[S_MEAN_S], 1.0)
    for j in range(3):
        x[V + j] = 0.0
        x[F_G + j] += share * (acc[j] - x[F_G + j])
        x[BIAS + j] += slow * (gyr[j] - x[BIAS + j])
    x[SINCE_S] = x[APART_S] = 0.0
