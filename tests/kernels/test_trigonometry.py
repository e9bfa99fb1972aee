"""Our branch-free half angles and arc tangent against numpy, which stays the plain version."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from strapdown.kernels.trigonometry import LARGEST_ANGLE, arc_tangent, half_angle

EPS = np.finfo(float).eps


@njit
def half_angles(angle2):
    out = np.empty((len(angle2), 2))
    for i in range(len(angle2)):
        out[i, 0], out[i, 1] = half_angle(angle2[i])
    return out


@njit
def arc_tangents(y, x):
    out = np.empty(len(y))
    for i in range(len(y)):
        out[i] = arc_tangent(y[i], x[i])
    return out


def test_half_angles_to_the_last_digits_from_zero_to_a_whole_turn():
    angle = np.concatenate([np.linspace(0.0, LARGEST_ANGLE, 200_001)[1:], np.logspace(-150, 0, 5_000)])
    wide = np.sqrt((angle * angle).astype(np.longdouble))  # the angle that was really given, with more digits
    found = half_angles(angle * angle)
    cosine_error = np.abs(found[:, 0] - np.cos(0.5 * wide))
    assert cosine_error[angle <= np.pi].max() < 2 * EPS  # rounding of numbers of size 1
    assert cosine_error.max() < 4 * EPS  # towards a whole turn the double angle doubles it
    assert np.abs(found[:, 1] - np.sin(0.5 * wide) / wide).max() < 2 * EPS
    small = angle < 3.0  # where the sine is far from its zero, also relatively
    assert np.abs(found[small, 1] / (np.sin(0.5 * wide) / wide)[small] - 1.0).max() < 4 * EPS
    assert half_angles(np.zeros(1)).tolist() == [[1.0, 0.5]]


def test_arc_tangent_within_two_units_in_the_last_place():
    rng = np.random.default_rng(0)
    y, x = rng.normal(size=(2, 500_000)) * 10.0 ** rng.uniform(-12, 12, size=(2, 500_000))
    plain = np.arctan2(y, x)
    assert (np.abs(arc_tangents(y, x) - plain) / np.spacing(np.abs(plain))).max() <= 3.0  # ours 2, numpy's own 1


@given(st.floats(-1e150, 1e150), st.floats(-1e150, 1e150))
def test_arc_tangent_at_the_axes_and_the_diagonals(y, x):
    for a, b in ((y, x), (y, 0.0), (0.0, x), (y, y), (y, -y)):
        if a == b == 0.0:
            continue  # 0 by our definition, where numpy looks at the signs of the zeros
        ours, plain = arc_tangents(np.array([a]), np.array([b]))[0], np.arctan2(abs(a) if a == 0.0 else a, b)
        assert abs(ours - plain) <= 3 * np.spacing(abs(plain))
