"""The ellipsoid through readings: exact without noise, unbiased with it, honest about its sigmas, hard to fool."""

import numpy as np
import pytest

from strapdown.calibration.coverage import CELLS, axis_word, cell_centres, cell_edges, cells_of, coverage, missing_words
from strapdown.calibration.magnetometer.ellipsoid import (
    fit_ellipsoid,
    packed,
    place_weights,
    principal_spread,
    unpacked,
)
from strapdown.errors import InputError

BLOCKS = 100


def sphere(n, rng):
    v = rng.normal(size=(n, 3))
    return v / np.linalg.norm(v, axis=1, keepdims=True)


def readings(n, seed, noise=0.0, skew=0.1, radius=50.0):
    """(readings, centre, symmetric matrix) of a random triad y = A x + h: C^2 = (A A^T)^-1 / |x|^2."""
    rng = np.random.default_rng(seed)
    a, h = np.eye(3) + skew * rng.normal(size=(3, 3)), 30.0 * rng.normal(size=3)
    y = radius * sphere(n, rng) @ a.T + h + noise * rng.normal(size=(n, 3))
    values, vectors = np.linalg.eigh(np.linalg.inv(a @ a.T))
    return y, h, (vectors * np.sqrt(values)) @ vectors.T / radius


def blocks(n, count=BLOCKS):
    return (np.arange(n) * count // n).astype(np.int64)


def deviations(fit):
    """Of the fit's own parameters, by the scatter of the blocks."""
    inverse, count = np.linalg.inv(fit.slope), len(fit.scores)
    return np.sqrt(np.diag(inverse @ fit.scores.T @ fit.scores @ inverse.T) * count / (count - 9))


def errors(fit, h, c):
    return fit.parameters - np.append((h - fit.origin) / fit.length, packed(c * fit.length))


@pytest.mark.parametrize("skew", [0.0, 0.1, 0.25])
def test_without_noise_the_ellipsoid_is_found_exactly(skew):
    y, h, c = readings(500, 3, skew=skew)
    fit = fit_ellipsoid(y, blocks(500))
    # the scale of the robust weights ends at 1e-9 of the size, and so do the last steps
    np.testing.assert_allclose(fit.centre, h, atol=1e-6)
    np.testing.assert_allclose(fit.matrix, c, atol=1e-8)
    assert np.abs(fit.distance).max() < 1e-6


def test_large_noise_makes_no_bias_and_the_stated_deviations_are_true():
    z = []
    for seed in range(40):
        y, h, c = readings(2000, seed, noise=2.5)  # 5 % of the radius: a plain fit is off by 0.25 %, 2 sigmas
        fit = fit_ellipsoid(y, blocks(2000))
        z.append(errors(fit, h, c) / deviations(fit))
    z = np.array(z)
    # chance: nine means of 40, four of their sigmas; 360 numbers, of which four sigmas of a sigma
    assert np.abs(z.mean(axis=0)).max() < 4.0 / np.sqrt(40.0)
    assert abs(z.std() - 1.0) < 4.0 / np.sqrt(2.0 * 360.0)


def test_a_plain_norm_fit_is_biased_where_ours_is_not():
    """What the curvature term is for: the mean radius of noisy readings is too large by the variance over it."""
    size = []
    for seed in range(10):
        y, _, c = readings(5000, 100 + seed, noise=2.5, skew=0.0)
        fit = fit_ellipsoid(y, blocks(5000))
        size.append(np.trace(fit.matrix) / np.trace(c) - 1.0)
    bias = (2.5 / 50.0) ** 2
    assert abs(np.mean(size)) < 0.35 * bias  # chance: 5 % / sqrt(50 000) = 0.09 of the bias; four of it


@pytest.mark.parametrize("share", [0.05, 0.08])
def test_gross_errors_do_not_decide(share):
    y, _, _ = readings(4000, 7, noise=0.3)
    plain = fit_ellipsoid(y, blocks(4000))
    rng = np.random.default_rng(8)
    bad = rng.random(4000) < share
    y[bad] = rng.uniform(-300.0, 300.0, (int(bad.sum()), 3))
    hit = fit_ellipsoid(y, blocks(4000))
    moved = np.append((hit.centre - plain.centre) / plain.length, packed(hit.matrix - plain.matrix) * plain.length)
    assert np.abs(moved / deviations(plain)).max() < 3.0
    assert (hit.weight[bad] == 0.0).mean() > 0.9  # the others happen to lie near the surface
    assert (hit.weight[~bad] == 0.0).mean() < 1e-3


def test_a_long_rest_counts_as_one_place():
    y, _, _ = readings(3000, 11, noise=0.3)
    rest = y[:1] + np.array([1.0, 0.0, 0.0]) + 0.3 * np.random.default_rng(1).normal(size=(30_000, 3))
    fit = fit_ellipsoid(np.concatenate([rest, y]), blocks(33_000))
    alone = fit_ellipsoid(y, blocks(3000))
    assert np.abs(fit.centre - alone.centre).max() < 0.1  # one place of many, which is wrong by 1 uT
    assert fit.weight[:30_000].sum() < 0.1 * fit.weight.sum()


def test_weights_of_even_readings_are_one():
    assert place_weights(sphere(5000, np.random.default_rng(0))).min() > 0.5


def test_correlated_noise_is_in_the_stated_deviations():
    """Noise that keeps for 20 samples, while the sensor turns slowly; as white noise it would count for far less."""
    z, as_white = [], []
    n, held = 3000, 20
    around, up = 0.02 * np.arange(n), np.linspace(-0.999, 0.999, n)
    x = np.column_stack([np.sqrt(1.0 - up**2) * np.cos(around), np.sqrt(1.0 - up**2) * np.sin(around), up])
    for seed in range(15):
        noise = np.repeat(np.random.default_rng(seed).normal(size=(n // held, 3)), held, axis=0)
        y = 50.0 * x + 0.3 * noise
        error = errors(fit_ellipsoid(y, blocks(n)), np.zeros(3), np.eye(3) / 50.0)[:3]
        z.append(error / deviations(fit_ellipsoid(y, blocks(n)))[:3])
        as_white.append(error / deviations(fit_ellipsoid(y, blocks(n, n)))[:3])
    assert abs(np.std(z) - 1.0) < 4.0 / np.sqrt(2.0 * 45.0)  # chance: 45 numbers
    assert np.std(as_white) > 2.5 * np.std(z)  # sqrt(20) in the limit of a slow turn


def test_readings_that_tell_no_ellipsoid_are_refused():
    rng = np.random.default_rng(0)
    circle = np.column_stack([np.cos(np.arange(500.0)), np.sin(np.arange(500.0)), 0.3 + 0.001 * rng.normal(size=500)])
    with pytest.raises(InputError, match="lie in a plane"):
        fit_ellipsoid(50.0 * circle, blocks(500))
    with pytest.raises(InputError, match="do not change"):
        fit_ellipsoid(np.ones((500, 3)), blocks(500))
    with pytest.raises(InputError, match="too few"):
        fit_ellipsoid(sphere(20, rng), blocks(20, 5))
    y, _, _ = readings(2000, 1, noise=0.1)
    y[::2] = rng.uniform(-100.0, 100.0, (1000, 3))
    with pytest.raises(InputError, match=r"far from the best ellipsoid|scatter by|no ellipsoid"):
        fit_ellipsoid(y, blocks(2000))
    with pytest.raises(InputError, match="scatter by"):
        fit_ellipsoid(rng.normal(size=(2000, 3)), blocks(2000))


def test_spread_names_the_flat_direction():
    rng = np.random.default_rng(2)
    spread, directions = principal_spread(rng.normal(size=(3000, 3)) * [5.0, 0.1, 5.0])
    assert spread[0] == pytest.approx(0.1, rel=0.1) and abs(directions[1, 0]) > 0.99  # chance: 1 % of 3000


def test_packing():
    m = np.array([[1.0, 4.0, 5.0], [4.0, 2.0, 6.0], [5.0, 6.0, 3.0]])
    assert np.array_equal(unpacked(packed(m)), m)


def test_cells_are_equal_and_whole():
    edges = cell_edges()
    areas = (edges[:, 1] - edges[:, 0]) * (edges[:, 3] - edges[:, 2])
    np.testing.assert_allclose(areas, 4.0 * np.pi / CELLS, rtol=1e-14)  # roundoff
    assert np.array_equal(cells_of(cell_centres()), np.arange(CELLS))
    counts = coverage(sphere(64_000, np.random.default_rng(0))).counts
    assert np.abs(counts - 1000).max() < 5.0 * np.sqrt(1000.0)  # chance


def test_coverage_tells_what_is_missing():
    v = sphere(20_000, np.random.default_rng(3))
    whole = coverage(v)
    assert whole.share == 1.0 and whole.gap_rad == 0.0 and missing_words(whole, v) == []
    below = v[v[:, 2] < 0.0]
    half = coverage(below)
    assert half.share == 0.5 and axis_word(half.gap_s) == "+z"
    said = " ".join(missing_words(half, -below))
    assert "never turned upside down: +z" in said and "never pointed along +z" in said
    level = np.tile([0.0, 0.1, 0.99], (100, 1))
    assert "only turned about the vertical: +z stayed up" in missing_words(half, level)[0]
