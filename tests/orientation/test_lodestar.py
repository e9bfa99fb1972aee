"""Lodestar: what it promises on made-up motion, live and recorded, on line and off line, and its score on BROAD."""

import numpy as np
import pytest
from numba import njit

from helpers import shared_data
from strapdown.errors import InputError
from strapdown.evaluation.attitude import attitude_errors, rmse_deg
from strapdown.kernels.jit import pointer
from strapdown.kernels.orientation.lodestar.backward import ENDS, TRACE, TRACE_END, heading_back
from strapdown.kernels.orientation.lodestar.filter import STATE_SIZE
from strapdown.kernels.orientation.lodestar.layout import DRIFTS, D, N
from strapdown.live import Start
from strapdown.orientation.lodestar import Lodestar
from strapdown.papers.b.broad_data import all_trials, score
from strapdown.rotation import q_conj, q_exp, q_log, q_mul, q_normalise, q_rotate
from strapdown.types import Recording, Sample

DEG = np.pi / 180.0
RATE_HZ = 100.0
FIELD_N = np.array([0.0, 18.0, -42.0])  # uT, magnetic north is true north
UP = np.array([0.0, 0.0, 9.81])


def hand_held(moving=((10.0, 40.0),), until=50.0, seed=1, noise=0.0, drift_dps=0.0, field_n=FIELD_N, t=None):
    """(recording, q_ns): turns of up to a radian about all axes in the spans `moving`, rest around them.

    noise: 1 for a usual part (0.1 deg/s, 0.02 m/s2, 0.5 uT per sample). drift_dps: gyroscope bias about z in motion
    only. field_n: one field, or one for each sample.
    """
    rng = np.random.default_rng(seed)
    t = np.arange(0.0, until, 1.0 / RATE_HZ) if t is None else t
    envelope = np.zeros_like(t)
    for begin, end in moving:
        inside = (t > begin) & (t < end)
        envelope[inside] = np.sin(np.pi * np.minimum(1.0, np.minimum(t[inside] - begin, end - t[inside])) / 2.0) ** 2
    frequency, phase = rng.uniform(1.0, 3.0, 3), rng.uniform(0.0, 6.0, 3)
    angles = envelope[:, None] * np.array([0.6, 0.7, 1.0]) * np.sin(np.outer(t, frequency) + phase)
    q_ns = q_mul(q_exp(angles * [0.0, 0.0, 1.0]), q_exp(angles * [1.0, 1.0, 0.0]))
    q_ns = q_mul(q_normalise([0.8, 0.1, -0.2, 0.5]), q_ns)
    turn = q_log(q_mul(q_conj(q_ns[:-1]), q_ns[1:]))
    dt = np.diff(t)
    gyr = np.vstack([turn[:1], turn]) / np.concatenate([dt[:1], dt])[:, None]
    gyr = gyr + noise * 0.1 * DEG * rng.standard_normal(gyr.shape) + np.outer(envelope > 0.0, [0, 0, drift_dps * DEG])
    acc = q_rotate(q_conj(q_ns), UP) + noise * 0.02 * rng.standard_normal(gyr.shape)
    mag = q_rotate(q_conj(q_ns), field_n) + noise * 0.5 * rng.standard_normal(gyr.shape)
    return Recording(t, gyr, acc, mag), q_ns


def worst_deg(solution, q_ns, after_s=0.0):
    return np.rad2deg(attitude_errors(solution.q_nb, q_ns).total[solution.t >= after_s].max())


NEVER_RESTS = {"rest_gyr_dps": 0.0}  # a motion that begins below the limit of rest would go into the bias at first


@pytest.mark.parametrize("method", ["run", "smooth"])
def test_perfect_readings_give_the_attitude(method):
    recording, q_ns = hand_held()
    solution = getattr(Lodestar(**NEVER_RESTS), method)(recording)
    # roundoff of 5000 turns, and of directions from a quaternion's square root: 1e-8 rad is the root of an ulp
    assert worst_deg(solution, q_ns) < 1e-5
    assert not solution.flags["mag_rejected"].any() and not solution.flags["gap"].any()
    rest = getattr(Lodestar(), method)(recording).flags["rest"]
    assert rest[900] and rest[4990] and not rest[1500:3900].any()


def uneven():
    """A recording with steps between 5 and 20 ms, a gap of 2 s, and a magnetometer at every fourth sample."""
    steps = np.random.default_rng(3).uniform(0.005, 0.02, 3000)
    steps[1700] = 2.0
    t = np.cumsum(steps)
    recording, q_ns = hand_held(moving=((8.0, 15.0), (18.0, 30.0)), noise=1.0, t=t)
    slow = Recording(t[::4], mag_s=recording.mag_s[::4])
    return recording, slow, q_ns


@pytest.mark.parametrize("given", [None, (0.8, 0.1, -0.2, 0.5)])
def test_a_recording_and_a_live_stream_give_the_same_bits(given):
    recording, slow, q_ns = uneven()
    filt = Lodestar()
    whole = filt.run(recording, Start.of(recording, q_ns=given), magnetometer=slow)
    state = filt.start(Start.of(recording, q_ns=given))
    dt = np.diff(recording.t, prepend=recording.t[0])
    for i in range(len(recording)):
        mag_s = slow.mag_s[i // 4] if i % 4 == 0 else None
        state = filt.step(state, Sample(recording.t[i], dt[i], recording.gyr_s[i], recording.acc_s[i], mag_s))
        assert np.array_equal(filt.belief(state).q_nb, whole.q_nb[i])
        assert np.array_equal(filt.belief(state).sigma["attitude_n"], whole.sigma["attitude_n"][i])
        assert np.array_equal(filt.belief(state).bias["gyr_s"], whole.bias["gyr_s"][i])
    assert whole.flags["gap"].sum() == 1 and len(whole.events) == 1
    # chance: noise of one part over 0.1 s of steps, and the gap's turn is not seen; it is over after some seconds,
    # since the heading is then measured anew, 2.8 deg in 1 s
    assert worst_deg(whole, q_ns, after_s=27.0) < 2.5
    assert (
        worst_deg(filt.smooth(recording, Start.of(recording, q_ns=given), magnetometer=slow), q_ns, after_s=27.0) < 2.5
    )


def test_a_declination_turns_the_answer():
    """Magnetic north 0.3 rad east of true north is a field turned by -0.3 about the vertical."""
    recording, q_ns = hand_held(field_n=q_rotate(q_exp([0.0, 0.0, -0.3]), FIELD_N))
    assert worst_deg(Lodestar(declination_rad=0.3, **NEVER_RESTS).run(recording), q_ns) < 1e-5  # roundoff, as above
    beside = attitude_errors(Lodestar(**NEVER_RESTS).run(recording).q_nb, q_ns)
    np.testing.assert_allclose(beside.heading, 0.3, atol=1e-7)  # the same roundoff; turns the other way, by as much


@pytest.mark.parametrize("method", ["run", "smooth"])
def test_a_mounting_turns_the_answer_by_itself(method):
    recording, _ = hand_held(noise=1.0)
    q_bs = q_normalise([0.3, -0.5, 0.7, 0.2])
    filt = Lodestar(bias_clip_dps=1e6)  # the bias is clipped along axes, all else knows no direction of s
    sensor, body = getattr(filt, method)(recording), getattr(filt, method)(recording, q_bs=q_bs)
    q_nb = q_mul(sensor.q_nb, q_conj(q_bs))
    assert attitude_errors(body.q_nb, q_nb).total.max() < 1e-9  # roundoff over 5000 samples
    np.testing.assert_array_equal(sensor.flags["rest"], body.flags["rest"])


@pytest.mark.parametrize("method", ["run", "smooth"])
def test_without_magnetometer_the_gyroscope_keeps_the_heading(method):
    recording, q_ns = hand_held(noise=1.0)
    filt = Lodestar(magnetometer=False)
    solution = getattr(filt, method)(recording, Start.of(recording, q_ns=q_ns[0]))
    six_axes = Recording(recording.t, recording.gyr_s, recording.acc_s)
    bare = getattr(filt, method)(six_axes, Start.of(recording, q_ns=q_ns[0]))
    np.testing.assert_array_equal(solution.q_nb, bare.q_nb)
    assert worst_deg(solution, q_ns) < 1.5  # chance: 0.01 deg/sqrt(s) over 50 s, and bias known to 0.02 deg/s
    sigma = solution.sigma["attitude_n"][:, 2]
    assert sigma[-1] > 1.2 * sigma[1]


def test_a_long_rest_makes_the_heading_no_surer_than_places_of_rest_are():
    """However long it stands in a field, the field may point away from north."""
    filt = Lodestar()
    recording, _ = hand_held(moving=(), until=120.0, noise=1.0)
    sigma_deg = np.rad2deg(filt.run(recording).sigma["attitude_n"][:, 2])
    assert (sigma_deg >= filt.mag_rest_deg).all()
    # more than that by what the field may have walked until rest is stated, and by its noise averaged over 120 s, which
    # is up to twice as large where norm and dip are a bit off
    walk_deg, noise_deg = filt.mag_walk_deg * filt.rest_least_s**0.5, 2.0 * filt.mag_noise_deg / 120**0.5
    assert sigma_deg[-1] < np.sqrt(filt.mag_rest_deg**2 + walk_deg**2 + noise_deg**2)


def magnet(t, begin, end, field_n):
    field = np.tile(FIELD_N, (len(t), 1))
    field[(t >= begin) & (t < end)] += field_n
    return field


def test_a_magnet_is_rejected_and_left_behind():
    """40 deg from north and 17 % off in norm for 15 s of motion."""
    t = np.arange(0.0, 60.0, 1.0 / RATE_HZ)
    recording, q_ns = hand_held(
        moving=((10.0, 50.0),), t=t, noise=1.0, field_n=magnet(t, 20.0, 35.0, np.array([20.0, 0.0, -1.0]))
    )
    for solution in (Lodestar().run(recording), Lodestar().smooth(recording)):
        assert solution.flags["mag_rejected"][2050:3490].all()
        assert not solution.flags["mag_rejected"][:1990].any() and not solution.flags["mag_rejected"][3700:].any()
        # chance: noise of the part; the magnet itself would be 48 deg
        assert worst_deg(solution, q_ns, after_s=10.0) < 2.0


def test_a_start_beside_a_magnet_is_overcome():
    """The first field is 60 deg from north and 50 % too large for 15 s: the true one is rejected at first, becomes
    the reference when it has stayed the same for as long, and the heading goes there."""
    t = np.arange(0.0, 60.0, 1.0 / RATE_HZ)
    recording, q_ns = hand_held(
        moving=((5.0, 60.0),), t=t, noise=1.0, field_n=magnet(t, 0.0, 15.0, np.array([30.0, 0.0, -10.0]))
    )
    solution = Lodestar().run(recording)
    error_deg = np.abs(np.rad2deg(attitude_errors(solution.q_nb, q_ns).heading))
    assert error_deg[1000] > 30.0 and solution.flags["mag_rejected"][1600:2600].all()
    assert not solution.flags["mag_rejected"][4000:].any()
    assert error_deg[4000:].max() < 5.0  # chance: one reading of the new field states it to some degrees


def test_a_start_in_motion_does_not_hold_on_to_its_first_readings():
    """The first inclination is off by what the sensor accelerates, and with it heading and dip of the field."""
    recording, q_ns = hand_held(moving=((-5.0, 40.0),), until=30.0, noise=1.0)
    pushed = np.array(recording.acc_s)
    pushed[:50] += [6.0, 0.0, 0.0]  # 30 deg, half a second
    solution = Lodestar().run(Recording(recording.t, recording.gyr_s, pushed, recording.mag_s))
    assert worst_deg(solution, q_ns, after_s=12.0) < 5.0  # chance: noise of field and force; 30 deg and more at first


def test_a_weak_disturbance_in_motion_is_believed_slowly_and_stops_put_it_right():
    """A field turned by 8 deg, norm and dip unchanged, looks like a turn: less than half of it is believed
    within 5 s of motion, and a rest of 7 s in the true field takes it back."""
    t = np.arange(0.0, 40.0, 1.0 / RATE_HZ)
    turned = q_rotate(q_exp([0.0, 0.0, 8.0 * DEG]), FIELD_N) - FIELD_N
    recording, q_ns = hand_held(moving=((10.0, 30.0),), t=t, noise=1.0, field_n=magnet(t, 24.0, 29.0, turned))
    error_deg = np.rad2deg(attitude_errors(Lodestar().run(recording).q_nb, q_ns).heading)
    assert 0.2 < np.abs(error_deg[2400:2900]).max() < 4.0
    assert np.abs(error_deg[3700:]).max() < 1.0  # noise of 2 deg over 1 s, averaged over some seconds


def test_off_line_is_better_than_on_line_where_the_gyroscope_drifts_in_motion():
    """0.15 deg/s in motion only, and a field that is 3 deg from north there: a minute of it, between two rests."""
    t = np.arange(0.0, 90.0, 1.0 / RATE_HZ)
    beside = q_rotate(q_exp([0.0, 0.0, 3.0 * DEG]), FIELD_N) - FIELD_N
    recording, q_ns = hand_held(
        moving=((15.0, 75.0),), t=t, noise=1.0, drift_dps=-0.15, field_n=magnet(t, 15.0, 75.0, beside)
    )
    moving = (t > 15.0) & (t < 75.0)
    on, off = (
        rmse_deg(attitude_errors(solution.q_nb, q_ns), moving)[0]
        for solution in (Lodestar().run(recording), Lodestar().smooth(recording))
    )
    assert off < 0.6 * on
    assert on < 4.0  # drift alone would be 9 deg at the end, 5 in the mean


def test_the_deviations_told_are_those_seen():
    """Twelve recordings of its own model: at rest the field is from north by mag_rest_deg."""
    filt = Lodestar(mag_rest_deg=1.0)
    ratios = []
    for seed in range(12):
        beside = q_exp([0.0, 0.0, DEG * np.random.default_rng(seed).standard_normal()])
        recording, q_ns = hand_held(moving=(), until=8.0, seed=seed, noise=1.0, field_n=q_rotate(beside, FIELD_N))
        solution = filt.run(recording)
        ratios.append(attitude_errors(solution.q_nb, q_ns).heading[-1] / solution.sigma["attitude_n"][-1, 2])
    rms = np.sqrt(np.mean(np.square(ratios)))
    assert abs(rms - 1.0) < 3.0 / (2 * 12) ** 0.5  # chance: three sigmas of a sigma of twelve


@njit
def go_back(numbers, table, made):
    heading_back(pointer(numbers), table, made)


def test_going_back_is_what_rauch_tung_and_striebel_give():
    """heading_back, which inverts nothing, against the textbook's smoother on the same filter, matrices in full."""
    rng = np.random.default_rng(5)
    n, h = 40, np.eye(N)[0] + np.eye(N)[D]
    x, p = np.zeros(N), np.diag([0.5, *np.full(DRIFTS, 0.1), 0.2])
    trace, kept = np.zeros((n, TRACE_END)), []
    for k in range(n):
        f, q = np.eye(N), np.diag([0.01, *np.full(DRIFTS, 1e-6), 0.02])
        f[0, 1:D] = rng.standard_normal(DRIFTS)
        f[D, D] = 0.0 if k % 13 == 5 else 0.9 if k % 3 == 1 else 1.0
        before, p_before = f @ x, f @ p @ f.T + q
        x, p, told = before, p_before, (0.0, 0.0)
        gain = np.zeros(N)
        if k % 7 != 3:  # some blocks measure nothing
            s = h @ p_before @ h + 0.3
            gain, v = p_before @ h / s, rng.standard_normal()
            x, p, told = before + gain * v, p_before - np.outer(gain, h @ p_before), (v / s, 1.0 / s)
        kept.append((f, before, p_before, x, p))
        trace[k, TRACE:ENDS] = np.concatenate([x[:1], p[0], gain, told, f[0, 1:D], f[D, D:]])
    smooth, variance = [x[0]], [p[0, 0]]
    for k in range(n - 2, -1, -1):
        f, before, p_before, _, _ = kept[k + 1]
        back = kept[k][4] @ f.T @ np.linalg.inv(p_before)
        x, p = kept[k][3] + back @ (x - before), kept[k][4] + back @ (p - p_before) @ back.T
        smooth.append(x[0])
        variance.append(p[0, 0])
    go_back(np.zeros(STATE_SIZE), trace, n)
    np.testing.assert_allclose(trace[:, 0], smooth[::-1], atol=1e-9)  # roundoff of 40 inverses
    np.testing.assert_allclose(trace[:, 1], variance[::-1], atol=1e-9)


def test_a_field_that_is_nearly_vertical_has_no_north():
    """2 of 55 uT are level: a tilt of a degree would turn north by 27 deg."""
    recording, q_ns = hand_held(moving=((2.0, 20.0),), until=20.0, noise=1.0, field_n=np.array([0.0, 2.0, -55.0]))
    solution = Lodestar().run(recording)
    error = attitude_errors(solution.q_nb, q_ns).heading
    assert solution.flags["mag_rejected"][500:].all()
    assert (np.abs(error) < 3.0 * solution.sigma["attitude_n"][:, 2]).all()  # chance: three sigmas


def test_deviations_without_magnetometer_contain_the_bias_of_the_start():
    """Rest of 20 s, biases drawn as bias_sigma_start_dps states: the first 1.5 s of them turn the heading."""
    filt, found = Lodestar(magnetometer=False), {"run": [], "smooth": []}
    for seed in range(6):
        recording, _ = hand_held(moving=(), until=20.0, seed=seed, noise=1.0)
        bias = 0.5 * DEG * np.random.default_rng(seed).standard_normal(3)
        biased = Recording(recording.t, recording.gyr_s + bias, recording.acc_s, recording.mag_s)
        for method, rows in found.items():
            solution = getattr(filt, method)(biased)
            error = q_log(q_mul(solution.q_nb[-1], q_conj(solution.q_nb[0])))[2]
            rows.append((error, solution.sigma["attitude_n"][-1]))
    for rows in found.values():
        errors, sigma = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
        assert (sigma[:, 2] > 0.0).all() and np.sqrt(np.mean((errors / sigma[:, 2]) ** 2)) < 1.8  # chance: of six
        assert (sigma[:, 0] < 0.6 * DEG).all()  # the 3 deg of the first readings are forgotten


def test_settings_that_make_no_sense_are_refused():
    for wrong in ({"tau_acc_s": 0.0}, {"mag_walk_deg": -1.0}, {"block_s": float("nan")}):
        with pytest.raises(InputError, match=next(iter(wrong))):
            Lodestar(**wrong)


def test_broad_with_the_settings_that_cross_validation_chose():
    """Bounds of issue 5; the cross-validated means are in docs/decisions/0007-orientation-filter.md."""
    trials = all_trials(shared_data("broad"))
    assert len(trials) == 14
    filt = Lodestar()
    on = [score(filt.run(trial.recording), trial).total_deg for trial in trials]
    off = [score(filt.smooth(trial.recording), trial).total_deg for trial in trials]
    assert np.mean(on) < 2.45 and np.mean(off) < 1.35  # fitted: 2.38 and 1.34
    assert max(on) < 7.0 and max(off) < 5.5  # a phone that vibrates next to the part: its field is 5 deg from north
