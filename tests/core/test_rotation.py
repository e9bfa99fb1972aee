"""Rotations against scipy, against known axes and angles, and against their own group laws."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation, Slerp

from strapdown import rotation as rot

PI = np.pi
# where series, square roots and signs change over
ANGLES = (
    0.0,
    1e-300,
    1e-160,
    1e-9,
    1e-8,
    0.99e-4,
    1e-4,
    1.01e-4,
    1e-3,
    1.0,
    PI / 2,
    PI - 1e-4,
    PI - 1e-9,
    PI,
)
FEW_ROUNDOFFS = 1e-15  # about five ulps of one
FAST = settings(max_examples=200, deadline=None)

unit_vectors = st.builds(
    lambda z, phi: np.array([np.sqrt(1 - z * z) * np.cos(phi), np.sqrt(1 - z * z) * np.sin(phi), z]),
    st.floats(-1, 1),
    st.floats(-PI, PI),
)
angles = st.one_of(st.sampled_from(ANGLES), st.floats(0.0, PI))
rotation_vectors = st.builds(lambda axis, angle: axis * angle, unit_vectors, angles)
quaternions = rotation_vectors.map(rot.q_exp)
vectors = st.tuples(*[st.floats(-100, 100)] * 3).map(np.array)
full_turns = st.floats(-PI, PI)


def angle_between(p, q):
    """Angle (rad) of the rotation from p to q; atan2 keeps all digits near zero."""
    d = rot.q_mul(rot.q_conj(p), q)
    return 2.0 * np.arctan2(np.linalg.norm(d[..., 1:], axis=-1), np.abs(d[..., 0]))


def scipy_of(q):
    return Rotation.from_quat(np.roll(q, -1, axis=-1))  # scipy has w last


def from_scipy(rotation):
    return np.roll(rotation.as_quat(), 1, axis=-1)


# ---------------------------------------------------------------- rotation vectors


@pytest.mark.parametrize("angle", ANGLES)
def test_exp_has_the_known_axis_and_half_angle(angle):
    for axis in np.eye(3):
        q = rot.q_exp(angle * axis)
        np.testing.assert_allclose(q, [np.cos(angle / 2), *(np.sin(angle / 2) * axis)], rtol=4e-16, atol=4e-16)
        # the vector part keeps its digits however small the angle
        np.testing.assert_allclose(q[1:], np.sin(angle / 2) * axis, rtol=1e-15, atol=0)


@given(unit_vectors, angles)
@FAST
def test_log_undoes_exp(axis, angle):
    r = angle * axis
    back = rot.q_log(rot.q_exp(r))
    if angle > PI - 1e-6 and back @ r < 0:  # r may round to just above pi, which is the same turn the other way
        back = back * (1.0 - 2.0 * PI / np.linalg.norm(back))
    assert np.linalg.norm(back - r) <= 1e-12
    # better in truth: relative roundoff, for any angle down to 1e-300; components that underflow are let go
    assert np.linalg.norm(back - r) <= 4 * FEW_ROUNDOFFS * angle + 1e-307


@pytest.mark.parametrize("seed", range(3))
def test_log_undoes_exp_over_many_random_rotations(seed):
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=(100_000, 3))
    axis /= np.linalg.norm(axis, axis=1)[:, None]
    spread = [
        rng.uniform(0, PI, 100_000),
        10.0 ** rng.uniform(-300, 0, 100_000),
        PI - 10.0 ** rng.uniform(-12, 0, 100_000),
    ]
    r = axis * spread[seed][:, None]
    assert np.linalg.norm(rot.q_log(rot.q_exp(r)) - r, axis=1).max() <= 1e-12


@given(quaternions)
@FAST
def test_exp_undoes_log_and_agrees_with_scipy(q):
    assert angle_between(rot.q_exp(rot.q_log(q)), q) <= 4 * FEW_ROUNDOFFS
    assert np.linalg.norm(rot.q_log(q)) <= PI + FEW_ROUNDOFFS
    np.testing.assert_array_equal(rot.q_log(q), rot.q_log(-q))
    # near half a turn scipy may choose the opposite vector of the same rotation
    assert angle_between(from_scipy(Rotation.from_rotvec(rot.q_log(q))), q) <= 8 * FEW_ROUNDOFFS


def test_exp_turns_beyond_half_a_turn_are_the_same_rotation():
    for angle in (PI + 0.1, 2 * PI, 7.0, 100.0):
        q = rot.q_exp([0.0, 0.0, angle])
        expected = Rotation.from_rotvec([0.0, 0.0, angle]).as_matrix()
        np.testing.assert_allclose(rot.matrix(q), expected, atol=1e-14)  # roundoff of 100 rad


# ---------------------------------------------------------------- composing and turning vectors


@given(quaternions, quaternions, vectors)
@FAST
def test_compose_rotate_and_matrix_agree_with_scipy(q_ab, q_bc, v_c):
    q_ac = rot.q_mul(q_ab, q_bc)
    scale = 1.0 + np.linalg.norm(v_c)
    assert angle_between(q_ac, from_scipy(scipy_of(q_ab) * scipy_of(q_bc))) <= 8 * FEW_ROUNDOFFS
    v_a = rot.q_rotate(q_ac, v_c)
    assert np.linalg.norm(v_a - scipy_of(q_ac).apply(v_c)) <= 4 * FEW_ROUNDOFFS * scale
    assert np.linalg.norm(v_a - rot.q_rotate(q_ab, rot.q_rotate(q_bc, v_c))) <= 8 * FEW_ROUNDOFFS * scale
    assert np.linalg.norm(v_a - rot.matrix(q_ac) @ v_c) <= 4 * FEW_ROUNDOFFS * scale
    np.testing.assert_allclose(rot.matrix(q_ab), scipy_of(q_ab).as_matrix(), atol=2 * FEW_ROUNDOFFS)


@given(quaternions, quaternions, quaternions)
@FAST
def test_group_laws(p, q, r):
    np.testing.assert_allclose(rot.q_mul(rot.q_mul(p, q), r), rot.q_mul(p, rot.q_mul(q, r)), atol=2 * FEW_ROUNDOFFS)
    np.testing.assert_array_equal(rot.q_mul(p, rot.IDENTITY), p)
    np.testing.assert_array_equal(rot.q_mul(rot.IDENTITY, p), p)
    np.testing.assert_allclose(rot.q_mul(p, rot.q_conj(p)), rot.IDENTITY, atol=FEW_ROUNDOFFS)
    np.testing.assert_allclose(rot.q_conj(rot.q_mul(p, q)), rot.q_mul(rot.q_conj(q), rot.q_conj(p)), atol=FEW_ROUNDOFFS)


@given(quaternions, vectors, vectors)
@FAST
def test_turning_keeps_lengths_angles_and_handedness(q, u, v):
    tolerance = 8 * FEW_ROUNDOFFS * (1.0 + np.linalg.norm(u)) * (1.0 + np.linalg.norm(v))
    turned_u, turned_v = rot.q_rotate(q, u), rot.q_rotate(q, v)
    assert abs(turned_u @ turned_v - u @ v) <= tolerance
    np.testing.assert_allclose(rot.q_rotate(q, np.cross(u, v)), np.cross(turned_u, turned_v), atol=tolerance)


@given(quaternions)
@FAST
def test_matrix_and_back(q):
    m = rot.matrix(q)
    back = rot.q_from_matrix(m)
    assert back[0] >= 0.0
    assert angle_between(back, q) <= 8 * FEW_ROUNDOFFS
    np.testing.assert_allclose(m @ m.T, np.eye(3), atol=2 * FEW_ROUNDOFFS)


@given(quaternions, rotation_vectors, st.floats(0.0, 1.0))
@FAST
def test_slerp_turns_at_constant_rate_along_the_shorter_arc(q_from, r, fraction):
    r = r * (1 - 1e-9)  # at half a turn both ways are the shorter one
    q_to = rot.q_mul(q_from, rot.q_exp(r))
    for sign in (1.0, -1.0):  # q and -q are the same attitude
        q = rot.q_slerp(q_from, sign * q_to, fraction)
        assert angle_between(q, rot.q_mul(q_from, rot.q_exp(fraction * r))) <= 1e-14
    assert angle_between(rot.q_slerp(q_from, q_to, 0.0), q_from) <= 4 * FEW_ROUNDOFFS
    assert angle_between(rot.q_slerp(q_from, q_to, 1.0), q_to) <= 4 * FEW_ROUNDOFFS


def test_slerp_agrees_with_scipy():
    rng = np.random.default_rng(5)
    ends = rot.q_normalise(rng.normal(size=(2, 4)))
    fraction = np.linspace(0, 1, 11)
    expected = from_scipy(Slerp([0, 1], scipy_of(ends))(fraction))
    assert angle_between(rot.q_slerp(ends[0], ends[1], fraction), expected).max() <= 8 * FEW_ROUNDOFFS


def test_continuous_keeps_attitudes_and_does_not_jump():
    turn = rot.q_exp(np.linspace(0, 6 * PI, 200)[:, None] * [0.0, 0.6, 0.8])
    jumping = turn * np.random.default_rng(0).choice([-1.0, 1.0], 200)[:, None]
    smooth = rot.q_continuous(jumping)
    np.testing.assert_allclose(np.abs(np.sum(smooth * turn, axis=1)), 1.0, atol=FEW_ROUNDOFFS)
    assert np.linalg.norm(np.diff(smooth, axis=0), axis=1).max() < 0.1  # 6 pi / 200 / 2 per step


# ---------------------------------------------------------------- Euler angles


@given(full_turns, st.floats(-PI / 2, PI / 2), full_turns)
@example(0.3, PI / 2, 0.2)
@example(0.3, -PI / 2, 0.2)
@example(0.3, PI / 2 - 1e-9, 0.2)
@example(0.3, -PI / 2 + 1e-9, -3.0)
@example(-3.1, PI / 2 - 1e-12, 3.1)
@example(PI, 0.0, -PI)
@FAST
def test_euler_angles_agree_with_scipy_and_come_back(roll, pitch, yaw):
    q = rot.q_from_euler(roll, pitch, yaw)
    assert angle_between(q, from_scipy(Rotation.from_euler("ZYX", [yaw, pitch, roll]))) <= 8 * FEW_ROUNDOFFS
    roll_2, pitch_2, yaw_2 = rot.euler_from_q(q)
    # the same rotation anywhere; nearer to the pole than 1e-12 rad roll is given as 0 and moves by as much
    assert angle_between(rot.q_from_euler(roll_2, pitch_2, yaw_2), q) <= 4e-12
    assert abs(pitch_2 - pitch) <= 4e-15
    assert abs(pitch_2) <= PI / 2
    to_pole = PI / 2 - abs(pitch)
    if to_pole > 1e-6:  # the angles themselves lose digits as 1 / (distance to the pole)
        assert abs(rot.wrap(roll_2 - roll)) <= 8 * FEW_ROUNDOFFS / to_pole
        assert abs(rot.wrap(yaw_2 - yaw)) <= 8 * FEW_ROUNDOFFS / to_pole


@given(quaternions)
@FAST
def test_any_attitude_survives_euler_angles(q):
    assert angle_between(rot.q_from_euler(*rot.euler_from_q(q)), q) <= 4e-12  # as above


@pytest.mark.parametrize("pole", [PI / 2, -PI / 2])
def test_at_the_pole_roll_is_zero(pole):
    for difference in np.linspace(-3, 3, 13):
        roll, pitch, yaw = rot.euler_from_q(rot.q_from_euler(0.4, pole, difference))
        assert roll == 0.0
        assert abs(pitch - pole) <= 4e-16
        assert abs(rot.wrap(yaw - (difference - np.sign(pole) * 0.4))) <= 1e-14


@given(st.floats(-1e3, 1e3))
@example(PI)
@example(-PI)
@example(3 * PI)
@FAST
def test_wrap_keeps_the_direction(angle):
    wrapped = rot.wrap(angle)
    assert -PI < wrapped <= PI
    assert abs(np.exp(1j * wrapped) - np.exp(1j * angle)) <= 1e-12  # roundoff of 1e3 rad


# ---------------------------------------------------------------- paper C and other people's frames


def rotation_x(a):
    return np.array([[1, 0, 0], [0, np.cos(a), -np.sin(a)], [0, np.sin(a), np.cos(a)]])


def rotation_y(a):
    return np.array([[np.cos(a), 0, np.sin(a)], [0, 1, 0], [-np.sin(a), 0, np.cos(a)]])


def rotation_z(a):
    return np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]])


@given(full_turns, st.floats(-PI / 2 + 1e-3, PI / 2 - 1e-3), full_turns)
@FAST
def test_heading_pitch_roll_against_paper_c_own_matrices(psi, theta, gamma):
    """C = Rz(-psi) Rx(theta) Ry(gamma) takes paper C's body (x right, y forward, z up) to east, north, up."""
    c = rotation_z(-psi) @ rotation_x(theta) @ rotation_y(gamma)
    ours_from_c = np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 1]])  # v_b = (y_c, -x_c, z_c)
    q_nb = rot.q_from_heading(psi, theta, gamma)
    np.testing.assert_allclose(rot.matrix(q_nb) @ ours_from_c, c, atol=4 * FEW_ROUNDOFFS)
    np.testing.assert_allclose(rot.matrix(rot.q_enu_rfu_from_enu_flu(q_nb)), c, atol=4 * FEW_ROUNDOFFS)
    back = np.array(rot.heading_from_q(q_nb))
    assert np.abs(rot.wrap(back - [psi, theta, gamma])).max() <= 1e-14 / 1e-3  # 1e-3 rad from the pole


def test_heading_is_clockwise_from_north_pitch_nose_up_roll_right_side_down():
    forward, left = [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]
    np.testing.assert_allclose(rot.q_rotate(rot.q_from_heading(0, 0, 0), forward), [0, 1, 0], atol=1e-15)
    np.testing.assert_allclose(rot.q_rotate(rot.q_from_heading(PI / 2, 0, 0), forward), [1, 0, 0], atol=1e-15)
    assert rot.q_rotate(rot.q_from_heading(0, 0.1, 0), forward)[2] > 0
    assert rot.q_rotate(rot.q_from_heading(0, 0, 0.1), left)[2] > 0


@given(quaternions, vectors)
@FAST
def test_frames_of_others_are_the_same_vector_told_otherwise(q_nb, v_b):
    v_n = rot.q_rotate(q_nb, v_b)
    tolerance = 8 * FEW_ROUNDOFFS * (1.0 + np.linalg.norm(v_b))
    q_ned_frd = rot.q_ned_frd_from_enu_flu(q_nb)
    q_enu_rfu = rot.q_enu_rfu_from_enu_flu(q_nb)
    np.testing.assert_allclose(rot.q_rotate(q_ned_frd, rot.frd_from_flu(v_b)), rot.ned_from_enu(v_n), atol=tolerance)
    np.testing.assert_allclose(rot.q_rotate(q_enu_rfu, rot.rfu_from_flu(v_b)), v_n, atol=tolerance)
    np.testing.assert_array_equal(rot.enu_from_ned(rot.ned_from_enu(v_n)), v_n)
    np.testing.assert_array_equal(rot.flu_from_frd(rot.frd_from_flu(v_b)), v_b)
    np.testing.assert_array_equal(rot.flu_from_rfu(rot.rfu_from_flu(v_b)), v_b)
    np.testing.assert_allclose(rot.q_enu_flu_from_ned_frd(q_ned_frd), q_nb, atol=FEW_ROUNDOFFS)
    np.testing.assert_allclose(rot.q_enu_flu_from_enu_rfu(q_enu_rfu), q_nb, atol=FEW_ROUNDOFFS)


def test_aerospace_yaw_pitch_roll_come_out_as_usual():
    """Nose to the north-east, 10 deg up, right wing 5 deg down: yaw 45, pitch 10, roll 5 in NED / FRD."""
    q_ned_frd = rot.q_ned_frd_from_enu_flu(rot.q_from_heading(*np.radians([45.0, 10.0, 5.0])))
    roll, pitch, yaw = rot.euler_from_q(q_ned_frd)
    np.testing.assert_allclose(np.degrees([yaw, pitch, roll]), [45.0, 10.0, 5.0], atol=1e-12)


# ---------------------------------------------------------------- shapes


def test_leading_axes_broadcast():
    rng = np.random.default_rng(1)
    q = rot.q_normalise(rng.normal(size=(5, 1, 4)))
    v = rng.normal(size=(7, 3))
    out = rot.q_rotate(q, v)
    assert out.shape == (5, 7, 3)
    np.testing.assert_array_equal(out[3, 2], rot.q_rotate(q[3, 0], v[2]))
    assert rot.q_mul(q, rot.IDENTITY).shape == (5, 1, 4)
    assert rot.matrix(q).shape == (5, 1, 3, 3)
    assert rot.q_from_matrix(rot.matrix(q)).shape == (5, 1, 4)
    assert rot.q_exp(np.zeros((0, 3))).shape == (0, 4)
    assert rot.q_log(rot.IDENTITY).shape == (3,)
    assert rot.q_slerp(rot.IDENTITY, q, np.zeros((1, 6))).shape == (5, 6, 4)
    assert rot.q_from_euler(np.zeros(3), 0.0, np.zeros((2, 1))).shape == (2, 3, 4)
    assert rot.ned_from_enu(out).shape == (5, 7, 3)


@pytest.mark.parametrize("function", [rot.q_exp, rot.q_log, rot.matrix, rot.q_from_matrix, rot.ned_from_enu])
def test_wrong_shapes_are_named(function):
    for wrong in (1.0, np.zeros(5), np.zeros((4, 2))):
        with pytest.raises(ValueError, match="its last axes should be"):
            function(wrong)
