"""Paper B's idea on quaternions: the gyroscope turns; accelerometer and magnetometer correct slowly.

Over a step dt the angle to the reading shrinks by exp(-dt/T): exact weights, so the answer does not depend on the
rate. The inclination is corrected along the shortest arc, the heading about the vertical: on the circle, at every
attitude.
"""

import math

from numba import njit

from strapdown.kernels.jit import internal, live, not_constant, pointer, row, three_each
from strapdown.kernels.orientation.start import (
    AFTER_START,
    LEAST_FORCE2,
    LEVEL,
    NOTHING,
    SEEN,
    begin,
    find_north,
    rejected,
    write_row,
)
from strapdown.kernels.orientation.state import (
    ACC_REJECTED,
    DECLINATION,
    FLAGS,
    GAP,
    LONGEST,
    MAG_REJECTED,
    OWN_SETTINGS,
    USE_MAG,
    Q,
)
from strapdown.kernels.orientation.turn import predicted, product, unit_again
from strapdown.kernels.rotation import exp, rotate
from strapdown.kernels.trigonometry import arc_tangent

# settings
INCLINATION_S, HEADING_S, LOW_PASS_S = OWN_SETTINGS, OWN_SETTINGS + 1, OWN_SETTINGS + 2
SETTINGS_SIZE = OWN_SETTINGS + 3
# memory
FORCE = AFTER_START  # specific force in n, low-passed; zeros before the first
FIELD = AFTER_START + 3  # magnetic field in n, low-passed; zeros before the first
WAITED = AFTER_START + 6  # s since the last magnetometer reading
STATE_SIZE = AFTER_START + 7


@internal
def smoothed(state, place, x, y, z, weight):
    """The low-passed vector kept at `place` after a new reading; the first reading is taken whole."""
    if state[place] == 0.0 and state[place + 1] == 0.0 and state[place + 2] == 0.0:
        weight = 1.0
    x = state[place] + weight * (x - state[place])
    y = state[place + 1] + weight * (y - state[place + 1])
    z = state[place + 2] + weight * (z - state[place + 2])
    state[place], state[place + 1], state[place + 2] = x, y, z
    return x, y, z


@internal
def share(dt, time_constant):
    """Share of the error that is corrected in dt: 1 - exp(-dt/T), and all of it where T is 0."""
    return -math.expm1(-dt / time_constant) if time_constant > 0.0 else 1.0


@internal
def correct(state, settings, qw, qx, qy, qz, ax, ay, az, mx, my, mz, has_mag, dt):
    """Correct q_ns towards the readings; flags mark readings that could not be used."""
    flags = 0.0
    fx, fy, fz = rotate(qw, qx, qy, qz, ax, ay, az)
    if LEAST_FORCE2 < fx * fx + fy * fy + fz * fz < math.inf:
        fx, fy, fz = smoothed(state, not_constant(FORCE), fx, fy, fz, share(dt, settings[LOW_PASS_S]))
        level = math.sqrt(fx * fx + fy * fy)
        # about the level axis f x z = (fy, -fx, 0); straight down has no such axis, and any will do
        angle = share(dt, settings[INCLINATION_S]) * arc_tangent(level, fz)
        k = angle / level if level > 0.0 else 0.0
        cw, cx, cy, cz = exp(k * fy if level > 0.0 else angle, -k * fx, 0.0)
        qw, qx, qy, qz = product(cw, cx, cy, cz, qw, qx, qy, qz)
    else:
        flags += ACC_REJECTED
    state[WAITED] += dt
    if has_mag:
        waited = state[WAITED]
        state[WAITED] = 0.0
        east, north, up = rotate(qw, qx, qy, qz, mx, my, mz)
        if 0.0 < east * east + north * north < math.inf:
            east, north, up = smoothed(state, not_constant(FIELD), east, north, up, share(waited, settings[LOW_PASS_S]))
            error = arc_tangent(east, north) - settings[DECLINATION]
            error -= 2.0 * math.pi * math.floor(error / (2.0 * math.pi) + 0.5)
            half = 0.5 * share(waited, settings[HEADING_S]) * error
            qw, qx, qy, qz = product(math.cos(half), 0.0, 0.0, math.sin(half), qw, qx, qy, qz)
        else:
            flags += MAG_REJECTED
    state[FLAGS] = flags
    return qw, qx, qy, qz


@internal
def advance(state, settings, gx, gy, gz, ax, ay, az, mx, my, mz, dt):
    """Process a sample: gyr_s (rad/s), acc_s and mag_s (any units), dt (s) since the last one."""
    first, has_mag = state[SEEN] == NOTHING, mx != 0.0 or my != 0.0 or mz != 0.0
    if rejected(state, first, gx, gy, gz, dt):
        return
    if first:
        begin(state, settings, gx, gy, gz, ax, ay, az, mx, my, mz, has_mag)
        return
    qw, qx, qy, qz = predicted(state, gx, gy, gz, dt)
    first_field = state[SEEN] == LEVEL and has_mag and 0.0 < mx * mx + my * my + mz * mz < math.inf
    has_mag = has_mag and state[SEEN] != LEVEL
    if dt <= settings[LONGEST]:
        qw, qx, qy, qz = correct(state, settings, qw, qx, qy, qz, ax, ay, az, mx, my, mz, has_mag, dt)
    else:
        state[FLAGS] = GAP
        state[WAITED] = 0.0
        for i in range(FORCE, FORCE + 6):  # what was smoothed before the gap is stale
            state[i] = 0.0
    state[Q], state[Q + 1], state[Q + 2], state[Q + 3] = unit_again(qw, qx, qy, qz)
    if first_field:
        find_north(state, settings, mx, my, mz)


@live
def step(state, settings, gyr, acc, mag, dt):
    """Process one sample in place; mag is empty without a new reading. Returns False if an array has a wrong length."""
    if len(state) != STATE_SIZE or len(settings) != SETTINGS_SIZE or not three_each(gyr, acc, mag):
        return False
    g, a, m = pointer(gyr), pointer(acc), pointer(mag)
    mx, my, mz = 0.0, 0.0, 0.0
    if len(mag) > 0 and settings[USE_MAG] != 0.0:
        mx, my, mz = m[0], m[1], m[2]
    advance(pointer(state), pointer(settings), g[0], g[1], g[2], a[0], a[1], a[2], mx, my, mz, dt)
    return True


@njit(cache=True, error_model="numpy", no_cfunc_wrapper=True)
def rows(state, settings, dt, gyr, acc, mag, mag_new, q, bias, sigma, flags):
    """Process all samples; afterwards the state is that after the last one."""
    numbers, given = pointer(state), pointer(settings)
    for i in range(len(dt)):
        g, a, m = row(gyr, i), row(acc, i), row(mag, i)
        mx, my, mz = 0.0, 0.0, 0.0
        if len(mag) > 0 and mag_new[i]:
            mx, my, mz = m[0], m[1], m[2]
        advance(numbers, given, g[0], g[1], g[2], a[0], a[1], a[2], mx, my, mz, dt[i])
        write_row(numbers, i, q, bias, sigma, flags)
