"""NEES and NIS: right for a filter that states the truth, distinguished from one that does not."""

import numpy as np
import pytest

from strapdown.errors import InputError
from strapdown.evaluation.consistency import (
    THREE_SIGMA_SHARE,
    chi_square_bounds,
    nees_consistency,
    nis_consistency,
    normalised_squares,
    normalised_squares_from_sigma,
    share_inside,
)

COVARIANCE = np.array([[4.0, 1.8, 0.0], [1.8, 1.0, 0.1], [0.0, 0.1, 0.25]])


def drawn(n, seed):
    return np.random.default_rng(seed).multivariate_normal(np.zeros(3), COVARIANCE, size=n)


def test_bounds_are_those_of_tables():
    """Printed tables of chi-square, 100 degrees: 2.5 % lie below 74.222, 2.5 % above 129.561; 50 runs of 2 states."""
    assert np.allclose(np.array(chi_square_bounds(2, 50)) * 50, (74.222, 129.561), atol=0.0006)  # print rounding
    low, high = chi_square_bounds(1, 1, THREE_SIGMA_SHARE - 1e-16)
    assert 0.0 < low < 1e-5 and high > 9.0


def test_squares_by_hand_and_by_inverse():
    assert normalised_squares([[2.0, 0.0]], [np.diag([4.0, 1.0])]).tolist() == [1.0]
    errors = drawn(50, 1)
    by_inverse = np.einsum("ni,ij,nj->n", errors, np.linalg.inv(COVARIANCE), errors)
    np.testing.assert_allclose(normalised_squares(errors, np.tile(COVARIANCE, (50, 1, 1))), by_inverse, rtol=1e-12)


def test_the_mean_is_the_number_of_components_also_from_sigma_alone():
    n = 20_000
    errors = drawn(n, 2)
    full = normalised_squares(errors, np.tile(COVARIANCE, (n, 1, 1)))
    assert abs(full.mean() - 3.0) < 5 * np.sqrt(6.0 / n)  # chance: five sigmas of a mean of chi-square of 3
    sigma = np.tile(np.sqrt(np.diag(COVARIANCE)), (n, 1))
    alone = normalised_squares_from_sigma(errors, sigma)
    assert abs(alone.mean() - 3.0) < 5 * np.sqrt(18.0 / n)  # correlations at most triple the variance
    assert alone.var() > 1.3 * full.var()  # 2 * sum of squared correlations is 9.4, against 6
    assert abs(share_inside(errors, sigma) - THREE_SIGMA_SHARE) < 5 * np.sqrt(0.0027 / n)  # chance


@pytest.mark.parametrize(("scale", "verdict"), [(1.0, "consistent"), (0.8, "over-confident"), (1.25, "too timid")])
def test_a_filter_that_is_wrong_about_itself_is_found(scale, verdict):
    runs, times = 50, 30
    errors = drawn(runs * times, 5).reshape(runs, times, 3)
    nees = normalised_squares(errors, np.broadcast_to(scale**2 * COVARIANCE, (runs, times, 3, 3)))
    found = nees_consistency(nees, 3)
    assert found.verdict == verdict and found.holds == (verdict == "consistent")
    assert (found.degrees, found.averaged) == (3, runs)
    assert (found.low, found.high) == chi_square_bounds(3, runs)
    if scale == 1.0:
        assert found.share_inside >= 25 / 30  # chance: 95 % of 30, five fail in one of 300 draws
    # here all are independent, as innovations are; wide bounds, so that chance does not decide
    nis = nis_consistency(nees.ravel(), 3, probability=0.9999)
    assert nis.averaged == runs * times and nis.verdict == verdict


def test_share_of_single_numbers():
    found = nis_consistency([0.5, 1.0, 2.0, 100.0], 2)
    assert found.share_inside == 0.75 and found.mean == 25.875 and found.verdict == "over-confident"


def test_a_start_that_is_exactly_known():
    assert normalised_squares_from_sigma([[0.0, 1.0]], [[0.0, 0.5]]).tolist() == [4.0]
    assert normalised_squares_from_sigma([[0.1, 1.0]], [[0.0, 0.5]]).tolist() == [np.inf]


def test_what_cannot_be_judged_is_said():
    with pytest.raises(InputError, match="sample 1 is not positive definite"):
        normalised_squares(np.ones((3, 2)), [np.eye(2), np.diag([1.0, 0.0]), np.eye(2)])
    with pytest.raises(InputError, match="expected"):
        normalised_squares(np.ones((3, 2)), np.ones((3, 3)))
    with pytest.raises(InputError, match="must be the same"):
        normalised_squares_from_sigma(np.ones((3, 2)), np.ones((3, 3)))
    with pytest.raises(InputError, match="must be the same"):
        share_inside([], [])
    with pytest.raises(InputError, match="NaN"):
        nis_consistency([1.0, np.nan], 2)
    with pytest.raises(InputError, match="runs, times"):
        nees_consistency([1.0, 2.0], 2)
    with pytest.raises(InputError, match="do not exist"):
        chi_square_bounds(0)
