"""What each path promises on its own: where it is, when it stands, how fast it goes."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_motion_cases import CASES, number, vectors

from strapdown.errors import InputError
from strapdown.motion import (
    Circle,
    FigureEight,
    Keep,
    Linear,
    MoveTo,
    Played,
    Ramp,
    Rest,
    SmoothRamp,
    StopAndGo,
    Turntable,
    Waypoints,
)
from strapdown.rotation import euler_from_q, q_conj, q_exp, q_log, q_mul, q_rotate

DEG = np.pi / 180.0
some = settings(max_examples=20, deadline=None)


def test_a_smooth_ramp_has_twice_the_turn_of_half_its_rate_and_peaks_at_fifteen_eighths():
    path = Turntable([SmoothRamp(2.0, 4.0)])
    m = path.at(np.linspace(0.0, 4.0, 401))
    turn = 2.0 * np.arctan2(m.q_nb[-1, 3], m.q_nb[-1, 0])
    assert abs(turn - 4.0 + 2.0 * np.pi * round((4.0 - turn) / (2.0 * np.pi))) < 1e-14  # mean rate 1, 4 s; roundoff
    assert abs(m.dw_nb_b.max() - 15.0 / 8.0 * 0.5) < 1e-14  # at the middle, which is on the grid
    assert m.dw_nb_b[0, 2] == 0.0
    assert abs(m.dw_nb_b[-1, 2]) < 1e-14


def test_a_turntable_reaches_45_degrees_at_3_degrees_per_second_as_in_paper_a():
    """Rest to 10 s, 3 deg/s to 25 s: gravity on two axes is then 0.71 g."""
    path = Turntable([Keep(10.0), Ramp(3 * DEG, 0.1), Keep(14.9), Ramp(0.0, 0.1), Keep(5.0)], axis_b=(1, 0, 0))
    end = path.at([30.0])
    f_b = q_rotate(q_conj(end.q_nb[0]), [0.0, 0.0, 1.0])
    np.testing.assert_allclose(f_b, [0.0, np.sqrt(0.5), np.sqrt(0.5)], rtol=0.0, atol=1e-14)  # roundoff
    assert np.array_equal(end.w_nb_b[0], [0.0, 0.0, 0.0])


def test_positions_are_held_exactly_between_the_turns():
    angles = [90 * DEG, 180 * DEG, -45 * DEG]
    path = Turntable.positions(angles, turn_s=2.0, hold_s=3.0, axis_b=(0, 1, 0))
    holds = path.at([1.0, 3.5, 6.5, 7.5, 11.5, 12.5, 16.0, 18.0])
    standing = [0, 2, 3, 4, 5, 6, 7]
    assert not holds.w_nb_b[standing].any()
    assert not holds.dw_nb_b[standing].any()
    found = [q_log(q_mul(q_conj(q_exp([0.0, a, 0.0])), q)) for a, q in zip(angles, holds.q_nb[[2, 4, 6]], strict=True)]
    assert np.abs(found).max() < 1e-14  # roundoff


@some
@given(vectors, number(0.05, 5.0), number(0.1, 5.0), number(0.1, 5.0))
def test_a_linear_run_arrives_at_rest_and_keeps_to_its_speed_and_acceleration(way, length, speed, acceleration):
    way = np.add(way, [0.1, 0.2, 4.0])
    end = length * way / np.linalg.norm(way)
    path = Linear((0, 0, 0), end, speed, acceleration, rest_before_s=1.0, rest_after_s=1.0)
    m = path.at(np.linspace(0.0, path.duration_s, 1001))
    np.testing.assert_allclose(m.p_n[-1], end, rtol=0.0, atol=1e-13)  # roundoff
    assert not m.v_n[[0, -1]].any()
    assert np.linalg.norm(m.v_n, axis=1).max() <= speed * (1.0 + 1e-14)
    assert np.linalg.norm(m.a_n, axis=1).max() <= acceleration * (1.0 + 1e-14)
    fastest = (
        length / speed + speed / acceleration
        if length * acceleration > speed**2
        else 2 * np.sqrt(length / acceleration)
    )
    assert abs(path.duration_s - 2.0 - fastest) < 1e-12  # roundoff


@some
@given(data=st.data())
def test_waypoints_are_met_and_the_ends_are_at_rest(data):
    path = data.draw(CASES["waypoints"].paths)
    m = path.at(path.times_s)
    np.testing.assert_allclose(m.p_n, path.p_n, rtol=0.0, atol=1e-11)  # roundoff of the spline's equations
    off = q_log(q_mul(q_conj(path.q_nb), m.q_nb))
    assert np.abs(off).max() < 1e-13  # roundoff
    ends = path.at([0.0, path.duration_s])
    for field in (ends.v_n, ends.a_n, ends.w_nb_b, ends.dw_nb_b):
        assert np.abs(field).max() < 1e-9  # roundoff, after two derivatives


def test_a_place_given_twice_is_a_stand():
    path = Waypoints([0, 1, 2, 4, 5, 6], [[0, 0, 0], [1, 0, 0], [2, 1, 0], [2, 1, 0], [1, 2, 0], [0, 2, 0]])
    m = path.at(np.linspace(2.0, 4.0, 50, endpoint=False))
    assert np.array_equal(m.p_n, np.tile([2.0, 1.0, 0.0], (50, 1)))
    assert not m.v_n.any()
    assert not m.a_n.any()


def test_an_attitude_given_twice_is_held_while_the_body_moves_on():
    q = [q_exp([0.0, 0.0, yaw]) for yaw in (0.0, 1.0, 1.0, 2.0)]
    m = Waypoints([0, 1, 2, 3], [[0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0]], q).at(np.linspace(1.0, 2.0, 50))
    assert np.abs(m.w_nb_b).max() < 1e-14  # roundoff
    assert np.abs(m.dw_nb_b).max() < 1e-13  # the same, after another derivative
    assert np.linalg.norm(m.v_n, axis=1).min() > 0.5


@some
@given(data=st.data())
def test_without_attitudes_the_body_is_level_and_heads_along_its_velocity(data):
    path = data.draw(CASES["waypoints, headed"].paths)
    m = path.at(np.linspace(0.0, path.duration_s, 301))
    roll, pitch, _ = euler_from_q(m.q_nb)
    assert max(np.abs(roll).max(), np.abs(pitch).max()) < 1e-14  # roundoff
    moving = np.hypot(m.v_n[:, 0], m.v_n[:, 1]) > 1e-3
    sideways = q_rotate(q_conj(m.q_nb), m.v_n)[moving]
    assert (sideways[:, 0] > 0.0).all()
    assert np.abs(sideways[:, 1]).max() < 1e-11  # roundoff of the spline


def test_a_path_that_turns_back_or_goes_straight_up_asks_for_attitudes():
    there_and_back = [[0, 0, 0], [1, 0, 0], [0, 0, 0]]
    with pytest.raises(InputError, match=r"near 1 s the path has no heading .* give attitudes, or stand there"):
        Waypoints([0, 1, 2], there_and_back)
    with pytest.raises(InputError, match="no heading"):
        Waypoints([0, 1], [[0, 0, 0], [0, 0, 1]])
    with pytest.raises(InputError, match="never leaves its place"):
        Waypoints([0, 1], [[0, 0, 1], [0, 0, 1]])
    stood = Waypoints([0, 1, 2, 3], [[0, 0, 0], [1, 0, 0], [1, 0, 0], [0, 0, 0]])
    west = q_rotate(stood.at([2.5]).q_nb[0], [1.0, 0.0, 0.0])
    np.testing.assert_allclose(west, [-1.0, 0.0, 0.0], rtol=0.0, atol=1e-14)  # roundoff


def test_the_square_goes_counter_clockwise_from_the_origin_and_stops_every_30_cm():
    path = StopAndGo.square()
    stops = path.stops
    assert len(stops) == 1 + 16
    np.testing.assert_allclose(stops.path_length_m, 0.3 * np.arange(17), rtol=0.0, atol=1e-14)  # roundoff
    corners = [[0.0, 0.0, 0.0], [0.0, 1.2, 0.0], [-1.2, 1.2, 0.0], [-1.2, 0.0, 0.0], [0.0, 0.0, 0.0]]
    np.testing.assert_allclose(stops.p_n[::4], corners, rtol=0.0, atol=1e-14)
    x, y, _ = stops.p_n.T
    assert 0.5 * np.sum(x[:-1] * y[1:] - x[1:] * y[:-1]) == pytest.approx(1.44)  # positive: counter-clockwise


def test_the_straight_run_ends_66_decimetres_north_after_22_moves():
    path = StopAndGo.straight()
    assert len(path.stops) == 1 + 22
    np.testing.assert_allclose(path.stops.p_n[-1], [0.0, 6.6, 0.0], rtol=0.0, atol=1e-14)  # roundoff
    assert path.duration_s == pytest.approx(5.0 + 22 * 4.0)
    forward = q_rotate(path.at([6.0]).q_nb[0], [1.0, 0.0, 0.0])
    np.testing.assert_allclose(forward, [0.0, 1.0, 0.0], rtol=0.0, atol=1e-15)


@some
@given(data=st.data())
def test_the_stop_signal_is_true_exactly_while_the_body_stands(data):
    path = data.draw(CASES["stop and go"].paths)
    t = np.linspace(0.0, path.duration_s, 2001)
    m, stopped = path.at(t), path.stopped(t)
    standing = ~(m.v_n.any(axis=1) | m.w_nb_b.any(axis=1) | m.a_n.any(axis=1) | m.dw_nb_b.any(axis=1))
    near_joint = np.abs(t[:, None] - np.array([0.0, *path.joints_s])).min(axis=1) < 1e-9
    assert np.array_equal(stopped[~near_joint], standing[~near_joint])
    middles = 0.5 * (path.stops.start_s + path.stops.end_s)
    assert path.stopped(middles).all()
    np.testing.assert_allclose(path.at(middles).p_n, path.stops.p_n, rtol=0.0, atol=1e-15)


def test_a_leg_that_is_no_whole_number_of_spacings_ends_with_a_shorter_move():
    path = StopAndGo.straight(0.7)
    np.testing.assert_allclose(path.stops.path_length_m, [0.0, 0.3, 0.6, 0.7], rtol=0.0, atol=1e-15)


@some
@given(data=st.data())
def test_a_circle_keeps_its_distance_and_its_centripetal_acceleration(data):
    path = data.draw(CASES["circle"].paths)
    m = path.at(np.linspace(path.run_up_s, path.duration_s, 50)) if path.run_up_s < 6.0 else path.at([6.0])
    side = -1.0 if path.clockwise else 1.0
    left_n = q_rotate(m.q_nb, [0.0, side, 0.0])
    centre = m.p_n + path.radius_m * left_n
    assert np.abs(centre - centre[0]).max() < 1e-13  # roundoff
    np.testing.assert_allclose(m.a_n, path.speed_m_s**2 / path.radius_m * left_n, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(q_rotate(q_conj(m.q_nb), m.v_n)[:, 0], path.speed_m_s, rtol=1e-14)


@pytest.mark.parametrize("name", ["circle, banked", "figure eight, banked"])
@some
@given(data=st.data())
def test_in_a_banked_turn_nothing_slides_sideways(name, data):
    path = data.draw(CASES[name].paths)
    m = path.at(np.linspace(0.0, path.duration_s, 100))
    f_b = q_rotate(q_conj(m.q_nb), np.add(m.a_n, [0.0, 0.0, path.bank_gravity_m_s2]))
    assert np.abs(f_b[:, 1]).max() < 1e-12  # roundoff
    assert (f_b[:, 2] > 0.0).all()


def test_the_figure_eight_closes_and_crosses_itself():
    path = FigureEight(4.0, 10.0, 20.0)
    m = path.at([0.0, 2.5, 5.0, 10.0, 20.0])
    np.testing.assert_allclose(m.p_n[[2, 3, 4]], np.zeros((3, 3)), rtol=0.0, atol=1e-14)  # roundoff
    np.testing.assert_allclose(m.p_n[1], [2.0, 0.0, 0.0], rtol=0.0, atol=1e-14)


def test_a_played_path_ends_where_it_ends_after_any_number_of_small_steps():
    source = Played(Rest(1000.0))
    for _ in range(100_000):
        source.advance(0.01)
    assert source.time_s == 1000.0
    source.advance(0.0)
    with pytest.raises(InputError, match=r"cannot advance from 1000 s by 0.01 s: the path ends at 1000 s"):
        source.advance(0.01)
    assert source.time_s == 1000.0
    with pytest.raises(InputError, match="time only goes forward"):
        source.advance(-0.1)
    with pytest.raises(InputError, match='no link "wing"; its only link is "body"'):
        source.state("wing")
    assert source.links() == ("body",)


BAD = {
    "rest, no time": (lambda: Rest(0.0), "duration_s is 0; give a number above 0"),
    "rest, not finite": (lambda: Rest(np.inf), "duration_s is inf; give a finite number"),
    "rest, place": (lambda: Rest(1.0, (0, 0)), "p_n is .* give 3 finite numbers"),
    "rest, attitude": (lambda: Rest(1.0, q_nb=(1, 1, 0, 0)), "q_nb has norm 1.41421"),
    "turntable, no phase": (lambda: Turntable([]), "phases is empty"),
    "turntable, axis": (lambda: Turntable([Keep(1.0)], axis_b=(0, 0, 0)), "axis_b is"),
    "turntable, turn in motion": (lambda: Turntable([Ramp(1.0, 1.0), MoveTo(1.0, 1.0)]), "ramp to rate 0 first"),
    "phase, time": (lambda: Ramp(1.0, 0.0), "duration_s is 0"),
    "phase, rate": (lambda: SmoothRamp(np.nan, 1.0), "rate is nan"),
    "linear, no way": (lambda: Linear((0, 0, 0), (0, 0, 0), 1.0, 1.0), "the same place"),
    "linear, speed": (lambda: Linear((0, 0, 0), (1, 0, 0), -1.0, 1.0), "speed_m_s is -1"),
    "linear, rest": (lambda: Linear((0, 0, 0), (1, 0, 0), 1.0, 1.0, -1.0), "rest_before_s is -1"),
    "waypoints, times": (lambda: Waypoints([0, 2, 1], np.eye(3)), "times_s must start at 0 and increase"),
    "waypoints, start": (lambda: Waypoints([1, 2], np.eye(3)[:2]), "times_s must start at 0"),
    "waypoints, text": (lambda: Waypoints([0, "soon"], np.eye(3)[:2]), "times_s is 'soon'"),
    "waypoints, rows": (lambda: Waypoints([0, 1], np.eye(3)), "p_n has 3 rows for 2 times"),
    "waypoints, columns": (lambda: Waypoints([0, 1], [[0, 0], [1, 1]]), "give rows of 3 numbers"),
    "waypoints, ragged": (lambda: Waypoints([0, 1], [[0, 0, 0], [1]]), "give rows of 3 numbers"),
    "waypoints, not finite": (lambda: Waypoints([0, 1], [[0, 0, 0], [1, 0, np.nan]]), "not finite in row 1"),
    "waypoints, norm": (
        lambda: Waypoints([0, 1], np.eye(3)[:2], [[1, 0, 0, 0], [0, 0, 2, 0]]),
        r"q_nb\[1\] has norm 2",
    ),
    "waypoints, half a turn": (
        lambda: Waypoints([0, 1], np.eye(3)[:2], [[1, 0, 0, 0], [0, 0, 1, 0]]),
        "at 0 s and 1 s are half a turn apart",
    ),
    "stop and go, corners": (lambda: StopAndGo([[0, 0], [0, 0]]), "corners_m needs"),
    "stop and go, spacing": (lambda: StopAndGo.square(stop_spacing_m=0.0), "stop_spacing_m is 0"),
    "stop and go, side": (lambda: StopAndGo.square(-1.0), "side_m is -1"),
    "stop and go, move": (lambda: StopAndGo.straight(move_s=-2), "move_s is -2"),
    "circle, radius": (lambda: Circle(0.0, 1.0, 1.0), "radius_m is 0"),
    "circle, run-up": (lambda: Circle(1.0, 1.0, 1.0, 2.0), "run_up_s is 2, longer than duration_s, 1"),
    "circle, gravity": (lambda: Circle(1.0, 1.0, 1.0, bank_gravity_m_s2=0.0), "bank_gravity_m_s2 is 0"),
    "eight, width": (lambda: FigureEight(1.0, 1.0, 1.0, width_m=-1.0), "width_m is -1"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_setting_is_refused_in_one_sentence_that_names_it(case):
    make, message = BAD[case]
    with pytest.raises(InputError, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_importing_motion_does_not_load_the_spline_library():
    code = "import strapdown.motion, sys; print('scipy.interpolate' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "False"
