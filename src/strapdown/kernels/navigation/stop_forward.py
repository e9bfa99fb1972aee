"""Stops while the samples arrive: the forward pass of stop_segments.py. SI units; evidence in nats.

Readings are summed in blocks. A segment ends where the best cut of it has a larger chi-square than noise may have, and
where a signal changes. The open segment is judged at each sample by the same evidence as in a whole log, but
against earlier segments only: the last stops, and the last segments that were no stop.

A live verdict knows one end of a move. So it also asks whether a segment has the force and the speed of one that was no
stop: then it is none either, because a drive that meets a bump reads the same before and after it.
"""

import math

from numba import njit

from strapdown.kernels.jit import internal, offset, pointer, space
from strapdown.kernels.navigation import stop_segments as whole
from strapdown.kernels.navigation.stop_blocks import (
    BEGUN,
    BEST,
    BEST_NUMBER,
    BLOCKS,
    COUNT,
    EVIDENCE,
    FILLED,
    FLAG_MOTION_S,
    FLAG_STOP_S,
    HELD,
    KEPT,
    LAST,
    LATE_S,
    MOTION_S,
    NOW,
    NUMBER,
    RECENT,
    RECORD,
    ROLLED,
    ROLLS,
    ROW,
    ROWS,
    RUN_S,
    S_EDGE_S,
    S_GAP_S,
    S_SURE,
    S_WHEEL_S,
    SHOWN,
    SIGNALS,
    SIZE,
    STANDS,
    STEP_S,
    STOOD,
    STOP,
    STOP_S,
    SUMS,
    T_S,
    TABLE,
    UNREAD_S,
    USED_S,
    WHEEL_MOTION_S,
    WHEEL_STOP_S,
    WORD,
    Q,
    best_cut,
    end_block,
    integrate,
    segment,
    shown_signals,
    wheel_rolls,
)
from strapdown.kernels.navigation.stop_judge import BELIEVED, DOUBTED, MOVES, REJECTED, SAYS_NOTHING, SAYS_STOP
from strapdown.kernels.navigation.stop_segments import CHAIN, COLUMNS, LINK


@njit(cache=True, error_model="numpy", no_cfunc_wrapper=True)
def rows(x, s, word, gyr, acc, travel, t, dt, verdict, statistic, late):
    """Update the state x with these samples: one live sample, or many of a recording. Arrays are flat.

    word: stop signal of the controller.
    travel: travel of the wheel since the sample before (m); empty without a new reading. verdict and what follows: for
        each sample, or empty. False, and x as before, if an array has another length.
    """
    n = len(dt)
    if len(gyr) != 3 * n or len(acc) != 3 * n or len(word) != n or len(t) != n:
        return False
    if len(travel) > 0 and len(travel) != n:
        return False
    at, settings = pointer(x), pointer(s)
    wheel = TABLE + ROW * (int(x[BLOCKS]) + 1)
    readings = (len(x) - wheel) // 2
    for i in range(n):
        if len(travel) > 0:
            rolls = wheel_rolls(at, settings, offset(x, wheel), readings, travel[i], t[i])
        else:
            at[UNREAD_S] += dt[i]
            rolls = at[ROLLS] > 0.0 and at[UNREAD_S] < settings[S_GAP_S]
        _take(at, settings, x, word[i], rolls, offset(gyr, 3 * i), offset(acc, 3 * i), dt[i])
        if len(verdict) > 0:
            verdict[i] = int(at[LAST])
            statistic[i] = -at[EVIDENCE]
            late[i] = at[LATE_S]
    return True


@internal
def _take(x, s, array, word, rolls, gyr, acc, dt):
    """Take one sample; the verdict is written to LAST."""
    if x[BEGUN] == 0.0:
        x[BEGUN], x[Q], x[WORD] = 1.0, 1.0, float(word)
        dt = x[STEP_S]
    if word != SAYS_NOTHING:
        seen = int(x[SHOWN])
        x[SHOWN] = float(seen | (2 if word == SAYS_STOP else 1))
    turns = 1.0 if rolls else 0.0
    x[LATE_S] = 0.0
    if word != int(x[WORD]) or turns != x[ROLLS] or dt > s[S_GAP_S]:
        end_block(x)
        if x[ROWS] > 0.0:
            _close(x, s, array, int(x[ROWS]))
        if turns > x[ROLLS]:
            x[LATE_S] = s[S_WHEEL_S] + s[S_EDGE_S]  # it has turned for a part of the window
        x[STANDS] = x[HELD] = 0.0
        if word == SAYS_STOP and int(x[WORD]) != SAYS_STOP and x[SHOWN] == 3.0:
            x[USED_S] = x[NOW + T_S]  # the signal knows the edge better
        x[WORD], x[ROLLS] = float(word), turns
        if rolls:
            x[ROLLED] = 1.0
    integrate(x, s, gyr, acc, dt)
    x[FILLED] += 1.0
    if x[FILLED] >= x[SIZE]:
        end_block(x)
        best = best_cut(x, s, array)
        if best > 0:
            _close(x, s, array, best)
        elif x[ROWS] >= x[BLOCKS]:
            run_s = x[RUN_S] + x[NOW + T_S] - array[TABLE + T_S]
            _close(x, s, array, int(x[ROWS]))
            x[RUN_S] = run_s
    if x[NOW + COUNT] > array[TABLE + COUNT]:
        _judge(x, s, array)
    if x[FILLED] == 0.0:
        if x[HELD] > x[STANDS]:  # it moves, and has moved since the last cut
            x[LATE_S] = x[NOW + T_S] - array[TABLE + T_S] + s[S_EDGE_S]
        x[HELD] = x[STANDS]
    stands = x[STANDS] > 0.0 and x[NOW + T_S] > x[USED_S]
    verdict = BELIEVED if stands else MOVES
    if word == SAYS_STOP and not stands:
        begin = array[TABLE + T_S]
        verdict = REJECTED if x[STANDS] == 0.0 and x[NOW + T_S] - begin > s[S_EDGE_S] else DOUBTED
    x[LAST] = float(verdict)


@internal
def _follow(x, s, array, seg, to):
    """The most likely chain up to this segment. Returns its evidence beyond the last stop."""
    to[whole.SCORE], to[whole.BEFORE] = -math.inf, 0.0
    length = seg[whole.END_S] - seg[whole.BEGIN_S]
    if x[BEST_NUMBER] == 0.0:
        to[whole.SCORE] = seg[whole.OWN] + _calm(length + x[RUN_S], s)
        whole.learn(seg, s, to)
        return to[whole.SCORE]
    linked = space(LINK)
    same = 0.0  # evidence against it of a segment that is no stop and has the same force, speed and signals
    signals = shown_signals(x)
    number, last = int(x[NUMBER]), int(x[BEST_NUMBER])
    oldest = max(number - KEPT, 0)
    for back in range(number, oldest - 1, -1):
        at = RECENT + RECORD * ((back - 1) % KEPT)
        if back == oldest:
            if last > oldest:
                break
            at = BEST
        old, chain = offset(array, at), offset(array, at + COLUMNS)
        stood = array[at + STOP] > 0.0
        whole.link(old, seg, s, chain, linked)
        apart = seg[whole.BEGIN_S] > old[whole.END_S]
        alike = linked[whole.SPEED_E] + whole.not_above_zero(linked[whole.FORCE_E])
        evidence = alike if stood or not apart else whole.not_above_zero(alike)
        evidence = math.log(s[whole.DOUBT] + math.exp(evidence))
        if apart:
            calm = _calm(length, s)
            evidence += (calm if stood else min(calm, 0.0)) - chain[whole.GOES_ON]
        elif stood:
            evidence += whole.HOLDS
        elif x[RUN_S] > 0.0:
            evidence += _calm(length + x[RUN_S], s) - _calm(x[RUN_S], s)
        score = chain[whole.SCORE] + seg[whole.OWN] + evidence - same
        if score > to[whole.SCORE]:
            to[whole.SCORE] = score
            whole.learn_from(seg, s, chain, linked, to)
        if back == last or at == BEST:
            to[whole.BEFORE] = min(linked[whole.SPEED_E], -same)
        if array[at + SIGNALS] == signals:
            same = max(same, min(alike if apart else linked[whole.FORCE_E], -chain[whole.BEFORE]))
    return to[whole.SCORE] - array[BEST + COLUMNS + whole.SCORE]


@internal
def _calm(length, s):
    """Evidence of the time for which a new stop reads the same. Unlike in a whole log it has no bound: where the speed
    is no longer known, a long stand is a stop.
    """
    times = length / s[whole.CALM_S]
    return times - 1.0 if times < 1.0 else math.log(times)


@internal
def _judge(x, s, array):
    """Judge the open segment."""
    seg, to = space(COLUMNS), space(CHAIN)
    segment(x, s, offset(array, TABLE), offset(array, NOW), seg)
    x[EVIDENCE] = _follow(x, s, array, seg, to)
    sure = 0.0 if x[STOOD] > 0.0 or x[BEST_NUMBER] == 0.0 else s[S_SURE]
    x[STANDS] = 1.0 if x[EVIDENCE] > sure else 0.0


@internal
def _close(x, s, array, blocks):
    """End the open segment after so many blocks; what follows is the open one."""
    seg, to = space(COLUMNS), space(CHAIN)
    segment(x, s, offset(array, TABLE), offset(array, TABLE + ROW * blocks), seg)
    evidence = _follow(x, s, array, seg, to)
    sure = 0.0 if x[STOOD] > 0.0 or x[BEST_NUMBER] == 0.0 else s[S_SURE]
    length = seg[whole.END_S] - seg[whole.BEGIN_S]
    stood = evidence > sure and (x[STOOD] > 0.0 or length > s[S_EDGE_S])  # what is shorter than an edge is one
    told = 1.0 if int(x[WORD]) == SAYS_STOP else 0.0
    rests = 1.0 - x[ROLLS]
    if stood:
        x[STOP_S] += length
        x[FLAG_STOP_S] += told * length
        x[WHEEL_STOP_S] += rests * length
    else:
        x[MOTION_S] += length
        x[FLAG_MOTION_S] += told * length
        x[WHEEL_MOTION_S] += rests * length
    number = int(x[NUMBER])
    for at in (BEST, RECENT + RECORD * ((number - 1) % KEPT)):
        if length > s[S_EDGE_S] and number > 0 and array[at + whole.END_S] == seg[whole.BEGIN_S]:
            chain = offset(array, at + COLUMNS)
            chain[whole.GOES_ON] = whole.goes_on(seg, s, chain)
    if stood or (length > s[S_EDGE_S] and seg[whole.OWN] > math.log(s[whole.DOUBT])):
        _slow_at_its_end(x, s, array, seg, to)
        x[NUMBER] = float(number + 1)
        _keep(x, RECENT + RECORD * (number % KEPT), seg, to, stood)
        if stood:
            x[BEST_NUMBER] = float(number + 1)
            _keep(x, BEST, seg, to, stood)
    x[STOOD] = 1.0 if stood else 0.0
    if not stood:
        x[USED_S] = seg[whole.END_S] + s[S_EDGE_S]
    left = int(x[ROWS]) - blocks
    before = offset(array, TABLE + ROW * blocks)
    count, sums = before[COUNT], space(8)
    for j in range(8):
        sums[j] = before[SUMS + j]
    for k in range(left + 1):
        for j in range(ROW):
            x[TABLE + ROW * k + j] = x[TABLE + ROW * (k + blocks) + j]
        x[TABLE + ROW * k + COUNT] -= count
        for j in range(8):
            x[TABLE + ROW * k + SUMS + j] -= sums[j]
    x[NOW + COUNT] -= count
    for j in range(8):
        x[NOW + SUMS + j] -= sums[j]
    x[ROWS], x[RUN_S] = float(left), 0.0


@internal
def _slow_at_its_end(x, s, array, seg, to):
    """The speed of a segment speaks against it only if it does so at both ends: a move that ends is no cruise."""
    if x[BEST_NUMBER] > 0.0:
        after, linked = space(COLUMNS), space(LINK)
        for j in range(COLUMNS):
            after[j] = seg[j]
        after[whole.BEGIN_S], after[whole.TURNED_0] = seg[whole.END_S], seg[whole.TURNED_1]
        after[whole.END_S] = 2.0 * seg[whole.END_S] - seg[whole.BEGIN_S]
        for j in range(3):
            after[whole.V_0 + j], after[whole.F_0 + j] = seg[whole.V_1 + j], seg[whole.F_1 + j]
        whole.link(offset(array, BEST), after, s, offset(array, BEST + COLUMNS), linked)
        to[whole.BEFORE] = max(to[whole.BEFORE], linked[whole.SPEED_E])


@internal
def _keep(x, at, seg, to, stood):
    for j in range(COLUMNS):
        x[at + j] = seg[j]
    for j in range(CHAIN):
        x[at + COLUMNS + j] = to[j]
    x[at + COLUMNS + whole.GOES_ON] = 0.0
    x[at + STOP], x[at + SIGNALS] = 1.0 if stood else 0.0, shown_signals(x)
