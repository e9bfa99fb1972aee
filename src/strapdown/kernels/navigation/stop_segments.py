"""Stops of a whole log: it is cut into segments of constant force and rate, and one chain of segments is the stops.

Force and rate are turned back to the frame of the first sample by the gyroscope. There a stop reads the same force
wherever the vehicle has turned to, but for what the gyroscope has drifted by. SI units; evidence is in nats: the
logarithm of how much more likely the readings are if the segment is a stop.
"""

import math

import numpy as np
from numba import njit

from strapdown.kernels.jit import internal, pointer, row, space

# columns of a segment: its times, the angle turned before it and until its end, and evidence of its own readings
BEGIN_S, END_S, TURNED_0, TURNED_1, OWN = range(5)
# integral of the force before it and until its end; its force at its begin and at its end; its mean rate
V_0, V_1, F_0, F_1, RATE = 5, 8, 11, 14, 17
COLUMNS = 20
# settings of the chain
ACC_N2, GYR_N2, STEADY, WANDER, LEAK, GAIN, DOUBT, CALM_S, G = range(9)
SETTINGS = 9

HOLDS = math.log(2.0)  # a stop is as likely to last as to end, at a cut that does not change its force
# a chain up to a segment: evidence, the segment before; force and rate with their variances; evidence that the stop
# goes on with the next segment
SCORE, BEFORE, FORCE, FORCE_VAR, STOP_RATE, RATE_VAR, GOES_ON, CHAIN = 0, 1, 2, 5, 6, 9, 10, 11
# a segment after a stop: evidence, parts of force and rate that are learned, change of force
FORCE_E, SPEED_E, PART, SHARE, CHANGE, LINK = 0, 1, 2, 3, 4, 7


@njit(cache=True, error_model="numpy", no_cfunc_wrapper=True)
def turned_back(gyr, acc, dt, bias, velocity, turn, angle):
    """Integrals of force and of rate, turned back to the first sample, and the angle turned: before each sample, and in
    one more row after the last.
    """
    b0, b1, b2 = bias[0], bias[1], bias[2]
    w, x, y, z = 1.0, 0.0, 0.0, 0.0
    for i in range(len(dt)):
        h = dt[i]
        p, q, r = (gyr[i, 0] - b0) * h, (gyr[i, 1] - b1) * h, (gyr[i, 2] - b2) * h
        w, x, y, z, size = turned_by(w, x, y, z, p, q, r)
        angle[i + 1] = angle[i] + size
        e, f, g = turned(w, x, y, z, acc[i, 0], acc[i, 1], acc[i, 2])
        velocity[i + 1, 0] = velocity[i, 0] + h * e
        velocity[i + 1, 1] = velocity[i, 1] + h * f
        velocity[i + 1, 2] = velocity[i, 2] + h * g
        e, f, g = turned(w, x, y, z, p, q, r)
        turn[i + 1, 0], turn[i + 1, 1], turn[i + 1, 2] = turn[i, 0] + e, turn[i, 1] + f, turn[i, 2] + g


@internal
def turned_by(w, x, y, z, p, q, r):
    """A quaternion after a turn by a small rotation vector, and its angle."""
    size = math.sqrt(p * p + q * q + r * r)
    half = 0.5 * size
    s = 0.5 - half * half / 12.0 if half < 1e-3 else math.sin(half) / size  # next term: 1e-15
    c, a, b, d = math.cos(half), s * p, s * q, s * r
    w, x, y, z = (
        w * c - x * a - y * b - z * d,
        w * a + x * c + y * d - z * b,
        w * b - x * d + y * c + z * a,
        w * d + x * b - y * a + z * c,
    )
    n = 1.0 / math.sqrt(w * w + x * x + y * y + z * z)
    return w * n, x * n, y * n, z * n, size


@internal
def turned(w, x, y, z, a, b, c):
    p, q, r = 2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)
    return a + w * p + y * r - z * q, b + w * q + z * p - x * r, c + w * r + x * q - y * p


@njit(cache=True, error_model="numpy", no_cfunc_wrapper=True)
def cut(values, weights, forced, penalty, longest, begins):
    """The cut into segments of constant mean with the least sum of squares, and a penalty for each segment (Killick,
    Fearnhead and Eckley 2012). begins[k]: the first row of the segment that ends before row k.

    values: in sigmas of a row of weight 1.
    forced: rows before which there must be a cut.
    longest: rows of a segment; so the cost of a row does not grow with the log.
    """
    n, m = values.shape
    sums, squares, total = np.zeros((n + 1) * m), np.zeros(n + 1), np.zeros(n + 1)
    for k in range(n):
        squares[k + 1] = squares[k]
        for j in range(m):
            sums[(k + 1) * m + j] = sums[k * m + j] + weights[k] * values[k, j]
            squares[k + 1] += weights[k] * values[k, j] ** 2
        total[k + 1] = total[k] + weights[k]
    best, rows, costs = np.zeros(n + 1), np.zeros(n + 1, dtype=np.int64), np.zeros(n + 1)
    count = 1
    for k in range(1, n + 1):
        least, at = np.inf, rows[0]
        for o in range(count):
            s = rows[o]
            cost = squares[k] - squares[s]
            for j in range(m):
                off = sums[k * m + j] - sums[s * m + j]
                cost -= off * off / (total[k] - total[s])
            costs[o] = best[s] + cost
            if costs[o] < least:
                least, at = costs[o], s
        best[k], begins[k] = least + penalty, at
        kept = 0
        if k == n or not forced[k]:
            for o in range(count):  # a begin that is worse than a cut here stays worse
                if costs[o] < best[k] and k - rows[o] < longest:
                    rows[kept] = rows[o]
                    kept += 1
        rows[kept] = k
        count = kept + 1


@njit(cache=True, error_model="numpy", no_cfunc_wrapper=True)
def chain(segments, settings, first, reach, chosen):
    """The most likely chain of stops, from the segment `first` on (-1: from any). Each stop has the evidence of its own
    readings, and that of the speed gained since the stop before it, of the force, and of the time for which it lasts.
    Returns how often a segment was compared with another.

    reach: earlier segments from which a stop is judged, besides the best of all.
    """
    n = len(segments)
    chains = np.zeros((n, CHAIN))
    s, linked = pointer(settings), space(LINK)
    recent = np.full(reach, -1, dtype=np.int64)
    best, number, compared = -1, 0, 0
    for j in range(max(first, 0), n):
        seg, to = row(segments, j), row(chains, j)
        to[SCORE] = -np.inf
        if first < 0 or j == first:
            to[SCORE], to[BEFORE] = seg[OWN] + _calm(seg, s), -1.0
            learn(seg, s, to)
        if seg[OWN] > math.log(s[DOUBT]) or j == first:
            for o in range(reach + 1):
                i = best if o == reach else recent[o]
                if i >= 0:
                    compared += 1
                    _follow(row(segments, i), seg, s, row(chains, i), to, linked, i)
            if j + 1 < n:
                to[GOES_ON] = goes_on(row(segments, j + 1), s, to)
            recent[number % reach] = j
            number += 1
        if best < 0 or to[SCORE] > chains[best, SCORE]:
            best = j
    while best >= 0:
        chosen[best] = True
        best = int(chains[best, BEFORE])
    return compared


@internal
def _calm(seg, s):
    """Evidence of the time for which a new stop reads the same: from -1 to 1."""
    return min((seg[END_S] - seg[BEGIN_S]) / s[CALM_S], 2.0) - 1.0


@internal
def learn(seg, s, to):
    """Force and rate of a stop from this segment alone."""
    length = seg[END_S] - seg[BEGIN_S]
    for k in range(3):
        to[FORCE + k], to[STOP_RATE + k] = seg[F_1 + k], seg[RATE + k]
    to[FORCE_VAR], to[RATE_VAR] = s[ACC_N2] / length, s[GYR_N2] / length


@internal
def goes_on(seg, s, chain):
    """Evidence that the segment after a stop belongs to it: a drive begins with another force, or rate."""
    variance = chain[FORCE_VAR] + s[STEADY] ** 2 + s[ACC_N2] / (seg[END_S] - seg[BEGIN_S])
    wider = 1.0 + s[GAIN] ** 2 / variance
    shift2 = 0.0
    for k in range(3):
        shift2 += (seg[F_0 + k] - chain[FORCE + k]) ** 2
    evidence = 1.5 * math.log(wider) - 0.5 * shift2 / variance * (1.0 - 1.0 / wider)
    return max(min(evidence, -math.log(s[DOUBT])) + seg[OWN], 0.0)


@internal
def link(old, seg, s, chain, to):
    """How a segment would follow a stop: evidence of force and of speed, and what is learned of the stop's force and
    rate. With t = 0 the speed is no evidence.
    """
    gravity2, t, length = s[G] ** 2, seg[BEGIN_S] - old[END_S], seg[END_S] - seg[BEGIN_S]
    mean_var, rate_var = s[ACC_N2] / length, s[GYR_N2] / length
    drift_var = chain[RATE_VAR] + (s[WANDER] ** 2 if t > 0.0 else 0.0)
    tilt_var = gravity2 * (s[GYR_N2] * t + drift_var * t * t)
    bias_var = s[STEADY] ** 2 + gravity2 * (s[LEAK] * (seg[TURNED_0] - old[TURNED_1])) ** 2
    known = chain[FORCE_VAR] + bias_var + tilt_var
    part = known / (known + mean_var)
    # what the force has become if the rate of the stop before was the gyroscope's bias
    f0, f1, f2 = chain[FORCE], chain[FORCE + 1], chain[FORCE + 2]
    w0, w1, w2 = chain[STOP_RATE], chain[STOP_RATE + 1], chain[STOP_RATE + 2]
    g0, g1, g2 = f0 + t * (w1 * f2 - w2 * f1), f1 + t * (w2 * f0 - w0 * f2), f2 + t * (w0 * f1 - w1 * f0)
    e0, e1, e2 = seg[F_0] - g0, seg[F_0 + 1] - g1, seg[F_0 + 2] - g2
    wider = 1.0 + s[GAIN] ** 2 / (known + mean_var)
    shift2 = e0 * e0 + e1 * e1 + e2 * e2
    to[FORCE_E] = 1.5 * math.log(wider) - 0.5 * shift2 / (known + mean_var) * (1.0 - 1.0 / wider)
    to[SPEED_E] = 0.0
    if t > 0.0:
        # speed against the force at both ends, horizontal: nothing drives upwards
        v0 = seg[V_0] - old[V_1] - 0.5 * t * (f0 + g0 + part * e0)
        v1 = seg[V_0 + 1] - old[V_1 + 1] - 0.5 * t * (f1 + g1 + part * e1)
        v2 = seg[V_0 + 2] - old[V_1 + 2] - 0.5 * t * (f2 + g2 + part * e2)
        up = (v0 * f0 + v1 * f1 + v2 * f2) / s[G]
        ends_var = 0.25 * ((2.0 - part) ** 2 * chain[FORCE_VAR] + part * part * mean_var)
        between_var = 0.25 * bias_var + tilt_var / 12.0
        speed_var = s[ACC_N2] * t + t * t * (ends_var + between_var)
        # a drive gains speed for as long as it reads the same, and keeps it
        wider = 1.0 + (s[GAIN] * min(t, s[CALM_S])) ** 2 / speed_var
        speed2 = v0 * v0 + v1 * v1 + v2 * v2 - up * up
        to[SPEED_E] = math.log(wider) - 0.5 * speed2 / speed_var * (1.0 - 1.0 / wider)
    to[PART], to[SHARE] = part, drift_var / (drift_var + rate_var)
    to[CHANGE], to[CHANGE + 1], to[CHANGE + 2] = e0, e1, e2


@internal
def learn_from(seg, s, chain, linked, to):
    """Force and rate of a stop that follows a chain."""
    length = seg[END_S] - seg[BEGIN_S]
    part, share = linked[PART], linked[SHARE]
    to[FORCE_VAR], to[RATE_VAR] = part * s[ACC_N2] / length, share * s[GYR_N2] / length
    for k in range(3):
        to[FORCE + k] = seg[F_1 + k] - (1.0 - part) * linked[CHANGE + k]
        to[STOP_RATE + k] = chain[STOP_RATE + k] + share * (seg[RATE + k] - chain[STOP_RATE + k])


@internal
def not_above_zero(evidence):
    """Evidence against a drive that, just as likely, reads the same: a cruise."""
    return -math.log(1.0 + math.exp(-max(evidence, -50.0)))


@internal
def _follow(old, seg, s, chain, to, linked, i):
    """Let the segment follow a chain, if that is the most likely chain up to it."""
    link(old, seg, s, chain, linked)
    evidence = not_above_zero(linked[FORCE_E]) + linked[SPEED_E]  # a drive at constant speed reads the same force
    apart = seg[BEGIN_S] > old[END_S]
    evidence = math.log(s[DOUBT] + math.exp(evidence)) + (_calm(seg, s) - chain[GOES_ON] if apart else HOLDS)
    score = chain[SCORE] + seg[OWN] + evidence
    if score > to[SCORE]:
        to[SCORE], to[BEFORE] = score, float(i)
        learn_from(seg, s, chain, linked, to)
