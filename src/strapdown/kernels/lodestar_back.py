"""The way back of Lodestar's smoother: over the blocks of the heading filter, from the last to the first, and then over
the samples. As modified by Bryson and Frazier, which inverts no matrix: with K the gain, v the innovation, s its
variance, h = (1, 0, 0, 0, 1), F the transition of a block,

    x_smooth = x - P l,   P_smooth = P - P L P         l, L: what later blocks say; zero after the last
    l <- l - h (K . l + v / s)                         back over the measurement, and the same for L
    l <- F^T l,   L <- F^T L F                         back over the block
"""

import math

import numpy as np
from numba import njit

from strapdown.kernels.inner import inner, row
from strapdown.kernels.lodestar_heading import ANY_HEADING, wrapped
from strapdown.kernels.lodestar_layout import N
from strapdown.kernels.trigonometry import half_angle

TRACE = 17  # numbers of a block that the way back needs: delta, row 0 of P, gain, v / s, 1 / s, F's entries


@njit(cache=True, error_model="numpy")
def heading_back(trace, made):
    """Columns 0 and 1 of the trace become the smoothed delta and its variance."""
    _back(trace, made, np.empty((N + 2, N)))


@inner
def _back(trace, made, memory):
    """heading_back, with numbers to work in."""
    later, product, certain = row(memory, 0), row(memory, 1), row(memory, 2)  # l, L k, L above
    for k in range(N * (N + 2)):
        later[k] = 0.0
    for k in range(made - 1, -1, -1):
        block = row(trace, k)
        delta, variance = block[0], block[1]
        for i in range(N):
            delta -= block[1 + i] * later[i]
            for j in range(N):
                variance -= block[1 + i] * certain[N * i + j] * block[1 + j]
        block[0], block[1] = delta, variance
        if block[12] > 0.0:
            told, twice = block[11], block[12]
            for i in range(N):
                told += block[6 + i] * later[i]
                product[i] = 0.0
                for j in range(N):
                    product[i] += certain[N * i + j] * block[6 + j]
                twice += block[6 + i] * product[i]
            for i in range(0, N, N - 1):  # h has ones at 0 and 4
                later[i] -= told
                for j in range(N):
                    certain[N * i + j] -= product[j]
                    certain[N * j + i] -= product[j]
                certain[N * i] += twice
                certain[N * i + 4] += twice
        for i in range(1, 4):
            moved = block[12 + i]
            later[i] += moved * later[0]
            for j in range(N):
                certain[N * i + j] += moved * certain[j]
            for j in range(N):
                certain[N * j + i] += moved * certain[N * j]
        later[4] *= block[16]
        for j in range(N):
            certain[N * 4 + j] *= block[16]
            certain[N * j + 4] *= block[16]


@inner
def turn_to_n(dt, ends, trace, made, q, sigma):
    """q from q_es to q_ns by the smoothed heading, which is a straight line between the ends of blocks."""
    block, since = 0, 0.0
    span = 1.0
    for i in range(len(dt)):
        since += dt[i]
        if block > 0 and block < made:
            part, before, after = since / span, row(trace, block - 1), row(trace, block)
            delta = before[0] + part * wrapped(after[0] - before[0])
            variance = before[1] + part * (after[1] - before[1])
        elif made > 0:
            nearest = row(trace, block if block < made else made - 1)
            delta, variance = nearest[0], nearest[1]
        else:
            delta, variance = 0.0, ANY_HEADING
        if block < made and i == ends[block]:
            block, since, span = block + 1, 0.0, 0.0
            if block < made:
                for j in range(i + 1, ends[block] + 1):
                    span += dt[j]
        delta = wrapped(delta)
        c, k = half_angle(delta * delta)
        s = k * delta
        q_i = row(q, i)
        w, x, y, z = q_i[0], q_i[1], q_i[2], q_i[3]
        q_i[0], q_i[1], q_i[2], q_i[3] = c * w - s * z, c * x - s * y, c * y + s * x, c * z + s * w
        sigma[i, 2] = math.sqrt(min(max(variance, 0.0), ANY_HEADING))
