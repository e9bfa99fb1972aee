"""Fixes that come late: compared with the filter's position or velocity at their own instant.

From the instant to now, age s, the integral of the specific force is F = v(now) - v(then) + g age. Errors of tilt and
of the accelerometer's bias act through F: dv(then) = dv(now) + F x phi + age R dba - w. w is the integral of the
accelerometer's noise. The noise w is a part of dv(now) and not of the fix. So P h and the variance of the innovation
are less by its variance. Other measurements of position or velocity have used some of that noise. Noise before the last
of them is not subtracted, so that the covariance stays positive.

Velocities of the last seconds are kept from the first late fix on. A correction by a measurement now is applied to them
too, so that all of them belong to one estimate.
"""

from strapdown.kernels.jit import internal, not_constant
from strapdown.kernels.navigation.eskf.layout import (
    ACC_BIAS,
    DX,
    FIX,
    P_N,
    PAST,
    PAST_COUNT,
    PAST_FREE_S,
    PAST_NEWEST,
    PAST_NOW_S,
    PAST_ROWS,
    PAST_WIDTH,
    PHI_N,
    S_ACC_Q,
    S_GATE_3,
    S_GRAVITY,
    S_PAST_STEP_S,
    STEP_S,
    V_N,
    VELOCITY,
    WORK,
    H,
    N,
    Q,
)
from strapdown.kernels.navigation.eskf.predict import matrix
from strapdown.kernels.navigation.eskf.updates import spread_of, take, told


@internal
def keep_velocity(x, s):
    """After a sample: add its velocity to the stored ones, if the last one is old enough."""
    count, newest = int(x[PAST_COUNT]), int(x[PAST_NEWEST])
    if count > 0 and x[PAST_NOW_S] - x[PAST + PAST_WIDTH * newest] < s[S_PAST_STEP_S]:
        return
    newest = (newest + 1) % PAST_ROWS
    at = PAST + PAST_WIDTH * newest
    x[at], x[at + 1], x[at + 2], x[at + 3] = x[PAST_NOW_S], x[VELOCITY], x[VELOCITY + 1], x[VELOCITY + 2]
    x[PAST_NEWEST], x[PAST_COUNT] = float(newest), float(min(count + 1, PAST_ROWS))


@internal
def velocity_before(x, age):
    """Whether the velocity of age s before is known, and its value: linear between two stored ones."""
    when, after = x[PAST_NOW_S] - age, x[PAST_NOW_S]
    vx, vy, vz = x[VELOCITY], x[VELOCITY + 1], x[VELOCITY + 2]
    newest = int(x[PAST_NEWEST])
    for back in range(int(x[PAST_COUNT])):
        at = PAST + PAST_WIDTH * ((newest - back + PAST_ROWS) % PAST_ROWS)
        ux, uy, uz = x[at + 1], x[at + 2], x[at + 3]
        if x[at] <= when:
            part = (when - x[at]) / max(after - x[at], 1e-9)
            return True, (ux + part * (vx - ux), uy + part * (vy - uy), uz + part * (vz - uz))
        after, vx, vy, vz = x[at], ux, uy, uz
    return False, (vx, vy, vz)


@internal
def correct_past(x, s):
    """Apply the correction gathered in DX to the stored velocities."""
    r = matrix(x[Q], x[Q + 1], x[Q + 2], x[Q + 3])
    px, py, pz = x[DX + PHI_N], x[DX + PHI_N + 1], x[DX + PHI_N + 2]
    bx, by, bz = x[DX + ACC_BIAS], x[DX + ACC_BIAS + 1], x[DX + ACC_BIAS + 2]
    for k in range(int(x[PAST_COUNT])):  # the places in use are the first ones, or all
        at = PAST + PAST_WIDTH * ((int(x[PAST_NEWEST]) - k + PAST_ROWS) % PAST_ROWS)
        age = x[PAST_NOW_S] - x[at]
        fx, fy = x[VELOCITY] - x[at + 1], x[VELOCITY + 1] - x[at + 2]
        fz = x[VELOCITY + 2] - x[at + 3] + s[S_GRAVITY] * age
        x[at + 1] += x[DX + V_N] + fy * pz - fz * py + age * (r[0] * bx + r[1] * by + r[2] * bz)
        x[at + 2] += x[DX + V_N + 1] + fz * px - fx * pz + age * (r[3] * bx + r[4] * by + r[5] * bz)
        x[at + 3] += x[DX + V_N + 2] + fx * py - fy * px + age * (r[6] * bx + r[7] * by + r[8] * bz)


@internal
def late_update(x, s, kind, age, e, then, variance, tape, taped):
    """The update by a fix of age s before, with the innovation e.

    then: velocity of the filter at that instant.

    A position fix measures p_n - age v_n. Apply the gate to each axis separately, then the update.
    """
    r = matrix(x[Q], x[Q + 1], x[Q + 2], x[Q + 3])
    f = (x[VELOCITY] - then[0], x[VELOCITY + 1] - then[1], x[VELOCITY + 2] - then[2] + s[S_GRAVITY] * age)
    free = 0.0 if kind == FIX else min(age, x[PAST_FREE_S])
    nis = 0.0
    for take_it in range(2):
        for i in range(3):
            for j in range(N):
                x[H + j] = 0.0
            if kind == FIX:
                x[H + P_N + i], x[H + V_N + i] = 1.0, -age
            else:
                j, k = (i + 1) % 3, (i + 2) % 3
                x[H + V_N + i], x[H + PHI_N + k], x[H + PHI_N + j] = 1.0, f[j], -f[k]
                x[H + ACC_BIAS] = age * r[3 * i]
                x[H + ACC_BIAS + 1] = age * r[3 * i + 1]
                x[H + ACC_BIAS + 2] = age * r[3 * i + 2]
            spread, left = spread_of(x, not_constant(0), 0.0, 0.0, variance[i], e[i])
            part = s[S_ACC_Q] * free
            spread -= part
            if take_it == 1:
                x[WORK + V_N + i] -= part
                x[WORK + P_N + i] -= 0.5 * max(free - x[STEP_S], 0.0) * part  # a step's noise moves p in the next
                take(x, spread, left, tape, taped)
            nis += left * left / spread
        if take_it == 0 and not told(x, kind, nis, s[S_GATE_3]):
            return
    if kind == FIX:
        x[PAST_FREE_S] = 0.0
