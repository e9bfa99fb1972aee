"""Barometer and atmosphere: pressure by height against the tables, lag, drift and noise against their formulas."""

import math

import numpy as np
import pytest

from strapdown.atmosphere import EARTH, MARS, Atmosphere
from strapdown.errors import InputError
from strapdown.motion import Linear, Rest
from strapdown.sensors.aiding.barometer import Barometer
from strapdown.sensors.streams import seed_of

SEED = seed_of(2, "air")
STEP = 0.01


def every(part, heights, step=STEP, **more):
    state, found = part.start(SEED, step), []
    for k, height in enumerate(heights):
        state, pressure = part.read(state, k * step, height, **more)
        found.append(pressure)
    return np.array(found, dtype=np.float64)


@pytest.mark.parametrize(
    ("height", "pressure", "celsius", "density"),
    # ISO 2533, tables of pressure (Pa), temperature and density
    [
        (0, 101325, 15.0, 1.2250),
        (1000, 89874.6, 8.5, 1.1116),
        (5000, 54019.9, -17.5, 0.73612),
        (11000, 22632, -56.5, 0.36391),
    ],
)
def test_the_earths_air_is_the_standard_atmosphere(height, pressure, celsius, density):
    assert EARTH.pressure_at(height) == pytest.approx(pressure, rel=1e-5)  # print rounding of the table
    assert EARTH.temperature_at(height) == pytest.approx(celsius, abs=1e-9)
    assert EARTH.density_at(height) == pytest.approx(density, rel=5e-5)


@pytest.mark.parametrize("air", [EARTH, MARS, Atmosphere("isothermal", 1e5, 20.0, 0.0, 287.0, 9.8, 9000.0)])
def test_pressure_obeys_hydrostatic_balance_and_height_undoes_it(air):
    for height in (-300.0, 0.0, 12.0, 2500.0, 6000.0):
        h = 1.0
        slope = (air.pressure_at(height + h) - air.pressure_at(height - h)) / (2.0 * h)
        # step order: h^2 / 6 of the third derivative, 1e-9 of the slope
        assert slope == pytest.approx(-air.density_at(height) * air.gravity_m_s2, rel=1e-7)
        assert air.height_of(air.pressure_at(height)) == pytest.approx(height, abs=1e-7)


def test_mars_has_a_seventieth_of_the_earths_density():
    assert MARS.density_at(0.0) == pytest.approx(0.0150, abs=5e-5)
    assert EARTH.density_at(0.0) / MARS.density_at(0.0) > 70.0


def test_weather_changes_pressure_and_temperature_at_the_ground():
    today = EARTH.with_ground(pressure_pa=99_000.0, temperature_c=30.0)
    assert today.pressure_at(0.0) == 99_000.0 and today.temperature_at(100.0) == pytest.approx(29.35)
    assert today.lapse_k_m == EARTH.lapse_k_m


def test_a_reading_has_its_noise_bias_and_rounding():
    n = 20_000
    values = every(Barometer(rate_hz=None, sigma_pa=2.0, bias_pa=100.0), [50.0] * n)
    assert abs(values.mean() - EARTH.pressure_at(50.0) - 100.0) < 5.0 * 2.0 / math.sqrt(n)
    assert abs(values.std() / 2.0 - 1.0) < 5.0 / math.sqrt(2.0 * n)
    rounded = every(Barometer(rate_hz=None, sigma_pa=0.0, resolution_pa=10.0), [0.0, 1.0])
    assert np.array_equal(rounded, [101_320.0, 101_310.0])  # 101325 rounds to the even ten
    warm = every(Barometer(rate_hz=None, sigma_pa=0.0, per_degc_pa=1.5), [0.0], temperature_c=35.0)
    assert warm[0] == pytest.approx(101_325.0 + 15.0, rel=1e-15)


def test_a_drift_has_its_size_and_time_constant():
    n, tau = 40_000, 1.0
    drift = every(Barometer(rate_hz=None, sigma_pa=0.0, drift_pa=30.0, drift_s=tau), [0.0] * n) - 101_325.0
    spans = n * STEP / tau
    assert abs(drift.std() / 30.0 - 1.0) < 5.0 / math.sqrt(spans)
    for lag in (30, 100):
        assert abs((drift[lag:] * drift[:-lag]).mean() / 900.0 - math.exp(-lag * STEP / tau)) < 5.0 / math.sqrt(spans)


def test_a_lag_follows_a_climb_behind_by_its_time_constant():
    lag, climb = 0.2, 3.0
    part = Barometer(rate_hz=None, sigma_pa=0.0, lag_s=lag)
    values = every(part, [climb * k * STEP for k in range(400)])
    behind = EARTH.height_of(values[-1]) - climb * 399 * STEP
    assert behind == pytest.approx(-climb * lag, rel=1e-3)  # the pressure's curve over 0.6 m
    step = every(part, [0.0] + [100.0] * 300)
    parts = (step - step[0]) / (EARTH.pressure_at(100.0) - step[0])
    w = STEP / lag
    k = np.arange(1, 301)
    # a ramp over one step, then the exponential
    assert np.allclose(1.0 - parts[1:], -math.expm1(-w) / w * np.exp(-(k - 1) * w), rtol=0.0, atol=1e-9)


def test_height_and_its_sigma_come_back_from_the_pressure():
    part = Barometer(sigma_pa=1.2, drift_pa=5.0, resolution_pa=0.5)
    height, sigma = part.height_of(EARTH.pressure_at(120.0), EARTH.pressure_at(100.0))
    assert height == pytest.approx(20.0, abs=1e-6)
    pa = math.sqrt(1.2**2 + 25.0 + 0.25 / 12.0)
    assert sigma == pytest.approx(pa / (EARTH.density_at(120.0) * 9.80665), rel=1e-12)
    # 8.4 cm per pascal near the ground
    assert sigma / pa == pytest.approx(0.084, abs=1e-3)


def test_along_a_motion_the_height_begins_where_the_motion_does():
    motion = Linear((0.0, 0.0, 2.0), (0.0, 0.0, 12.0), 1.0, 0.5).at(np.arange(0, 1000) / 100.0)
    heights, new = Barometer(rate_hz=20.0, sigma_pa=0.5, bias_pa=300.0).measure(motion, stream=SEED)
    assert new.sum() == 200
    error = heights.height_m[new] - motion.p_n[new, 2]
    # noise of both readings, and 300 Pa of bias: a thirtieth of a percent of the scale for each 100 Pa
    assert np.abs(error).max() < 6.0 * 0.5 * 0.084 + 0.003 * 10.0
    still = Rest(1.0, p_n=(0.0, 0.0, 5.0)).at(np.arange(100) / 100.0)
    warmed = Barometer(rate_hz=None, sigma_pa=0.0, per_degc_pa=2.0).measure(
        still, stream=SEED, temperature_c=25.0 + still.t
    )
    assert warmed[0].height_m[-1] == pytest.approx(5.0 - 2.0 * 0.99 * 0.0833, abs=1e-3)  # 12 Pa per metre


def test_beyond_its_limits_a_part_gives_no_reading():
    assert np.isnan(every(Barometer(MARS, rate_hz=None, limits_pa=(30_000.0, 110_000.0)), [0.0])[0])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Barometer(sigma_pa=-1.0), "sigma_pa"),
        (lambda: Barometer("earth"), "give EARTH, MARS"),
        (lambda: Barometer(limits_pa=(2.0, 1.0)), "lower pressure first"),
        (lambda: Barometer(drift_s=0.0), "drift_s"),
        (lambda: EARTH.pressure_at(20_000.0), "known within 11000 m"),
        (lambda: EARTH.height_of(0.0), "pressure_pa"),
        (lambda: Atmosphere("cold", 1e5, 15.0, 0.1, 287.0, 9.8, 11_000.0), "colder than"),
        (lambda: Barometer().read(None, 0.0, 0.0), "Barometer.read was given a NoneType"),
    ],
)
def test_wrong_settings_are_refused_in_a_sentence(make, words):
    with pytest.raises(InputError, match=words):
        make()
