"""The backward pass of Lodestar's smoother: over the blocks of the heading filter, from the last to the first, and then
over the samples. The form of Bryson and Frazier inverts no matrix. K is the gain, v the innovation, s its variance, h =
(1, 0, ... 0, 1), F the transition of a block,

    x_smooth = x - P l,   P_smooth = P - P L P         l, L: what later blocks say; zero after the last
    l <- l - h (K . l + v / s)                         back over the measurement, and the same for L
    l <- F^T l,   L <- F^T L F                         back over the block
"""

import math

from strapdown.kernels.jit import internal, row
from strapdown.kernels.orientation.lodestar.filter import BACK
from strapdown.kernels.orientation.lodestar.heading import ANY_HEADING, wrapped
from strapdown.kernels.orientation.lodestar.layout import DRIFTS, D, N
from strapdown.kernels.trigonometry import half_angle

# columns of a table with a row for each block
TRACE = 0  # delta, row 0 of P, gain, v / s, 1 / s, F's entries: what the way back needs
GAINS, TOLD, CERTAIN, MOVES, KEEPS = 1 + N, 1 + 2 * N, 2 + 2 * N, 3 + 2 * N, 3 + 2 * N + DRIFTS
ENDS = KEEPS + 1  # its last sample
TRACE_END = ENDS + 1
NO_REST = 16  # a flag within the smoother: at rest, as it seemed

_LATER, _PRODUCT, _CERTAIN = BACK, BACK + N, BACK + 2 * N  # l, L k and L


@internal
def heading_back(state, table, made):
    """Columns 0 and 1 of the trace become the smoothed delta and its variance."""
    for k in range(_LATER, _CERTAIN + N * N):
        state[k] = 0.0
    for k in range(made - 1, -1, -1):
        block = row(table, k)
        delta, variance = block[0], block[1]
        for i in range(N):
            delta -= block[1 + i] * state[_LATER + i]
            for j in range(N):
                variance -= block[1 + i] * state[_CERTAIN + N * i + j] * block[1 + j]
        block[0], block[1] = delta, variance
        if block[CERTAIN] > 0.0:
            told, twice = block[TOLD], block[CERTAIN]
            for i in range(N):
                told += block[GAINS + i] * state[_LATER + i]
                product = 0.0
                for j in range(N):
                    product += state[_CERTAIN + N * i + j] * block[GAINS + j]
                state[_PRODUCT + i] = product
                twice += block[GAINS + i] * product
            for i in range(0, N, N - 1):  # h has ones at 0 and D
                state[_LATER + i] -= told
                for j in range(N):
                    state[_CERTAIN + N * i + j] -= state[_PRODUCT + j]
                    state[_CERTAIN + N * j + i] -= state[_PRODUCT + j]
                state[_CERTAIN + N * i] += twice
                state[_CERTAIN + N * i + D] += twice
        for i in range(1, DRIFTS + 1):
            moved = block[MOVES - 1 + i]
            state[_LATER + i] += moved * state[_LATER]
            for j in range(N):
                state[_CERTAIN + N * i + j] += moved * state[_CERTAIN + j]
            for j in range(N):
                state[_CERTAIN + N * j + i] += moved * state[_CERTAIN + N * j]
        state[_LATER + D] *= block[KEEPS]
        for j in range(N):
            state[_CERTAIN + N * D + j] *= block[KEEPS]
            state[_CERTAIN + N * j + D] *= block[KEEPS]


@internal
def turn_to_n(n, dt, table, made, q, sigma, flags):
    """q from q_es to q_ns by the smoothed heading, which is linear between the ends of blocks."""
    block, since = 0, 0.0
    span = 1.0
    for i in range(n):
        since += dt[i]
        if block > 0 and block < made:
            part, before, after = since / span, row(table, block - 1), row(table, block)
            delta = before[0] + part * wrapped(after[0] - before[0])
            variance = before[1] + part * (after[1] - before[1])
        elif made > 0:
            nearest = row(table, block if block < made else made - 1)
            delta, variance = nearest[0], nearest[1]
        else:
            delta, variance = 0.0, ANY_HEADING
        if block < made and i == row(table, block)[ENDS]:
            block, since, span = block + 1, 0.0, 0.0
            if block < made:
                for j in range(i + 1, int(row(table, block)[ENDS]) + 1):
                    span += dt[j]
        if flags[i] >= NO_REST:
            flags[i] -= NO_REST
        delta = wrapped(delta)
        c, k = half_angle(delta * delta)
        s = k * delta
        q_i = row(q, i)
        w, x, y, z = q_i[0], q_i[1], q_i[2], q_i[3]
        q_i[0], q_i[1], q_i[2], q_i[3] = c * w - s * z, c * x - s * y, c * y + s * x, c * z + s * w
        row(sigma, i)[2] = math.sqrt(min(max(variance, 0.0), ANY_HEADING))
