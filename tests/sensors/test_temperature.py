"""Temperature of a sensor: numbers, series, self-heating, limits."""

import numpy as np
import pytest

from strapdown.errors import InputError
from strapdown.sensors.chain.error_chain import measure
from strapdown.sensors.streams import seed_of
from strapdown.sensors.temperature import SelfHeating, TemperatureSeries, temperature_at
from strapdown.sensors.triad import Triad

T = np.linspace(0.0, 100.0, 1001)


def test_numbers_and_series():
    assert np.array_equal(temperature_at(30.0, T), [30.0])
    assert np.array_equal(temperature_at(T, T), T)
    series = TemperatureSeries([0.0, 50.0, 100.0], [20.0, 30.0, 0.0])
    np.testing.assert_allclose(temperature_at(series, T)[[0, 250, 500, 750]], [20.0, 25.0, 30.0, 15.0], atol=1e-12)


def test_self_heating_is_its_formula():
    np.testing.assert_allclose(SelfHeating(20.0, 15.0, 30.0).at(T), 20.0 + 15.0 * (1.0 - np.exp(-T / 30.0)), rtol=1e-14)
    still = TemperatureSeries([0.0, 40.0, 100.0], [20.0, 20.0, 20.0])
    np.testing.assert_allclose(SelfHeating(still, 15.0, 30.0).at(T), SelfHeating(20.0, 15.0, 30.0).at(T), rtol=1e-14)
    assert SelfHeating(20.0, 15.0, 30.0, start_s=5.0).at([5.0])[0] == 20.0


def test_self_heating_follows_its_surroundings_with_a_lag():
    """Against a fine integration of tau dT/dt = ambient + rise - T; the same at any sample times."""
    ambient = TemperatureSeries([-10.0, 20.0, 25.0, 60.0, 100.0], [10.0, 40.0, -20.0, -20.0, 50.0])
    part = SelfHeating(ambient, 8.0, 12.0)
    fine = np.linspace(0.0, 100.0, 100_001)
    a = ambient.at(fine) + 8.0
    temperature, h = np.empty(len(fine)), fine[1]
    temperature[0] = ambient.at([0.0])[0]
    for k in range(len(fine) - 1):  # trapezoid
        temperature[k + 1] = (temperature[k] * (1.0 - h / 24.0) + h / 24.0 * (a[k] + a[k + 1])) / (1.0 + h / 24.0)
    np.testing.assert_allclose(part.at(T), temperature[::100], atol=1e-5)  # the trapezoid's h^2
    assert np.array_equal(part.at(T)[::7], part.at(T[::7]))


def test_a_warming_gyroscope_drifts():
    triad = Triad("rad/s", temperature_bias=((1e-3, 0.0, -1e-3),))
    out = measure(triad, T, np.zeros((1001, 3)), stream=seed_of(1), temperature_c=SelfHeating(25.0, 10.0, 20.0))
    np.testing.assert_allclose(out.values[:, 0], 1e-2 * (1.0 - np.exp(-T / 20.0)), atol=1e-15)


def test_bad_temperatures():
    series = TemperatureSeries([0.0, 50.0], [20.0, 30.0])
    cases = [
        (lambda: temperature_at(series, T), "at t = 50.1 s is not in its series, which covers 0 to 50 s"),
        (lambda: temperature_at(SelfHeating(series, 1.0, 1.0), T), "not in its series"),
        (lambda: temperature_at(np.where(T > 30.0, 90.0, 20.0), T, (-40.0, 85.0)), r"90 degC at sample 301 \(t = 30.1"),
        (lambda: temperature_at(-41.0, T, (-40.0, 85.0)), r"-41 degC, outside the sensor's limits \(-40 to 85 degC\)"),
        (lambda: temperature_at(-300.0, T), "above -273.15 degC"),
        (lambda: temperature_at(np.nan, T), "temperature is nan"),
        (lambda: temperature_at("warm", T), "temperature_c is 'warm'"),
        (lambda: temperature_at([1.0, 2.0], T), "temperature_c has shape"),
        (lambda: SelfHeating(20.0, 10.0, 0.0), "time_constant_s is 0"),
        (lambda: SelfHeating(20.0, np.nan, 1.0), "rise_c is nan"),
        (lambda: SelfHeating("x", 1.0, 1.0), "ambient_c is 'x'"),
        (lambda: SelfHeating(20.0, 1.0, 1.0, start_s=5.0).at(T), "before the part is switched on at 5 s"),
        (lambda: TemperatureSeries([0.0, 0.0], [1.0, 2.0]), "t of the temperature series repeats"),
        (lambda: TemperatureSeries([0.0, 1.0], [1.0, np.nan]), "celsius is not finite at sample 1"),
    ]
    for call, message in cases:
        with pytest.raises(InputError, match=message):
            call()
