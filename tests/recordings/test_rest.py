"""Where a log rests: found without a threshold, and nothing that turns is taken for rest."""

import numpy as np
import pytest

from helpers import shared_data
from strapdown.errors import InputError
from strapdown.papers.c.positions import Ideal, hand_held
from strapdown.recordings.rest import still_intervals
from strapdown.sensors.parts.part import load_part
from strapdown.types import Recording

DEG = np.pi / 180.0
RATE = 100.0


@pytest.fixture(scope="module")
def motion():
    return hand_held(8)


@pytest.fixture(scope="module")
def log(motion):
    return Ideal.of(motion).log(load_part("mpu6050").draw(4).triads(), 4)


def quiet(seconds, rng, gyr_noise=0.05 * DEG, acc_noise=0.03, offset=(0.1, -0.2, 0.05)):
    """(gyr, acc) of a level sensor at rest."""
    n = int(seconds * RATE)
    return offset + gyr_noise * rng.standard_normal((n, 3)), [0.0, 0.0, 9.81] + acc_noise * rng.standard_normal((n, 3))


def recording(*pieces):
    gyr, acc = (np.concatenate(part) for part in zip(*pieces, strict=True))
    return Recording(np.arange(len(gyr)) / RATE, gyr_s=gyr, acc_s=acc)


def covers(found, holds):
    """Each stretch found lies within one hold, and each hold is covered for the most part by one stretch."""
    assert len(found) == len(holds)
    for still, (begin, end) in zip(found, holds, strict=True):
        assert begin - 0.1 <= still.t_s and still.until_s <= end + 0.1  # a turn begins and ends below the noise
        assert still.duration_s > 0.8 * (end - begin)


def test_every_pose_of_a_virtual_part_is_found_and_no_turn(log, motion):
    covers(still_intervals(log), motion.holds_s)


def test_means_and_deviations_are_those_of_the_rows(log):
    for still in still_intervals(log):
        np.testing.assert_array_equal(still.acc_mean, log.acc_s[still.rows].mean(axis=0))
        np.testing.assert_array_equal(still.gyr_deviation, log.gyr_s[still.rows].std(axis=0, ddof=1))
        assert (still.t_s, still.until_s) == (log.t[still.rows.start], log.t[still.rows.stop - 1])
        assert still.samples == still.rows.stop - still.rows.start


@pytest.mark.parametrize("counts_per_unit", [16384.0 / 9.80665, 131.0 / DEG])
def test_raw_counts_do_as_well(log, motion, counts_per_unit):
    raw = Recording(log.t, acc_s=log.acc_s * counts_per_unit, gyr_s=log.gyr_s * counts_per_unit)
    covers(still_intervals(raw), motion.holds_s)


def test_counts_coarser_than_the_noise_do_as_well(motion):
    ideal = Ideal.of(motion)
    coarse = Recording(ideal.t, acc_s=np.round(ideal.f_s / 0.2) * 0.2, gyr_s=np.round(ideal.w_s / 0.02) * 0.02)
    covers(still_intervals(coarse), motion.holds_s)


def test_a_log_without_noise_does_as_well(motion):
    ideal = Ideal.of(motion)
    covers(still_intervals(Recording(ideal.t, acc_s=ideal.f_s, gyr_s=ideal.w_s)), motion.holds_s)


@pytest.mark.parametrize("left", ["acc_s", "gyr_s"])
def test_one_instrument_is_enough(log, motion, left):
    one = Recording(log.t, **{left: getattr(log, left)})
    found = still_intervals(one)
    assert len(found) == len(motion.holds_s)
    assert (found[0].acc_mean is None) == (left == "gyr_s")


def test_a_log_that_rests_all_the_time_is_one_stretch():
    found = still_intervals(recording(quiet(30.0, np.random.default_rng(1))))
    assert len(found) == 1
    assert found[0].rows == slice(0, 3000)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_steady_turn_at_half_a_degree_per_second_is_not_rest(axis):
    rng = np.random.default_rng(2)
    gyr, acc = quiet(20.0, rng)
    gyr = gyr + 0.5 * DEG * np.eye(3)[axis]
    if axis < 2:  # gravity moves along; about the vertical only the gyroscope shows it
        angle = 0.5 * DEG * np.arange(len(acc)) / RATE
        acc = acc - [0.0, 0.0, 9.81] + 9.81 * np.stack([np.sin(angle), 0 * angle, np.cos(angle)], axis=1)
    found = still_intervals(recording(quiet(30.0, rng), (gyr, acc), quiet(30.0, rng)))
    assert [(round(s.t_s), round(s.until_s)) for s in found] == [(0, 30), (50, 80)]


def test_an_offset_that_warms_up_stays_rest():
    gyr, acc = quiet(600.0, np.random.default_rng(3))
    gyr += 2.0 * DEG * (1.0 - np.exp(-np.arange(len(gyr)) / RATE / 200.0))[:, None]  # 2 deg/s in minutes
    found = still_intervals(recording((gyr, acc)))
    assert sum(s.duration_s for s in found) > 0.98 * 600.0


def test_a_knock_ends_a_stretch():
    rng = np.random.default_rng(4)
    gyr, acc = quiet(20.0, rng)
    acc[1000:1010] += 2.0
    found = still_intervals(recording((gyr, acc)))
    assert len(found) == 2 and found[0].until_s < 10.0 < found[1].t_s


def test_a_gap_in_time_ends_a_stretch():
    gyr, acc = quiet(20.0, np.random.default_rng(5))
    t = np.arange(len(gyr)) / RATE
    t[1000:] += 3.0
    found = still_intervals(Recording(t, gyr_s=gyr, acc_s=acc))
    assert len(found) == 2
    assert found[0].until_s <= t[999] and found[1].t_s >= t[1000]


def test_shortest_is_kept(log):
    assert all(s.duration_s > 2.5 for s in still_intervals(log, shortest_s=3.0))
    with pytest.raises(InputError, match="no still phase of 20 s"):
        still_intervals(log, shortest_s=20.0)


def test_a_log_that_moves_all_the_time_is_refused():
    t = np.arange(6000) / RATE
    gyr = np.stack([np.sin(3.0 * t), np.sin(2.3 * t + 1.0), np.sin(1.7 * t + 2.0)], axis=1)
    acc = 9.81 * np.stack([np.sin(0.7 * t), np.cos(0.7 * t), 0.3 * np.sin(1.1 * t)], axis=1)
    rng = np.random.default_rng(6)
    noisy = gyr + 1e-3 * rng.standard_normal(gyr.shape)
    with pytest.raises(InputError, match=r"no still phase .* put the sensor down"):
        still_intervals(Recording(t, gyr_s=noisy, acc_s=acc + 0.03 * rng.standard_normal(acc.shape)))


def test_a_log_without_instruments_or_samples_is_refused():
    with pytest.raises(InputError, match="neither accelerometer nor gyroscope"):
        still_intervals(Recording(np.arange(100.0), mag_s=np.ones((100, 3))))
    with pytest.raises(InputError, match="10 samples, too few"):
        still_intervals(Recording(np.arange(10.0), acc_s=np.ones((10, 3))))


def test_the_static_logs_of_a_real_part_are_still_throughout():
    folder = shared_data("mpu6050")
    for name, seconds in (("example_data_tinit_calc", 449.0), ("imu_static_test", 99.0)):
        raw = np.loadtxt(folder / f"{name}.csv", delimiter=",", skiprows=5)
        t = np.arange(len(raw)) / 100.0
        found = still_intervals(Recording(t, acc_s=raw[:, :3] * 9.80665 / 16384.0, gyr_s=raw[:, 3:] * DEG / 131.0))
        assert sum(s.duration_s for s in found) > 0.98 * seconds


def test_walking_on_the_spot_is_not_taken_for_rest():
    """A real trial: it rests at its start and end, and moves in between for two minutes."""
    from scipy.io import loadmat

    trial = loadmat(shared_data("broad") / "15_undisturbed_fast_translation_A.mat")
    t = np.arange(len(trial["imu_acc"])) / float(np.ravel(trial["sampling_rate"])[0])
    moving = np.ravel(trial["movement"]).astype(bool)
    found = still_intervals(Recording(t, acc_s=trial["imu_acc"], gyr_s=trial["imu_gyr"]))
    in_motion = sum(moving[s.rows].sum() for s in found)
    assert in_motion < 0.02 * moving.sum()  # the label begins a moment before the motion does
