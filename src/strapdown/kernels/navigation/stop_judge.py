"""Decides whether a vehicle is at rest. The decision is made sample by sample from the IMU, and from the signals of its
controller and its wheel.

Readings at a stop vary over a window no more than the sensor's own noise. Quiet readings are not enough: a smooth drive
is as quiet. So the mean force must be that of gravity, and the speed since the last stop must have returned to 0. Speed
and force come from a small strapdown in the sensor's frame: v' = f - f_g - w x v and f_g' = - w x f_g. f_g is read at
the last stop. The limits of speed and force follow from the noise and from the time since that stop. Where a signal has
just changed from move to stop, the limits are wide. A stop ends too when its readings add up to a speed (stop_gain.py).

Lost dead reckoning recovers. The standard deviation of dead reckoning grows with time, with turns and with gaps.
Readings that stay calm and the same for S_LOST_S are a stop whatever it shows.

The cost of a sample does not depend on the length of the window. Sums over it are updated, and computed again once in a
window, so that roundoff does not accumulate.
"""

import math

import numpy as np
from numba import njit

from strapdown.kernels.jit import internal, not_constant, offset, pointer
from strapdown.kernels.navigation import stop_gain as gain

# verdicts
MOVES, BELIEVED, DOUBTED, REJECTED = 0, 1, 2, 3
# the controller's signal; with a wheel that turns while it signals a stop: ROLLS
SAYS_MOVE, SAYS_STOP, SAYS_NOTHING, SAYS_ROLLS = 0, 1, 2, 3

# state x
COUNT, NEXT, SINCE_S, DOUBT_S, KNOWN, STATISTIC, SPEED, LAST, HELD_S, CALM_S = range(10)
V, F_G, BIAS = 10, 13, 16  # m/s, m/s2, rad/s; frame s
MEAN, CALM_F = 19, 22  # mean force of the window, now and when the calm began, m/s2
TOLD, WORD, ROSE = 25, 26, 27  # samples since the controller signals stop; signal before, plus 1; it became stop
TURNED, LOST, BEFORE_S = 28, 29, 30  # since the stop: rad; m2/s2, unknown by gaps; s, behind F_G
APART_S = 31  # since the last believed sample
SIZE = 32  # samples of the window
STEP_S = 33  # the usual step that the window was laid out for
SPOKEN = 34  # 1: the controller has signalled a stop at least once; before, its signal counts for nothing
REFERENCE, SUMS, SQUARES = (
    35,
    41,
    47,
)  # readings less a reference near them: sums of six over the window, of squares two
TRAVELLED_M, HEAD, TAIL = 49, 50, 51  # the wheel: way so far, entries written, first entry within the window
GAIN = 52
WINDOW = GAIN + gain.SIZE  # its rows (rate, force), then the wheel's entries (time, way), WHEEL_ENTRIES of them

# settings s
S_ACC_VAR, S_GYR_VAR, S_LIMIT, S_STRONG, S_SHIFT, S_TURN = range(6)
S_SPEED, S_DRIFT, S_DOUBT_S, S_GAP_S, S_MEAN_S, S_CALM_S = range(6, 12)
S_ACC_N2, S_GYR_N2, S_STEADY, S_LEAK, S_GAINED, S_ALONE, S_LEAST_F, S_LEAST_V, S_WINDOW_S, S_LOST_S = range(12, 22)
S_SHARE, S_SAME = 22, 23
S_WHEEL_M, S_WHEEL_S = 24, 25  # travel within this time above which a wheel turns; 0: the wheel is not used
S_SIZE = 26
_SETTLED = 0.6  # of the sigmas that end a stop: at so many its mean force is read anew
_GAP_M_S2 = 0.5  # what a vehicle does during a gap


def state_size(size):
    """Number of numbers in a state whose window has this many samples; the wheel may be read twice as often as
    usual.
    """
    return WINDOW + 6 * size + 2 * (2 * size + 2)


@njit(cache=True, error_model="numpy", no_cfunc_wrapper=True)
def rows(x, s, word, gyr, acc, travel, t, dt, verdict, statistic, speed, since):
    """Update the state x with these samples: one live sample, or many of a recording. Arrays are flat.

    word: stop signal of the controller.
    travel: travel of the wheel since the sample before (m); empty without a wheel. verdict and what follows: for each
        sample, or empty. False, and x as before, if an array has another length.
    """
    n = len(dt)
    size = int(x[SIZE])
    if len(x) != WINDOW + 6 * size + 2 * (2 * size + 2) or len(gyr) != 3 * n or len(acc) != 3 * n:
        return False
    if len(word) != n or len(t) != n or (len(travel) > 0 and len(travel) != n):
        return False
    at, settings = pointer(x), pointer(s)
    v, f_g = np.empty(3), np.empty(3)
    for i in range(n):
        rolls = len(travel) > 0 and _turns(at, settings, size, travel[i], t[i])
        _judge(at, settings, word[i], rolls, offset(gyr, 3 * i), offset(acc, 3 * i), dt[i], v, f_g)
        if len(verdict) > 0:
            verdict[i] = int(at[LAST])
            statistic[i], speed[i], since[i] = at[STATISTIC], at[SPEED], at[SINCE_S]
    return True


@internal
def _judge(x, s, word, rolls, gyr, acc, dt, v, f_g):
    """Judge one sample; the verdict is written to LAST."""
    size = int(x[SIZE])
    if word == SAYS_STOP:
        x[SPOKEN] = 1.0
    elif x[SPOKEN] == 0.0:
        word = SAYS_NOTHING
    if rolls:
        word = SAYS_ROLLS if word == SAYS_STOP else SAYS_MOVE
    if dt > s[S_GAP_S]:
        x[COUNT] = 0.0
        x[LOST] += (_GAP_M_S2 * dt) ** 2
    x[TOLD] = x[TOLD] + 1.0 if word in (SAYS_STOP, SAYS_ROLLS) else 0.0
    moves = word in (SAYS_MOVE, SAYS_ROLLS)
    if moves:
        x[ROSE] = 0.0
    elif x[WORD] == SAYS_MOVE + 1.0 or x[WORD] == SAYS_ROLLS + 1.0:
        x[ROSE] = 1.0
    x[WORD] = word + 1.0
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
    if x[LAST] == BELIEVED and known and s[S_GAINED] > 0.0:  # 0: a hand, which never rests so well
        stands = _stands_on(x, s, stands and not moves, acc, dt, v, f_g)
    verdict = MOVES
    if not moves and stands:
        verdict = BELIEVED
    elif x[TOLD] >= size and full:  # before, the window still holds the move before the stop
        x[DOUBT_S] += dt
        sure = x[STATISTIC] > s[S_STRONG] or x[DOUBT_S] > s[S_DOUBT_S]
        verdict = REJECTED if sure or x[LAST] == REJECTED else DOUBTED
    if verdict == BELIEVED:
        _stand(x, s, size, gyr, acc, dt)
    elif verdict == REJECTED and x[STATISTIC] > s[S_STRONG]:  # it shakes: the signal was wrong, not the reckoning
        x[ROSE] = 0.0
    if verdict == BELIEVED or word == SAYS_MOVE:
        x[DOUBT_S] = 0.0
    x[LAST] = verdict


@internal
def _turns(x, s, size, travel, t):
    """Whether the wheel has turned within the last S_WHEEL_S by more than S_WHEEL_M."""
    if s[S_WHEEL_M] == 0.0:
        return False
    entries = 2 * size + 2
    ring = WINDOW + 6 * size
    x[TRAVELLED_M] += travel
    head, tail = int(x[HEAD]), int(x[TAIL])
    x[ring + 2 * (head % entries)] = t
    x[ring + 2 * (head % entries) + 1] = x[TRAVELLED_M]
    head += 1
    tail = max(tail, head - entries)
    while x[ring + 2 * (tail % entries)] < t - s[S_WHEEL_S] * (1.0 + 1e-9):
        tail += 1
    x[HEAD], x[TAIL] = float(head), float(tail)
    return abs(x[TRAVELLED_M] - x[ring + 2 * (tail % entries) + 1]) > s[S_WHEEL_M]


@internal
def _back(x, s, shift):
    """Whether force and speed have returned to those of a stop, within the accuracy of the dead reckoning since the
    last one.
    """
    t = x[SINCE_S]
    if x[ROSE] > 0.0 or s[S_GAINED] == 0.0:
        slack = s[S_DRIFT] * t
        return (shift <= s[S_SHIFT] + slack and x[SPEED] <= s[S_SPEED] + slack) or x[CALM_S] > s[S_CALM_S]
    g2 = x[F_G] ** 2 + x[F_G + 1] ** 2 + x[F_G + 2] ** 2
    # the gyroscope: its noise, and that of its bias, a mean over S_MEAN_S; doubled, as a bias wanders
    n2 = 4.0 * s[S_GYR_N2]
    leak2 = (s[S_LEAK] * x[TURNED]) ** 2
    known2 = s[S_ACC_N2] / max(x[BEFORE_S], s[S_WINDOW_S]) + s[S_STEADY] ** 2 + g2 * leak2
    speed2 = s[S_ACC_N2] * t + known2 * t * t + g2 * n2 * (t**3 / 3.0 + t**4 / (4.0 * s[S_MEAN_S])) + x[LOST]
    slow = x[SPEED] <= s[S_LEAST_V] + s[S_ALONE] * math.sqrt(speed2)
    shift2 = s[S_ACC_N2] / s[S_WINDOW_S] + known2 + g2 * n2 * (t + t * t / s[S_MEAN_S])
    same = shift <= s[S_LEAST_F] + s[S_ALONE] * math.sqrt(shift2)
    # a long move brakes as gently as a short one stands; what it still brakes by changes meanwhile
    calm = x[CALM_S] >= min(s[S_SHARE] * t, s[S_CALM_S])
    excused = x[LOST] > 0.0 and x[CALM_S] > s[S_CALM_S]  # a gap hides how far the vehicle has tilted
    return (slow and calm and (same or excused)) or x[CALM_S] > s[S_LOST_S]


@internal
def _stands_on(x, s, stands, acc, dt, v, f_g):
    """Whether a stop continues; where it does not, the motion is integrated from its begin."""
    if not (gain.add(x, not_constant(GAIN), acc, dt) or not stands):
        return True
    n2, steady = s[S_ACC_N2], s[S_STEADY]
    deviations, since_s, _ = gain.gained(x, not_constant(GAIN), n2, steady, 0.0, gain.SETTLE_S, v, f_g)
    if stands and deviations > _SETTLED * s[S_GAINED]:
        for j in range(3):
            x[F_G + j] = f_g[j] + v[j] / since_s
        gain.begin(x, not_constant(GAIN), x[F_G], x[F_G + 1], x[F_G + 2], since_s)
        return True
    deviations, since_s, before_s = gain.gained(x, not_constant(GAIN), n2, steady, gain.SETTLE_S, np.inf, v, f_g)
    if stands and deviations <= s[S_GAINED]:
        return True
    if stands:
        x[ROSE] = 0.0
    if deviations >= 0.0:
        for j in range(3):
            x[V + j], x[F_G + j] = v[j], f_g[j]
        x[SINCE_S], x[BEFORE_S] = since_s, before_s
        x[CALM_S] = 0.0
        x[SPEED] = math.sqrt(x[V] ** 2 + x[V + 1] ** 2 + x[V + 2] ** 2)
    return False


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
    x[TURNED] += dt * math.sqrt(w0 * w0 + w1 * w1 + w2 * w2)


@internal
def _calm_stretch(x, s, quiet, dt):
    """How long the readings have been quiet with a constant mean force."""
    off = 0.0
    for j in range(3):
        off += (x[MEAN + j] - x[CALM_F + j]) ** 2
    if quiet and x[CALM_S] > 0.0 and math.sqrt(off) <= s[S_SAME]:
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
        # after a long move the calm must be long too: a braking that went on would have changed the force meanwhile
        settled = s[S_SHARE] * x[SINCE_S] >= s[S_CALM_S]
        gain.begin(
            x,
            not_constant(GAIN),
            x[F_G],
            x[F_G + 1],
            x[F_G + 2],
            max(s[S_WINDOW_S], gain.SETTLE_S) if settled else s[S_WINDOW_S],
        )
    x[HELD_S] = min(x[HELD_S] + dt, s[S_MEAN_S])
    share = min(dt / (x[HELD_S] + size * dt), 1.0) if dt > 0.0 else 0.0
    slow = min(dt / s[S_MEAN_S], 1.0)
    for j in range(3):
        x[V + j] = 0.0
        x[F_G + j] += share * (acc[j] - x[F_G + j])
        x[BIAS + j] += slow * (gyr[j] - x[BIAS + j])
    x[SINCE_S] = x[TURNED] = x[LOST] = x[APART_S] = 0.0
    x[BEFORE_S] = x[HELD_S] + s[S_WINDOW_S]
