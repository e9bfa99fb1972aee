"""VQF with magnetometer (Laidig and Seel 2023): heading on top of the inclination, and the test of the magnetic field.

A field is described by its norm and dip. It is believed while both stay near a reference; a field that stays the same
while the sensor turns becomes the new reference. Disturbed readings are rejected for a time, then have less weight.
"""

import math

from numba import njit

from strapdown.kernels.jit import internal, live, not_constant, pointer, row, three_each
from strapdown.kernels.orientation.start import LEAST_FORCE2, rejected, vector, write_row
from strapdown.kernels.orientation.state import (
    ACC_REJECTED,
    DECLINATION,
    FLAGS,
    GAP,
    KEY,
    MAG_REJECTED,
    REST,
    STARTED,
    USE_MAG,
    USUAL_STEP,
    Q,
)
from strapdown.kernels.orientation.vqf.inclination import (
    AT_REST,
    BEGUN,
    INCLINATION_END,
    INCLINATION_SETTINGS_END,
    REST_GYR_Y,
    SAME_STEP,
    inclination_step,
    q_es,
)
from strapdown.kernels.orientation.vqf.inclination import FIRST as FIRST
from strapdown.kernels.orientation.vqf.lowpass import (
    INPUT,
    block_size,
    lowpass,
    lowpass_gains,
    lowpass_new_step,
    lowpass_restart,
    rotate,
    usual_step,
)
from strapdown.kernels.trigonometry import arc_tangent, half_angle

# settings
_S = INCLINATION_SETTINGS_END
TAU_MAG = _S  # s, of the heading correction
USE_REJECTION = _S + 1
TAU_FIELD = _S + 2  # s, low-pass of norm and dip; 0: none
TAU_REFERENCE = _S + 3  # s, at which the reference follows
NORM_OFF = _S + 4  # largest distance from the reference, as a part of its norm
DIP_OFF = _S + 5  # rad
NEW_TIME = _S + 6  # s of turning in a steady field until it becomes the reference
NEW_FIRST_TIME = _S + 7  # s, the same for the first
NEW_RATE = _S + 8  # rad/s, least rate that counts as turning
CLEAN_TIME = _S + 9  # s near the reference until a reading is believed again
LONGEST_REJECTION = _S + 10  # s
REJECTION_FACTOR = _S + 11  # by how much disturbed readings weigh less after that time
SETTINGS_SIZE = _S + 12
# computed for a step between magnetometer readings of this length from the settings of this key
_O = INCLINATION_END
MAG_STEP, MAG_KEY = _O, _O + 1
K_MAG, K_REFERENCE, G_FIELD, A_FIELD = _O + 2, _O + 3, _O + 4, _O + 5
# memory
SINCE_MAG = _O + 6  # s since the last reading of the magnetometer; negative: there was none
DELTA = _O + 7  # rad, heading of e in n
K_FIRST = _O + 8  # gain of the mean over the first readings; 0 afterwards
DISTURBED = _O + 9
REFERENCE_NORM, REFERENCE_DIP = _O + 10, _O + 11  # uT, rad; norm 0: none yet
CLEAN_T = _O + 12
REJECTED_T = _O + 13
CANDIDATE_NORM, CANDIDATE_DIP, CANDIDATE_T = _O + 14, _O + 15, _O + 16
FIELD_BLOCK = _O + 17
MAG_UNUSED = FIELD_BLOCK + block_size(2)  # 1: the last reading of the magnetometer had no weight
STATE_SIZE = MAG_UNUSED + 1
_FIELD = (FIELD_BLOCK, 2)


@internal
def wrapped(angle):
    """An angle in [-pi, pi], for an angle at most a turn outside."""
    if angle > math.pi:
        return angle - 2.0 * math.pi
    if angle < -math.pi:
        return angle + 2.0 * math.pi
    return angle


@internal
def gain_of(tau, dt):
    """Gain of a first-order low-pass: no update for tau < 0, no memory for tau = 0."""
    if tau < 0.0:
        return 0.0
    return 1.0 if tau == 0.0 else 1.0 - math.exp(-dt / tau)


@internal
def turned_by(delta, w, x, y, z):
    """The attitude (w, x, y, z) turned about the vertical by delta (rad, at most a turn)."""
    c, k = half_angle(delta * delta)
    s = k * delta
    return c * w - s * z, c * x - s * y, c * y + s * x, c * z + s * w


@internal
def advance(state, settings, gx, gy, gz, ax, ay, az, mx, my, mz, dt):
    """Process one sample; rad/s, m/s2, uT in frame s. USUAL_STEP is known; it is the dt of the first sample."""
    first = state[BEGUN] == 0.0
    if rejected(state, first, gx, gy, gz, dt):
        return
    ax, ay, az = vector(ax, ay, az)
    mx, my, mz = vector(mx, my, mz)
    if first:
        dt = state[USUAL_STEP]
        state[DISTURBED] = settings[USE_REJECTION]
        state[REJECTED_T] = settings[LONGEST_REJECTION]
        state[CANDIDATE_NORM] = -1.0
        state[SINCE_MAG] = -1.0
        state[K_FIRST] = 0.0 if state[STARTED] != 0.0 else 1.0
    follows = inclination_step(state, settings, gx, gy, gz, ax, ay, az, dt)
    w, x, y, z = q_es(state)
    if state[SINCE_MAG] >= 0.0:
        state[SINCE_MAG] += dt
    flags = 0.0
    if not follows:
        flags = GAP
        lowpass_restart(state, not_constant(_FIELD))
        state[CLEAN_T], state[CANDIDATE_T] = 0.0, 0.0
    elif mx != 0.0 or my != 0.0 or mz != 0.0:
        mx_e, my_e, mz_e = rotate(w, x, y, z, mx, my, mz)
        _heading(state, settings, mx_e, my_e, mz_e, dt)
    state[Q], state[Q + 1], state[Q + 2], state[Q + 3] = turned_by(state[DELTA], w, x, y, z)
    flags += REST if state[AT_REST] != 0.0 else 0
    flags += MAG_REJECTED if state[MAG_UNUSED] != 0.0 else 0
    flags += ACC_REJECTED if ax * ax + ay * ay + az * az < LEAST_FORCE2 else 0
    state[FLAGS], state[STARTED] = flags, 1.0


@internal
def _heading(state, settings, mx_e, my_e, mz_e, dt):
    """Turn e towards north by a reading of the field expressed in e."""
    passed = dt if state[SINCE_MAG] < 0.0 else state[SINCE_MAG]
    state[SINCE_MAG] = 0.0
    if abs(passed - state[MAG_STEP]) > SAME_STEP * state[MAG_STEP]:
        passed = usual_step(passed)
        lowpass_new_step(state, not_constant(_FIELD), state[MAG_STEP], passed)
        state[MAG_STEP], state[MAG_KEY] = passed, 0.0
    if state[MAG_KEY] != settings[KEY]:
        state[MAG_KEY] = settings[KEY]
        state[K_MAG] = gain_of(settings[TAU_MAG], state[MAG_STEP])
        state[K_REFERENCE] = gain_of(settings[TAU_REFERENCE], state[MAG_STEP])
        state[G_FIELD], state[A_FIELD] = lowpass_gains(settings[TAU_FIELD], state[MAG_STEP])
    dt = state[MAG_STEP]
    if settings[USE_REJECTION] != 0.0:
        _field(state, settings, mx_e, my_e, mz_e, dt)
    off = wrapped(arc_tangent(mx_e, my_e) - settings[DECLINATION] - state[DELTA])
    gain = state[K_MAG]
    if settings[USE_REJECTION] != 0.0:
        gain, state[REJECTED_T] = rejecting_gain(
            gain,
            state[DISTURBED] != 0.0,
            state[REJECTED_T],
            dt,
            settings[LONGEST_REJECTION],
            settings[REJECTION_FACTOR],
        )
    gain, state[K_FIRST] = first_gain(gain, state[K_FIRST], settings[TAU_MAG], dt)
    state[DELTA] = wrapped(state[DELTA] + gain * off)
    state[MAG_UNUSED] = 1.0 if gain == 0.0 and state[K_MAG] > 0.0 else 0.0


@internal
def rejecting_gain(gain, disturbed, rejected_t, dt, longest, factor):
    """Gain for a reading and time spent rejecting: zero for a disturbed reading, but a little after too long a time."""
    if not disturbed:
        return gain, max(rejected_t - factor * dt, 0.0)
    if rejected_t <= longest:
        return 0.0, rejected_t + dt
    return gain / factor, rejected_t


@internal
def first_gain(gain, first, tau, dt):
    """Gain and next value of first: at least 1/N at the N-th reading, until tau has passed."""
    if first == 0.0:
        return gain, 0.0
    following = first / (first + 1.0)
    return max(gain, first), (0.0 if following * tau < dt else following)


@internal
def _field(state, settings, mx_e, my_e, mz_e, dt):
    """Tests whether this is the field of the reference. It also tests whether the field stays the same while the sensor
    turns.
    """
    level = math.sqrt(mx_e * mx_e + my_e * my_e)
    norm = math.sqrt(mx_e * mx_e + my_e * my_e + mz_e * mz_e)
    dip = -arc_tangent(mz_e, level)
    if settings[TAU_FIELD] > 0.0:
        state[FIELD_BLOCK + INPUT], state[FIELD_BLOCK + INPUT + 1] = norm, dip
        lowpass(state, not_constant(_FIELD), settings[TAU_FIELD], dt, state[G_FIELD], state[A_FIELD])
        norm, dip = state[FIELD_BLOCK + INPUT + 2], state[FIELD_BLOCK + INPUT + 3]
    k = state[K_REFERENCE]
    norm_off, dip_off = norm - state[REFERENCE_NORM], dip - state[REFERENCE_DIP]
    if abs(norm_off) < settings[NORM_OFF] * state[REFERENCE_NORM] and abs(dip_off) < settings[DIP_OFF]:
        state[CLEAN_T] += dt
        if state[CLEAN_T] >= settings[CLEAN_TIME]:
            state[DISTURBED] = 0.0
            state[REFERENCE_NORM] += k * norm_off
            state[REFERENCE_DIP] += k * dip_off
    else:
        state[CLEAN_T], state[DISTURBED] = 0.0, 1.0
    norm_off, dip_off = norm - state[CANDIDATE_NORM], dip - state[CANDIDATE_DIP]
    if not (abs(norm_off) < settings[NORM_OFF] * state[CANDIDATE_NORM] and abs(dip_off) < settings[DIP_OFF]):
        state[CANDIDATE_NORM], state[CANDIDATE_DIP], state[CANDIDATE_T] = norm, dip, 0.0
        return
    gx, gy, gz = state[REST_GYR_Y], state[REST_GYR_Y + 1], state[REST_GYR_Y + 2]
    if math.sqrt(gx * gx + gy * gy + gz * gz) >= settings[NEW_RATE]:
        state[CANDIDATE_T] += dt
    state[CANDIDATE_NORM] += k * norm_off
    state[CANDIDATE_DIP] += k * dip_off
    enough = settings[NEW_FIRST_TIME] if state[REFERENCE_NORM] == 0.0 else settings[NEW_TIME]
    if state[DISTURBED] != 0.0 and state[CANDIDATE_T] >= min(enough, settings[NEW_TIME]):
        state[REFERENCE_NORM], state[REFERENCE_DIP] = state[CANDIDATE_NORM], state[CANDIDATE_DIP]
        state[DISTURBED], state[CLEAN_T] = 0.0, settings[CLEAN_TIME]


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
