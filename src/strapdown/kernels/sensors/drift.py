"""Slow random processes: bias instability as a sum of Gauss-Markov processes, random walk, and MATLAB's filter."""

import math

import numpy as np
from numba import njit

# A reading is the mean of the walk over its sample: of the walk's step in a sample it holds the first part, and the
# next reading the rest. The differences of such means have the variance 2/3 and the covariance 1/6 of a step's, so
# early^2 + late^2 = 2/3 and early late = 1/6; the Allan deviation is then K sqrt(tau / 3) from one sample on.
EARLY, LATE = 0.5 + 0.5 / math.sqrt(3.0), 0.5 - 0.5 / math.sqrt(3.0)


@njit(cache=True, inline="always")
def _step(p, c, strides, keep, fresh, instability, rng, value, slope):
    """Process p, axis c, one step on: exact, whatever the step."""
    after = keep[p] * value[p, c] + fresh[p] * instability[c] * rng.standard_normal()
    slope[p, c] = (after - value[p, c]) / strides[p]
    value[p, c] = after


@njit(cache=True, nogil=True)
def drift_grid(strides, keep, deviation, instability, instability_rng, walk, walk_rng, out):
    """Instability and walk on a grid; rows of out are its nodes.

    Process p has deviation deviation[p] * instability[axis], is stepped exactly every strides[p] nodes (powers of two,
    rising), with what it keeps per step in keep[p], and runs straight in between. It starts stationary; the walk
    starts at zero with deviation walk[axis] per node, and is exact where a node is a sample. Numbers are drawn in the
    order of time: a longer grid begins with the shorter one.
    """
    processes = len(strides)
    value, slope = np.zeros((processes, 3)), np.zeros((processes, 3))  # at the next node; per node
    fresh = deviation * np.sqrt(1.0 - keep * keep)
    for p in range(processes):
        for c in range(3):
            value[p, c] = deviation[p] * instability[c] * instability_rng.standard_normal()
    base, rise = np.zeros(3), np.zeros(3)  # all but the fastest: their sum at its last step, and per node
    stride, kept, per_stride, since = 1, 0.0, 1.0, 0
    vx, vy, vz, sx, sy, sz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    if processes > 0:
        stride, kept, per_stride = strides[0], keep[0], 1.0 / strides[0]
        vx, vy, vz = value[0, 0], value[0, 1], value[0, 2]
        sx, sy, sz = fresh[0] * instability[0], fresh[0] * instability[1], fresh[0] * instability[2]
    for j in range(0, len(out), stride):
        if processes > 1 and j & (strides[1] - 1) == 0:  # no other process steps between two steps of the second
            since = j
            base[:], rise[:] = 0.0, 0.0
            for p in range(1, processes):
                left = strides[p] - (j & (strides[p] - 1))  # nodes to its next step
                for c in range(3):
                    if left == strides[p]:
                        _step(p, c, strides, keep, fresh, instability, instability_rng, value, slope)
                    base[c] += value[p, c] - left * slope[p, c]
                    rise[c] += slope[p, c]
        gx, gy, gz = rise[0], rise[1], rise[2]
        x, y, z = base[0] + (j - since) * gx, base[1] + (j - since) * gy, base[2] + (j - since) * gz
        if processes > 0:  # the fastest in numbers, not in memory: it takes most of the time
            x, y, z = x + vx, y + vy, z + vz
            ax = kept * vx + sx * instability_rng.standard_normal()
            ay = kept * vy + sy * instability_rng.standard_normal()
            az = kept * vz + sz * instability_rng.standard_normal()
            gx, gy, gz = gx + (ax - vx) * per_stride, gy + (ay - vy) * per_stride, gz + (az - vz) * per_stride
            vx, vy, vz = ax, ay, az
        for i in range(min(stride, len(out) - j)):
            out[j + i, 0], out[j + i, 1], out[j + i, 2] = x + i * gx, y + i * gy, z + i * gz
    if walk[0] > 0.0 or walk[1] > 0.0 or walk[2] > 0.0:
        x, y, z = 0.0, 0.0, 0.0
        ax, ay, az = walk_rng.standard_normal(), walk_rng.standard_normal(), walk_rng.standard_normal()
        for j in range(len(out)):  # a loop of its own: two generators in one are half as fast
            out[j, 0] += walk[0] * x
            out[j, 1] += walk[1] * y
            out[j, 2] += walk[2] * z
            bx, by, bz = walk_rng.standard_normal(), walk_rng.standard_normal(), walk_rng.standard_normal()
            x, y, z = x + (LATE * ax + EARLY * bx), y + (LATE * ay + EARLY * by), z + (LATE * az + EARLY * bz)
            ax, ay, az = bx, by, bz


@njit(cache=True, nogil=True)
def matlab_drift_rows(numerator, denominator, instability, instability_rng, walk, walk_rng, out):
    """imuSensor's bias instability (a digital filter of unit noise, from rest) and random walk (a running sum).

    Numerator and denominator have one length, and denominator[0] is 1. One row per sample.
    """
    order = len(denominator) - 1
    memory = np.zeros((order + 1, 3))  # the last row stays zero
    walked = np.zeros(3)
    filtered = instability[0] > 0.0 or instability[1] > 0.0 or instability[2] > 0.0
    walks = walk[0] > 0.0 or walk[1] > 0.0 or walk[2] > 0.0
    for i in range(len(out)):
        for c in range(3):
            total = 0.0
            if filtered:
                w = instability[c] * instability_rng.standard_normal()
                total = numerator[0] * w + memory[0, c]
                for k in range(order):
                    memory[k, c] = memory[k + 1, c] + numerator[k + 1] * w - denominator[k + 1] * total
            if walks:
                walked[c] += walk[c] * walk_rng.standard_normal()
                total += walked[c]
            out[i, c] = total
