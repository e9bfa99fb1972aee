"""Dead reckoning: exact signals bring the body back onto its path, at the order of the step that is promised."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_motion_cases import CASES, attitudes, knots

from strapdown.errors import InputError
from strapdown.motion import Circle, Rest, Turntable, Waypoints
from strapdown.navigation.dead_reckoning import dead_reckon, dead_reckon_increments
from strapdown.rotation import q_conj, q_exp, q_log, q_mul, q_rotate
from strapdown.types import Increments, Recording

every_path = pytest.mark.parametrize("name", CASES)
few = settings(max_examples=5, deadline=None)

G = 9.81
G_N = np.array([0.0, 0.0, -G])


def grid(path, refine):
    """A grid that meets every joint, with steps of at most 20 ms / refine."""
    pieces = [
        np.linspace(a, b, refine * max(25, int(np.ceil((b - a) / 0.02))), endpoint=False)
        for a, b in zip(knots(path)[:-1], knots(path)[1:], strict=True)
    ]
    return np.concatenate([*pieces, [path.duration_s]])


def exact_recording(path, t):
    m = path.at(t)
    return Recording(t, gyr_s=m.w_nb_b, acc_s=q_rotate(q_conj(m.q_nb), m.a_n - G_N), truth=m)


def exact_increments(path, t):
    """From the path's own attitudes and velocities: no step error in them."""
    m = path.at(t)
    dt = np.diff(t, prepend=t[0])
    theta, dv = np.zeros((len(t), 3)), np.zeros((len(t), 3))
    theta[1:] = q_log(q_mul(q_conj(m.q_nb[:-1]), m.q_nb[1:]))
    dv[1:] = q_rotate(q_conj(m.q_nb[:-1]), np.diff(m.v_n, axis=0) - G_N * dt[1:, None])
    return Increments(t, dt, theta, dv), m


def errors(solution, truth):
    """Largest errors of attitude (rad), velocity (m/s) and position (m)."""
    turn = q_log(q_mul(q_conj(truth.q_nb), solution.q_nb))
    parts = turn, solution.v_n - truth.v_n, solution.p_n - truth.p_n
    return np.array([np.linalg.norm(x, axis=1).max() for x in parts])


def start_of(m):
    return m.q_nb[0], m.p_n[0], m.v_n[0], G


@every_path
@few
@given(data=st.data())
def test_exact_signals_return_to_the_path_at_the_order_of_the_step(name, data):
    case = CASES[name]
    path = data.draw(case.paths)
    found = []
    for refine in (1, 2):
        log = exact_recording(path, grid(path, refine))
        found.append(errors(dead_reckon(log, *start_of(log.truth), examine=False), log.truth))
    # half the step, a quarter of the error; where the acceleration jumps, the one reading at the jump serves
    # two pieces and leaves a first-order error. 1.25: higher orders of the coarse step
    gain = 2.0 if case.acceleration_jumps else 4.0
    roundoff = 1e-11 * path.duration_s**2
    assert (found[1] <= 1.25 * found[0] / gain + roundoff).all()


@every_path
@few
@given(data=st.data())
def test_exact_increments_give_attitude_and_velocity_to_the_last_digits_at_any_step(name, data):
    path = data.draw(CASES[name].paths)
    for t in (grid(path, 1), np.linspace(0.0, path.duration_s, 40)):
        increments, truth = exact_increments(path, t)
        attitude, velocity, _ = errors(dead_reckon_increments(increments, *start_of(truth)), truth)
        assert attitude < 1e-12  # a thousand roundoffs
        # the same, of all that is summed up: a long path at g has more digits to lose
        assert velocity < 1e-12 * np.linalg.norm(increments.dv_s, axis=1).sum() + 1e-12


@every_path
@few
@given(data=st.data())
def test_position_from_increments_converges_at_second_order(name, data):
    path = data.draw(CASES[name].paths)
    found = []
    for refine in (1, 2):
        increments, truth = exact_increments(path, grid(path, refine))
        found.append(errors(dead_reckon_increments(increments, *start_of(truth)), truth)[2])
    assert found[1] <= 1.25 * found[0] / 4.0 + 1e-11 * path.duration_s**2


@settings(max_examples=20, deadline=None)
@given(attitudes())
def test_a_body_at_rest_stays_at_rest_in_any_attitude(q_nb):
    log = exact_recording(Rest(10.0, (1.0, 2.0, 3.0), q_nb), np.linspace(0.0, 10.0, 101))
    attitude, velocity, position = errors(dead_reckon(log, *start_of(log.truth), examine=False), log.truth)
    assert attitude < 1e-15  # the start, drawn to length 1
    assert velocity < 1e-12  # a hundred roundoffs of g dt
    assert position < 1e-11  # the same, integrated for 10 s


def test_attitude_at_constant_rate_is_exact_at_any_step():
    path = Turntable.constant(3.0, 20.0, axis_b=(1, 2, -2))
    log = exact_recording(path, np.linspace(0.0, 20.0, 41))
    assert errors(dead_reckon(log, *start_of(log.truth), examine=False), log.truth)[0] < 1e-13  # 40 roundoffs


def test_a_force_that_grows_in_a_straight_line_gives_the_exact_cubic_at_any_step():
    t = np.array([0.0, 0.1, 0.5, 2.0])
    force = np.stack([3.0 * t, 0.0 * t, G - 6.0 * t], axis=-1)
    moved = dead_reckon(Recording(t, gyr_s=np.zeros((4, 3)), acc_s=force), (1, 0, 0, 0), (0, 0, 0), (0, 0, 0), G)
    expected = np.stack([0.5 * t**3, 0.0 * t, -(t**3)], axis=-1)
    np.testing.assert_allclose(moved.p_n, expected, rtol=0.0, atol=1e-13)  # roundoff


def test_free_fall_reads_zero_and_falls():
    t = np.linspace(0.0, 2.0, 21)
    log = Recording(t, gyr_s=np.zeros((21, 3)), acc_s=np.zeros((21, 3)))
    fallen = dead_reckon(log, (1, 0, 0, 0), (0, 0, 0), (1, 0, 0), "mars", examine=False)
    expected = np.stack([t, 0.0 * t, -0.5 * 3.73 * t**2], axis=-1)
    np.testing.assert_allclose(fallen.p_n, expected, rtol=0.0, atol=1e-13)  # twenty roundoffs


def test_coning_drift_is_what_the_straight_rate_between_samples_leaves():
    """A cone (half angle c, spin W) sampled with step h drifts by W sin(c)^2 (W h)^2 / 12 rad/s, half of what it
    does without the cross term."""
    cone, spin, h = 0.05, 20.0, 0.005
    t = np.arange(0.0, 20.0, h)
    sin, cos = np.sin(spin * t), np.cos(spin * t)
    q_nb = q_exp(cone * np.stack([cos, sin, 0.0 * t], axis=-1))
    s = np.sin(cone)
    w_b = spin * np.stack([-s * sin, s * cos, np.full(len(t), np.cos(cone) - 1.0)], axis=-1)
    log = Recording(t, gyr_s=w_b, acc_s=np.tile([0.0, 0.0, G], (len(t), 1)))
    found = dead_reckon(log, q_nb[0], (0, 0, 0), (0, 0, 0), G)
    drift = np.abs(q_log(q_mul(q_conj(q_nb), found.q_nb))[-1, 2]) / t[-1]
    assert abs(drift / (spin * (s * spin * h) ** 2 / 12.0) - 1.0) < (spin * h) ** 2  # the next order


def test_the_start_is_kept_and_the_first_interval_may_have_no_length():
    path = Circle(1.0, 1.0, 5.0)
    increments, truth = exact_increments(path, np.linspace(0.0, 5.0, 51))
    solution = dead_reckon_increments(increments, *start_of(truth))
    assert np.array_equal(solution.p_n[0], truth.p_n[0])
    assert np.array_equal(solution.v_n[0], truth.v_n[0])


def test_the_quaternion_stays_a_rotation_over_a_million_steps():
    n = 1_000_000
    increments = Increments(
        np.arange(1, n + 1) * 0.01, np.full(n, 0.01), np.tile([0.3, -0.2, 0.1], (n, 1)), np.zeros((n, 3))
    )
    q_nb = dead_reckon_increments(increments, (1, 0, 0, 0), (0, 0, 0), (0, 0, 0), 0.0).q_nb
    assert np.abs(np.linalg.norm(q_nb, axis=1) - 1.0).max() < 1e-15  # one roundoff of the last step


def test_a_lost_increment_is_refused_by_its_sample_and_time():
    path = Waypoints([0.0, 2.0], [[0, 0, 0], [1, 0, 0]])
    whole, truth = exact_increments(path, np.linspace(0.0, 2.0, 21))
    keep = np.arange(21) != 7
    lost = Increments(whole.t[keep], whole.dt[keep], whole.theta_s[keep], whole.dv_s[keep])
    with pytest.raises(InputError, match=r"missing before sample 7 \(t = 0.8 s\)"):
        dead_reckon_increments(lost, *start_of(truth))


def test_a_recording_without_a_sensor_is_refused_by_name():
    t = np.array([0.0, 0.1])
    ready = {"gyr_s": np.zeros((2, 3)), "acc_s": np.zeros((2, 3))}
    for missing in ready:
        log = Recording(t, **{name: x for name, x in ready.items() if name != missing})
        with pytest.raises(InputError, match=f"no {missing}"):
            dead_reckon(log, (1, 0, 0, 0), (0, 0, 0), (0, 0, 0), G)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"q_nb": (2, 0, 0, 0)}, "q_nb has norm 2"),
        ({"q_nb": (1, 0, 0)}, "q_nb has shape"),
        ({"p_n": (0, 0)}, "p_n has shape"),
        ({"v_n": (0, 0, np.nan)}, "v_n is not finite"),
        ({"gravity": "venus"}, "venus"),
        ({"gravity": -1.0}, "gravity is -1"),
    ],
)
def test_a_wrong_start_is_refused_by_name(wrong, message):
    log = exact_recording(Rest(1.0), np.linspace(0.0, 1.0, 11))
    start = {"q_nb": (1, 0, 0, 0), "p_n": (0, 0, 0), "v_n": (0, 0, 0), "gravity": G}
    with pytest.raises(InputError, match=message):
        dead_reckon(log, **{**start, **wrong})
