"""The turn of the gyroscope between two samples, and unit length after a correction: common part of simple filters."""

import math

from strapdown.kernels.jit import inlined_fused
from strapdown.kernels.orientation.start import LEAST_FORCE2, RATE
from strapdown.kernels.orientation.state import BIAS, Q
from strapdown.kernels.rotation import exp

SMALL2 = 0.01  # rad2: up to 0.1 rad the series below reach the last digit (next terms 1e-15 and 5e-17)


@inlined_fused
def small_turn(tx, ty, tz, a2):
    """Quaternion of a rotation vector t of at most 0.1 rad, by series; a2 is the square of its length."""
    w = 1.0 + a2 * (-1.0 / 8.0 + a2 * (1.0 / 384.0 - a2 * (1.0 / 46080.0)))
    k = 0.5 + a2 * (-1.0 / 48.0 + a2 * (1.0 / 3840.0 - a2 * (1.0 / 645120.0)))
    return w, k * tx, k * ty, k * tz


@inlined_fused
def product(aw, ax, ay, az, bw, bx, by, bz):
    """Hamilton product a * b."""
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )


@inlined_fused
def predicted(state, gx, gy, gz, dt):
    """q_ns after dt s of turning at the mean of the last and this reading (rad/s) less the bias; the reading is stored.

    Second order in the step. A reading that is not a number causes no turn.
    """
    half = 0.5 * dt
    tx = half * (gx + state[RATE]) - dt * state[BIAS]
    ty = half * (gy + state[RATE + 1]) - dt * state[BIAS + 1]
    tz = half * (gz + state[RATE + 2]) - dt * state[BIAS + 2]
    a2 = tx * tx + ty * ty + tz * tz
    dw, dx, dy, dz = small_turn(tx, ty, tz, a2)
    if not a2 < SMALL2:
        dw, dx, dy, dz = exp(tx, ty, tz) if a2 < math.inf else (1.0, 0.0, 0.0, 0.0)
    if gx + gy + gz == gx + gy + gz:
        state[RATE], state[RATE + 1], state[RATE + 2] = gx, gy, gz
    return product(state[Q], state[Q + 1], state[Q + 2], state[Q + 3], dw, dx, dy, dz)


@inlined_fused
def unit_again(qw, qx, qy, qz):
    """A quaternion near unit length, normalised by the series of 1/sqrt(1 + d): there is no root in the chain.

    After a correction (1, c/2) the length is wrong by d = c^2/4. The series leaves 63/256 d^5, 2.5e-13 at its limit.
    """
    d = qw * qw + qx * qx + qy * qy + qz * qz - 1.0
    k = 1.0 + d * (-0.5 + d * (0.375 + d * (-0.3125 + d * 0.2734375)))
    if not abs(d) < 0.004:
        k = 1.0 / math.sqrt(1.0 + d)
    return k * qw, k * qx, k * qy, k * qz


@inlined_fused
def inverse_force(x, y, z):
    """1/|f| of a specific force (m/s2), and 0 in free fall or for values that are not numbers."""
    squared = x * x + y * y + z * z
    return 1.0 / math.sqrt(squared) if LEAST_FORCE2 < squared < math.inf else 0.0


@inlined_fused
def inverse_length(x, y, z):
    """1/|v|, and 0 for a vector of zero length or without finite numbers."""
    squared = x * x + y * y + z * z
    return 1.0 / math.sqrt(squared) if 0.0 < squared < math.inf else 0.0
