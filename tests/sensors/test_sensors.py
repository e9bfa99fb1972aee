"""Virtual sensors against motions that are known by formula: order of each method, its error bound, its warnings."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from helpers import G, run_rig, specific_force
from strapdown.earth import gravity_vector
from strapdown.errors import InputError, RangeWarning
from strapdown.evaluation.readings import error_against_truth, ideal_readings
from strapdown.motion import Circle, FigureEight, Keep, SmoothRamp, Turntable
from strapdown.rotation import q_conj, q_exp, q_log, q_mul, q_rotate
from strapdown.sensors.imu import Imu, sample_times
from strapdown.sensors.methods import METHOD_NAMES, METHODS, Sight
from strapdown.types import Motion

SKEW = np.array([4.0, 1.0, 2.0, 3.0]) / np.sqrt(30.0)
NEAR_0_AND_PI = [
    q_exp(np.array(axis) * angle)
    for angle in (0.0, 1e-9, np.pi - 1e-9, np.pi)
    for axis in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.6, 0.0, -0.8))
]
ORDERS = {"velocity-difference": 1, "central-difference": 2, "euler-increment": 1, "rotation-log": 2}
QUICK = settings(max_examples=40, deadline=None, derandomize=True)


def sampled(path, rate_hz, duration_s, r_bs_b=(0.0, 0.0, 0.0), q_bs=(1.0, 0.0, 0.0, 0.0)):
    t = np.arange(round(duration_s * rate_hz) + 1) / rate_hz
    return Sight(path.at(t).seen_from(r_bs_b, q_bs), G)


def measured(path, method, rate_hz, duration_s, **mounting):
    """(readings, error length, estimated error) of one method."""
    sight = sampled(path, rate_hz, duration_s, **mounting)
    recording, _ = Imu("imu", rate_hz, (method,)).measure(sight)
    acc, gyr = error_against_truth(recording)
    (chosen,) = [m for m in METHODS if m.name == method]
    bound = chosen.error_bound(sight)
    return recording, acc if chosen.instrument == "accelerometer" else gyr, bound


class Tumble:
    """Smooth motion in all axes, by formula: sines in position, and three turns one after another."""

    def __init__(self, way, way_rate, turn, turn_rate, phase):
        self.way, self.way_rate, self.turn, self.turn_rate, self.phase = map(
            np.array, (way, way_rate, turn, turn_rate, phase)
        )
        self.duration_s = np.inf

    def at(self, t):
        t = np.asarray(t)[:, None]
        x = self.way_rate * t + self.phase
        p, v, a = self.way * np.sin(x), self.way * self.way_rate * np.cos(x), -self.way * self.way_rate**2 * np.sin(x)
        y = self.turn_rate * t + self.phase
        angle = self.turn * np.sin(y)
        rate, acc = self.turn * self.turn_rate * np.cos(y), -self.turn * self.turn_rate**2 * np.sin(y)
        q = np.tile([1.0, 0.0, 0.0, 0.0], (len(t), 1))
        w = dw = np.zeros((len(t), 3))
        for i, axis in enumerate(np.eye(3)):  # w of a further turn about a fixed axis: seen from there, plus its rate
            step = q_exp(angle[:, i : i + 1] * axis)
            back = q_conj(step)
            w_seen, extra = q_rotate(back, w), rate[:, i : i + 1] * axis
            dw = q_rotate(back, dw) + np.cross(w_seen, extra) + acc[:, i : i + 1] * axis
            w = w_seen + extra
            q = q_mul(q, step)
        return Motion(t[:, 0], p, v, a, q, w, dw)


number = st.floats(0.3, 2.0)
triples = st.tuples(number, number, number)
tumbles = st.builds(Tumble, triples, triples, triples, triples, st.tuples(*[st.floats(-3.0, 3.0)] * 3))
VIGOROUS = Tumble((0.4, 0.8, 0.5), (2.0, 1.4, 1.7), (1.2, 0.8, 1.5), (1.3, 1.9, 0.7), (0.1, 0.5, 0.9))


def test_the_tumble_is_a_motion():
    """Its rates are the derivatives of its attitude; else the tests below would hold methods to nonsense."""
    h = 1e-4
    m = VIGOROUS.at(np.arange(1000) * h)
    for value, rate in ((m.p_n, m.v_n), (m.v_n, m.a_n), (m.w_nb_b, m.dw_nb_b)):
        np.testing.assert_allclose((value[2:] - value[:-2]) / (2 * h), rate[1:-1], atol=1e-7)  # order 2 in h
    turn = q_log(q_mul(q_conj(m.q_nb[:-2]), m.q_nb[2:])) / (2 * h)
    np.testing.assert_allclose(turn, m.w_nb_b[1:-1], atol=1e-7)


# Orders and error bounds


@pytest.mark.parametrize("method", ORDERS)
@pytest.mark.parametrize("path", [VIGOROUS, FigureEight(20.0, 8.0, 8.0, bank_gravity_m_s2=G)], ids=["tumble", "eight"])
def test_order_of_a_method_by_halving_the_sample_time(method, path):
    mounting = {"r_bs_b": (0.3, -0.2, 0.4), "q_bs": SKEW}
    coarse, fine = (measured(path, method, rate, 6.0, **mounting)[1].max() for rate in (100.0, 200.0))
    assert abs(np.log2(coarse / fine) - ORDERS[method]) < 0.05  # next term of the error: w T = 0.03


@pytest.mark.parametrize("method", ORDERS)
@QUICK
@given(tumbles, st.sampled_from([50.0, 200.0]))
@example(VIGOROUS, 100.0)
def test_the_estimated_error_covers_the_true_one(method, path, rate_hz):
    _, error, bound = measured(path, method, rate_hz, 3.0, r_bs_b=(0.1, 0.2, -0.1), q_bs=SKEW)
    assume(error.max() > 1e-7)  # else roundoff of two differences, 1e-16 / T^2, decides
    # leading term of a smooth motion: the next one is w T = 0.1 of it
    assert error.max() <= 1.3 * bound.max() + 1e-9
    assert bound.max() <= 5.0 * error.max()


@QUICK
@given(tumbles)
def test_exact_is_exact(path):
    sight = sampled(path, 100.0, 2.0, (0.3, 0.1, -0.2), SKEW)
    recording, left = Imu("imu", 100.0).measure(sight)
    acc, gyr = error_against_truth(recording)
    assert acc.max() == 0.0 and gyr.max() == 0.0 and not left


@pytest.mark.parametrize("method", ORDERS)
@pytest.mark.parametrize("turns_per_sample", [0.26, 0.5, 1.0, 1.5])
def test_turning_too_far_between_samples_is_out_of_range(method, turns_per_sample):
    """A whole turn per sample looks like rest to a difference; the estimate must not believe it."""
    rate_hz = 10.0
    path = Turntable.constant(2 * np.pi * turns_per_sample * rate_hz, 2.0, axis_b=(0.0, 1.0, 0.0))
    sight = sampled(path, rate_hz, 2.0, (0.5, 0.0, 0.0))
    _, left = Imu("imu", rate_hz, (method,)).measure(sight)
    assert [item.method for item in left] == [method]


@pytest.mark.parametrize("damping", [0.05, 0.7, 2.0])
def test_the_estimated_error_of_a_soft_proof_mass_covers_the_true_one(damping):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RangeWarning)
        recording = run_rig(
            {
                "duration_s": 2.0,
                "robot": {"file": "strapdown:double_pendulum"},
                "start": [{"joint": "upper", "position_deg": 90.0}, {"joint": "lower", "position_deg": 45.0}],
                "sensor": [
                    {
                        "name": "D",
                        "link": "lower_link",
                        "position_m": [0.0, 0.0, -0.25],
                        "method": "proof-mass",
                        "joint_frequency_hz": 20.0,
                        "damping_ratio": damping,
                        "rate_hz": 500.0,
                    }
                ],
            }
        ).recordings["D"]
    acc, _ = error_against_truth(recording)
    g = recording.meta["gravity_m_s2"]
    sight = Sight(recording.truth, g, recording.acc_s * 1e-3, 1e-3, 20.0, damping)
    (method,) = [m for m in METHODS if m.name == "proof-mass"]
    bound = method.error_bound(sight)
    # the estimate omits that the mass is carried round at its place off the mount, and swings on a robot
    assert acc.max() <= 1.3 * bound.max() and bound.max() <= 3.0 * acc.max()


# Lever arm and mounting by hand


@pytest.mark.parametrize("q_nb", NEAR_0_AND_PI)
def test_lever_arm_on_a_turntable(q_nb):
    """At r from the axis: -r w^2 towards it, r dw along the path, whatever the attitude of the table."""
    w, r = 2.0, 0.75
    path = Turntable([Keep(1.0)], start_rate_rad_s=w, q_nb=q_nb)
    far, near = (sampled(path, 100.0, 1.0, arm) for arm in ((r, 0.0, 0.0), (0.0, 0.0, 0.0)))
    difference = far.specific_force_s() - near.specific_force_s()
    np.testing.assert_allclose(difference, [[-r * w * w, 0, 0]] * 101, atol=1e-12)  # roundoff of g
    np.testing.assert_allclose(far.motion.w_nb_b, [[0, 0, w]] * 101, atol=1e-15)


@pytest.mark.parametrize("q_nb", NEAR_0_AND_PI)
def test_lever_arm_while_the_table_speeds_up(q_nb):
    r, ramp = 0.4, 3.0
    path = Turntable([SmoothRamp(ramp, 2.0)], axis_b=(0.0, 0.0, 1.0), q_nb=q_nb)
    t = np.array([1.0])  # the middle of the smooth ramp: half the rate, 15/8 of the mean acceleration
    motion = path.at(t).seen_from((0.0, r, 0.0), (1.0, 0.0, 0.0, 0.0))
    still = path.at(t)
    difference = specific_force(motion) - specific_force(still)
    dw, w = ramp / 2.0 * 15.0 / 8.0, ramp / 2.0
    np.testing.assert_allclose(difference, [[-r * dw, -r * w * w, 0.0]], atol=1e-12)


@pytest.mark.parametrize("q_bs", NEAR_0_AND_PI)
def test_the_gyroscope_is_rotated_by_the_mounting(q_bs):
    """Not the accelerometer alone (RotorPy); and letters cancel: w_s = q_sb w_b."""
    path = Turntable.constant(1.5, 1.0, axis_b=(0.6, 0.0, 0.8))
    plain, turned = (sampled(path, 50.0, 1.0, (0.1, 0.2, 0.3), q) for q in ((1.0, 0.0, 0.0, 0.0), q_bs))
    for method in ("exact", "rotation-log"):
        readings = [Imu("imu", 50.0, (method,)).measure(s)[0] for s in (plain, turned)]
        np.testing.assert_allclose(readings[1].gyr_s, q_rotate(q_conj(q_bs), readings[0].gyr_s), atol=1e-13)
        np.testing.assert_allclose(readings[1].acc_s, q_rotate(q_conj(q_bs), readings[0].acc_s), atol=1e-13)


def test_the_lever_arm_turns_with_the_body():
    """On a circle, a sensor ahead of the body is always ahead: its reading does not depend on the heading (RotorPy)."""
    path = Circle(10.0, 5.0, 12.0)
    w = 0.5
    ahead = sampled(path, 10.0, 12.0, (2.0, 0.0, 0.0)).specific_force_s()
    np.testing.assert_allclose(ahead, [[-2.0 * w * w, 10.0 * w * w, G]] * 121, atol=1e-12)


# Rates and the first sample


@pytest.mark.parametrize("method", ["exact", "velocity-difference", "central-difference"])
@pytest.mark.parametrize("rate_hz", [1000.0, 250.0, 100.0])
def test_a_sensor_slower_than_the_physics_reads_the_same_acceleration(method, rate_hz, tmp_path):
    """Dividing by the physics step instead of the sensor's own would read ten times as much (Isaac Lab)."""
    recording = run_rig(
        {
            "duration_s": 0.5,
            "robot": {"file": "strapdown:cube"},
            "physics": {"gravity": G},
            "program": [{"link": "cube", "at_s": 0.0, "until_s": 9.0, "force_n": [0.0, 0.0, 100.0]}],
            "sensor": [{"name": "D", "link": "cube", "rate_hz": rate_hz, "method": method}],
        }
    ).recordings["D"]
    flying = recording.t > 0.03  # it springs off the floor first
    np.testing.assert_allclose(recording.acc_s[flying], [[0, 0, 20.0]] * flying.sum(), atol=1e-7)  # roundoff / T^2


@pytest.mark.parametrize("methods", [["exact"], ["velocity-difference", "euler-increment"]])
def test_the_first_sample_is_right(methods):
    """At rest from the start: no reading remembers what was before (Isaac Lab), none is filled up with zeros."""
    values = {
        "duration_s": 0.1,
        "motion": {"kind": "turntable", "phases": [{"kind": "keep", "duration_s": 0.1}], "start_rate_deg_s": 90.0},
        "physics": {"gravity": G},
        "sensor": [{"name": "D", "link": "body", "position_m": [0.5, 0, 0], "method": methods}],
    }
    recording = run_rig(values).recordings["D"]
    lost = 0 if methods == ["exact"] else 1  # a difference has no first sample, and does not make one up
    assert len(recording) == 11 - lost and abs(recording.t[0] - lost / 100.0) < 1e-15
    # T/2 r w^3 of the paper's method, T = 10 ms
    np.testing.assert_allclose(recording.acc_s[0], [-0.5 * (np.pi / 2) ** 2, 0, G], atol=lost * 0.011 + 1e-12)
    np.testing.assert_allclose(recording.gyr_s[0], [0, 0, np.pi / 2], atol=1e-12)


def test_readings_and_truth_stand_at_their_own_times():
    """Methods lose samples at the ends; what is left keeps its time, and truth its place next to it."""
    for method, before, after in (("velocity-difference", 1, 0), ("central-difference", 1, 1), ("rotation-log", 1, 1)):
        recording, *_ = measured(VIGOROUS, method, 100.0, 1.0)
        assert np.array_equal(recording.t, (np.arange(101) / 100.0)[before : 101 - after])
        exact = VIGOROUS.at(recording.t)
        assert np.array_equal(recording.truth.p_n, exact.p_n)
        other = recording.gyr_s if method != "rotation-log" else recording.acc_s
        ideal = ideal_readings(exact, G)[1 if method != "rotation-log" else 0]
        np.testing.assert_allclose(other, ideal, atol=1e-13)


def test_paper_a_reads_the_sum_of_its_formulas():
    """A2: (v1 - v0)/T turned by the attitude at the end of the step; errata 2: phi, theta, psi are about x, y, z."""
    sight = sampled(VIGOROUS, 100.0, 1.0)
    recording, _ = Imu("imu", 100.0, ("velocity-difference", "euler-increment")).measure(sight)
    m = sight.motion
    for k in (1, 50, 100):
        a_n = (m.v_n[k] - m.v_n[k - 1]) * 100.0
        np.testing.assert_allclose(
            recording.acc_s[k - 1], q_rotate(q_conj(m.q_nb[k]), a_n - gravity_vector(G)), atol=1e-11
        )
        phi, theta, psi = recording.gyr_s[k - 1] / 100.0
        turned = m.q_nb[k - 1]
        for angle, axis in ((psi, (0, 0, 1.0)), (theta, (0, 1.0, 0)), (phi, (1.0, 0, 0))):
            turned = q_mul(turned, q_exp(angle * np.array(axis)))
        assert abs(abs(turned @ m.q_nb[k]) - 1.0) < 1e-14


# Warnings


def circle_rig(method, allowed_acc=1e9, allowed_gyr=1e9):
    sensors = [
        {
            "name": name,
            "link": "body",
            "method": method,
            "rate_hz": 20.0,
            "allowed_error_m_s2": allowed_acc,
            "allowed_error_rad_s": allowed_gyr,
        }
        for name in ("one", "two")
    ]
    path = {"kind": "figure-eight", "length_m": 20.0, "period_s": 8.0, "duration_s": 8.0, "bank_gravity_m_s2": G}
    return {"duration_s": 8.0, "motion": path, "sensor": sensors}


@pytest.mark.parametrize("method", ORDERS)
def test_a_run_warns_once_per_sensor_outside_the_range_and_not_inside(method):
    _, error, bound = measured(FigureEight(20.0, 8.0, 8.0, bank_gravity_m_s2=G), method, 20.0, 8.0)
    estimate = max(bound.max(), error.max())  # the run takes the larger of leading term and true distance
    outside, inside = 0.9 * estimate, 1.1 * estimate
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run_rig(circle_rig(method, inside, inside))
    assert not caught
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = run_rig(circle_rig(method, outside, outside))
    assert [w.category for w in caught] == [RangeWarning] * 2
    for name, warning, item in zip(("one", "two"), caught, result.out_of_range, strict=True):
        said = str(warning.message)
        assert f"sensor {name}: {method} is outside its range of validity from t = {item.since_s:.6g} s" in said
        assert item.allowed == outside and abs(item.error / estimate - 1.0) < 1e-6
    assert error.max() < 1.3 * bound.max()


def test_both_instruments_of_a_sensor_warn():
    with pytest.warns(RangeWarning) as caught:
        run_rig(circle_rig(["velocity-difference", "euler-increment"], 1e-6, 1e-6))
    assert len(caught) == 4 and len({str(w.message) for w in caught}) == 4


def test_exact_warns_where_the_physics_step_does_not_resolve_the_turning():
    def spin(step_s, speed_deg_s):
        return {
            "duration_s": 0.1,
            "robot": {"file": "strapdown:bar"},
            "physics": {"step_s": step_s},
            "start": [{"joint": "axis", "speed_deg_s": speed_deg_s}],
            "sensor": [{"name": "D", "link": "bar"}],
        }

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run_rig(spin(0.01, np.degrees(24.0)))  # 0.24 rad per step
    with pytest.warns(RangeWarning, match="use a smaller physics step"):
        run_rig(spin(0.01, np.degrees(26.0)))


# Names and wrong use


def test_every_method_says_its_range_and_its_time_stamp():
    assert set(METHOD_NAMES) == {*ORDERS, "exact", "proof-mass"}
    assert all(m.validity and m.stamp for m in METHODS)


@pytest.mark.parametrize(
    ("methods", "told"),
    [
        (("nonsense",), ["nonsense", *METHOD_NAMES]),
        (("velocity-difference", "central-difference"), ["both for the accelerometer"]),
        (("euler-increment", "rotation-log"), ["both for the gyroscope"]),
    ],
)
def test_wrong_methods_are_told(methods, told):
    with pytest.raises(InputError) as caught:
        Imu("imu", 100.0, methods)
    assert all(part in str(caught.value) for part in ['sensor "imu"', *told])


@pytest.mark.parametrize("method", ["velocity-difference", "central-difference", "rotation-log", "euler-increment"])
def test_too_few_samples_are_told(method):
    with pytest.raises(InputError, match="too few"):
        Imu("imu", 1.0, (method,)).measure(sampled(Circle(1.0, 1.0, 9.0), 1.0, 0.0))


def test_a_proof_mass_needs_an_engine():
    with pytest.raises(InputError, match="physics engine"):
        Imu("imu", 10.0, ("proof-mass",)).measure(sampled(Circle(1.0, 1.0, 9.0), 10.0, 1.0))


def test_sample_times_are_counted():
    assert np.array_equal(sample_times(3.0, 1.0), np.arange(4) / 3.0)
    assert np.array_equal(sample_times(400.0, 0.1), np.arange(41) / 400.0)
    assert len(sample_times(10.0, 0.99)) == 10
    assert sample_times(1000.0, 50.0)[-1] == 50.0


def test_increments_are_the_whole_turn_and_the_whole_velocity():
    """However fast the motion: attitude after the turns, velocity after the gains, both to roundoff."""
    sight = sampled(VIGOROUS, 5.0, 4.0, (0.1, 0.2, 0.3), SKEW)
    recording, _ = Imu("i", 5.0, increments=True).measure(sight)
    q, v = sight.motion.q_nb[0], sight.motion.v_n[0]
    for k in range(1, len(recording)):
        v = v + q_rotate(q, recording.increments.dv_s[k]) + recording.increments.dt[k] * np.array([0, 0, -G])
        q = q_mul(q, q_exp(recording.increments.theta_s[k]))
    np.testing.assert_allclose(v, sight.motion.v_n[-1], atol=1e-13)
    assert abs(abs(q @ sight.motion.q_nb[-1]) - 1.0) < 1e-14


def test_a_mounted_sensor_on_a_path_is_the_path_seen_from_there():
    values = circle_rig("exact")
    values["sensor"][0].update(position_m=[0.1, 0.2, 0.3], quaternion_wxyz=SKEW.tolist())
    recording = run_rig(values).recordings["one"]
    path = FigureEight(20.0, 8.0, 8.0, bank_gravity_m_s2=G)
    expected = path.at(recording.t).seen_from((0.1, 0.2, 0.3), SKEW)
    np.testing.assert_allclose(recording.gyr_s, expected.w_nb_b, atol=1e-14)
    np.testing.assert_allclose(recording.truth.p_n, expected.p_n, atol=1e-14)
