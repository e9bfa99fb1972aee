"""Forces of two coaxial rotors with collective and cyclic pitch, by blade element and momentum theory.

Both rotors turn at the same constant speed in opposite directions and share one wake. Hingeless blades: cyclic pitch,
body rates and speed across the mast act as moments on the hub. Leishman, Principles of Helicopter Aerodynamics,
chapters 2 to 4. The wake of a windmill (blades that push downward) is not modelled.
"""

import math

from strapdown.kernels.jit import inlined, live, pointer
from strapdown.kernels.vehicles.memory import ACHIEVED, ANGLE, COMMAND, DENSITY, FIELDS, SHARE, WIND, field

# numbers of the rotor pair
RADIUS, SPEED, SOLIDITY, LIFT_SLOPE, PROFILE_DRAG = 0, 1, 2, 3, 4  # m, rad/s, of one rotor, 1/rad, cd0
HUB_Z = 5  # m above the origin of the body: middle between the two hubs
SEPARATION = 6  # m between the hubs
LAG_S = 7  # s, of the actuators of the swashplates
LEAST_COLLECTIVE, MOST_COLLECTIVE, MOST_CYCLIC = 8, 9, 10  # rad
DRAG_AREA = 11  # m2, of the body, drag coefficient included
INDUCED_FACTOR = 12  # power of a real wake over that of an even one
GROUND = 13  # height of the ground, m; -inf: none
NUMBERS = 14

# controls: collective of the upper and of the lower rotor, cyclic as a moment about x and about y (rad)
UPPER, LOWER, ROLL, PITCH = 0, 1, 2, 3
CONTROLS = 4

LEAST_HEIGHT = 0.5  # radii, as for the rotors of a quadcopter


@inlined
def wake_speed(momentum, lift, loss, climb):
    """Induced speed v (m/s) of the common wake: the root of 2 momentum v (v + climb) = lift - loss (v + climb).

    momentum: density times disc area (kg/m).
    lift (N): thrust of both rotors without inflow.
    loss: thrust lost by inflow (N s/m).

    The speed is 0 where the rotors push downward.
    """
    a = 2.0 * momentum
    b = a * climb + loss
    c = lift - loss * climb
    if c <= 0.0:
        return 0.0
    return 2.0 * c / (b + math.sqrt(b * b + 4.0 * a * c))  # no difference of nearly equal numbers


@live
def coaxial_forces(memory, rotor, position, velocity, dt, force):
    """Write the force (0:3, frame n, N) and torque about the origin of b (3:6, frame b, N m) of the coming step. Also
    write the pitch angles and rotor angles (rad) after it.

    position, velocity: as in rotors.rotor_forces.

    position, velocity: as in rotors.rotor_forces.
    """
    m, p, q, v, out = pointer(memory), pointer(rotor), pointer(position), pointer(velocity), pointer(force)
    command, share = field(COMMAND, CONTROLS), field(SHARE, CONTROLS)
    reached, angle = field(ACHIEVED, CONTROLS), field(ANGLE, CONTROLS)
    coming, angles = field(FIELDS, CONTROLS), field(FIELDS, CONTROLS) + CONTROLS
    keep = math.exp(-dt / p[LAG_S])
    radius, omega = p[RADIUS], p[SPEED]
    for i in range(CONTROLS):
        low, high, turned = -p[MOST_CYCLIC], p[MOST_CYCLIC], 0.0
        if i < ROLL:
            low, high, turned = p[LEAST_COLLECTIVE], p[MOST_COLLECTIVE], omega * dt
        wanted = min(max(m[command + i], low), high)
        m[coming + i] = wanted + (m[reached + i] - wanted) * keep
        m[angles + i] = m[angle + i] + turned
    upper = 0.5 * (m[reached + UPPER] + m[coming + UPPER])  # mean over the step
    lower = 0.5 * (m[reached + LOWER] + m[coming + LOWER])
    roll = 0.5 * (m[reached + ROLL] + m[coming + ROLL]) * m[share + ROLL]
    pitch = 0.5 * (m[reached + PITCH] + m[coming + PITCH]) * m[share + PITCH]
    qw, qx, qy, qz = q[3], q[4], q[5], q[6]
    r00, r01, r02 = 1.0 - 2.0 * (qy * qy + qz * qz), 2.0 * (qx * qy - qw * qz), 2.0 * (qx * qz + qw * qy)
    r10, r11, r12 = 2.0 * (qx * qy + qw * qz), 1.0 - 2.0 * (qx * qx + qz * qz), 2.0 * (qy * qz - qw * qx)
    r20, r21, r22 = 2.0 * (qx * qz - qw * qy), 2.0 * (qy * qz + qw * qx), 1.0 - 2.0 * (qx * qx + qy * qy)
    wx, wy = v[3], v[4]
    ux, uy, uz = v[0] - m[WIND], v[1] - m[WIND + 1], v[2] - m[WIND + 2]
    vx = r00 * ux + r10 * uy + r20 * uz
    vy = r01 * ux + r11 * uy + r21 * uz
    vz = r02 * ux + r12 * uy + r22 * uz
    density, sigma, slope = m[DENSITY], p[SOLIDITY], p[LIFT_SLOPE]
    tip = omega * radius
    area = math.pi * radius * radius
    k = 0.5 * density * area * tip * tip * sigma * slope
    healthy_upper, healthy_lower = m[share + UPPER], m[share + LOWER]
    lift = k * (healthy_upper * upper + healthy_lower * lower) / 3.0
    wake = wake_speed(density * area, lift, 0.5 * k * (healthy_upper + healthy_lower) / tip, vz)
    inflow = (wake + vz) / tip
    body = 0.5 * density * p[DRAG_AREA]
    fx, fy, fz = -body * abs(vx) * vx, -body * abs(vy) * vy, -body * abs(vz) * vz
    # moment of one hub per angle of the blades (N m/rad): a sinusoidal lift over the turn, half of it in phase
    hub = k * radius / 8.0
    tx, ty, tz = 0.0, 0.0, 0.0
    for i in range(2):
        spin, collective, health = 1.0, upper, healthy_upper
        if i == LOWER:
            spin, collective, health = -1.0, lower, healthy_lower
        z = p[HUB_Z] + 0.5 * spin * p[SEPARATION]
        thrust = health * k * (collective / 3.0 - 0.5 * inflow)
        tz -= spin * thrust * (p[INDUCED_FACTOR] * wake + vz) / omega  # profile drag of the two rotors cancels
        near = 0.25 * radius / max(q[2] + r22 * z - p[GROUND], LEAST_HEIGHT * radius)
        thrust /= 1.0 - near * near
        # Speed of the hub across its axis, over the tip speed. The advancing blade lifts more, and its flapping lags by
        # a quarter turn: the hub leans away from where it goes. In the plane of the disc blades have their own drag.
        ax, ay = (vx + wy * z) / tip, (vy - wx * z) / tip
        lean = 8.0 * collective / 3.0 - 2.0 * inflow
        drag = 0.5 * k * (health * collective * inflow + p[PROFILE_DRAG] / slope)
        fx, fy, fz = fx - drag * ax, fy - drag * ay, fz + thrust
        tx += health * hub * (roll - wx / omega + lean * ay) + z * drag * ay
        ty += health * hub * (pitch - wy / omega - lean * ax) - z * drag * ax
    out[0] = r00 * fx + r01 * fy + r02 * fz
    out[1] = r10 * fx + r11 * fy + r12 * fz
    out[2] = r20 * fx + r21 * fy + r22 * fz
    out[3], out[4], out[5] = tx, ty, tz
