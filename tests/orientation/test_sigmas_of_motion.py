"""Stated sigmas of the inclination: in accelerations of a hand, in white ones, and on recorded data."""

import numpy as np
import pytest

from helpers import shared_data
from orientation_cases import DEG, FIELD_N, G
from strapdown.evaluation.attitude import attitude_errors
from strapdown.orientation.lodestar import Lodestar
from strapdown.orientation.mekf import Mekf
from strapdown.papers.b.broad_data import all_trials, score, sigma_ratios
from strapdown.rotation import q_conj, q_exp, q_from_euler, q_mul, q_rotate
from strapdown.types import Recording

RATE_HZ = 100.0
WAYS = {"mekf": Mekf().run, "lodestar": Lodestar().run, "lodestar off line": Lodestar().smooth}


def moved(a_n, rng, turn_hz=0.3):
    """Recording and attitude: accelerations (m/s2) of a sensor that turns to and fro by half a radian."""
    n = len(a_n)
    t = np.arange(n) / RATE_HZ
    phase = 2.0 * np.pi * turn_hz * t
    w_s = 0.5 * 2.0 * np.pi * turn_hz * np.stack([np.cos(phase), np.sin(phase), np.cos(phase + 1.0)], axis=1)
    q_ns = np.empty((n, 4))
    q_ns[0] = q_from_euler(0.3, -0.4, 0.5)
    for k, turn in enumerate(q_exp(0.5 * (w_s[1:] + w_s[:-1]) / RATE_HZ), start=1):
        q_ns[k] = q_mul(q_ns[k - 1], turn)
    noise = rng.normal(size=(3, n, 3))
    return Recording(
        t,
        gyr_s=w_s + DEG * 0.05 * noise[0],
        acc_s=q_rotate(q_conj(q_ns), a_n + np.array([0.0, 0.0, G])) + 0.03 * noise[1],
        mag_s=q_rotate(q_conj(q_ns), np.broadcast_to(FIELD_N, (n, 3))) + 0.3 * noise[2],
    ), q_ns


def inclination_ratio(way, recording, q_ns, after_s=30.0):
    """Error over stated sigma of the inclination, root mean squares."""
    found = way(recording)
    late = recording.t > after_s
    error2 = np.mean(attitude_errors(found.q_nb[late], q_ns[late]).inclination ** 2)
    return np.sqrt(error2 / np.mean(np.sum(found.sigma["attitude_n"][late, :2] ** 2, axis=1)))


@pytest.mark.parametrize("name", WAYS)
def test_shaken_by_a_hand_the_sigma_is_not_that_of_white_accelerations(name):
    """5 m/s2 to and fro at about 1 Hz, of a speed below 1 m/s: their mean over seconds vanishes. Taken for a process
    with their variance and correlation time they would be some degrees of inclination."""
    rng = np.random.default_rng(4)
    t = np.arange(15000)[:, None, None] / RATE_HZ
    hz, phase = rng.uniform(0.8, 1.4, (3, 3)), rng.uniform(0.0, 2.0 * np.pi, (3, 3))
    recording, q_ns = moved(np.sum(4.0 * np.sin(2.0 * np.pi * hz * t + phase), axis=2), rng)
    found = WAYS[name](recording)
    assert np.mean(found.sigma["attitude_n"][5000:, :2]) < 0.7 * DEG
    assert inclination_ratio(WAYS[name], recording, q_ns) < 1.3  # model: sigmas are not smaller than the errors


@pytest.mark.parametrize("name", ["lodestar", "lodestar off line"])
def test_white_accelerations_have_their_share_in_the_wander(name):
    """Density 0.5 m/s2 sqrt(s), behind the low-pass 1 deg: 0.615 of the variance is in the wander one way, and 0.599
    both ways. So the ratio is 1, less the part of the floor and of the bias that is not there."""
    rng = np.random.default_rng(7)
    recording, q_ns = moved(0.5 * np.sqrt(RATE_HZ) * rng.normal(size=(60000, 3)), rng)
    # chance: 600 s are some 100 independent errors of two axes
    assert 0.85 < inclination_ratio(WAYS[name], recording, q_ns) < 1.12


def test_sigmas_and_errors_on_recorded_data():
    """BROAD, defaults: error over sigma in the mean of the trials, and no trial whose inclination is far beyond. The
    structure was thought out on these trials; `strapdown reproduce B orientation` excludes each from the settings."""
    trials = all_trials(shared_data("broad"))
    for name, (most_total_deg, way) in {
        "mekf": (2.7, WAYS["mekf"]),
        "lodestar": (2.45, WAYS["lodestar"]),
        "lodestar off line": (1.30, WAYS["lodestar off line"]),
    }.items():
        found = [way(trial.recording) for trial in trials]
        ratios = np.array([sigma_ratios(s, trial) for s, trial in zip(found, trials, strict=True)])
        heading, inclination = ratios.mean(axis=0)
        assert 0.7 < heading < 1.5 and 0.7 < inclination < 1.5, name
        # one axis of the two: too wide by four times, or too small by two, is a wrong model of the motion
        assert ratios[:, 1].min() > 0.3 and ratios[:, 1].max() < 2.2, name
        totals = [score(s, trial).total_deg for s, trial in zip(found, trials, strict=True)]
        assert np.mean(totals) < most_total_deg and max(totals) < 10.0, name
