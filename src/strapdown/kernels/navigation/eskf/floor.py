"""A flat floor as a measurement of height and vertical speed, until the vehicle is on a slope."""

from strapdown.kernels.jit import internal
from strapdown.kernels.navigation.dead_reckoning import rotate
from strapdown.kernels.navigation.eskf.layout import (
    CLIMB_M,
    CLIMBED_M,
    COLUMNS,
    COVARIANCE,
    FLOOR_M,
    LEVEL,
    P_N,
    PHI_N,
    PITCHED2_M,
    PITCHED_M,
    POSITION,
    ROLLED_M,
    S_FLOOR_LENGTH,
    S_FLOOR_MOUNTING_VAR,
    S_FLOOR_P_R,
    S_FLOOR_SLOPE_VAR,
    S_FLOOR_TILT,
    S_FLOOR_V_R,
    S_R_SB,
    SLOPES,
    TILTED_S,
    V_N,
    VELOCITY,
    WAY_M,
    Q,
)
from strapdown.kernels.navigation.eskf.updates import NOT_USED, only

NEAR = 0.5  # of the length over which a floor is uneven: heights so near to each other are one measurement
LENGTHS = 5.0  # of the floor, over which the mean pitch is that of the mounting, or of a slope that stays
OFF_THE_FLOOR_S = 1.0  # of slopes; a kerb tilts for less
LEFT_S = 1e9  # the time on slopes of a body that has left its floor for good
MOUNTING_RAD = 0.02  # 1 deg: sigma of the pitch of a sensor that was aligned with its vehicle by eye
SLOPES_RAD, SLOPES_SIGMAS = 0.01, 3.0  # 1 %: a floor that was laid flat, and a body that accelerates, pitch by less


@internal
def floor(x, s, stop, dt):
    """A flat floor: all places are as high as the start, within its unevenness, and nothing moves up or down but by it.

    An uneven floor is a wave along the way, with the length S_FLOOR_LENGTH. Its height is a new one after this length,
    not after a sample or a stop. So heights are measured by the way between them, and a stop is one of them. Its slope
    is the same for half the length: that long a vertical speed lasts. With a length of 0 every sample of a stop is
    another height, and a vertical speed is that of one sample.

    A vehicle on a slope shows it by its own tilt, body z against up, or by a pitch that is not the usual one. After
    OFF_THE_FLOOR_S of slopes, if it has climbed more than the floor is uneven, it is on another floor. A small usual
    pitch may be a slope or an error of the mounting. The share of this pitch that is slope is considered, and acts on
    the height by the climb of such a slope.
    """
    length = s[S_FLOOR_LENGTH]
    ax, ay, az = rotate(x[Q], x[Q + 1], x[Q + 2], x[Q + 3], s[S_R_SB], s[S_R_SB + 3], s[S_R_SB + 6])
    forward = ax * x[VELOCITY] + ay * x[VELOCITY + 1] + az * x[VELOCITY + 2]
    rise, climbs = x[SLOPES] * forward, (az - x[LEVEL]) * forward
    if not stop:
        x[CLIMB_M] += rise * dt
        x[PITCHED_M] += climbs * dt
        x[ROLLED_M] += abs(forward) * dt
        x[WAY_M] += abs(forward) * dt
        x[PITCHED2_M] += abs(climbs * (az - x[LEVEL])) * dt
    high = stop if length == 0.0 else x[ROLLED_M] > (0.0 if stop else NEAR * length)
    variance = s[S_FLOOR_P_R] if high else s[S_FLOOR_V_R]
    if variance < 0.0 or x[TILTED_S] >= LEFT_S:
        return NOT_USED
    _, _, up = rotate(x[Q], x[Q + 1], x[Q + 2], x[Q + 3], s[S_R_SB + 2], s[S_R_SB + 5], s[S_R_SB + 8])
    away2, variance_of_it = pitched(x, ax, ay, az)
    tilted = not up > s[S_FLOOR_TILT]
    pitches = s[S_FLOOR_SLOPE_VAR] > 0.0 and away2 > SLOPES_RAD**2 + SLOPES_SIGMAS**2 * variance_of_it
    if tilted or pitches:
        if not stop:
            x[TILTED_S] += dt
            x[CLIMBED_M] += climbs * dt
        climbed = x[CLIMBED_M] * x[CLIMBED_M] > SLOPES_SIGMAS**2 * s[S_FLOOR_P_R]
        if x[TILTED_S] > OFF_THE_FLOOR_S and (tilted or climbed):  # it has climbed while the floor still held it down
            x[TILTED_S] = LEFT_S
            x[COVARIANCE + (P_N + 2) * (COLUMNS + 1)] += x[PITCHED_M] * x[PITCHED_M]
            x[COVARIANCE + (V_N + 2) * (COLUMNS + 1)] += climbs * climbs
        if tilted or x[TILTED_S] >= LEFT_S:
            return NOT_USED
    elif not stop:  # a body that rocks is as long on one side of its pitch as on the other
        x[TILTED_S] = max(x[TILTED_S] - dt, 0.0)
        back = SLOPES_RAD * abs(forward) * dt
        x[CLIMBED_M] -= min(max(x[CLIMBED_M], -back), back)
        if length > 0.0:
            follow_level(x, az, abs(forward) * dt / length, variance_of_it + s[S_FLOOR_MOUNTING_VAR])
    if stop and not high:
        return NOT_USED
    only(x, P_N + 2 if high else V_N + 2)
    if high:
        if length > 0.0:
            variance *= length / x[ROLLED_M]
            x[ROLLED_M] = 0.0
        return True, -x[CLIMB_M], variance, x[FLOOR_M] - x[POSITION + 2]
    # a pitch below what is seen as a slope may be one, the same for a second, as far as it is no error of the pitch
    slope2, lasts = s[S_FLOOR_SLOPE_VAR] * max(away2 - variance_of_it, 0.0) * forward * forward, 1.0
    if length > 0.0 and s[S_FLOOR_P_R] > 0.0:
        lasts = 0.5 * length / max(abs(forward), 0.5 * length)
        slope2 = max(slope2, 2.0 * s[S_FLOOR_P_R] * (forward / length) ** 2)
        if x[COVARIANCE + (V_N + 2) * (COLUMNS + 1)] > variance + slope2:
            # the speed is never beyond the slope. A filter less sure of it takes it at every sample; what it adds to
            # the height while it lasts is noise of the height
            x[COVARIANCE + (P_N + 2) * (COLUMNS + 1)] += slope2 * max(lasts - dt, 0.0) * dt
            lasts = dt
    variance += slope2 * lasts / max(min(dt, lasts), 1e-9)
    return True, -rise, variance, -x[VELOCITY + 2]


@internal
def follow_level(x, az, lengths, variance):
    """The usual pitch is the mean over LENGTHS, from that of the start on. The part of it that is not an error of the
    tilt and the mounting, whose variance is given, may be a slope.
    """
    x[LEVEL] += (az - x[LEVEL]) * min(lengths / LENGTHS, 1.0)
    level2 = x[LEVEL] * x[LEVEL]
    x[SLOPES] = x[LEVEL] * (1.0 - variance / level2) if level2 > variance else 0.0


@internal
def along_ground(x, s):
    """Without a flat floor a vehicle moves along the ground under its wheels. The pitch of its body against the ground
    is that of the mounting. The pitch of the start is mounting and slope, by their variances: MOUNTING_RAD, and the
    slopes that were driven since. Where no floor was ever flat, it is slope. What remains uncertain of the mounting
    acts as white noise that grows with the way, so that the height is known to this pitch times the way.

    Returns the pitch of the mounting, the variance of the speed by what is uncertain of it, and how long it has driven.
    """
    ax, ay, az = rotate(x[Q], x[Q + 1], x[Q + 2], x[Q + 3], s[S_R_SB], s[S_R_SB + 3], s[S_R_SB + 6])
    forward = ax * x[VELOCITY] + ay * x[VELOCITY + 1] + az * x[VELOCITY + 2]
    slope = 1.0
    if s[S_FLOOR_V_R] >= 0.0:
        slope = x[PITCHED2_M] / max(x[PITCHED2_M] + MOUNTING_RAD**2 * x[WAY_M], 1e-12)
    return (1.0 - slope) * x[LEVEL], MOUNTING_RAD**2 * slope * forward * forward, x[WAY_M] / max(abs(forward), 1e-9)


@internal
def pitched(x, ax, ay, az):
    """Square of the difference between the body's pitch and the usual one, and its variance.

    ax, ay, az: body x in n.
    """
    i, j = COVARIANCE + PHI_N * (COLUMNS + 1), COVARIANCE + (PHI_N + 1) * (COLUMNS + 1)
    return (az - x[LEVEL]) ** 2, ay * ay * x[i] - 2.0 * ax * ay * x[i + 1] + ax * ax * x[j]
