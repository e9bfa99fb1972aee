"""Gyroscope from the turns between poses: the kernel against exact turns, bad turns excluded, missing turns stated."""

import re
from dataclasses import replace

import numpy as np
import pytest

from strapdown.calibration.poses.gyroscope_model import UNKNOWNS, Gyroscope, estimate, linearised
from strapdown.calibration.poses.positions import calibrate_positions
from strapdown.calibration.poses.turn_data import turn_data
from strapdown.errors import InputError
from strapdown.kernels.calibration.turns import SUMS, turn_rows
from strapdown.motion.paths.poses import Poses
from strapdown.papers.c.positions import G, Ideal, hand_held, truth_of
from strapdown.reporting.positions_figures import positions_figure
from strapdown.rotation import q_conj, q_exp, q_log, q_mul
from strapdown.sensors.parts.part import load_part
from strapdown.sensors.triad import Triad
from strapdown.types import Recording

PART = load_part("mpu6050")
GYR = Triad(
    "rad/s",
    ((1.02, 0.01, -0.008), (0.004, 0.97, 0.012), (-0.006, 0.002, 1.01)),
    bias=(0.2, -0.1, 0.05),
)
ACC = Triad("m/s2", ((0.98, 0.004, 0.0), (-0.006, 1.01, 0.003), (0.002, 0.005, 1.02)), bias=(0.1, 0.2, -0.3))


@pytest.fixture(scope="module")
def ideal():
    return Ideal.of(hand_held())


@pytest.fixture(scope="module")
def triads():
    return PART.draw(2).triads()


@pytest.fixture(scope="module")
def log(ideal, triads):
    return ideal.log(triads, 2)


@pytest.fixture(scope="module")
def fit(log, triads):
    return calibrate_positions(log, G, model="cubic", noise=triads)


def integrate(t, w, matrix=None, bias=(0.0, 0.0, 0.0)):
    """One turn through all samples; (q, sums)."""
    q, sums = np.empty((1, 4)), np.empty((1, 3, 3, SUMS))
    ends = np.array([0]), np.array([len(t) - 1])
    matrix = np.eye(3) if matrix is None else matrix
    turn_rows(t, w, np.zeros_like(w), *ends, np.array(bias), np.zeros((3, 3)), matrix, np.zeros(3), q, sums)
    return q[0], sums[0]


def test_a_turn_at_constant_rate_is_exact_at_any_spacing():
    t = np.cumsum(np.random.default_rng(1).uniform(0.005, 0.02, 300))
    rate = np.array([0.8, -0.3, 0.5])
    q, sums = integrate(t, np.tile(rate, (300, 1)))
    exact = q_exp(rate * (t[-1] - t[0]))
    assert np.linalg.norm(q_log(q_mul(q_conj(exact), q))) < 1e-12  # 300 roundoffs
    # a turn about its own axis: the rate itself sums up to the angle
    along = sum(sums[:, a, 3] * rate[a] for a in range(3))
    np.testing.assert_allclose(along, rate * (t[-1] - t[0]), atol=1e-12)


def coning(rate_hz):
    """Error of a coning turn after 2 s: half-angle 0.3 rad, one round in a second."""
    t = np.arange(int(2 * rate_hz) + 1) / rate_hz
    cone, spin = 0.3, 2.0 * np.pi

    def attitude(t):
        phase = spin * t
        tilt = cone * np.stack([np.cos(phase), np.sin(phase), 0.0 * phase], axis=-1)
        return q_exp(tilt)

    h = 1e-5
    w = q_log(q_mul(q_conj(attitude(t - h)), attitude(t + h))) / (2.0 * h)
    q, _ = integrate(t, w)
    exact = q_mul(q_conj(attitude(t[0])), attitude(t[-1]))
    return float(np.linalg.norm(q_log(q_mul(q_conj(exact), q))))


def test_the_integration_is_of_second_order_or_better():
    coarse, fine = coning(50.0), coning(100.0)
    assert coarse < 3e-3  # step order: 50 samples to a round of the cone
    assert coarse / fine > 3.8  # step order: halving the step takes three quarters of the error, or more


def test_derivatives_of_a_turn_are_those_of_differences(log, fit):
    data = turn_data(log, fit.poses, fit.accelerometer, None)
    rng = np.random.default_rng(3)
    scale = np.concatenate([np.full(3, 0.01), np.full(9, 0.02), np.full(9, 1e-3), np.full(3, 1e-3)])
    at = Gyroscope(data.rates.mean(axis=0)).moved(scale * rng.standard_normal(UNKNOWNS))
    line = linearised(data, at, with_covariance=False)
    for k in range(UNKNOWNS):
        step = 1e-3 * scale[k] * np.eye(UNKNOWNS)[k]
        more, less = (linearised(data, at.moved(sign * step), with_covariance=False).residual for sign in (1.0, -1.0))
        numeric = (more - less) / (2e-3 * scale[k])
        size = np.abs(line.jacobian[:, k]).max()
        # step order of the sums along the turn: trapezoids of 10 ms, relative
        np.testing.assert_allclose(line.jacobian[:, k], numeric, atol=1e-3 * size)


def test_without_noise_the_truth_is_found(ideal):
    found = calibrate_positions(ideal.log({"accelerometer": ACC, "gyroscope": GYR}, 1), G, model="full")
    truth, gyr = truth_of(ACC, GYR), found.calibration.corrections["gyroscope"]
    np.testing.assert_allclose(gyr.bias, GYR.bias, atol=1e-6)  # the matrix of the accelerometer, and 1e-7 of g in it
    np.testing.assert_allclose(gyr.matrix, truth.gyr_matrix, atol=2e-5)  # step order at 10 ms
    assert gyr.found.verdict == "good"


def test_errors_of_turns_shrink_to_the_noise(fit):
    assert np.sqrt(np.mean(fit.turns.before**2)) > np.radians(0.5)
    assert np.sqrt(np.mean(fit.turns.after**2)) < np.radians(0.05)  # sigma of a direction: 0.2 mg and 0.1 mrad
    assert fit.turns.used.all() and fit.turns.missing is None
    # the rotation vectors are those of the motion, but for the gauge and the chance of a degree's fraction
    motion = np.linalg.norm(hand_held()._turns_b, axis=1)
    np.testing.assert_allclose(np.linalg.norm(fit.turns.turns, axis=1), motion, rtol=2e-3)


def test_g_sensitivity_is_found_where_there_is_one(fit, ideal, triads):
    found = fit.calibration.corrections["gyroscope"]
    np.testing.assert_allclose(np.diag(found.g_sensitivity), np.diag(triads["gyroscope"].g_sensitivity), atol=1e-5)
    assert np.isinf(found.sigma["g_sensitivity"][0, 1]) and found.g_sensitivity[0, 1] == 0.0
    without = {**triads, "gyroscope": replace(triads["gyroscope"], g_sensitivity=((0.0,) * 3,) * 3)}
    none = calibrate_positions(ideal.log(without, 2), G, model="cubic", noise=without)
    assert "g_sensitivity" not in none.calibration.corrections["gyroscope"].sigma
    assert any(said.startswith("g_sensitivity: assumed 0") for said in none.turns.undetermined)


def test_a_knocked_turn_is_left_out(log, fit, triads):
    gyr = log.gyr_s.copy()
    bad = 7
    middle = int(100 * 0.5 * (fit.turns.from_s[bad] + fit.turns.until_s[bad]))
    gyr[middle : middle + 5] += 1.5  # rad/s for 50 ms: 4 deg
    knocked = calibrate_positions(Recording(log.t, acc_s=log.acc_s, gyr_s=gyr), G, model="cubic", noise=triads)
    assert np.flatnonzero(~knocked.turns.used).tolist() == [bad]
    assert "1 of 23 turns do not fit the others" in " ".join(knocked.turns.notes)
    now, then = (f.calibration.corrections["gyroscope"] for f in (knocked, fit))
    assert (np.abs(now.matrix - then.matrix) / now.sigma["matrix"]).max() < 3.0  # one turn less of 23
    labels = [str(line.get_label()) for line in positions_figure(knocked, "knocked").axes[3].lines]
    assert "rejected" in labels


def test_turns_at_the_end_of_the_range_are_left_out(ideal, triads):
    narrow = {**triads, "gyroscope": replace(triads["gyroscope"], full_scale=1.5)}
    read = ideal.log(narrow, 2)
    clipped = (np.abs(read.gyr_s) >= np.abs(read.gyr_s).max() - 1e-9).any(axis=1)
    for one in (read, Recording(read.t, acc_s=read.acc_s, gyr_s=read.gyr_s, clipped=clipped)):
        found = calibrate_positions(one, G, model="cubic", noise=narrow)
        assert 0 < (~found.turns.used).sum() < 23
        assert "reaches the end of the range" in found.turns.notes[0]


def about(axes, count=9):
    """Poses that are reached by turns of 50 deg about the given body axes, in turn."""
    q = [np.array([1.0, 0.0, 0.0, 0.0])]
    for k in range(count):
        q.append(q_mul(q[-1], q_exp(np.radians(50.0) * np.array(axes[k % len(axes)], dtype=float))))
    return Poses(np.array(q), hold_s=3.0, turn_s=2.0)


def test_turns_about_one_axis_do_not_tell_the_matrix():
    """The direction data comes from the true accelerometer: what is judged is the turns."""
    motion = about([(1, 0, 0)])
    six = Poses(np.concatenate([np.array(motion.q_nb), np.array(Poses.six().q_nb)]), hold_s=3.0, turn_s=2.0)
    read = Ideal.of(six).log({"accelerometer": ACC, "gyroscope": PART.draw(1).triads()["gyroscope"]}, 1)
    whole = calibrate_positions(read, G, model="diagonal")
    assert whole.turns is not None
    data = turn_data(read, whole.poses, whole.accelerometer, None)
    only = data.without(list(range(9, len(data.first))))
    free = np.zeros(UNKNOWNS, dtype=bool)
    free[:12] = True
    _, covariance, _ = estimate(only, free, Gyroscope(data.rates.mean(axis=0)), 0.0)
    sigma = np.sqrt(np.diag(covariance))[3:12].reshape(3, 3)
    assert sigma[0, 0] < 0.01  # turns about x tell the scale of x
    assert (sigma[:, 1:] > 0.05).any(axis=0).all()  # and nothing of what y and z do


def test_turns_about_the_vertical_are_told(triads):
    """Six faces for the accelerometer, but between them the log was cut: all that is left turns about the vertical."""
    faces = [np.array(q) for q in Poses.six().q_nb]
    q = [p for face in faces for p in (face, q_mul(q_exp(np.array([0.0, 0.0, 1.2])), face))]
    motion = Poses(np.array(q), hold_s=3.0, turn_s=2.0)
    read = Ideal.of(motion).log(triads, 1)
    # knocks out of range during every turn from face to face
    clipped = np.zeros(len(read), dtype=bool)
    for k in range(1, len(q) - 1, 2):
        clipped[int(100 * (motion.holds_s[k, 1] + 1.0))] = True
    found = calibrate_positions(
        Recording(read.t, acc_s=read.acc_s, gyr_s=read.gyr_s, clipped=clipped), G, model="diagonal", noise=triads
    )
    gyr = found.calibration.corrections["gyroscope"]
    assert np.isinf(gyr.sigma["matrix"]).all() and np.array_equal(gyr.matrix, np.eye(3))
    assert gyr.found.verdict == "usable"
    assert "about the vertical" in " ".join(gyr.found.notes)
    assert np.isfinite(gyr.sigma["bias"]).all()


def test_unknown_noise_gives_deviations_of_the_same_size(log, fit):
    alone = calibrate_positions(log, G, model="cubic").calibration.corrections["gyroscope"]
    known = fit.calibration.corrections["gyroscope"]
    ratio = alone.sigma["matrix"] / known.sigma["matrix"]
    assert ratio.min() > 0.5 and ratio.max() < 2.0  # chance: scatter of 24 poses instead of the part's constants


AXES = {
    "(y, x, z)": lambda gyr: gyr[:, [1, 0, 2]],
    "(-x, -y, -z)": lambda gyr: -gyr,
    "(-x, y, z)": lambda gyr: gyr * [-1.0, 1.0, 1.0],
}
WRONG = {
    "twice the rate": lambda gyr: 2.0 * gyr,
    "half the rate": lambda gyr: 0.5 * gyr,
}


@pytest.mark.parametrize("axes", AXES)
def test_axes_that_contradict_the_accelerometer_are_refused_and_named(log, triads, axes):
    with pytest.raises(InputError, match=re.escape(f"agree if the gyroscope is read as {axes}")):
        calibrate_positions(replace(log, gyr_s=AXES[axes](log.gyr_s)), G, model="full", noise=triads)


@pytest.mark.parametrize("wrong", WRONG)
def test_turns_that_contradict_the_poses_are_called_that(log, triads, wrong):
    spoilt = replace(log, gyr_s=WRONG[wrong](log.gyr_s))
    found = calibrate_positions(spoilt, G, model="full", noise=triads)
    gyr = found.calibration.corrections["gyroscope"]
    assert found.turns.contradicts and gyr.found.verdict == "poor"
    assert np.array_equal(gyr.matrix, np.eye(3)) and np.isinf(gyr.sigma["matrix"]).all()
    said = " ".join(gyr.found.notes)
    assert "the turns contradict the poses by" in said and "check axes, signs, unit and rate" in said
    assert "too few axes" not in said


def test_six_positions_tell_the_scale_of_the_gyroscope():
    """Five quarter turns: offset and scale; and the errors are as large as their sigmas say."""
    ideal = Ideal.of(Poses.six(tilt_deg=0.2, seed=1, hold_s=5.0, turn_s=2.0))
    z = []
    for seed in range(8):
        triads = PART.draw(seed).triads()
        fit = calibrate_positions(ideal.log(triads, seed), G, noise=triads)
        gyr = fit.calibration.corrections["gyroscope"]
        assert np.isfinite(np.diag(gyr.sigma["matrix"])).all()
        assert np.isinf(gyr.sigma["matrix"][~np.eye(3, dtype=bool)]).all()
        assert np.array_equal(gyr.matrix, np.diag(np.diag(gyr.matrix)))
        assert not fit.turns.contradicts and gyr.found.verdict == "usable"
        assert any(said.startswith("matrix, off the diagonal: assumed 0") for said in gyr.found.undetermined)
        truth = truth_of(triads["accelerometer"], triads["gyroscope"])
        z.append(np.diag(gyr.matrix - truth.gyr_matrix) / np.diag(gyr.sigma["matrix"]))
    # chance: 24 numbers, of which one in 1e4 is beyond four sigmas; bounds of a sigma of 24, four of its own
    assert np.abs(z).max() < 4.0
    assert abs(np.std(z) - 1.0) < 4.0 / np.sqrt(48.0)


def test_residual_is_that_of_the_rates_at_rest_and_turns_have_their_own(fit, triads):
    gyr = fit.calibration.corrections["gyroscope"]
    assert gyr.found.data["turn_error_rms_rad"] == pytest.approx(np.sqrt(np.mean(fit.turns.after**2)))
    at_rest = fit.poses.rates - gyr.bias - fit.accelerometer.force @ gyr.g_sensitivity.T
    assert gyr.found.residual_rms == pytest.approx(np.sqrt(np.mean(at_rest**2)))
    assert gyr.found.residual_rms < 5.0 * max(triads["gyroscope"].instability)  # rad/s: drift from pose to pose
