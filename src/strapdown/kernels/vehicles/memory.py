"""The numbers that a force law keeps: the air, and four fields of the actuators.

A law with n actuators keeps AIR numbers, then n commands, n shares of a healthy motor, n achieved values and n angles
(`field`). Laws with a lag append the results of the coming step: 2 n numbers, which belong to no snapshot.
"""

from strapdown.kernels.jit import inlined, live, pointer

DENSITY = 0  # kg/m3
WIND = 1  # 1:4, frame n, m/s
AIR = 4
COMMAND, SHARE, ACHIEVED, ANGLE = 0, 1, 2, 3
FIELDS = 4


@inlined
def field(which, n):
    """Place where a field of the actuators begins."""
    return AIR + which * n


@inlined
def all_within(positions, speeds, largest):
    within = True
    for i in range(len(positions)):
        within &= abs(positions[i]) < largest
    for i in range(len(speeds)):
        within &= abs(speeds[i]) < largest
    return within


@live
def settle(memory, n, positions, speeds, largest):
    """End of a step: achieved values and angles become the results of the step. Whether all positions and speeds of the
    engine are finite and below the largest.
    """
    m = pointer(memory)
    now, coming = field(ACHIEVED, n), field(FIELDS, n)
    for i in range(2 * n):
        m[now + i] = m[coming + i]
    return all_within(positions, speeds, largest)
