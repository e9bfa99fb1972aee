"""Wind: Dryden turbulence against the formulas of MIL-F-8785C, and gusts."""

import math

import numpy as np
import pytest
from scipy.signal import welch

from strapdown.environment.session.world.wind import Gust, Wind, gust_at
from strapdown.sensors.streams import branch, seed_of

FOOT = 0.3048
HEIGHT_M, SPEED, DT, STEPS = 4.0, 30.0, 0.005, 120_000


def scales(height_m, wind_6m):
    """L_u, L_w (m), sigma_u, sigma_w (m/s): MIL-F-8785C, low altitude, with the height in feet."""
    h = height_m / FOOT
    return (
        h / (0.177 + 0.000823 * h) ** 1.2 * FOOT,
        h * FOOT,
        0.1 * wind_6m / (0.177 + 0.000823 * h) ** 0.4,
        0.1 * wind_6m,
    )


@pytest.fixture(scope="module")
def blown():
    """u along the mean wind, v across it, w up; m/s."""
    wind = Wind((3.0, 4.0, 0.5), turbulence_m_s=10.0)
    state = wind.start(branch(seed_of(5, "wind"), 1)[0])
    found = np.empty((STEPS, 3))
    for i in range(STEPS):
        state, found[i] = wind.step(state, HEIGHT_M, SPEED, DT)
    found -= np.array(wind.mean_n)
    east, north, up = found.T
    return np.stack([0.6 * east + 0.8 * north, -0.8 * east + 0.6 * north, up], axis=1)


@pytest.mark.parametrize("height_m", [4.0, 20.0, 200.0])
def test_scales_are_those_of_the_standard(height_m):
    assert Wind(turbulence_m_s=7.0).scales(height_m) == pytest.approx(scales(height_m, 7.0), rel=1e-12)


@pytest.mark.parametrize(("height_m", "as_at_m"), [(0.5, 10 * FOOT), (2000.0, 1000 * FOOT)])
def test_outside_of_its_heights_the_model_is_held(height_m, as_at_m):
    assert Wind(turbulence_m_s=7.0).scales(height_m) == pytest.approx(scales(as_at_m, 7.0), rel=1e-12)


def test_standard_deviations_are_those_of_the_standard(blown):
    l_u, l_w, sigma_u, sigma_w = scales(HEIGHT_M, 10.0)
    for values, sigma, length in zip(blown.T, (sigma_u, sigma_u, sigma_w), (l_u, l_u, l_w), strict=True):
        independent = STEPS * DT * SPEED / (2.0 * length)  # correlation lasts length / speed, to both sides
        assert values.std() == pytest.approx(sigma, rel=4.0 / math.sqrt(2.0 * independent))  # chance: four sigmas


def test_spectra_are_dryden_s(blown):
    l_u, l_w, sigma_u, sigma_w = scales(HEIGHT_M, 10.0)
    for k, (length, sigma) in enumerate(((l_u, sigma_u), (l_u, sigma_u), (l_w, sigma_w))):
        f, power = welch(blown[:, k], 1.0 / DT, nperseg=8192)
        x = (2.0 * math.pi * f * length / SPEED) ** 2
        # per Hz and one-sided: 2 pi times the density over the angular frequency
        if k == 0:
            expected = 4.0 * sigma**2 * length / SPEED / (1.0 + x)
        else:
            expected = 2.0 * sigma**2 * length / SPEED * (1.0 + 3.0 * x) / (1.0 + x) ** 2
        # above 10 Hz the noise that is held over a step of 5 ms shows; below 0.1 Hz there are too few averages
        for low, high in ((0.1, 0.5), (0.5, 2.0), (2.0, 10.0)):
            band = (f >= low) & (f < high)
            averages = 2.0 * STEPS / 8192 * band.sum()
            ratio = np.mean(power[band] / expected[band])
            assert ratio == pytest.approx(1.0, abs=4.0 / math.sqrt(averages) + 0.03)  # chance, and the held noise


def test_components_are_independent(blown):
    correlation = np.corrcoef(blown.T)
    assert np.abs(correlation - np.eye(3)).max() < 0.15  # 4 sigmas of about 800 independent values


def test_without_turbulence_the_wind_is_its_mean():
    wind = Wind((1.0, 2.0, 3.0))
    state = wind.start(branch(seed_of(1, "wind"), 1)[0])
    assert wind.step(state, 5.0, 3.0, 0.01)[1].tolist() == [1.0, 2.0, 3.0]


def test_turbulence_goes_on_to_the_bit_from_a_kept_state():
    wind = Wind((1.0, 0.0, 0.0), 5.0)
    state = wind.start(branch(seed_of(2, "wind"), 1)[0])
    for _ in range(300):  # beyond one block of random numbers
        state, _ = wind.step(state, 5.0, 3.0, 0.004)
    kept, first, second = state, [], []
    for series in (first, second):
        state = kept
        for _ in range(300):
            state, now = wind.step(state, 5.0, 3.0, 0.004)
            series.append(now.tolist())
    assert first == second


def test_a_gust_has_the_form_one_minus_cos():
    gust = Gust((2.0, -4.0, 1.0), at_s=10.0, for_s=4.0)
    assert gust_at((gust,), 9.999) == (0.0, 0.0, 0.0)
    assert gust_at((gust,), 12.0) == pytest.approx((2.0, -4.0, 1.0))
    assert gust_at((gust,), 11.0) == pytest.approx((1.0, -2.0, 0.5))
    assert gust_at((gust,), 10.5) == pytest.approx(np.array([2.0, -4.0, 1.0]) * 0.5 * (1.0 - math.cos(math.pi / 4.0)))
    assert gust_at((gust,), 14.0) == (0.0, 0.0, 0.0)
    assert gust_at((gust, gust), 12.0) == pytest.approx((4.0, -8.0, 2.0))
