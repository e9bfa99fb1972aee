"""Stops of a whole log: it is cut into segments of constant force and rate, and one chain of segments is the stops.

Force and rate are turned back to the frame of the first sample by the gyroscope. There a stop reads the same force
wherever the vehicle has turned to, but for what the gyroscope has drifted by. SI units; evidence is in nats: the
logarithm of how much more likely the readings are if the segment is a stop.
"""

import math

import numpy as np
from numba import njit

from strapdown.kernels.jit import internal, pointer, row

# columns of a segment: its times, the angle turned before it and until its end, and evidence of its own readings
BEGIN_S, END_S, TURNED_0, TURNED_1, OWN = range(5)
# integral of the force before it and until its end; its force at its begin and at its end; its mean rate
V_0, V_1, F_0, F_1, RATE = 5, 8, 11, 14, 17
COLUMNS = 20
# settings of the chain
ACC_N2, GYR_N2, STEADY, WANDER, LEAK, GAIN, DOUBT, CALM_S, G = range(9)
SETTINGS = 9

REACH = 64  # earlier segments from which a stop is judged, besides the best of all
_HOLDS = math.log(2.0)  # a stop is as likely to last as to end, at a cut that does not change its force
# a chain up to a segment: evidence, the segment before; force and rate with their variances; evidence that the stop
# goes on with the next segment
_SCORE, _BEFORE, _FORCE, _FORCE_VAR, _RATE, _RATE_VAR, _GOES_ON, _COLUMNS = 0, 1, 2, 5, 6, 9, 10, 11


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
        size = math.sqrt(p * p + q * q + r * r)
        angle[i + 1] = angle[i] + size
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
        w, x, y, z = w * n, x * n, y * n, z * n
        e, f, g = _turned(w, x, y, z, acc[i, 0], acc[i, 1], acc[i, 2])
        velocity[i + 1, 0] = velocity[i, 0] + h * e
        velocity[i + 1, 1] = velocity[i, 1] + h * f
        velocity[i + 1, 2] = velocity[i, 2] + h * g
        e, f, g = _turned(w, x, y, z, p, q, r)
        turn[i + 1, 0], turn[i + 1, 1], turn[i + 1, 2] = turn[i, 0] + e, turn[i, 1] + f, turn[i, 2] + g


@internal
def _turned(w, x, y, z, a, b, c):
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
def chain(segments, settings, first, chosen):
    """The most likely chain of stops, from the segment `first` on (-1: from any). Each stop has the evidence of its own
    readings, and that of the speed gained since the stop before it, of the force, and of the time for which it lasts.
    """
    n = len(segments)
    chains = np.zeros((n, _COLUMNS))
    s = pointer(settings)
    recent = np.full(REACH, -1, dtype=np.int64)
    best, number = -1, 0
    for j in range(max(first, 0), n):
        seg, to = row(segments, j), row(chains, j)
        to[_SCORE] = -np.inf
        if first < 0 or j == first:
            to[_SCORE], to[_BEFORE] = seg[OWN] + _calm(seg, s), -1.0
            _learn(seg, s, to)
        if seg[OWN] > math.log(s[DOUBT]) or j == first:
            for o in range(REACH + 1):
                i = best if o == REACH else recent[o]
                if i >= 0:
                    _follow(row(segments, i), seg, s, row(chains, i), to, i)
            if j + 1 < n:
                to[_GOES_ON] = _goes_on(row(segments, j + 1), s, to)
            recent[number % REACH] = j
            number += 1
        if best < 0 or to[_SCORE] > chains[best, _SCORE]:
            best = j
    while best >= 0:
        chosen[best] = True
        best = int(chains[best, _BEFORE])


@internal
def _calm(seg, s):
    """Evidence of the time for which a new stop reads the same: from -1 to 1."""
    return min((seg[END_S] - seg[BEGIN_S]) / s[CALM_S], 2.0) - 1.0


@internal
def _learn(seg, s, to):
    """Force and rate of a stop from this segment alone."""
    length = seg[END_S] - seg[BEGIN_S]
    for k in range(3):
        to[_FORCE + k], to[_RATE + k] = seg[F_1 + k], seg[RATE + k]
    to[_FORCE_VAR], to[_RATE_VAR] = s[ACC_N2] / length, s[GYR_N2] / length


@internal
def _goes_on(seg, s, chain):
    """Evidence that the segment after a stop belongs to it: a drive begins with another force, or rate."""
    variance = chain[_FORCE_VAR] + s[STEADY] ** 2 + s[ACC_N2] / (seg[END_S] - seg[BEGIN_S])
    wider = 1.0 + s[GAIN] ** 2 / variance
    shift2 = 0.0
    for k in range(3):
        shift2 += (seg[F_0 + k] - chain[_FORCE + k]) ** 2
    evidence = 1.5 * math.log(wider) - 0.5 * shift2 / variance * (1.0 - 1.0 / wider)
    return max(min(evidence, -math.log(s[DOUBT])) + seg[OWN], 0.0)


@internal
def _follow(old, seg, s, chain, to, i):
    """Let the segment follow a chain, if that is the most likely chain up to it."""
    gravity2, t, length = s[G] ** 2, seg[BEGIN_S] - old[END_S], seg[END_S] - seg[BEGIN_S]
    mean_var, rate_var = s[ACC_N2] / length, s[GYR_N2] / length
    drift_var = chain[_RATE_VAR] + (s[WANDER] ** 2 if t > 0.0 else 0.0)
    tilt_var = gravity2 * (s[GYR_N2] * t + drift_var * t * t)
    bias_var = s[STEADY] ** 2 + gravity2 * (s[LEAK] * (seg[TURNED_0] - old[TURNED_1])) ** 2
    known = chain[_FORCE_VAR] + bias_var + tilt_var
    part = known / (known + mean_var)
    # what the force has become if the rate of the stop before was the gyroscope's bias
    f0, f1, f2 = chain[_FORCE], chain[_FORCE + 1], chain[_FORCE + 2]
    w0, w1, w2 = chain[_RATE], chain[_RATE + 1], chain[_RATE + 2]
    g0, g1, g2 = f0 + t * (w1 * f2 - w2 * f1), f1 + t * (w2 * f0 - w0 * f2), f2 + t * (w0 * f1 - w1 * f0)
    e0, e1, e2 = seg[F_0] - g0, seg[F_0 + 1] - g1, seg[F_0 + 2] - g2
    wider = 1.0 + s[GAIN] ** 2 / (known + mean_var)
    shift2 = e0 * e0 + e1 * e1 + e2 * e2
    evidence = 1.5 * math.log(wider) - 0.5 * shift2 / (known + mean_var) * (1.0 - 1.0 / wider)
    evidence = -math.log(1.0 + math.exp(-max(evidence, -50.0)))  # a drive at constant speed reads the same force
    if t > 0.0:
        # speed against the force at both ends, horizontal: nothing drives upwards
        v0 = seg[V_0] - old[V_1] - 0.5 * t * (f0 + g0 + part * e0)
        v1 = seg[V_0 + 1] - old[V_1 + 1] - 0.5 * t * (f1 + g1 + part * e1)
        v2 = seg[V_0 + 2] - old[V_1 + 2] - 0.5 * t * (f2 + g2 + part * e2)
        up = (v0 * f0 + v1 * f1 + v2 * f2) / s[G]
        ends_var = 0.25 * ((2.0 - part) ** 2 * chain[_FORCE_VAR] + part * part * mean_var)
        between_var = 0.25 * bias_var + tilt_var / 12.0
        speed_var = s[ACC_N2] * t + t * t * (ends_var + between_var)
        wider = 1.0 + (s[GAIN] * t) ** 2 / speed_var
        evidence += math.log(wider) - 0.5 * (v0 * v0 + v1 * v1 + v2 * v2 - up * up) / speed_var * (1.0 - 1.0 / wider)
    evidence = math.log(s[DOUBT] + math.exp(evidence)) + (_calm(seg, s) - chain[_GOES_ON] if t > 0.0 else _HOLDS)
    score = chain[_SCORE] + seg[OWN] + evidence
    if not score > to[_SCORE]:
        return
    to[_SCORE], to[_BEFORE] = score, float(i)
    to[_FORCE_VAR] = part * mean_var
    share = drift_var / (drift_var + rate_var)
    to[_RATE_VAR] = share * rate_var
    to[_FORCE], to[_FORCE + 1] = seg[F_1] - (1.0 - part) * e0, seg[F_1 + 1] - (1.0 - part) * e1
    to[_FORCE + 2] = seg[F_1 + 2] - (1.0 - part) * e2
    for k in range(3):
        to[_RATE + k] = chain[_RATE + k] + share * (seg[RATE + k] - chain[_RATE + k])
