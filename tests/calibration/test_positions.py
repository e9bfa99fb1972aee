"""Accelerometer from still poses: exact without noise, honest with it, and refused where the poses do not tell."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import shared_data
from strapdown.calibration.poses.accelerometer_model import (
    ELEMENTS,
    amplification,
    by_ignored,
    forces,
    names_of,
    solve,
    unpacked,
)
from strapdown.calibration.poses.pose_noise import flicker_covariance
from strapdown.calibration.poses.positions import calibrate_positions
from strapdown.errors import InputError
from strapdown.kernels.whitening import factor, whiten
from strapdown.motion.paths.poses import Poses
from strapdown.papers.c.positions import (
    G,
    Ideal,
    claims,
    hand_held,
    noiseless,
    normalised,
    squared_normalised,
    truth_of,
)
from strapdown.papers.c.positions_recorded import real_claims
from strapdown.reporting.positions_figures import positions_figure
from strapdown.sensors.parts.part import load_part
from strapdown.sensors.triad import Triad
from strapdown.types import Recording

PART = load_part("mpu6050")
SIX = {"hold_s": 3.0, "turn_s": 2.0}
MATRIX = ((1.02, 0.01, -0.008), (0.004, 0.97, 0.012), (-0.006, 0.002, 1.01))
LINEAR = Triad("m/s2", MATRIX, bias=(0.4, -0.3, 0.5))


@pytest.fixture(scope="module")
def free():
    return Ideal.of(hand_held())


@pytest.fixture(scope="module")
def six():
    return Ideal.of(Poses.six(**SIX))


def seen(ideal, triad, **settings):
    """A fit to the log of one accelerometer."""
    return calibrate_positions(ideal.log({"accelerometer": triad}, 1), G, **settings)


def spread(n):
    return np.random.default_rng(3).permutation(np.array(Poses.spread(n).q_nb))


def accelerometer(fit):
    return fit.calibration.corrections["accelerometer"]


# --- the models ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["diagonal", "full", "cubic"])
def test_derivatives_are_those_of_differences(model):
    rng = np.random.default_rng(1)
    x, readings, h = 0.02 * rng.standard_normal(len(names_of(model))), 9.0 * rng.standard_normal((4, 3)), 1e-6
    _, by_x, by_reading = forces(model, x, readings, G)
    for k in range(len(x)):
        step = h * np.eye(len(x))[k]
        numeric = (forces(model, x + step, readings, G)[0] - forces(model, x - step, readings, G)[0]) / (2.0 * h)
        np.testing.assert_allclose(by_x[:, :, k], numeric, atol=1e-8)  # roundoff over the step
    for i in range(3):
        step = h * G * np.eye(3)[i]
        numeric = (forces(model, x, readings + step, G)[0] - forces(model, x, readings - step, G)[0]) / (2.0 * h)
        np.testing.assert_allclose(by_reading[:, :, i], numeric, atol=1e-8)


def test_what_a_model_ignores_is_told_by_its_derivative():
    rng = np.random.default_rng(2)
    directions = rng.standard_normal((5, 3))
    readings = G * directions / np.linalg.norm(directions, axis=1, keepdims=True)
    h = 1e-5
    # cross-coupling xy of a diagonal model is the full model's element
    x = np.zeros(9)
    x[3 + ELEMENTS["full"].index((0, 1))] = h
    change = np.linalg.norm(forces("full", x, readings, G)[0], axis=1) - 1.0
    np.testing.assert_allclose(by_ignored("diagonal", np.zeros(6), readings, G)[:, 0], change / h, atol=1e-4)  # h
    # nonlinear axes, turned about z: R c (R^T w)^3
    bend = np.concatenate([np.zeros(9), [0.01, -0.02, 0.03]])
    turn = np.array([[1.0, -h, 0.0], [h, 1.0, 0.0], [0.0, 0.0, 1.0]])
    w = readings / G
    turned = np.linalg.norm(w + (bend[9:] * (w @ turn) ** 3) @ turn.T, axis=1)
    straight = np.linalg.norm(forces("cubic", bend, readings, G)[0], axis=1)
    ours = by_ignored("cubic", bend, readings, G)[:, 2]
    np.testing.assert_allclose(ours, (turned - straight) / h, atol=3e-3)  # second order in the nonlinearity: 0.03^2


@settings(derandomize=True, max_examples=15, deadline=None)
@given(st.lists(st.floats(-0.1, 0.1), min_size=12, max_size=12))
def test_any_specimen_is_found_from_readings_without_noise(values):
    """Readings made by inverting the correction: the least squares must come back to it."""
    x = np.array(values) * np.array([3.0] * 3 + [1.0] * 6 + [0.3] * 3)
    bias, matrix, cubic = unpacked("cubic", x, G)
    directions = np.array([_up(q) for q in Poses.spread(24).q_nb])
    w = f = G * directions
    for _ in range(60):  # contraction: the cubic term is at most 0.09 of w
        w = f - cubic * w**3
    readings = bias + np.linalg.solve(matrix, w.T).T
    found = solve("cubic", readings, G, np.eye(24) * 1e-8)
    np.testing.assert_allclose(found.x, x, atol=1e-7)  # steps end at 1e-9, 20 times as much in an unknown


def _up(q):
    from strapdown.rotation import q_conj, q_rotate

    return q_rotate(q_conj(np.array(q)), [0.0, 0.0, 1.0])


def test_six_faces_tell_six_unknowns_evenly():
    faces = np.concatenate([np.eye(3), -np.eye(3)])
    np.testing.assert_allclose(amplification("diagonal", faces), np.sqrt(0.5))  # two poses for each bias and scale
    assert np.isinf(amplification("full", faces)[6:]).all()


def test_flicker_covariances_are_those_of_the_noise_they_stand_for():
    """Means over stretches of synthesised drift, many logs."""
    from strapdown.sensors.chain.error_chain import measure
    from strapdown.sensors.streams import seed_of

    t = np.arange(4000) / 50.0
    triad = Triad("m/s2", instability=(1.0, 1.0, 1.0))
    rows = [(0, 200), (300, 500), (3000, 4000)]
    logs = [measure(triad, t, np.zeros((4000, 3)), stream=seed_of(5, k)).values for k in range(300)]
    means = np.array([[log[a:b].mean(axis=0) for a, b in rows] for log in logs]).transpose(0, 2, 1).reshape(-1, 3)
    starts, ends = (np.array([t[row[i] - (i == 1)] for row in rows]) for i in (0, 1))
    expected = flicker_covariance(starts, ends)
    # chance: 900 products of sigma below 1.5 times the variance; five of them
    np.testing.assert_allclose(np.cov(means.T), expected, atol=5.0 * 1.5 * expected.max() / np.sqrt(900.0))


def test_whitening_is_that_of_numpy():
    rng = np.random.default_rng(6)
    a, rows = rng.standard_normal((20, 20)), rng.standard_normal((20, 3))
    covariance = a @ a.T + np.eye(20)
    ours, lower = rows.copy(), covariance.copy()
    factor(lower)
    whiten(lower, ours)
    np.testing.assert_allclose(ours, np.linalg.solve(np.linalg.cholesky(covariance), rows), atol=1e-12)  # roundoff


# --- whole logs ---------------------------------------------------------------------------------------------------


def test_without_noise_the_truth_is_found(free):
    found = accelerometer(seen(free, LINEAR, model="full"))
    truth = truth_of(LINEAR, Triad("rad/s"))
    np.testing.assert_allclose(found.bias, LINEAR.bias, atol=1e-6)  # rounding of a log without noise: 1e-7 of g
    np.testing.assert_allclose(found.matrix, truth.matrix, atol=1e-6)


def test_a_case_on_its_faces_tells_the_whole_matrix(six):
    found = accelerometer(seen(six, LINEAR, model="squared", level_sigma_rad=0.0))
    np.testing.assert_allclose(found.matrix, np.linalg.inv(MATRIX), atol=1e-9)  # linear, no noise
    np.testing.assert_allclose(found.bias, LINEAR.bias, atol=1e-9)


def test_levelness_enters_the_deviations(six):
    level = 1e-3
    sigma = accelerometer(seen(six, LINEAR, model="squared", level_sigma_rad=level)).sigma["matrix"]
    # two poses for each column, tilted on their own: level / sqrt(2), by a matrix that is 1 within 3 %
    off = ~np.eye(3, dtype=bool)
    np.testing.assert_allclose(sigma[off], level / np.sqrt(2.0), rtol=0.06)
    assert sigma[np.eye(3, dtype=bool)].max() < 0.05 * level  # a tilt changes the length to second order only


def test_errors_are_as_large_as_they_are_said_to_be(free):
    """Eight specimens, all parameters, in units of the reported sigma; 100 of them in the claims."""
    errors = []
    for seed in range(8):
        triads = PART.draw(seed).triads()
        truth = truth_of(triads["accelerometer"], triads["gyroscope"])
        fit = calibrate_positions(free.log(triads, seed), G, model="cubic", noise=triads)
        errors += list(normalised(fit, truth).values())
    values = np.concatenate(errors)
    # chance: some 30 parameters, half of them independent, for 8 specimens: sigma 0.065; four of it
    assert abs(values.std() - 1.0) < 0.26
    assert np.abs(values).max() < 4.5


def test_unknown_noise_is_told_from_the_scatter_of_the_poses(free):
    errors = []
    for seed in range(8):
        triads = PART.draw(seed).triads()
        fit = seen(free, triads["accelerometer"], model="cubic")
        truth = truth_of(triads["accelerometer"], triads["gyroscope"])
        found = accelerometer(fit)
        errors.append((found.matrix - truth.matrix)[np.triu_indices(3)] / found.sigma["matrix"][np.triu_indices(3)])
    # chance as above, and the scatter itself is known from 12 degrees of freedom, to 20 %
    assert 0.6 < np.std(errors) < 1.5


def test_auto_takes_what_the_poses_tell(free, six):
    assert seen(six, PART.draw(1).triads()["accelerometer"]).model == "diagonal"
    bent = PART.draw(1).triads()["accelerometer"]
    assert seen(free, bent).model == "cubic"
    assert seen(free, replace(bent, nonlinearity=(0.0, 0.0, 0.0))).model == "full"


def test_what_was_assumed_is_said(six):
    fit = seen(six, PART.draw(1).triads()["accelerometer"])
    found = accelerometer(fit)
    assert np.isinf(found.sigma["matrix"][~np.eye(3, dtype=bool)]).all()
    assert np.isfinite(found.sigma["matrix"].diagonal()).all() and "cubic" not in found.sigma
    assert any("cross-coupling assumed 0" in said for said in found.found.undetermined)
    assert any("rotation" in said for said in found.found.undetermined)
    assert found.found.verdict == "usable" and "as many unknowns as poses" in " ".join(found.found.notes)
    assert found.found.data["distinct_poses"] == 6 and found.found.data["temperature_c"] == 25.0


def test_six_faces_are_as_good_as_they_say():
    errors = []
    for seed in range(12):
        acc = PART.draw(seed, range={"accelerometer": 4.0}).triads()["accelerometer"]
        log = Ideal.of(Poses.six(tilt_deg=0.05, seed=seed, **SIX)).log({"accelerometer": acc}, seed)
        level = float(np.radians(0.05))
        fit = calibrate_positions(log, G, model="squared", noise={"accelerometer": acc}, level_sigma_rad=level)
        errors += list(squared_normalised(fit, acc).values())
    # chance: 12 unknowns of 12 specimens, sigma 0.06; four of it
    assert abs(np.concatenate(errors).std() - 1.0) < 0.24


def test_poses_at_the_end_of_the_range_are_left_out(free):
    triad = replace(PART.draw(1).triads()["accelerometer"], full_scale=9.4)
    read = free.log({"accelerometer": triad}, 1)
    clipped = (np.abs(read.acc_s) > 9.39).any(axis=1)
    for log in (read, Recording(read.t, acc_s=read.acc_s, clipped=clipped)):
        fit = calibrate_positions(log, G, model="full")
        assert len(fit.poses) < 24
        assert "poses were rejected: the accelerometer was at the end of its range" in accelerometer(fit).found.notes[0]


# --- refused ------------------------------------------------------------------------------------------------------


def refused(recording, match, gravity=G, **settings):
    with pytest.raises(InputError, match=match) as caught:
        calibrate_positions(recording, gravity, **settings)
    assert "\n" not in str(caught.value)


def test_too_few_poses_are_refused():
    log = Ideal.of(Poses(spread(7), **SIX)).log({"accelerometer": LINEAR}, 1)
    refused(log, r"7 usable poses are too few for the 9 unknowns .*diagonal", model="full")
    refused(log, r"7 usable poses are too few for the 12 unknowns", model="cubic")
    four = Ideal.of(Poses(spread(4), **SIX)).log({"accelerometer": LINEAR}, 1)
    refused(four, r"4 usable poses are too few for the 6 unknowns")


def test_poses_that_point_too_much_the_same_way_are_refused():
    """Ten poses within 20 deg of level: enough of them, but no axis goes down."""
    level = np.tile([1.0, 0.0, 0.0, 0.0], (10, 1))
    from strapdown.motion.paths.poses import scattered

    log = Ideal.of(Poses(scattered(level, 8.0, 3), **SIX)).log({"accelerometer": LINEAR}, 1)
    refused(log, r"usable poses do not tell .*bias.* put each axis up, down and level", model="diagonal")


def test_poses_all_alike_are_refused():
    same = Poses(np.array([[1.0, 0.0, 0.0, 0.0], [0.7, 0.0, 0.0, 0.714142842854285]]), hold_s=3.0, turn_s=4.0)
    log = Ideal.of(same).log(PART.draw(1).triads(), 1)
    refused(log, "all 2 still poses point the same way")


def test_raw_counts_and_other_units_are_refused(six):
    log = six.log({"accelerometer": PART.draw(1).triads()["accelerometer"]}, 1)
    refused(Recording(log.t, acc_s=log.acc_s * 1670.0), r"raw counts .*column mapping \(docs/io.md\)")
    refused(Recording(log.t, acc_s=log.acc_s / 9.81), "look like g;")


def test_other_bad_input_is_refused(six, free):
    log = six.log({"accelerometer": LINEAR}, 1)
    refused(log, "not known; valid: auto", model="ellipsoid")
    refused(log, "gravity_m_s2 is 1.0", gravity=1.0)
    refused(log, "level_sigma_rad is -1", model="squared", level_sigma_rad=-1.0)
    refused(Recording(log.t, gyr_s=log.acc_s), "no accelerometer")
    refused(free.log({"accelerometer": LINEAR}, 1), "deg off the nearest face", model="squared")
    three = Ideal.of(Poses(np.array(Poses.six().q_nb)[:3], **SIX)).log({"accelerometer": LINEAR}, 1)
    refused(three, r"stood on 3 faces only \(up: \+x, \+z, -z\)", model="squared")
    stuck = replace(noiseless(LINEAR), full_scale=5.0)
    everywhere = six.log({"accelerometer": stuck}, 1)
    all_clipped = Recording(everywhere.t, acc_s=everywhere.acc_s, clipped=np.ones(len(everywhere), dtype=bool))
    refused(all_clipped, "reads 5.* where gravity is|end of the accelerometer's range")


def test_one_pose_is_refused():
    rest = Ideal.of(Poses(np.array([[1.0, 0.0, 0.0, 0.0]]), **SIX)).log(PART.draw(1).triads(), 1)
    refused(rest, "there is one usable still pose")


# --- recorded, claims, figure -------------------------------------------------------------------------------------


def test_seven_poses_of_a_real_log_are_refused_for_nine_unknowns():
    raw = np.loadtxt(shared_data("mpu6050") / "example_data_calibration.csv", delimiter=",", skiprows=5)
    t = np.arange(len(raw)) / 100.0
    log = Recording(t, acc_s=raw[:, :3] * 9.80665 / 16384.0, gyr_s=np.radians(raw[:, 3:] / 131.0))
    refused(log, "7 usable poses .* 9 unknowns", 9.80665, model="full")
    fit = calibrate_positions(log, 9.80665)
    found = accelerometer(fit).found
    # cross-coupling that seven poses do not tell: 2 % / 3 of gravity for each of three pairs of axes
    assert fit.model == "diagonal" and found.verdict == "usable" and found.data["limited_by"] == "poses"
    assert found.data["expected_m_s2"] > 0.02 / 3.0 * 9.80665 * np.sqrt(0.8)
    assert "7 usable poses tell the 6 unknowns" in found.notes[0]
    assert fit.turns is not None and fit.turns.missing is not None
    refused(Recording(t, acc_s=raw[:, :3], gyr_s=raw[:, 3:]), "raw counts", 9.80665)


def test_claims_on_recorded_data_hold():
    found = real_claims(shared_data("imu_tk_xsens").parent)
    assert [claim.id for claim in found if not claim.holds] == []


def test_claims_are_made_for_every_parameter():
    """Two specimens: the numbers mean nothing yet, the bounds on new attitudes hold already."""
    progress = []
    found = {claim.id.removeprefix("C/calibration/positions/"): claim for claim in claims(progress.append, runs=2)}
    assert progress[-1] == 1.0
    for name in ("accelerometer/bias", "accelerometer/matrix", "accelerometer/cubic", "gyroscope/bias"):
        assert {f"{name}/mean", f"{name}/least", f"{name}/most"} <= set(found)
    assert {"gyroscope/matrix/mean", "gyroscope/cubic/mean", "gyroscope/g_sensitivity/mean"} <= set(found)
    assert all(claim.holds for name, claim in found.items() if "new-attitudes" in name)


def test_figure_shows_what_was_found(free):
    fit = seen(free, PART.draw(1).triads()["accelerometer"], model="full")
    figure = positions_figure(fit, "a virtual part")
    assert "24 poses, model full" in figure.get_suptitle()
    assert "no gyroscope" in "".join(text.get_text() for axis in figure.axes for text in axis.texts)
    after = next(line for line in figure.axes[0].lines if "fitted" in str(line.get_label()))
    np.testing.assert_allclose(after.get_ydata(), 1e3 * fit.accelerometer.after / G)


def test_a_log_that_is_calibrated_already_is_refused(six):
    from strapdown.calibration.apply import apply

    log = six.log(PART.draw(1).triads(), 1)
    done = apply(calibrate_positions(log, G).calibration, log)
    for name in ("accelerometer", "gyroscope"):
        one = replace(log, meta={"calibrated": {name: done.meta["calibrated"][name]}})
        refused(one, f"the {name} of this log is calibrated already")


def test_noise_that_was_not_given_is_said_so(six):
    triads = PART.draw(1).triads()
    log = six.log(triads, 1)
    for noise, said in ((triads, "given"), (None, "estimated from the log")):
        for correction in calibrate_positions(log, G, noise=noise).calibration.corrections.values():
            assert correction.found.data["noise"] == said
            assert ("too small by up to 2" in " ".join(correction.found.notes)) == (noise is None)


def test_six_poses_leave_nothing_to_compare_and_name_what_they_leave_out(six):
    triads = PART.draw(1, {"accelerometer": 2.0, "gyroscope": 250.0}).triads()
    found = accelerometer(calibrate_positions(six.log(triads, 1), G, noise=triads)).found
    assert found.residual_rms is None
    assert "per axis between the axes" in " ".join(found.notes) and "model squared" in " ".join(found.notes)
    # 8 / sqrt(27) a g (g / R)^2 with a = 0.5 % and R = 2 g, but for its largest count
    assert any("straight line over +-1 g" in said and "1.9 mg between" in said for said in found.undetermined)
