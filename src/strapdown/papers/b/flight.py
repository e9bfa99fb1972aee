"""A flight like the quadcopter's in paper B: it leans during every acceleration, so pitch and roll follow its motion.

Open loop: the path is given, and the attitude follows from the thrust of a quadcopter along its z axis. The closed
loop, in which the estimate flies the vehicle, needs the environment.
"""

import numpy as np

from strapdown.motion import Waypoints
from strapdown.rotation import q_continuous, q_from_euler, q_from_matrix, q_rotate

# time s, x, y, z m, yaw deg: up, forward, sideways, a turn through 180 deg, and home
LEGS = (
    (0.0, 0.0, 0.0, 0.0, 0.0),
    (6.0, 0.0, 0.0, 0.0, 0.0),
    (10.0, 0.0, 0.0, 5.0, 0.0),
    (18.0, 25.0, 0.0, 5.0, 0.0),
    (21.0, 25.0, 0.0, 5.0, 0.0),
    (29.0, 25.0, 20.0, 6.0, 0.0),
    (32.0, 25.0, 20.0, 6.0, 0.0),
    (36.0, 25.0, 20.0, 6.0, 100.0),
    (40.0, 25.0, 20.0, 6.0, 200.0),
    (48.0, 0.0, 20.0, 6.0, 200.0),
    (56.0, 0.0, 0.0, 5.0, 340.0),
    (62.0, 0.0, 0.0, 0.0, 360.0),
    (66.0, 0.0, 0.0, 0.0, 360.0),
)
KNOT_S = 0.1  # between attitudes


def flight(gravity: float = 9.81) -> Waypoints:
    """The flight as a path; level and at rest at both ends."""
    legs = np.array(LEGS)
    level = Waypoints(legs[:, 0], legs[:, 1:4], q_from_euler(0.0, 0.0, np.deg2rad(legs[:, 4])))
    t = np.linspace(0.0, legs[-1, 0], round(legs[-1, 0] / KNOT_S) + 1)
    way = level.at(t)
    thrust_n = way.a_n + np.array([0.0, 0.0, gravity])
    z_n = thrust_n / np.linalg.norm(thrust_n, axis=1, keepdims=True)
    y_n = np.cross(z_n, q_rotate(way.q_nb, np.array([1.0, 0.0, 0.0])))
    y_n /= np.linalg.norm(y_n, axis=1, keepdims=True)
    axes_n = np.stack([np.cross(y_n, z_n), y_n, z_n], axis=-1)
    return Waypoints(t, way.p_n, q_continuous(q_from_matrix(axes_n)))
