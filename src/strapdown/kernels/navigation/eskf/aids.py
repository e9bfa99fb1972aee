"""Measurements of the error-state filter besides rate and force.

Each aid of one number writes its row into H. The aid returns whether it is to be used, the derivative by its considered
parameter, the variance and the innovation. All kinds are in one loop: a call from one place is compiled once.
"""

import math

from strapdown.kernels.jit import internal, not_constant
from strapdown.kernels.navigation.dead_reckoning import rotate, turned
from strapdown.kernels.navigation.eskf.late import late_update, velocity_before
from strapdown.kernels.navigation.eskf.layout import (
    AGE_OF_FIX,
    BIAS_G,
    BIAS_M,
    BLOCK_S,
    CLIMB_M,
    COLUMNS,
    COVARIANCE,
    DIP,
    FIELD,
    FIRST_VAR,
    FIX,
    FLOOR,
    FLOOR_M,
    FLOOR_SLOPE,
    GYR_BIAS,
    HEADING,
    HEIGHT,
    IN_STOP_S,
    INSISTED,
    LAST_TURN,
    LEVEL,
    MAG_BIAS,
    NIS,
    ODOMETER,
    ODOMETER_M,
    ODOMETER_S,
    ODOMETER_SCALE,
    P_N,
    PAST_COUNT,
    PAST_FREE_S,
    PHI_N,
    PITCHED2_M,
    PITCHED_M,
    POSITION,
    REFUSED_S,
    REJECTED,
    ROUGH,
    S_ACC_Q,
    S_ACC_READ,
    S_ADAPTS,
    S_DECLINATION,
    S_DIP,
    S_DIP_TOL,
    S_FIELD,
    S_FIELD_TOL,
    S_FLOOR_P_R,
    S_FLOOR_SLOPE_VAR,
    S_FLOOR_TILT,
    S_FLOOR_V_R,
    S_GAP_ACC_Q,
    S_GATE_1,
    S_GATE_3,
    S_GYR_BIAS_Q,
    S_GYR_Q,
    S_GYR_READ,
    S_HUBER_2,
    S_INSIST_S,
    S_LEVER_VAR,
    S_LINEAR_3,
    S_MAG_R,
    S_ODO_R,
    S_ODO_SCALE,
    S_ODO_SCALE_VAR,
    S_ODO_WINDOW_S,
    S_R_BS_B,
    S_R_SB,
    S_SIDE_R,
    S_SLIP_VAR,
    S_TURN_3,
    S_TURN_SHARE,
    S_UP_R,
    S_ZARU_R,
    S_ZUPT_ARM2,
    S_ZUPT_R,
    SEEN_FIX,
    SEEN_HEIGHT,
    SEEN_MAG,
    SEEN_ODOMETER,
    SEEN_STOP,
    SEEN_VELOCITY,
    SHAKE_A,
    SHAKE_G,
    SIDEWAYS,
    SIGMA_OF_FIX,
    SINCE_STOP_S,
    SLIPPED,
    SLIPPERY,
    SLOPES,
    STEP_S,
    STOP_BIAS,
    STOP_DT2,
    STOP_INFO,
    STOP_SUM,
    STOP_TURN,
    STOP_VAR,
    TILTED_S,
    TRAVEL_M,
    TURNED_RAD,
    TURNS,
    UNKNOWN_DIP,
    UPWARD,
    USED,
    V_N,
    VELOCITY,
    VELOCITY_FIX,
    WAY_M,
    WIDER,
    X_FIX,
    X_HEIGHT,
    X_HEIGHT_SIGMA,
    X_TRAVEL,
    X_VELOCITY,
    ZARU,
    ZUPT,
    H,
    N,
    Q,
)
from strapdown.kernels.navigation.eskf.predict import SHAKES, matrix, shaken
from strapdown.kernels.navigation.eskf.updates import (
    nis_of_three,
    spread_of,
    stands_row,
    take,
    take_unit,
    told,
)

NOT_USED = (False, 0.0, 0.0, 0.0)
BLOCK_OF_STOP_S = 0.5
UNSEEN_RAD_S = 1e-3  # 0.06 deg/s: however little is known of the bias, a faster turn of the ground is not expected
LATELY_S, MOST_WIDER, ROUGHEST = 10.0, 1e4, 1e4
CALMS_S = 30.0  # blows come again
BLOW_NIS = 100.0  # ten sigmas: what lies beyond shows no more
OPENED = 1e12  # of the variance of a stop: a prior as wide as this is as good as none, and loses no digits
OFF_THE_FLOOR_S = 1.0  # of slopes; a kerb tilts for less
SLOPES_RAD, SLOPES_SIGMAS = 0.01, 3.0  # 1 %: a floor that was laid flat, and a body that accelerates, pitch by less
CALMEST = 1e-3  # part of the variance of a vibration that is left as noise of a speed
SLIPS_S = 3.0  # of turning, within which wheels show whether they slip
LEAST_SLIP = 1e-2  # of the variance of the slip stated: wheels that hardly slip
LIGHT = 9.0  # of the NIS at which a weight begins to fall: it is then below a third
MOUNTING_RAD = 0.02  # 1 deg: sigma of the pitch of a sensor that was aligned with its vehicle by eye
SLIPS_RAD_S = 0.3  # a turn from which on wheels slip in full
WAITING_M_S2 = 0.15  # half of an acceleration of 0.3 m/s2: how far a mean speed is from the last one


@internal
def looks_still(x, s, gyr, dt):
    """Whether the rate is that of a body that does not turn: the gate of the zero rate, before the prediction."""
    v = still_variance(x, s, dt)
    return nis_of_three(x, not_constant(GYR_BIAS), (v, v, v), unturned(x, gyr)) <= s[S_GATE_3]


@internal
def still_variance(x, s, dt):
    """Variance of a rate read at rest: white noise at the usual step, which a lost sample does not lower, and counts.
    Where the vibration of the machine is larger, it is used instead.
    """
    return s[S_ZARU_R] + shaken(s[S_GYR_READ] + s[S_GYR_Q] / max(min(dt, x[STEP_S]), 1e-9), x[SHAKE_G])


@internal
def unturned(x, gyr):
    return gyr[0] - x[BIAS_G], gyr[1] - x[BIAS_G + 1], gyr[2] - x[BIAS_G + 2]


@internal
def vectors(x, s, seen, gyr, extra, dt, still, tape, taped):
    """Measurements of three numbers: no turn, no velocity, a known position, a known velocity."""
    stop = seen & SEEN_STOP != 0
    for kind in (ZARU, ZUPT, FIX, VELOCITY_FIX):
        v = 0.0
        if kind == ZARU:
            use, k, e = False, GYR_BIAS, (0.0, 0.0, 0.0)
            if s[S_ZARU_R] >= 0.0:
                zero_rates(x, s, stop, gyr, dt, tape, taped)
        elif kind == ZUPT:
            use, k, e = stop and s[S_ZUPT_R] >= 0.0, V_N, (-x[VELOCITY], -x[VELOCITY + 1], -x[VELOCITY + 2])
            v = s[S_ZUPT_R]
            if use and s[S_ZUPT_ARM2] > 0.0:  # a sole that rolls moves the sensor above it
                w0, w1, w2 = unturned(x, gyr)
                v += s[S_ZUPT_ARM2] * (w0 * w0 + w1 * w1 + w2 * w2)
        else:
            use = seen & (SEEN_FIX if kind == FIX else SEEN_VELOCITY) != 0
            k, e = P_N if kind == FIX else V_N, (0.0, 0.0, 0.0)
        variance = (v, v, v)
        if use and kind in (FIX, VELOCITY_FIX):
            place = X_FIX if kind == FIX else X_VELOCITY
            e, variance = fix_of(x, extra, place, POSITION if kind == FIX else VELOCITY)
            age = extra[place + AGE_OF_FIX]
            if age > 0.0:
                vx, vy, vz = x[VELOCITY], x[VELOCITY + 1], x[VELOCITY + 2]
                then = (vx, vy, vz)
                known = kind == FIX
                if known:
                    e = (e[0] + age * vx, e[1] + age * vy, e[2] + age * vz)
                else:
                    x[PAST_COUNT] = max(x[PAST_COUNT], 0.0)  # from now on velocities are kept
                    known, then = velocity_before(x, age)
                    if known:
                        e = (e[0] + vx - then[0], e[1] + vy - then[1], e[2] + vz - then[2])
                if known:
                    late_update(x, s, kind, age, e, then, variance, tape, taped)
                    use = False
                else:  # by its age the velocity may have changed as over a gap
                    v = s[S_GAP_ACC_Q] * age * age
                    variance = (variance[0] + v, variance[1] + v, variance[2] + v)
        if use:
            taken = told(x, kind, nis_of_three(x, k, variance, e), s[S_GATE_3])
            if kind == ZUPT:
                taken = taken or insist(x, s, e, dt, still)
                x[REFUSED_S] = 0.0 if taken else x[REFUSED_S] + dt
                x[SINCE_STOP_S] = 0.0 if taken else x[SINCE_STOP_S]
            if taken:
                x[PAST_FREE_S] = 0.0
                for i in range(3):
                    if kind == ZUPT and x[NIS + ZUPT] <= s[S_LINEAR_3]:
                        stands_row(x, i)
                        spread, left = spread_of(x, not_constant(0), 0.0, 0.0, v, e[i])
                        take(x, spread, left, tape, taped)
                    else:
                        take_unit(x, k + i, variance[i], e[i], tape, taped)


@internal
def zero_rates(x, s, stop, gyr, dt, tape, taped):
    """A stop in blocks of BLOCK_OF_STOP_S. A turn that continues through the stop passes the gate of every sample. So
    the mean rate of the whole stop is tested against the bias before it. A stop that turns is no zero rate: the bias
    stays as before, and the turn so far is added to the attitude. Otherwise each block measures the bias, by its part
    of the information of a mean over the stop with one unseen turn in it. Ground that turns may do so equally in every
    stop. Where an equal turn fits, the turn of the last stop is subtracted; the stop then shows how the bias has
    changed."""
    if not stop:
        if x[IN_STOP_S] > 0.0 and s[S_TURN_SHARE] > 0.0:
            for j in range(3):
                x[LAST_TURN + j] = x[STOP_TURN + j] / x[IN_STOP_S] - x[BIAS_G + j]
            if s[S_ADAPTS] > 0.0:
                _, _, _, _, _, _, u0, u1, u2 = matrix(x[Q], x[Q + 1], x[Q + 2], x[Q + 3])
                about = x[LAST_TURN] * u0 + x[LAST_TURN + 1] * u1 + x[LAST_TURN + 2] * u2
                x[LAST_TURN], x[LAST_TURN + 1], x[LAST_TURN + 2] = about * u0, about * u1, about * u2
        x[IN_STOP_S] = x[TURNS] = 0.0
        return
    if dt <= 0.0:
        return
    if x[IN_STOP_S] == 0.0:
        for j in range(3):
            x[STOP_BIAS + j] = x[BIAS_G + j]
            x[STOP_VAR + j] = x[COVARIANCE + (GYR_BIAS + j) * (COLUMNS + 1)]
            if x[FIRST_VAR + j] == 0.0:
                x[FIRST_VAR + j] = min(x[STOP_VAR + j], UNSEEN_RAD_S**2)
            x[STOP_TURN + j] = x[STOP_INFO + j] = x[STOP_SUM + j] = 0.0
        x[BLOCK_S] = x[STOP_DT2] = 0.0
    x[IN_STOP_S] += dt
    x[STOP_DT2] += dt * dt
    x[BLOCK_S] += dt
    for j in range(3):
        x[STOP_TURN + j] += gyr[j] * dt
    if x[TURNS] > 0.0 or x[BLOCK_S] < BLOCK_OF_STOP_S * (1.0 - 1e-9):
        return
    x[BLOCK_S] = 0.0
    time_s = x[IN_STOP_S]
    v = still_variance(x, s, dt) * x[STOP_DT2] / (time_s * time_s) + rounded(s[S_GYR_READ], s[S_GYR_Q], x[STEP_S])
    away = 0.0
    for j in range(3):
        off = x[STOP_TURN + j] / time_s - x[STOP_BIAS + j]
        away += off * off / (x[STOP_VAR + j] + s[S_GYR_BIAS_Q] * time_s + v)
    if not told(x, ZARU, away, s[S_TURN_3]):
        turns(x, time_s)
        return
    nis = 0.0
    _, _, _, _, _, _, u0, u1, u2 = matrix(x[Q], x[Q + 1], x[Q + 2], x[Q + 3])
    for j in range(3):
        mean = x[STOP_TURN + j] / time_s
        unseen = s[S_TURN_SHARE] * x[FIRST_VAR + j]
        if s[S_ADAPTS] > 0.0:  # ground turns about the vertical
            up = u0 if j == 0 else (u1 if j == 1 else u2)
            unseen *= up * up
        info = 1.0 / (v + unseen)
        more, total = info - x[STOP_INFO + j], info * mean
        known = x[COVARIANCE + (GYR_BIAS + j) * (COLUMNS + 1)] * (1.0 + s[S_TURN_SHARE]) <= unseen
        if more > 1e-9 * info and not known:
            off = (total - x[STOP_SUM + j]) / more - x[BIAS_G + j]
            if abs(off - x[LAST_TURN + j]) < abs(off):
                off -= x[LAST_TURN + j]
            nis += off * off / (x[COVARIANCE + (GYR_BIAS + j) * (COLUMNS + 1)] + 1.0 / more)
            take_unit(x, not_constant(GYR_BIAS) + j, 1.0 / more, off, tape, taped)
            x[STOP_INFO + j], x[STOP_SUM + j] = info, total
    x[NIS + ZARU] = nis


def rounded_in_python(read, white, step_s):
    """Variance of the error that counts leave in a mean of equal readings, however many. For a count d and noise of
    sigma s the error is d / pi exp(-2 pi^2 s^2 / d^2) times a sine of the value.

    read: d^2 / 12.
    """
    if read == 0.0 or step_s <= 0.0:
        return 0.0
    count2 = 12.0 * read
    return count2 / (2.0 * math.pi**2) * math.exp(-4.0 * math.pi**2 * white / (step_s * count2))


rounded = internal(rounded_in_python)


@internal
def turns(x, time_s):
    """This stop turns, and has done so from its beginning."""
    x[TURNS] = 1.0
    for j in range(3):
        x[BIAS_G + j] = x[STOP_BIAS + j]
        at = COVARIANCE + (GYR_BIAS + j) * (COLUMNS + 1)
        x[at] = max(x[at], x[STOP_VAR + j])  # as before the zero rates of this stop
        x[COVARIANCE + (PHI_N + j) * (COLUMNS + 1)] += x[STOP_VAR + j] * time_s * time_s
    tx, ty, tz = (
        x[STOP_TURN] - time_s * x[STOP_BIAS],
        x[STOP_TURN + 1] - time_s * x[STOP_BIAS + 1],
        x[STOP_TURN + 2] - time_s * x[STOP_BIAS + 2],
    )
    x[Q], x[Q + 1], x[Q + 2], x[Q + 3] = turned(x[Q], x[Q + 1], x[Q + 2], x[Q + 3], tx, ty, tz)


@internal
def fix_of(x, extra, place, state):
    """Innovation and variances of a fix of position or velocity."""
    at = place + SIGMA_OF_FIX
    e = (extra[place] - x[state], extra[place + 1] - x[state + 1], extra[place + 2] - x[state + 2])
    return e, (extra[at] ** 2, extra[at + 1] ** 2, extra[at + 2] ** 2)


@internal
def insist(x, s, e, dt, still):
    """Stops are rejected for long although the body does not turn. Then the velocity is wrong, and its variance is
    increased to the measured error. The variance of the position is increased by the effect of such a velocity since
    the last stop.
    """
    if not still or x[REFUSED_S] + dt <= s[S_INSIST_S]:
        return False
    wrong = e[0] * e[0] + e[1] * e[1] + e[2] * e[2]
    for i in range(3):
        v = V_N + i
        for j in range(COLUMNS):  # what it went with is as wrong as it: nothing is learned of it by this stop
            x[COVARIANCE + v * COLUMNS + j] = 0.0
        for j in range(N):
            x[COVARIANCE + j * COLUMNS + v] = 0.0
        x[COVARIANCE + v * (COLUMNS + 1)] = min(wrong, OPENED * s[S_ZUPT_R])
        x[COVARIANCE + (P_N + i) * (COLUMNS + 1)] += wrong * x[SINCE_STOP_S] * x[SINCE_STOP_S]
    x[REJECTED] -= float(1 << ZUPT)
    x[USED] += float(1 << ZUPT) + float(1 << INSISTED)
    return True


@internal
def numbers(x, s, seen, gyr, mag, extra, dt, tape, taped):
    """Measurements of one number each."""
    stop = seen & SEEN_STOP != 0
    for kind in (FLOOR, SIDEWAYS, UPWARD, ODOMETER, HEADING, HEIGHT):
        use, h_consider, variance, e = NOT_USED
        ground = 0.0
        if kind == FLOOR:
            use, h_consider, variance, e = floor(x, s, stop, dt)
        elif kind in (SIDEWAYS, UPWARD):
            on_ground = (
                kind == UPWARD
                and s[S_FLOOR_SLOPE_VAR] > 0.0
                and (s[S_FLOOR_V_R] < 0.0 or x[TILTED_S] > OFF_THE_FLOOR_S)
            )
            variance = s[S_SIDE_R] if kind == SIDEWAYS or on_ground else s[S_UP_R]
            use = variance >= 0.0 and not stop
            if use:  # wheels roll: the body's origin moves neither to the side nor off its floor
                mounting = 0.0
                if on_ground:
                    mounting, ground, lasts_s = along_ground(x, s)
                    variance += 2.0 * ground * lasts_s / max(dt, 1e-9)
                e = -body_speed(x, s, mounting, 1.0 if kind == SIDEWAYS else 0.0, 0.0 if kind == SIDEWAYS else 1.0, gyr)
                turn = turn_rate(x, s, gyr, dt)
                # it stays the same while the turn lasts: as white noise it counts as often as it is measured in 1 s
                variance += s[S_LEVER_VAR] * turn * turn / max(min(dt, 1.0), 1e-9)
        elif kind == ODOMETER:
            if seen & SEEN_ODOMETER != 0 and s[S_ODO_R] >= 0.0 and dt > 0.0:
                use, h_consider, variance, e = wheel(x, s, extra[X_TRAVEL], gyr, dt, stop)
        elif kind == HEADING:
            dead = mag[0] == 0.0 and mag[1] == 0.0 and mag[2] == 0.0  # some modules give zeros for no reading
            if seen & SEEN_MAG != 0 and s[S_MAG_R] >= 0.0 and not dead:
                use, h_consider, variance, e = heading(x, s, mag)
        elif seen & SEEN_HEIGHT != 0:
            only(x, not_constant(P_N + 2))
            use, variance, e = True, extra[X_HEIGHT_SIGMA] ** 2, extra[X_HEIGHT] - x[POSITION + 2]
        if use:
            considered = FLOOR_SLOPE if kind == FLOOR else ODOMETER_SCALE
            of_it = s[S_FLOOR_SLOPE_VAR] if kind == FLOOR else s[S_ODO_SCALE_VAR]
            spread, left = spread_of(x, considered, h_consider if of_it > 0.0 else 0.0, of_it, variance, e)
            if spread - variance < ground:  # the filter knows better how fast it climbs
                continue
            robust = s[S_HUBER_2] > 0.0 and kind in (FLOOR, SIDEWAYS, UPWARD, ODOMETER)
            nis = left * left / spread
            if robust and kind == ODOMETER:
                follow_roughness(x, s, nis, variance < 0.5 * spread)
                follow_slip(x, s, left, spread)
            elif robust:  # a floor that waves, or wheels that slide, are as good as they have lately shown to be
                x[WIDER + kind] += min(dt / LATELY_S, 1.0) * (min(nis, MOST_WIDER) - x[WIDER + kind])
                spread *= max(x[WIDER + kind], 1.0)
                nis = left * left / spread
            if robust and nis > s[S_HUBER_2]:  # Huber: its pull does not grow further, and never ends
                spread *= math.sqrt(nis / s[S_HUBER_2])
            if told(x, kind, nis, LIGHT * s[S_HUBER_2] if robust else s[S_GATE_1]) or robust:
                take(x, spread, left, tape, taped)
                if kind != HEADING:
                    x[PAST_FREE_S] = 0.0


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


@internal
def only(x, k):
    for i in range(N):
        x[H + i] = 0.0
    x[H + k] = 1.0


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
        x[WAY_M] += abs(forward) * dt
        x[PITCHED2_M] += abs(climbs * (az - x[LEVEL])) * dt
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
def heading(x, s, mag):
    """Azimuth of the horizontal field, clockwise from north, against the declination. A field without the Earth's
    strength and dip is not used. The magnetic heading must not change the tilt. Where the tilt is wrong, the azimuth is
    wrong by its part across the field times the tangent of the dip. This is taken as noise.
    """
    mx, my, mz = rotate(x[Q], x[Q + 1], x[Q + 2], x[Q + 3], mag[0], mag[1], mag[2])
    flat2 = mx * mx + my * my
    good = flat2 > 0.0
    known = s[S_FIELD] if s[S_FIELD] > 0.0 else x[FIELD]
    known_dip = s[S_DIP] if s[S_DIP] < UNKNOWN_DIP else x[DIP]
    if good and known > 0.0 and known_dip < UNKNOWN_DIP:
        strength, dip = math.sqrt(flat2 + mz * mz), math.atan2(-mz, math.sqrt(flat2))
        good = abs(strength - known) <= s[S_FIELD_TOL] * known and abs(dip - known_dip) <= s[S_DIP_TOL]
    if not good:
        x[NIS + HEADING] = 0.0
        x[REJECTED] += float(1 << HEADING)
        return NOT_USED
    e = math.atan2(mx, my) - s[S_DECLINATION] - x[BIAS_M]
    e -= 2.0 * math.pi * math.floor(e / (2.0 * math.pi) + 0.5)
    only(x, not_constant(MAG_BIAS))
    x[H + PHI_N + 2] = 1.0
    tilt = x[COVARIANCE + PHI_N * (COLUMNS + 1)] + x[COVARIANCE + (PHI_N + 1) * (COLUMNS + 1)]
    return True, 0.0, s[S_MAG_R] + tilt * mz * mz / flat2, e
