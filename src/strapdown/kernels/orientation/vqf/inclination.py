"""Inclination and gyroscope bias by VQF (Laidig and Seel 2023, section 3): the part without magnetometer.

The gyroscope leads from s to a frame i that drifts only slowly (almost inertial). In i specific force is low-passed,
and its direction is up. This leads from i to e (z up, heading free). A Kalman filter of three states finds the bias,
from readings at rest, and in motion from the corrections of the inclination.

Other filters build on it: their own memory begins at INCLINATION_END, their settings at INCLINATION_SETTINGS_END. All
memory is zero before the first inclination_step; after it q_es(state) is the attitude, AT_REST the verdict, REST_GYR_Y
the low-passed gyroscope. SI units.
"""

import math

from strapdown.kernels.jit import internal, not_constant
from strapdown.kernels.orientation.start import KEPT_SIZE
from strapdown.kernels.orientation.state import BIAS, KEY, LONGEST, OWN, OWN_SETTINGS, STARTED, Q
from strapdown.kernels.orientation.vqf.lowpass import (
    INPUT,
    block_size,
    lowpass,
    lowpass_gains,
    lowpass_new_step,
    lowpass_restart,
    lowpass_settle,
    mul,
    rotate,
    turned,
    unit_again,
    usual_step,
)

# settings
_S = OWN_SETTINGS
TAU_ACC = _S  # s, low-pass of specific force
TAU_REST = _S + 1  # s, low-pass of the rest detection
REST_TIME = _S + 2  # s of quiet before it is rest
REST_GYR = _S + 3  # rad/s, largest distance of a reading from its low-passed value at rest
REST_ACC = _S + 4  # m/s2, the same
BIAS_CLIP = _S + 5  # rad/s
BIAS_SIGMA_START = _S + 6  # rad/s
BIAS_GROWTH = _S + 7  # (rad/s)^2 per s
BIAS_SIGMA_MOTION = _S + 8  # rad/s, which the estimate settles at in motion
VERTICAL_FACTOR = _S + 9  # weight of the pull to zero of the bias about the vertical, against the others
BIAS_SIGMA_REST = _S + 10  # rad/s, which the estimate settles at in rest
USE_MOTION = _S + 11
USE_REST = _S + 12
INCLINATION_SETTINGS_END = _S + 13
# computed for a step of this length from the settings of this key
STEP, STEP_KEY = OWN, OWN + 1
G_ACC, A_ACC, G_REST, A_REST = OWN + 2, OWN + 3, OWN + 4, OWN + 5
GROWTH, W_MOTION, W_VERTICAL, W_REST = OWN + 6, OWN + 7, OWN + 8, OWN + 9
# memory
Q_IS = OWN + 10
Q_EI = OWN + 14
VARIANCE = OWN + 18  # of the bias: xx, xy, xz, yy, yz, zz; entry (k, k) is number k (7 - k) / 2
REST_T = OWN + 24  # s of quiet so far
AT_REST = OWN + 25
BEGUN = OWN + 26  # 0 before the first sample
FIRST = OWN + 27  # a first sample that waits for the step
REST_BLOCK = FIRST + KEPT_SIZE  # rates, specific forces in s
ACC_BLOCK = REST_BLOCK + block_size(6)  # specific force in i
TURN_BLOCK = ACC_BLOCK + block_size(3)  # rotation matrix R_es, then the bias along x and y of e
INCLINATION_END = TURN_BLOCK + block_size(11)
# first number and signals of each: constants, so that every loop over a block is laid out for its length
_REST, _ACC, _TURN = (REST_BLOCK, 6), (ACC_BLOCK, 3), (TURN_BLOCK, 11)

REST_GYR_Y = REST_BLOCK + INPUT + 6
ACC_X, ACC_Y = ACC_BLOCK + INPUT, ACC_BLOCK + INPUT + 3
TURN_X, TURN_Y = TURN_BLOCK + INPUT, TURN_BLOCK + INPUT + 11

SAME_STEP = 1e-6  # relative: time stamps carry roundoff, clocks of parts are off by more


@internal
def _start(state, settings):
    """Memory before the first sample. A given attitude is in Q; otherwise the first sample gives the inclination."""
    state[BEGUN] = 1.0
    state[Q_IS], state[Q_EI] = 1.0, 1.0
    for k in range(3):
        state[VARIANCE + k * (7 - k) // 2] = settings[BIAS_SIGMA_START] * settings[BIAS_SIGMA_START]
    if state[STARTED] != 0.0:
        for k in range(4):
            state[Q_IS + k] = state[Q + k]
        state[ACC_X + 2] = 9.81  # only its direction matters, up; the first samples change it little
        lowpass_settle(state, not_constant(_ACC))
        _matrix(state)
        lowpass_settle(state, not_constant(_TURN))


@internal
def q_es(state):
    """The attitude without heading: s to e."""
    w, x, y, z = state[Q_IS], state[Q_IS + 1], state[Q_IS + 2], state[Q_IS + 3]
    return mul(state[Q_EI], state[Q_EI + 1], state[Q_EI + 2], state[Q_EI + 3], w, x, y, z)


@internal
def inclination_step(state, settings, gx, gy, gz, ax, ay, az, dt):
    """Process one sample: rates (rad/s) and specific force (m/s2) in s, a step dt (s) after the previous one. Returns
    True if the step is not a gap.
    """
    first = state[BEGUN] == 0.0
    if first:
        _start(state, settings)
        dt = min(dt, settings[LONGEST])  # nothing was before the first sample, so nothing was missed
    if dt > settings[LONGEST]:
        _forget(state, settings, dt)
        _turn(state, gx, gy, gz, dt)
        return False
    if abs(dt - state[STEP]) > SAME_STEP * state[STEP]:
        _new_step(state, settings, usual_step(dt))
    elif state[STEP_KEY] != settings[KEY]:
        _new_step(state, settings, state[STEP])
    dt = state[STEP]
    _rest(state, settings, gx, gy, gz, ax, ay, az, dt)
    if not first or state[STARTED] == 0.0:  # a given attitude is the one at the first sample
        _turn(state, gx, gy, gz, dt)
    if ax == 0.0 and ay == 0.0 and az == 0.0:  # free fall has no direction
        return True
    slope_x, slope_y = _level(state, settings, ax, ay, az, dt)
    if settings[USE_MOTION] != 0.0 or settings[USE_REST] != 0.0:
        _bias(state, settings, slope_x, slope_y, dt)
    return True


@internal
def _new_step(state, settings, dt):
    """Gains of the low-passes and weights of the bias filter for steps of dt."""
    before = state[STEP]
    lowpass_new_step(state, not_constant(_REST), before, dt)
    lowpass_new_step(state, not_constant(_ACC), before, dt)
    lowpass_new_step(state, not_constant(_TURN), before, dt)
    state[STEP], state[STEP_KEY] = dt, settings[KEY]
    state[G_ACC], state[A_ACC] = lowpass_gains(settings[TAU_ACC], dt)
    state[G_REST], state[A_REST] = lowpass_gains(settings[TAU_REST], dt)
    growth = settings[BIAS_GROWTH] * dt
    motion, rest = settings[BIAS_SIGMA_MOTION], settings[BIAS_SIGMA_REST]
    motion, rest = motion * motion, rest * rest
    state[GROWTH] = growth
    state[W_MOTION] = motion * motion / growth + motion  # then the variance settles at sigma^2
    state[W_VERTICAL] = state[W_MOTION] / settings[VERTICAL_FACTOR]
    state[W_REST] = rest * rest / growth + rest


@internal
def _forget(state, settings, dt):
    """After a gap the low-passed values are outdated: start them again. The bias has become less certain."""
    lowpass_restart(state, not_constant(_REST))
    lowpass_restart(state, not_constant(_ACC))
    lowpass_restart(state, not_constant(_TURN))
    state[REST_T], state[AT_REST] = 0.0, 0.0
    most = settings[BIAS_SIGMA_START] * settings[BIAS_SIGMA_START]
    for k in range(3):
        at = VARIANCE + k * (7 - k) // 2
        state[at] = max(state[at], min(state[at] + settings[BIAS_GROWTH] * dt, most))


@internal
def _rest(state, settings, gx, gy, gz, ax, ay, az, dt):
    """Whether the sensor is at rest: all readings are near their low-passed values, and the rate is small enough for a
    bias.
    """
    x, y = REST_BLOCK + INPUT, REST_BLOCK + INPUT + 6
    state[x], state[x + 1], state[x + 2], state[x + 3], state[x + 4], state[x + 5] = gx, gy, gz, ax, ay, az
    lowpass(state, not_constant(_REST), settings[TAU_REST], dt, state[G_REST], state[A_REST])
    gyr_off2 = acc_off2 = largest = 0.0
    for k in range(3):
        gyr_off, acc_off = state[x + k] - state[y + k], state[x + 3 + k] - state[y + 3 + k]
        gyr_off2 += gyr_off * gyr_off
        acc_off2 += acc_off * acc_off
        largest = max(largest, abs(state[y + k]))
    if gyr_off2 >= settings[REST_GYR] * settings[REST_GYR] or largest > settings[BIAS_CLIP]:
        state[REST_T] = 0.0
    if settings[USE_REST] == 0.0 or acc_off2 >= settings[REST_ACC] * settings[REST_ACC]:
        state[REST_T], state[AT_REST] = 0.0, 0.0
    else:
        state[REST_T] += dt
        state[AT_REST] = 1.0 if state[REST_T] >= settings[REST_TIME] else 0.0


@internal
def _turn(state, gx, gy, gz, dt):
    """q_is after the step, by the rate without its bias."""
    rx, ry, rz = (gx - state[BIAS]) * dt, (gy - state[BIAS + 1]) * dt, (gz - state[BIAS + 2]) * dt
    w, x, y, z = turned(state[Q_IS], state[Q_IS + 1], state[Q_IS + 2], state[Q_IS + 3], rx, ry, rz)
    state[Q_IS], state[Q_IS + 1], state[Q_IS + 2], state[Q_IS + 3] = w, x, y, z


@internal
def up_turned(w, x, y, z, fx, fy, fz):
    """q_ei = (w, x, y, z) turned by the shortest way so that the force f_i points up. (x, y) of the force's direction
    in e before this turn shows how far it was off.
    """
    ux, uy, uz = rotate(w, x, y, z, fx, fy, fz)
    norm = math.sqrt(ux * ux + uy * uy + uz * uz)
    if norm < 1e-15:  # free fall has no direction
        return w, x, y, z, 0.0, 0.0
    cw = norm + uz  # (cw, uy, -ux, 0) is along the turn's quaternion, and 2 norm cw the square of its length
    if cw > 1e-12 * norm:
        k = 1.0 / math.sqrt(2.0 * norm * cw)
        w, x, y, z = mul(k * cw, k * uy, -k * ux, 0.0, w, x, y, z)
    else:  # upside down to 1e-4 deg: every horizontal axis will do
        w, x, y, z = mul(0.0, 1.0, 0.0, 0.0, w, x, y, z)
    w, x, y, z = unit_again(w, x, y, z)
    k = 1.0 / norm
    return w, x, y, z, k * ux, k * uy


@internal
def _level(state, settings, ax, ay, az, dt):
    """q_ei after the sample; (x, y) of the direction of low-passed force in e before."""
    state[ACC_X], state[ACC_X + 1], state[ACC_X + 2] = rotate(
        state[Q_IS], state[Q_IS + 1], state[Q_IS + 2], state[Q_IS + 3], ax, ay, az
    )
    lowpass(state, not_constant(_ACC), settings[TAU_ACC], dt, state[G_ACC], state[A_ACC])
    fx, fy, fz = state[ACC_Y], state[ACC_Y + 1], state[ACC_Y + 2]
    w, x, y, z, ux, uy = up_turned(state[Q_EI], state[Q_EI + 1], state[Q_EI + 2], state[Q_EI + 3], fx, fy, fz)
    state[Q_EI], state[Q_EI + 1], state[Q_EI + 2], state[Q_EI + 3] = w, x, y, z
    return ux, uy


@internal
def _matrix(state):
    """R_es, and the bias along x and y of e, as inputs of their low-pass."""
    w, x, y, z = q_es(state)
    bx, by, bz = state[BIAS], state[BIAS + 1], state[BIAS + 2]
    xx, xy, xz = 1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)
    yx, yy, yz = 2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)
    state[TURN_X], state[TURN_X + 1], state[TURN_X + 2] = xx, xy, xz
    state[TURN_X + 3], state[TURN_X + 4], state[TURN_X + 5] = yx, yy, yz
    state[TURN_X + 6], state[TURN_X + 7] = 2.0 * (x * z - w * y), 2.0 * (y * z + w * x)
    state[TURN_X + 8] = 1.0 - 2.0 * (x * x + y * y)
    state[TURN_X + 9], state[TURN_X + 10] = xx * bx + xy * by + xz * bz, yx * bx + yy * by + yz * bz


@internal
def _bias(state, settings, slope_x, slope_y, dt):
    """One step of the bias filter. At rest the gyroscope reads its bias. In motion the correction of the inclination is
    the turn that the bias, low-passed as the force is, has made. About the vertical it is only known to be small.
    """
    clip = settings[BIAS_CLIP]
    if settings[USE_MOTION] != 0.0:
        _matrix(state)
        lowpass(state, not_constant(_TURN), settings[TAU_ACC], dt, state[G_ACC], state[A_ACC])
    most = settings[BIAS_SIGMA_START] * settings[BIAS_SIGMA_START]
    for k in range(3):
        at = VARIANCE + k * (7 - k) // 2
        if state[at] < most:
            state[at] += state[GROWTH]
    bx, by, bz = state[BIAS], state[BIAS + 1], state[BIAS + 2]
    if state[AT_REST] != 0.0:
        ex, ey, ez = state[REST_GYR_Y] - bx, state[REST_GYR_Y + 1] - by, state[REST_GYR_Y + 2] - bz
        ex, ey, ez = min(max(ex, -clip), clip), min(max(ey, -clip), clip), min(max(ez, -clip), clip)
        w = state[W_REST]
        dx, dy, dz = learn_bias(state, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, w, ex)
        dx, dy, dz = learn_bias(state, dx, dy, dz, 0.0, 1.0, 0.0, w, ey)
        dx, dy, dz = learn_bias(state, dx, dy, dz, 0.0, 0.0, 1.0, w, ez)
    elif settings[USE_MOTION] != 0.0:
        r = TURN_Y
        rx, ry, rz = state[r], state[r + 1], state[r + 2]
        sx, sy, sz = state[r + 3], state[r + 4], state[r + 5]
        tx, ty, tz = state[r + 6], state[r + 7], state[r + 8]
        ex = -slope_y / dt + state[r + 9] - rx * bx - ry * by - rz * bz
        ey = slope_x / dt + state[r + 10] - sx * bx - sy * by - sz * bz
        ez = -tx * bx - ty * by - tz * bz
        ex, ey, ez = min(max(ex, -clip), clip), min(max(ey, -clip), clip), min(max(ez, -clip), clip)
        dx, dy, dz = learn_bias(state, 0.0, 0.0, 0.0, rx, ry, rz, state[W_MOTION], ex)
        dx, dy, dz = learn_bias(state, dx, dy, dz, sx, sy, sz, state[W_MOTION], ey)
        dx, dy, dz = learn_bias(state, dx, dy, dz, tx, ty, tz, state[W_VERTICAL], ez)
    else:
        return
    state[BIAS] = min(max(bx + dx, -clip), clip)
    state[BIAS + 1] = min(max(by + dy, -clip), clip)
    state[BIAS + 2] = min(max(bz + dz, -clip), clip)


@internal
def learn_bias(state, dx, dy, dz, rx, ry, rz, w, e):
    """Kalman update by one number, r . bias with variance w and innovation e.

    d: change of the bias by the earlier numbers in the same sample.

    One by one gives the same result as three at once, without inverting a matrix.
    """
    xx, xy, xz = state[VARIANCE], state[VARIANCE + 1], state[VARIANCE + 2]
    yy, yz, zz = state[VARIANCE + 3], state[VARIANCE + 4], state[VARIANCE + 5]
    px, py, pz = xx * rx + xy * ry + xz * rz, xy * rx + yy * ry + yz * rz, xz * rx + yz * ry + zz * rz
    weight = 1.0 / (w + rx * px + ry * py + rz * pz)
    state[VARIANCE], state[VARIANCE + 1], state[VARIANCE + 2] = (
        xx - weight * px * px,
        xy - weight * px * py,
        xz - weight * px * pz,
    )
    state[VARIANCE + 3], state[VARIANCE + 4], state[VARIANCE + 5] = (
        yy - weight * py * py,
        yz - weight * py * pz,
        zz - weight * pz * pz,
    )
    gain = weight * (e - rx * dx - ry * dy - rz * dz)
    return dx + gain * px, dy + gain * py, dz + gain * pz
