"""What every orientation filter promises, whatever it does inside: parametrised over the catalogue.

A filter that also has `smooth(recording)` makes the same promises off line. Here: one kernel for recordings and live
streams, and frames. Right answers and bad readings have files of their own.
"""

import numpy as np

from orientation_cases import (
    DEG,
    FIELD_N,
    UP,
    angle,
    answer,
    axes,
    between,
    every_filter,
    filter_of,
    ideal,
    noisy_swing,
    reading,
    swing,
    ways,
)
from strapdown.live import Start
from strapdown.orientation.samples import samples_of
from strapdown.rotation import q_conj, q_exp, q_from_euler, q_mul, q_rotate
from strapdown.types import Recording

# ---------------------------------------------------------------- one kernel for recordings and live streams
# (that a run is its steps to the bit: test_estimator.py)


@every_filter
@axes
def test_two_halves_from_one_state_are_the_whole_to_the_last_bit(name, use_mag):
    filt = filter_of(name, magnetometer=use_mag)
    kernel = filt.kernel
    samples = samples_of(noisy_swing(), use_mag=use_mag)
    state, q = filt.start(Start(step_s=samples.step_s)).numbers.copy(), []
    middle = len(samples.t) // 2 + 7
    for rows in (slice(0, middle), slice(middle, None)):
        dt, gyr, acc = samples.dt[rows], samples.gyr[rows], samples.acc[rows]
        mag, new = (samples.mag[rows], samples.mag_new[rows]) if use_mag else (samples.mag, samples.mag_new)
        out = np.empty((len(dt), 4))
        rest = np.empty((len(dt), 3)), np.empty((len(dt), 3)), np.empty(len(dt))
        kernel.rows(state, filt.packed_settings, dt, gyr, acc, mag, new, out, *rest)
        q.append(out)
    assert np.array_equal(np.concatenate(q), filt.run(noisy_swing()).q_nb)


@every_filter
def test_a_step_changes_neither_its_state_nor_its_readings_and_compiles_nothing_twice(name):
    filt = filter_of(name)
    kernel = filt.kernel
    gyr_s, acc_s, mag_s = np.array([0.1, 0.2, 0.3]), np.array([0.0, 1.0, 9.7]), FIELD_N.copy()
    for array in (gyr_s, acc_s, mag_s):
        array.flags.writeable = False
    state = filt.step(filt.start(), reading(gyr_s, acc_s, mag_s, dt=0.01))
    before = state.numbers.copy()
    known = len(kernel.step.signatures)
    filt.step(state, reading(gyr_s, acc_s, mag_s, dt=0.01))
    filt.step(state, reading(gyr_s, acc_s, None, dt=0.01))
    assert np.array_equal(state.numbers, before)
    assert len(kernel.step.signatures) == known


@ways()
def test_a_recording_is_left_as_it_was(name, way):
    recording = noisy_swing()
    before = [np.copy(x) for x in (recording.t, recording.gyr_s, recording.acc_s, recording.mag_s)]
    answer(name, way, recording)
    for old, new in zip(before, (recording.t, recording.gyr_s, recording.acc_s, recording.mag_s), strict=True):
        assert np.array_equal(old, new)


# ---------------------------------------------------------------- frames

# roundoff of 2000 samples; thresholds inside a filter may move one sample's decision by a roundoff, hence not 1e-12
SAME_RAD = 1e-7
MOUNTED_RAD = {"vqf": 1e-3, "lodestar": 1e-3}  # model: the first level frame is the shortest turn from s, not from b


@ways("turns with the body")
def test_a_body_turned_about_the_vertical_turns_the_answer(name, way):
    turn = q_exp(2.1 * UP)
    here, there = (answer(name, way, ideal(swing(yaw0, reach_m=0.0))) for yaw0 in (0.0, 2.1))
    # model and step order: a tilt of up to 0.05 deg, times tan(dip) 2, turns the heading the same way in the world, and
    # lodestar, which takes the field's turn for the place's, follows it a little further
    assert between(q_mul(turn, here.q_nb), there.q_nb).max() < 0.2 * DEG


@ways("turns with the body", needs=("given",))
def test_a_given_first_attitude_turns_the_answer_without_magnetometer(name, way):
    recording = noisy_swing()
    q_ns, turn = q_from_euler(0.0, 0.0, 0.4), q_exp(-2.5 * UP)
    here, there = (answer(name, way, recording, {"magnetometer": False}, q_ns=q) for q in (q_ns, q_mul(turn, q_ns)))
    assert between(q_mul(turn, here.q_nb), there.q_nb).max() < SAME_RAD


@ways()
def test_the_declination_is_the_angle_from_true_to_magnetic_north_clockwise(name, way):
    """Field and truth are turned together: the readings stay, the answer turns."""
    declination = 0.2
    turn = q_exp(-declination * UP)
    field_n = q_rotate(turn, FIELD_N)
    path = swing()
    truth_n = ideal(path, field_n=field_n)
    found = answer(name, way, truth_n, {"declination_rad": declination})
    rest = truth_n.t < 0.4
    # roundoff: at rest the first readings tell all; a smoother also listens to what follows
    assert angle(found, truth_n.truth, rest).max() < (1e-6 if way == "run" else 1.0 * DEG)
    plain = answer(name, way, ideal(path))
    turned = Recording(truth_n.t, gyr_s=truth_n.gyr_s, acc_s=truth_n.acc_s, mag_s=ideal(path).mag_s)
    assert between(q_mul(turn, plain.q_nb), answer(name, way, turned, {"declination_rad": declination}).q_nb).max() < (
        SAME_RAD
    )


@ways(
    "any mounting",
    needs=(
        "given",
        "q_bs",
    ),
)
@axes
def test_a_mounting_rotation_turns_the_answer(name, way, use_mag):
    q_bs = q_from_euler(2.5, -0.7, 1.9)
    b = noisy_swing()
    s = Recording(b.t, **{key: q_rotate(q_conj(q_bs), getattr(b, key)) for key in ("gyr_s", "acc_s", "mag_s")})
    settings = {"magnetometer": use_mag}
    q_nb = None if use_mag else q_from_euler(0.0, 0.0, 0.4)
    by_b = answer(name, way, b, settings, q_ns=q_nb)
    by_s = answer(name, way, s, settings, q_ns=None if use_mag else q_mul(q_nb, q_bs))
    told = answer(name, way, s, settings, q_ns=q_nb, q_bs=q_bs)
    assert between(by_b.q_nb, told.q_nb).max() < SAME_RAD
    assert between(q_mul(by_b.q_nb, q_bs), by_s.q_nb).max() < MOUNTED_RAD.get(name, SAME_RAD)
