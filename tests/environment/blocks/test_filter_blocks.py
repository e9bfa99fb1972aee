"""Estimators as blocks: the same bits as the package's filters, lost samples, hold, start, changed settings."""

from dataclasses import fields, replace

import numpy as np
import pytest

from diagram_cases import runner
from strapdown.environment.blocks.estimation.filter_settings import SETTINGS, SHARED, SWITCHES
from strapdown.environment.diagram.kinds import builtin
from strapdown.live import Start
from strapdown.navigation.eskf.filter import Eskf
from strapdown.orientation.catalogue import FILTERS, filter_by_name
from strapdown.orientation.paper_b import PaperB
from strapdown.rotation import q_conj, q_exp, q_from_euler, q_mul, q_rotate
from strapdown.sample import Sample
from strapdown.types import Recording

STEP = 1.0 / 256.0  # exact, so that differences of times are the step
N = 600
FIELD_N = np.array([0.0, 16.0, -45.0])
KINDS = {name: f"orientation_{name.replace('-', '_')}" for name in FILTERS}


def log(n=N, rest=200):
    """A module at rest, then rocking, with noise; a new magnetometer reading in every third row."""
    rng = np.random.default_rng(3)
    t = np.arange(n) * STEP
    moving = np.where(np.arange(n) < rest, 0.0, 1.0)
    w = moving[:, None] * np.stack([0.5 * np.sin(3 * t), 0.4 * np.cos(2 * t), 0.2 + 0.0 * t], axis=1)
    q = [q_from_euler(0.02, -0.01, 1.2)]
    for rate in w[1:]:
        q.append(q_mul(q[-1], q_exp(rate * STEP)))
    q_sn = q_conj(np.array(q))
    acc = q_rotate(q_sn, np.array([0.0, 0.0, 9.81])) + 0.02 * rng.normal(size=(n, 3))
    mag = q_rotate(q_sn, FIELD_N) + 0.2 * rng.normal(size=(n, 3))
    new = np.arange(n) % 3 == 0
    held = mag[np.maximum.accumulate(np.where(new, np.arange(n), 0))]
    return Recording(t=t, gyr_s=w + 1e-3 * rng.normal(size=(n, 3)), acc_s=acc, mag_s=held, new={"mag_s": new})


def block(kind, **parameters):
    return builtin()[kind].make(parameters)


def inputs(made, recording, i, **given):
    """The inputs of a step: readings of row i, else the defaults of the ports."""
    known = {
        "gyroscope": np.array(recording.gyr_s[i]),
        "accelerometer": np.array(recording.acc_s[i]),
        "magnetometer": np.array(recording.mag_s[i]),
        "magnetometer_new": float(recording.new["mag_s"][i]),
        **given,
    }
    rest = {name: np.full(p.shape, p.default) if p.shape else p.default for name, p in made.inputs.items()}
    return [known.get(name, rest[name]) for name in made.inputs]


def attitudes(made, recording, given=lambda i: {}, state=None):
    state = made.start() if state is None else state
    found = []
    for i in range(len(recording)):
        state, outputs = made.step(state, *inputs(made, recording, i, **given(i)), dt=STEP)
        found.append(outputs)
    return state, found


@pytest.mark.parametrize("name", FILTERS)
def test_a_filter_block_gives_the_bits_of_the_filters_run(name):
    recording = log()
    made = block(KINDS[name])
    _, found = attitudes(made, recording)
    solution = filter_by_name(name).run(recording, Start(step_s=STEP))
    np.testing.assert_array_equal([outputs[0] for outputs in found], solution.q_nb)
    if "gyr_s" in solution.bias:
        np.testing.assert_array_equal([outputs[3] for outputs in found], solution.bias["gyr_s"])
    if "attitude_n" in solution.sigma:
        np.testing.assert_array_equal(
            [outputs[1] for outputs in found], solution.sigma["attitude_n"][:, :2].max(axis=1)
        )
        np.testing.assert_array_equal([outputs[2] for outputs in found], solution.sigma["attitude_n"][:, 2])


@pytest.mark.parametrize("name", ["mekf", "complementary"])
def test_lost_samples_are_waited_over(name):
    """Rows without a new reading: the next one has the time of both, as in a log without them."""
    recording = log()
    lost = np.zeros(N, dtype=bool)
    lost[[0, 1, 50, 51, 300, 301, 302]] = True
    made = block(KINDS[name])
    _, found = attitudes(made, recording, lambda i: {"new": 0.0 if lost[i] else 1.0})
    kept = np.flatnonzero(~lost)
    state = filter_by_name(name).start(Start(step_s=STEP))
    expected, before = {}, None
    for i in kept:
        dt = 0.0 if before is None else (i - before) * STEP
        field = np.array(recording.mag_s[i]) if recording.new["mag_s"][i] else None
        sample = Sample(i * STEP, dt, np.array(recording.gyr_s[i]), np.array(recording.acc_s[i]), field)
        state = filter_by_name(name).step(state, sample)
        expected[i], before = state.numbers[:4], i
    for i in range(2, N):
        np.testing.assert_array_equal(found[i][0], expected[max(k for k in kept if k <= i)])


@pytest.mark.parametrize("name", FILTERS)
def test_hold_starts_anew_with_the_given_attitude(name):
    recording, q = log(), q_from_euler(0.3, -0.2, 2.0)
    made = block(KINDS[name])
    given = {"start": q, "bias_sigma": np.radians(0.05), "tilt_sigma": np.radians(0.1)}
    _, found = attitudes(made, recording, lambda i: {**given, "hold": float(200 <= i < 300)})
    np.testing.assert_allclose(found[250][0], q, atol=1e-15)  # its norm is made 1
    settings = {"mekf": {"bias_start_dps": 0.05, "attitude_start_deg": 0.1}}
    settings["vqf"] = settings["lodestar"] = {"bias_sigma_start_dps": 0.05}
    part = recording[300:]
    alone = filter_by_name(name, **settings.get(name, {})).run(part, Start(step_s=STEP, q_ns=q))
    # degrees to rad and back differ by roundoff from the setting, and the start attitude by that of its norm
    np.testing.assert_allclose([outputs[0] for outputs in found[300:]], alone.q_nb, atol=1e-12)


def test_a_setting_changed_while_running_acts_from_the_next_sample():
    recording = log()
    run = runner(
        {"g": ("gyroscope", {}), "a": ("accelerometer", {}), "f": ("orientation_mahony", {})},
        "g.out -> f.gyroscope",
        "a.out -> f.accelerometer",
        base_hz=256.0,
        control_hz=256.0,
    )
    filt, other = filter_by_name("mahony"), filter_by_name("mahony", inclination_gain=3.0)
    state = filt.start(Start(step_s=STEP))
    for i in range(120):
        gyr, acc = np.array(recording.gyr_s[i]), np.array(recording.acc_s[i])
        if i == 60:
            run.set_parameters("f", inclination_gain=3.0)
        run.feed("g.value", gyr)
        run.feed("a.value", acc)
        run.tick()
        sample = Sample(i * STEP, STEP if i else 0.0, gyr, acc)
        state = (other if i >= 60 else filt).step(state, sample)
        np.testing.assert_array_equal(run.value("f.attitude"), state.numbers[:4])


def test_settings_that_do_not_fit_each_other_are_refused():
    with pytest.raises(ValueError, match="low_pass_s is 5"):
        block("orientation_complementary", low_pass_s=5.0)


@pytest.mark.parametrize("name", FILTERS)
def test_every_setting_of_a_filter_has_a_parameter_with_its_default(name):
    made = block(KINDS[name])
    assert made.filter == filter_by_name(name, magnetometer=True)  # a block cannot see the log before it runs
    for each in fields(FILTERS[name].cls):
        assert each.name in SWITCHES or each.name in {**SHARED, **SETTINGS[name]}


@pytest.mark.parametrize("corrected", [False, True])
def test_the_imu_block_gives_the_bits_of_paper_bs_filter(corrected):
    """The low-pass stands before it; the calibration ends with the first sample after the switch went off."""
    recording = log()
    calibrated = 150
    made = block("imu_block", corrected=corrected, least_s=0.5, level=False)
    _, found = attitudes(made, recording, lambda i: {"switch": float(i < calibrated)})
    settings = {"low_pass_s": 0.0, "calibration_s": calibrated * STEP, "corrected": corrected}
    expected = PaperB(**settings).run(recording, Start(step_s=STEP))
    np.testing.assert_array_equal([outputs[0] for outputs in found[calibrated:]], expected.q_nb[calibrated:])
    assert found[calibrated][3:] == (1.0, 0.0, 0.0) and found[calibrated - 1][3:] == (0.0, 1.0, 0.0)


def test_the_imu_block_without_calibration_is_paper_bs_filter_without_it():
    recording = log()
    _, found = attitudes(block("imu_block"), recording, lambda i: {"switch": 0.0})
    expected = PaperB(low_pass_s=0.0, calibration_s=0.0).run(recording, Start(step_s=STEP))
    np.testing.assert_array_equal([outputs[0] for outputs in found], expected.q_nb)


def test_the_imu_block_knows_that_it_stands_level():
    """A biased accelerometer gives no tilt after the calibration: the attitude was known."""
    recording = log()
    still = replace(recording, acc_s=np.tile([0.3, -0.2, 9.9], (N, 1)), gyr_s=np.tile([0.01, 0.02, -0.03], (N, 1)))
    _, found = attitudes(block("imu_block", least_s=0.5), still, lambda i: {"switch": float(i < 300)})
    q, force, rate = found[-1][:3]
    assert np.abs(q[1:3]).max() < 1e-12  # roundoff of 300 sums
    np.testing.assert_allclose(force, [0.0, 0.0, 9.80665], atol=1e-9)
    np.testing.assert_allclose(rate, 0.0, atol=1e-12)


def test_the_imu_block_refuses_a_calibration_in_motion_and_goes_on_with_the_old_one():
    recording = log(rest=300)
    switch = lambda i: {"switch": float(20 <= i < 250 or 280 <= i < 500)}  # noqa: E731
    made = block("imu_block", least_s=0.5)
    _, found = attitudes(made, recording, switch)
    assert found[260][3:] == (1.0, 0.0, 0.0)
    assert found[499][5] == 1.0 and found[-1][3:] == (1.0, 0.0, 1.0)
    _, without = attitudes(made, recording, lambda i: {"switch": float(20 <= i < 250)})
    np.testing.assert_array_equal(found[-1][0], without[-1][0])


def test_the_eskf_block_gives_the_bits_of_the_filters_steps():
    recording, q = log(), q_from_euler(0.02, -0.01, 1.2)
    made = block("eskf", magnetic_heading=True)
    fix = {"velocity": np.array([0.1, 0.0, 0.0]), "velocity_sigma": np.full(3, 0.05)}

    def given(i):
        new = float(i % 25 == 24)
        # a row without a gyroscope reading keeps the fix for the next one
        lost = {"new": 0.0} if i in (124, 125) else {}
        return {**fix, "velocity_new": new, "velocity_t": (i - 5) * STEP, "start": q, "t": i * STEP, **lost}

    _, found = attitudes(made, recording, given)
    state = None
    filt = made.filter
    assert isinstance(filt, Eskf)
    last, pending = None, None
    from strapdown.live import Alignment
    from strapdown.sample import Fix

    for i in range(N):
        if i % 25 == 24:
            pending = Fix(fix["velocity"], fix["velocity_sigma"], (i - 5) * STEP)
        field_new = recording.new["mag_s"][i]
        if i in (124, 125):
            held = np.array(recording.mag_s[i]) if field_new else None
            continue
        if state is None:
            aligned = Alignment(
                q / np.linalg.norm(q), 1, 0.0, np.radians(1.0), 0.0, True, np.zeros(3), np.full(3, filt.gyr_bias_sigma)
            )
            state = filt.start(Start(step_s=STEP, alignment=aligned))
        field = np.array(recording.mag_s[i]) if field_new else (held if last == 123 else None)
        dt = 0.0 if last is None else (i - last) * STEP
        readings = np.array(recording.gyr_s[i]), np.array(recording.acc_s[i])
        state = filt.step(state, Sample(i * STEP, dt, *readings, field, stop=False, velocity_fix=pending))
        pending, last = None, i
        belief = filt.belief(state)
        np.testing.assert_array_equal(found[i][1], belief.v_n)
        np.testing.assert_array_equal(found[i][2], belief.p_n)
        assert found[i][3] == belief.sigma["attitude_n"][:2].max() and found[i][4] == belief.sigma["attitude_n"][2]
        np.testing.assert_array_equal(found[i][0], state.numbers[:4])


def test_the_eskf_block_starts_at_the_measured_height_and_holds():
    recording = log()
    made = block("eskf")
    given = lambda i: {"height": 2.5, "height_new": 1.0, "hold": float(i < 10), "start": q_from_euler(0, 0, 0)}  # noqa: E731
    _, found = attitudes(made, recording[:40], given)
    assert found[5][2][2] == 2.5 and abs(found[20][2][2] - 2.5) < 0.05
    np.testing.assert_array_equal(found[5][0], [1.0, 0.0, 0.0, 0.0])
