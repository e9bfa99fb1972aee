"""Mahony's filter over many recordings at once: the same arithmetic, in the vector lanes of the processor.

One recording waits for its own chain of results; many in parallel do not. Arrays have the stream as their last axis. A
block of streams is in one flat array of rows. With a single array and a constant row length the compiler sees that no
row overlaps another, and takes several streams at a time.
"""

import math

import numpy as np
from numba import njit

from strapdown.kernels.jit import internal, internal_fused, not_constant, pointer, row
from strapdown.kernels.orientation.mahony import (
    BIAS_GAIN,
    COS_D,
    HEADING_GAIN,
    INCLINATION_GAIN,
    LEAST_LEVEL2,
    SIN_D,
    STEEPNESS,
    WAITED,
    advance,
    pulls,
)
from strapdown.kernels.orientation.start import RATE, SEEN, UNDER_WAY
from strapdown.kernels.orientation.state import ACC_REJECTED, BIAS, FLAGS, GAP, LONGEST, MAG_REJECTED, Q
from strapdown.kernels.orientation.turn import SMALL2, inverse_force, inverse_length, product, small_turn, unit_again
from strapdown.kernels.rotation import exp

B = 64  # streams of a block: its rows stay in the nearest cache
# rows of a block: the state, the readings, and the turn between
_Q, _BIAS, _RATE, _STEEPNESS, _WAITED = 0, 4 * B, 7 * B, 10 * B, 11 * B
_GYR, _ACC, _MAG, _NEW, _DT = 12 * B, 15 * B, 18 * B, 21 * B, 22 * B
_TURN, _ANGLE2, _FLAGS = 23 * B, 27 * B, 28 * B
_ROWS = 29


@internal_fused
def turn_block(w):
    """The turn of the gyroscope for all streams of a block; returns how many turned by more than the series allow."""
    for j in range(B):
        dt = w[_DT + j]
        half = 0.5 * dt
        tx = half * (w[_GYR + j] + w[_RATE + j]) - dt * w[_BIAS + j]
        ty = half * (w[_GYR + B + j] + w[_RATE + B + j]) - dt * w[_BIAS + B + j]
        tz = half * (w[_GYR + 2 * B + j] + w[_RATE + 2 * B + j]) - dt * w[_BIAS + 2 * B + j]
        w[_RATE + j], w[_RATE + B + j], w[_RATE + 2 * B + j] = w[_GYR + j], w[_GYR + B + j], w[_GYR + 2 * B + j]
        w[_GYR + j], w[_GYR + B + j], w[_GYR + 2 * B + j] = tx, ty, tz
        a2 = tx * tx + ty * ty + tz * tz
        dw, dx, dy, dz = small_turn(tx, ty, tz, a2)
        w[_ANGLE2 + j] = a2
        w[_TURN + j], w[_TURN + B + j], w[_TURN + 2 * B + j], w[_TURN + 3 * B + j] = dw, dx, dy, dz
    far = 0
    for j in range(B):
        far += 0 if w[_ANGLE2 + j] < SMALL2 else 1
    return far


@internal_fused
def correct_block(w, longest, level_gain, north_gain, bias_gain, cos_d, sin_d):
    """mahony.advance after its turn, for all streams of a block."""
    for j in range(B):
        qw, qx, qy, qz = product(
            w[_Q + j],
            w[_Q + B + j],
            w[_Q + 2 * B + j],
            w[_Q + 3 * B + j],
            w[_TURN + j],
            w[_TURN + B + j],
            w[_TURN + 2 * B + j],
            w[_TURN + 3 * B + j],
        )
        dt = w[_DT + j]
        used = 1.0 if dt <= longest else 0.0
        ax, ay, az = w[_ACC + j], w[_ACC + B + j], w[_ACC + 2 * B + j]
        mx, my, mz = w[_MAG + j], w[_MAG + B + j], w[_MAG + 2 * B + j]
        ka, km = used * inverse_force(ax, ay, az), used * w[_NEW + j] * inverse_length(mx, my, mz)
        refused = (0.0 if ka > 0.0 else ACC_REJECTED) + (0.0 if km > 0.0 else MAG_REJECTED * w[_NEW + j])
        w[_FLAGS + j] = refused if used > 0.0 else GAP
        ex, ey, ez, turn, ux, uy, uz, level2 = pulls(
            qw, qx, qy, qz, ka * ax, ka * ay, ka * az, km * mx, km * my, km * mz, cos_d, sin_d
        )
        turn *= w[_STEEPNESS + j]
        waited = used * (w[_WAITED + j] + dt)
        steepness = 1.0 / math.sqrt(level2) if level2 > LEAST_LEVEL2 else 0.0
        w[_STEEPNESS + j] = steepness if km > 0.0 else w[_STEEPNESS + j]
        w[_WAITED + j] = 0.0 if km > 0.0 else waited
        level_weight = min(0.5, 0.5 * dt * level_gain)
        north_weight = min(0.5, 0.5 * waited * north_gain) * turn
        bias_level, bias_north = dt * bias_gain, waited * bias_gain * turn
        w[_BIAS + j] -= bias_level * ex + bias_north * ux
        w[_BIAS + B + j] -= bias_level * ey + bias_north * uy
        w[_BIAS + 2 * B + j] -= bias_level * ez + bias_north * uz
        cx = level_weight * ex + north_weight * ux
        cy = level_weight * ey + north_weight * uy
        cz = level_weight * ez + north_weight * uz
        qw, qx, qy, qz = product(qw, qx, qy, qz, 1.0, cx, cy, cz)
        qw, qx, qy, qz = unit_again(qw, qx, qy, qz)
        w[_Q + j], w[_Q + B + j], w[_Q + 2 * B + j], w[_Q + 3 * B + j] = qw, qx, qy, qz


@internal
def start_block(states, settings, first, size, dt, gyr, acc, mag, mag_new, q, bias, flags):
    """Rows one stream at a time until all streams of the block have an attitude; returns the next row."""
    for i in range(len(dt)):
        waiting = 0
        for j in range(first, first + size):
            waiting += 0 if states[j, SEEN] == UNDER_WAY else 1
        if waiting == 0:
            return i
        for j in range(first, first + size):
            s = row(states, j)
            new = len(mag) > 0 and mag_new[i, j] > 0.0
            if i == 0 or dt[i, j] > 0.0:
                advance(
                    s,
                    settings,
                    gyr[i, 0, j],
                    gyr[i, 1, j],
                    gyr[i, 2, j],
                    acc[i, 0, j],
                    acc[i, 1, j],
                    acc[i, 2, j],
                    mag[i, 0, j] if new else 0.0,
                    mag[i, 1, j] if new else 0.0,
                    mag[i, 2, j] if new else 0.0,
                    dt[i, j],
                )
            for k in range(4):
                q[i, k, j] = s[Q + k]
            for k in range(3):
                bias[i, k, j] = s[BIAS + k]
            flags[i, j] = s[FLAGS]
    return len(dt)


@internal
def load_block(w, states, first, size):
    """The state of a block of streams from their states one by one."""
    for j in range(_ROWS * B):
        w[j] = 1.0 if j < B else 0.0  # lanes without a stream keep a unit quaternion
    for j in range(size):
        s = row(states, first + j)
        for k in range(4):
            w[_Q + k * B + j] = s[Q + k]
        for k in range(3):
            w[_BIAS + k * B + j], w[_RATE + k * B + j] = s[BIAS + k], s[RATE + k]
        w[_STEEPNESS + j], w[_WAITED + j] = s[STEEPNESS], s[WAITED]


@internal
def read_block(w, at, table, i, axes, first, size):
    """Row i of a table (row, axis, stream) into the rows of a block that begin at `at`."""
    for k in range(axes):
        for j in range(size):
            w[at + k * B + j] = table[i, k, first + j]


@internal
def write_block(w, at, table, i, axes, first, size):
    """The other way."""
    for k in range(axes):
        for j in range(size):
            table[i, k, first + j] = w[at + k * B + j]


@njit(cache=True, error_model="numpy")
def rows(states, settings, dt, gyr, acc, mag, mag_new, q, bias, flags):
    """All samples of all streams: states (stream, numbers), dt and flags (row, stream), the others (row, axis, stream).

    mag_new is 1 where the magnetometer has a new reading, else 0. A row after the first with dt 0 is after the end of
    its stream.
    mag may have no rows. The states are not changed beyond the start.
    """
    n, streams = dt.shape
    blocks = (streams + B - 1) // B
    work, begin = np.empty((blocks, _ROWS * B)), np.empty((blocks, 1))
    s = pointer(settings)
    longest, level_gain, north_gain, bias_gain = s[LONGEST], s[INCLINATION_GAIN], s[HEADING_GAIN], s[BIAS_GAIN]
    cos_d, sin_d = s[COS_D], s[SIN_D]
    for block in range(blocks):
        first = block * B
        size = B if streams - first > B else streams - first
        begin[block, 0] = start_block(states, s, first, size, dt, gyr, acc, mag, mag_new, q, bias, flags)
        load_block(row(work, block), states, first, size)
    for i in range(n):  # rows outside, blocks inside: memory is read and written in order
        for block in range(blocks):
            if i < begin[block, 0]:
                continue
            w, first = row(work, block), block * B
            size = B if streams - first > B else streams - first
            read_block(w, not_constant(_GYR), gyr, i, not_constant(3), first, size)
            read_block(w, not_constant(_ACC), acc, i, not_constant(3), first, size)
            for j in range(size):
                w[_DT + j] = dt[i, first + j]
            if len(mag) > 0:
                for j in range(size):
                    w[_NEW + j] = mag_new[i, first + j]
                read_block(w, not_constant(_MAG), mag, i, not_constant(3), first, size)
            if turn_block(w) > 0:
                for j in range(B):
                    if not w[_ANGLE2 + j] < SMALL2:
                        turn = exp(w[_GYR + j], w[_GYR + B + j], w[_GYR + 2 * B + j])
                        w[_TURN + j], w[_TURN + B + j], w[_TURN + 2 * B + j], w[_TURN + 3 * B + j] = turn
            correct_block(w, longest, level_gain, north_gain, bias_gain, cos_d, sin_d)
            write_block(w, not_constant(_Q), q, i, not_constant(4), first, size)
            write_block(w, not_constant(_BIAS), bias, i, not_constant(3), first, size)
            for j in range(size):
                flags[i, first + j] = w[_FLAGS + j]
    work[0, 0] = 0.0  # held until here: a pointer keeps nothing alive
