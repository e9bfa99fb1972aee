"""Tests whether a rest is really one. A slow steady turn is as quiet as a rest, and its rate would be learned as the
gyroscope's bias.

The directions of force and field in s decide: at rest they are constant. A turn shows in the force, except for the part
about the vertical. The vertical part of a turn shows in the level part of the field. Each direction is low-passed and
compared with its value at an anchor. While neither has moved further than its limit, a quiet sensor is at rest. A
direction that has moved further is anchored again. The sensor counts as at rest only when the directions have stayed
for twice as long as they took to move. If this happened in a rest, and the gyroscope agrees that it was a turn, the
rest is rejected. The bias returns to its earlier value. The bias then learns from the mean reading less the measured
turn; its sigma is that of the limits.

Without a field a turn about the vertical cannot be distinguished from a bias. Then the bias remains uncertain after a
rest. The bias about the vertical may be wrong by all changes that rests have made, until the sensor rests with another
axis up.
"""

import math

from strapdown.kernels.jit import internal
from strapdown.kernels.orientation.lodestar.heading import LEAST_LEVEL2
from strapdown.kernels.orientation.lodestar.layout import END, NORTH_LIMIT, TILT_LIMIT
from strapdown.kernels.orientation.state import BIAS
from strapdown.kernels.orientation.vqf.inclination import (
    AT_REST,
    BIAS_CLIP,
    REST_GYR_Y,
    REST_T,
    REST_TIME,
    VARIANCE,
    learn_bias,
)

# sums since the last block
SUM_T, SUM_COUNT, SUM_FIELD = END, END + 1, END + 2  # s, readings of the magnetometer and their sum
# memory
FIELD = END + 5  # low-passed field in s
FIELD_T, FIELD_AGE = END + 8, END + 9  # s in it, at most FIELD_S, and s since its last reading
ANCHOR_FORCE, ANCHOR_FIELD = END + 10, END + 13  # directions in s; a field of zeros: none
ANCHOR_T = END + 16  # s since then
READ, USED = END + 17, END + 20  # rad, integrals of the low-passed rate and of the bias since then
BEFORE = END + 23  # bias, its variance (6) and the doubt before the rest
DOUBT = END + 35  # rad/s, what the bias may be off by unseen, in s
TURNED = END + 38  # rad, by which the heading was turned too little in a rest that was none
ANCHORED = END + 39  # 1: there is an anchor, 2: with a field
QUIET_T = END + 40  # s, REST_T after the last block
STILL_END = END + 41

FIELD_S = 1.0  # s, low-pass of the field, and the age at which it is gone
LONGEST_WAIT_S = 20.0  # until a quiet sensor is at rest again


@internal
def still_sample(state, mx, my, mz, dt):
    state[SUM_T] += dt
    if mx != 0.0 or my != 0.0 or mz != 0.0:
        state[SUM_FIELD] += mx
        state[SUM_FIELD + 1] += my
        state[SUM_FIELD + 2] += mz
        state[SUM_COUNT] += 1.0


@internal
def still_gap(state):
    """Time without samples: values before it are not compared with those after it."""
    state[ANCHORED], state[FIELD_T], state[SUM_T], state[SUM_COUNT] = 0.0, 0.0, 0.0, 0.0
    state[SUM_FIELD], state[SUM_FIELD + 1], state[SUM_FIELD + 2] = 0.0, 0.0, 0.0


@internal
def _anchor(state, fx, fy, fz):
    """Use the present directions as the anchor."""
    state[ANCHOR_FORCE], state[ANCHOR_FORCE + 1], state[ANCHOR_FORCE + 2] = fx, fy, fz
    seen = 1.0 if state[FIELD_T] >= FIELD_S else 0.0
    for i in range(3):
        state[ANCHOR_FIELD + i] = seen * state[FIELD + i]
        state[READ + i], state[USED + i] = 0.0, 0.0
    state[ANCHOR_T], state[ANCHORED] = 0.0, 1.0 + seen


@internal
def _turn_about(state, settings, ux, uy, uz, tx, ty, tz):
    """Returns (sine of the turn about u that the field shows since the anchor, 1). (0, 0) where it has no level part,
    (0, -1) where it is another field. t is the turn that the force shows.
    """
    ax, ay, az = state[ANCHOR_FIELD], state[ANCHOR_FIELD + 1], state[ANCHOR_FIELD + 2]
    mx, my, mz = state[FIELD], state[FIELD + 1], state[FIELD + 2]
    mx, my, mz = mx + ty * mz - tz * my, my + tz * mx - tx * mz, mz + tx * my - ty * mx
    a_up, m_up = ax * ux + ay * uy + az * uz, mx * ux + my * uy + mz * uz
    a2, m2 = ax * ax + ay * ay + az * az, mx * mx + my * my + mz * mz
    level_a2, level_m2 = a2 - a_up * a_up, m2 - m_up * m_up
    if not (level_a2 > LEAST_LEVEL2 * a2 and level_m2 > LEAST_LEVEL2 * m2 and state[FIELD_T] > 0.0):
        return 0.0, 0.0
    cross = ux * (my * az - mz * ay) + uy * (mz * ax - mx * az) + uz * (mx * ay - my * ax)
    level_a, level_m = math.sqrt(level_a2), math.sqrt(level_m2)
    sine = cross / (level_a * level_m)
    # a turn changes neither the level part of a field nor its part along the force; what changes them is iron
    other2 = (level_m - level_a) * (level_m - level_a) + (m_up - a_up) * (m_up - a_up)
    if other2 > level_a2 * max(0.1 * sine * sine, 0.25 * settings[NORTH_LIMIT] * settings[NORTH_LIMIT]):
        return 0.0, -1.0
    return sine, 1.0


@internal
def _learn_turning(state, settings, ux, uy, uz, tx, ty, tz, about_up, up_sigma):
    """Bias after a rest that was not one: the earlier value, then the mean reading less the measured turn."""
    for i in range(3):
        state[BIAS + i], state[DOUBT + i] = state[BEFORE + i], state[BEFORE + 9 + i]
    for i in range(6):
        state[VARIANCE + i] = state[BEFORE + 3 + i]
    over = 1.0 / state[ANCHOR_T]
    bx, by, bz = state[BIAS], state[BIAS + 1], state[BIAS + 2]
    ex = over * (state[READ] - tx - about_up * ux) - bx
    ey = over * (state[READ + 1] - ty - about_up * uy) - by
    ez = over * (state[READ + 2] - tz - about_up * uz) - bz
    # level axes: across u and the axis of s that is the furthest from it
    if abs(uz) < 0.6:
        k = 1.0 / math.sqrt(ux * ux + uy * uy)
        ax, ay, az = k * uy, -k * ux, 0.0
    else:
        k = 1.0 / math.sqrt(uy * uy + uz * uz)
        ax, ay, az = 0.0, k * uz, -k * uy
    level2, up2 = 0.5 * over * settings[TILT_LIMIT], over * up_sigma
    level2, up2 = level2 * level2, up2 * up2
    dx, dy, dz = learn_bias(state, 0.0, 0.0, 0.0, ax, ay, az, level2, ax * ex + ay * ey + az * ez)
    ax, ay, az = uy * az - uz * ay, uz * ax - ux * az, ux * ay - uy * ax
    dx, dy, dz = learn_bias(state, dx, dy, dz, ax, ay, az, level2, ax * ex + ay * ey + az * ez)
    dx, dy, dz = learn_bias(state, dx, dy, dz, ux, uy, uz, up2, ux * ex + uy * ey + uz * ez)
    clip = settings[BIAS_CLIP]
    state[BIAS] = min(max(bx + dx, -clip), clip)
    state[BIAS + 1] = min(max(by + dy, -clip), clip)
    state[BIAS + 2] = min(max(bz + dz, -clip), clip)
    state[TURNED] = 0.0
    for i in range(3):
        u = ux if i == 0 else uy if i == 1 else uz
        state[TURNED] += u * (state[USED + i] - state[BIAS + i] * state[ANCHOR_T])


@internal
def still_block(state, settings):
    """After a block and its samples: time (s) since which the rest is known to be none, 0 where it may be one."""
    dt = state[SUM_T]
    state[SUM_T] = 0.0
    if state[REST_T] < state[QUIET_T] + 0.5 * dt:  # it moved: what the field was then is not remembered
        state[FIELD_T] = 0.0
    state[FIELD_AGE] += dt
    if state[FIELD_AGE] > FIELD_S:
        state[FIELD_T] = 0.0
    if state[SUM_COUNT] > 0.0:
        state[FIELD_T] = min(state[FIELD_T] + min(state[FIELD_AGE], FIELD_S), FIELD_S)
        k = min(state[FIELD_AGE] / state[FIELD_T], 1.0)
        for i in range(3):
            state[FIELD + i] += k * (state[SUM_FIELD + i] / state[SUM_COUNT] - state[FIELD + i])
            state[SUM_FIELD + i] = 0.0
        state[FIELD_AGE], state[SUM_COUNT] = 0.0, 0.0
    state[QUIET_T] = state[REST_T]
    at_rest = state[AT_REST] != 0.0
    if not at_rest:  # the bias as it is known without this rest
        for i in range(3):
            state[BEFORE + i], state[BEFORE + 9 + i] = state[BIAS + i], state[DOUBT + i]
        for i in range(6):
            state[BEFORE + 3 + i] = state[VARIANCE + i]
    fx, fy, fz = state[REST_GYR_Y + 3], state[REST_GYR_Y + 4], state[REST_GYR_Y + 5]
    force2 = fx * fx + fy * fy + fz * fz
    if state[REST_T] == 0.0 or not force2 > 0.0:  # shaken
        state[ANCHORED] = 0.0
        return 0.0
    k = 1.0 / math.sqrt(force2)
    fx, fy, fz = k * fx, k * fy, k * fz
    if state[ANCHORED] == 0.0 or (state[FIELD_T] >= FIELD_S and state[ANCHORED] < 2.0):
        _anchor(state, fx, fy, fz)
        return 0.0
    state[ANCHOR_T] += dt
    for i in range(3):
        state[READ + i] += state[REST_GYR_Y + i] * dt
        state[USED + i] += state[BIAS + i] * dt
    ux, uy, uz = state[ANCHOR_FORCE], state[ANCHOR_FORCE + 1], state[ANCHOR_FORCE + 2]
    tx, ty, tz = fy * uz - fz * uy, fz * ux - fx * uz, fx * uy - fy * ux
    tilt = math.sqrt(tx * tx + ty * ty + tz * tz)
    about_up, sees_up = _turn_about(state, settings, ux, uy, uz, tx, ty, tz)
    if at_rest:
        # the force shows that the level axes do not turn; about the vertical the rest may be a turn
        changed = 0.0
        for i in range(3):
            changed += state[ANCHOR_FORCE + i] * (state[BEFORE + 9 + i] + state[BIAS + i] - state[BEFORE + i])
        for i in range(3):
            state[DOUBT + i] = changed * state[ANCHOR_FORCE + i]
    if tilt <= settings[TILT_LIMIT] and abs(about_up) <= settings[NORTH_LIMIT]:
        if sees_up < 0.0:
            _anchor(state, fx, fy, fz)
        return 0.0
    sees_up = max(sees_up, 0.0)
    moved_t, none = state[ANCHOR_T], 0.0
    if at_rest:
        # does the gyroscope, less its bias before the rest, agree that it was a turn?
        ex = state[READ] - state[BEFORE] * moved_t - tx
        ey = state[READ + 1] - state[BEFORE + 1] * moved_t - ty
        ez = state[READ + 2] - state[BEFORE + 2] * moved_t - tz
        e_up = ux * ex + uy * ey + uz * ez
        e_level2 = ex * ex + ey * ey + ez * ez - e_up * e_up
        e_up = sees_up * (e_up - about_up)
        known = 3.0 * moved_t * math.sqrt((state[BEFORE + 3] + state[BEFORE + 6] + state[BEFORE + 8]) / 3.0)
        level, up = known + settings[TILT_LIMIT], known + settings[NORTH_LIMIT]
        if e_level2 <= level * level and abs(e_up) <= up:
            # unseen, a turn about the vertical is of the size of the turn seen
            _learn_turning(
                state, settings, ux, uy, uz, tx, ty, tz, about_up, 0.5 * settings[NORTH_LIMIT] if sees_up else tilt
            )
            none, state[AT_REST] = moved_t, 0.0
    if state[AT_REST] == 0.0:
        state[REST_T] = min(state[REST_T], settings[REST_TIME] - min(2.0 * moved_t, LONGEST_WAIT_S))
        state[QUIET_T] = state[REST_T]
    _anchor(state, fx, fy, fz)
    return none
