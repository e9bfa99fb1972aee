"""Start of an orientation filter: attitude from the first readings, rejected samples, rows of the results.

Frame n: x east, y north, z up. Without a magnetometer the heading is free. Yaw is then 0 (of Rz(yaw) Ry(pitch)
Rx(roll)): the sensor's x axis points as close to n's x axis as its inclination allows.
"""

import math

from strapdown.kernels.jit import internal, kernel, row
from strapdown.kernels.orientation.state import (
    ACC_REJECTED,
    BIAS,
    DECLINATION,
    FLAGS,
    GAP,
    OWN,
    SIGMA,
    STARTED,
    USE_MAG,
    Q,
)
from strapdown.kernels.rotation import mul, rotate
from strapdown.kernels.trigonometry import arc_tangent

# memory of filters that start by `begin`
SEEN = OWN  # how far the start has come, as below
RATE = OWN + 1  # the last reading of the gyroscope, rad/s
AFTER_START = OWN + 4  # a filter's further memory begins here

MOST = 1e6  # m/s2, uT or s: no sensor reads more, and no step is longer; squares and their sums stay numbers
MOST_RATE = 300.0  # rad/s, of all axes together: twice what any part reads
MOST2 = MOST * MOST
LEAST_FORCE2 = 0.96  # (m/s2)^2, a tenth of gravity squared: less is free fall, and noise has no direction

NOTHING = 0.0  # no sample so far
LEVEL = 1.0  # the inclination is known, the heading waits for the first magnetometer reading
UNDER_WAY = 2.0

KEPT_SIZE = 9  # numbers of a first sample that waits for the step: rates, forces, field


@internal
def level_attitude(ax, ay, az):
    """q_ns with yaw 0 that turns the specific force a_s to the vertical; the length of a_s does not matter."""
    half_roll = 0.5 * arc_tangent(ay, az)
    half_pitch = 0.5 * arc_tangent(-ax, math.sqrt(ay * ay + az * az))
    cr, sr, cp, sp = math.cos(half_roll), math.sin(half_roll), math.cos(half_pitch), math.sin(half_pitch)
    return cr * cp, sr * cp, cr * sp, -sr * sp


@internal
def turn_to_north(qw, qx, qy, qz, mx, my, mz, declination):
    """q_ns turned about the vertical so that the field m_s points to magnetic north, which is declination (rad) east of
    true north.
    """
    east, north, _ = rotate(qw, qx, qy, qz, mx, my, mz)
    half = 0.5 * (arc_tangent(east, north) - declination)
    return mul(math.cos(half), 0.0, 0.0, math.sin(half), qw, qx, qy, qz)


@kernel
def attitude_from(ax, ay, az, mx, my, mz, has_mag, declination):
    """q_ns from one reading of specific force and, if has_mag, of the magnetic field (any units)."""
    qw, qx, qy, qz = level_attitude(ax, ay, az)
    if has_mag:
        qw, qx, qy, qz = turn_to_north(qw, qx, qy, qz, mx, my, mz, declination)
    return qw, qx, qy, qz


@internal
def rejected(state, first, gx, gy, gz, dt):
    """A sample with a rate or time step that no sensor gives: the state does not change, with the flag GAP. The dt of
    the first sample is ignored, because there is no earlier one.
    """
    if abs(gx) + abs(gy) + abs(gz) < MOST_RATE and (first or 0.0 < dt < MOST):  # NaN is not below either
        return False
    state[FLAGS] = GAP
    return True


@internal
def vector(x, y, z):
    """A reading, or zeros where the values are not those of a sensor. Filters take zeros as no direction."""
    return (x, y, z) if abs(x) + abs(y) + abs(z) < MOST else (0.0, 0.0, 0.0)


@internal
def begin(state, settings, gx, gy, gz, ax, ay, az, mx, my, mz, has_mag):
    """Take the first sample: a given attitude is used, otherwise the readings give it."""
    state[FLAGS] = 0.0
    state[RATE], state[RATE + 1], state[RATE + 2] = gx, gy, gz
    if state[STARTED] == 1.0:
        state[SEEN] = UNDER_WAY
        return
    force2 = ax * ax + ay * ay + az * az
    if not (LEAST_FORCE2 < force2 < MOST2):  # free fall, or no reading: wait for the next
        state[FLAGS] = ACC_REJECTED
        return
    use_mag, has_mag = settings[USE_MAG] != 0.0, has_mag and 0.0 < mx * mx + my * my + mz * mz < MOST2
    q = attitude_from(ax, ay, az, mx, my, mz, has_mag and use_mag, settings[DECLINATION])
    state[Q], state[Q + 1], state[Q + 2], state[Q + 3] = q
    state[STARTED] = 1.0
    state[SEEN] = UNDER_WAY if has_mag or not use_mag else LEVEL


@internal
def find_north(state, settings, mx, my, mz):
    """Set the heading from the first magnetometer reading, if it comes after the first sample."""
    if not mx * mx + my * my + mz * mz < MOST2:
        return
    q = turn_to_north(state[Q], state[Q + 1], state[Q + 2], state[Q + 3], mx, my, mz, settings[DECLINATION])
    state[Q], state[Q + 1], state[Q + 2], state[Q + 3] = q
    state[SEEN] = UNDER_WAY


@internal
def write_row(state, i, q, bias, sigma, flags):
    """The head of a state as row i of the results."""
    q_i, bias_i, sigma_i = row(q, i), row(bias, i), row(sigma, i)
    q_i[0], q_i[1], q_i[2], q_i[3] = state[Q], state[Q + 1], state[Q + 2], state[Q + 3]
    bias_i[0], bias_i[1], bias_i[2] = state[BIAS], state[BIAS + 1], state[BIAS + 2]
    sigma_i[0], sigma_i[1], sigma_i[2] = state[SIGMA], state[SIGMA + 1], state[SIGMA + 2]
    flags[i] = state[FLAGS]
