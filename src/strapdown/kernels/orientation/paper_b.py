"""Paper B's complementary filter of Euler angles, as printed (B10 to B16), including its errors.

The paper uses atan instead of atan2, mixes angles as plain numbers and not on the circle, and has kinematics that
divide by cos(pitch). So the yaw jumps where the sensor's x axis is perpendicular to the level field. Pitch near 90 deg
makes roll and yaw meaningless. It is kept for comparison. It is guarded in two places only: an accelerometer angle that
is 0/0 is not used, and angles that are not numbers are ignored. With CORRECTED atan2 is used and angles are mixed on
the circle; the kinematics stay the paper's.
"""

import math

from numba import njit

from strapdown.kernels.jit import internal, live, not_constant, pointer, row, three_each
from strapdown.kernels.orientation.start import (
    AFTER_START,
    MOST,
    NOTHING,
    RATE,
    SEEN,
    attitude_from,
    begin,
    rejected,
    write_row,
)
from strapdown.kernels.orientation.state import (
    ACC_REJECTED,
    BIAS,
    DECLINATION,
    FLAGS,
    GAP,
    LONGEST,
    MAG_REJECTED,
    OWN_SETTINGS,
    STARTED,
    USE_MAG,
    Q,
)
from strapdown.kernels.rotation import rotate

# settings
WEIGHT = OWN_SETTINGS  # of accelerometer and magnetometer in a sample (B16)
TIME_CONSTANT = OWN_SETTINGS + 1  # s; above 0 the weight follows from it and the step
LOW_PASS_S = OWN_SETTINGS + 2
CALIBRATION_S = OWN_SETTINGS + 3
GRAVITY = OWN_SETTINGS + 4  # m/s2
CORRECTED = OWN_SETTINGS + 5  # 1: atan2, and angles mixed on the circle; 0: as printed
SETTINGS_SIZE = OWN_SETTINGS + 6
# memory
PHI = AFTER_START  # roll, then pitch and yaw, rad
DELTA = AFTER_START + 3  # direction of the field in the world, fixed at the start (B15)
READY = AFTER_START + 4  # 1 after the calibration
COUNT = AFTER_START + 5  # samples of the calibration so far
ELAPSED = AFTER_START + 6  # s
GIVEN = AFTER_START + 7  # 1: the attitude during the calibration is known
OFFSET = AFTER_START + 8  # of the accelerometer (B11), m/s2
WAITED = AFTER_START + 11  # s since the last magnetometer reading
MAG_COUNT = AFTER_START + 12
SMOOTH = AFTER_START + 13  # gyr, acc, mag after the low-pass
SUMS = AFTER_START + 22  # of the same during the calibration
STATE_SIZE = AFTER_START + 31


@internal
def smooth(state, settings, place, x, y, z, first, dt):
    """First-order low-pass of the vector kept at `place`."""
    k = 1.0 if first or settings[LOW_PASS_S] == 0.0 else -math.expm1(-dt / settings[LOW_PASS_S])
    state[place] += k * (x - state[place])
    state[place + 1] += k * (y - state[place + 1])
    state[place + 2] += k * (z - state[place + 2])


@internal
def finish_calibration(state, settings):
    """The end of the calibration: offsets (B11, B12), angles of the known attitude, direction of the field (B15)."""
    n = state[COUNT]
    for i in range(3):
        state[BIAS + i] = state[SUMS + i] / n
    ax, ay, az = state[SUMS + 3] / n, state[SUMS + 4] / n, state[SUMS + 5] / n
    has_mag = state[MAG_COUNT] > 0.0 and settings[USE_MAG] != 0.0
    mx, my, mz = state[SUMS + 6], state[SUMS + 7], state[SUMS + 8]
    state[DELTA] = 0.5 * math.pi - settings[DECLINATION]
    if state[GIVEN] == 0.0:
        w, x, y, z = attitude_from(ax, ay, az, mx, my, mz, has_mag, settings[DECLINATION])
        state[Q], state[Q + 1], state[Q + 2], state[Q + 3] = w, x, y, z
    else:
        w, x, y, z = state[Q], state[Q + 1], state[Q + 2], state[Q + 3]
        if has_mag:
            east, north, _ = rotate(w, x, y, z, mx, my, mz)
            # in frame n the field points along y, where atan(y/x) would be a toss between 90 and -90 deg
            state[DELTA] = math.atan2(north, east)
    fx, fy, fz = rotate(w, -x, -y, -z, 0.0, 0.0, settings[GRAVITY])
    if settings[CALIBRATION_S] > 0.0:
        state[OFFSET], state[OFFSET + 1], state[OFFSET + 2] = ax - fx, ay - fy, az - fz
    else:
        state[BIAS], state[BIAS + 1], state[BIAS + 2] = 0.0, 0.0, 0.0
    state[PHI] = math.atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))
    state[PHI + 1] = math.asin(max(-1.0, min(1.0, 2.0 * (w * y - x * z))))
    state[PHI + 2] = math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
    state[READY] = 1.0


@internal
def mixed(angle, measured, w):
    """The angle moved by the share w towards the measured one, in the shorter direction, between -pi and pi."""
    angle += w * wrapped(measured - angle)
    return wrapped(angle)


@internal
def wrapped(angle):
    return angle - 2.0 * math.pi * math.floor(angle / (2.0 * math.pi) + 0.5)


@internal
def turn(state, settings, has_mag, dt):
    """Angles after one more sample: B10, B13, then B14 to B16 unless the step is a gap."""
    phi, theta, psi = state[PHI], state[PHI + 1], state[PHI + 2]
    wx, wy, wz = state[SMOOTH] - state[BIAS], state[SMOOTH + 1] - state[BIAS + 1], state[SMOOTH + 2] - state[BIAS + 2]
    sp, cp = math.sin(phi), math.cos(phi)
    level_rate = wy * sp + wz * cp
    phi, theta, psi = (
        phi + dt * (wx + level_rate * math.tan(theta)),
        theta + dt * (wy * cp - wz * sp),
        psi + dt * level_rate / math.cos(theta),
    )
    flags = 0.0
    if not dt <= settings[LONGEST]:
        flags = GAP
    else:
        w = -math.expm1(-dt / settings[TIME_CONSTANT]) if settings[TIME_CONSTANT] > 0.0 else settings[WEIGHT]
        ax, ay, az = (
            state[SMOOTH + 3] - state[OFFSET],
            state[SMOOTH + 4] - state[OFFSET + 1],
            state[SMOOTH + 5] - state[OFFSET + 2],
        )
        corrected = settings[CORRECTED] != 0.0
        sign = 1.0 if az > 0.0 else (-1.0 if az < 0.0 else 0.0)
        if corrected:
            phi_a, theta_a = math.atan2(ay, az), math.atan2(-ax, math.sqrt(ay * ay + az * az))
        else:
            phi_a = math.atan(ay / az)
            theta_a = math.atan(-ax / (sign * math.sqrt(ay * ay + az * az)))
        if math.isfinite(phi_a) and math.isfinite(theta_a):
            if corrected:
                phi, theta = mixed(phi, phi_a, w), mixed(theta, theta_a, w)
            else:
                phi, theta = (1.0 - w) * phi + w * phi_a, (1.0 - w) * theta + w * theta_a
        else:
            flags += ACC_REJECTED
        if has_mag:
            mx, my, mz = state[SMOOTH + 6], state[SMOOTH + 7], state[SMOOTH + 8]
            sp, cp, st, ct = math.sin(phi), math.cos(phi), math.sin(theta), math.cos(theta)
            across, along = mz * sp - my * cp, mx * ct + my * st * sp + mz * st * cp
            psi_m = (math.atan2(across, along) if corrected else math.atan(across / along)) + state[DELTA]
            if math.isfinite(psi_m):
                psi = mixed(psi, psi_m, w) if corrected else (1.0 - w) * psi + w * psi_m
            else:
                flags += MAG_REJECTED
    if math.isfinite(phi) and math.isfinite(theta) and math.isfinite(psi):
        state[PHI], state[PHI + 1], state[PHI + 2] = phi, theta, psi
    else:
        flags = ACC_REJECTED + MAG_REJECTED
    state[FLAGS] = flags
    cr, sr = math.cos(0.5 * state[PHI]), math.sin(0.5 * state[PHI])
    cp, sp = math.cos(0.5 * state[PHI + 1]), math.sin(0.5 * state[PHI + 1])
    cy, sy = math.cos(0.5 * state[PHI + 2]), math.sin(0.5 * state[PHI + 2])
    state[Q], state[Q + 1] = cr * cp * cy + sr * sp * sy, sr * cp * cy - cr * sp * sy
    state[Q + 2], state[Q + 3] = cr * sp * cy + sr * cp * sy, cr * cp * sy - sr * sp * cy


@internal
def advance(state, settings, gx, gy, gz, ax, ay, az, mx, my, mz, dt):
    """Process a sample: gyr_s (rad/s), acc_s (m/s2) and mag_s (any unit), dt (s) since the last one."""
    first, has_mag = state[SEEN] == NOTHING, mx != 0.0 or my != 0.0 or mz != 0.0
    # its low-passes would keep a reading that is no number for ever: such a sample is rejected whole
    whole = abs(ax) + abs(ay) + abs(az) + abs(mx) + abs(my) + abs(mz) < MOST
    if rejected(state, first, gx if whole else math.inf, gy, gz, dt):
        return
    if first:
        state[GIVEN] = state[STARTED]
        begin(state, settings, gx, gy, gz, ax, ay, az, mx, my, mz, has_mag)
        if state[SEEN] == NOTHING:
            return
    state[RATE], state[RATE + 1], state[RATE + 2] = gx, gy, gz
    state[WAITED] += 0.0 if first else dt
    smooth(state, settings, not_constant(SMOOTH), gx, gy, gz, first, dt)
    smooth(state, settings, SMOOTH + 3, ax, ay, az, first, dt)
    if has_mag:
        smooth(state, settings, SMOOTH + 6, mx, my, mz, state[MAG_COUNT] == 0.0, state[WAITED])
        state[MAG_COUNT] += 1.0
        state[WAITED] = 0.0
    if state[READY] == 1.0:
        turn(state, settings, has_mag, dt)
        return
    state[FLAGS] = 0.0
    state[ELAPSED] += 0.0 if first else dt
    state[COUNT] += 1.0
    for i in range(6):
        state[SUMS + i] += state[SMOOTH + i]
    if has_mag:
        for i in range(6, 9):
            state[SUMS + i] += state[SMOOTH + i]
    # the heading needs a magnetometer reading, so the calibration waits for the first one
    if state[ELAPSED] >= settings[CALIBRATION_S] and (state[MAG_COUNT] > 0.0 or settings[USE_MAG] == 0.0):
        finish_calibration(state, settings)


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
