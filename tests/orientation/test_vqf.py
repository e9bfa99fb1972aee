"""VQF: held against the package of its authors, and what theirs does not do: steps of any length, gaps, declination."""

import math
from dataclasses import replace

import numpy as np
import pytest
import vqf

from helpers import shared_data
from orientation_cases import RATE_HZ, all_round, ideal, measured, noisy_swing, reading, swing
from strapdown.errors import InputError
from strapdown.kernels.orientation.vqf import filter as kernel
from strapdown.kernels.orientation.vqf.lowpass import lowpass_gains, lowpass_one, usual_step
from strapdown.live import Start
from strapdown.orientation.vqf import Vqf
from strapdown.rotation import q_conj, q_exp, q_log, q_mul, q_rotate
from strapdown.types import Recording

# Two programs of the same arithmetic in another order: roundoff, which low-passes of 3 s at 286 Hz gather to 3e-12
AGREES = 1e-9
THEIRS = {
    "tau_acc_s": "tauAcc",
    "tau_mag_s": "tauMag",
    "motion_bias": "motionBiasEstEnabled",
    "rest_bias": "restBiasEstEnabled",
    "mag_rejection": "magDistRejectionEnabled",
    "bias_sigma_start_dps": "biasSigmaInit",
    "bias_forgetting_s": "biasForgettingTime",
    "bias_clip_dps": "biasClip",
    "bias_sigma_motion_dps": "biasSigmaMotion",
    "bias_vertical_factor": "biasVerticalForgettingFactor",
    "bias_sigma_rest_dps": "biasSigmaRest",
    "rest_least_s": "restMinT",
    "rest_tau_s": "restFilterTau",
    "rest_gyr_dps": "restThGyr",
    "rest_acc_mps2": "restThAcc",
    "mag_tau_s": "magCurrentTau",
    "mag_reference_tau_s": "magRefTau",
    "mag_norm": "magNormTh",
    "mag_dip_deg": "magDipTh",
    "mag_new_s": "magNewTime",
    "mag_new_first_s": "magNewFirstTime",
    "mag_new_least_dps": "magNewMinGyr",
    "mag_clean_s": "magMinUndisturbedTime",
    "mag_longest_rejection_s": "magMaxRejectionTime",
    "mag_rejection_factor": "magRejectionFactor",
}


def disagreement(filt, recording, step_s, smooth=False):
    """Largest differences of quaternion and bias (rad/s) from the authors' package, and how many flags differ."""
    settings = {theirs: getattr(filt, ours) for ours, theirs in THEIRS.items()}
    readings = [np.array(x, order="C") for x in (recording.gyr_s, recording.acc_s, recording.mag_s)]
    nine = filt.magnetometer is not False
    if not nine:
        readings[2] = None
    if smooth:
        ours = filt.smooth(recording)
        theirs = vqf.offlineVQF(*readings, step_s, settings)
    else:
        ours = filt.run(recording)
        theirs = vqf.VQF(step_s, **settings).updateBatch(*readings)
    q = theirs["quat9D" if nine else "quat6D"]
    flags = (ours.flags["rest"] != theirs["restDetected"]).sum()
    if nine and filt.mag_rejection:
        told = theirs["magDistDetected"] if smooth else left_out(theirs["magDistDetected"], filt, step_s)
        flags += (ours.flags["mag_rejected"] != told).sum()
    sign = np.sign(np.einsum("ij,ij->i", q, ours.q_nb))[:, None]
    return np.abs(ours.q_nb - sign * q).max(), np.abs(ours.bias["gyr_s"] - theirs["bias"]).max(), flags


def left_out(disturbed, filt, step_s):
    """Where their rejection gives a reading no weight: not for longer than magMaxRejectionTime, and not while the first
    readings are averaged, which count all."""
    rejected_s, rows = filt.mag_longest_rejection_s, []
    for i, found in enumerate(disturbed):
        active = bool(found) and rejected_s <= filt.mag_longest_rejection_s
        rejected_s += step_s if active else (0.0 if found else -min(filt.mag_rejection_factor * step_s, rejected_s))
        rows.append(active and (i + 1) * step_s > filt.tau_mag_s)
    return np.array(rows)


def tumbling(rate_hz, seconds=60.0, offset_s=0.0):
    """Rest, turns about all axes with jolts, a magnet from 30 to 38 s; noise and bias; with its truth."""
    n = round(seconds * rate_hz)
    t = offset_s + np.arange(n) / rate_hz
    rng = np.random.default_rng(5)
    moves = ((t - offset_s) % 20.0 > 6.0)[:, None]
    rates = moves * np.stack([np.sin(1.1 * t), 0.8 * np.cos(0.7 * t), 0.9 * np.sin(0.4 * t)], axis=1)
    q_ns = [q_exp([0.3, -0.2, 0.9])]
    for turn in q_exp(rates / rate_hz)[1:]:
        q_ns.append(q_mul(q_ns[-1], turn))
    q_sn = q_conj(np.array(q_ns))
    jolt_n = moves * 2.0 * np.stack([np.sin(5.0 * t), np.cos(4.0 * t), np.sin(3.0 * t)], axis=1)
    magnet_n = ((t - offset_s > 30.0) & (t - offset_s < 38.0))[:, None] * np.array([25.0, 0.0, 10.0])
    recording = Recording(
        t,
        gyr_s=rates + [0.01, -0.006, 0.004] + 0.003 * rng.normal(size=(n, 3)),
        acc_s=q_rotate(q_sn, jolt_n + np.array([0.0, 0.0, 9.81])) + 0.03 * rng.normal(size=(n, 3)),
        mag_s=q_rotate(q_sn, magnet_n + np.array([0.0, 20.0, -43.0])) + 0.3 * rng.normal(size=(n, 3)),
    )
    return recording, q_conj(q_sn)


@pytest.mark.parametrize("smooth", [False, True])
@pytest.mark.parametrize("trial", ["04_undisturbed_slow_rotation_with_breaks_A", "28_disturbed_stationary_magnet_A"])
@pytest.mark.parametrize("magnetometer", [True, False])
def test_agrees_with_its_authors_on_broad(trial, magnetometer, smooth):
    from scipy.io import loadmat

    trial = loadmat(shared_data("broad") / f"{trial}.mat")
    rate_hz = float(trial["sampling_rate"].squeeze())
    gyr, acc, mag = (np.ascontiguousarray(trial[name][:60000]) for name in ("imu_gyr", "imu_acc", "imu_mag"))
    recording = Recording(np.arange(len(gyr)) / rate_hz, gyr, acc, mag)
    q, bias, flags = disagreement(Vqf(magnetometer=magnetometer), recording, 1.0 / rate_hz, smooth)
    assert q < AGREES and bias < AGREES and flags == 0


@pytest.mark.parametrize("smooth", [False, True])
@pytest.mark.parametrize("offset_s", [0.0, 1000.0])
def test_agrees_where_times_fall_on_the_limits(offset_s, smooth):
    """At 100 Hz all limits of time are whole numbers of steps: roundoff of time stamps must not decide."""
    q, bias, flags = disagreement(Vqf(), tumbling(100.0, offset_s=offset_s)[0], 0.01, smooth)
    assert q < AGREES and bias < AGREES and flags == 0


@pytest.mark.parametrize(
    "settings",
    [
        {"motion_bias": False},
        {"rest_bias": False},
        {"motion_bias": False, "rest_bias": False},
        {"mag_rejection": False},
        {"mag_tau_s": 0.0, "tau_mag_s": 2.0, "tau_acc_s": 1.0, "mag_longest_rejection_s": 3.0},
        {"bias_clip_dps": 0.3, "rest_least_s": 0.3, "bias_vertical_factor": 0.1, "mag_new_s": 5.0, "mag_norm": 0.05},
    ],
)
def test_agrees_with_other_settings(settings):
    q, bias, flags = disagreement(Vqf(**settings), tumbling(150.0)[0], 1.0 / 150.0)
    assert q < AGREES and bias < AGREES and flags == 0


def test_defaults_are_the_published_ones():
    published = vqf.VQF(0.01).params
    assert {theirs: getattr(Vqf(), ours) for ours, theirs in THEIRS.items()} == published


def test_steps_are_the_run():
    recording = noisy_swing()
    filt = Vqf()
    whole = filt.run(recording)
    state = filt.start(Start.of(recording))
    filt.step(state, reading(np.zeros(3), recording.acc_s[0], recording.mag_s[0], dt=0.0))
    compiled = len(kernel.step.signatures)
    for k in range(400):
        state = filt.step(state, recording.sample(k))
        assert np.array_equal(filt.belief(state).bias["gyr_s"], whole.bias["gyr_s"][k])
        # roundoff: the run makes unit length once more
        np.testing.assert_allclose(filt.belief(state).q_nb, whole.q_nb[k], atol=3e-16)
    assert len(kernel.step.signatures) == compiled  # rows of a recording do not compile the step anew


def test_low_pass_does_not_depend_on_the_step():
    """A sine at irregular steps comes out as at regular ones: the response is that of the continuous filter."""
    tau, w = 1.0, 2.0
    corner = math.sqrt(2.0) / tau
    response = corner**2 / (corner**2 - w**2 + 1j * math.sqrt(2.0) * corner * w)
    rng = np.random.default_rng(3)
    t, y, v, u = 0.0, 0.0, 0.0, 0.0
    errors = []
    for dt in rng.uniform(0.002, 0.018, size=4000):
        t += dt
        y, v, u = lowpass_one.py_func(math.sin(w * t), y, v, u, *lowpass_gains.py_func(tau, dt))
        errors.append(y - abs(response) * math.sin(w * t + np.angle(response)))
    # step order: the trapezoidal rule is off by (w dt)^2 / 12, and the start has died out after 20 s
    assert np.abs(errors[2000:]).max() < (w * 0.018) ** 2 / 12.0


def test_irregular_steps_give_the_attitude_of_regular_ones():
    path = swing()
    even = ideal(path, 200.0)
    rng = np.random.default_rng(8)
    t = np.sort(rng.choice(even.t[1:], size=int(0.7 * len(even)), replace=False))  # three in ten samples are lost
    uneven = ideal(path, t=t)
    kept = np.searchsorted(even.t, t)
    off = q_log(q_mul(Vqf().run(uneven).q_nb, q_conj(Vqf().run(even).q_nb[kept])))
    # step order: a lost sample doubles a step, and the rectangle rule is then off by dw dt^2 / 2 = 2.5e-5 rad, which
    # the corrections forget within seconds
    assert np.linalg.norm(off, axis=1)[len(t) // 4 :].max() < 5e-3


def test_usual_step_takes_roundoff_out():
    for step_s in (0.01, 0.0035, 1.0 / 300.0, 1.0 / 128.0, 0.002):
        t = 1000.0 + np.arange(50) * step_s
        assert {usual_step.py_func(dt) for dt in np.diff(t)} == {step_s}
    assert usual_step.py_func(0.0123456789) == 0.0123456789


def test_a_gap_is_predicted_and_told():
    recording = noisy_swing()
    keep = (recording.t < 6.0) | (recording.t > 8.0)
    cut = Recording(recording.t[keep], recording.gyr_s[keep], recording.acc_s[keep], recording.mag_s[keep])
    for found in (Vqf().run(cut), Vqf().smooth(cut)):
        assert np.flatnonzero(found.flags["gap"]).tolist() == [np.searchsorted(cut.t, 7.0)]
        assert [event.kind for event in found.events] == ["gap"]
        off = q_log(q_mul(found.q_nb, q_conj(recording.truth.q_nb[keep])))
        assert np.linalg.norm(off[-1, :2]) < 0.03  # step order does not matter here: the accelerometer found up again


def test_given_attitude_is_kept_at_the_first_sample():
    recording = noisy_swing()
    q_ns = recording.truth.q_nb[0]
    found = Vqf(magnetometer=False).run(recording, Start.of(recording, q_ns=q_mul(q_exp([0.0, 0.0, 1.0]), q_ns)))
    off = q_log(q_mul(found.q_nb, q_conj(recording.truth.q_nb)))
    assert abs(off[0, 2] - 1.0) < 1e-3  # chance: one reading of a low-passed direction
    assert abs(off[-1, 2] - 1.0) < 0.05  # chance: 16 s of gyroscope noise and bias


def test_declination_turns_the_answer():
    recording = noisy_swing()
    plain, turned = Vqf().run(recording), Vqf(declination_rad=0.2).run(recording)
    np.testing.assert_allclose(
        q_log(q_mul(turned.q_nb, q_conj(plain.q_nb))), [[0.0, 0.0, -0.2]] * len(plain), atol=1e-9
    )


def test_magnetometer_at_its_own_rate():
    """Ten times slower readings, of their own times, give the same heading: gains follow the time between readings."""
    recording = measured(ideal(all_round()), RATE_HZ)
    slow = Recording(recording.t[::10], mag_s=recording.mag_s[::10])
    fast = Vqf(mag_rejection=False).run(recording)
    found = Vqf(mag_rejection=False).run(recording, magnetometer=slow)
    off = q_log(q_mul(found.q_nb, q_conj(fast.q_nb)))
    assert (
        np.linalg.norm(off[len(off) // 2 :], axis=1).max() < 0.02
    )  # chance: noise of 0.3 uT over 20 uT, a tenth as many


def test_smoothing_helps():
    recording, q_true = tumbling(100.0)
    filt = Vqf(magnetometer=False)
    error = {}
    for name, found in (("on line", filt.run(recording)), ("off line", filt.smooth(recording))):
        up = q_rotate(q_conj(found.q_nb), [0.0, 0.0, 1.0]) - q_rotate(q_conj(q_true), [0.0, 0.0, 1.0])
        error[name] = np.sqrt(np.mean(np.sum(up**2, axis=1)))
    assert error["off line"] < error["on line"]


@pytest.mark.parametrize(
    ("name", "value"),
    [("tau_acc_s", 0.0), ("rest_gyr_dps", -1.0), ("tau_mag_s", math.nan), ("rest_bias", 1), ("longest_step_s", 0.0)],
)
def test_bad_settings_are_refused(name, value):
    with pytest.raises(InputError, match=name):
        replace(Vqf(), **{name: value})
