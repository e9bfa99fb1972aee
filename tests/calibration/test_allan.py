"""Allan analysis: synthesised noise analysed back, with honest uncertainty, and logs it must refuse.

Bounds on averages over repeated logs are four sigmas of chance unless they say otherwise; all seeds are fixed.
"""

import numpy as np
import pytest
from scipy.signal import lfilter

from strapdown.calibration.noise.allan import allan_deviation, averaging_factors, confidence_band, equivalent_freedom
from strapdown.calibration.noise.fit import fit_noise
from strapdown.calibration.noise.model import FLOOR, MARKOV_PEAK, MARKOV_PEAK_AT, Noise
from strapdown.calibration.noise.static_log import analyse_log
from strapdown.calibration.noise.twin import twin_of
from strapdown.errors import InputError
from strapdown.recordings.counts import smallest_step
from strapdown.recordings.evenness import even_step, moved_at
from strapdown.sensors.chain.error_chain import measure
from strapdown.sensors.triad import Triad
from strapdown.types import Recording

STEP = 0.01


def synthesised(noise: Noise, samples: int, step: float, seed: int) -> np.ndarray:
    """Readings with exactly these processes; flicker noise from its spectrum, on a log 8 times as long."""
    rng = np.random.default_rng(seed)
    x = noise.white / np.sqrt(step) * rng.normal(size=samples)
    x += noise.walk * np.sqrt(step) * np.cumsum(rng.normal(size=samples))
    x += noise.quantisation / step * np.diff(rng.normal(size=samples + 1))
    x += noise.ramp * step * np.arange(samples)
    if noise.instability:
        long = 8 * samples
        f = np.fft.rfftfreq(long, step)
        f[0] = np.inf
        size = noise.instability * np.sqrt(long / (4.0 * np.pi * f * step))
        x += np.fft.irfft(size * (rng.normal(size=len(f)) + 1j * rng.normal(size=len(f))), long)[:samples]
    if noise.markov:
        keep = np.exp(-step / noise.markov_s)
        drive = rng.normal(size=samples) * np.r_[1.0, np.full(samples - 1, np.sqrt(1.0 - keep**2))]
        x += noise.markov * lfilter([1.0], [1.0, -keep], drive)
    return x


def plain_allan(x, m):
    """By the definition, mean by mean."""
    means = np.array([x[k : k + m].mean() for k in range(len(x) - m + 1)])
    return np.sqrt(0.5 * np.mean((means[m:] - means[:-m]) ** 2))


# The curve


def test_the_kernel_is_the_definition():
    x = 9.81 + synthesised(Noise(white=1e-3, walk=1e-3), 700, STEP, 1)
    curve = allan_deviation(np.column_stack([x, 3.0 * x + 5.0]), STEP)
    plain = np.array([plain_allan(x, int(m)) for m in curve.factors])
    np.testing.assert_allclose(curve.deviation[:, 0], plain, rtol=1e-9)  # roundoff of sums of 700 readings of 10
    np.testing.assert_allclose(curve.deviation[:, 1], 3.0 * plain, rtol=1e-9)


def test_averaging_times_are_log_spaced_to_a_third_of_the_log():
    factors = averaging_factors(100_000)
    assert factors[0] == 1 and factors[-1] == 33_333 and len(factors) == len(set(factors.tolist()))
    assert np.diff(np.log10(factors[10:])).max() < 0.15


@pytest.mark.parametrize(
    ("noise", "tau", "expected"),
    [
        (Noise(white=2.0), 4.0, 1.0),
        (Noise(instability=1.0), 7.0, 0.664),
        (Noise(walk=3.0), 3.0, 3.0),
        (Noise(quantisation=1.0), 2.0, np.sqrt(3.0) / 2.0),
        (Noise(ramp=1.0), 2.0, np.sqrt(2.0)),
        (Noise(markov=1.0, markov_s=10.0), 10.0 * MARKOV_PEAK_AT, MARKOV_PEAK),
    ],
)
def test_the_model_has_the_textbook_values(noise, tau, expected):
    assert abs(noise.deviation(np.array([tau]))[0] - expected) < 5e-4  # print rounding of 0.664 and the peak


@pytest.mark.parametrize(
    "noise",
    [
        Noise(white=1.0),
        Noise(instability=1.0),
        Noise(walk=1.0),
        Noise(quantisation=1.0),
        Noise(markov=1.0, markov_s=0.3),
        Noise(white=0.1, instability=0.3, walk=0.5, quantisation=1e-3, ramp=0.2),
    ],
)
def test_mean_scatter_and_band_of_the_curve(noise):
    """The mean of many curves is the model; their scatter, and how often the band holds the truth, what we say."""
    reps, samples = 300, 1000
    logs = np.column_stack([synthesised(noise, samples, STEP, seed) for seed in range(reps)])
    curve = allan_deviation(logs, STEP, per_decade=4)
    variance = curve.deviation**2
    freedom = equivalent_freedom(curve, noise)
    truth = noise.deviation(curve.tau_s) ** 2
    # sampled processes: a mean over few samples is not the integral; flicker noise at one sample differs by 20 %
    late = curve.factors >= (8 if noise.instability or noise.walk or noise.markov else 1)
    scatter = np.sqrt(2.0 / freedom / reps)
    assert np.all(np.abs(variance.mean(axis=1) / truth - 1.0)[late] < 4.0 * scatter[late] + 0.02)
    seen = 2.0 * variance.mean(axis=1) ** 2 / variance.var(axis=1)
    # a variance of chi-square variables with few degrees of freedom scatters by sqrt((2 + 12 / freedom) / reps)
    allowed = 4.0 * np.sqrt((2.0 + 12.0 / freedom) / reps) + 0.03
    assert np.all(np.abs(np.log(seen / freedom))[late] < 1.2 * allowed[late])
    inside = np.zeros(len(truth))
    for axis in range(reps):
        band = confidence_band(curve, axis, noise)
        inside += (band.low**2 <= truth) & (truth <= band.high**2)
    # chance, and the part of it that chi-square with fitted freedom does not describe
    assert np.all(np.abs(inside / reps - 0.95)[late] < 4.0 * np.sqrt(0.95 * 0.05 / reps) + 0.01)


def test_the_band_covers_with_the_fitted_noise_too():
    noise, reps = Noise(white=1e-3, walk=2e-3), 20
    inside, count = 0, 0
    for seed in range(reps):
        x = synthesised(noise, 5000, STEP, seed)
        curve = allan_deviation(x, STEP, per_decade=3)
        band = confidence_band(curve, 0, fit_noise(x, STEP).noise)
        truth = noise.deviation(curve.tau_s)
        inside += int(((band.low <= truth) & (truth <= band.high)).sum())
        count += len(truth)
    # neighbouring times are not independent: about four independent ones in each log
    assert abs(inside / count - 0.95) < 4.0 * np.sqrt(0.95 * 0.05 / (4 * reps))


# The constants


def pulls(noise, samples, reps, step=STEP):
    """(value - truth) / sigma of every constant that was found, and which were found."""
    found = {}
    for seed in range(reps):
        for name, term in fit_noise(synthesised(noise, samples, step, 1000 + seed), step).terms.items():
            if term.value is not None:
                found.setdefault(name, []).append((term.value - getattr(noise, name)) / term.sigma)
    return {name: np.array(values) for name, values in found.items()}


@pytest.mark.parametrize(
    ("noise", "samples", "names"),
    [
        (Noise(white=1e-3), 20_000, {"white"}),
        (Noise(white=1e-3, walk=1e-3), 40_000, {"white", "walk"}),
        (Noise(white=1e-3, instability=2e-3), 40_000, {"white", "instability"}),
        (Noise(white=1e-3, quantisation=1e-4), 20_000, {"white", "quantisation"}),
        (Noise(white=1e-3, ramp=3e-5), 20_000, {"white", "ramp"}),
        (Noise(white=1e-3, markov=5e-3, markov_s=0.5), 20_000, {"white", "markov", "markov_s"}),
    ],
)
def test_errors_are_as_large_as_sigma_says(noise, samples, names):
    reps = 16
    found = pulls(noise, samples, reps)
    for name in names:
        assert len(found[name]) == reps, name  # each time visible
        assert abs(found[name].mean()) < 4.0 / np.sqrt(reps), name
        assert abs(np.log(found[name].std())) < 4.0 / np.sqrt(2 * reps), name
    # false alarms: one in 700 per constant, so two of one kind in 16 logs are chance of 1e-3
    assert all(len(found[name]) <= 2 for name in set(found) - names), {n: len(v) for n, v in found.items()}


@pytest.mark.parametrize("rate", [50.0, 200.0, 1000.0])
def test_constants_do_not_depend_on_the_rate(rate):
    noise = Noise(white=1e-3, instability=4e-3, walk=1e-3)
    terms = fit_noise(synthesised(noise, int(1000 * rate), 1.0 / rate, 5), 1.0 / rate).terms
    for name, part in (("white", 0.02), ("instability", 0.1), ("walk", 0.6)):
        assert abs(terms[name].value / getattr(noise, name) - 1.0) < part, name  # four sigmas of chance, or more
        assert abs(terms[name].value - getattr(noise, name)) < 4.0 * terms[name].sigma, name


def test_what_is_not_visible_has_a_bound_and_a_reason():
    noise = Noise(white=1e-3, walk=2e-5)
    held, hidden = 0, 0
    for seed in range(20):
        terms = fit_noise(synthesised(noise, 6000, STEP, seed), STEP).terms  # K shows after 2000 s, the log has 60
        for name in ("instability", "walk", "quantisation", "ramp"):
            if terms[name].value is None:
                hidden += 1
                assert terms[name].sigma is None and terms[name].reason and terms[name].at_most > 0.0
        held += terms["walk"].value is not None or terms["walk"].at_most >= noise.walk
    assert hidden >= 78  # of 80: a false alarm is a chance of one in 700
    assert held >= 17  # 95 % of 20; fewer than 17 are chance of 2 %, and the bound is on the safe side


def test_a_log_too_short_to_tell_walk_from_instability_says_so():
    said = [fit_noise(synthesised(Noise(white=1e-3, walk=2e-4), 20_000, STEP, seed), STEP).terms for seed in range(12)]
    unsure = [t for t in said if any("too short" in (t[n].reason or "") for n in ("walk", "instability", "ramp"))]
    assert len(unsure) >= 6


def test_a_low_pass_in_the_part_does_not_spoil_n():
    x = synthesised(Noise(white=1e-3), 200_000, 0.001, 2)
    keep = np.exp(-2.0 * np.pi * 60.0 * 0.001)  # 60 Hz
    fit = fit_noise(lfilter([1.0 - keep], [1.0, -keep], x), 0.001)
    assert fit.highest_hz <= 62.5 and any("low-pass" in note for note in fit.notes)
    # the filter takes up to 15 % of the power at 25 Hz, of which an octave may miss 10 %
    assert abs(fit.terms["white"].value / 1e-3 - 1.0) < 0.1


# Logs that are not fit for it


def test_gaps_are_named_and_jitter_is_forgiven():
    t = np.arange(1000) * STEP
    assert even_step(t)[0] == pytest.approx(STEP, rel=1e-12)
    assert even_step(t + np.random.default_rng(0).uniform(-1e-3, 1e-3, 1000))[1] == pytest.approx(6e-4, rel=0.1)
    with pytest.raises(InputError, match=r"after sample 499 \(t = 4.99 s\).*1 gaps"):
        even_step(np.delete(t, 500))
    with pytest.raises(InputError, match=r"199 samples.*at least 200"):
        even_step(t[:199])


@pytest.mark.parametrize("kind", ["swing", "step", "burst"])
def test_a_log_that_moves_is_noticed(kind):
    rng = np.random.default_rng(3)
    t = np.arange(20_000) * STEP
    x = 0.05 * rng.normal(size=len(t))
    if kind == "swing":
        x += 0.2 * np.sin(2.0 * np.pi * 0.3 * t)
        assert any("does not explain" in note for note in fit_noise(x, STEP).notes)
        return
    x[5000:] += 5.0 if kind == "step" else 0.0
    assert kind != "step" or "50 s after the start" in moved_at(x, STEP, "gyroscope x")
    x[8000:10_000] += 3.0 * rng.normal(size=2000)
    with pytest.raises(InputError, match=r"gyroscope x is not at rest.*(50|80) s"):
        moved_at(x, STEP, "gyroscope x")


def test_a_log_at_rest_is_not_called_moving():
    for seed in range(40):
        noise = Noise(white=1e-3, instability=1e-3, walk=1e-3, ramp=1e-4)
        assert moved_at(synthesised(noise, 20_000, STEP, seed), STEP, "x") is None
        assert moved_at(np.round(synthesised(noise, 20_000, STEP, seed), 2), STEP, "x") is None


@pytest.mark.parametrize("noise", [Noise(walk=1e-3), Noise(instability=1e-3), Noise(markov=1e-3, markov_s=1.0)])
def test_correlated_noise_alone_is_not_called_moving(noise):
    for seed in range(20):
        assert moved_at(synthesised(noise, 20_000, STEP, seed), STEP, "x") is None


@pytest.mark.parametrize("samples", [3000, 45_000])
def test_a_turn_is_no_touch(samples):
    """2 s at 1 rad/s, in a short log and in a long one; a knock of a tenth of a second is a touch."""
    x = 0.002 * np.random.default_rng(2).normal(size=samples)
    knocked, turned = x.copy(), x.copy()
    turned[1000:1200] += 1.0
    with pytest.raises(InputError, match="gyroscope x is not at rest: it moves first about 10 s after the start"):
        moved_at(turned, STEP, "gyroscope x")
    knocked[1000:1010] += 0.02
    if samples > 3000:
        assert "was touched or jumped about 10 s after the start" in moved_at(knocked, STEP, "gyroscope x")


def test_a_walk_alone_is_found_and_nothing_else():
    """Readings are means over samples: their curve is K sqrt(tau / 3) and their spectrum ours from one sample on."""
    t = np.arange(20_000) * STEP
    triad = Triad("rad/s", walk=(1e-3,) * 3)
    x = measure(triad, t, np.zeros((len(t), 3)), stream=np.random.SeedSequence(3)).values
    for axis in x.T:
        found = fit_noise(np.ascontiguousarray(axis), STEP)
        assert [name for name, term in found.terms.items() if term.value is not None] == ["walk"]
        assert found.notes == () and abs(found.terms["walk"].value - 1e-3) < 4.0 * found.terms["walk"].sigma


def test_a_dead_axis_and_an_empty_recording_are_refused():
    with pytest.raises(InputError, match="no noise to analyse"):
        moved_at(np.full(1000, 9.81), STEP, "accelerometer z")
    with pytest.raises(InputError, match="neither accelerometer"):
        analyse_log(Recording(np.arange(1000) * STEP))


def test_the_smallest_step_of_quantised_readings():
    x = np.random.default_rng(0).normal(size=5000)
    assert smallest_step(x) is None
    lsb = 4.0 / 16384.0 * 9.80665
    assert smallest_step(np.round(0.05 * x / lsb) * lsb) == pytest.approx(lsb, rel=1e-9)
    assert smallest_step(np.round(0.05 * x / lsb) * lsb + 9.81) == pytest.approx(lsb, rel=1e-6)
    assert smallest_step(np.array([0.0, 2.0, 5.0] * 100)) == pytest.approx(1.0)  # the smallest gap is two counts


# The twin


def analysed(noise, seed, resolution=0.0, samples=60_000):
    axes = np.column_stack([synthesised(noise, samples, STEP, 10 * seed + i) for i in range(3)])
    axes += np.array([0.1, -0.2, 0.3])
    axes = np.round(axes / resolution) * resolution if resolution else axes
    return analyse_log(Recording(np.arange(samples) * STEP, gyr_s=axes))


def test_the_twin_has_the_same_curve():
    first = analysed(Noise(white=1e-3, instability=3e-3, walk=5e-4), 1)
    again = Noise(*(float(np.mean([getattr(f.noise, n) for f in first.instruments["gyroscope"].fits]))
                    for n in ("white", "instability", "walk")))  # fmt: skip
    second = analysed(again, 2)
    a, b = (log.instruments["gyroscope"] for log in (first, second))
    # mean over three axes of two logs: scatter of a sigma is sqrt(1 / (2 freedom)) for each of the six
    allowed = 4.0 * np.sqrt(1.0 / a.bands[0].freedom / 3.0) + 0.02
    ratio = np.sqrt(np.mean(b.curve.deviation**2, axis=1) / np.mean(a.curve.deviation**2, axis=1))
    assert np.all(np.abs(np.log(ratio)) < allowed)


def test_the_twin_through_the_error_chain_has_the_same_curve():
    log = analysed(Noise(white=1e-3, instability=3e-3), 3, resolution=2e-3, samples=100_000)
    triad = twin_of(log)["gyroscope"]
    assert triad.resolution == pytest.approx(2e-3) and np.allclose(triad.bias, [0.1, -0.2, 0.3], atol=0.03)
    t = np.arange(100_000) * STEP
    read = measure(triad, t, np.zeros((len(t), 3)), stream=np.random.SeedSequence(4))
    twin = analyse_log(Recording(read.t, gyr_s=read.values)).instruments["gyroscope"]
    a = log.instruments["gyroscope"]
    allowed = 4.0 * np.sqrt(1.0 / a.bands[0].freedom / 3.0) + 0.1  # 10 %: the floor is a sum of a few processes
    ratio = np.sqrt(np.mean(twin.curve.deviation**2, axis=1) / np.mean(a.curve.deviation**2, axis=1))
    assert np.all(np.abs(np.log(ratio)) < allowed), ratio
    assert a.fits[0].terms["white"].value == pytest.approx(twin.fits[0].terms["white"].value, rel=0.03)


def test_rounding_is_not_counted_twice():
    """A log whose noise is mostly its rounding: the twin's own rounding brings that part back."""
    coarse = 0.02
    triad = twin_of(analysed(Noise(white=1e-3), 5, resolution=coarse, samples=20_000))["gyroscope"]
    truth = 1e-3
    in_log = np.sqrt(truth**2 + STEP * coarse**2 / 12.0)
    assert in_log > 1.1 * truth
    np.testing.assert_allclose(triad.white, truth, rtol=0.06)  # four sigmas of 20 000 samples, and of rounding


def test_a_gauss_markov_process_becomes_a_floor_of_the_same_height():
    triad = twin_of(analysed(Noise(white=1e-3, markov=5e-3, markov_s=2.0), 6))["gyroscope"]
    np.testing.assert_allclose(FLOOR * np.array(triad.instability), MARKOV_PEAK * 5e-3, rtol=0.25)  # chance: 6 %
    low, high = triad.instability_band_s
    assert low < 2.0 * MARKOV_PEAK_AT < high
