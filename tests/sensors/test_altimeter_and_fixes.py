"""Altimeter and fix receiver: noise, limits, delay, outages and correlated errors against their formulas."""

import math

import numpy as np
import pytest

from strapdown.calibration.noise.allan import allan_deviation
from strapdown.errors import InputError
from strapdown.motion import Circle, Linear, Rest
from strapdown.rotation import q_from_euler
from strapdown.sensors.aiding.altimeter import Altimeter
from strapdown.sensors.aiding.fix import FixReceiver
from strapdown.sensors.streams import seed_of

STEP = 1e-3
SEED = seed_of(4, "from outside")
FIX = FixReceiver("position")
BEFORE = FIX.start(SEED, STEP)


def every(sensor, values, step=STEP, seed=SEED):
    """Readings (time, reading) of calls step apart."""
    state, found = sensor.start(seed, step), []
    for k, value in enumerate(values):
        state, reading = sensor.read(state, k * step, value)
        if reading is not None:
            found.append((k * step, reading))
    return found


def test_an_altimeter_reads_range_scale_bias_and_noise():
    part = Altimeter(rate_hz=None, sigma_m=0.03, sigma_per_m=0.01, bias_m=0.2, scale_error=0.05)
    n, true = 20_000, 4.0
    values = np.array([r.height_m for _, r in every(part, [true] * n)])
    spread = math.hypot(0.03, 0.01 * true)
    assert abs(values.mean() - (true * 1.05 + 0.2)) < 5.0 * spread / math.sqrt(n)
    assert abs(values.std() / spread - 1.0) < 5.0 / math.sqrt(2.0 * n)
    # white: the Allan deviation falls with the root of the time
    curve = allan_deviation(values, STEP)
    k = int(np.argmin(np.abs(curve.tau_s - 0.1)))
    assert curve.deviation[k, 0] == pytest.approx(
        spread / math.sqrt(curve.tau_s[k] / STEP), rel=0.1
    )  # chance, 200 spans


def test_an_altimeter_reads_at_its_rate_at_the_nearest_call():
    times = [t for t, _ in every(Altimeter(rate_hz=30.0), [1.0] * 1000)]
    assert len(times) == 30
    assert np.abs(np.array(times) - np.arange(30) / 30.0).max() <= 0.5 * STEP + 1e-12


def test_an_altimeter_has_no_echo_beyond_its_limits_and_loses_some():
    part = Altimeter(rate_hz=None, limits_m=(0.1, 5.0), resolution_m=0.05, sigma_m=0.0)
    found = every(part, [0.05, 0.1, 1.013, 5.0, 5.01, math.inf])
    assert [round(r.height_m, 9) for _, r in found] == [0.1, 1.0, 5.0]
    assert found[0][1].sigma_m == pytest.approx(0.05 / math.sqrt(12.0))
    kept = len(every(Altimeter(rate_hz=None, loss=0.2), [1.0] * 10_000))
    assert abs(kept - 8000) < 5.0 * math.sqrt(10_000 * 0.2 * 0.8)


def test_lost_readings_do_not_move_the_noise_of_others():
    whole = dict(every(Altimeter(rate_hz=None), [1.0] * 500))
    some = every(Altimeter(rate_hz=None, loss=0.5), [1.0] * 500)
    assert 0 < len(some) < 500 and all(whole[t] == reading for t, reading in some)


def test_over_level_ground_a_leaning_altimeter_reads_the_slant():
    lean = 0.2
    motion = Rest(1.0, p_n=(0.0, 0.0, 3.0), q_nb=q_from_euler(lean, 0.0, 1.0)).at(np.arange(100) / 100.0)
    heights, new = Altimeter(rate_hz=20.0, sigma_m=0.0).measure(motion, stream=SEED, ground_m=1.0)
    assert new.sum() == 20 and new[0]
    assert np.allclose(heights.height_m, 2.0 / math.cos(lean), rtol=1e-12)
    upside_down = Rest(1.0, p_n=(0.0, 0.0, 3.0), q_nb=q_from_euler(np.pi, 0.0, 0.0)).at(np.arange(100) / 100.0)
    assert not Altimeter().measure(upside_down, stream=SEED)[1].any()


def test_a_fix_arrives_late_and_belongs_to_its_instant():
    receiver = FixReceiver(
        "position", rate_hz=20.0, sigma_n=(0.0, 0.0, 0.0), delay_s=0.13, stated_sigma_n=(1.0, 1.0, 2.0)
    )
    values = [(k * STEP, 2.0, -k * STEP) for k in range(1000)]  # a position that is its time
    found = every(receiver, values)
    times = np.array([t for t, _ in found])
    own = np.array([fix.t_s for _, fix in found])
    assert np.allclose(times - own, 0.13, atol=1e-12)
    assert np.allclose(own, np.arange(len(own)) / 20.0, atol=1e-12)
    assert np.allclose([fix.value_n[0] for _, fix in found], own, atol=1e-12)
    assert np.array_equal(found[0][1].sigma_n, (1.0, 1.0, 2.0))
    assert len(found) == 18  # the last two are still on their way


def test_no_fix_belongs_to_an_outage_and_some_are_lost():
    receiver = FixReceiver("velocity", rate_hz=50.0, delay_s=0.1, outages_s=((0.2, 0.4), (0.8, math.inf)))
    own = np.array([fix.t_s for _, fix in every(receiver, [(1.0, 0.0, 0.0)] * 1500)])
    assert not ((own >= 0.2) & (own < 0.4)).any() and own.max() < 0.8
    assert len(own) == 10 + 20
    kept = len(every(FixReceiver("velocity", rate_hz=None, loss=0.3), [(0.0, 0.0, 0.0)] * 5000))
    assert abs(kept - 3500) < 5.0 * math.sqrt(5000 * 0.3 * 0.7)


def test_a_correlated_error_has_its_size_and_time_constant():
    sigma, tau, rate = np.array([0.5, 1.0, 2.0]), 2.0, 10.0
    receiver = FixReceiver("position", rate_hz=rate, sigma_n=(0.0,) * 3, correlated_n=sigma, correlation_s=tau)
    n = 40_000
    error = np.array([fix.value_n for _, fix in every(receiver, [(0.0, 0.0, 0.0)] * n, 1.0 / rate)]) / sigma
    spans = n / rate / tau  # independent pieces, two for each time constant
    assert np.abs(error.std(axis=0) - 1.0).max() < 5.0 / math.sqrt(spans)
    for lag in (5, 20, 40):
        correlation = (error[lag:] * error[:-lag]).mean(axis=0)
        assert np.abs(correlation - math.exp(-lag / rate / tau)).max() < 5.0 / math.sqrt(spans), lag
    together = (error[:, 0] * error[:, 1]).mean()
    assert abs(together) < 5.0 / math.sqrt(spans)
    assert receiver.stated == tuple(sigma)


def test_the_stated_sigma_is_that_of_both_errors():
    receiver = FixReceiver(
        "velocity", rate_hz=None, sigma_n=(0.3, 0.0, 0.1), correlated_n=(0.4, 0.2, 0.0), correlation_s=0.01
    )
    assert receiver.stated == pytest.approx((0.5, 0.2, 0.1))
    found = np.array([fix.value_n for _, fix in every(receiver, [(1.0, 2.0, 3.0)] * 20_000)])
    assert np.allclose(found.std(axis=0), (0.5, 0.2, 0.1), rtol=0.1)  # chance: the correlated part has 2000 pieces
    scaled = FixReceiver("velocity", rate_hz=None, sigma_n=(0.0,) * 3, scale_error=0.02, stated_sigma_n=(0.1,) * 3)
    assert np.allclose(every(scaled, [(1.0, 2.0, 3.0)])[0][1].value_n, (1.02, 2.04, 3.06), rtol=1e-15)


def test_along_a_motion_rows_are_the_live_fixes_and_repeat_between_them():
    motion = Linear((0.0, 0.0, 0.0), (3.0, 0.0, 0.0), 1.0, 0.5).at(np.arange(0, 400) / 100.0)
    for kind, true in (("position", motion.p_n), ("velocity", motion.v_n)):
        receiver = FixReceiver(kind, rate_hz=5.0, delay_s=0.1, sigma_n=(0.01, 0.02, 0.03))
        fixes, new = receiver.measure(motion, stream=SEED)
        state, rows = receiver.start(SEED, 0.01), np.flatnonzero(new)
        for i, t in enumerate(motion.t):
            state, fix = receiver.read(state, float(t), true[i])
            assert (fix is not None) == new[i]
            if fix is not None:
                assert np.array_equal(fix.value_n, fixes.value_n[i]) and fix.t_s == fixes.t_s[i]
        assert np.array_equal(fixes.value_n[rows[3] : rows[4]], np.repeat(fixes.value_n[rows[3]][None], 20, axis=0))
        assert (
            np.abs(fixes.value_n[rows] - np.interp(fixes.t_s[rows], motion.t, true[:, 0])[:, None] * [1, 0, 0]).max()
            < 0.15
        )


def test_a_call_that_is_left_out_costs_one_reading_and_not_the_pace():
    part = Altimeter(rate_hz=100.0)
    state, times = part.start(SEED, STEP), []
    for k in [*range(0, 305), *range(700, 1000)]:
        state, reading = part.read(state, k * STEP, 1.0)
        if reading is not None:
            times.append(k)
    assert times == [*range(0, 305, 10), *range(700, 1000, 10)]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Altimeter(limits_m=(2.0, 1.0)), "least range first"),
        (lambda: Altimeter(loss=1.0), "loss is 1.0"),
        (lambda: Altimeter(sigma_m=-1.0), "sigma_m"),
        (lambda: Altimeter(rate_hz=0.0), "rate_hz"),
        (lambda: Altimeter(rate_hz=100.0).start(SEED, 0.02), "called every 0.02 s"),
        (lambda: Altimeter().start(SEED, 0.0), "step_s"),
        (lambda: Altimeter().read(BEFORE, 0.0, 1.0), "Altimeter.read was given a FixState"),
        (lambda: FixReceiver("position").read(None, 0.0, (0.0,) * 3), "FixReceiver.read was given a NoneType"),
        (lambda: FixReceiver("speed"), 'kind is .speed.; give "position" or "velocity"'),
        (lambda: FixReceiver("position", sigma_n=(0.1, -0.1, 0.1)), "sigma_n"),
        (lambda: FixReceiver("position", sigma_n=0.1), "sigma_n"),
        (lambda: FixReceiver("position", outages_s=((3.0, 2.0),)), "outages_s"),
        (lambda: FixReceiver("position", delay_s=-0.1), "delay_s"),
        (lambda: FixReceiver("position", delay_s=1e5), "too many fixes"),
        (lambda: FIX.read(BEFORE, 0.0, (math.nan,) * 3), "value_n is"),
        (lambda: FIX.read(BEFORE, math.nan, (0.0,) * 3), "t is nan"),
        (lambda: FixReceiver("position").measure(Circle(1.0, 1.0, 1.0).at([0.0]), stream=SEED), "one row"),
    ],
)
def test_wrong_settings_are_refused_in_a_sentence(make, words):
    with pytest.raises(InputError, match=words):
        make()
