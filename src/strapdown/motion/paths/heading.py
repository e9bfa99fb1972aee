"""Attitude of a body that heads along a level path, and leans to the side if it banks.

yaw counter-clockwise from x (east), roll right-handed about the forward axis: a bank into a left turn is
negative.
"""

import numpy as np

from strapdown.checks import Array
from strapdown.rotation import q_from_euler

Jet = tuple[Array, Array, Array]  # an angle with its first and second derivative in time


def attitude_from_heading(yaw: Jet, roll: Jet | None = None) -> tuple[Array, Array, Array]:
    """q_nb, w_nb_b and dw_nb_b of Rz(yaw) Rx(roll)."""
    angle, d_yaw, dd_yaw = yaw
    zero = np.zeros_like(angle)
    lean, d_lean, dd_lean = (zero, zero, zero) if roll is None else roll
    s, c = np.sin(lean), np.cos(lean)
    q_nb = q_from_euler(lean, 0.0, angle)
    w_nb_b = np.stack([d_lean, d_yaw * s, d_yaw * c], axis=-1)  # the yaw rate lies along z of n: (0, s, c) in b
    dw_nb_b = np.stack([dd_lean, dd_yaw * s + d_yaw * d_lean * c, dd_yaw * c - d_yaw * d_lean * s], axis=-1)
    return q_nb, w_nb_b, dw_nb_b


def yaw_along(d1: Array, d2: Array, d3: Array, rate: Array, acceleration: Array) -> tuple[Array, Array]:
    """First and second derivative in time of the direction of d1, in the plane.

    d1, d2, d3: the first three derivatives of a curve in its parameter, whose rate and acceleration in time
    are given.
    """
    length2 = dot(d1, d1)
    bend = cross(d1, d2) / length2
    d_bend = (cross(d1, d3) - 2.0 * bend * dot(d1, d2)) / length2
    return bend * rate, d_bend * rate**2 + bend * acceleration


def cross(a: Array, b: Array) -> Array:
    """The upward part of a x b, for rows whose first two columns are x and y."""
    return a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]


def dot(a: Array, b: Array) -> Array:
    """The level part of a . b."""
    return a[:, 0] * b[:, 0] + a[:, 1] * b[:, 1]


def turned_by(yaw: float, xy: Array) -> Array:
    """Rows (x, y) of a plane figure, turned by yaw, as rows (x, y, 0) of frame n."""
    c, s = np.cos(yaw), np.sin(yaw)
    return np.stack([c * xy[:, 0] - s * xy[:, 1], s * xy[:, 0] + c * xy[:, 1], np.zeros(len(xy))], axis=-1)
