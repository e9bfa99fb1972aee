"""Forces of fixed-pitch rotors on a free body: thrust and torque by speed, motor lag, drag, ground effect.

Forces are constant over a physics step, so they are of first order in the step. The kernel uses the mean speed of a
rotor over the step, and the exact change of its speed for the reaction. So angular momentum is conserved to roundoff.
Thrust, torque, drag and rolling moment: Furrer et al., RotorS, 2016. Ground effect: Cheeseman and Bennett, 1955.
"""

import math

from strapdown.kernels.engine_calls import DATA, END_STEP, FORWARD, LINKS, MODEL, REFRESH, call, call_from_stage
from strapdown.kernels.jit import internal_uncounted, live, offset, pointer, row
from strapdown.kernels.mounts import ROW, read_mount
from strapdown.kernels.vehicles.memory import ACHIEVED, ANGLE, COMMAND, DENSITY, FIELDS, SHARE, WIND, all_within, field

# columns of the table of rotors; frame b is that of the floating body
X, Y, Z = 0, 1, 2  # hub, m from the origin of b
AX, AY, AZ = 3, 4, 5  # axis of thrust, unit length
SPIN = 6  # +1: turns counter-clockwise seen from the tip of the axis, -1: clockwise
THRUST = 7  # kT, N s2, at the reference density
MOMENT = 8  # torque over thrust, m
UP_S, DOWN_S = 9, 10  # time constants of the motor, s
FASTEST = 11  # rad/s
DRAG = 12  # N s2/m: force across the axis per speed of the rotor and speed of the air
ROLLING = 13  # N s2: moment across the axis, likewise
INERTIA = 14  # kg m2, about the axis
RADIUS = 15  # m, for the ground effect
COLUMNS = 16

# numbers of the body
REFERENCE_DENSITY = 0  # kg/m3, at which thrust, drag and rolling moment were measured
PARASITIC = 1  # 1:4, N s2/m2 along the axes of b, at the reference density
CENTRE = 4  # 4:7, centre of mass, m from the origin of b: the parasitic drag acts there
GROUND = 7  # height of the ground, m; -inf: none
BODY = 8

LEAST_HEIGHT = 0.5  # rotor radii: Cheeseman and Bennett's formula holds above


@internal_uncounted
def rotor_forces(m, rotors, n, air, q, v, dt, out):
    """Write the mean force (0:3, frame n, N) and torque about the origin of b (3:6, frame b, N m) over the coming step.
    Also write the rotor speeds (rad/s) and angles (rad) after it.

    m: the memory of the law.
    q: position of the origin of b (m) and q_nb.
    v: velocity of the origin, frame n (m/s), and rate, frame b (rad/s).
    """
    command, share, speed, angle = field(COMMAND, n), field(SHARE, n), field(ACHIEVED, n), field(ANGLE, n)
    coming, angles = field(FIELDS, n), field(FIELDS, n) + n
    density = m[DENSITY] / air[REFERENCE_DENSITY]
    qw, qx, qy, qz = q[3], q[4], q[5], q[6]
    r00, r01, r02 = 1.0 - 2.0 * (qy * qy + qz * qz), 2.0 * (qx * qy - qw * qz), 2.0 * (qx * qz + qw * qy)
    r10, r11, r12 = 2.0 * (qx * qy + qw * qz), 1.0 - 2.0 * (qx * qx + qz * qz), 2.0 * (qy * qz - qw * qx)
    r20, r21, r22 = 2.0 * (qx * qz - qw * qy), 2.0 * (qy * qz + qw * qx), 1.0 - 2.0 * (qx * qx + qy * qy)
    wx, wy, wz = v[3], v[4], v[5]
    ux, uy, uz = v[0] - m[WIND], v[1] - m[WIND + 1], v[2] - m[WIND + 2]
    # of the origin relative to the air, frame b
    vx = r00 * ux + r10 * uy + r20 * uz
    vy = r01 * ux + r11 * uy + r21 * uz
    vz = r02 * ux + r12 * uy + r22 * uz
    cx, cy, cz = air[CENTRE], air[CENTRE + 1], air[CENTRE + 2]
    bx, by, bz = vx + wy * cz - wz * cy, vy + wz * cx - wx * cz, vz + wx * cy - wy * cx
    pressure = -density * math.sqrt(bx * bx + by * by + bz * bz)
    fx = pressure * air[PARASITIC] * bx
    fy = pressure * air[PARASITIC + 1] * by
    fz = pressure * air[PARASITIC + 2] * bz
    tx, ty, tz = cy * fz - cz * fy, cz * fx - cx * fz, cx * fy - cy * fx
    for i in range(n):
        p = row(rotors, i)
        px, py, pz, ax, ay, az = p[X], p[Y], p[Z], p[AX], p[AY], p[AZ]
        wanted = min(max(m[command + i], 0.0), p[FASTEST])
        before = m[speed + i]
        lag = p[DOWN_S]
        if wanted > before:
            lag = p[UP_S]
        after = wanted + (before - wanted) * math.exp(-dt / lag)
        m[coming + i] = after
        m[angles + i] = m[angle + i] + wanted * dt + (before - after) * lag
        w = 0.5 * (before + after)
        # air at the hub, across the axis
        hx, hy, hz = vx + wy * pz - wz * py, vy + wz * px - wx * pz, vz + wx * py - wy * px
        along = hx * ax + hy * ay + hz * az
        hx, hy, hz = hx - along * ax, hy - along * ay, hz - along * az
        thrust = m[share + i] * density * p[THRUST] * w * w
        # air resistance and acceleration of the rotor both turn the body against its spin
        spin = -p[SPIN] * (p[MOMENT] * thrust + p[INERTIA] * (after - before) / dt)
        height = q[2] + r20 * px + r21 * py + r22 * pz - air[GROUND]
        near = 0.25 * p[RADIUS] / max(height, LEAST_HEIGHT * p[RADIUS])
        thrust /= 1.0 - near * near
        drag = density * p[DRAG] * w
        gx, gy, gz = thrust * ax - drag * hx, thrust * ay - drag * hy, thrust * az - drag * hz
        momentum = p[SPIN] * p[INERTIA] * w
        roll = density * p[ROLLING] * w
        fx, fy, fz = fx + gx, fy + gy, fz + gz
        tx += py * gz - pz * gy + spin * ax - roll * hx - momentum * (wy * az - wz * ay)
        ty += pz * gx - px * gz + spin * ay - roll * hy - momentum * (wz * ax - wx * az)
        tz += px * gy - py * gx + spin * az - roll * hz - momentum * (wx * ay - wy * ax)
    out[0] = r00 * fx + r01 * fy + r02 * fz
    out[1] = r10 * fx + r11 * fy + r12 * fz
    out[2] = r20 * fx + r21 * fy + r22 * fz
    out[3], out[4], out[5] = tx, ty, tz


@live
def rotor_steps(
    engine, stage, memory, rotors, body, position, velocity, force, dt,
    positions, speeds, largest, warm_now, warm_before,
    links, centres, p_n, q_nb, moves, gains, centre_n, g_n, r_bs_b, q_bs, out, jets,
):  # fmt: skip
    """Make len(out) steps of the engine under the forces of the rotors, and read the mounts after each; returns how
    many were made. Fewer steps are made if a position or speed of the engine is then not finite, or not below the
    largest.

    Without rows it writes the forces of the coming step. stage above 0: forces are new, so the engine's evaluation at
    this instant is repeated from this stage on.

    engine: addresses (engine_calls.py).
    warm: the solver's memory now, and before the evaluation. links to q_bs: as in mounts.read_mounts.
    out: (steps, mounts, 22).
    jets: angle and speed of rotor i after each step go to columns 3 i and 3 i + 1.
    """
    m, air, q, v, acting = pointer(memory), pointer(body), pointer(position), pointer(velocity), pointer(force)
    solver, kept, turning = pointer(warm_now), pointer(warm_before), pointer(jets)
    n, mounts, width, g = len(rotors), len(links), jets.shape[1], pointer(g_n)
    now, coming, angle = field(ACHIEVED, n), field(FIELDS, n), field(ANGLE, n)
    if len(out) == 0 or stage > 0:
        rotor_forces(m, rotors, n, air, q, v, dt, acting)
    if stage > 0:
        for i in range(len(warm_now)):
            solver[i] = kept[i]
        call_from_stage(engine[REFRESH], engine[MODEL], engine[DATA], stage)
    for k in range(len(out)):
        call(engine[END_STEP], engine[MODEL], engine[DATA])
        for i in range(2 * n):
            m[now + i] = m[coming + i]
        if not all_within(positions, speeds, largest):
            return k
        for i in range(len(warm_now)):
            kept[i] = solver[i]
        rotor_forces(m, rotors, n, air, q, v, dt, acting)
        call(engine[FORWARD], engine[MODEL], engine[DATA])
        call(engine[LINKS], engine[MODEL], engine[DATA])
        for i in range(mounts):
            b, to = links[i], (k * mounts + i) * ROW
            lever, turn = row(r_bs_b, i), row(q_bs, i)
            here, turned, moving, gaining = row(p_n, b), row(q_nb, b), row(moves, b), row(gains, b)
            read_mount(here, turned, moving, gaining, row(centre_n, centres[i]), g, lever, turn, offset(out, to))
        if width > 0:
            for i in range(n):
                turning[k * width + 3 * i], turning[k * width + 3 * i + 1] = m[angle + i], m[now + i]
    return len(out)
