"""What every orientation filter promises: right answers at any rate, after gaps and wrong starts; honest sigmas."""

from dataclasses import replace

import numpy as np
import pytest

from orientation_cases import (
    DEG,
    RATE_HZ,
    UP,
    all_round,
    angle,
    answer,
    axes,
    between,
    errors_n,
    ideal,
    inclination,
    long_rest,
    measured,
    noisy_swing,
    over_the_top,
    swing,
    tumbling,
    ways,
)
from strapdown.motion import Rest, Turntable
from strapdown.rotation import q_conj, q_exp, q_from_euler, q_log, q_mul
from strapdown.sensors.imu import sample_times
from strapdown.types import Recording


@ways("does not drift")
def test_ten_minutes_at_rest_do_not_drift(name, way):
    recording = long_rest()
    found = answer(name, way, recording)
    after = recording.t > 5.0
    if "attitude_n" in found.sigma:
        normalised = errors_n(found, recording.truth, after) / found.sigma["attitude_n"][after]
        assert np.abs(normalised).max() < 5.0  # chance: five sigmas
    # chance and model: the first reading has 0.005 rad of noise, the gyroscope walks 0.1 deg and wanders a little more
    assert inclination(found, recording.truth, after).max() < 1.0 * DEG
    # the first magnetometer reading alone has a noise of 0.3 uT of 20: 1 deg
    assert angle(found, recording.truth, after).max() < 4.0 * DEG


@ways("everywhere", needs=("given",))
@axes
@pytest.mark.parametrize("path", [over_the_top, all_round])
def test_no_attitude_is_special(name, way, use_mag, path):
    """Through pitch 90 deg, upside down, and yaw 180 deg: near the truth, and no jump from sample to sample."""
    recording = measured(ideal(path()), RATE_HZ)
    found = answer(name, way, recording, {"magnetometer": use_mag}, q_ns=recording.truth.q_nb[0])
    assert angle(found, recording.truth).max() < 4.0 * DEG  # chance: noise of the part, 1 deg of the first heading
    fastest = between(recording.truth.q_nb[1:], recording.truth.q_nb[:-1]).max()
    # chance: the gyroscope's noise turns 0.01 deg in a sample, and corrections are slower
    assert between(found.q_nb[1:], found.q_nb[:-1]).max() < fastest + 0.3 * DEG


@ways()
def test_slow_motion_is_followed(name, way):
    recording = noisy_swing()
    found = answer(name, way, recording)
    after = recording.t > 1.0
    # model: accelerations up to 1 m/s2 tilt the vertical of a filter that believes it at once by 6 deg
    assert np.sqrt(np.mean(angle(found, recording.truth, after) ** 2)) < (8.0 if name == "paper-b" else 3.0) * DEG


@ways("any rate")
def test_uneven_steps_give_the_answer_of_even_ones(name, way):
    path = swing()
    even = sample_times(RATE_HZ, path.duration_s)
    rng = np.random.default_rng(3)
    uneven = even + np.where(np.arange(len(even)) % 8 == 0, 0.0, rng.uniform(-0.4, 0.4, len(even)) / RATE_HZ)
    same = np.arange(0, len(even), 8)
    one, other = (answer(name, way, ideal(path, t=t)) for t in (even, uneven))
    # step order: (rate dt)^2/12 of the turn in a step, 1e-4 rad/s at most here, for as long as the filter remembers
    # and of decisions (rest, rejection) that fall one sample earlier or later
    assert between(one.q_nb[same], other.q_nb[same]).max() < 0.3 * DEG


@ways(needs=("given",))
@axes
def test_a_gap_is_predicted_and_told(name, way, use_mag):
    """Two seconds are missing while it turns at a constant rate, which is what a prediction can know."""
    path = Turntable.constant(0.15, 12.0, axis_b=(0.0, 0.0, 1.0), q_nb=q_from_euler(0.0, 0.0, 0.5))
    full = ideal(path)
    kept = (full.t <= 6.0) | (full.t >= 8.0)
    cut = Recording(
        full.t[kept], gyr_s=full.gyr_s[kept], acc_s=full.acc_s[kept], mag_s=full.mag_s[kept], truth=full.truth[kept]
    )
    settings = {"magnetometer": use_mag, **({"calibration_s": 0.0} if name == "paper-b" else {})}
    found = answer(name, way, cut, settings, q_ns=cut.truth.q_nb[0])
    after = int(np.searchsorted(cut.t, 8.0))
    assert [event.kind for event in found.events] == ["gap"]
    assert found.events[0].t_s == 6.0 and found.events[0].until_s == 8.0
    assert np.flatnonzero(found.flags["gap"]).tolist() == [after]
    # step order: a constant rate is exact; paper B's low-pass of the magnetometer lags 0.05 s, 0.5 deg
    assert angle(found, cut.truth, slice(after, None)).max() < (2.0 if name == "paper-b" else 0.5) * DEG


@ways(needs=("magnetometer",))
@pytest.mark.parametrize("how", ["repeated", "own recording"])
def test_a_slow_magnetometer_gives_nearly_the_answer_of_a_fast_one(name, way, how):
    fast = ideal(swing(reach_m=0.0))
    every = np.arange(0, len(fast), 16)
    if how == "repeated":
        held = fast.mag_s[every[np.arange(len(fast)) // 16]]
        found = answer(name, way, replace(fast, mag_s=held))
    else:
        own = Recording(fast.t[every], mag_s=fast.mag_s[every])
        found = answer(name, way, replace(fast, mag_s=None), magnetometer=own)
    # model: 8 readings in a second instead of 128, in a field without disturbance
    limit = 8.0 if name == "paper-b" else 1.5
    assert between(answer(name, way, fast).q_nb, found.q_nb).max() < limit * DEG


@ways(needs=("magnetometer",))
def test_the_magnetometer_may_begin_late(name, way):
    """Level first, and the heading with the first magnetic reading."""
    full = ideal(Rest(duration_s=6.0, q_nb=q_from_euler(0.1, 0.2, 1.2)))
    own = Recording(full.t[300::4], mag_s=full.mag_s[300::4])
    found = answer(name, way, replace(full, mag_s=None), magnetometer=own)
    assert inclination(found, full.truth).max() < 0.01 * DEG  # roundoff of perfect readings, and of filters' memory
    assert angle(found, full.truth, full.t > 3.0).max() < 0.1 * DEG  # model: what a slow filter has left to forget


@ways(needs=("given",))
def test_a_given_attitude_is_that_of_the_first_sample(name, way):
    path = Turntable.constant(0.5, 4.0, q_nb=q_from_euler(0.2, 0.1, 0.5))
    recording = ideal(path)
    found = answer(name, way, recording, {"magnetometer": False}, q_ns=recording.truth.q_nb[0])
    # roundoff of directions; the step before the first sample, 0.5 rad/s / 128 Hz, is not taken
    assert between(found.q_nb[0], recording.truth.q_nb[0]) <= 0.02 * 0.5 / RATE_HZ


@ways("forgets its start", needs=("given",))
def test_a_wrong_start_is_forgotten(name, way):
    recording = measured(ideal(Rest(duration_s=120.0, q_nb=q_from_euler(0.3, -0.2, 0.8)), 32.0), 32.0)
    wrong = q_mul(recording.truth.q_nb[0], q_exp([0.15, -0.1, 0.1]))
    found = answer(name, way, recording, q_ns=wrong)
    assert (
        angle(found, recording.truth, slice(-1, None))[0] < 2.0 * DEG
    )  # model and chance: ten time constants, noise of the part


@ways("forgets its start", needs=("given",))
def test_a_wrong_start_is_forgotten_in_motion(name, way):
    """29 deg of heading: in motion a magnetic disturbance could explain it as well."""
    recording, q_ns = tumbling()
    found = answer(name, way, recording, q_ns=q_mul(q_exp(0.5 * UP), q_ns[0]))
    # model and chance: 40 s are four time constants of the slowest filter, 0.5 deg of 29; noise of the readings
    assert between(found.q_nb[-1], q_ns[-1]) < 4.0 * DEG


@ways("forgets its start")
def test_a_turn_that_the_gyroscope_missed_is_made_up(name, way):
    """A tenth of a second of a wrong rate: 17 deg about each level axis of the moment, 34 deg about z."""
    recording, q_ns = tumbling()
    gyr_s = np.array(recording.gyr_s)
    gyr_s[250:260, 2] -= 3.0
    found = answer(name, way, replace(recording, gyr_s=gyr_s))
    told = 2.0 * np.linalg.norm(found.sigma["attitude_n"][-1]) if "attitude_n" in found.sigma else 0.0
    # as above; lodestar leaves what the field of a place could be from north, mekf what it took for motion at first;
    # both say so: two sigmas
    assert between(found.q_nb[-1], q_ns[-1]) < max(4.0 * DEG, told)


@ways("forgets its start")
def test_a_gap_in_changing_motion_is_got_over(name, way):
    """Three seconds are missing, and the rate before shows nothing of them."""
    full, q_full = tumbling()
    kept = (full.t < 8.0) | (full.t >= 11.0)
    cut = Recording(full.t[kept], gyr_s=full.gyr_s[kept], acc_s=full.acc_s[kept], mag_s=full.mag_s[kept])
    q_ns = q_full[kept]
    found = answer(name, way, cut)
    after = int(np.searchsorted(cut.t, 9.0))
    assert found.flags["gap"][after]
    error = q_log(q_mul(q_ns, q_conj(found.q_nb)))
    assert np.linalg.norm(error[-1]) < 4.0 * DEG  # as above
    assert np.linalg.norm(error[100:after], axis=1).max() < 4.0 * DEG  # what follows a gap is not carried before it
    if "attitude_n" in found.sigma:
        sigma = found.sigma["attitude_n"]
        assert (np.abs(error[after:]) < 4.0 * sigma[after:]).all()  # chance: four sigmas


@ways()
def test_deviations_fit_the_errors(name, way):
    recording = noisy_swing()
    found = answer(name, way, recording)
    if "attitude_n" not in found.sigma:
        assert way == "run" or name == "vqf"  # smoothers tell sigmas, but for VQF, which has none
        return
    after = recording.t > 1.0  # before, a filter may say that it does not know
    sigma = found.sigma["attitude_n"][after]
    assert (sigma > 0.0).all() and sigma.max() < 0.5
    normalised = errors_n(found, recording.truth, after) / sigma
    rms = np.sqrt(np.mean(normalised**2, axis=0))
    # chance and model: neither lost nor of a size that shows nothing, about any axis
    assert (rms > 0.02).all() and (rms < 2.0).all()
