"""Stop detectors on the IMU alone: the published statistics, and the threshold that follows the gait."""

import numpy as np
import pytest

from strapdown.errors import InputError
from strapdown.navigation.stops.detectors import Ared, Magnitude, MovingVariance, Shoe
from strapdown.navigation.stops.foot_stops import FootStops
from strapdown.types import Recording

G = 9.81
REST = np.array([0.0, 0.0, G])


def log(n=60, seed=1, rate_hz=100.0):
    rng = np.random.default_rng(seed)
    return Recording(np.arange(n) / rate_hz, gyr_s=rng.normal(size=(n, 3)), acc_s=rng.normal(size=(n, 3)) + REST)


def in_words(kind, acc, gyr):
    """The statistic of one window, as Skog et al. 2010 print it, with unit sigmas."""
    mean = acc.mean(axis=0)
    if kind == "shoe":
        up = mean / np.linalg.norm(mean)
        return np.mean(np.sum((acc - G * up) ** 2, axis=1) / 0.5**2 + np.sum(gyr**2, axis=1) / 0.2**2)
    if kind == "ared":
        return np.mean(np.sum(gyr**2, axis=1)) / 0.2**2
    if kind == "mv":
        return np.mean(np.sum((acc - mean) ** 2, axis=1)) / 0.5**2
    return np.mean((np.linalg.norm(acc, axis=1) - G) ** 2) / 0.5**2


DETECTORS = {
    "shoe": Shoe(window_s=0.05, sigma_m_s2=0.5, sigma_rad_s=0.2, gravity=G),
    "ared": Ared(window_s=0.05, sigma_rad_s=0.2),
    "mv": MovingVariance(window_s=0.05, sigma_m_s2=0.5),
    "mag": Magnitude(window_s=0.05, sigma_m_s2=0.5, gravity=G),
}


@pytest.mark.parametrize("kind", DETECTORS)
def test_statistics_are_the_published_ones(kind):
    r, detector = log(), DETECTORS[kind]
    assert detector.name == kind
    found = detector.find(r).signal
    for i in range(2, 58):
        rows = slice(i - 2, i + 3)
        assert found[i] == pytest.approx(in_words(kind, r.acc_s[rows], r.gyr_s[rows]), rel=1e-12)  # roundoff
    assert np.array_equal(detector.find(r).believed, found < detector.threshold)


@pytest.mark.parametrize("kind", DETECTORS)
def test_without_look_ahead_a_verdict_knows_no_later_sample(kind):
    r = log()
    detector = type(DETECTORS[kind])(window_s=0.05, look_ahead=False)
    whole = detector.find(r).signal
    part = detector.find(Recording(r.t[:40], gyr_s=r.gyr_s[:40], acc_s=r.acc_s[:40])).signal
    assert np.array_equal(whole[:40], part)


@pytest.mark.parametrize("kind", DETECTORS)
def test_a_rest_is_below_and_a_shake_above(kind):
    t = np.arange(400) / 100.0
    shake = np.where((t > 1.0) & (t < 2.0), np.sin(40.0 * t), 0.0)[:, None] * [3.0, 2.0, 4.0]
    r = Recording(t, gyr_s=shake, acc_s=shake + REST)
    statistic = DETECTORS[kind].find(r).signal
    inside = (t > 1.1) & (t < 1.9)
    outside = (t < 0.9) | (t > 2.1)
    # roundoff: the force is gravity to the last digit
    assert statistic[inside].min() > 1.0 and statistic[outside].max() < 1e-20


def steps(speed, n=10, rate_hz=200.0, floor=0.0):
    """n swings of 0.5 s of this peak rate (rad/s), after each a stance of 0.5 s that is rolled through at 3 % of it."""
    t = np.arange(int((n + 1) * rate_hz)) / rate_hz
    phase = t % 1.0
    swing = (phase >= 0.5) & (t >= 0.5)
    rate = np.where(swing, speed * np.sin(2 * np.pi * (phase - 0.5)), np.where(t < 0.5, 0.0, 0.03 * speed)) + floor
    acc = np.column_stack([2.0 * rate, np.zeros_like(t), np.full_like(t, G)])
    return Recording(t, gyr_s=np.column_stack([np.zeros_like(t), rate, np.zeros_like(t)]), acc_s=acc), swing


@pytest.mark.parametrize("speed", [2.0, 6.0, 20.0])
def test_one_setting_finds_the_stances_of_a_stroll_and_of_a_run(speed):
    r, swing = steps(speed)
    found = FootStops(gravity=G).find(r)
    middle = np.abs(r.t % 1.0 - 0.25) < 0.15
    assert found.believed[middle & ~swing].all()
    assert not found.believed[swing & (np.abs(r.t % 1.0 - 0.75) < 0.15)].any()
    fixed = Shoe(gravity=G, threshold=1e7).find(r).believed  # right for one gait only
    if speed == 20.0:
        assert not fixed[middle & ~swing & (r.t > 1.0)].any()


def test_after_long_without_a_stance_the_threshold_gives_way():
    t = np.arange(2000) / 200.0
    shaken = np.full((2000, 3), 1.0)
    found = FootStops(patience_s=2.0, gravity=G).find(Recording(t, gyr_s=shaken, acc_s=np.tile([0, 0, G], (2000, 1))))
    first = t[found.believed][0]
    # the threshold stands at 0.125 of the signal, so ln 8 = 2.08 s after the patience it is reached
    assert first == pytest.approx(2.0 + np.log(8.0), abs=0.01)  # step order: two samples
    assert (
        not FootStops(patience_s=100.0, gravity=G)
        .find(Recording(t, gyr_s=shaken, acc_s=np.tile([0, 0, G], (2000, 1))))
        .believed.any()
    )


def test_a_walk_without_stances_is_told():
    t = np.arange(2000) / 200.0
    r = Recording(t, gyr_s=np.full((2000, 3), 1.0), acc_s=np.tile([0, 0, G], (2000, 1)))
    (event,) = FootStops(patience_s=100.0, gravity=G).find(r).events
    assert event.kind == "no_stance" and event.until_s - event.t_s == pytest.approx(t[-1])


def test_bad_settings_and_logs_are_refused_in_words():
    with pytest.raises(InputError, match="ratio of the stop detector is 0"):
        FootStops(ratio=0.0)
    with pytest.raises(InputError, match="threshold of the stop detector is -1"):
        Shoe(threshold=-1.0)
    with pytest.raises(InputError, match="no gyroscope"):
        Ared().find(Recording([0.0, 0.1, 0.2], acc_s=np.ones((3, 3))))
    with pytest.raises(InputError, match="no accelerometer"):
        Shoe().find(Recording([0.0, 0.1, 0.2], gyr_s=np.ones((3, 3))))
    with pytest.raises(InputError, match="shorter window"):
        Ared(window_s=10.0).find(log())
    with pytest.raises(InputError, match="three or more"):
        Ared().find(Recording([0.0], gyr_s=np.ones((1, 3))))
