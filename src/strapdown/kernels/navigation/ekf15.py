"""Paper C's filter, one sample at a time: a stop that is believed resets it, any other sample is one EKF cycle.

Frame n is ours; the body frame is the paper's, x right, y forward, z up. C = Rz(-heading) Rx(pitch) Ry(roll), body to
n.

x: a pointer to the state, s: to the settings; their places are those of ekf15_layout.py.
"""

import math

from numba import njit

from strapdown.kernels.jit import internal, offset, pointer
from strapdown.kernels.navigation.ekf15_covariance import angle_jacobians, predict, update
from strapdown.kernels.navigation.ekf15_layout import (
    BELIEVED,
    BODY_TO_N,
    COVARIANCE,
    FIELD_ROWS,
    FIELD_SUM,
    FORCE,
    FORCE_BY,
    FORCE_SUM,
    GAP,
    HEADING,
    INNOVATION,
    MAGNETIC,
    NIS,
    NOT_UPDATED,
    PITCH,
    RATE,
    RATE_BIAS,
    REFUSED,
    ROLL,
    S_ACC_Q,
    S_ANGLE_Q,
    S_DECLINATION,
    S_FORCE_VAR,
    S_GAP_ACC_Q,
    S_GAP_RATE_Q,
    S_GAP_S,
    S_GRAVITY,
    S_HEADING_VAR,
    S_HEADING_VAR_0,
    S_N,
    S_PRINTED_CASES,
    S_PRINTED_COVARIANCE,
    S_PRINTED_INNOVATION,
    S_PRINTED_RATE,
    S_PRINTED_RESET,
    S_R_PS,
    S_RATE_Q,
    S_RATE_VAR,
    S_REST_BIAS,
    S_STOP_FORCE,
    S_STOP_RATE,
    S_TILT_VAR,
    SAID,
    SEEN_FIELD,
    SEEN_STOP,
    SKIP,
    STARTED,
    STOP_ROWS,
    UPDATED,
    VARIANCE,
    X_SIZE,
    A,
    N,
    V,
    W,
)


@internal
def wrapped(angle):
    """The same angle in (-pi, pi]."""
    if -math.pi < angle <= math.pi:
        return angle
    turned = math.pi - (math.pi - angle) % (2.0 * math.pi)
    return math.pi if turned == -math.pi else turned


@internal
def magnetic_heading(hx, hy, hz, roll, pitch, printed):
    """Heading by the magnetometer, clockwise from magnetic north.

    printed: use the paper's cases, which lack south (hx = 0, hy < 0).
    """
    sr, cr, sp, cp = math.sin(roll), math.cos(roll), math.sin(pitch), math.cos(pitch)
    x = hx * cr + hz * sr
    y = hy * cp + hx * sr * sp - hz * cr * sp
    if not printed:
        return math.atan2(-x, y)
    if y > 0.0:
        return -math.atan(x / y)
    if y == 0.0 and x != 0.0:
        return math.copysign(0.5 * math.pi, -x)
    if y < 0.0 and x < 0.0:
        return math.pi - math.atan(x / y)
    if y < 0.0 and x > 0.0:
        return -math.pi - math.atan(x / y)
    return 0.0


@internal
def body_to_n(x):
    """C of the state's angles, by rows, into BODY_TO_N."""
    sr, cr, sp, cp = math.sin(x[ROLL]), math.cos(x[ROLL]), math.sin(x[PITCH]), math.cos(x[PITCH])
    sh, ch = math.sin(x[HEADING]), math.cos(x[HEADING])
    c = BODY_TO_N
    x[c], x[c + 1], x[c + 2] = ch * cr + sh * sp * sr, sh * cp, ch * sr - sh * sp * cr
    x[c + 3], x[c + 4], x[c + 5] = -sh * cr + ch * sp * sr, ch * cp, -sh * sr - ch * sp * cr
    x[c + 6], x[c + 7], x[c + 8] = -cp * sr, sp, cp * cr


@internal
def turn(x, dt):
    """Angles after C exp(Omega dt); BODY_TO_N: C before."""
    rx, ry, rz = x[W] * dt, x[W + 1] * dt, x[W + 2] * dt
    angle2 = rx * rx + ry * ry + rz * rz
    if angle2 < 1e-8:  # next terms: angle^4 / 120 and / 720 < 1e-18, below one ulp
        a, b = 1.0 - angle2 / 6.0, 0.5 - angle2 / 24.0
    else:
        angle = math.sqrt(angle2)
        a, b = math.sin(angle) / angle, (1.0 - math.cos(angle)) / angle2
    c = BODY_TO_N
    # the columns of exp(Omega); the angles need C[2, :] and C[:, 1] of the product
    e01, e11, e21 = b * rx * ry - a * rz, 1.0 - b * (rx * rx + rz * rz), b * ry * rz + a * rx
    e00, e10, e20 = 1.0 - b * (ry * ry + rz * rz), b * rx * ry + a * rz, b * rx * rz - a * ry
    e02, e12, e22 = b * rx * rz + a * ry, b * ry * rz - a * rx, 1.0 - b * (rx * rx + ry * ry)
    x[HEADING] = math.atan2(
        x[c] * e01 + x[c + 1] * e11 + x[c + 2] * e21, x[c + 3] * e01 + x[c + 4] * e11 + x[c + 5] * e21
    )
    c += 6
    x[ROLL] = math.atan2(-(x[c] * e00 + x[c + 1] * e10 + x[c + 2] * e20), x[c] * e02 + x[c + 1] * e12 + x[c + 2] * e22)
    x[PITCH] = math.asin(max(-1.0, min(1.0, x[c] * e01 + x[c + 1] * e11 + x[c + 2] * e21)))


@internal
def over_step(x, s, dt):
    """Constant acceleration and rate over dt; attitude through the direction cosine matrix."""
    roll, heading, pitch = x[ROLL], x[HEADING], x[PITCH]
    body_to_n(x)
    printed = s[S_PRINTED_RATE] != 0.0
    angle_jacobians(x, roll, pitch, not printed)
    for i in range(3):
        x[i] += dt * x[V + i] + 0.5 * dt * dt * x[A + i]
        x[V + i] += dt * x[A + i]
    rate = x[W] * math.sin(roll) - x[W + 2] * math.cos(roll)
    turn(x, dt)
    if printed:
        x[HEADING] = wrapped(heading + dt * rate)
    predict(x, int(s[S_N]), dt, s[S_ACC_Q] * dt, s[S_RATE_Q] * dt, s[S_ANGLE_Q] * dt)


@internal
def over_gap(x, s, dt):
    """After a long time without readings: acceleration and rates are unknown, and their variances become large."""
    for i in range(3):
        x[i] += dt * x[V + i]
        x[A + i] = x[W + i] = 0.0
    for j in range(N):  # cov <- F cov F' with p += dt v
        for i in range(3):
            x[COVARIANCE + N * i + j] += dt * x[COVARIANCE + N * (V + i) + j]
    for i in range(N):
        for j in range(3):
            x[COVARIANCE + N * i + j] += dt * x[COVARIANCE + N * i + V + j]
    for k in range(A, W + 3):
        forget(x, k)
    for i in range(3):
        x[COVARIANCE + (N + 1) * i] += s[S_GAP_ACC_Q] * dt * dt * dt / 3.0
        x[COVARIANCE + (N + 1) * (V + i)] += s[S_GAP_ACC_Q] * dt
        x[COVARIANCE + (N + 1) * (A + i)] = s[S_GAP_ACC_Q]
        x[COVARIANCE + (N + 1) * (W + i)] = s[S_GAP_RATE_Q]
        x[COVARIANCE + (N + 1) * (ROLL + i)] += s[S_GAP_RATE_Q] * dt


@internal
def forget(x, k):
    """Set the variance of state k and its covariances with the others to 0."""
    for j in range(N):
        x[COVARIANCE + N * k + j] = x[COVARIANCE + N * j + k] = 0.0


@internal
def reset(x, s, has_field):
    """The paper's zero-velocity update, from the averages of the stop so far."""
    x[STOP_ROWS] += 1.0
    for i in range(3):
        x[FORCE_SUM + i] += x[FORCE + i]
        x[V + i] = x[A + i] = x[W + i] = 0.0
    fx, fy, fz = x[FORCE_SUM], x[FORCE_SUM + 1], x[FORCE_SUM + 2]
    x[PITCH] = math.atan2(fy, math.sqrt(fx * fx + fz * fz))
    x[ROLL] = math.atan2(-fx, fz)
    if has_field:
        x[FIELD_ROWS] += 1.0
        for i in range(3):
            x[FIELD_SUM + i] += x[MAGNETIC + i]
    known = x[FIELD_ROWS] > 0.0
    if known:
        found = magnetic_heading(
            x[FIELD_SUM], x[FIELD_SUM + 1], x[FIELD_SUM + 2], x[ROLL], x[PITCH], s[S_PRINTED_CASES] != 0.0
        )
        x[HEADING] = wrapped(found + s[S_DECLINATION])
    for k in range(V, N):
        if k == HEADING and not known:  # nothing was re-read: the heading is as uncertain as before
            continue
        if s[S_PRINTED_RESET] == 0.0:
            forget(x, k)
        var = COVARIANCE + (N + 1) * k
        if k < ROLL:
            x[var] = 0.0
        else:
            x[var] = s[S_HEADING_VAR_0] if k == HEADING else s[S_TILT_VAR]


@internal
def measure(x, s, has_field):
    """The seven measurements, or six without a new reading of the magnetometer, and their number: innovations,
    variances, derivatives of the specific force.
    """
    body_to_n(x)
    c = BODY_TO_N
    ax, ay, az = x[A], x[A + 1], x[A + 2] + s[S_GRAVITY]  # a - g, frame n
    sr, cr = math.sin(x[ROLL]), math.cos(x[ROLL])
    for i in range(3):
        x[INNOVATION + i] = x[FORCE + i] - (x[c + i] * ax + x[c + 3 + i] * ay + x[c + 6 + i] * az)
        x[INNOVATION + 3 + i] = x[RATE + i] - x[W + i]
        x[VARIANCE + i], x[VARIANCE + 3 + i] = s[S_FORCE_VAR], s[S_RATE_VAR]
        for k in range(3):
            x[FORCE_BY + 6 * i + k] = x[c + 3 * k + i]
    fx, fy, fz = x[FORCE] - x[INNOVATION], x[FORCE + 1] - x[INNOVATION + 1], x[FORCE + 2] - x[INNOVATION + 2]
    # by roll: d/dr Ry(-r) u = (-u'_z, 0, u'_x) with u' the force itself
    x[FORCE_BY + 3], x[FORCE_BY + 9], x[FORCE_BY + 15] = -fz, 0.0, fx
    # by heading: C' turns the horizontal part by +heading, so its derivative is that of (-y, x)
    for i in range(3):
        x[FORCE_BY + 6 * i + 4] = -x[c + i] * ay + x[c + 3 + i] * ax
    # by pitch: d/dp Rx(-p) u = (0, z, -y) of the vector between, then Ry(-roll)
    y1 = cr * fz - sr * fx  # z of the vector between, as Ry(roll) f
    x[FORCE_BY + 5], x[FORCE_BY + 11], x[FORCE_BY + 17] = sr * fy, y1, -cr * fy
    m = 6
    if has_field:
        m = 7
        found = magnetic_heading(
            x[MAGNETIC], x[MAGNETIC + 1], x[MAGNETIC + 2], x[ROLL], x[PITCH], s[S_PRINTED_CASES] != 0.0
        )
        off = wrapped(found + s[S_DECLINATION]) - x[HEADING]
        x[INNOVATION + 6] = off if s[S_PRINTED_INNOVATION] != 0.0 else wrapped(off)
        x[VARIANCE + 6] = s[S_HEADING_VAR]
    return m


@internal
def read(x, s, gyr, acc, mag):
    """Readings in the frame of the paper's body."""
    for i in range(3):
        x[FORCE + i] = x[RATE + i] = x[MAGNETIC + i] = 0.0
        for k in range(3):
            turned = s[S_R_PS + 3 * i + k]
            x[FORCE + i] += turned * acc[k]
            x[RATE + i] += turned * (gyr[k] - s[S_REST_BIAS] * x[RATE_BIAS + k])
            x[MAGNETIC + i] += turned * mag[k]


@internal
def stands(x, s):
    """Whether force and rate allow a stop."""
    length = math.sqrt(x[FORCE] * x[FORCE] + x[FORCE + 1] * x[FORCE + 1] + x[FORCE + 2] * x[FORCE + 2])
    turning = math.sqrt(x[RATE] * x[RATE] + x[RATE + 1] * x[RATE + 1] + x[RATE + 2] * x[RATE + 2])
    return abs(length - s[S_GRAVITY]) < s[S_STOP_FORCE] and turning < s[S_STOP_RATE]


@njit(cache=True, error_model="numpy", no_cfunc_wrapper=True)
def rows(x, s, seen, gyr, acc, mag, dt, states, sigma, said, nis):
    """Update x from the previous sample to the last of these samples: one live sample, or many of a recording. The
    function returns False, with x unchanged, if an array has another length or the filter still aligns itself. It also
    returns False for a live sample with a number that is not finite or a negative step.

    Arrays are flat, row after row.

    seen: bits.
    mag: empty where no row has any.
    states: the 15 states of each row.
    sigma: standard deviations of p_n, v_n and the small rotation in n, nine a row. states empty: a live sample, of
        which only x is wanted. The first sample has no previous step.
    """
    n = len(dt)
    live, has_mag = len(states) == 0, len(mag) > 0
    if len(x) != X_SIZE or x[STARTED] < 0.0 or len(gyr) != 3 * n or len(acc) != 3 * n or len(seen) != n:
        return False
    if has_mag and len(mag) != 3 * n:
        return False
    if live and n == 1:  # a recording was checked when it was made
        size = 0.0 if x[STARTED] == 0.0 else abs(dt[0])
        for j in range(3):
            size += abs(gyr[j]) + abs(acc[j])
        for j in range(len(mag)):
            size += abs(mag[j])
        if not size < math.inf or (x[STARTED] > 0.0 and dt[0] < 0.0):
            return False
    at, settings = pointer(x), pointer(s)
    for i in range(n):
        rate = offset(gyr, 3 * i)
        field = offset(mag, 3 * i) if has_mag else rate
        word, h = 0, dt[i]
        at[NIS] = -1.0
        if at[SKIP] > 0.0:
            at[SKIP] -= 1.0
        else:
            read(at, settings, rate, offset(acc, 3 * i), field)
            dead = field[0] == 0.0 and field[1] == 0.0 and field[2] == 0.0  # some modules give zeros for no reading
            has_field = (seen[i] & SEEN_FIELD) != 0 and not dead
            if at[STARTED] == 0.0:
                at[STARTED] = 1.0
            elif h > settings[S_GAP_S]:
                word |= GAP
                over_gap(at, settings, h)
            elif h > 0.0:
                over_step(at, settings, h)
            stopped = (seen[i] & SEEN_STOP) != 0 and stands(at, settings)
            if stopped:
                word |= BELIEVED
                reset(at, settings, has_field)
            else:
                word |= REFUSED if (seen[i] & SEEN_STOP) != 0 else 0
                for j in range(STOP_ROWS, SAID):  # whatever it was, the averages of a stop end with it
                    at[j] = 0.0
                m = measure(at, settings, has_field)
                at[NIS] = update(at, int(settings[S_N]), m, settings[S_PRINTED_COVARIANCE] != 0.0)
                at[HEADING], at[ROLL] = wrapped(at[HEADING]), wrapped(at[ROLL])
                word |= UPDATED if at[NIS] >= 0.0 else NOT_UPDATED
        at[SAID] = word
        if live:
            continue
        for j in range(N):
            states[i * N + j] = at[j]
        write_deviations(at, offset(sigma, 9 * i))
        said[i], nis[i] = word, at[NIS]
    return True


@njit(cache=True, error_model="numpy", no_cfunc_wrapper=True)
def deviations(x, out):
    write_deviations(pointer(x), pointer(out))


@internal
def write_deviations(x, out):
    """Standard deviations of position, velocity (frame n) and of the small rotation (rad, frame n) between truth and
    estimate, nine numbers."""
    for i in range(6):
        out[i] = math.sqrt(max(x[COVARIANCE + (N + 1) * i], 0.0))
    sh, ch, sp, cp = math.sin(x[HEADING]), math.cos(x[HEADING]), math.sin(x[PITCH]), math.cos(x[PITCH])
    # axes of roll (y of the body), heading (-z of n) and pitch (x turned by the heading alone), expressed in n
    axes = ((sh * cp, 0.0, ch), (ch * cp, 0.0, -sh), (sp, -1.0, 0.0))
    for i in range(3):
        axis = axes[i]
        total = 0.0
        for j in range(3):
            for k in range(3):
                total += axis[j] * x[COVARIANCE + N * (ROLL + j) + ROLL + k] * axis[k]
        out[6 + i] = math.sqrt(max(total, 0.0))
