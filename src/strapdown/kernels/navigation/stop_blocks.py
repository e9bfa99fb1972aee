"""State of the live judge of stops: sums of readings in blocks, the open segment with its evidence, and the signals.

Of stop_forward.py, which decides. SI units; evidence in nats.
"""

import math

from strapdown.kernels.jit import internal, offset
from strapdown.kernels.navigation import stop_segments as whole
from strapdown.kernels.navigation.stop_judge import SAYS_NOTHING, SAYS_STOP
from strapdown.kernels.navigation.stop_segments import CHAIN, COLUMNS

KEPT = 16  # segments against which one is judged, besides the last stop

# state x: usual step, readings of a block, most blocks of a segment; blocks of the open segment, readings of the open
# block; whether there were samples
STEP_S, SIZE, BLOCKS, ROWS, FILLED, BEGUN = range(6)
LAST, EVIDENCE, LATE_S = 6, 7, 8  # verdict, evidence for a stop, time for which earlier verdicts were wrong
WORD, SHOWN, ROLLS, ROLLED, UNREAD_S = range(9, 14)  # signals: of the controller, 1 move and 2 stop seen; of the wheel
STOOD, STANDS, USED_S = range(14, 17)  # segment before was a stop; this one is; from which time on it is used
MOTION_S, STOP_S, FLAG_MOTION_S, FLAG_STOP_S, WHEEL_MOTION_S, WHEEL_STOP_S = range(17, 23)
NUMBER, BEST_NUMBER = 23, 24  # segments kept so far; of the last stop, from 1 on: 0 without
TRAVELLED_M, HEAD, TAIL, TICK_M = range(25, 29)
HELD, RUN_S = 29, 30  # it was a stop when the last block ended; time of the same force before the open segment
Q = 31
NOW = 35  # as a row of the table: time, angle; integrals of force and rate, turned back; count, sums, squares
T_S, ANGLE, VELOCITY, TURN, COUNT, SUMS, SQUARES, ROW = 0, 1, 2, 5, 8, 9, 15, 17
# a segment and its chain; whether it is a stop, and what the signals showed
STOP, SIGNALS, RECORD = COLUMNS + CHAIN, COLUMNS + CHAIN + 1, COLUMNS + CHAIN + 2
BEST = NOW + ROW
RECENT = BEST + RECORD
TABLE = RECENT + KEPT * RECORD

# settings s: those of the chain, then
_FIRST = whole.SETTINGS
S_ACC_VAR, S_GYR_VAR, S_SPREAD, S_TURN, S_ERROR, S_EDGE_S, S_PENALTY = range(_FIRST, _FIRST + 7)
S_SURE, S_GAP_S, S_WHEEL_M, S_WHEEL_S, S_TICKS, S_CREEP_M = range(_FIRST + 7, _FIRST + 13)
S_BIAS, S_FORCE, S_SIZE = _FIRST + 13, _FIRST + 16, _FIRST + 19  # mean rate and force of a rest


def state_size(blocks, readings):
    """Numbers of a state.

    blocks: most blocks of a segment.
    readings: of the wheel within its window.
    """
    return TABLE + ROW * (blocks + 1) + 2 * readings


@internal
def wheel_rolls(x, s, ring, entries, travel, t):
    """Whether the wheel has turned within the last S_WHEEL_S by more than S_WHEEL_M; where that is 0, by more than its
    ticks and a creep.
    """
    x[UNREAD_S] = 0.0
    x[TRAVELLED_M] += travel
    step = abs(travel)
    if step > 0.0 and (x[TICK_M] == 0.0 or step < x[TICK_M]):
        x[TICK_M] = step
    head, tail = int(x[HEAD]), int(x[TAIL])
    ring[2 * (head % entries)] = t
    ring[2 * (head % entries) + 1] = x[TRAVELLED_M]
    head += 1
    tail = max(tail, head - entries)
    while ring[2 * (tail % entries)] < t - s[S_WHEEL_S] * (1.0 + 1e-9):
        tail += 1
    x[HEAD], x[TAIL] = float(head), float(tail)
    least = s[S_WHEEL_M] if s[S_WHEEL_M] > 0.0 else max(s[S_TICKS] * x[TICK_M], s[S_CREEP_M])
    return abs(x[TRAVELLED_M] - ring[2 * (tail % entries) + 1]) > least


@internal
def integrate(x, s, gyr, acc, dt):
    """Add a sample to the integrals and sums."""
    h = min(dt, s[S_GAP_S])
    a0, a1, a2 = gyr[0] - s[S_BIAS], gyr[1] - s[S_BIAS + 1], gyr[2] - s[S_BIAS + 2]
    f0, f1, f2 = acc[0] - s[S_FORCE], acc[1] - s[S_FORCE + 1], acc[2] - s[S_FORCE + 2]
    w, p, q, r, size = whole.turned_by(x[Q], x[Q + 1], x[Q + 2], x[Q + 3], a0 * h, a1 * h, a2 * h)
    x[Q], x[Q + 1], x[Q + 2], x[Q + 3] = w, p, q, r
    x[NOW + T_S] += dt
    x[NOW + ANGLE] += size
    e0, e1, e2 = whole.turned(w, p, q, r, acc[0], acc[1], acc[2])
    x[NOW + VELOCITY] += h * e0
    x[NOW + VELOCITY + 1] += h * e1
    x[NOW + VELOCITY + 2] += h * e2
    e0, e1, e2 = whole.turned(w, p, q, r, a0 * h, a1 * h, a2 * h)
    x[NOW + TURN] += e0
    x[NOW + TURN + 1] += e1
    x[NOW + TURN + 2] += e2
    x[NOW + COUNT] += 1.0
    x[NOW + SUMS] += f0
    x[NOW + SUMS + 1] += f1
    x[NOW + SUMS + 2] += f2
    x[NOW + SUMS + 3] += a0
    x[NOW + SUMS + 4] += a1
    x[NOW + SUMS + 5] += a2
    x[NOW + SQUARES] += f0 * f0 + f1 * f1 + f2 * f2
    x[NOW + SQUARES + 1] += a0 * a0 + a1 * a1 + a2 * a2


@internal
def end_block(x):
    """Let a block end after the last sample."""
    if x[FILLED] > 0.0:
        x[ROWS] += 1.0
        x[FILLED] = 0.0
        row = TABLE + ROW * int(x[ROWS])
        for j in range(ROW):
            x[row + j] = x[NOW + j]


@internal
def best_cut(x, s, array):
    """The block before which the open segment is best cut in two; 0 where noise may cut as well."""
    blocks = int(x[ROWS])
    first, last = offset(array, TABLE), offset(array, TABLE + ROW * blocks)
    force, rate = x[STEP_S] / s[whole.ACC_N2], x[STEP_S] / s[whole.GYR_N2]
    most, best = s[S_PENALTY], 0
    total = last[COUNT] - first[COUNT]
    for k in range(1, blocks):
        middle = offset(array, TABLE + ROW * k)
        count = middle[COUNT] - first[COUNT]
        off2 = 0.0
        for j in range(6):
            # how far the mean of the first part is from that of all
            off = (middle[SUMS + j] - first[SUMS + j]) - (last[SUMS + j] - first[SUMS + j]) * (count / total)
            off2 += off * off * (force if j < 3 else rate)
        gain = off2 * total / (count * (total - count))
        if gain > most:
            most, best = gain, k
    return best


@internal
def segment(x, s, a, b, seg):
    """The segment from row a to row b, with the evidence of its readings and of the signals."""
    length, count = b[T_S] - a[T_S], b[COUNT] - a[COUNT]
    seg[whole.BEGIN_S], seg[whole.END_S] = a[T_S], b[T_S]
    seg[whole.TURNED_0], seg[whole.TURNED_1] = a[ANGLE], b[ANGLE]
    for j in range(3):
        seg[whole.V_0 + j], seg[whole.V_1 + j] = a[VELOCITY + j], b[VELOCITY + j]
        seg[whole.F_0 + j] = seg[whole.F_1 + j] = (b[VELOCITY + j] - a[VELOCITY + j]) / length
        seg[whole.RATE + j] = (b[TURN + j] - a[TURN + j]) / length
    for j in range(3):  # a bias turns the frame; the middle has the mean
        k, m = (j + 1) % 3, (j + 2) % 3
        w, v = seg[whole.RATE + k], seg[whole.RATE + m]
        mean_k = (b[VELOCITY + k] - a[VELOCITY + k]) / length
        mean_m = (b[VELOCITY + m] - a[VELOCITY + m]) / length
        turned = 0.5 * length * (w * mean_m - v * mean_k)
        seg[whole.F_0 + j] -= turned
        seg[whole.F_1 + j] += turned
    own, rate2 = 0.0, 0.0
    degrees = 3.0 * max(count - 1.0, 1.0)
    for instrument in range(2):
        spread = b[SQUARES + instrument] - a[SQUARES + instrument]
        for j in range(3):
            mean = (b[SUMS + 3 * instrument + j] - a[SUMS + 3 * instrument + j]) / count
            spread -= count * mean * mean
            if instrument == 1:
                rate2 += mean * mean
        sigma2 = s[S_ACC_VAR] if instrument == 0 else s[S_GYR_VAR]
        louder = math.log(max(spread / (degrees * sigma2), 1.0))
        own += _bounded(s, -0.5 * louder * louder / (2.0 / degrees + s[S_SPREAD] ** 2))
    # without a bound: no other evidence, as of wheels that stand in a turn on the spot, makes a turn a stop
    own -= 0.5 * rate2 / (s[whole.GYR_N2] / length + s[S_TURN] ** 2)
    seg[whole.OWN] = own + _signals(x, s)


@internal
def _bounded(s, evidence):
    return math.log(s[whole.DOUBT] + math.exp(evidence))


@internal
def _signals(x, s):
    """Evidence of the controller's signal and of the wheel, by how reliable they have been so far. A signal that has
    not changed yet is none.
    """
    evidence = 0.0
    if x[SHOWN] == 3.0 and x[WORD] != SAYS_NOTHING:
        evidence += _word(s, x[WORD] == SAYS_STOP, x[FLAG_MOTION_S], x[MOTION_S], x[FLAG_STOP_S], x[STOP_S])
    if x[ROLLED] > 0.0:
        if x[ROLLS] > 0.0:
            return -math.inf
        evidence += _word(s, True, x[WHEEL_MOTION_S], x[MOTION_S], x[WHEEL_STOP_S], x[STOP_S])
    return evidence


@internal
def shown_signals(x):
    """What both signals show, as a number."""
    return (x[WORD] if x[SHOWN] == 3.0 else SAYS_NOTHING) + 4.0 * x[ROLLS]


@internal
def _word(s, shows, in_motion_s, motion_s, in_stops_s, stops_s):
    wrong = s[S_ERROR]
    in_motion, in_stops = wrong, 1.0 - wrong
    if motion_s > 0.0:
        in_motion = min(max(in_motion_s / motion_s, wrong), 1.0 - wrong)
    if stops_s > 0.0:
        in_stops = min(max(in_stops_s / stops_s, wrong), 1.0 - wrong)
    return math.log(in_stops / in_motion) if shows else math.log((1.0 - in_stops) / (1.0 - in_motion))
