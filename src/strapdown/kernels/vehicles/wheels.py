"""Speed servos of driven wheels. The ground acts through the engine's contacts."""

from strapdown.kernels.jit import live, pointer, row
from strapdown.kernels.vehicles.memory import ACHIEVED, ANGLE, COMMAND, SHARE, all_within, field

# columns of the table of wheels
PLACE, DOF = 0, 1  # where the joint is in the engine's positions and speeds
SERVO = 2  # N m per rad/s of error
MOST_TORQUE = 3  # N m
FASTEST = 4  # rad/s
INERTIA = 5  # kg m2 that the motor moves while the vehicle hangs in the air
COLUMNS = 6


@live
def wheel_torques(memory, wheels, speeds, dt, force):
    """Write the torque of each wheel's motor (N m) over the coming step.

    No step may reverse the error of a wheel in the air: the gain is at most its inertia over the step.
    """
    n = len(wheels)
    m, speed, out = pointer(memory), pointer(speeds), pointer(force)
    command, share = field(COMMAND, n), field(SHARE, n)
    for i in range(n):
        p = row(wheels, i)
        dof = int(p[DOF])
        wanted = min(max(m[command + i], -p[FASTEST]), p[FASTEST])
        torque = min(p[SERVO], p[INERTIA] / dt) * (wanted - speed[dof])
        out[dof] = m[share + i] * min(max(torque, -p[MOST_TORQUE]), p[MOST_TORQUE])


@live
def settle_wheels(memory, wheels, positions, speeds, largest):
    """End of a step: speed and angle of each wheel. Returns as memory.settle does."""
    n = len(wheels)
    m = pointer(memory)
    achieved, angle = field(ACHIEVED, n), field(ANGLE, n)
    for i in range(n):
        p = row(wheels, i)
        m[achieved + i] = speeds[int(p[DOF])]
        m[angle + i] = positions[int(p[PLACE])]
    return all_within(positions, speeds, largest)
