"""Attitude errors by known rotations, and the BROAD benchmark's reader and score."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from helpers import shared_data
from strapdown.errors import InputError
from strapdown.evaluation.attitude import attitude_errors, rmse, rmse_deg
from strapdown.papers.b.broad_data import all_trials, read_trial, score
from strapdown.rotation import q_exp, q_mul, q_normalise
from strapdown.types import Solution

ROUNDOFF = 1e-12  # of a dozen operations on numbers near 1

unit_quaternion = (
    arrays(np.float64, 4, elements=st.floats(-1.0, 1.0)).filter(lambda q: np.linalg.norm(q) > 0.1).map(q_normalise)
)


@given(unit_quaternion, st.floats(-3.1, 3.1), st.floats(0.0, 3.1), st.floats(-3.1, 3.1))
@settings(max_examples=60, derandomize=True, deadline=None)
def test_a_turn_then_a_tilt_is_told_apart(q_ns, turn, tilt, direction):
    """A turn by h about the vertical after a tilt by i about a level axis has heading h and inclination i."""
    axis = np.array([np.cos(direction), np.sin(direction), 0.0])
    error = attitude_errors(q_mul(q_exp([0.0, 0.0, turn]), q_mul(q_exp(tilt * axis), q_ns)), q_ns)
    assert abs(error.heading - turn) < 1e-10  # roundoff over cos(3.1 / 2) = 0.02 twice
    assert abs(error.inclination - tilt) < 1e-10
    assert abs(np.cos(0.5 * error.total) - abs(np.cos(0.5 * turn) * np.cos(0.5 * tilt))) < ROUNDOFF


@given(unit_quaternion, unit_quaternion)
@settings(max_examples=40, derandomize=True, deadline=None)
def test_sign_of_a_quaternion_and_order_do_not_matter(a, b):
    error, other, back = attitude_errors(a, b), attitude_errors(-a, b), attitude_errors(b, a)
    np.testing.assert_array_equal(np.abs(error), np.abs(other))
    np.testing.assert_allclose([back.total, back.inclination], [error.total, error.inclination], atol=ROUNDOFF)


def test_small_angles_keep_their_digits_and_no_error_is_zero():
    q_ns = np.array([0.5, -0.5, 0.5, 0.5])
    assert attitude_errors(q_ns, q_ns).total == 0.0
    tiny = attitude_errors(q_mul(q_exp([3e-9, 4e-9, 0.0]), q_ns), q_ns)
    assert abs(tiny.total / 5e-9 - 1.0) < 1e-6  # an arc cosine would say 0: 1 - cos is below roundoff


def test_rmse_counts_the_mask_and_leaves_missing_truth_out():
    q_ref = np.tile([1.0, 0.0, 0.0, 0.0], (4, 1))
    q_ref[3] = np.nan
    q_est = q_exp(np.deg2rad([[0.0, 0.0, 3.0], [0.0, 0.0, -4.0], [0.0, 5.0, 0.0], [1.0, 1.0, 1.0]]))
    errors = attitude_errors(q_est, q_ref)
    assert np.isnan(errors.total[3])
    np.testing.assert_allclose(rmse_deg(errors, np.array([True, True, False, True])), [12.5**0.5, 12.5**0.5, 0.0])
    np.testing.assert_allclose(rmse(errors.inclination), np.deg2rad(5.0) / 3**0.5)
    with pytest.raises(InputError, match="no sample has both"):
        rmse(errors.total, np.array([False, False, False, True]))
    with pytest.raises(InputError, match="cannot be held against"):
        attitude_errors(q_est, q_ref[:2])


def test_a_trial_is_read_and_the_truth_itself_scores_zero():
    folder = shared_data("broad")
    trial = read_trial(folder / "12_undisturbed_slow_translation_C.mat")
    assert trial.name == "12_undisturbed_slow_translation_C"
    assert abs(trial.recording.t[-1] * 285.714285714 / (len(trial.q_ns) - 1) - 1.0) < 1e-9  # rate printed in the paper
    assert np.isnan(trial.q_ns).any() and not np.isnan(trial.q_ns[trial.movement]).all()
    truth = np.where(np.isnan(trial.q_ns), [1.0, 0.0, 0.0, 0.0], trial.q_ns)
    truth = q_normalise(truth)
    off = Solution(trial.recording.t, q_mul(q_exp([0.0, 0.0, np.deg2rad(2.0)]), truth))
    np.testing.assert_allclose(score(off, trial), [2.0, 2.0, 0.0], atol=1e-6)  # the file's norms are 1 to 1e-8
    with pytest.raises(InputError, match="has 10 samples and trial 12"):
        score(Solution(trial.recording.t[:10], truth[:10]), trial)


def test_a_folder_or_file_that_is_not_broad_is_told_in_a_sentence(tmp_path):
    with pytest.raises(InputError, match=r"has no trial of BROAD"):
        all_trials(tmp_path)
    with pytest.raises(InputError, match="there is no file"):
        read_trial(tmp_path / "01.mat")
    (tmp_path / "01.mat").write_bytes(b"not a MATLAB file")
    with pytest.raises(InputError, match="cannot be read as a MATLAB file"):
        read_trial(tmp_path / "01.mat")
    from scipy.io import savemat

    savemat(tmp_path / "02.mat", {"imu_gyr": np.zeros((5, 3))})
    with pytest.raises(InputError, match="has no imu_acc and no imu_mag"):
        read_trial(tmp_path / "02.mat")
