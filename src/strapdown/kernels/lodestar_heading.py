"""Heading on top of an inclination: a Kalman filter of five states, one step for each block of about 0.1 s.

Frame e is level and turns slowly against n: q_ns is q_es turned about the vertical by the first state.

    x = (delta, b_x, b_y, b_z, d)
    delta   rad     heading of e in n
    b       rad/s   what the gyroscope's bias is off by in motion, frame s; at rest it is known and does not act
    d       rad     what the magnetic field points beside north where the sensor is

In motion   delta' = up_s . b + white noise that grows with the turn rate,   d' = white noise,   b' = 0.
At rest     nothing changes: a long rest in a disturbed place tells no more than a short one.
d is drawn anew on coming to rest after a motion, with a deviation of its own: places of rest are as good as that.
Measured:   heading of the mean field of the block = delta + d + noise, which grows with the distance of norm and dip
            from a reference; beyond a limit the reading is rejected. A field that stays the same while the sensor
            turns, for 20 s or for longer than the reference was seen, becomes the reference (after Laidig and Seel
            2023). The old one was of another place then: d is drawn anew as at the start, and the heading may be
            wrong by as much as it now seems to be. The same where the field points far beside the heading for
            seconds: a turn was missed, or the start was wrong.

The last block's gain, innovation and transition stay in the state: the smoother (lodestar_smoother.py) needs them.
"""

import math

from strapdown.kernels.inner import inner, plain
from strapdown.kernels.orientation_state import SIGMA, STARTED
from strapdown.kernels.trigonometry import arc_tangent, half_angle
from strapdown.kernels.vqf_inclination import INCLINATION_END, REST_TIME
from strapdown.kernels.vqf_lowpass import rotate

N = 5
_O = INCLINATION_END
# settings
DECLINATION = _O  # rad, of magnetic from true north, east positive
BLOCK_S = _O + 1  # s, length of a block
NOISE = _O + 2  # rad^2 s, of the magnetic heading: its square over the length of the block is the variance
NOISE_GROWTH = _O + 3  # by how many times the noise is larger at the limit of norm and dip
REST_VARIANCE = _O + 4  # rad^2, of d from one place of rest to another
WALK = _O + 5  # rad^2/s, of d in motion
DRIFT_VARIANCE = _O + 6  # (rad/s)^2, of b
TURN_NOISE = _O + 7  # s, variance of delta per second and squared turn rate
GYR_NOISE = _O + 8  # rad^2/s, variance of delta per second
NORM_OFF = _O + 9  # largest distance from the reference, as a part of its norm
DIP_OFF = _O + 10  # rad
TAU_REFERENCE = _O + 11  # s, at which the reference follows
NEW_TIME = _O + 12  # s of turning in a steady field until it becomes the reference
NEW_RATE = _O + 13  # rad/s, least rate that counts as turning
HOLD_TIME = _O + 14  # s, at which the memory of a disturbance fades
START_VARIANCE = _O + 15  # rad^2, of the heading of a given attitude
PLACE_VARIANCE = _O + 16  # rad^2, of d where nothing is known of the place
# sums over the block
BLOCK_T, BLOCK_TURN, BLOCK_COUNT = _O + 17, _O + 18, _O + 19  # s, rad^2/s, readings of the magnetometer
BLOCK_UP = _O + 20  # s, integral of up_s
BLOCK_FIELD = _O + 23  # sum of the readings in e
# memory
X = _O + 26
P = X + N
AIMED = P + N * N  # 0 until a reading or a given attitude has set delta
MOTION_T = AIMED + 1  # s in motion since the last rest
COS, SIN = AIMED + 2, AIMED + 3  # of half of delta
REFERENCE_NORM, REFERENCE_DIP, REFERENCE_T = AIMED + 4, AIMED + 5, AIMED + 6
CANDIDATE_NORM, CANDIDATE_DIP, CANDIDATE_T = AIMED + 7, AIMED + 8, AIMED + 9
OFF = AIMED + 10  # distance from the reference in units of its limit; 1 and more: rejected
# of the last block, for the smoother
MOVED = AIMED + 11  # s, up_s times the time in motion: how b went into delta
KEPT = AIMED + 14  # 0 if d was drawn anew, else 1
GAIN = AIMED + 15
SURPRISE = GAIN + N  # innovation over its variance
CERTAINTY = SURPRISE + 1  # 1 over the variance of the innovation; 0: nothing measured
BESIDE, BESIDE_T = CERTAINTY + 1, CERTAINTY + 2  # rad, mean of what the field points beside the heading, and s in it
END = CERTAINTY + 3

ANY_HEADING = math.pi * math.pi  # rad^2
BESIDE_S = 2.0  # s, memory of that mean
LOST = 9.0  # its largest square over its variance, three deviations: beyond, the heading is wrong and not the field
LEAST_LEVEL2 = 0.0076  # squared part of the field that is level: within 5 deg of the vertical it has no north


@inner
def wrapped(angle):
    """The same angle in [-pi, pi]."""
    return angle - 2.0 * math.pi * math.floor(angle / (2.0 * math.pi) + 0.5)


@inner
def heading_begin(state, will_measure):
    """Before the first sample. A heading that will never be measured is right by definition at the start."""
    for k in range(N * N):
        state[P + k] = 0.0
    state[P] = ANY_HEADING if will_measure else 0.0
    if state[STARTED] != 0.0:
        state[P], state[AIMED] = state[START_VARIANCE], 1.0
    for k in range(1, 4):
        state[P + k * N + k] = state[DRIFT_VARIANCE]
    state[P + 24] = state[PLACE_VARIANCE]
    state[MOTION_T] = 1e9  # s; the first rest is a place of rest
    _aim(state)


@inner
def heading_forget(state, anew):
    """What was measured so far was told in a frame that was not level: the next block begins anew.
    anew: with another reference."""
    for j in range(1, N):
        state[P + j], state[P + j * N] = 0.0, 0.0
    state[P], state[BESIDE_T] = ANY_HEADING, 0.0
    if anew:
        state[REFERENCE_T], state[OFF] = 0.0, 0.0


@inner
def _aim(state):
    state[X] = wrapped(state[X])
    c, k = half_angle(state[X] * state[X])
    state[COS], state[SIN] = c, k * state[X]
    # a field further beside north than places are: it may as well be the heading that is wrong
    doubt = max(state[X + 4] * state[X + 4] - state[PLACE_VARIANCE], 0.0)
    state[SIGMA + 2] = math.sqrt(min(max(state[P], 0.0) + doubt, ANY_HEADING))


@inner
def heading_gap(state, dt, rate2):
    """Time without samples: what the block had so far is dropped. The rate in between is not known: by
    chance it was another one, of the size of 1 rad/s or of the last reading. The variance of that turn."""
    state[BLOCK_T] = 0.0
    _clear_block(state)
    missed2 = min((1.0 + rate2) * dt * dt, ANY_HEADING)
    state[P] += missed2
    state[P + 24] += min(state[WALK] * dt, ANY_HEADING)
    state[CANDIDATE_T], state[BESIDE_T] = 0.0, 0.0
    _aim(state)
    return missed2


@inner
def _clear_block(state):
    for k in range(BLOCK_TURN, BLOCK_FIELD + 3):
        state[k] = 0.0


@inner
def heading_sample(state, w, x, y, z, rate2, has_mag, mx, my, mz, dt, at_rest):
    """One sample: attitude q_es = (w, x, y, z), squared turn rate ((rad/s)^2), field in s. True: a block is done."""
    state[BLOCK_UP] += 2.0 * (x * z - w * y) * dt
    state[BLOCK_UP + 1] += 2.0 * (y * z + w * x) * dt
    state[BLOCK_UP + 2] += (1.0 - 2.0 * (x * x + y * y)) * dt
    state[BLOCK_TURN] += rate2 * dt
    state[BLOCK_T] += dt
    if has_mag and not (mx == 0.0 and my == 0.0 and mz == 0.0):
        ex, ey, ez = rotate(w, x, y, z, mx, my, mz)
        state[BLOCK_FIELD] += ex
        state[BLOCK_FIELD + 1] += ey
        state[BLOCK_FIELD + 2] += ez
        state[BLOCK_COUNT] += 1.0
        if state[AIMED] == 0.0:  # point there at once; the first block then does it properly
            state[AIMED] = 1.0
            state[X] = arc_tangent(ex, ey) - state[DECLINATION]
            _aim(state)
    if state[BLOCK_T] < state[BLOCK_S] - 0.5 * dt:
        return False
    _predict(state, at_rest)
    state[CERTAINTY] = 0.0
    if state[BLOCK_COUNT] > 0.0:
        _measure(state)
    state[BLOCK_T] = 0.0
    _clear_block(state)
    _aim(state)
    return True


@inner
def _draw_anew(state, variance):
    """Another d, of which only its variance is known."""
    state[KEPT], state[X + 4] = 0.0, 0.0
    for j in range(N):
        state[P + 4 * N + j], state[P + j * N + 4] = 0.0, 0.0
    state[P + 24] = variance


@inner
def _predict(state, at_rest):
    """x to F x and P to F P F^T + Q over the block."""
    dt = state[BLOCK_T]
    state[KEPT] = 1.0
    for i in range(3):
        state[MOVED + i] = 0.0 if at_rest else state[BLOCK_UP + i]
    if at_rest:
        if state[MOTION_T] > 2.0 * state[REST_TIME]:  # the verdict comes REST_TIME late; a touch is no motion
            _draw_anew(state, state[REST_VARIANCE])
        state[MOTION_T] = 0.0
        return
    state[MOTION_T] += dt
    ux, uy, uz = state[MOVED], state[MOVED + 1], state[MOVED + 2]
    state[X] += ux * state[X + 1] + uy * state[X + 2] + uz * state[X + 3]
    for j in range(N):
        state[P + j] += ux * state[P + N + j] + uy * state[P + 2 * N + j] + uz * state[P + 3 * N + j]
    for j in range(N):
        at = P + j * N
        state[at] += ux * state[at + 1] + uy * state[at + 2] + uz * state[at + 3]
    state[P] += state[TURN_NOISE] * state[BLOCK_TURN] + state[GYR_NOISE] * dt
    state[P + 24] += state[WALK] * dt


@inner
def _measure(state):
    """Update by the mean field of the block, if it is near the reference."""
    k = 1.0 / state[BLOCK_COUNT]
    ex, ey, ez = k * state[BLOCK_FIELD], k * state[BLOCK_FIELD + 1], k * state[BLOCK_FIELD + 2]
    level2 = ex * ex + ey * ey
    norm, dip = math.sqrt(level2 + ez * ez), -arc_tangent(ez, math.sqrt(level2))
    if not norm > 0.0:
        return
    is_new = _field(state, norm, dip)
    if level2 < LEAST_LEVEL2 * norm * norm:
        state[OFF] = max(state[OFF], 1.0)
    off = state[OFF]
    if off >= 1.0:
        state[BESIDE_T] = 0.0
        return
    heading = arc_tangent(ex, ey) - state[DECLINATION]
    seems = wrapped(heading - state[X])
    if is_new or _lost(state, seems):
        _draw_anew(state, state[PLACE_VARIANCE])
        state[P] += seems * seems
        state[BESIDE_T] = 0.0
    growth = state[NOISE_GROWTH] * off
    variance = state[NOISE] * (1.0 + growth * growth) / state[BLOCK_T]
    innovation = wrapped(heading - state[X] - state[X + 4])
    for j in range(N):
        state[GAIN + j] = state[P + j] + state[P + 4 * N + j]
    certainty = 1.0 / (state[GAIN] + state[GAIN + 4] + variance)
    for i in range(N):
        for j in range(i, N):  # both triangles from one product: P stays symmetric to the bit
            state[P + i * N + j] -= certainty * state[GAIN + i] * state[GAIN + j]
            state[P + j * N + i] = state[P + i * N + j]
    for j in range(N):
        state[GAIN + j] *= certainty
        state[X + j] += state[GAIN + j] * innovation
    state[SURPRISE], state[CERTAINTY] = innovation * certainty, certainty


@inner
def _lost(state, seems):
    """Does the field point further beside the heading, in the mean, than a place and the heading's variance explain?"""
    dt = state[BLOCK_T]
    state[BESIDE_T] += dt
    k = min(max(dt / BESIDE_S, dt / state[BESIDE_T]), 1.0)
    state[BESIDE] = wrapped(state[BESIDE] + k * wrapped(seems - state[BESIDE]))
    variance = state[PLACE_VARIANCE] + state[P] + state[NOISE] / BESIDE_S
    return state[BESIDE_T] >= BESIDE_S and state[BESIDE] * state[BESIDE] > LOST * variance


@inner
def _off(state, norm, dip, reference):
    """Distance from a reference (norm, dip) in units of the limits."""
    norm_0 = state[reference]
    return max(abs(norm - norm_0) / (state[NORM_OFF] * norm_0), abs(dip - state[reference + 1]) / state[DIP_OFF])


@inner
def _follow(state, norm, dip, reference, k):
    state[reference] += k * (norm - state[reference])
    state[reference + 1] += k * (dip - state[reference + 1])


@inner
def _field(state, norm, dip):
    """How far is this field from the reference? The reference is the mean of the first fields, then follows slowly.
    True: the field is the new reference."""
    dt, tau = state[BLOCK_T], state[TAU_REFERENCE]
    if state[REFERENCE_T] == 0.0:
        state[REFERENCE_NORM], state[REFERENCE_DIP] = norm, dip
    state[OFF] = max(_off(state, norm, dip, plain(REFERENCE_NORM)), state[OFF] * math.exp(-dt / state[HOLD_TIME]))
    if state[OFF] < 1.0:
        state[REFERENCE_T] = min(state[REFERENCE_T] + dt, tau)
        _follow(state, norm, dip, plain(REFERENCE_NORM), min(dt / state[REFERENCE_T], 1.0))
        state[CANDIDATE_NORM] = 0.0
        return False
    if state[CANDIDATE_NORM] == 0.0 or _off(state, norm, dip, plain(CANDIDATE_NORM)) >= 1.0:
        state[CANDIDATE_NORM], state[CANDIDATE_DIP], state[CANDIDATE_T] = norm, dip, 0.0
        return False
    _follow(state, norm, dip, plain(CANDIDATE_NORM), min(dt / tau, 1.0))
    if state[BLOCK_TURN] > state[NEW_RATE] * state[NEW_RATE] * dt:
        state[CANDIDATE_T] += dt
    if state[CANDIDATE_T] < min(state[NEW_TIME], state[REFERENCE_T]):
        return False
    state[REFERENCE_NORM], state[REFERENCE_DIP] = state[CANDIDATE_NORM], state[CANDIDATE_DIP]
    state[REFERENCE_T] = min(state[CANDIDATE_T], tau)
    state[CANDIDATE_NORM], state[OFF] = 0.0, 0.0
    return True
