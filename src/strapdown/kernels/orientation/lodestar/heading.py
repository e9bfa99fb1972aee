"""Heading on top of an inclination: a Kalman filter of 14 states, one step for each block of about 0.1 s.

Frame e is level and turns slowly against n: q_ns is q_es turned about the vertical by the first state.

    x = (delta, b_x, b_y, b_z, M_xx, M_xy, ... M_zz, d)
    delta   rad     heading of e in n
    b       rad/s   error of the gyroscope's bias in motion, frame s; at rest it is known and has no effect
    M       1       error of the gyroscope's matrix, its scales and axes, frame s
    d       rad     angle of the magnetic field from north at the place of the sensor

In motion delta' = up_s . (b + M w) + white noise, with the turn rate w. b' and d' + d / tau are white noise, M' = 0.
            d stays within the difference between places. Where norm and dip of the field are steady in motion, which
            iron would change as well, it stays within less (lodestar_field.py).
At rest nothing changes except for the gyroscope's noise: a long rest in a disturbed place shows no more than a short
            one. d is drawn again on coming to rest after a motion, with its own sigma: places of rest are as good as
            that. The field of such a place may point further from the heading, in the mean of its first 2 s. Its sigma
            is then increased until that is the most likely. The place is then abandoned: d returns within TAU_REFERENCE
            of motion.
Measured: heading of the mean field of the block = delta + d + noise. The noise grows with the distance of norm and dip
            from a reference. Beyond a limit the reading is rejected. A field may stay the same while the sensor turns,
            for 20 s or for longer than the reference was seen. Such a field then becomes the reference (after Laidig
            and Seel 2023). The old one then was of another place. d is drawn again as at the start, and the heading may
            be wrong by as much as it now seems to be. The heading is also determined again where the field points far
            from it for seconds: a turn was missed, or the start was wrong. The first good seconds of field may point
            further from a given heading than expected. The variance of a given heading then grows until they are most
            likely.

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
    BLOCK_MATRIX,
    BLOCK_S,
    BLOCK_T,
    BLOCK_TURN,
    BLOCK_UP,
    CANDIDATE_T,
    CERTAINTY,
    COS,
    DRIFT_VARIANCE,
    DRIFTS,
    EXCESS,
    GAIN,
    GYR_NOISE,
    IRON,
    KEPT,
    LOST_T,
    MATRIX_VARIANCE,
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
    SPREAD_T,
    START_VARIANCE,
    SURPRISE,
    TAU_REFERENCE,
    UNSURE,
    WALK,
    D,
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
DRIFT_S = 900.0  # s of motion in which b walks by its sigma: by a quarter of it in a minute
LOST = 9.0  # its largest square over its variance, three sigmas: beyond, the heading is wrong and not the field
LEAST_LEVEL2 = 0.0076  # squared part of the field that is level: within 5 deg of the vertical it has no north


@internal
def wrapped(angle):
    """The same angle in [-pi, pi]."""
    return angle - 2.0 * math.pi * math.floor(angle / (2.0 * math.pi) + 0.5)


@internal
def heading_begin(state, settings, will_measure):
    """Set the state before the first sample. A heading that will never be measured is taken as exact at the start."""
    for k in range(N * N):
        state[P + k] = 0.0
    state[P] = ANY_HEADING if will_measure else 0.0
    if state[STARTED] != 0.0:
        state[P], state[AIMED] = settings[START_VARIANCE] + state[EXCESS], 1.0
        state[UNSURE] = 1.0 if will_measure and state[EXCESS] == 0.0 else 0.0
    for k in range(1, 4):
        state[P + k * N + k] = settings[DRIFT_VARIANCE]
    for k in range(4, DRIFTS + 1):
        state[P + k * N + k] = settings[MATRIX_VARIANCE]
    state[P + N * N - 1] = settings[PLACE_VARIANCE]
    state[SPREAD], state[SPREAD_T], state[SETTLING], state[IRON] = settings[PLACE_VARIANCE], 0.0, 0.0, 0.0
    state[MOTION_T] = 1e9  # s; the first rest is a place of rest
    _aim(state, settings)


@internal
def heading_forget(state, anew):
    """The measurements so far were in a frame that was not level: the next block begins again.

    anew: whether with another reference.
    """
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
    # a field further from north than places are: it may as well be the heading that is wrong
    doubt = max(state[X + D] * state[X + D] - settings[PLACE_VARIANCE], 0.0)
    if state[UNSURE] != 0.0 and state[BESIDE_T] > 0.0:
        doubt += state[BESIDE] * state[BESIDE]
    state[SIGMA + 2] = math.sqrt(min(max(state[P], 0.0) + doubt, ANY_HEADING))


@internal
def heading_gap(state, settings, dt, rate2):
    """Time without samples: the unfinished block is dropped. The rate in between is unknown. The rate is taken as
    random, of the size of 1 rad/s or of the last reading. Returns the variance of that turn.
    """
    state[BLOCK_T] = 0.0
    _clear_block(state)
    missed2 = min((1.0 + rate2) * dt * dt, ANY_HEADING)
    state[P] += missed2
    state[P + N * N - 1] += min(settings[WALK] * dt, ANY_HEADING)
    state[CANDIDATE_T], state[BESIDE_T] = 0.0, 0.0
    _aim(state, settings)
    return missed2


@internal
def heading_turned(state, settings, turn, is_measured):
    """A rest was none: the heading was turned too little by this angle, rad. The part that the field has corrected is
    in delta and d.
    """
    if not is_measured:
        state[X] += turn
    state[P] += turn * turn
    state[P + N * N - 1] += turn * turn
    state[IRON] = settings[PLACE_VARIANCE]  # it may as well be the field that turned
    state[MOTION_T] += 2.0 * settings[REST_TIME]
    _aim(state, settings)


@internal
def _clear_block(state):
    for k in range(BLOCK_TURN, BLOCK_FIELD + 3):
        state[k] = 0.0


@internal
def heading_sample(state, settings, w, x, y, z, gx, gy, gz, mx, my, mz, dt, at_rest):
    """Process a sample: attitude q_es = (w, x, y, z), turn rate (rad/s) and field in s. Returns True if a block is
    done.
    """
    ux, uy, uz = 2.0 * (x * z - w * y) * dt, 2.0 * (y * z + w * x) * dt, (1.0 - 2.0 * (x * x + y * y)) * dt
    state[BLOCK_UP] += ux
    state[BLOCK_UP + 1] += uy
    state[BLOCK_UP + 2] += uz
    state[BLOCK_MATRIX] += ux * gx
    state[BLOCK_MATRIX + 1] += ux * gy
    state[BLOCK_MATRIX + 2] += ux * gz
    state[BLOCK_MATRIX + 3] += uy * gx
    state[BLOCK_MATRIX + 4] += uy * gy
    state[BLOCK_MATRIX + 5] += uy * gz
    state[BLOCK_MATRIX + 6] += uz * gx
    state[BLOCK_MATRIX + 7] += uz * gy
    state[BLOCK_MATRIX + 8] += uz * gz
    state[BLOCK_TURN] += (gx * gx + gy * gy + gz * gz) * dt
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
    """Keep this share of d, and add the variance of the new part."""
    state[KEPT] = part
    state[X + D] *= part
    for j in range(N):
        state[P + D * N + j] *= part
        state[P + j * N + D] *= part
    state[P + N * N - 1] += variance


@internal
def _predict(state, settings, at_rest):
    """x to F x and P to F P F^T + Q over the block."""
    dt = state[BLOCK_T]
    state[KEPT] = 1.0
    state[P] += settings[GYR_NOISE] * dt
    for j in range(DRIFTS):
        state[MOVED + j] = 0.0 if at_rest else state[BLOCK_UP + j]
    if at_rest:
        if state[MOTION_T] > 2.0 * settings[REST_TIME]:  # the verdict comes REST_TIME late; a touch is no motion
            _keep(state, 0.0, settings[REST_VARIANCE])
            # a heading that is less sure than places are cannot judge one
            state[SETTLING] = 1.0 if state[P] < settings[PLACE_VARIANCE] else 0.0
            state[BESIDE_T], state[IRON] = 0.0, 0.0
        state[MOTION_T] = 0.0
    else:
        state[MOTION_T] += dt
        state[SETTLING] = 0.0
        for k in range(DRIFTS):
            state[X] += state[MOVED + k] * state[X + 1 + k]
        for j in range(N):
            for k in range(DRIFTS):
                state[P + j] += state[MOVED + k] * state[P + (1 + k) * N + j]
        for j in range(N):
            for k in range(DRIFTS):
                state[P + j * N] += state[MOVED + k] * state[P + j * N + 1 + k]
        for j in range(1, 4):
            state[P + j * N + j] += settings[DRIFT_VARIANCE] * dt / DRIFT_S
        back = settings[RETURN] * dt
        new = 2.0 * back * min(max(state[SPREAD], settings[REST_VARIANCE]), settings[PLACE_VARIANCE])
        if state[IRON] > settings[REST_VARIANCE]:
            leaves = min(dt / settings[TAU_REFERENCE], 0.5)
            back, new = back + leaves, new + 2.0 * leaves * state[IRON]
            state[IRON] *= 1.0 - 2.0 * leaves
        _keep(state, 1.0 - min(back, 1.0), new)


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
        # further than a place and the heading's variance explain: the heading is wrong, unless the sensor has just come
        # to rest with a heading that was right: then the place is
        else:
            explained = settings[PLACE_VARIANCE] + state[IRON] + state[P] + settings[NOISE] / BESIDE_S
            is_lost = beside * beside > LOST * explained and state[SETTLING] == 0.0
            state[LOST_T] = state[LOST_T] + dt if is_lost else 0.0
            is_new = is_new or state[LOST_T] > settings[REST_TIME] + BESIDE_S  # a rest would be known by then
    if is_new:
        _keep(state, 0.0, settings[PLACE_VARIANCE])
        state[P] += seems * seems
        state[BESIDE_T], state[SETTLING], state[IRON], state[LOST_T] = 0.0, 0.0, 0.0, 0.0
    if state[SETTLING] != 0.0:
        if state[BESIDE_T] < BESIDE_S:
            return
        # the mean of the first seconds at once, as far from north as makes it the most likely
        state[IRON], state[SETTLING] = max(beside * beside - state[P] - settings[REST_VARIANCE], 0.0), 0.0
        state[P + N * N - 1] += state[IRON]
        seems, dt = beside, BESIDE_S
    innovation = wrapped(seems - state[X + D])
    for j in range(N):
        state[GAIN + j] = state[P + j] + state[P + D * N + j]
    certainty = 1.0 / (state[GAIN] + state[GAIN + D] + variance / dt)
    for i in range(N):
        for j in range(i, N):  # both triangles from one product: P stays symmetric to the bit
            state[P + i * N + j] -= certainty * state[GAIN + i] * state[GAIN + j]
            state[P + j * N + i] = state[P + i * N + j]
    for j in range(N):
        state[GAIN + j] *= certainty
        state[X + j] += state[GAIN + j] * innovation
    state[SURPRISE], state[CERTAINTY] = innovation * certainty, certainty
