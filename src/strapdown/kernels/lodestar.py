"""Lodestar, on line: inclination and gyroscope bias sample by sample (vqf_inclination.py), heading block by block
(lodestar_heading.py), and how sure both are.

The inclination is wrong by the acceleration that the low-pass of specific force lets through. How much that is can be
read off the low-pass itself: of white noise behind a Butterworth filter of second order with corner w, the output y and
its slope y'/w have the same variance. The slope holds no gravity, so its mean square over some time constants, told as
an angle, is the variance of the inclination.
"""

import math

from numba import njit

from strapdown.kernels.lodestar_heading import (
    BLOCK_S,
    COS,
    END,
    OFF,
    SIN,
    heading_begin,
    heading_forget,
    heading_gap,
    heading_sample,
)
from strapdown.kernels.orientation_state import (
    ACC_REJECTED,
    BIAS,
    FLAGS,
    GAP,
    MAG_REJECTED,
    REST,
    SIGMA,
    STARTED,
    Q,
)
from strapdown.kernels.rotation import rotate
from strapdown.kernels.vqf_inclination import (
    ACC_BLOCK,
    ACC_Y,
    AT_REST,
    BEGUN,
    BIAS_SIGMA_START,
    Q_EI,
    TAU_ACC,
    VARIANCE,
    inclination_step,
    q_es,
)
from strapdown.kernels.vqf_lowpass import COUNT

MEASURES = END  # 1: there will be a magnetometer
TILT_FLOOR = END + 1  # rad^2, variance of the inclination at rest
TILT_VARIANCE = END + 2
SETTLED = END + 3  # 0 until specific force has been low-passed for a time constant: then e is level
SIZE = END + 4
TILT_START = 0.05 * 0.05  # rad^2: 3 deg, half a metre per second squared in the first readings
MEMORY = 4.0  # time constants of the low-pass over which the slope's mean square is taken


@njit(cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def forget_first_turn(state):
    """The first sample turns the inclination by as much as the sensor is tilted, which says nothing about the bias."""
    for k in range(3):
        state[BIAS + k] = 0.0
    for k in range(6):
        state[VARIANCE + k] = 0.0
    variance = state[BIAS_SIGMA_START] * state[BIAS_SIGMA_START]
    state[VARIANCE], state[VARIANCE + 3], state[VARIANCE + 5] = variance, variance, variance


@njit(cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def tell_tilt(state):
    """After a block: the deviation of the inclination, from the mean square of the slope of low-passed force."""
    fx, fy, fz = state[ACC_Y], state[ACC_Y + 1], state[ACC_Y + 2]
    force2 = fx * fx + fy * fy + fz * fz
    if state[ACC_BLOCK + COUNT] < 0.0 and force2 > 0.0:  # while the low-pass is a mean of the first samples: no slope
        w, x, y, z = state[Q_EI], state[Q_EI + 1], state[Q_EI + 2], state[Q_EI + 3]
        vx, vy, _ = rotate(w, x, y, z, state[ACC_Y + 3], state[ACC_Y + 4], state[ACC_Y + 5])
        now = 0.5 * (vx * vx + vy * vy) / force2  # of one axis
        k = min(state[BLOCK_S] / (MEMORY * state[TAU_ACC]), 1.0)
        state[TILT_VARIANCE] += k * (min(now, 1.0) - state[TILT_VARIANCE])
    state[SIGMA] = math.sqrt(state[TILT_VARIANCE] + state[TILT_FLOOR])
    state[SIGMA + 1] = state[SIGMA]


@njit(cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def advance(state, gx, gy, gz, ax, ay, az, has_mag, mx, my, mz, dt):
    """One sample; rad/s, m/s2, uT in frame s."""
    first = state[BEGUN] == 0.0
    if first:
        heading_begin(state, state[MEASURES] != 0.0)
        state[TILT_VARIANCE] = TILT_START
        state[SIGMA], state[SIGMA + 1] = math.sqrt(TILT_START), math.sqrt(TILT_START)
    follows = inclination_step(state, gx, gy, gz, ax, ay, az, dt)
    if first:
        forget_first_turn(state)
    w, x, y, z = q_es(state)
    flags = 0.0
    if not follows:
        flags = GAP
        heading_gap(state, dt)
    else:
        gx, gy, gz = gx - state[BIAS], gy - state[BIAS + 1], gz - state[BIAS + 2]
        rate2 = gx * gx + gy * gy + gz * gz
        at_rest = state[AT_REST] != 0.0
        if heading_sample(state, w, x, y, z, rate2, has_mag, mx, my, mz, dt, at_rest):
            tell_tilt(state)
            if state[ACC_BLOCK + COUNT] < 0.0:
                state[SETTLED] = 1.0
            elif state[SETTLED] == 0.0 and state[MEASURES] != 0.0:
                heading_forget(state)
    c, s = state[COS], state[SIN]
    state[Q], state[Q + 1], state[Q + 2], state[Q + 3] = c * w - s * z, c * x - s * y, c * y + s * x, c * z + s * w
    flags += REST if state[AT_REST] != 0.0 else 0
    flags += MAG_REJECTED if state[OFF] >= 1.0 else 0
    flags += ACC_REJECTED if ax == 0.0 and ay == 0.0 and az == 0.0 else 0
    state[FLAGS], state[STARTED] = flags, 1.0


@njit(cache=True, error_model="numpy")
def step(state, gyr, acc, mag, dt):
    """The state after one sample; an empty mag: no new reading."""
    mx, my, mz, has_mag = 0.0, 0.0, 0.0, len(mag) == 3
    if has_mag:
        mx, my, mz = mag[0], mag[1], mag[2]
    advance(state, gyr[0], gyr[1], gyr[2], acc[0], acc[1], acc[2], has_mag, mx, my, mz, dt)


@njit(cache=True, error_model="numpy")
def rows(state, dt, gyr, acc, mag, mag_new, q, bias, sigma, flags):
    """The same over a recording."""
    for i in range(len(dt)):
        mx, my, mz, has_mag = 0.0, 0.0, 0.0, len(mag) > 0 and mag_new[i]
        if has_mag:
            mx, my, mz = mag[i, 0], mag[i, 1], mag[i, 2]
        advance(state, gyr[i, 0], gyr[i, 1], gyr[i, 2], acc[i, 0], acc[i, 1], acc[i, 2], has_mag, mx, my, mz, dt[i])
        for k in range(4):
            q[i, k] = state[Q + k]
        for k in range(3):
            bias[i, k] = state[BIAS + k]
            sigma[i, k] = state[SIGMA + k]
        flags[i] = state[FLAGS]
