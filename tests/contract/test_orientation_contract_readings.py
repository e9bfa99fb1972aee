"""What every orientation filter promises of bad readings: stated and not followed, or refused where they can be."""

from dataclasses import replace

import numpy as np
import pytest

from orientation_cases import (
    DEG,
    FIELD_N,
    NAMES,
    answer,
    between,
    every_filter,
    filter_of,
    ideal,
    noisy_swing,
    reading,
    swing,
    ways,
)
from strapdown.errors import InputError
from strapdown.live import Start
from strapdown.orientation.lanes import run_many
from strapdown.orientation.mahony import Mahony
from strapdown.rotation import q_conj, q_exp, q_rotate
from strapdown.types import Recording


def first_rows(r, n):
    return Recording(r.t[:n], gyr_s=r.gyr_s[:n], acc_s=r.acc_s[:n], mag_s=r.mag_s[:n], truth=r.truth[:n])


@every_filter
def test_no_reading_makes_an_attitude_that_is_no_number(name):
    filt = filter_of(name)
    state = filt.start()
    nothing, down = np.zeros(3), np.array([0.0, 0.0, -45.0])
    level, fast = np.array([0.0, 0.0, 9.8]), np.array([30.0, -20.0, 10.0])
    free_fall = [(nothing, nothing, FIELD_N, 0.01), (nothing, level, down, 0.01), (fast, nothing, nothing, 0.01)]
    extremes = [(fast, -level, down, 3.0), (nothing, level, None, 1e-9), (fast, 1e3 * level, 1e3 * FIELD_N, 0.1)]
    for gyr_s, acc_s, mag_s, dt in 3 * [*free_fall, *extremes]:
        state = filt.step(state, reading(gyr_s, acc_s, mag_s, dt=dt))
        assert np.isfinite(state.numbers).all()
        assert abs(np.linalg.norm(filt.belief(state).q_nb) - 1.0) < 1e-6


@every_filter
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_live_sample_that_is_no_number_is_rejected_and_flagged(name, bad):
    """Each reading in turn, then the time: the state stays finite, and the next good samples are followed."""
    filt = filter_of(name)
    gyr_s, acc_s, wrong = np.array([0.0, 0.0, 0.1]), np.array([0.0, 0.0, 9.8]), np.array([0.1, bad, 0.2])
    state = filt.start()
    for _ in range(100):
        state = filt.step(state, reading(np.zeros(3), acc_s, FIELD_N, dt=0.01))
    for sample in ((wrong, acc_s, FIELD_N, 0.01), (gyr_s, wrong, FIELD_N, 0.01), (gyr_s, acc_s, wrong, 0.01)):
        state = filt.step(state, reading(*sample[:3], dt=sample[3]))
        assert np.isfinite(state.numbers).all()
        assert any(filt.belief(state).flags.values()) or name in ("gyro", "vqf", "lodestar", "mekf")
    for dt in (bad, 0.0, -0.01):
        left = filt.step(state, reading(gyr_s, acc_s, FIELD_N, dt=dt))
        assert filt.belief(left).flags["gap"] and np.isfinite(left.numbers).all()
        assert np.array_equal(filt.belief(left).q_nb, filt.belief(state).q_nb)
        state = left
    before = filt.belief(state).q_nb
    for _ in range(100):
        state = filt.step(state, reading(gyr_s, acc_s, None, dt=0.01))
    assert not filt.belief(state).flags["gap"]
    # model: paper B's low-pass lags 0.05 s, and a rate this small may be taken for a bias in part
    assert 0.05 < between(before, filt.belief(state).q_nb) < 0.12


TURNED = q_exp([0.0, 0.0, 0.3])  # level, and not where a filter starts without readings


@every_filter
@pytest.mark.parametrize("late", [True, False], ids=["under way", "from the first sample"])
@pytest.mark.parametrize("size", [1e7, 3e38, 1e200, -1e308], ids="{:g}".format)
def test_a_reading_that_no_sensor_gives_is_rejected(name, size, late):
    """Each reading in turn, then the time, three samples long; their squares are no numbers, but the state is."""
    filt, still = filter_of(name), (np.zeros(3), np.array([0.0, 0.0, 9.8]), q_rotate(q_conj(TURNED), FIELD_N))
    strange = size * np.array([1.0, -1.0, 0.3])  # their sum is no larger than they are
    for k in range(4):
        readings = tuple(strange if i == k else reading for i, reading in enumerate(still))
        state = filt.start()
        for _ in range(150 * late):
            state = filt.step(state, reading(*still, dt=0.01))
        for _ in range(3):
            state = filt.step(state, reading(*readings, dt=abs(size) if k == 3 else 0.01))
            assert np.isfinite(state.numbers).all()
        for _ in range(1000):
            state = filt.step(state, reading(*still, dt=0.01))
        flags = filt.belief(state).flags
        assert np.isfinite(state.numbers).all() and not flags["gap"] and not flags["acc_rejected"]
        # model: a field of 1e7 uT is no number that cannot be, and pulls for three samples where a direction is enough
        assert between(filt.belief(state).q_nb, TURNED) < 2.0 * DEG


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("gyro", "paper-b")])
def test_free_fall_is_told_and_not_followed(name):
    """Noise of 0.05 m/s2 around nothing has no direction."""
    filt, rng = filter_of(name), np.random.default_rng(6)
    state = filt.start()
    for _ in range(300):
        state = filt.step(state, reading(np.zeros(3), np.array([0.0, 0.0, 9.8]), FIELD_N, dt=0.01))
    before = filt.belief(state).q_nb
    for _ in range(200):
        state = filt.step(state, reading(np.zeros(3), 0.05 * rng.standard_normal(3), FIELD_N, dt=0.01))
        assert filt.belief(state).flags["acc_rejected"]
    # roundoff in most; VQF, as published, averages the noise
    assert between(before, filt.belief(state).q_nb) < 0.5 * DEG


BAD = {
    "no magnetometer": (lambda r: replace(r, mag_s=None), "no magnetometer"),
    "magnetometer of zeros": (lambda r: replace(r, mag_s=np.zeros_like(r.mag_s)), "magnetometer reads no field"),
    "accelerometer in g": (lambda r: replace(r, acc_s=r.acc_s / 9.80665), "the readings look like g"),
    "gyroscope in deg/s": (lambda r: replace(r, gyr_s=r.gyr_s / DEG + 200.0), "deg/s"),
    "no gyroscope": (lambda r: replace(r, gyr_s=None), "no gyroscope"),
    "three samples": (
        lambda r: Recording(r.t[:3], gyr_s=r.gyr_s[:3], acc_s=r.acc_s[:3], mag_s=r.mag_s[:3]),
        "3 samples",
    ),
    "NaN inside": (
        lambda r: replace(r, acc_s=np.where(r.t[:, None] == 2.0, np.nan, r.acc_s)),
        "not finite at sample 256",
    ),
    "time backward": (
        lambda r: replace(r, t=np.where(r.t == 2.0, 1.0, r.t), truth=None),
        "goes backward at sample 256",
    ),
}


@pytest.mark.parametrize("fault", BAD)
@ways()
def test_bad_input_is_told_in_one_sentence(name, way, fault):
    spoil, words = BAD[fault]
    with pytest.raises(InputError, match=words) as told:
        answer(name, way, spoil(ideal(swing())), {"magnetometer": True})
    assert "\n" not in str(told.value) and len(str(told.value)) < 250


@ways()
def test_a_log_without_a_field_gives_six_axes_and_a_note(name, way):
    """Unless the settings ask for nine. A log with a field gives nine, and no note."""
    log = ideal(swing())
    without = replace(log, mag_s=None)
    found = answer(name, way, without)
    asked = answer(name, way, without, {"magnetometer": False})
    assert np.array_equal(found.q_nb, asked.q_nb)
    (note,) = (event for event in found.events if event.kind == "six_axes")
    assert "no magnetometer: 6 axes" in note.text and "6 axes" in repr(found)
    assert (note.t_s, note.until_s) == (log.t[0], log.t[-1])
    nine = answer(name, way, log)
    assert np.array_equal(nine.q_nb, answer(name, way, log, {"magnetometer": True}).q_nb)
    assert "six_axes" not in {event.kind for event in (*nine.events, *asked.events)}
    own = {"magnetometer": Recording(log.t, mag_s=log.mag_s)}
    assert "six_axes" not in {event.kind for event in answer(name, way, without, **own).events}


@every_filter
def test_settings_out_of_bounds_are_refused(name):
    with pytest.raises(InputError, match="longest_step_s"):
        filter_of(name, longest_step_s=0.0)
    with pytest.raises(InputError, match="declination_rad"):
        filter_of(name, declination_rad=np.nan)
    with pytest.raises(InputError, match="magnetometer"):
        filter_of(name, magnetometer="no")
    assert filter_of(name, longest_step_s=np.float32(0.25), declination_rad=np.int64(0)).longest_step_s == 0.25
    with pytest.raises(InputError, match="attitude to start from"):
        filter_of(name).start(Start(q_ns=np.zeros(4)))


@pytest.mark.parametrize("use_mag", [True, False], ids=["9 axes", "6 axes"])
def test_side_by_side_flags_are_those_of_single_runs(use_mag):
    """Free fall, a field too large for a number's square, a gap, an early end: one each, and none in the last."""
    whole, filt = noisy_swing(), Mahony(magnetometer=use_mag)
    falls, dead = np.array(whole.acc_s), np.array(whole.mag_s)
    falls[300:340] *= 0.01
    dead[500:520] *= 1e160
    kept = (whole.t < 4.0) | (whole.t > 6.0)
    gap = Recording(whole.t[kept], gyr_s=whole.gyr_s[kept], acc_s=whole.acc_s[kept], mag_s=whole.mag_s[kept])
    many = [replace(whole, acc_s=falls), replace(whole, mag_s=dead), gap, first_rows(whole, 700), whole]
    told = dict.fromkeys(("acc_rejected", "mag_rejected", "gap"), 0)
    for recording, found in zip(many, run_many(filt, many), strict=True):
        alone = filt.run(recording)
        for name, said in found.flags.items():
            assert np.array_equal(said, alone.flags[name])
            told[name] = told.get(name, 0) + int(said.sum())
        assert between(found.q_nb, alone.q_nb).max() < 1e-9  # roundoff of fused products
    assert told["acc_rejected"] == 40 and told["gap"] == 1 and (told["mag_rejected"] > 0) == use_mag


@ways()
@pytest.mark.parametrize("which", ["gyr_s", "acc_s", "mag_s"])
@pytest.mark.parametrize("size", [2e6, 1e200])
def test_one_reading_that_no_sensor_gives_is_not_followed(name, way, which, size):
    """On line and off: a bit on the wire."""
    recording = noisy_swing()
    readings = getattr(recording, which).copy()
    k = len(readings) // 2
    readings[k] = size * np.array([1.0, -0.4, 0.3])
    faulty, clean = (answer(name, way, r) for r in (replace(recording, **{which: readings}), recording))
    # a turn of 1 rad/s is missed for a sample; those without a memory of motion take a force for its direction
    assert between(faulty.q_nb, clean.q_nb).max() < 2.0 * DEG
