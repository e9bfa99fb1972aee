"""Lodestar, on line: inclination and gyroscope bias sample by sample (vqf_inclination.py), heading block by block
(lodestar_heading.py), and the sigmas of both.

The inclination is wrong by the acceleration that the low-pass of specific force lets through, and by errors of the
rate over its lag. Both make the direction of low-passed force wander in i, the frame of the gyroscope. Its distance
from its own mean over WANDER time constants is measured, and averaged over MEMORY of them. Of white accelerations the
part SHARE of the variance is in that distance. Of the accelerations of a hand, whose speed is bounded, it is nearly
all; the sigma is then too large by a quarter. A constant error of the rate shows at WANDER times its effect.
"""

import math

from numba import njit

from strapdown.kernels.jit import internal, live, pointer, row, three_each
from strapdown.kernels.orientation.lodestar.heading import (
    ANY_HEADING,
    heading_begin,
    heading_forget,
    heading_gap,
    heading_sample,
    heading_turned,
)
from strapdown.kernels.orientation.lodestar.layout import BLOCK_S, COS, OFF, SETTINGS_SIZE, SIN, TILT_FLOOR, N, P
from strapdown.kernels.orientation.lodestar.rest import DOUBT, STILL_END, TURNED, still_block, still_gap, still_sample
from strapdown.kernels.orientation.start import LEAST_FORCE2, rejected, vector, write_row
from strapdown.kernels.orientation.state import (
    ACC_REJECTED,
    BIAS,
    FLAGS,
    GAP,
    MAG_REJECTED,
    REST,
    SIGMA,
    STARTED,
    USE_MAG,
    USUAL_STEP,
    Q,
)
from strapdown.kernels.orientation.vqf.inclination import (
    ACC_BLOCK,
    ACC_Y,
    AT_REST,
    BEGUN,
    BIAS_SIGMA_START,
    TAU_ACC,
    VARIANCE,
    inclination_step,
    q_es,
)
from strapdown.kernels.orientation.vqf.inclination import FIRST as FIRST
from strapdown.kernels.orientation.vqf.lowpass import COUNT

TILT_VARIANCE = STILL_END  # rad^2
SETTLED = (
    STILL_END + 1
)  # 1 when specific force has been low-passed for a time constant: then e is level; -1 after a gap
TILT_T = STILL_END + 2  # s in which specific force has been low-passed
UP_MEAN = STILL_END + 3  # mean direction of low-passed force in i
LAG_MEAN = STILL_END + 6  # mean of what differs from that, off line: the drift of i
BACK = STILL_END + 9  # of the smoother: what later blocks say
STATE_SIZE = BACK + 2 * N + N * N
TILT_START = 0.05 * 0.05  # rad^2: 3 deg, half a metre per second squared in the first readings
TILT_MOTION_S = 0.3  # s, over which accelerations of the first readings are correlated: a mean takes them away
WANDER = 2.0  # time constants of the low-pass: of the mean from which its output is measured
MEMORY = 4.0  # time constants of the low-pass over which the squares of that are averaged
SHARE = 0.615  # integral of |H|^2 (w T)^2 / (1 + (w T)^2) over that of |H|^2, T of WANDER, H of Butterworth's low-pass
SHARE_BOTH_WAYS = 0.599  # both ways, less its mean and its drift, of twice that time: both factors are squared


@internal
def forget_first_turn(state, settings):
    """The first sample turns the inclination by as much as the sensor is tilted, which shows nothing about the bias."""
    for k in range(3):
        state[BIAS + k] = 0.0
    for k in range(6):
        state[VARIANCE + k] = 0.0
    variance = settings[BIAS_SIGMA_START] * settings[BIAS_SIGMA_START]
    state[VARIANCE], state[VARIANCE + 3], state[VARIANCE + 5] = variance, variance, variance


@internal
def follow_wander(state, settings, fx, fy, fz, ways):
    """After a block: variance of the inclination by the wander of low-passed force f in i.

    ways: 1, or 2 of a low-pass both ways: its output wanders for twice as long, and a constant drift of i is not in it.
    """
    state[TILT_T] += settings[BLOCK_S]
    k = 1.0 / math.sqrt(max(fx * fx + fy * fy + fz * fz, LEAST_FORCE2))
    beside2, seen_s, tau = 0.0, state[TILT_T], settings[TAU_ACC]
    k_mean = 1.0 if seen_s <= tau else settings[BLOCK_S] / (ways * WANDER * tau + settings[BLOCK_S])
    for i in range(3):
        beside = k * (fx if i == 0 else fy if i == 1 else fz) - state[UP_MEAN + i]
        state[UP_MEAN + i] += k_mean * beside
        beside -= k_mean * beside
        if ways == 2:
            state[LAG_MEAN + i] += k_mean * (beside - state[LAG_MEAN + i])
            beside -= state[LAG_MEAN + i]
        beside2 += beside * beside
    if seen_s <= tau:  # while the low-pass is a mean of the first samples it does not wander
        state[TILT_VARIANCE] = TILT_START * min(TILT_MOTION_S / seen_s, 1.0)
    else:
        k = min(settings[BLOCK_S] / min(MEMORY * tau, seen_s), 1.0)
        state[TILT_VARIANCE] += k * (
            min(0.5 * beside2 / (SHARE if ways == 1 else SHARE_BOTH_WAYS), 1.0) - state[TILT_VARIANCE]
        )


@internal
def estimate_tilt_sigma(state, settings):
    """After a block: standard deviation of the inclination."""
    follow_wander(state, settings, state[ACC_Y], state[ACC_Y + 1], state[ACC_Y + 2], 1)
    # a bias that is off turns the inclination for as long as the low-pass remembers
    lag = min(state[TILT_T], settings[TAU_ACC])
    by_bias = lag * lag * (state[VARIANCE] + state[VARIANCE + 3] + state[VARIANCE + 5]) / 3.0
    state[SIGMA] = math.sqrt(state[TILT_VARIANCE] + by_bias + settings[TILT_FLOOR])
    state[SIGMA + 1] = state[SIGMA]


@internal
def tilt_gap(state, missed2):
    """The inclination is as uncertain as the missed turn, and starts again with the next sample."""
    state[TILT_VARIANCE], state[TILT_T] = TILT_START, 0.0
    state[SIGMA] = math.sqrt(min(missed2, 1.0))
    state[SIGMA + 1] = state[SIGMA]


@internal
def drift_by_bias(state, settings, sigma):
    """A heading that nothing measures drifts by the error of the bias, always in the same direction; sigma in rad/s."""
    root = math.sqrt(state[P]) + sigma * settings[BLOCK_S]
    state[P] = min(root * root, ANY_HEADING)
    state[SIGMA + 2] = math.sqrt(state[P])


@internal
def _bias_sigma_up(state, w, x, y, z):
    """Sigma of the bias about the vertical, rad/s, and the error that it may have unseen."""
    ux, uy, uz = 2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)
    xx, xy, xz = state[VARIANCE], state[VARIANCE + 1], state[VARIANCE + 2]
    yy, yz, zz = state[VARIANCE + 3], state[VARIANCE + 4], state[VARIANCE + 5]
    variance = ux * ux * xx + uy * uy * yy + uz * uz * zz + 2.0 * (ux * uy * xy + ux * uz * xz + uy * uz * yz)
    return math.sqrt(max(variance, 0.0)) + abs(ux * state[DOUBT] + uy * state[DOUBT + 1] + uz * state[DOUBT + 2])


@internal
def advance(state, settings, gx, gy, gz, ax, ay, az, mx, my, mz, dt):
    """Process one sample; rad/s, m/s2, uT in frame s. USUAL_STEP must be known; it is the dt of the first sample."""
    first = state[BEGUN] == 0.0
    if rejected(state, first, gx, gy, gz, dt):
        return
    ax, ay, az = vector(ax, ay, az)
    mx, my, mz = vector(mx, my, mz)
    if first:
        dt = state[USUAL_STEP]
    falls = ax * ax + ay * ay + az * az < LEAST_FORCE2
    if falls:
        ax, ay, az = 0.0, 0.0, 0.0
    if first:
        heading_begin(state, settings, settings[USE_MAG] != 0.0)
        state[TILT_VARIANCE] = TILT_START
        state[SIGMA], state[SIGMA + 1] = math.sqrt(TILT_START), math.sqrt(TILT_START)
    follows = inclination_step(state, settings, gx, gy, gz, ax, ay, az, dt)
    if first:
        forget_first_turn(state, settings)
    w, x, y, z = q_es(state)
    flags = 0.0
    if not follows:
        flags = GAP
        tilt_gap(state, heading_gap(state, settings, dt, gx * gx + gy * gy + gz * gz))
        state[SETTLED] = -1.0
        still_gap(state)
    else:
        still_sample(state, mx, my, mz, dt)
        gx, gy, gz = gx - state[BIAS], gy - state[BIAS + 1], gz - state[BIAS + 2]
        at_rest = state[AT_REST] != 0.0
        if heading_sample(state, settings, w, x, y, z, gx, gy, gz, mx, my, mz, dt, at_rest):
            estimate_tilt_sigma(state, settings)
            if state[ACC_BLOCK + COUNT] < 0.0:
                state[SETTLED] = 1.0
            elif state[SETTLED] <= 0.0 and settings[USE_MAG] != 0.0:
                heading_forget(state, state[SETTLED] == 0.0)
            if still_block(state, settings) > 0.0:
                heading_turned(state, settings, state[TURNED], settings[USE_MAG] != 0.0)
            if settings[USE_MAG] == 0.0:
                drift_by_bias(state, settings, _bias_sigma_up(state, w, x, y, z))
    c, s = state[COS], state[SIN]
    state[Q], state[Q + 1], state[Q + 2], state[Q + 3] = c * w - s * z, c * x - s * y, c * y + s * x, c * z + s * w
    flags += REST if state[AT_REST] != 0.0 else 0
    flags += MAG_REJECTED if state[OFF] >= 1.0 else 0
    flags += ACC_REJECTED if falls else 0
    state[FLAGS], state[STARTED] = flags, 1.0


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
