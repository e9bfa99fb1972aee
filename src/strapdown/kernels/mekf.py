"""Multiplicative error-state Kalman filter of attitude and gyroscope bias, with deviations that can be believed.

The accelerometer measures where up is. What it reads beside gravity and noise is motion, correlated over some time;
its variance is followed from the readings themselves, and weighs as the white noise does that has the same density at
low frequencies: 2 sigma^2 tau. The magnetometer measures the heading alone: its gain on the inclination is zero.
"""

import math

from numba import njit

from strapdown.kernels.inner import inner, plain, pointer, row, three_each
from strapdown.kernels.mekf_update import MEMORY, SETTINGS, P, X, learn, predict, spread
from strapdown.kernels.orientation_start import (
    DECLINATION,
    LEVEL,
    LONGEST,
    NOTHING,
    SEEN,
    USE_MAG,
    begin,
    find_north,
    left_out,
    tell,
    vector,
)
from strapdown.kernels.orientation_state import ACC_REJECTED, BIAS, FLAGS, GAP, MAG_REJECTED, SIGMA, STARTED, Q
from strapdown.kernels.orientation_turn import predicted
from strapdown.kernels.rotation import exp, mul, rotate
from strapdown.kernels.trigonometry import arc_tangent

GYR_WHITE2 = SETTINGS  # rad2/s
GYR_WALK2 = SETTINGS + 1  # rad2/s3
ACC_WHITE2 = SETTINGS + 2  # (m/s2)^2 s
GRAVITY = SETTINGS + 3
MOTION_S = SETTINGS + 4  # s, over which accelerations of the motion are correlated
MOTION_MEMORY_S = SETTINGS + 5  # s, over which their variance is followed
ACC_OFF = SETTINGS + 6  # m/s2, largest distance of the force's norm from gravity
TILT_FLOOR2 = SETTINGS + 7  # rad2, by the accelerometer's wander; never averaged away
MAG_WHITE2 = SETTINGS + 8  # uT2 s
MAG_DISTURBANCE2 = SETTINGS + 9  # rad2, of magnetic north
MAG_DISTURBANCE_S = SETTINGS + 10  # s, over which it is correlated
NORM_OFF = SETTINGS + 11  # part of the reference's norm
DIP_OFF = SETTINGS + 12  # rad
REFERENCE_S = SETTINGS + 13  # s, time constant of the reference field
PATIENCE_S = SETTINGS + 14  # s of rejection until the field, or the heading, is looked for anew
GATE2 = SETTINGS + 15  # largest normalised innovation squared
BIAS_START2 = SETTINGS + 16  # (rad/s)^2
ATTITUDE_START2 = SETTINGS + 17  # rad2, of a given attitude
MOTION_START2 = SETTINGS + 18  # (m/s2)^2, of the acceleration in the first sample
GYR_TURN2 = SETTINGS + 19  # s, what a squared rate (rad/s)^2 adds to GYR_WHITE2

WAITED = MEMORY  # s since the last magnetometer reading
REFERENCE_NORM, REFERENCE_DIP, REFERENCE_T = MEMORY + 2, MEMORY + 3, MEMORY + 4  # uT, rad, s learned for
REJECTED_T = MEMORY + 5  # s without a magnetometer reading that was believed
# mean of specific force (m/s2) in n and in s, each with its unsteadiness (m/s2)^2 over long and over short; a wrong
# inclination is in the mean, and so not taken for motion
FORCE_N, FORCE_S = MEMORY + 6, MEMORY + 11
FORCE_T = MEMORY + 16  # s in the means
END = MEMORY + 17

LEAST_LEVEL2 = 0.0076  # squared part of the field that is level: within 5 deg of the vertical it has no north
LEAST_REFERENCE_S = 0.5  # before that the field is taken as it is
STOPPED = 8.0  # the long memory is not believed beyond so many times the short one: after a motion comes rest
QUIET = 0.25  # of the white variance of a reading: less is chance in the mean over the memory, not motion
ANY_HEADING = math.pi**2 / 3.0  # rad2, of a heading that may be anything


@inner
def _start(state, given, has_mag, mx, my, mz, dt):
    """Covariance after the first sample, which gave the attitude if it was not given."""
    tilt2 = (state[ACC_WHITE2] / dt + state[MOTION_START2]) / (state[GRAVITY] * state[GRAVITY])
    for i in range(3):
        state[P + 7 * i] = state[ATTITUDE_START2] if given else (tilt2 if i < 2 else 0.0)
        state[P + 21 + 7 * i] = state[BIAS_START2]
    if state[USE_MAG] != 0.0 and not given:  # without magnetometer the heading counts from here
        state[P + 14] = ANY_HEADING
        if has_mag:
            _aimed(state, mx, my, mz, dt)
    _tell_sigma(state)


@inner
def _aimed(state, mx, my, mz, dt):
    """The heading has just been taken from this reading: with the inclination's error in it."""
    mx, my, mz = rotate(state[Q], state[Q + 1], state[Q + 2], state[Q + 3], mx, my, mz)
    level2 = max(mx * mx + my * my, 1e-12)
    variance = state[MAG_WHITE2] / dt / level2 + state[MAG_DISTURBANCE2]
    steep = mz / math.sqrt(level2)
    learn(
        state,
        -steep * math.sin(state[DECLINATION]),
        -steep * math.cos(state[DECLINATION]),
        1.0,
        variance,
        0.0,
        plain(2),
    )


@inner
def _tell_sigma(state):
    for i in range(3):
        state[SIGMA + i] = math.sqrt(state[P + 7 * i] + (state[TILT_FLOOR2] if i < 2 else 0.0))


@inner
def _correct(state):
    """The correction found goes from the error state into attitude and bias."""
    tw, tx, ty, tz = exp(state[X], state[X + 1], state[X + 2])
    w, x, y, z = mul(tw, tx, ty, tz, state[Q], state[Q + 1], state[Q + 2], state[Q + 3])
    k = 1.0 / math.sqrt(w * w + x * x + y * y + z * z)
    state[Q], state[Q + 1], state[Q + 2], state[Q + 3] = k * w, k * x, k * y, k * z
    state[FORCE_N], state[FORCE_N + 1], state[FORCE_N + 2] = rotate(
        tw, tx, ty, tz, state[FORCE_N], state[FORCE_N + 1], state[FORCE_N + 2]
    )
    for i in range(3):
        state[BIAS + i] += state[X + 3 + i]
    for i in range(6):
        state[X + i] = 0.0


@inner
def _unsteady(state, at, k, slow_k, quick_k, fx, fy, fz, white2):
    """Follow a force: its mean at `at`, then the mean square of what it differs by from that, less the white noise."""
    ex, ey, ez = fx - state[at], fy - state[at + 1], fz - state[at + 2]
    state[at] += k * ex
    state[at + 1] += k * ey
    state[at + 2] += k * ez
    if k < 1.0:  # a reading differs from the mean by its own noise and by the mean's
        square = (ex * ex + ey * ey + ez * ez) / 3.0 - white2 * (1.0 + 0.5 * k)
        state[at + 3] += slow_k * (square - state[at + 3])
        state[at + 4] += quick_k * (square - state[at + 4])
        state[at + 3] = min(state[at + 3], STOPPED * max(state[at + 4], QUIET * white2))


@inner
def _follow_motion(state, ax, ay, az, fx, fy, fz, white2, dt):
    """Told in n a force is unsteady by motion and by what the bias turns n by; told in s by motion and by turning. The
    smaller one is motion for sure, unless a vehicle leans into its accelerations: then it is steady in s."""
    state[FORCE_T] += dt
    first = 1.0 if state[FORCE_T] <= dt else dt / state[FORCE_T]
    k = max(dt / (2.0 * state[MOTION_S] + dt), first)
    slow_k = max(dt / (state[MOTION_MEMORY_S] + dt), first)
    quick_k = max(dt / (state[MOTION_S] + dt), first)
    _unsteady(state, plain(FORCE_N), k, slow_k, quick_k, fx, fy, fz, white2)
    _unsteady(state, plain(FORCE_S), k, slow_k, quick_k, ax, ay, az, white2)


@inner
def _motion(state, white2):
    """Variance of the motion's acceleration per axis: as followed, and at first as assumed."""
    seen_s = max(min(state[FORCE_T], 2.0 * state[MOTION_S]), 1e-6)
    # what a bias as large as it may still be turns n by while the mean is taken
    turned = 2.0 * state[MOTION_S] * state[GRAVITY]
    drift2 = turned * turned * (state[P + 21] + state[P + 28] + state[P + 35]) / 3.0
    motion2, leaning2 = min(state[FORCE_N + 3], state[FORCE_S + 3]), state[FORCE_N + 3] - drift2
    if leaning2 > STOPPED * QUIET * white2:  # less may be left of a bias that was large
        motion2 = max(motion2, leaning2)
    # the mean follows slow accelerations, which are then missing in what differs from it
    followed = motion2 * (1.0 + state[MOTION_S] / seen_s) if motion2 > QUIET * white2 else 0.0
    assumed = state[MOTION_START2] * math.exp(-state[FORCE_T] / max(state[MOTION_S], 1e-6))
    return followed + (assumed if assumed > QUIET * white2 else 0.0)


@inner
def _up(state, ax, ay, az, dt):
    """Inclination by the accelerometer; true if the reading was believed."""
    g = state[GRAVITY]
    fx, fy, fz = rotate(state[Q], state[Q + 1], state[Q + 2], state[Q + 3], ax, ay, az)
    white2 = state[ACC_WHITE2] / dt
    motion2 = _motion(state, white2)
    variance = (white2 + motion2 * max(1.0, 2.0 * state[MOTION_S] / dt)) / (g * g)
    _follow_motion(state, ax, ay, az, fx, fy, fz, white2, dt)
    # a force f = g z + a, seen from an attitude that is off by theta, is g (-theta_y, theta_x, 1) + a
    about_x, about_y = fy / g, -fx / g
    off2 = about_x * about_x / (state[P] + variance) + about_y * about_y / (state[P + 7] + variance)
    if abs(math.sqrt(ax * ax + ay * ay + az * az) - g) > state[ACC_OFF] or not off2 <= state[GATE2]:
        return False
    learn(state, 1.0, 0.0, 0.0, variance, about_x, plain(0))
    learn(state, 0.0, 1.0, 0.0, variance, about_y, plain(0))
    _correct(state)
    return True


@inner
def _north(state, mx, my, mz):
    """Heading by the magnetometer; true if the reading was believed."""
    mx, my, mz = rotate(state[Q], state[Q + 1], state[Q + 2], state[Q + 3], mx, my, mz)
    passed = state[WAITED]
    level2 = mx * mx + my * my
    norm, dip = math.sqrt(level2 + mz * mz), -arc_tangent(mz, math.sqrt(level2))
    norm_off, dip_off = norm - state[REFERENCE_NORM], dip - state[REFERENCE_DIP]
    strange = abs(norm_off) > state[NORM_OFF] * state[REFERENCE_NORM] or abs(dip_off) > state[DIP_OFF]
    strange = strange and state[REFERENCE_T] >= LEAST_REFERENCE_S
    off = arc_tangent(mx, my) - state[DECLINATION]
    off -= 2.0 * math.pi * math.floor(off / (2.0 * math.pi) + 0.5)
    disturbance2 = state[MAG_DISTURBANCE2] * max(1.0, 2.0 * state[MAG_DISTURBANCE_S] / passed)
    variance = state[MAG_WHITE2] / passed / max(level2, 1e-12) + disturbance2
    # towards north as expected, not as read: noise that is in H and in the innovation would not average out
    steep = mz / math.sqrt(max(level2, 1e-12))
    hx, hy = -steep * math.sin(state[DECLINATION]), -steep * math.cos(state[DECLINATION])
    if (
        strange
        or level2 < LEAST_LEVEL2 * norm * norm
        or not off * off <= state[GATE2] * (spread(state, hx, hy, 1.0) + variance)
    ):
        state[REJECTED_T] += passed
        if state[REJECTED_T] > state[PATIENCE_S]:
            state[REFERENCE_T], state[REJECTED_T] = 0.0, 0.0
            state[P + 14] = max(state[P + 14], min(off * off, ANY_HEADING))
        return False
    state[REJECTED_T] = 0.0
    state[REFERENCE_T] += passed
    k = max(1.0 - math.exp(-passed / state[REFERENCE_S]), passed / state[REFERENCE_T])
    state[REFERENCE_NORM] += k * norm_off
    state[REFERENCE_DIP] += k * dip_off
    learn(state, hx, hy, 1.0, variance, off, plain(2))
    _correct(state)
    return True


@inner
def advance(state, gx, gy, gz, ax, ay, az, mx, my, mz, has_mag, dt):
    """One sample: rad/s, m/s2, uT in frame s, dt s after the last one."""
    if left_out(state, gx, gy, gz, dt):
        return
    ax, ay, az = vector(ax, ay, az)
    mx, my, mz = vector(mx, my, mz)
    if state[SEEN] == NOTHING:
        given = state[STARTED] == 1.0
        begin(state, gx, gy, gz, ax, ay, az, mx, my, mz, has_mag)
        if state[SEEN] != NOTHING:
            _start(state, given, has_mag, mx, my, mz, min(dt, state[LONGEST]))
        return
    w, x, y, z = predicted(state, gx, gy, gz, dt)
    state[Q], state[Q + 1], state[Q + 2], state[Q + 3] = w, x, y, z
    white2 = state[GYR_WHITE2] + state[GYR_TURN2] * (gx * gx + gy * gy + gz * gz)
    predict(state, w, x, y, z, white2, state[GYR_WALK2], dt)
    state[WAITED] += dt
    flags = 0
    if not dt <= state[LONGEST]:
        flags = GAP
        # the rate in the gap is not known: by chance it was another one, of the size of 1 rad/s or of the last reading
        missed2 = min((1.0 + gx * gx + gy * gy + gz * gz) * dt * dt, ANY_HEADING)
        for i in range(3):
            state[P + 7 * i] += missed2
        state[WAITED], state[FORCE_T] = 0.0, 0.0
    else:
        if not _up(state, ax, ay, az, dt):
            flags = ACC_REJECTED
        if has_mag and mx * mx + my * my + mz * mz > 0.0:
            if state[SEEN] == LEVEL:
                find_north(state, mx, my, mz)
                _aimed(state, mx, my, mz, dt)
            elif state[WAITED] > 0.0 and not _north(state, mx, my, mz):
                flags |= MAG_REJECTED
            state[WAITED] = 0.0
    state[FLAGS] = flags
    _tell_sigma(state)


@njit(cache=True, error_model="numpy")
def step(state, gyr, acc, mag, dt):
    """One sample, in place; mag is empty without a new reading. False: a reading has not three numbers."""
    if not three_each(gyr, acc, mag):
        return False
    g, a, m, has_mag = pointer(gyr), pointer(acc), pointer(mag), len(mag) > 0
    mx, my, mz = 0.0, 0.0, 0.0
    if has_mag:
        mx, my, mz = m[0], m[1], m[2]
    advance(pointer(state), g[0], g[1], g[2], a[0], a[1], a[2], mx, my, mz, has_mag, dt)
    return True


@njit(cache=True, error_model="numpy")
def rows(state, dt, gyr, acc, mag, mag_new, q, bias, sigma, flags):
    """The same over a recording."""
    numbers = pointer(state)
    for i in range(len(dt)):
        g, a, m, has_mag = row(gyr, i), row(acc, i), row(mag, i), len(mag) > 0 and mag_new[i]
        mx, my, mz = 0.0, 0.0, 0.0
        if has_mag:
            mx, my, mz = m[0], m[1], m[2]
        advance(numbers, g[0], g[1], g[2], a[0], a[1], a[2], mx, my, mz, has_mag, dt[i])
        tell(numbers, i, q, bias, sigma, flags)
