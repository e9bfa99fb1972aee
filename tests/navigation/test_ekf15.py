"""Paper C's filter: its formulas, its errata one by one, and what it refuses."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from strapdown.errors import InputError
from strapdown.kernels.jit import pointer
from strapdown.kernels.navigation import ekf15 as kernel
from strapdown.kernels.navigation import ekf15_covariance
from strapdown.kernels.navigation import ekf15_layout as at
from strapdown.kernels.navigation.ekf15_layout import HEADING, PITCH, ROLL, A, N, W
from strapdown.live import Start
from strapdown.motion.paths.stop_and_go import StopAndGo
from strapdown.navigation.alignment import Alignment, align_to_yaw
from strapdown.navigation.ekf15 import Ekf15
from strapdown.rotation import (
    heading_from_q,
    matrix,
    q_conj,
    q_exp,
    q_from_heading,
    q_log,
    q_mul,
    q_rotate,
    rfu_from_flu,
    wrap,
)
from strapdown.types import Recording, Sample

G = 9.81
FIELD_N = np.array([0.0, 17.0, -49.0])  # uT, declination 0
NORTH = (np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5))
ANGLES = st.tuples(*(st.floats(-limit, limit) for limit in (3.1, 1.2, 1.2)))  # heading, pitch, roll


def recorded(path, rate_hz=100.0, noise=1.0, seed=1, q_nm=(1.0, 0.0, 0.0, 0.0), every=1):
    """A drive read by a good sensor. q_nm: a slope. every: the magnetometer repeats its reading so many rows."""
    truth = path.at(np.arange(0.0, path.duration_s, 1.0 / rate_hz))
    truth = replace(
        truth,
        **{name: q_rotate(q_nm, getattr(truth, name)) for name in ("p_n", "v_n", "a_n")},
        q_nb=q_mul(q_nm, truth.q_nb),
    )
    rng_acc, rng_gyr, rng_mag = np.random.default_rng(seed).spawn(3)
    n = (len(truth), 3)
    mag = q_rotate(q_conj(truth.q_nb), FIELD_N) + noise * rng_mag.normal(0.0, 0.2, n)
    mag = np.repeat(mag[::every], every, axis=0)[: len(truth)]
    return Recording(
        truth.t,
        gyr_s=truth.w_nb_b + noise * rng_gyr.normal(0.0, 1e-3, n),
        acc_s=truth.specific_force_b(G) + noise * rng_acc.normal(0.0, 0.02, n),
        mag_s=mag,
        stop=path.stopped(truth.t),
        truth=truth,
    )


# callees of the kernel have no wrapper for Python of their own


@njit
def body_to_n_of(x):
    kernel.body_to_n(pointer(x))


@njit
def turn_of(x, dt):
    kernel.turn(pointer(x), dt)


@njit
def angle_jacobians_of(x, over_cosine):
    ekf15_covariance.angle_jacobians(pointer(x), x[ROLL], x[PITCH], over_cosine)


@njit
def magnetic_heading(hx, hy, hz, roll, pitch, printed):
    return kernel.magnetic_heading(hx, hy, hz, roll, pitch, printed)


@njit
def reset_of(x, s, has_field):
    kernel.reset(pointer(x), pointer(s), has_field)


@njit
def measure_of(x, s, has_field):
    return kernel.measure(pointer(x), pointer(s), has_field)


def with_angles(heading, pitch, roll):
    x = np.zeros(at.X_SIZE)
    x[HEADING], x[PITCH], x[ROLL] = heading, pitch, roll
    return x


def body_to_n(heading, pitch, roll):
    x = with_angles(heading, pitch, roll)
    body_to_n_of(x)
    return x[at.BODY_TO_N : at.BODY_TO_N + 9].reshape(3, 3)


def run(filt, log, aligned):
    return filt.run(log, Start.of(log, alignment=aligned))


def alignment(q_nb=NORTH, heading_sigma=0.01):
    zero = np.zeros(3)
    return Alignment(np.array(q_nb, dtype=float), 1, 0.0, 0.001, heading_sigma, False, zero, zero)


def final_percent(solution, log, path):
    error = np.linalg.norm((solution.p_n - log.truth.p_n)[-1, :2])
    return 100.0 * error / path.stops.path_length_m[-1]


@settings(derandomize=True, deadline=None, max_examples=40)
@given(ANGLES)
def test_the_matrix_of_the_angles_is_the_papers(angles):
    ours = rfu_from_flu(matrix(q_from_heading(*angles)))  # columns of C as rows: body axes swap
    np.testing.assert_allclose(body_to_n(*angles), ours, atol=1e-14)  # roundoff


@settings(derandomize=True, deadline=None, max_examples=30)
@given(ANGLES, st.tuples(*(st.floats(-2.0, 2.0) for _ in range(3))))
def test_angle_rates_are_those_of_the_turning_matrix(angles, rate):
    """The kinematics with 1/cos(pitch) and their derivatives, against small turns of the matrix itself."""
    heading, pitch, roll = angles
    state = with_angles(heading, pitch, roll)
    state[W : W + 3] = rate
    angle_jacobians_of(state, True)
    by_rate, by_angle = (state[k : k + 9].reshape(3, 3) for k in (at.BY_RATE, at.BY_ANGLE))
    h = 1e-6

    def angle_rates(w, heading, pitch, roll):
        x = with_angles(heading, pitch, roll)
        x[W : W + 3] = w
        body_to_n_of(x)
        ends = []
        for dt in (h, -h):
            y = x.copy()
            turn_of(y, dt)
            ends.append(y[ROLL : ROLL + 3])
        return wrap(ends[0] - ends[1]) / (2.0 * h)

    rates = angle_rates(np.array(rate), heading, pitch, roll)
    np.testing.assert_allclose(by_rate @ rate, rates, atol=1e-7 * 60)  # step order h^2, and roundoff 1e-16 / h
    step = 1e-4
    for k, (dr, dp) in enumerate(((step, 0.0), (0.0, 0.0), (0.0, step))):
        up = angle_rates(np.array(rate), heading, pitch + dp, roll + dr)
        down = angle_rates(np.array(rate), heading, pitch - dp, roll - dr)
        np.testing.assert_allclose(by_angle[:, k], (up - down) / (2.0 * step), atol=2e-4)  # roundoff over both steps


@settings(derandomize=True, deadline=None, max_examples=40)
@given(ANGLES)
def test_heading_and_tilt_are_read_back_from_field_and_force(angles):
    heading, pitch, roll = angles
    q_nb = q_from_heading(heading, pitch, roll)
    field, force = (rfu_from_flu(q_rotate(q_conj(q_nb), v)) for v in (FIELD_N, np.array([0.0, 0.0, G])))
    assert abs(wrap(magnetic_heading(*field, roll, pitch, False) - heading)) < 1e-12  # roundoff
    x = np.zeros(at.X_SIZE)
    x[at.FORCE : at.FORCE + 3], x[at.MAGNETIC : at.MAGNETIC + 3] = force, field
    reset_of(x, np.zeros(at.S_SIZE), True)
    np.testing.assert_allclose(wrap(x[[HEADING, PITCH, ROLL]] - angles), 0.0, atol=1e-12)  # roundoff


def test_the_measurement_matrix_is_the_derivative_of_the_specific_force():
    rng = np.random.default_rng(4)
    x = with_angles(2.0, -0.4, 0.3)
    x[A : A + 3] = rng.normal(0.0, 1.0, 3)
    s = np.zeros(at.S_SIZE)
    s[at.S_GRAVITY] = G

    def force(state):
        c = body_to_n(state[HEADING], state[PITCH], state[ROLL])
        return c.T @ (state[A : A + 3] + np.array([0.0, 0.0, G]))

    x[at.FORCE : at.FORCE + 3] = force(x)
    assert measure_of(x, s, False) == 6
    force_by = x[at.FORCE_BY : at.FORCE_BY + 18].reshape(3, 6)
    for column, k in enumerate((A, A + 1, A + 2, ROLL, HEADING, PITCH)):
        up, down = x.copy(), x.copy()
        up[k] += 1e-5
        down[k] -= 1e-5
        np.testing.assert_allclose(force_by[:, column], (force(up) - force(down)) / 2e-5, atol=1e-8)  # h^2, roundoff


@pytest.mark.parametrize("path", [StopAndGo.square(), StopAndGo.straight(3.0)], ids=["square", "straight"])
def test_a_drive_with_good_sensors_ends_where_it_should(path):
    log = recorded(path)
    solution = run(Ekf15(gravity=G), log, align_to_yaw(log, np.pi / 2, rest_s=4.0))
    assert final_percent(solution, log, path) < 2.5  # chance: noise leaves 5 mm in a move, twice that round a corner
    attitude = q_log(q_mul(solution.q_nb, q_conj(log.truth.q_nb)))
    assert (
        np.abs(attitude).max() < 0.05
    )  # chance: 0.2 uT over 17 uT is 0.012 rad in a reading, of which some are extreme
    rows = np.arange(len(log)) >= 400
    np.testing.assert_array_equal(solution.flags["stop_believed"][rows], log.stop[rows])
    assert not solution.flags["stop_rejected"].any() and solution.events == ()


def test_without_noise_the_drive_is_exact_to_the_step():
    path = StopAndGo.square()
    errors = []
    for rate_hz in (100.0, 200.0):
        log = recorded(path, rate_hz, noise=0.0)
        follows = {"acc_walk": 1e3, "rate_walk": 1e3, "start_tilt_sigma_rad": 1e-9, "angle_walk": 0.0}
        filt = Ekf15(gravity=G, magnetic_heading=False, **follows)
        solution = run(filt, log, align_to_yaw(log, np.pi / 2, rest_s=1.0))
        errors.append(np.abs(solution.p_n - log.truth.p_n).max())
    assert errors[0] < 2e-3  # step order: half a step of 0.01 s behind at up to 0.28 m/s
    assert errors[1] < 0.6 * errors[0]  # first order


def test_mounting_upside_down_changes_nothing():
    path = StopAndGo.straight(0.9)
    log = recorded(path)
    q_bs = q_exp([np.pi, 0.0, 0.0])
    turned = {name: q_rotate(q_conj(q_bs), getattr(log, name)) for name in ("gyr_s", "acc_s", "mag_s")}
    flipped = replace(log, **turned)
    plain = run(Ekf15(gravity=G), log, align_to_yaw(log, np.pi / 2))
    filt = Ekf15(gravity=G, q_bs=tuple(q_bs))
    other = run(filt, flipped, align_to_yaw(flipped, np.pi / 2, q_bs=q_bs))
    np.testing.assert_allclose(other.p_n, plain.p_n, atol=1e-10)  # roundoff of the turn
    np.testing.assert_allclose(np.abs(np.sum(other.q_nb * plain.q_nb, axis=1)), 1.0, atol=1e-12)  # roundoff


# errata


def test_erratum_8_without_the_cosine_a_turn_on_a_slope_ends_elsewhere():
    """On a slope of 30 deg the robot turns by 90 deg on the spot, first away from the slope's line, gyroscope only."""
    path = StopAndGo([[0.0, 0.0], [0.3, 0.0], [0.3, 0.3]])
    log = recorded(path, noise=0.0, q_nm=q_exp([np.radians(30.0), 0.0, 0.0]))
    start = alignment(log.truth.q_nb[0])
    true_heading = heading_from_q(log.truth.q_nb)[0]
    off = {}
    for printed in (False, True):
        filt = Ekf15(gravity=G, magnetic_heading=False, printed_heading_rate=printed)
        found = heading_from_q(run(filt, log, start).q_nb)[0]
        off[printed] = np.degrees(np.abs(wrap(found - true_heading))[-1])
    assert off[False] < 0.05  # step order: the rate is half a step behind
    assert off[True] > 2.0  # the cosine of 30 deg is 0.87, and takes its part of the turn


def test_erratum_9_without_the_wrap_the_filter_jumps_when_crossing_south():
    path = StopAndGo.straight(
        0.6, start_yaw_rad=np.radians(-90.0)
    )  # heading 180 deg, to either side of which noise goes
    log = recorded(path)
    start = align_to_yaw(log, path.start_yaw_rad)
    worst = {}
    for printed in (False, True):
        solution = run(Ekf15(gravity=G, printed_innovation=printed), log, start)
        worst[printed] = np.abs(q_log(q_mul(solution.q_nb, q_conj(log.truth.q_nb)))[:, 2]).max()
    assert worst[False] < 0.05  # chance: noise of the compass, 0.012 rad in a reading
    assert worst[True] > 0.3  # drawn through zero by innovations of a whole turn


def test_erratum_10_the_papers_cases_do_not_know_south():
    down = -49.0
    for field, heading in (
        ((0.0, 17.0, down), 0.0),
        ((-17.0, 0.0, down), 0.5 * np.pi),
        ((17.0, 0.0, down), -0.5 * np.pi),
        ((-1.0, -1.0, down), 0.75 * np.pi),
        ((1.0, -1.0, down), -0.75 * np.pi),
    ):
        for printed in (False, True):
            assert magnetic_heading(*field, 0.0, 0.0, printed) == pytest.approx(heading, abs=1e-15)  # roundoff
    south = (0.0, -17.0, down)  # whole counts of a compass make such readings
    assert abs(magnetic_heading(*south, 0.0, 0.0, False)) == np.pi
    assert magnetic_heading(*south, 0.0, 0.0, True) == 0.0


def test_erratum_11_a_reset_without_covariances_is_no_covariance():
    path = StopAndGo.straight(0.3)
    log = recorded(path)
    start = align_to_yaw(log, np.pi / 2)
    least = {}
    for printed in (False, True):
        filt = Ekf15(gravity=G, printed_reset=printed)
        state = filt.start(Start.of(log, alignment=start))
        lowest = 0.0
        for i, sample in enumerate(log.samples()):
            state = filt.step(state, sample)
            if i > start.rows and log.stop[i] and not log.stop[i - 1]:  # the first sample of the stop after the move
                lowest = min(lowest, np.linalg.eigvalsh(filt.covariance(state))[0])
        least[printed] = lowest
    assert least[False] >= -1e-18  # roundoff of variances of 1e-4 m2
    assert least[True] < -1e-8


def test_erratum_12_the_short_form_loses_symmetry_and_josephs_keeps_it():
    path = StopAndGo.straight(1.2)
    log = recorded(path)
    never = np.zeros(len(log), dtype=bool)  # no stop resets it
    odd, found = {}, {}
    for printed in (False, True):
        filt = Ekf15(gravity=G, printed_covariance=printed)
        moving = replace(log, stop=never)
        state = filt.start(Start.of(log, alignment=align_to_yaw(log, np.pi / 2)))
        for sample in moving.samples():
            state = filt.step(state, sample)
        p = filt.covariance(state)
        scale = np.sqrt(np.outer(np.diag(p), np.diag(p)))
        odd[printed], found[printed] = (np.abs(p - p.T) / scale).max(), p
    assert odd[False] == 0.0
    assert odd[True] > 1e-15  # it is not symmetric any more; how far off is roundoff times the number of steps
    np.testing.assert_allclose(found[True], found[False], atol=1e-6 * np.abs(found[False]).max())  # else the same


def test_joseph_is_the_textbook_update():
    """One step of the kernel against matrices written out."""
    rng = np.random.default_rng(3)
    filt = Ekf15(gravity=G)
    state = filt.start(Start(alignment=alignment()))
    root = rng.normal(0.0, 0.1, (N, N))
    state.numbers[at.COVARIANCE : at.SCRATCH] = (root @ root.T).ravel()
    x0, p0 = state.numbers[:N].copy(), filt.covariance(state)
    gyr, acc = rng.normal(0.0, 0.1, 3), np.array([0.1, -0.2, G])
    mag = q_rotate(q_conj(filt.belief(state).q_nb), FIELD_N)
    after = filt.step(state, Sample(0.0, 0.0, gyr, acc, mag))
    h, r = np.zeros((7, N)), np.diag([0.05**2] * 3 + [0.002**2] * 3 + [0.05**2])

    def measured(x):
        m = body_to_n(x[HEADING], x[PITCH], x[ROLL])
        return np.concatenate([m.T @ (x[A : A + 3] + np.array([0.0, 0.0, G])), x[W : W + 3], [x[HEADING]]])

    for k in range(N):
        step = np.zeros(N)
        step[k] = 1e-5
        h[:, k] = (measured(x0 + step) - measured(x0 - step)) / 2e-5
    z = np.concatenate([rfu_from_flu(acc), rfu_from_flu(gyr), [x0[HEADING]]])
    gain = p0 @ h.T @ np.linalg.inv(h @ p0 @ h.T + r)
    np.testing.assert_allclose(after.numbers[:N], x0 + gain @ (z - measured(x0)), atol=1e-7)  # h^2 and roundoff
    np.testing.assert_allclose(filt.covariance(after), (np.eye(N) - gain @ h) @ p0, atol=1e-7)


# stops, gaps, what is refused


def test_a_stop_is_believed_only_if_force_and_rate_say_so():
    path = StopAndGo.straight(0.6)
    log = recorded(path)
    acc, gyr = log.acc_s.copy(), log.gyr_s.copy()
    rows = np.flatnonzero(log.stop & (log.t > 8.0))[:60]
    acc[rows[:20], 2] += 1.0
    gyr[rows[40:], 2] += 0.2
    solution = run(Ekf15(gravity=G), replace(log, acc_s=acc, gyr_s=gyr), align_to_yaw(log, np.pi / 2))
    refused = np.flatnonzero(solution.flags["stop_rejected"])
    np.testing.assert_array_equal(refused, np.concatenate([rows[:20], rows[40:]]))
    assert [event.kind for event in solution.events] == ["stop_rejected"]
    assert (solution.v_n[rows[20:40]] == 0.0).all() and np.abs(solution.v_n[rows[45:]]).max() > 0.0


def test_a_gap_of_minutes_is_an_event_and_opens_the_variance():
    path = StopAndGo.straight(0.6)
    log = recorded(path)
    late = replace(log, t=log.t + np.where(np.arange(len(log)) >= 600, 180.0, 0.0), truth=None)
    solution = run(Ekf15(gravity=G), late, align_to_yaw(late, np.pi / 2))
    assert [event.kind for event in solution.events] == ["gap"]
    assert solution.sigma["p_n"][600, 0] > 100.0 * solution.sigma["p_n"][599, 0] and np.isfinite(solution.p_n).all()


def test_what_is_missing_or_wrong_is_told_in_a_sentence():
    log = recorded(StopAndGo.straight(0.3))
    for changed, words in (
        ({"gyr_s": None}, "no gyroscope"),
        ({"acc_s": None}, "no accelerometer"),
        ({"mag_s": None}, "no magnetometer"),
        ({"stop": None}, "no stop column"),
    ):
        with pytest.raises(InputError, match=words):
            Ekf15(gravity=G).run(replace(log, **changed))
    for setting in ({"force_sigma_m_s2": 0.0}, {"acc_walk": -1.0}, {"gap_s": np.nan}, {"q_bs": (1.0, 1.0, 0.0, 0.0)}):
        with pytest.raises(InputError, match=next(iter(setting))):
            Ekf15(**setting)
    late = np.arange(len(log))[:, None] > 0.6 * len(log)  # a log whose usual size is so large is refused before
    loud = replace(log, acc_s=np.where(late, log.acc_s * 1e307, log.acc_s))
    with pytest.raises(InputError, match="lost its state at sample"):
        run(Ekf15(gravity=G), loud, alignment())


def test_without_a_magnetometer_the_heading_stays_and_its_variance_too():
    path = StopAndGo.straight(0.6)
    log = recorded(path)
    filt = Ekf15(gravity=G, magnetic_heading=False)
    solution = run(filt, replace(log, mag_s=None), align_to_yaw(log, np.pi / 2, 0.03))
    assert solution.sigma["attitude_n"][-1, 2] > 0.029  # nothing states the heading again but the turns it makes
    compass = run(Ekf15(gravity=G), log, align_to_yaw(log, np.pi / 2, 0.03))
    assert compass.sigma["attitude_n"][-1, 2] == pytest.approx(0.02)  # set back at the stop
