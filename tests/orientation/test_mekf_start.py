"""The Kalman filter of attitude and bias started in the middle of a motion, and left at rest while the bias drifts."""

import numpy as np
import pytest

from helpers import shared_data
from orientation_cases import DEG, FIELD_N, G, reading
from strapdown.kernels.orientation.mekf.update import P
from strapdown.live import Start
from strapdown.orientation.mekf import Mekf
from strapdown.papers.b.broad_data import read_trial
from strapdown.rotation import q_conj, q_exp, q_from_euler, q_log, q_mul, q_rotate
from strapdown.types import Recording

RATE_HZ = 100.0
BIAS_DPS = np.array([0.5, -0.4, 0.3])


def sway(rng, n, slowest_hz, fastest_hz):
    """Sums of three sines per axis, of variance 1 in the mean, (n, 3)."""
    t = np.arange(n)[:, None, None] / RATE_HZ
    hz, phase = rng.uniform(slowest_hz, fastest_hz, (3, 3)), rng.uniform(0.0, 2.0 * np.pi, (3, 3))
    return np.sum(rng.normal(size=(3, 3)) * np.sin(2.0 * np.pi * hz * t + phase), axis=2) * np.sqrt(2.0 / 3.0)


def in_motion(seed, rate_dps, push_mps2, duration_s=45.0):
    """(recording, q_ns): a hand that turns and pushes, already at the first sample."""
    rng, n = np.random.default_rng(seed), round(duration_s * RATE_HZ)
    w_s, a_n = rate_dps * DEG * sway(rng, n, 0.2, 1.5), push_mps2 * sway(rng, n, 0.5, 2.5)
    q_ns = np.empty((n, 4))
    q_ns[0] = q_from_euler(*rng.uniform(-1.5, 1.5, 3))
    for k, turn in enumerate(q_exp(0.5 * (w_s[1:] + w_s[:-1]) / RATE_HZ), start=1):
        q_ns[k] = q_mul(q_ns[k - 1], turn)
    noise = rng.normal(size=(3, n, 3))
    return Recording(
        np.arange(n) / RATE_HZ,
        gyr_s=w_s + DEG * (BIAS_DPS + 0.05 * noise[0]),
        acc_s=q_rotate(q_conj(q_ns), a_n + np.array([0.0, 0.0, G])) + 0.03 * noise[1],
        mag_s=q_rotate(q_conj(q_ns), np.broadcast_to(FIELD_N, (n, 3))) + 0.3 * noise[2],
    ), q_ns


@pytest.mark.parametrize(("rate_dps", "push_mps2"), [(30.0, 1.0), (100.0, 3.0), (200.0, 6.0), (60.0, 8.0)])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_started_in_motion_it_finds_attitude_and_bias(seed, rate_dps, push_mps2):
    recording, q_ns = in_motion(seed, rate_dps, push_mps2)
    found = Mekf().run(recording)
    error, sigma = q_log(q_mul(q_ns, q_conj(found.q_nb))), found.sigma["attitude_n"]
    # model: pushes of up to 8 m/s2 that last half a second, averaged over some ten seconds, and the field by 2 deg
    assert np.sqrt(np.mean(np.sum(error[3000:] ** 2, axis=1))) < (2.0 if push_mps2 < 5.0 else 4.0) * DEG
    assert np.abs(found.bias["gyr_s"] / DEG - BIAS_DPS)[3000:].max() < 1.0  # as far off as bias_start_dps states
    assert np.abs(found.bias["gyr_s"]).max() < 3.0 * DEG  # three sigmas: no wrong attitude was learned as bias
    assert np.mean((error / sigma)[10:, :2] ** 2) < 2.0 and np.mean((error / sigma)[10:, 2] ** 2) < 2.0


def test_the_start_is_doubted_as_the_first_seconds_show_motion():
    """At rest the first reading is as good as motion_start_mps2 states. With a push that the norm does not show, it is
    found out later that it was not; without the doubt the sigma of the first second would be 2 deg."""
    still = np.array([0.0, 0.0, G])
    told = {}
    for name, push in (("rest", 0.0), ("pushed", 5.0)):
        filt = Mekf()
        state = filt.start(Start(step_s=1.0 / RATE_HZ))
        for k in range(50):
            a_s = still + push * np.array([np.cos(10.0 * k / RATE_HZ), 0.0, 0.0])
            a_s *= G / np.linalg.norm(a_s)  # so that its norm shows nothing
            state = filt.step(state, reading(np.zeros(3), a_s, FIELD_N, dt=1.0 / RATE_HZ))
        told[name] = filt.belief(state).sigma["attitude_n"][0]
        assert np.linalg.eigvalsh(state.numbers[P : P + 36].reshape(6, 6)).min() > 0.0
    assert told["rest"] < 2.0 * DEG and told["pushed"] > 8.0 * DEG


def test_a_jolt_in_the_first_sample_is_in_the_deviation():
    filt = Mekf()
    state = filt.step(
        filt.start(Start(step_s=0.01)), reading(np.zeros(3), np.array([4.0, 0.0, 2.0 * G]), FIELD_N, dt=0.0)
    )
    assert np.abs(filt.belief(state).sigma["attitude_n"][:2]).min() > 45.0 * DEG
    for _ in range(1000):
        state = filt.step(state, reading(np.zeros(3), np.array([0.0, 0.0, G]), FIELD_N, dt=0.01))
    assert np.linalg.norm(q_log(filt.belief(state).q_nb)) < 1.0 * DEG  # model: the residual of 11 deg after 10 s


# Of each pair of neighbouring trials the first was in sight where the start was made; the rest were left for this.
UNSEEN = ("04_undisturbed_slow_rotation_with_breaks_A", "08_undisturbed_fast_rotation_with_breaks_A")
UNSEEN += ("12_undisturbed_slow_translation_C", "24_disturbed_tapping_A", "28_disturbed_stationary_magnet_A")


@pytest.mark.parametrize("name", UNSEEN)
def test_started_inside_a_recorded_movement(name):
    """BROAD, three starts in each trial, after 30 s; with a magnet on the part from the start nothing would tell."""
    trial = read_trial(shared_data("broad") / f"{name}.mat")
    moved = np.flatnonzero(trial.movement)
    for part in (0.2, 0.4, 0.6):
        k = moved[int(part * len(moved))]
        r = trial.recording
        found = Mekf().run(Recording(r.t[k:], r.gyr_s[k:], r.acc_s[k:], r.mag_s[k:]))
        counts = trial.movement[k:] & np.isfinite(trial.q_ns[k:]).all(axis=1) & (r.t[k:] > r.t[k] + 30.0)
        error = q_log(q_mul(trial.q_ns[k:][counts], q_conj(found.q_nb[counts])))
        assert np.sqrt(np.mean(np.sum(error**2, axis=1))) < 8.0 * DEG  # model: a hand's motion without a rest before
        z = error / found.sigma["attitude_n"][counts]
        assert np.mean(z[:, :2] ** 2) < 3.0 and np.mean(z[:, 2] ** 2) < 3.0  # model: fields are 1 to 4 deg from north


@pytest.mark.parametrize("drift_dps_min", [0.01, 0.03])
def test_a_bias_that_drifts_at_rest_is_followed(drift_dps_min):
    """20 min, as a part that warms up: 0.2 and 0.6 deg/s in the end."""
    rate_hz, rng = 25.0, np.random.default_rng(8)
    n = round(1200.0 * rate_hz)
    t, q_ns, noise = np.arange(n) / rate_hz, q_from_euler(0.4, -0.5, 0.6), rng.normal(size=(3, n, 3))
    still_s = (q_rotate(q_conj(q_ns), np.array(v)) for v in ([0.0, 0.0, G], FIELD_N))
    acc_s, mag_s = (v + size * e for v, size, e in zip(still_s, (0.02, 0.3), noise[1:], strict=True))
    drift_s = drift_dps_min / 60.0 * t[:, None] * np.array([1.0, -1.0, 1.0])
    recording = Recording(t, DEG * (BIAS_DPS + drift_s + 0.05 * noise[0]), acc_s, mag_s)
    found = Mekf().run(recording)
    z = q_log(q_mul(q_ns, q_conj(found.q_nb))) / found.sigma["attitude_n"]
    assert np.abs(z[250:]).max() < 3.0 and np.mean(z[250:] ** 2) < 1.5  # three sigmas
    six = Mekf(magnetometer=False, bias_start_dps=0.05)
    known = Recording(t, recording.gyr_s - DEG * BIAS_DPS, acc_s)
    found = six.run(known, Start.of(known, q_ns=q_ns))
    heading = np.unwrap(q_log(q_mul(q_ns, q_conj(found.q_nb)))[:, 2])
    # three sigmas; model: a steady drift is no walk, so that it comes near them in the end
    assert np.abs(heading / found.sigma["attitude_n"][:, 2])[t > 10.0].max() < 3.0
