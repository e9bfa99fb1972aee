"""The error chain term by term: what is not chance, each mode's formula, filters, stamps, losses, bad settings."""

import re
from dataclasses import replace

import numpy as np
import pytest

from strapdown.errors import InputError
from strapdown.sensors.chain.error_chain import measure, measure_batch
from strapdown.sensors.chain.numbers import as_mode, lowpass
from strapdown.sensors.streams import branch, seed_of
from strapdown.sensors.triad import (
    Triad,
    instability_from_floor,
    matlab_matrix,
    paper_matrix,
    random_walk_from_density,
    random_walk_from_per_root_hour,
    walk_from_matlab,
    white_from_matlab,
)

SEED = seed_of(1, "test")
RATE = 100.0
T = np.arange(500) / RATE
RNG = np.random.default_rng(11)
IDEAL = RNG.normal(size=(500, 3))
FORCE = 5.0 * RNG.normal(size=(500, 3))
WARM = 25.0 + 20.0 * np.sin(T)
MATRIX = ((1.02, 0.01, -0.02), (0.03, 0.97, 0.01), (-0.01, 0.02, 1.01))
BIAS, T_BIAS, T_SCALE = (0.1, -0.2, 0.3), (0.01, 0.02, -0.01), (1e-3, -2e-3, 5e-4)
G = ((2e-3, 1e-3, 0.0), (0.0, 1e-3, 5e-4), (1e-4, 0.0, 3e-3))


def away(x):
    """Round, halves away from zero."""
    return np.sign(x) * np.floor(np.abs(x) + 0.5)


def run(triad, ideal=IDEAL, t=T, stream=SEED, **more):
    return measure(triad, t, ideal, stream=stream, **more)


def test_nothing_set_changes_nothing():
    """A perfect sensor can be had (AirSim #4661)."""
    out = run(Triad("m/s2"))
    assert np.array_equal(out.values, IDEAL) and np.array_equal(out.t, T) and np.array_equal(out.kept, np.arange(500))
    assert not out.saturated.any() and out.counts is None and len(out) == 500


def test_physical_formula():
    full, r, bend = 2.0, 1e-3, 0.01
    triad = Triad(
        "rad/s",
        MATRIX,
        (bend,) * 3,
        G,
        BIAS,
        temperature_bias=(T_BIAS, (1e-4, 0.0, 2e-4)),
        temperature_scale=(T_SCALE,),
        full_scale=full,
        resolution=r,
    )
    out = run(triad, temperature_c=WARM, specific_force=FORCE)
    u = np.clip(IDEAL / full, -1.0, 1.0)
    x = IDEAL + bend * full * (3.0 * u - 4.0 * u**3)
    d = (WARM - 25.0)[:, None]
    y = (1.0 + d * T_SCALE) * (x @ np.transpose(MATRIX)) + FORCE @ np.transpose(G)
    y += np.array(BIAS) + d * T_BIAS + d**2 * (1e-4, 0.0, 2e-4)
    np.testing.assert_allclose(out.values, away(np.clip(y, -full, full) / r) * r, atol=1e-12)
    assert np.array_equal(out.saturated, np.abs(y) > full) and 0.01 < out.saturated.mean() < 0.5
    assert np.array_equal(out.counts * r, out.values) and out.counts.dtype == np.int64


def test_matlab_formula():
    """MATLAB's imuSensor, with its own random numbers: bias instability filter, white noise, running sum."""
    full, r, fs, n = 2.0, 1e-3, RATE, len(T)
    nd, bi, rw = np.array([[0.01, 0.02, 0.03], [0.1, 0.2, 0.05], [0.3, 0.2, 0.1]])
    num, den = (1.0, 0.2), (1.0, -0.5, 0.1)
    triad = Triad(
        "rad/s",
        matlab_matrix(100.0 * np.array(MATRIX)),
        g_sensitivity=np.diag([1e-3, 2e-3, 3e-3]),
        bias=BIAS,
        temperature_bias=(T_BIAS,),
        temperature_scale=(T_SCALE,),
        white=[white_from_matlab(x) for x in nd],
        instability=bi,
        walk=[walk_from_matlab(x) for x in rw],
        full_scale=full,
        resolution=r,
        matlab_filter=(num, den),
    )
    out = run(triad, temperature_c=WARM, specific_force=FORCE, mode="matlab")
    _, white_rng, instability_rng, walk_rng, *_ = branch(SEED, 7)
    w1, w2, w3 = (rng.standard_normal((n, 3)) for rng in (instability_rng, white_rng, walk_rng))
    b = IDEAL @ np.transpose(MATRIX) + BIAS
    d1 = np.zeros((n, 3))
    for k in range(n):
        d1[k] = sum(num[j] * bi * w1[k - j] for j in range(2) if k >= j) - sum(
            den[j] * d1[k - j] for j in (1, 2) if k >= j
        )
    d2, d3 = nd * np.sqrt(fs / 2.0) * w2, np.cumsum(rw / np.sqrt(fs / 2.0) * w3, axis=0)
    d = (WARM - 25.0)[:, None]
    c = b + d1 + d2 + d3 + d * T_BIAS + FORCE * (1e-3, 2e-3, 3e-3)
    y = (1.0 + d / 100.0 * (100.0 * np.array(T_SCALE))) * c
    y = np.where(np.abs(y) > full, np.sign(y) * full, y)
    np.testing.assert_allclose(out.values, away(y / r) * r, atol=1e-12)


def test_paper_formula():
    """(B3) to (B8)."""
    full, r, triple, sigma = 2.0, 1e-3, (0.01, 0.02, 0.03), np.array([0.1, 0.2, 0.3])
    triad = Triad(
        "m/s2",
        paper_matrix(*triple),
        bias=BIAS,
        temperature_bias=(T_BIAS,),
        temperature_scale=(T_SCALE,),
        reference_c=20.0,
        white=sigma / np.sqrt(RATE),
        full_scale=full,
        resolution=r,
    )
    out = run(triad, temperature_c=31.0, mode="paper")
    cx, cy, cz = triple
    c = np.array([[1.0, cy, cz], [cx, 1.0, cz], [cx, cy, 1.0]])
    eta = sigma * branch(SEED, 7)[1].standard_normal((500, 3))
    s = np.diag(1.0 + 11.0 * np.array(T_SCALE))
    y = (IDEAL @ c.T + BIAS + 11.0 * np.array(T_BIAS) + eta) @ s
    np.testing.assert_allclose(out.values, r * away(np.clip(y, -full, full) / r), atol=1e-12)


def test_modes_refuse_what_they_do_not_have():
    triad = Triad("rad/s", turn_on=BIAS[:1] * 3, g_sensitivity=G, walk=(1.0,) * 3, temperature_bias=(T_BIAS, T_BIAS))
    for mode, names in (
        ("matlab", "g_sensitivity, turn_on, temperature_bias"),
        ("paper", "g_sensitivity, turn_on, temperature_bias, walk"),
    ):
        with pytest.raises(InputError, match=f'mode "{mode}" has no such {names}; use'):
            run(triad, specific_force=FORCE, mode=mode)
        run(as_mode(triad, mode), specific_force=FORCE, mode=mode)
    assert as_mode(triad, "physical") == triad
    with pytest.raises(InputError, match='mode "mathlab" is not known; valid: physical, matlab, paper'):
        run(triad, mode="mathlab")


def test_nonlinearity_peaks_at_its_number():
    """Four peaks of equal height and alternating sign: no other straight line is closer (Chebyshev)."""
    x = np.linspace(-2.0, 2.0, 4001)[:, None] * np.ones(3)
    triad = Triad("m/s2", nonlinearity=(0.0, 0.005, 0.01), full_scale=2.0)
    deviation = run(triad, x, np.arange(4001) / 10.0).values - x
    np.testing.assert_allclose(np.abs(deviation).max(axis=0), [0.0, 0.01, 0.02], rtol=1e-12)
    np.testing.assert_allclose(deviation[::1000, 1], [0.01, -0.01, 0.0, 0.01, -0.01], atol=1e-15)
    other = run(replace(triad, nonlinearity=(0.0, -0.005, -0.01)), x, np.arange(4001) / 10.0).values - x
    within = np.abs(x[:, 0]) < 1.95  # beyond, the range cuts it
    np.testing.assert_allclose(other[within], -deviation[within], atol=1e-15)  # a part nonlinearities to either side
    beyond = run(triad, 1.5 * x[:2], np.arange(2.0)).values
    assert np.array_equal(beyond, -2.0 * np.ones((2, 3)))


@pytest.mark.parametrize("order", [1, 2])
def test_filter_response(order):
    """Amplitude and phase of the analogue filter, from 0 to half the bandwidth of a well sampled input."""
    rate, cut = 1000.0, 30.0
    t = np.arange(20000) / rate
    for f in (1.0, 10.0, 30.0, 100.0):
        x = np.sin(2.0 * np.pi * f * t)[:, None] * np.ones(3)
        y = run(Triad("rad/s", bandwidth_hz=cut, filter_order=order), x, t).values[10000:, 0]
        seen = 2.0 * np.mean(y * np.exp(-2j * np.pi * f * t[10000:])) * 1j
        s = 1j * f / cut
        exact = 1.0 / (1.0 + s) if order == 1 else 1.0 / (1.0 + np.sqrt(2.0) * s + s**2)
        assert abs(seen - exact) < 0.3 * (np.pi * f / rate) ** 2 + 1e-4  # straight lines between samples: sinc^2


@pytest.mark.parametrize("order", [1, 2])
def test_filter_starts_and_stays_in_steady_state(order):
    triad = Triad("m/s2", bandwidth_hz=5.0, filter_order=order)
    still = np.ones((500, 3)) * (0.0, -3.0, 9.81)
    np.testing.assert_allclose(run(triad, still).values, still, atol=1e-13)
    ramp = T[:, None] * np.ones(3)
    lag = (1.0 if order == 1 else np.sqrt(2.0)) / (2.0 * np.pi * 5.0)
    np.testing.assert_allclose(run(triad, ramp).values[-1], T[-1] - lag, atol=1e-9)  # exact for straight input
    assert len(lowpass(5.0, order, 0.01)) == 5


def test_decimation_filters_first():
    """990 Hz seen at 100 Hz looks like 10 Hz: the filter must have taken it away before, at the input's rate."""
    rate, t = 4000.0, np.arange(8000) / 4000.0
    vibration = np.sin(2.0 * np.pi * 990.0 * t)[:, None] * np.ones(3)
    bare = run(Triad("m/s2"), vibration, t, output_rate_hz=100.0)
    assert np.array_equal(bare.kept, np.arange(0, 8000, 40)) and np.array_equal(bare.values, vibration[::40])
    part = run(Triad("m/s2", bandwidth_hz=40.0, filter_order=2), vibration, t, output_rate_hz=100.0)
    assert np.ptp(part.values[50:]) < 1.1 * (40.0 / 990.0) ** 2 * np.ptp(bare.values)
    every = run(Triad("m/s2", bandwidth_hz=40.0, filter_order=2), vibration, t)
    assert np.array_equal(part.values, every.values[::40])
    slow = run(Triad("m/s2", white=(0.1,) * 3), np.zeros((80000, 3)), np.arange(80000) / rate, output_rate_hz=100.0)
    assert abs(slow.values.std() / (0.1 * 10.0) - 1.0) < 5.0 / np.sqrt(2.0 * slow.values.size)  # density at 100 Hz
    g = Triad("rad/s", g_sensitivity=np.eye(3), bandwidth_hz=40.0, filter_order=2)
    shaken = run(g, np.zeros((8000, 3)), t, output_rate_hz=100.0, specific_force=vibration)
    assert np.array_equal(shaken.values, part.values)  # the filter stands behind the g-sensitivity, too


def test_saturation_and_counts():
    x = np.array([[1.9, 2.0, 2.1], [-1.9, -2.0, -2.1], [0.05, -0.05, 0.15]])
    out = run(Triad("m/s2", full_scale=2.0, resolution=0.1), x, np.arange(3.0))
    assert np.array_equal(out.saturated, [[0, 0, 1], [0, 0, 1], [0, 0, 0]])
    assert np.array_equal(out.counts, [[19, 20, 20], [-19, -20, -20], [1, -1, 1]])  # 0.15 is below 1.5 tenths
    halves = run(Triad("m/s2", resolution=0.5), np.array([[0.25, -0.25, 0.75], [1.25, -1.25, 0.24]]), np.arange(2.0))
    assert np.array_equal(halves.counts, [[1, -1, 2], [3, -3, 0]])


def test_turn_on_is_one_constant_per_run():
    triad = Triad("rad/s", turn_on=(0.1, 0.2, 0.0))
    many = measure_batch(triad, T[:2], np.zeros((2, 3)), streams=[seed_of(k) for k in range(800)])
    bias = np.array([one.values for one in many])
    assert np.array_equal(bias[:, 0], bias[:, 1])
    assert np.all(np.abs(bias[:, 0, :2].std(axis=0) / (0.1, 0.2) - 1.0) < 5.0 / np.sqrt(1600.0))
    assert not bias[..., 2].any()


def test_stamps_and_losses():
    n, t = 100_000, np.arange(100_000) / 100.0
    ideal = np.arange(3.0 * n).reshape(n, 3)
    triad = Triad("m/s2", latency_s=0.02, jitter_s=5e-4, loss=0.1)
    out = run(triad, ideal, t)
    assert abs(len(out) / n - 0.9) < 5.0 * np.sqrt(0.09 / n)
    assert np.array_equal(out.values, ideal[out.kept])  # the value of the instant, not of the stamp
    late = out.t - t[out.kept]
    assert abs(late.mean() - 0.02) < 5.0 * 5e-4 / np.sqrt(len(out))
    assert abs(late.std() / 5e-4 - 1.0) < 5.0 / np.sqrt(2.0 * len(out))
    rough = run(replace(triad, jitter_s=0.02), ideal, t)
    assert np.diff(rough.t).min() > 0.0  # samples arrive in order, however large the jitter
    noisy = replace(triad, white=(1.0,) * 3)
    whole = run(replace(noisy, loss=0.0), ideal, t)
    assert np.array_equal(run(noisy, ideal, t).values, whole.values[out.kept])  # losses change no other reading


def test_batch_is_the_same_bits():
    triad = Triad("rad/s", MATRIX, white=(0.1,) * 3, instability=(0.1,) * 3, walk=(0.1,) * 3, loss=0.1, jitter_s=1e-3)
    ideal, streams = RNG.normal(size=(5, 500, 3)), [seed_of(2, k) for k in range(5)]
    specimens = [replace(triad, bias=(k, 0.0, 0.0)) for k in range(5)]
    for workers in (1, 2, None):
        many = measure_batch(specimens, T, ideal, streams=streams, workers=workers)
        for k, one in enumerate(many):
            alone = run(specimens[k], ideal[k], stream=streams[k])
            assert np.array_equal(one.values, alone.values) and np.array_equal(one.t, alone.t)
            assert np.array_equal(one.kept, alone.kept) and np.array_equal(one.saturated, alone.saturated)
    with pytest.raises(InputError, match="one recording for each stream"):
        measure_batch(triad, T, ideal[:4], streams=streams)
    with pytest.raises(InputError, match="4 triads for 5 streams"):
        measure_batch(specimens[:4], T, ideal, streams=streams)
    rng = np.random.default_rng(1)
    with pytest.raises(InputError, match="stands twice"):
        measure_batch(triad, T, ideal[:2], streams=[rng, rng])


def test_shorthands():
    assert paper_matrix(0.1, 0.2, 0.3) == ((1.0, 0.2, 0.3), (0.1, 1.0, 0.3), (0.1, 0.2, 1.0))
    assert matlab_matrix(2.0) == ((1.0, 0.02, 0.02), (0.02, 1.0, 0.02), (0.02, 0.02, 1.0))
    assert matlab_matrix((1.0, 2.0, 3.0)) == ((1.0, 0.02, 0.03), (0.01, 1.0, 0.03), (0.01, 0.02, 1.0))
    np.testing.assert_allclose(matlab_matrix(100.0 * np.array(MATRIX)), MATRIX, rtol=1e-15)
    for bad in ((1.0, 2.0), np.ones((2, 3)), "x", np.nan):
        with pytest.raises(InputError, match="AxesMisalignment"):
            matlab_matrix(bad)
    assert white_from_matlab(1.0) == random_walk_from_density(1.0) == 1.0 / np.sqrt(2.0)
    assert walk_from_matlab(1.0) == np.sqrt(2.0)
    assert white_from_matlab(1.0, "single-sided") == walk_from_matlab(1.0, "single-sided") == 1.0
    with pytest.raises(InputError, match="NoiseType"):
        white_from_matlab(1.0, "one-sided")
    # ADIS16470 prints both 0.008 deg/s/sqrt(Hz) and 0.34 deg/sqrt(h), to two digits
    assert abs(random_walk_from_density(0.008) / random_walk_from_per_root_hour(0.34) - 1.0) < 0.005 / 0.34
    assert abs(instability_from_floor(0.664) - 1.0) < 1e-3


BAD = [
    ({"unit": "g"}, 'unit "g" is not known'),
    ({"white": (1.0, -1.0, 1.0)}, "white is .*not negative"),
    ({"walk": (1.0, 1.0)}, "walk is .*three numbers"),
    ({"bias": 1.0}, "bias is 1.0; give three numbers"),
    ({"bias": "abc"}, "bias is abc; give three numbers"),
    ({"bias": (0.0, np.nan, 0.0)}, "bias is .*finite"),
    ({"matrix": np.eye(2)}, "matrix is .*three rows"),
    ({"g_sensitivity": ((1, 2, 3),)}, "g_sensitivity is .*three rows"),
    ({"temperature_bias": (1.0, 2.0, 3.0)}, "temperature_bias.0. is 1.0; give three numbers"),
    ({"temperature_scale": 0.1}, "temperature_scale is 0.1; give a list of vectors"),
    (
        {"full_scale": 1.0, "resolution": 2.0},
        "full_scale 1 rad/s is not above the resolution 2 rad/s; give a larger range",
    ),
    ({"full_scale": -1.0}, "full_scale -1 rad/s is not above"),
    ({"full_scale": np.inf}, "full_scale is inf"),
    ({"resolution": -1.0}, "resolution is -1"),
    ({"nonlinearity": (0.1,) * 3}, "nonlinearity is a part of full_scale"),
    ({"bandwidth_hz": 0.0}, "bandwidth_hz is 0"),
    ({"filter_order": 3}, "filter_order is 3; give 1 or 2"),
    ({"loss": 1.0}, "loss is 1"),
    ({"latency_s": -0.1}, "latency_s is -0.1"),
    ({"jitter_s": None}, "jitter_s is None; give a number"),
    ({"instability_band_s": (10.0, 1.0)}, "instability_band_s is .*shorter first"),
    ({"limits_c": (85.0, -40.0)}, "limits_c is .*lower temperature first"),
    ({"matlab_filter": ((1.0,), ())}, "denominator of matlab_filter is .*list of numbers"),
    ({"matlab_filter": ((1.0,), (0.0, 1.0))}, "must not be 0"),
    ({"matlab_filter": 3}, "matlab_filter is 3"),
]


@pytest.mark.parametrize(("settings", "message"), BAD, ids=[message[:30] for _, message in BAD])
def test_bad_settings(settings, message):
    with pytest.raises(InputError, match=message) as e:
        Triad(**{"unit": "rad/s", **settings})
    assert "\n" not in str(e.value)


def test_bad_input():
    triad = Triad("rad/s", g_sensitivity=G)
    holed = IDEAL.copy()
    holed[7, 1] = np.inf
    cases = [
        (lambda: run(triad), "g_sensitivity needs the specific force"),
        (lambda: run(Triad("rad/s"), holed), "ideal is not finite at sample 7 (t = 0.07 s)"),
        (lambda: run(triad, specific_force=holed), "specific_force is not finite at sample 7"),
        (lambda: run(Triad("rad/s"), IDEAL[:5]), "ideal has shape (5, 3), expected (500, 3)"),
        (lambda: run(Triad("rad/s"), "abc"), "ideal is not an array of numbers"),
        (lambda: run(Triad("rad/s"), IDEAL, "abc"), "t is not an array of numbers"),
        (lambda: run(Triad("rad/s"), IDEAL, T[::-1]), "t is not evenly spaced at sample 1"),
        (lambda: run(Triad("rad/s"), IDEAL, T * np.nan), "t begins or ends"),
        (lambda: run(Triad("rad/s"), IDEAL, T**2), "t is not evenly spaced"),
        (lambda: run(Triad("rad/s"), IDEAL[:1], T[:1]), "at least two times"),
        (lambda: run(Triad("rad/s"), output_rate_hz=30.0), "output_rate_hz 30 is not a whole part of the input's rate"),
        (lambda: run(Triad("rad/s"), output_rate_hz=200.0), "output_rate_hz 200 is not a whole part"),
        (lambda: run(Triad("rad/s"), output_rate_hz=-1.0), "output_rate_hz is -1"),
        (lambda: run(Triad("rad/s", limits_c=(0.0, 70.0)), temperature_c=71.0), "outside the sensor's limits (0 to 70"),
        (lambda: run(Triad("rad/s"), temperature_c=T[:3]), "temperature_c has shape (3,)"),
        (
            lambda: run(Triad("rad/s", instability=(1.0,) * 3, instability_band_s=(1e-3, 0.01))),
            "instability_band_s ends at 0.01 s",
        ),
    ]
    for call, message in cases:
        with pytest.raises(InputError, match=re.escape(message)):
            call()
    assert run(Triad("rad/s"), IDEAL[:1], T[:1], output_rate_hz=10.0).values.shape == (1, 3)
