"""Recordings one after the other, and instruments of two logs by time."""

from dataclasses import replace

import numpy as np
import pytest

from io_cases import assert_same_bits, recording
from strapdown.errors import InputError
from strapdown.recordings.examination.faults import new_readings
from strapdown.recordings.join import join, with_instrument
from strapdown.sample import Fixes, Heights
from strapdown.types import Recording


def test_a_recording_cut_and_joined_is_the_same_to_the_bit():
    log = recording(50)
    assert_same_bits(join([log[:10], log[10:11], log[11:]]), log)
    t = log.t
    assert_same_bits(join([log.between(t[0], t[20]), log.between(t[21], t[-1])]), log)


def test_parts_must_follow_each_other_and_have_the_same_fields():
    log = recording(50)
    with pytest.raises(InputError, match="follow each other in time"):
        join([log[10:], log[:10]])
    with pytest.raises(InputError, match="part 1 has no temperature"):
        join([log[:10], replace(log[10:], temperature=None, new={})])
    with pytest.raises(InputError, match="no recording"):
        join([])


def test_meta_of_parts_is_what_they_have_in_common():
    log = recording(20)
    whole = join([log[:10].with_meta(run=1), log[10:].with_meta(run=2)])
    assert dict(whole.meta) == dict(log.meta)


def test_flags_of_a_part_that_has_none_are_true():
    log = replace(recording(20), new={})
    held = replace(log[10:], new={"mag_s": np.arange(10) % 2 == 0})
    assert join([log[:10], held]).new["mag_s"].tolist() == [True] * 10 + [True, False] * 5


def two_clocks():
    t = np.arange(0.0, 10.0, 0.01)
    own = np.arange(-0.004, 10.0, 0.05)
    compass = Recording(own, mag_s=np.stack([own, 2.0 * own, 20.0 + own], axis=1))
    return Recording(t, gyr_s=np.zeros((len(t), 3)), acc_s=np.ones((len(t), 3))), compass


def test_a_magnetometer_joins_the_first_row_that_is_not_earlier():
    log, compass = two_clocks()
    both = with_instrument(log, compass, "mag_s")
    rows = np.searchsorted(log.t, compass.t)
    rows = rows[rows < len(log)]
    assert np.array_equal(np.flatnonzero(both.new["mag_s"]), rows)
    assert np.array_equal(both.mag_s[rows], compass.mag_s[: len(rows)])
    assert np.array_equal(both.mag_s[rows + 1], both.mag_s[rows])  # held until the next


def test_an_odometer_runs_straight_between_its_readings():
    log, _ = two_clocks()
    wheel = Recording(np.array([0.0, 10.0]), odometer=np.array([0.0, 5.0]))
    np.testing.assert_allclose(with_instrument(log, wheel, "odometer").odometer, 0.5 * log.t, atol=1e-15)  # roundoff


@pytest.mark.parametrize(
    ("shift_s", "name", "words"),
    [
        (100.0, "mag_s", "check the clocks"),
        (9.5, "mag_s", "5 % of the recording's time only"),
        (0.0, "gyr_s", "gyr_s cannot"),
    ],
)
def test_clocks_that_do_not_fit_are_refused(shift_s, name, words):
    log, compass = two_clocks()
    with pytest.raises(InputError, match=words):
        with_instrument(log, replace(compass, t=compass.t + shift_s), name)


def test_the_instrument_of_another_clock_is_named():
    log, _ = two_clocks()
    late = Recording(np.arange(100.0, 110.0), temperature=np.full(10, 20.0), tilt_s=np.zeros((10, 2)))
    for name, instrument in (("temperature", "thermometer"), ("tilt_s", "inclinometer")):
        with pytest.raises(InputError, match=f"no reading of the {instrument} lies within"):
            with_instrument(log, late, name)
        barely = replace(late, t=9.5 + 0.1 * np.arange(10))
        words = f"readings of the {instrument} lie within 5 % .* the {instrument} from 9.5 to"
        with pytest.raises(InputError, match=words):
            with_instrument(log, barely, name)


def test_fixes_and_heights_of_another_clock_join_too():
    """One fix is enough: they may cover a part of the time. Its own instant is kept."""
    log, _ = two_clocks()
    t = np.array([0.504, 0.507, 3.0])
    fixes = Fixes(np.arange(9.0).reshape(3, 3), np.full((3, 3), 0.1), t)
    both = with_instrument(log, Recording(t, position_fix=fixes), "position_fix")
    rows = np.flatnonzero(both.new["position_fix"])
    assert rows.tolist() == [51, 300]  # of two that fall to one row the last
    assert np.array_equal(both.position_fix.value_n[rows], fixes.value_n[1:]) and both.position_fix.t_s[51] == 0.507
    assert [i for i, sample in enumerate(both.samples()) if sample.position_fix is not None] == [51, 300]
    single = with_instrument(log, Recording([2.0], height=Heights([7.0], [0.2])), "height")
    assert single.sample(200).height == (7.0, 0.2) and single.new["height"].sum() == 1


@pytest.mark.parametrize(
    ("cut", "words"),
    [
        (lambda log: join([log, 3]), "part 1 of those to join is a int; give a list of recordings"),
        (lambda log: join(log), "join was given a Recording; give a list"),
        (lambda log: join(3), "join was given a int; give a list"),
        (lambda log: with_instrument(log, 3, "mag_s"), "with_instrument was given a int"),
        (lambda log: log.between("a", 1.0), "'a' was given; give two times in s"),
        (lambda log: log.between(0.0, None), "None was given; give two times in s"),
        (lambda log: log.between(np.nan, 1.0), "nan was given; give two times in s"),
        (lambda log: log[0.5:3], "cuts no recording"),
        (lambda log: log["a":], "cuts no recording"),
        (lambda log: log[::0], "cuts no recording"),
        (lambda log: log[::-1], "cut forward in time"),
        (lambda log: log.sample("a"), "sample 'a' was asked for; give its number, from 0 to 999"),
        (lambda log: log.sample(1.5), "sample 1.5 was asked for"),
    ],
)
def test_what_is_no_recording_time_or_number_is_one_sentence(cut, words):
    log, _ = two_clocks()
    with pytest.raises(InputError, match=words) as error:
        cut(log)
    assert "\n" not in str(error.value)


def test_held_rows_become_flags_where_a_recording_is_made():
    log, compass = two_clocks()
    both = replace(with_instrument(log, compass, "mag_s"), new={})
    assert np.array_equal(both.new["mag_s"], new_readings(both))
    assert both.new["mag_s"].sum() == len(np.unique(both.mag_s[:, 0]))
    assert [sample.mag_s is not None for sample in both.samples()] == both.new["mag_s"].tolist()
    assert np.array_equal(both[3:40].new["mag_s"], both.new["mag_s"][3:40])  # a part keeps those of the whole
    assert "mag_s" not in log.new and "mag_s" not in compass.new
    stated = replace(both, new={"mag_s": np.ones(len(both), dtype=bool)})  # what the source states counts
    assert stated.new["mag_s"].all()


def test_rows_of_zeros_are_no_old_readings():
    """A magnetometer that does not answer is found as such, not taken for a slow one."""
    log, _ = two_clocks()
    mag_s = np.where(np.arange(len(log))[:, None] % 10 < 6, 0.0, 20.0 + log.t[:, None] * [1.0, 2.0, 3.0])
    dead = replace(log, mag_s=mag_s)
    assert "mag_s" not in dead.new
    assert np.array_equal(new_readings(dead), mag_s[:, 0] != 0.0)
