"""Velocity fixes that come late: used at their own instant, honest variances, and a multirotor's attitude by them."""

from dataclasses import replace

import numpy as np
import pytest

from fix_cases import with_heights, with_position_fixes
from strapdown.kernels.navigation.eskf import layout as at
from strapdown.live import Alignment, Start
from strapdown.motion.paths.flight import Flight
from strapdown.motion.vibration import Vibrating, rotor_imbalance
from strapdown.navigation.eskf.filter import Eskf
from strapdown.navigation.eskf.smoother import smooth
from strapdown.navigation.eskf.updates import ZeroVelocity
from strapdown.navigation.fixes import at_their_instants
from strapdown.rotation import euler_from_q, q_conj, q_exp, q_log, q_mul
from strapdown.sensors.aiding.fix import FixReceiver
from strapdown.sensors.parts.part import load_part
from strapdown.sensors.record import ideal_readings, record
from strapdown.sensors.streams import seed_of
from strapdown.types import Recording

G = 9.80665
SCRIPT = ((3.0, 0.0, 0.0), (-3.0, 0.0, 0.0), (0.0, 3.0, 0.0), (0.0, -3.0, 0.0), (0.0, 0.0, 0.0))
FLIGHT = Flight(SCRIPT, ramp_s=3.5, hold_s=3.0, first_rest_s=2.0, gravity_m_s2=G, drag_time_s=4.9)
ALONE = {"zero_velocity": None, "zero_rate": None, "gravity": G}


def start_at(q_ns, tilt, heading=1e-6, bias=0.0):
    """rest_s = 0: the attitude was given and does not hang together with the accelerometer's bias."""
    three = np.full(3, bias)
    return Alignment(q_ns, 1, 0.0, tilt, heading, False, np.zeros(3), three)


def with_fixes(log, seed, sigma=0.05, rate_hz=10.0, delay_s=0.1, **more):
    receiver = FixReceiver("velocity", rate_hz=rate_hz, sigma_n=(sigma,) * 3, delay_s=delay_s, **more)
    fixes, new = receiver.measure(log.truth, stream=seed_of(seed, "fix"))
    return replace(log, velocity_fix=fixes, new={**log.new, "velocity_fix": new})


ACC_WHITE, GYR_WHITE, TILT, BIAS_A, BIAS_G = 0.05, 3e-4, 0.03, 0.05, 2e-3
HONEST = Eskf(
    **ALONE,
    acc_white=ACC_WHITE,
    gyr_white=GYR_WHITE,
    acc_bias_sigma=BIAS_A,
    gyr_bias_sigma=BIAS_G,
    acc_drift=0.0,
    gyr_drift=0.0,
    gate_probability=0.0,
)


def drawn(seed, rate_hz=100.0):
    """A log whose errors are those that the filter is given: tilt, biases, white noise; and its start."""
    rng = np.random.default_rng(seed)
    clean = ideal_readings(FLIGHT.at(np.arange(0.0, FLIGHT.duration_s, 1.0 / rate_hz)))
    n = (len(clean), 3)
    log = replace(
        clean,
        gyr_s=clean.gyr_s + rng.normal(0.0, BIAS_G, 3) + rng.normal(0.0, GYR_WHITE * np.sqrt(rate_hz), n),
        acc_s=clean.acc_s + rng.normal(0.0, BIAS_A, 3) + rng.normal(0.0, ACC_WHITE * np.sqrt(rate_hz), n),
        stop=np.zeros(len(clean), dtype=bool),
    )
    wrong = q_mul(q_exp(-np.array([*rng.normal(0.0, TILT, 2), 0.0])), log.truth.q_nb[0])
    return log, Start.of(log, alignment=start_at(wrong, TILT, bias=BIAS_G))


RUNS = 30


@pytest.mark.parametrize("delay_s", [0.0, 0.1, 0.4])
def test_velocity_and_tilt_err_as_much_as_the_filter_says(delay_s):
    """NEES of velocity, tilt and accelerometer bias over 30 runs. With this noise of the accelerometer the velocity of
    0.4 s before differs from that of now by three times its own sigma: a filter that forgets the delay, or that counts
    the noise in between twice, is far outside."""
    from scipy.special import chdtri

    states = [*range(at.V_N, at.V_N + 3), at.PHI_N, at.PHI_N + 1]
    squares = []
    for seed in range(RUNS):
        log, given = drawn(seed)
        log = with_fixes(log, seed, delay_s=delay_s)
        for end in (700, len(log)):
            track = HONEST.track(log[:end], given)
            truth, last = log.truth[:end], track.solution
            phi = q_log(q_mul(truth.q_nb[-1], q_conj(last.q_nb[-1])))
            error = np.concatenate([truth.v_n[-1] - last.v_n[-1], phi[:2]])
            cov = HONEST.covariance(track.last)[np.ix_(states, states)]
            squares.append(error @ np.linalg.solve(cov, error))
    degrees = 5 * len(squares)
    low, high = (chdtri(degrees, p) / degrees for p in (0.9995, 0.0005))  # chance: 99.9 % of honest filters
    assert low < np.mean(squares) / 5.0 < high


def test_innovations_are_as_large_as_their_variance():
    from scipy.special import chdtri

    log, given = drawn(3)
    seen = HONEST.track(with_fixes(log, 3, delay_s=0.2), given).innovations["velocity"]
    late = seen.t > 3.0  # the filter has a history by then
    degrees = 3 * int(late.sum())
    low, high = (chdtri(degrees, p) / degrees for p in (0.9995, 0.0005))
    assert low < seen.nis[late].mean() / 3.0 < high


def test_a_delay_costs_nothing_but_its_time():
    """Readings without noise: the same attitude from fixes with and without delay, while the body accelerates."""
    clean = ideal_readings(FLIGHT.at(np.arange(0.0, FLIGHT.duration_s, 0.01)))
    log = replace(clean, stop=np.zeros(len(clean), dtype=bool))
    given = Start.of(log, alignment=start_at(log.truth.q_nb[0], 0.01))
    filt = Eskf(**ALONE, acc_bias_sigma=1e-3, gyr_bias_sigma=1e-5)
    for delay_s in (0.1, 0.45):
        found = filt.run(with_fixes(log, 1, sigma=1e-9, delay_s=delay_s, stated_sigma_n=(0.05,) * 3), given)
        assert not found.flags.get("velocity_rejected", np.zeros(1)).any()
        error = q_log(q_mul(log.truth.q_nb, q_conj(found.q_nb)))
        # straight lines between velocities 16 ms apart: jerk h^2 / 8, 2e-4 m/s of jerk 6 m/s3; and the first fixes,
        # before the filter keeps velocities, count for little
        assert np.abs(error[:, :2]).max() < 2e-4
        assert np.abs(found.v_n - log.truth.v_n).max() < 2e-3


def test_a_fix_older_than_the_history_counts_for_less_and_does_no_harm():
    log, given = drawn(5)
    late = with_fixes(log, 5, delay_s=1.5)
    found = HONEST.track(late, given)
    sharp = HONEST.track(with_fixes(log, 5, delay_s=0.1), given)
    assert found.solution.sigma["v_n"][-1].max() > 3.0 * sharp.solution.sigma["v_n"][-1].max()
    longer = replace(HONEST, fix_delay_s=2.0).track(late, given)
    assert longer.solution.sigma["v_n"][-1].max() < 0.7 * found.solution.sigma["v_n"][-1].max()


def test_after_a_gap_fixes_from_before_it_are_not_compared_with_velocities_of_before():
    log, given = drawn(6)
    log = with_fixes(log, 6, delay_s=0.3)
    keep = (log.t < 10.0) | (log.t > 12.0)
    kept = {name: getattr(log, name)[keep] for name in ("t", "gyr_s", "acc_s", "stop")}
    short = Recording(**kept, velocity_fix=log.velocity_fix[keep], new={"velocity_fix": log.new["velocity_fix"][keep]})
    found = replace(HONEST, gate_probability=1e-6).run(short, given)
    after = short.t > 14.0
    error = (log.truth.v_n[keep] - found.v_n)[after]
    assert np.abs(error / found.sigma["v_n"][after]).max() < 5.0


def test_the_covariance_stays_symmetric_and_positive():
    log, given = drawn(7)
    cov = HONEST.covariance(HONEST.track(with_fixes(log, 7, delay_s=0.3, rate_hz=30.0), given).last)[:15, :15]
    scale = 1.0 / np.sqrt(np.diag(cov))
    assert np.abs(cov - cov.T).max() <= 1e-9 * np.abs(cov).max()  # roundoff of 3000 predictions
    assert np.linalg.eigvalsh(scale[:, None] * cov * scale).min() > -1e-9  # roundoff of correlations


def test_a_setting_changed_in_flight_leaves_the_covariance_positive():
    """More noise of the accelerometer from now on: what came before had less."""
    log, given = drawn(9)
    log = with_fixes(log, 9, delay_s=0.4, rate_hz=30.0)
    quiet, noisy = replace(HONEST, acc_white=5e-3), replace(HONEST, acc_white=0.5)
    state = quiet.track(log[:1000], given).last
    for sample in (log.sample(i) for i in range(1000, 1100)):
        state = noisy.step(state, sample)
        cov = noisy.covariance(state)[:15, :15]
        scale = 1.0 / np.sqrt(np.diag(cov))
        assert np.linalg.eigvalsh(scale[:, None] * cov * scale).min() > -1e-9  # roundoff of correlations


@pytest.mark.parametrize("others", ["positions", "heights", "stops"])
def test_other_measurements_in_between_leave_the_covariance_positive_and_not_too_small(others):
    """They use some of the noise since the fix's instant, which must not be taken off twice. What is not known of it is
    left in: the filter may then be too careful."""
    from scipy.special import chdtri

    states = [*range(at.P_N, at.P_N + 6), at.PHI_N, at.PHI_N + 1]
    squares = []
    for seed in range(12):
        log, given = drawn(seed)
        rng = np.random.default_rng(seed)
        truth, filt = log.truth, HONEST
        if others == "positions":
            log = with_position_fixes(
                log, log.t[5::7], truth.p_n[5::7] + rng.normal(0.0, 0.002, (len(log.t[5::7]), 3)), 0.002
            )
        elif others == "heights":
            log = with_heights(log, log.t[5::7], truth.p_n[5::7, 2] + rng.normal(0.0, 0.002, len(log.t[5::7])), 0.002)
        else:
            log = replace(log, stop=np.linalg.norm(truth.v_n, axis=1) == 0.0)
            filt = replace(HONEST, zero_velocity=ZeroVelocity(1e-4))
        track = filt.track(with_fixes(log, seed, delay_s=0.3, rate_hz=30.0), given)
        cov = filt.covariance(track.last)
        scale = 1.0 / np.sqrt(np.diag(cov)[:15])
        assert np.linalg.eigvalsh(scale[:, None] * cov[:15, :15] * scale).min() > -1e-9  # roundoff of correlations
        last = track.solution
        phi = q_log(q_mul(truth.q_nb[-1], q_conj(last.q_nb[-1])))
        error = np.concatenate([truth.p_n[-1] - last.p_n[-1], truth.v_n[-1] - last.v_n[-1], phi[:2]])
        squares.append(error @ np.linalg.solve(cov[np.ix_(states, states)], error))
    degrees = 8 * len(squares)
    assert 0.4 < np.mean(squares) / 8.0 < chdtri(degrees, 0.0005) / degrees  # chance: 99.95 % of honest filters


def test_a_smoothed_flight_uses_each_fix_in_the_row_of_its_instant():
    log, given = drawn(8)
    late, prompt = with_fixes(log, 8, delay_s=0.2), with_fixes(log, 8, delay_s=0.0)
    moved = at_their_instants(late)
    new = moved.new["velocity_fix"]
    assert np.array_equal(moved.velocity_fix.t_s[new], log.t[new])
    rows = np.flatnonzero(prompt.new["velocity_fix"])[: int(new.sum())]  # the last ones never came
    assert np.array_equal(np.flatnonzero(new), rows)
    assert np.array_equal(moved.velocity_fix.value_n[new], prompt.velocity_fix.value_n[rows])
    filtered, smoothed = HONEST.run(late, given), smooth(HONEST, late, given)
    rms = [np.sqrt(((x.v_n - log.truth.v_n)[300:] ** 2).mean()) for x in (filtered, smoothed)]
    assert rms[1] < 0.7 * rms[0]  # half of the fixes' noise and more: the future counts too
    assert at_their_instants(log) is log


HUBS = ((0.17, 0.0, 0.02), (0.0, 0.17, 0.02), (-0.17, 0.0, 0.02), (0.0, -0.17, 0.02))
ROTORS = rotor_imbalance(1e-5, HUBS, (1, -1, 1, -1), 0.716, (0.007, 0.007, 0.012), (0.3, 1.9, 4.0, 5.5))
WHOLE = replace(FLIGHT, hold_s=7.0)  # a minute
SHAKEN = Vibrating(WHOLE, ROTORS, (450.0, 452.0, 455.0, 457.0))
IN_FLIGHT = Eskf(
    **ALONE,
    gyr_white=1e-4,
    acc_white=0.01,
    gyr_drift=3e-4,
    acc_drift=2e-3,
    gyr_bias_sigma=2e-3,
    acc_bias_sigma=0.01,
    gyr_matrix_sigma=0.002,
)


@pytest.mark.parametrize(("rate_hz", "sigma", "most_deg"), [(5.0, 0.1, 0.12), (30.0, 0.05, 0.11)])
def test_a_multirotor_knows_its_attitude_by_velocity_fixes(rate_hz, sigma, most_deg):
    """MPU-6050 specimens with all their errors at 500 Hz, biases taken out at rest, rotors out of balance (4.5 m/s2
    rms), leans of 14 deg, fixes 0.1 s late. What is left is the scale and cross-axis of the gyroscopes, 1 % of a lean.
    """
    worst = []
    for seed in range(4):
        part = load_part("MPU-6050").draw(seed=seed, rate_hz=500.0)
        log = record(SHAKEN, part, seed, rate_hz=500.0)
        still = record(Flight([(0.0, 0.0, 0.0)], first_rest_s=1.0), part, seed + 100, rate_hz=500.0)
        log = replace(
            log,
            gyr_s=log.gyr_s - still.gyr_s.mean(axis=0),
            acc_s=log.acc_s - still.acc_s.mean(axis=0) + np.array([0.0, 0.0, G]),
            stop=np.zeros(len(log), dtype=bool),
        )
        log = with_fixes(log, seed, sigma, rate_hz)
        level = Alignment(np.array([1.0, 0, 0, 0]), 1, 3.0, 2e-3, 0.01, False, np.zeros(3), np.full(3, 3e-4))
        found = IN_FLIGHT.run(log, Start.of(log, alignment=level))
        roll, pitch, _ = (a - b for a, b in zip(euler_from_q(found.q_nb), euler_from_q(log.truth.q_nb), strict=True))
        worst.append(np.degrees([np.sqrt((x[log.t > 2.0] ** 2).mean()) for x in (roll, pitch)]).max())
        assert not found.flags.get("velocity_rejected", np.zeros(1)).any()
    assert max(worst) < most_deg, worst  # of 10 seeds the largest are 0.118 and 0.106 deg
