"""A flat floor as a measurement of height and vertical speed, until the vehicle is on a slope."""

from strapdown.kernels.jit import internal
from strapdown.kernels.navigation.dead_reckoning import rotate
from strapdown.kernels.navigation.eskf.layout import (
    CLIMB_M,
    COLUMNS,
    COVARIANCE,
    FLOOR_M,
    LEVEL,
    P_N,
    PHI_N,
    PITCHED_M,
    POSITION,
    S_FLOOR_P_R,
    S_FLOOR_SLOPE_VAR,
    S_FLOOR_TILT,
    S_FLOOR_V_R,
    S_R_SB,
    SLOPES,
    TILTED_S,
    V_N,
    VELOCITY,
    Q,
)
from strapdown.kernels.navigation.eskf.updates import NOT_USED, only

OFF_THE_FLOOR_S = 1.0  # of slopes; a kerb tilts for less
SLOPES_RAD, SLOPES_SIGMAS = 0.01, 3.0  # 1 %: a floor that was laid flat, and a body that accelerates, pitch by less


@internal
def floor(x, s, stop, dt):
    """A flat floor: at a stop the height is that of the start, between stops nothing moves up or down. A vehicle on a
    slope shows it by its own tilt, body z against up, or by a pitch that is not that of the start. After
    OFF_THE_FLOOR_S of slopes it is on another floor. A small pitch at the start may be a slope or an error of the
    mounting. The share of this pitch that is slope is considered, and acts on the height by the climb of such a slope.
    Only that of the start: noise of the later pitch would count as slopes that come and go.
    """
    variance = s[S_FLOOR_P_R] if stop else s[S_FLOOR_V_R]
    ax, ay, az = rotate(x[Q], x[Q + 1], x[Q + 2], x[Q + 3], s[S_R_SB], s[S_R_SB + 3], s[S_R_SB + 6])
    forward = ax * x[VELOCITY] + ay * x[VELOCITY + 1] + az * x[VELOCITY + 2]
    rise, climbs = x[SLOPES] * forward, (az - x[LEVEL]) * forward
    if not stop:
        x[CLIMB_M] += rise * dt
        x[PITCHED_M] += climbs * dt
    if variance < 0.0 or x[TILTED_S] > OFF_THE_FLOOR_S:
        return NOT_USED
    _, _, up = rotate(x[Q], x[Q + 1], x[Q + 2], x[Q + 3], s[S_R_SB + 2], s[S_R_SB + 5], s[S_R_SB + 8])
    away2, variance_of_it = pitched(x, ax, ay, az)
    pitches = away2 > SLOPES_RAD**2 + SLOPES_SIGMAS**2 * variance_of_it
    if not up > s[S_FLOOR_TILT] or (s[S_FLOOR_SLOPE_VAR] > 0.0 and pitches):
        x[TILTED_S] += 0.0 if stop else dt
        if x[TILTED_S] > OFF_THE_FLOOR_S:  # it has climbed while the floor still held it down
            x[COVARIANCE + (P_N + 2) * (COLUMNS + 1)] += x[PITCHED_M] * x[PITCHED_M]
            x[COVARIANCE + (V_N + 2) * (COLUMNS + 1)] += climbs * climbs
        return NOT_USED
    if not stop:  # a body that rocks is as long on one side of its pitch as on the other
        x[TILTED_S] = max(x[TILTED_S] - dt, 0.0)
    only(x, P_N + 2 if stop else V_N + 2)
    if stop:
        return True, -x[CLIMB_M], variance, x[FLOOR_M] - x[POSITION + 2]
    # a pitch below what is seen as a slope may be one, the same for a second, as far as it is no error of the pitch
    seen2 = max(away2 - variance_of_it, 0.0) * forward * forward
    variance += s[S_FLOOR_SLOPE_VAR] * seen2 / max(min(dt, 1.0), 1e-9)
    return True, -rise, variance, -x[VELOCITY + 2]


@internal
def pitched(x, ax, ay, az):
    """Square of the difference between the body's pitch and that of the start, and its variance.

    ax, ay, az: body x in n.
    """
    i, j = COVARIANCE + PHI_N * (COLUMNS + 1), COVARIANCE + (PHI_N + 1) * (COLUMNS + 1)
    return (az - x[LEVEL]) ** 2, ay * ay * x[i] - 2.0 * ax * ay * x[i + 1] + ax * ax * x[j]
