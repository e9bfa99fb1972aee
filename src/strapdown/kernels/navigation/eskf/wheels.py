"""Wheels that roll: the speed of the body along its axes, the travel of the odometer, and what the wheels show of slip
and rough ground.
"""

import math

from strapdown.kernels.jit import internal
from strapdown.kernels.navigation.dead_reckoning import rotate
from strapdown.kernels.navigation.eskf.layout import (
    COLUMNS,
    COVARIANCE,
    NIS,
    ODOMETER,
    ODOMETER_M,
    ODOMETER_S,
    PHI_N,
    REJECTED,
    ROUGH,
    S_ACC_Q,
    S_ACC_READ,
    S_ADAPTS,
    S_GATE_1,
    S_GYR_Q,
    S_GYR_READ,
    S_LEVER_VAR,
    S_ODO_R,
    S_ODO_SCALE,
    S_ODO_WINDOW_S,
    S_R_BS_B,
    S_R_SB,
    S_SLIP_VAR,
    SHAKE_A,
    SLIPPED,
    SLIPPERY,
    STEP_S,
    TRAVEL_M,
    TURNED_RAD,
    V_N,
    VELOCITY,
    H,
    N,
    Q,
)
from strapdown.kernels.navigation.eskf.shaking import SHAKES
from strapdown.kernels.navigation.eskf.updates import NOT_USED
from strapdown.kernels.navigation.eskf.zero_rates import unturned

LATELY_S = 10.0
CALMS_S = 30.0  # blows come again
BLOW_NIS = 100.0  # ten sigmas: what lies beyond shows no more
ROUGHEST = 1e4
CALMEST = 1e-3  # part of the variance of a vibration that is left as noise of a speed
SLIPS_S = 3.0  # of turning, within which wheels show whether they slip
LEAST_SLIP = 1e-2  # of the variance of the slip stated: wheels that hardly slip
SLIPS_RAD_S = 0.3  # a turn from which on wheels slip in full
WAITING_M_S2 = 0.15  # half of an acceleration of 0.3 m/s2: how far a mean speed is from the last one


@internal
def body_speed(x, s, d0, d1, d2, gyr):
    """Speed of the body's origin along d, frame b, and its derivatives by v_n and phi_n into H.

    v_b = R_bn v_n - w_b x r_bs_b; with R_true = exp(phi) R the derivative by phi is (d x v), frame n.
    """
    ax, ay, az = rotate(
        *(x[Q], x[Q + 1], x[Q + 2], x[Q + 3]),
        s[S_R_SB] * d0 + s[S_R_SB + 1] * d1 + s[S_R_SB + 2] * d2,
        s[S_R_SB + 3] * d0 + s[S_R_SB + 4] * d1 + s[S_R_SB + 5] * d2,
        s[S_R_SB + 6] * d0 + s[S_R_SB + 7] * d1 + s[S_R_SB + 8] * d2,
    )
    vx, vy, vz = x[VELOCITY], x[VELOCITY + 1], x[VELOCITY + 2]
    for i in range(N):
        x[H + i] = 0.0
    x[H + V_N], x[H + V_N + 1], x[H + V_N + 2] = ax, ay, az
    x[H + PHI_N] = ay * vz - az * vy
    x[H + PHI_N + 1] = az * vx - ax * vz
    x[H + PHI_N + 2] = ax * vy - ay * vx
    # expressed in b: w_b = R_bs w_s, so its number i is column i of R_sb times w_s
    w0, w1, w2 = unturned(x, gyr)
    wx = s[S_R_SB] * w0 + s[S_R_SB + 3] * w1 + s[S_R_SB + 6] * w2
    wy = s[S_R_SB + 1] * w0 + s[S_R_SB + 4] * w1 + s[S_R_SB + 7] * w2
    wz = s[S_R_SB + 2] * w0 + s[S_R_SB + 5] * w1 + s[S_R_SB + 8] * w2
    rx, ry, rz = s[S_R_BS_B], s[S_R_BS_B + 1], s[S_R_BS_B + 2]
    arm = d0 * (wy * rz - wz * ry) + d1 * (wz * rx - wx * rz) + d2 * (wx * ry - wy * rx)
    return ax * vx + ay * vy + az * vz - arm


@internal
def turn_rate(x, s, gyr, dt):
    """Rate (rad/s) beyond the noise of the gyroscope; at an unknown lever arm it moves the origin differently."""
    if s[S_LEVER_VAR] == 0.0 or dt <= 0.0:
        return 0.0
    w0, w1, w2 = unturned(x, gyr)
    noise2 = 9.0 * (s[S_GYR_READ] + s[S_GYR_Q] / dt)  # of three axes, three times as large as it usually is
    return math.sqrt(max(w0 * w0 + w1 * w1 + w2 * w2 - noise2, 0.0))


@internal
def wheel(x, s, travel_m, gyr, dt, stop):
    """Wheel travel over a window against the filter's own: ticks are too coarse for a speed per sample.

    A wheel that does not turn between stops may be between two ticks, or dead. The window waits for its next tick.
    After ten windows without a tick the wheel is no longer used, and this is reported where the filter shows that the
    vehicle moved.
    """
    speed = body_speed(x, s, 1.0, 0.0, 0.0, gyr)
    x[ODOMETER_M] += travel_m * s[S_ODO_SCALE]
    x[TRAVEL_M] += speed * dt
    x[ODOMETER_S] += dt
    x[TURNED_RAD] += turn_rate(x, s, gyr, dt) * dt
    window = x[ODOMETER_S]
    if window < s[S_ODO_WINDOW_S]:
        return NOT_USED
    by_lever = s[S_LEVER_VAR] * x[TURNED_RAD] * x[TURNED_RAD]
    if x[ODOMETER_M] == 0.0 and not stop:
        if window > 10.0 * s[S_ODO_WINDOW_S]:
            spread = s[S_ODO_R] + by_lever + window * window * speed_variance(x)
            away = x[TRAVEL_M] * x[TRAVEL_M] / spread if spread > 0.0 else 0.0
            if away > s[S_GATE_1]:  # a wheel that stands with its vehicle, as in a turn on the spot, is not dead
                x[NIS + ODOMETER] = away
                x[REJECTED] += float(1 << ODOMETER)
            x[TRAVEL_M] = x[ODOMETER_S] = x[TURNED_RAD] = 0.0
        return NOT_USED
    mean, e = x[ODOMETER_M] / window, (x[ODOMETER_M] - x[TRAVEL_M]) / window
    slips = mean * min(x[TURNED_RAD] / window / SLIPS_RAD_S, 1.0)
    x[ODOMETER_M] = x[TRAVEL_M] = x[ODOMETER_S] = x[TURNED_RAD] = 0.0
    # the error of the mean stands for that of now: while it waited for a tick the speed has changed
    changed = WAITING_M_S2 * (window - s[S_ODO_WINDOW_S])
    lever_var = by_lever / (window * window * min(window, 1.0))  # the same for as long as the turn lasts, as above
    if x[SLIPPERY] == 0.0:
        x[SLIPPERY] = s[S_SLIP_VAR]
    x[SLIPPED] = slips if s[S_SLIP_VAR] > 0.0 else 0.0
    slip_var = x[SLIPPERY] * slips * slips / min(window, 1.0)
    return True, mean, s[S_ODO_R] / (window * window) + changed * changed + lever_var + slip_var, e


@internal
def speed_variance(x):
    """Variance of the speed whose row body_speed() has written into H."""
    total = 0.0
    for i in range(V_N, PHI_N + 3):
        for j in range(V_N, PHI_N + 3):
            total += x[H + i] * x[H + j] * x[COVARIANCE + i * COLUMNS + j]
    return total


@internal
def follow_roughness(x, s, nis, shows):
    """For a machine whose speed changes differently from what its accelerometer reads, by shocks shorter than a sample.
    While the wheels show more than the stated variance, that of the accelerometer grows; it falls within LATELY_S after
    it. It may fall below that of the machine's vibration, never below the sensor's own.

    shows: the wheel is better known than the speed.
    """
    if s[S_ADAPTS] > 0.0:
        more = min(nis, BLOW_NIS) - (1.0 if x[ROUGH] < 1.0 else SHAKES)
        lasts_s = CALMS_S if more < 0.0 and x[ROUGH] > 1.0 else LATELY_S
        grown = x[ROUGH] * math.exp(more * s[S_ODO_WINDOW_S] / lasts_s)
        own = s[S_ACC_Q] / max(x[STEP_S], 1e-9) + s[S_ACC_READ]
        least = min(max(SHAKES * own / max(x[SHAKE_A], 1e-12), CALMEST), 1.0)
        if not shows:
            least = min(x[ROUGH], 1.0)
        x[ROUGH] = min(max(grown, least), ROUGHEST)


@internal
def follow_slip(x, s, left, spread):
    """The variance of the slip in turns follows what the wheels show. It changes within SLIPS_S of turning, up to what
    is stated: a turn shows its slip when it begins, before the speed follows the wheels.
    """
    if x[SLIPPED] == 0.0:
        return
    part = x[SLIPPERY] * x[SLIPPED] * x[SLIPPED]
    window = s[S_ODO_WINDOW_S]
    base = spread - part / min(window, 1.0) + part  # of one reading
    more = (min(left * left / base, BLOW_NIS) - 1.0) * part / base
    x[SLIPPERY] *= math.exp(more * window / SLIPS_S)
    x[SLIPPERY] = min(max(x[SLIPPERY], LEAST_SLIP * s[S_SLIP_VAR]), s[S_SLIP_VAR])
