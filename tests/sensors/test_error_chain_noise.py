"""Synthesised noise analysed back with an Allan deviation of its own: N, B, K, Q, at any sample rate.

Chance: an overlapping Allan variance from c clusters and three axes has about 3c degrees of freedom, so its root is
off by 1/sqrt(6c) (one sigma); lengths are such that the tolerances are five of them or more.
"""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from strapdown.errors import InputError
from strapdown.sensors.chain.error_chain import measure, measure_batch
from strapdown.sensors.streams import seed_of, stream
from strapdown.sensors.triad import Triad, gauss_markov_allan_variance, instability_processes, random_walk_from_density

RATES = (50.0, 200.0, 1000.0)
FLOOR = np.sqrt(2.0 * np.log(2.0) / np.pi)


def allan(values, rate, tau):
    """Overlapping Allan deviation, root of the mean variance of the axes."""
    m = round(tau * rate)
    theta = np.concatenate([np.zeros((1, values.shape[1])), np.cumsum(values, axis=0)]) / rate
    second = theta[2 * m :] - 2.0 * theta[m:-m] + theta[: -2 * m]
    return np.sqrt(np.mean(second**2) / (2.0 * tau**2))


def still(triad, rate, duration, name="x", **more):
    t = np.arange(round(duration * rate)) / rate
    return measure(triad, t, np.zeros((len(t), 3)), stream=seed_of(7, name), **more).values


@pytest.mark.parametrize("rate", RATES)
def test_white_noise_is_a_density(rate):
    """N, not a sigma per sample (Gazebo): the same curve at every rate, and N sqrt(t) after integration."""
    values = still(Triad("rad/s", white=(2e-3,) * 3), rate, 1000.0)
    assert abs(values.std() * np.sqrt(1.0 / rate) / 2e-3 - 1.0) < 5.0 / np.sqrt(2.0 * values.size)
    for tau in (0.1, 1.0):
        assert abs(allan(values, rate, tau) / (2e-3 / np.sqrt(tau)) - 1.0) < 5.0 / np.sqrt(6.0 * 1000.0 / tau)


@pytest.mark.parametrize("rate", RATES)
def test_instability_is_a_flat_floor(rate):
    values = still(Triad("rad/s", instability=(3e-4,) * 3, instability_band_s=(0.1, 10.0)), rate, 4000.0)
    for tau in (0.1, 0.3, 1.0, 3.0, 10.0):
        # 1.5 % of flatness, 0.3 % of lines between nodes, five sigmas of chance: 10 % at 10 s, less before
        chance = 5.0 / np.sqrt(6.0 * 4000.0 / tau)
        assert abs(allan(values, rate, tau) / (FLOOR * 3e-4) - 1.0) < 0.018 + chance, tau


@pytest.mark.parametrize("rate", RATES)
def test_walk(rate):
    """A reading is the mean over its sample: K sqrt(tau / 3) from one sample on, at any rate."""
    values = still(Triad("m/s2", walk=(5e-3,) * 3), rate, 4000.0)
    for tau in (1.0 / rate, 5.0 / rate, 16.0 / rate, 1.0, 3.0, 10.0):
        chance = 5.0 / np.sqrt(6.0 * 4000.0 / tau)
        assert chance < 0.11 and abs(allan(values, rate, tau) / (5e-3 * np.sqrt(tau / 3.0)) - 1.0) < chance, tau
    assert not values[0].any()


def test_walk_grows_as_root_of_time():
    """Sigma K sqrt(t) over 600 recordings and three axes."""
    t = np.arange(401) / 4.0
    many = measure_batch(
        Triad("rad/s", walk=(0.1, 0.2, 0.4)), t, np.zeros((401, 3)), streams=[seed_of(1, k) for k in range(600)]
    )
    drift = np.stack([one.values for one in many])
    for i in (64, 400):
        ratio = drift[:, i].std(axis=0) / np.array([0.1, 0.2, 0.4]) / np.sqrt(t[i])
        assert np.all(np.abs(ratio - 1.0) < 5.0 / np.sqrt(2.0 * 600.0))


def test_quantisation():
    values = still(Triad("rad/s", quantisation=(1e-4,) * 3), 100.0, 1000.0)
    for tau in (0.1, 1.0, 10.0):
        assert abs(allan(values, 100.0, tau) / (np.sqrt(3.0) * 1e-4 / tau) - 1.0) < 0.05
    assert abs(np.sum(values, axis=0)).max() / 100.0 < np.sqrt(12.0) * 1e-4  # an angle is never off by more


def test_all_terms_add_up():
    n, b, k, rate = 1e-3, 2e-3, 1e-3, 100.0
    triad = Triad("rad/s", white=(n,) * 3, instability=(b,) * 3, walk=(k,) * 3, instability_band_s=(0.3, 30.0))
    values = still(triad, rate, 20000.0)
    for tau in (0.3, 1.0, 3.0, 10.0, 30.0):
        expected = np.sqrt(n**2 / tau + (FLOOR * b) ** 2 + k**2 * tau / 3.0)
        assert abs(allan(values, rate, tau) / expected - 1.0) < 0.018 + 5.0 / np.sqrt(6.0 * 20000.0 / tau), tau


@pytest.mark.parametrize("band", [(1.0, 3.0), (1.0, 30.0), (1.0, 100.0), (1.0, 1000.0), (0.01, 1e4), (20.0, 5e3)])
def test_the_processes_sum_to_a_flat_curve(band):
    time_constants, deviations = instability_processes(*band)
    tau = np.geomspace(*band, 500)
    curve = np.sqrt(gauss_markov_allan_variance(tau[:, None], time_constants) @ deviations**2)
    assert np.abs(curve / FLOOR - 1.0).max() < 0.015
    assert len(time_constants) <= np.log10(band[1] / band[0]) + 3.0


def test_allan_variance_of_gauss_markov_against_its_definition():
    """The closed form against the sum over the autocorrelation of a finely sampled process."""
    time_constant, dt = 2.0, 0.01
    keep = np.exp(-dt / time_constant)
    for m in (20, 400, 3000):
        k = np.arange(2 * m)
        weight = np.where(k < m, 1.0, -1.0) / m
        covariance = np.correlate(weight, weight, "full")[2 * m - 1 :]
        variance = covariance[0] + 2.0 * np.sum(covariance[1:] * keep ** np.arange(1, 2 * m))
        # point samples instead of a continuous process: a part dt / time_constant
        assert abs(0.5 * variance / gauss_markov_allan_variance(m * dt, time_constant) - 1.0) < 0.01


def test_lines_between_nodes_do_not_show_in_the_allan_curve():
    """Slow processes are stepped at an eighth of their time constant; the curve is that of the exact processes."""
    rate, duration = 1000.0, 3000.0
    values = still(Triad("rad/s", instability=(1.0,) * 3, instability_band_s=(0.1, 10.0)), rate, duration)
    time_constants, deviations = instability_processes(0.1, 10.0)
    for tau in (0.02, 0.05, 0.1, 0.2, 1.0):
        exact = np.sqrt(gauss_markov_allan_variance(tau, time_constants) @ deviations**2)
        # below the band, 0.02 s is five nodes of the fastest process
        assert abs(allan(values, rate, tau) / exact - 1.0) < 0.01 + 5.0 / np.sqrt(6.0 * duration / max(tau, 1.0)), tau


def test_autocorrelation_and_bound():
    """Stationary from the first sample on: bounded (AirSim's is a walk), correlated as its time constants say."""
    t = np.arange(2001) * 0.1
    triad = Triad("rad/s", instability=(1.0,) * 3, instability_band_s=(1.0, 30.0))
    many = measure_batch(triad, t, np.zeros((2001, 3)), streams=[seed_of(3, k) for k in range(700)])
    x = np.stack([one.values for one in many])  # 2100 series
    time_constants, deviations = instability_processes(1.0, 30.0)
    variance = np.sum(deviations**2)
    for i in (0, 1000, 2000):
        # lines between nodes take up to 6 % of the fastest process's variance
        assert abs(np.mean(x[:, i] ** 2) / variance - 1.0) < 0.03 + 5.0 * np.sqrt(2.0 / 2100.0)
    for lag in (10, 100, 1000):
        expected = np.sum(deviations**2 * np.exp(-t[lag] / time_constants)) / variance
        assert abs(np.mean(x[:, 0] * x[:, lag]) / variance - expected) < 0.02 + 5.0 / np.sqrt(2100.0)


def test_long_correlation_is_a_constant_not_white_noise():
    """gnss-ins-sim makes white noise of an infinite correlation time."""
    triad = Triad("rad/s", instability=(1.0,) * 3, instability_band_s=(1e4, 1e6))
    values = still(triad, 100.0, 100.0)
    assert np.diff(values, axis=0).std() < 1e-3
    with pytest.raises(InputError, match="finite"):
        replace(triad, instability_band_s=(1.0, np.inf))


def test_each_sensor_has_its_own_correlation_time():
    """Pegasus gives the gyroscope the accelerometer's."""
    slow = Triad("rad/s", instability=(1.0,) * 3, instability_band_s=(10.0, 100.0))
    fast = Triad("m/s2", instability=(1.0,) * 3, instability_band_s=(0.1, 1.0))
    for triad, tau in ((slow, 10.0), (fast, 10.0), (slow, 1.0), (fast, 1.0)):
        time_constants, deviations = instability_processes(*triad.instability_band_s)
        expected = np.sqrt(gauss_markov_allan_variance(tau, time_constants) @ deviations**2)
        assert abs(allan(still(triad, 100.0, 8000.0), 100.0, tau) / expected - 1.0) < 0.1  # 5 sigmas at 10 s: 7 %


def test_slow_sampling_keeps_the_floor():
    """Below five samples the band is cut: a floor from there on, no white noise in its place."""
    values = still(Triad("uT", instability=(1.0,) * 3, instability_band_s=(0.1, 100.0)), 2.0, 40000.0)
    for tau in (3.0, 10.0, 30.0):
        assert abs(allan(values, 2.0, tau) / FLOOR - 1.0) < 0.03 + 5.0 / np.sqrt(6.0 * 40000.0 / tau)


def test_matlab_filter_is_not_a_floor():
    """MATLAB's default is nearly white: 0.021 B at 100 s and 100 Hz, where ours is 0.664 B."""
    values = still(Triad("rad/s", instability=(1.0,) * 3), 100.0, 10000.0, mode="matlab")
    for tau, expected in ((0.01, 0.82), (1.0, 0.20), (100.0, 0.021)):
        assert abs(allan(values, 100.0, tau) / expected - 1.0) < 0.05 + 5.0 / np.sqrt(6.0 * 10000.0 / tau)  # two digits


def test_data_sheet_density():
    """MPU-6050: 0.005 deg/s/sqrt(Hz) is 0.05 deg/s rms over 100 Hz of bandwidth, that is at 200 Hz."""
    n = random_walk_from_density(0.005)
    values = still(Triad("rad/s", white=(n,) * 3), 200.0, 500.0)
    assert abs(values.std() / 0.05 - 1.0) < 5.0 / np.sqrt(2.0 * values.size)


CHANCE = {
    "turn_on": (0.3, 0.2, 0.1),
    "white": (0.1, 0.2, 0.3),
    "instability": (0.2, 0.0, 0.1),
    "walk": (0.1, 0.3, 0.0),
    "quantisation": (0.01, 0.02, 0.01),
}


@pytest.mark.parametrize("band", [(1.0, 1000.0), (0.2, 3.0), (30.0, 100.0)])
@pytest.mark.parametrize(("one", "other"), list(combinations(CHANCE, 2)))
def test_switching_a_term_on_changes_no_other(one, other, band):
    t, zero, seed = np.arange(1500) / 200.0, np.zeros((1500, 3)), seed_of(6, "arm", "gyroscope")
    plain = Triad("rad/s", instability_band_s=band)

    def readings(*names, **more):
        return measure(replace(plain, **{name: CHANCE[name] for name in names}, **more), t, zero, stream=seed)

    both = readings(one, other)
    np.testing.assert_allclose(both.values, readings(one).values + readings(other).values, atol=1e-12)  # roundoff
    late = readings(one, other, jitter_s=1e-4)
    assert np.array_equal(late.values, both.values) and not np.array_equal(late.t, both.t)
    fewer = readings(one, other, jitter_s=1e-4, loss=0.1)
    assert np.array_equal(fewer.values, both.values[fewer.kept]) and np.array_equal(fewer.t, late.t[fewer.kept])


def test_terms_and_streams_do_not_disturb_each_other():
    t = np.arange(1000) / 100.0
    zero = np.zeros((1000, 3))
    white = Triad("rad/s", white=(1.0,) * 3)
    both = replace(white, instability=(1.0,) * 3, walk=(1.0,) * 3, quantisation=(0.1,) * 3, turn_on=(1.0,) * 3)
    others = replace(both, white=(0.0,) * 3)
    seed = seed_of(5, "arm", "gyroscope")
    a, b, c = (measure(x, t, zero, stream=seed).values for x in (white, both, others))
    np.testing.assert_allclose(a + c, b, atol=1e-12)  # roundoff of sums
    assert np.array_equal(measure(both, t, zero, stream=seed).values, b)  # a seed is a value
    assert np.array_equal(measure(both, t[:500], zero[:500], stream=seed).values, b[:500])  # a longer run begins alike
    rng = stream(5, "arm", "gyroscope")
    first, second = (measure(both, t, zero, stream=rng).values for _ in range(2))  # a generator goes on
    assert not np.array_equal(first, second)
    again = stream(5, "arm", "gyroscope")
    assert np.array_equal(first, measure(both, t, zero, stream=again).values)
    draws = [stream(5, *names).random() for names in (("ab", "c"), ("a", "bc"), ("1",), (1,), ("a",), ())]
    assert len(set(draws)) == len(draws)
    for bad in (-1, 1.5, None, True):
        with pytest.raises(InputError, match="seed"):
            stream(bad, "x")
    with pytest.raises(InputError, match="stream"):
        measure(white, t, zero, stream=3)
