"""Heading on top of an inclination: a Kalman filter of five states, one step for each block of about 0.1 s.

Frame e is level and turns slowly against n: q_ns is q_es turned about the vertical by the first state.

    x = (delta, b_x, b_y, b_z, d)
    delta   rad     heading of e in n
    b       rad/s   what the gyroscope's bias is off by in motion, frame s; at rest it is known and does not act
    d       rad     what the magnetic field points beside north where the sensor is

In motion   delta' = up_s . b + white noise that grows with the turn rate,   b' = white noise,
            d' = -d / tau + white noise: d keeps within what places differ by, and where norm and dip of the field
            stand still in motion, which iron would change as well, within less (lodestar_field.py).
At rest     nothing changes but for the gyroscope's noise: a long rest in a disturbed place tells no more than a short
            one. d is drawn anew on coming to rest after a motion, with a deviation of its own: places of rest are as
            good as that. One whose field, in the mean of its first 2 s, points further beside the heading is as much
            worse as makes that the likeliest, and is left behind: d then returns within TAU_REFERENCE of motion.
Measured:   heading of the mean field of the block = delta + d + noise, which grows with the distance of norm and dip
            from a reference; beyond a limit the reading is rejected. A field that stays the same while the sensor
            turns, for 20 s or for longer than the reference was seen, becomes the reference (after Laidig and Seel
            2023). The old one was of another place then: d is drawn anew as at the start, and the heading may be
            wrong by as much as it now seems to be. The same where the field points far beside the heading for
            seconds: a turn was missed, or the start was wrong. A given heading beside which the first good seconds of
            field point further than expected is as much less sure as makes them the likeliest.

The last block's gain, innovation and transition stay in the state: the smoother (lodestar_smoother.py) needs them.
"""

import math

from strapdown.kernels.jit import internal
from strapdown.kernels.orientation.lodestar.field import judge_field
from strapdown.kernels.orientation.lodestar.layout import (
    AIMED,
    BESIDE,
    BESIDE_T,
    BLOCK_COUNT,
    BLOCK_FIELD,
    BLOCK_S,
    BLOCK_T,
    BLOCK_TURN,
    BLOCK_UP,
    CANDIDATE_T,
    CERTAINTY,
    COS,
    DRIFT_VARIANCE,
    EXCESS,
    GAIN,
    GYR_NOISE,
    IRON,
    KEPT,
    MOTION_T,
    MOVED,
    NOISE,
    NOISE_GROWTH,
    OFF,
    PLACE_VARIANCE,
    REFERENCE_T,
    REST_VARIANCE,
    RETURN,
    SETTLING,
    SIN,
    SPREAD,
    START_VARIANCE,
    SURPRISE,
    TAU_REFERENCE,
    TURN_NOISE,
    UNSURE,
    WALK,
    N,
    P,
    X,
)
from strapdown.kernels.orientation.state import DECLINATION, SIGMA, STARTED
from strapdown.kernels.orientation.vqf.inclination import REST_TIME
from strapdown.kernels.orientation.vqf.lowpass import rotate
from strapdown.kernels.trigonometry import arc_tangent, half_angle

ANY_HEADING = math.pi * math.pi  # rad^2
BESIDE_S = 2.0  # s, memory of that mean
DRIFT_S = 900.0  # s of motion in which b walks by its deviation: by a quarter of it in a minute
LOST = 9.0  # its largest square over its variance, three deviations: beyond, the heading is wrong and not the field
LEAST_LEVEL2 = 0.0076  # squared part of the field that is level: within 5 deg of the vertical it has no north


@internal
def wrapped(angle):
    """The same angle in [-pi, pi]."""
    return angle - 2.0 * math.pi * math.floor(angle / (2.0 * math.pi) + 0.5)


@internal
def heading_begin(state, settings, will_measure):
    """Before the first sample. A heading that will never be measured is right by definition at the start."""
    for k in range(N * N):
        state[P + k] = 0.0
    state[P] = ANY_HEADING if will_measure else 0.0
    if state[STARTED] != 0.0:
        state[P], state[AIMED] = settings[START_VARIANCE] + state[EXCESS], 1.0
        state[UNSURE] = 1.0 if will_measure and state[EXCESS] == 0.0 else 0.0
    for k in range(1, 4):
        state[P + k * N + k] = settings[DRIFT_VARIANCE]
    state[P + 24] = settings[PLACE_VARIANCE]
    state[SPREAD], state[SETTLING], state[IRON] = settings[PLACE_VARIANCE], 0.0, 0.0
    state[MOTION_T] = 1e9  # s; the first rest is a place of rest
    _aim(state, settings)


@internal
def heading_forget(state, anew):
    """What was measured so far was told in a frame that was not level: the next block begins anew.
    anew: with another reference."""
    for j in range(1, N):
        state[P + j], state[P + j * N] = 0.0, 0.0
    state[P], state[BESIDE_T] = ANY_HEADING, 0.0
    if anew:
        state[REFERENCE_T], state[OFF] = 0.0, 0.0


@internal
def _aim(state, settings):
    state[X] = wrapped(state[X])
    c, k = half_angle(state[X] * state[X])
    state[COS], state[SIN] = c, k * state[X]
    # a field further beside north than places are: it may as well be the heading that is wrong
    doubt = max(state[X + 4] * state[X + 4] - settings[PLACE_VARIANCE], 0.0)
    if state[UNSURE] != 0.0 and state[BESIDE_T] > 0.0:
        doubt += state[BESIDE] * state[BESIDE]
    state[SIGMA + 2] = math.sqrt(min(max(state[P], 0.0) + doubt, ANY_HEADING))


@internal
def heading_gap(state, settings, dt, rate2):
    """Time without samples: what the block had so far is dropped. The rate in between is not known: by
    chance it was another one, of the size of 1 rad/s or of the last reading. The variance of that turn."""
    state[BLOCK_T] = 0.0
    _clear_block(state)
    missed2 = min((1.0 + rate2) * dt * dt, ANY_HEADING)
    state[P] += missed2
    state[P + 24] += min(settings[WALK] * dt, ANY_HEADING)
    state[CANDIDATE_T], state[BESIDE_T] = 0.0, 0.0
    _aim(state, settings)
    return missed2


@internal
def heading_turned(state, settings, turn, is_measured):
    """A rest was none: the heading was turned too little by this angle, rad; what the field has made up of it is in
    delta and d."""
    if not is_measured:
        state[X] += turn
    state[P] += turn * turn
    state[P + 24] += turn * turn
    state[IRON] = settings[PLACE_VARIANCE]  # it may as well be the field that turned
    state[MOTION_T] += 2.0 * settings[REST_TIME]
    _aim(state, settings)


@internal
def _clear_block(state):
    for k in range(BLOCK_TURN, BLOCK_FIELD + 3):
        state[k] = 0.0


@internal
def heading_sample(state, settings, w, x, y, z, rate2, mx, my, mz, dt, at_rest):
    """One sample: attitude q_es = (w, x, y, z), squared turn rate ((rad/s)^2), field in s. True: a block is done."""
    state[BLOCK_UP] += 2.0 * (x * z - w * y) * dt
    state[BLOCK_UP + 1] += 2.0 * (y * z + w * x) * dt
    state[BLOCK_UP + 2] += (1.0 - 2.0 * (x * x + y * y)) * dt
    state[BLOCK_TURN] += rate2 * dt
    state[BLOCK_T] += dt
    if mx != 0.0 or my != 0.0 or mz != 0.0:
        ex, ey, ez = rotate(w, x, y, z, mx, my, mz)
        state[BLOCK_FIELD] += ex
        state[BLOCK_FIELD + 1] += ey
        state[BLOCK_FIELD + 2] += ez
        state[BLOCK_COUNT] += 1.0
        if state[AIMED] == 0.0:  # point there at once; the first block then does it properly
            state[AIMED] = 1.0
            state[X] = arc_tangent(ex, ey) - settings[DECLINATION]
            _aim(state, settings)
    if state[BLOCK_T] < settings[BLOCK_S] - 0.5 * dt:
        return False
    _predict(state, settings, at_rest)
    state[CERTAINTY] = 0.0
    if state[BLOCK_COUNT] > 0.0:
        _measure(state, settings)
    state[BLOCK_T] = 0.0
    _clear_block(state)
    _aim(state, settings)
    return True


@internal
def _keep(state, part, variance):
    """So much of d is kept, and the variance of what is new is added."""
    state[KEPT] = part
    state[X + 4] *= part
    for j in range(N):
        state[P + 4 * N + j] *= part
        state[P + j * N + 4] *= part
    state[P + 24] += variance


@internal
def _predict(state, settings, at_rest):
    """x to F x and P to F P F^T + Q over the block."""
    dt = state[BLOCK_T]
    ux, uy, uz = state[BLOCK_UP], state[BLOCK_UP + 1], state[BLOCK_UP + 2]
    state[KEPT] = 1.0
    state[P] += settings[TURN_NOISE] * state[BLOCK_TURN] + settings[GYR_NOISE] * dt
    if at_rest:
        ux, uy, uz = 0.0, 0.0, 0.0
        if state[MOTION_T] > 2.0 * settings[REST_TIME]:  # the verdict comes REST_TIME late; a touch is no motion
            _keep(state, 0.0, settings[REST_VARIANCE])
            # a heading that is less sure than places are cannot judge one
            state[SETTLING] = 1.0 if state[P] < settings[PLACE_VARIANCE] else 0.0
            state[BESIDE_T], state[IRON] = 0.0, 0.0
        state[MOTION_T] = 0.0
    else:
        state[MOTION_T] += dt
        state[SETTLING] = 0.0
        state[X] += ux * state[X + 1] + uy * state[X + 2] + uz * state[X + 3]
        for j in range(N):
            state[P + j] += ux * state[P + N + j] + uy * state[P + 2 * N + j] + uz * state[P + 3 * N + j]
        for j in range(N):
            at = P + j * N
            state[at] += ux * state[at + 1] + uy * state[at + 2] + uz * state[at + 3]
        for j in range(1, 4):
            state[P + j * N + j] += settings[DRIFT_VARIANCE] * dt / DRIFT_S
        back = settings[RETURN] * dt
        new = 2.0 * back * min(max(state[SPREAD], settings[REST_VARIANCE]), settings[PLACE_VARIANCE])
        if state[IRON] > settings[REST_VARIANCE]:
            leaves = min(dt / settings[TAU_REFERENCE], 0.5)
            back, new = back + leaves, new + 2.0 * leaves * state[IRON]
            state[IRON] *= 1.0 - 2.0 * leaves
        _keep(state, 1.0 - min(back, 1.0), new)
    state[MOVED], state[MOVED + 1], state[MOVED + 2] = ux, uy, uz


@internal
def _measure(state, settings):
    """Update by the mean field of the block, if it is near the reference."""
    k, dt = 1.0 / state[BLOCK_COUNT], state[BLOCK_T]
    ex, ey, ez = k * state[BLOCK_FIELD], k * state[BLOCK_FIELD + 1], k * state[BLOCK_FIELD + 2]
    level2 = ex * ex + ey * ey
    norm2 = level2 + ez * ez
    if not norm2 > 0.0:
        return
    is_new = judge_field(
        state, settings, math.sqrt(norm2), -arc_tangent(ez, math.sqrt(level2)), max(level2 / norm2, LEAST_LEVEL2)
    )
    if level2 < LEAST_LEVEL2 * norm2:
        state[OFF] = max(state[OFF], 1.0)
    if state[OFF] >= 1.0:
        state[BESIDE_T] = 0.0
        return
    growth = settings[NOISE_GROWTH] * state[OFF]
    variance = settings[NOISE] * (1.0 + growth * growth)
    seems = wrapped(arc_tangent(ex, ey) - settings[DECLINATION] - state[X])
    state[BESIDE_T] += dt
    k = min(max(dt / BESIDE_S, dt / state[BESIDE_T]), 1.0)
    state[BESIDE] = beside = wrapped(state[BESIDE] + k * wrapped(seems - state[BESIDE]))
    if state[BESIDE_T] >= BESIDE_S:
        if state[UNSURE] != 0.0:
            # a given heading is as much less sure as makes what is seen the likeliest
            place = settings[PLACE_VARIANCE] if state[MOTION_T] > 0.0 else settings[REST_VARIANCE]
            explained = settings[START_VARIANCE] + place + settings[NOISE] / BESIDE_S
            state[UNSURE], state[EXCESS], is_new = 0.0, max(beside * beside - explained, 0.0), False
            if state[EXCESS] > 0.0:
                _keep(state, 0.0, place)
                state[P] += state[EXCESS]
                state[BESIDE_T], state[SETTLING] = 0.0, 0.0
        # further than a place and the heading's variance explain: it is the heading that is wrong
        elif beside * beside > LOST * (settings[PLACE_VARIANCE] + state[P] + settings[NOISE] / BESIDE_S):
            is_new = True
    if is_new:
        _keep(state, 0.0, settings[PLACE_VARIANCE])
        state[P] += seems * seems
        state[BESIDE_T], state[SETTLING], state[IRON] = 0.0, 0.0, 0.0
    if state[SETTLING] != 0.0:
        if state[BESIDE_T] < BESIDE_S:
            return
        # the mean of the first seconds at once, as beside north as makes it the likeliest
        state[IRON], state[SETTLING] = max(beside * beside - state[P] - settings[REST_VARIANCE], 0.0), 0.0
        state[P + 24] += state[IRON]
        seems, dt = beside, BESIDE_S
    innovation = wrapped(seems - state[X + 4])
    for j in range(N):
        state[GAIN + j] = state[P + j] + state[P + 4 * N + j]
    certainty = 1.0 / (state[GAIN] + state[GAIN + 4] + variance / dt)
    for i in range(N):
        for j in range(i, N):  # both triangles from one product: P stays symmetric to the bit
            state[P + i * N + j] -= certainty * state[GAIN + i] * state[GAIN + j]
            state[P + j * N + i] = state[P + i * N + j]
    for j in range(N):
        state[GAIN + j] *= certainty
        state[X + j] += state[GAIN + j] * innovation
    state[SURPRISE], state[CERTAINTY] = innovation * certainty, certainty
