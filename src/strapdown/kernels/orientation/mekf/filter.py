"""Multiplicative error-state Kalman filter of attitude and gyroscope bias, with sigmas that agree with its errors.

The accelerometer measures the direction of up. Its reading apart from gravity and noise is motion. Its variance sigma^2
and correlation time tau are followed from the readings (mekf_motion.py). It has the weight of white noise with the same
density at low frequencies, 2 sigma^2 tau. If the mean force differs from up for long, the attitude is wrong and is
taken from that mean. The magnetometer measures only the heading: its gain on the inclination is zero.
"""

import math

from numba import njit

from strapdown.kernels.jit import internal, live, not_constant, pointer, row, three_each
from strapdown.kernels.orientation.mekf.field import follow_field, follow_other, judge_field
from strapdown.kernels.orientation.mekf.heading import ANY_HEADING, aimed, any_heading, judge_heading
from strapdown.kernels.orientation.mekf.layout import (
    ACC_OFF,
    ACC_WHITE2,
    AIMED_P,
    ARRIVED,
    ARRIVED_T,
    BESIDE,
    BESIDE_T,
    BIAS_START2,
    FEEDBACK,
    FORCE_N,
    FORCE_T,
    GATE2,
    GRAVITY,
    GYR_TURN2,
    GYR_WALK2,
    GYR_WHITE2,
    IRON2,
    LOST_S,
    LOST_T,
    MAG_DISTURBANCE2,
    MAG_DISTURBANCE_S,
    MAG_WHITE2,
    MOTION_S,
    MOTION_START2,
    PATIENCE_S,
    QUIET_T,
    REFERENCE_S,
    REFERENCE_T,
    REJECTED_T,
    ROUGH2,
    SEEMS_IRON2,
    SETTINGS_SIZE,
    START2,
    STATE_SIZE,
    STEADY,
    STEEP2,
    TILT_FLOOR2,
    WAITED,
)
from strapdown.kernels.orientation.mekf.layout import FIRST as FIRST
from strapdown.kernels.orientation.mekf.motion import (
    NEVER,
    averaged_variance,
    correlated,
    follow_motion,
    follow_strength,
    motion_variance,
    points_elsewhere,
)
from strapdown.kernels.orientation.mekf.start import START_SPAN, begin_covariance, doubt_start
from strapdown.kernels.orientation.mekf.update import (
    PLACE,
    PLACE_P,
    P,
    X,
    forget_place,
    learn,
    learn_north,
    leave_place,
    predict,
    spread,
    spread_of_north,
)
from strapdown.kernels.orientation.start import (
    LEAST_FORCE2,
    LEVEL,
    NOTHING,
    SEEN,
    UNDER_WAY,
    begin,
    find_north,
    rejected,
    vector,
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
    SIGMA,
    STARTED,
    USE_MAG,
    USUAL_STEP,
    Q,
)
from strapdown.kernels.orientation.turn import predicted
from strapdown.kernels.rotation import exp, mul, rotate
from strapdown.kernels.trigonometry import arc_tangent

LEAST_LEVEL2 = 0.0076  # squared part of the field that is level: within 5 deg of the vertical it has no north
STILL2, SHAKES2 = 4e-4, 0.04  # (rad/s)^2 and (m/s2)^2: a sensor that turns by less than 1.1 deg/s rests at its place
NOISY = 12.0  # of the variance of a reading, for three axes: two sigmas
STILL_S = 0.5  # for so long
ARRIVES_S = 2.0  # s, over which the field of a new place is averaged, as lodestar does
BADLY_AIMED = 0.02  # rad2, of an inclination (both axes): some 6 deg about each


@internal
def _write_sigma(state, settings):
    """Standard deviations are those of the covariance and the floor. While force or field point too far from up or
    north, that angle is added.
    """
    lost2 = 0.0
    if state[LOST_T] > 0.0:
        angle = arc_tangent(_level_force(state), state[FORCE_N + 2])
        lost2 = angle * angle
    level2, heading2 = settings[TILT_FLOOR2] + lost2, state[STEEP2] * settings[TILT_FLOOR2] + lost2
    if state[BESIDE_T] > 0.0:
        heading2 += state[BESIDE] * state[BESIDE]
    for i in range(3):
        state[SIGMA + i] = math.sqrt(state[P + 7 * i] + (level2 if i < 2 else heading2))


@internal
def _level_force(state):
    return math.sqrt(state[FORCE_N] * state[FORCE_N] + state[FORCE_N + 1] * state[FORCE_N + 1])


@internal
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


@internal
def _level_anew(state, settings, slow2, dt):
    """The attitude has been wrong for long. The mean of specific force becomes up, by the shortest turn. With a
    magnetometer the next reading gives the heading. The bias may have been learned from the wrong attitude.

    slow2: variance of that mean, (m/s2)^2.
    """
    level = _level_force(state)
    angle = arc_tangent(level, state[FORCE_N + 2])
    if level > 0.0:
        state[X], state[X + 1] = angle / level * state[FORCE_N + 1], -angle / level * state[FORCE_N]
    else:
        state[X] = angle
    _correct(state)
    heading2 = min(state[P + 14] + angle * angle, ANY_HEADING)
    for i in range(36):
        state[P + i] = 0.0
    forget_place(state, settings[MAG_DISTURBANCE2])
    tilt2 = (settings[ACC_WHITE2] / dt + settings[MOTION_START2] + slow2) / (settings[GRAVITY] * settings[GRAVITY])
    state[P], state[P + 7], state[P + 14] = tilt2, tilt2, heading2
    for i in range(3):
        state[P + 21 + 7 * i] = settings[BIAS_START2]
    state[LOST_T], state[REFERENCE_T] = 0.0, 0.0
    if settings[USE_MAG] != 0.0:
        state[SEEN], state[P + 14] = LEVEL, ANY_HEADING


@internal
def _up(state, settings, ax, ay, az, dt):
    """Inclination by the accelerometer; true if the reading was believed."""
    g = settings[GRAVITY]
    fx, fy, fz = rotate(state[Q], state[Q + 1], state[Q + 2], state[Q + 3], ax, ay, az)
    white2 = settings[ACC_WHITE2] / dt
    tau = correlated(state, settings, white2)
    motion2 = motion_variance(state, settings, white2, tau)
    variance = (white2 + motion2 * max(1.0, 2.0 * tau / dt)) / (g * g)
    force2 = ax * ax + ay * ay + az * az
    norm_off = math.sqrt(force2) - g
    follow_strength(state, settings, norm_off, dt)
    follow_motion(state, settings, ax, ay, az, fx, fy, fz, white2, dt)
    if state[FORCE_T] < START_SPAN * settings[MOTION_S]:
        doubt_start(state, settings, max(motion2, state[ROUGH2]))
    # in a motion that has been strong for long all readings count: those of the right norm alone would be a choice
    off2 = settings[ACC_OFF] * settings[ACC_OFF] + settings[GATE2] * max(state[FORCE_N + 3], 0.0)
    if norm_off * norm_off > off2 or force2 < LEAST_FORCE2:
        return False
    if points_elsewhere(state, settings, motion2, tau, white2):
        state[LOST_T] += dt
        if state[LOST_T] > settings[LOST_S]:
            _level_anew(state, settings, motion2 * tau / (tau + 2.0 * settings[MOTION_S]), dt)
        return False
    state[LOST_T] = 0.0
    # a force f = g z + a, seen from an attitude that is off by theta, is g (-theta_y, theta_x, 1) + a
    about_x, about_y = fy / g, -fx / g
    averaged = averaged_variance(state, settings, white2, dt) / (g * g)
    if averaged < variance:  # corrections turn the mean too, so that it lags only behind the drift
        variance, about_x, about_y = averaged, state[FORCE_N + 1] / g, -state[FORCE_N] / g
    state[FEEDBACK] = 0.5 * (state[P] + state[P + 7]) / (variance * dt)
    off2 = about_x * about_x / (state[P] + variance) + about_y * about_y / (state[P + 7] + variance)
    if not off2 <= settings[GATE2]:
        return False
    learn(state, 1.0, 0.0, 0.0, variance, about_x, not_constant(0))
    learn(state, 0.0, 1.0, 0.0, variance, about_y, not_constant(0))
    _correct(state)
    return True


@internal
def _wrapped(angle):
    return angle - 2.0 * math.pi * math.floor(angle / (2.0 * math.pi) + 0.5)


@internal
def _follow_rest(state, settings, gx, gy, gz, ax, ay, az, dt):
    """Time for which the sensor has neither turned nor been shaken."""
    gx, gy, gz = gx - state[BIAS], gy - state[BIAS + 1], gz - state[BIAS + 2]
    turns = gx * gx + gy * gy + gz * gz > STILL2 + NOISY * settings[GYR_WHITE2] / dt
    k, off2 = dt / (STILL_S + dt), 0.0
    for i in range(3):
        off = (ax if i == 0 else ay if i == 1 else az) - state[STEADY + i]
        state[STEADY + i] += k * off
        off2 += off * off
    shakes = off2 > SHAKES2 + NOISY * settings[ACC_WHITE2] / dt
    state[QUIET_T] = 0.0 if turns or shakes else state[QUIET_T] + dt


@internal
def _place(state, settings, moves, iron2, passed):
    """The angle of the field from north changes while the sensor moves, and is that of the place where it rests. Norm
    and dip show how far iron may have turned it there.
    """
    if moves:
        part = 1.0 - min(passed / max(settings[MAG_DISTURBANCE_S], 1e-6), 1.0)
        leave_place(state, part, settings[MAG_DISTURBANCE2])
        state[IRON2], state[ARRIVED_T] = 0.0, 0.0
    state[SEEMS_IRON2] += passed / (STILL_S + passed) * (iron2 - state[SEEMS_IRON2])
    if not moves and state[SEEMS_IRON2] > state[IRON2]:
        state[PLACE_P] += state[SEEMS_IRON2] - state[IRON2]
        state[IRON2] = state[SEEMS_IRON2]


@internal
def _north(state, settings, mx, my, mz, turn2):
    """Heading by the magnetometer; true if the reading was believed."""
    mx, my, mz = rotate(state[Q], state[Q + 1], state[Q + 2], state[Q + 3], mx, my, mz)
    passed = state[WAITED]
    level2 = mx * mx + my * my
    norm, dip = math.sqrt(level2 + mz * mz), -arc_tangent(mz, math.sqrt(level2))
    strange, iron2 = judge_field(state, settings, norm, dip, max(level2 / max(norm * norm, 1e-12), LEAST_LEVEL2))
    off = _wrapped(arc_tangent(mx, my) - settings[DECLINATION])
    moves = state[QUIET_T] < STILL_S
    variance = settings[MAG_WHITE2] / passed / max(level2, 1e-12)
    _place(state, settings, moves, iron2 - variance, passed)  # noise looks like iron
    disturbance2 = settings[MAG_DISTURBANCE2] + iron2
    variance += disturbance2 * max(1.0, 2.0 * settings[MAG_DISTURBANCE_S] / passed)
    # towards north as expected, not as read: noise that is in H and in the innovation would not average out
    steep = mz / math.sqrt(max(level2, 1e-12))
    hx, hy = -steep * math.sin(settings[DECLINATION]), -steep * math.cos(settings[DECLINATION])
    if moves:
        innovation, north2 = off, spread(state, hx, hy, 1.0)
    else:
        north2, _ = spread_of_north(state, hx, hy)
        innovation = _wrapped(off - state[PLACE])
        if not strange and state[ARRIVED_T] < ARRIVES_S:
            state[ARRIVED_T] += passed
            state[ARRIVED] += min(passed / state[ARRIVED_T], 1.0) * (innovation - state[ARRIVED])
            if state[ARRIVED_T] < ARRIVES_S:
                return True
            # a field that points elsewhere is that of the place, as far as makes it the most likely
            more2 = max(state[ARRIVED] * state[ARRIVED] - north2, 0.0)
            state[PLACE_P] += more2
            north2 += more2
    if (
        strange
        or level2 < LEAST_LEVEL2 * norm * norm
        or not innovation * innovation <= settings[GATE2] * (north2 + variance)
    ):
        if not moves and state[REFERENCE_T] >= settings[REFERENCE_S]:
            return False  # a place shows nothing, however long the sensor rests there
        state[REJECTED_T] += passed
        is_new = strange and follow_other(state, settings, norm, dip, turn2, passed)
        # a field that is as it should be but for its heading: the heading is wrong
        if is_new or state[REJECTED_T] > (settings[PATIENCE_S] if strange else settings[LOST_S]):
            state[REFERENCE_T], state[REJECTED_T] = 0.0, 0.0
            forget_place(state, settings[MAG_DISTURBANCE2])
            state[ARRIVED_T] = ARRIVES_S  # the heading is found anew, and not the place
            state[P + 14] = max(state[P + 14], min(off * off, ANY_HEADING))
        return False
    state[REJECTED_T] = max(state[REJECTED_T] - passed, 0.0)  # a single reading that chance lets pass ends nothing
    if moves or state[REFERENCE_T] < settings[REFERENCE_S]:
        follow_field(state, settings, norm, dip, passed)
    state[STEEP2] = steep * steep
    if moves:
        judge_heading(state, settings, off, passed)
        learn(state, hx, hy, 1.0, variance, off, not_constant(2))
    else:
        state[BESIDE_T] = 0.0
        learn_north(state, hx, hy, variance, innovation + state[PLACE])
    _correct(state)
    return True


@internal
def advance(state, settings, gx, gy, gz, ax, ay, az, mx, my, mz, dt):
    """Process a sample: rad/s, m/s2, uT in frame s, dt s after the last one. USUAL_STEP is known."""
    first = state[SEEN] == NOTHING
    if rejected(state, first, gx, gy, gz, dt):
        return
    ax, ay, az = vector(ax, ay, az)
    mx, my, mz = vector(mx, my, mz)
    has_mag = mx * mx + my * my + mz * mz > 0.0
    if first:
        given = state[STARTED] == 1.0
        begin(state, settings, gx, gy, gz, ax, ay, az, mx, my, mz, has_mag)
        if state[SEEN] != NOTHING:
            state[STEADY], state[STEADY + 1], state[STEADY + 2] = ax, ay, az
            force = math.sqrt(ax * ax + ay * ay + az * az)
            aims = has_mag and state[SEEN] == UNDER_WAY
            begin_covariance(state, settings, given, force, aims, mx, my, mz, min(state[USUAL_STEP], settings[LONGEST]))
            _write_sigma(state, settings)
        return
    w, x, y, z = predicted(state, gx, gy, gz, dt)
    state[Q], state[Q + 1], state[Q + 2], state[Q + 3] = w, x, y, z
    turn2 = gx * gx + gy * gy + gz * gz
    _follow_rest(state, settings, gx, gy, gz, ax, ay, az, dt)
    white2 = settings[GYR_WHITE2] + settings[GYR_TURN2] * turn2
    # over a gap the attitude's variance comes from below: no rate is known there that a bias could be off from
    known_s = min(dt, settings[LONGEST])
    predict(state, w, x, y, z, white2, settings[GYR_WALK2], known_s)
    state[WAITED] += dt
    flags = 0
    if not dt <= settings[LONGEST]:
        flags = GAP
        # the rate in the gap is not known: by chance it was another one, of the size of 1 rad/s or of the last reading
        missed2 = min((1.0 + turn2) * dt * dt, ANY_HEADING)
        for i in range(3):
            state[P + 7 * i] += missed2
            state[P + 21 + 7 * i] += settings[GYR_WALK2] * (dt - known_s)
        state[WAITED], state[FORCE_T], state[LOST_T], state[START2] = 0.0, 0.0, 0.0, NEVER
    else:
        # zeros are no reading, of which no motion can be learned
        if ax * ax + ay * ay + az * az == 0.0 or not _up(state, settings, ax, ay, az, dt):
            flags = ACC_REJECTED
        if has_mag:
            # a heading seen from an inclination that was much worse than it is now is no small rotation off
            if state[AIMED_P] > BADLY_AIMED and state[P] + state[P + 7] < 0.25 * state[AIMED_P]:
                any_heading(state, settings)
            if state[LOST_T] > 0.0:  # seen from a wrong inclination
                flags |= MAG_REJECTED
            elif state[SEEN] == LEVEL:
                find_north(state, settings, mx, my, mz)
                aimed(state, settings, mx, my, mz, dt)
            elif state[WAITED] > 0.0 and not _north(state, settings, mx, my, mz, turn2):
                flags |= MAG_REJECTED
            state[WAITED] = 0.0
    state[FLAGS] = flags
    _write_sigma(state, settings)


@live
def step(state, settings, gyr, acc, mag, dt):
    """Process one sample in place; mag is empty without a new reading. Returns False if an array has a wrong length, or
    USUAL_STEP is not known."""
    if len(state) != STATE_SIZE or len(settings) != SETTINGS_SIZE or not three_each(gyr, acc, mag):
        return False
    if not state[USUAL_STEP] > 0.0:
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
