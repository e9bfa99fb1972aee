"""Steps of the controllers and of the mixer. One call is one control cycle; no state is kept here."""

import math

from strapdown.kernels.jit import live, pointer, row

# attitude_rate: settings
GAIN = 0  # 1/s, about body x, y, z
MOST_RATE = 3  # rad/s, about body x, y, z
LEASH = 6  # rad, largest distance of the heading's target from the heading
ATTITUDE_SETTINGS = 7

# rate_torque: settings, each about body x, y, z
PROPORTIONAL, INTEGRAL, INERTIA, MOST_TURN = 0, 3, 6, 9  # 1/s, 1/s2, kg m2, rad/s2
RATE_SETTINGS = 12

# velocity_tilt: settings
V_PROPORTIONAL, V_INTEGRAL, V_MOST, V_GRAVITY = 0, 1, 2, 3  # 1/s, 1/s2, m/s2, m/s2
VELOCITY_SETTINGS = 4

# mix: columns of a rotor
BY_THRUST, BY_ROLL, BY_PITCH, BY_YAW, PER_SPEED2, LEAST_FORCE, MOST_FORCE = range(7)
MIX_COLUMNS = 7


@live
def attitude_rate(attitude, tilt, heading, yaw_rate, dt, settings, out):
    """Body rates (rad/s, out) towards roll and pitch (tilt, rad) and the heading's target, which is returned.

    The target turns at yaw_rate and stays within the leash of the heading. If heading is not finite, it begins at the
    present one. The error is the rotation vector from the present attitude to the wanted one, in frame b.
    """
    q, s, rate = pointer(attitude), pointer(settings), pointer(out)
    w, x, y, z = q[0], q[1], q[2], q[3]
    yaw = math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
    off = 0.0
    if math.isfinite(heading):
        off = heading + yaw_rate * dt - yaw
        off -= 2.0 * math.pi * math.floor(off / (2.0 * math.pi) + 0.5)
        off = min(max(off, -s[LEASH]), s[LEASH])
    heading = yaw + off
    cr, sr = math.cos(0.5 * tilt[0]), math.sin(0.5 * tilt[0])
    cp, sp = math.cos(0.5 * tilt[1]), math.sin(0.5 * tilt[1])
    cy, sy = math.cos(0.5 * heading), math.sin(0.5 * heading)
    dw, dx = cr * cp * cy + sr * sp * sy, sr * cp * cy - cr * sp * sy
    dy, dz = cr * sp * cy + sr * cp * sy, cr * cp * sy - sr * sp * cy
    # conjugate of q times the wanted attitude
    ew = w * dw + x * dx + y * dy + z * dz
    ex = w * dx - x * dw - y * dz + z * dy
    ey = w * dy + x * dz - y * dw - z * dx
    ez = w * dz - x * dy + y * dx - z * dw
    if ew < 0.0:
        ew, ex, ey, ez = -ew, -ex, -ey, -ez
    n = math.sqrt(ex * ex + ey * ey + ez * ez)
    k = 2.0 * math.atan2(n, ew) / n if n > 0.0 else 0.0
    # the vertical, frame b: the yaw rate is about it
    rate[0] = min(max(s[GAIN] * k * ex + yaw_rate * 2.0 * (x * z - w * y), -s[MOST_RATE]), s[MOST_RATE])
    rate[1] = min(max(s[GAIN + 1] * k * ey + yaw_rate * 2.0 * (y * z + w * x), -s[MOST_RATE + 1]), s[MOST_RATE + 1])
    up = 1.0 - 2.0 * (x * x + y * y)
    rate[2] = min(max(s[GAIN + 2] * k * ez + yaw_rate * up, -s[MOST_RATE + 2]), s[MOST_RATE + 2])
    return heading


@live
def rate_torque(wanted, rate, before, dt, settings, out):
    """Torque (N m, out[0:3]) and the next integral (rad/s2, out[3:6]) from the wanted and the present body rates.

    before: output of the previous cycle.

    The integral stops while the demand is at its limit and the error would drive it further out. Gyroscopic torque of
    the body is added.
    """
    s, torque = pointer(settings), pointer(out)
    for i in range(3):
        e = wanted[i] - rate[i]
        integral = before[3 + i]
        turn = s[PROPORTIONAL + i] * e + integral
        most = s[MOST_TURN + i]
        limited = min(max(turn, -most), most)
        grows = (turn - limited) * e <= 0.0
        torque[3 + i] = integral + s[INTEGRAL + i] * e * dt if grows else integral
        torque[i] = s[INERTIA + i] * limited
    hx, hy, hz = s[INERTIA] * rate[0], s[INERTIA + 1] * rate[1], s[INERTIA + 2] * rate[2]
    torque[0] += rate[1] * hz - rate[2] * hy
    torque[1] += rate[2] * hx - rate[0] * hz
    torque[2] += rate[0] * hy - rate[1] * hx
    return True


@live
def velocity_tilt(wanted, measured, attitude, before, dt, settings, out):
    """Roll and pitch (rad, out[0:2]) and the next integral (m/s2, frame n, out[2:4]).

    before: output of the previous cycle.

    wanted: forward and left, in the level frame of the heading (m/s).
    measured: frame n.

    The thrust leans towards the wanted acceleration, whose size is limited; the integral stops while it is and the
    error would drive it further.
    """
    q, s, o = pointer(attitude), pointer(settings), pointer(out)
    w, x, y, z = q[0], q[1], q[2], q[3]
    north, east = 2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)
    n = math.sqrt(north * north + east * east)
    c, sn = (east / n, north / n) if n > 0.0 else (1.0, 0.0)
    ex = c * wanted[0] - sn * wanted[1] - measured[0]
    ey = sn * wanted[0] + c * wanted[1] - measured[1]
    ix, iy = before[2], before[3]
    ax, ay = s[V_PROPORTIONAL] * ex + ix, s[V_PROPORTIONAL] * ey + iy
    size = math.sqrt(ax * ax + ay * ay)
    grows = True
    if size > s[V_MOST]:
        grows = ax * ex + ay * ey <= 0.0
        ax, ay = ax * s[V_MOST] / size, ay * s[V_MOST] / size
    o[2] = ix + s[V_INTEGRAL] * ex * dt if grows else ix
    o[3] = iy + s[V_INTEGRAL] * ey * dt if grows else iy
    forward, left = c * ax + sn * ay, c * ay - sn * ax
    g = s[V_GRAVITY]
    o[0] = -math.atan2(left, math.sqrt(forward * forward + g * g))
    o[1] = math.atan2(forward, g)
    return True


@live
def mix(thrust, torque, rotors, out):
    """Rotor speeds (rad/s, out) that give this thrust (N) and torque (N m).

    rotors: rows of MIX_COLUMNS.

    Where the rotors cannot reach everything, the order of reduction is yaw, thrust, then roll and pitch.
    """
    n = len(out)
    lowest, highest, spread = math.inf, -math.inf, 1.0  # of roll and pitch
    for i in range(n):
        r = row(rotors, i)
        lean = r[BY_ROLL] * torque[0] + r[BY_PITCH] * torque[1]
        lowest, highest = min(lowest, lean), max(highest, lean)
    first = row(rotors, 0)
    span = first[MOST_FORCE] - first[LEAST_FORCE]
    if highest - lowest > span:
        spread = span / (highest - lowest)
    down, up = math.inf, -math.inf  # how far the thrust of every rotor may be moved
    for i in range(n):
        r = row(rotors, i)
        force = r[BY_THRUST] * thrust + spread * (r[BY_ROLL] * torque[0] + r[BY_PITCH] * torque[1])
        out[i] = force
        up = max(up, r[LEAST_FORCE] - force)
        down = min(down, r[MOST_FORCE] - force)
    shift = up if up > 0.0 else (down if down < 0.0 else 0.0)
    share = 1.0
    for i in range(n):
        r = row(rotors, i)
        out[i] += shift
        yaw = r[BY_YAW] * torque[2]
        if yaw > 0.0:
            share = min(share, max(r[MOST_FORCE] - out[i], 0.0) / yaw)
        elif yaw < 0.0:
            share = min(share, max(out[i] - r[LEAST_FORCE], 0.0) / -yaw)
    for i in range(n):
        r = row(rotors, i)
        force = out[i] + share * r[BY_YAW] * torque[2]
        out[i] = math.sqrt(max(force, r[LEAST_FORCE], 0.0) / r[PER_SPEED2])
    return True
