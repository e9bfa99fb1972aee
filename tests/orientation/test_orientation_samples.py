"""What orientation filters take in, and what they refuse in one sentence: units, clocks, mountings, live readings."""

from dataclasses import replace

import numpy as np
import pytest

from orientation_cases import FIELD_N, G, ideal, noisy_swing, reading, swing
from strapdown.errors import InputError
from strapdown.kernels.orientation.state import OWN
from strapdown.live import Start
from strapdown.motion import Rest
from strapdown.orientation.catalogue import FILTERS, filter_by_name
from strapdown.orientation.gyro import Gyro
from strapdown.orientation.lanes import run_many
from strapdown.orientation.lodestar import Lodestar
from strapdown.orientation.mahony import Mahony
from strapdown.orientation.samples import samples_of
from strapdown.orientation.vqf import Vqf
from strapdown.recordings.examination.faults import new_readings
from strapdown.types import Recording

LIVE = np.array([0.1, 0.0, 0.2]), np.array([0.0, 0.0, G]), FIELD_N


def held(recording, k):
    """The magnetometer k times slower than the log, its last reading repeated."""
    return replace(recording, mag_s=recording.mag_s[np.arange(len(recording)) // k * k])


def one_sentence(error):
    return "\n" not in str(error.value) and "; " in str(error.value)


# ---------------------------------------------------------------- mounting and first attitude


@pytest.mark.parametrize(
    "q", [np.zeros(4), [np.nan, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0], np.eye(4), "level", [[1.0], [0.0, 1.0]], [np.inf] * 4]
)
def test_a_mounting_or_first_attitude_that_is_no_quaternion_is_refused(q):
    log = noisy_swing()
    ways = (
        lambda: Vqf().run(log, q_bs=q),
        lambda: Vqf().smooth(log, q_bs=q),
        lambda: run_many(Mahony(), [log], q_bs=q),
        lambda: Lodestar().run(log, Start.of(log, q_ns=q)),
        lambda: Lodestar().start(Start(q_ns=q)),
    )
    for way in ways:
        with pytest.raises(InputError, match="give a unit quaternion") as error:
            way()
        assert "mounting" in str(error.value) or "start from" in str(error.value)


@pytest.mark.parametrize("q_ns", ["level", np.eye(4)[:2], np.zeros((3, 3)), [1.0]])
def test_first_attitudes_of_many_must_fit_their_number(q_ns):
    with pytest.raises(InputError, match="one quaternion") as error:
        run_many(Mahony(), [noisy_swing()] * 3, q_ns=q_ns)
    assert one_sentence(error)


def test_what_is_no_recording_is_refused():
    log = noisy_swing()
    for way in (
        lambda: Mahony().run(log.acc_s),
        lambda: Mahony().run(log, magnetometer=log.mag_s),
        lambda: run_many(Mahony(), log),
        lambda: run_many(Mahony(), [log, None]),
    ):
        with pytest.raises(InputError, match="type") as error:
            way()
        assert one_sentence(error)


# ---------------------------------------------------------------- a slower magnetometer


@pytest.mark.parametrize("k", [2, 3, 5])
def test_repeated_readings_of_a_slower_magnetometer_are_not_new(k):
    log = held(ideal(swing()), k)
    moves = np.any(np.diff(log.mag_s[::k], axis=0) != 0.0, axis=1)  # at rest and without noise all readings are alike
    new = samples_of(log).mag_new
    assert np.array_equal(np.flatnonzero(new), np.concatenate([[0], k * (1 + np.flatnonzero(moves))]))
    assert moves.mean() > 0.4


def test_chance_repeats_and_an_axis_that_stands_still_are_new():
    log = noisy_swing()
    assert samples_of(log).mag_new.all()
    mag_s = log.mag_s.copy()
    mag_s[:, 0] = 7.0
    assert new_readings(replace(log, mag_s=mag_s)).all()
    some = log.mag_s.copy()
    some[1:1000:4] = some[0:999:4]  # an eighth of the rows
    assert samples_of(replace(log, mag_s=some)).mag_new.all()
    assert samples_of(ideal(Rest(duration_s=1.0))).mag_new.all()  # no noise: the same reading for ever


def test_readings_of_zeros_are_no_readings():
    log = noisy_swing()
    mag_s = log.mag_s.copy()
    mag_s[100:200] = 0.0
    assert np.array_equal(np.flatnonzero(~samples_of(replace(log, mag_s=mag_s)).mag_new), np.arange(100, 200))


# ---------------------------------------------------------------- a magnetometer with a clock of its own


def apart(log, every=4, shift_s=0.0):
    rows = slice(None, None, every)
    return replace(log, mag_s=None), Recording(log.t[rows] + shift_s, mag_s=log.mag_s[rows])


@pytest.mark.parametrize("begin", [3, 200])
def test_a_magnetometer_that_falls_silent_is_refused_or_told(begin):
    r = noisy_swing()
    mag_s = r.mag_s.copy()
    mag_s[begin : 3 * len(r) // 4 if begin == 200 else None] = 0.0
    silent = replace(r, mag_s=mag_s)
    with pytest.raises(InputError, match=r"magnetometer reads no field in \d+ % of the samples"):
        Mahony().run(silent)
    late = r.mag_s.copy()
    late[1100:] = 0.0
    (event,) = Mahony().run(replace(r, mag_s=late)).events
    assert event.kind == "no_field" and event.t_s == r.t[1099] and event.until_s == r.t[-1]


def test_stuck_instruments_are_refused():
    r = noisy_swing()
    fast = replace(r, gyr_s=r.gyr_s + np.array([0.0, 0.0, 1.0]), mag_s=np.tile(r.mag_s[:1], (len(r), 1)))
    with pytest.raises(InputError, match="never changes while the sensor turns"):
        Mahony().run(fast)
    turned = np.repeat([[0.0, 0.0, 9.81], [9.81, 0.0, 0.0]], [500, len(r) - 500], axis=0)
    with pytest.raises(InputError, match="gyroscope reads 0 throughout"):
        Mahony().run(replace(r, gyr_s=np.zeros_like(r.gyr_s), acc_s=turned))


def test_readings_from_before_the_recording_do_not_join_its_first_row():
    log = noisy_swing()
    step_s = log.t[1] - log.t[0]
    inertial, own = apart(log)
    early = Recording(
        np.concatenate([own.t[0] - 5.0 + 0.1 * np.arange(40), own.t]),
        mag_s=np.concatenate([np.full((40, 3), 90.0), own.mag_s]),
    )
    found = samples_of(inertial, magnetometer=early)
    assert np.array_equal(found.mag[0], own.mag_s[0])
    late_start = Recording(early.t[:-1], mag_s=np.delete(early.mag_s, 40, axis=0))  # the same readings, one later
    assert samples_of(inertial, magnetometer=late_start).mag_new[0]
    none_at_0 = Recording(np.delete(early.t, 40), mag_s=np.delete(early.mag_s, 40, axis=0))
    assert not samples_of(inertial, magnetometer=none_at_0).mag_new[0]
    just_before = Recording(np.concatenate([[log.t[0] - 0.5 * step_s], own.t[1:]]), mag_s=own.mag_s)
    assert np.array_equal(samples_of(inertial, magnetometer=just_before).mag[0], own.mag_s[0])


@pytest.mark.parametrize(("shift_s", "word"), [(-1e6, "no reading of the magnetometer"), (-15.5, "%"), (15.5, "%")])
def test_a_clock_that_is_off_is_refused(shift_s, word):
    inertial, own = apart(noisy_swing(), shift_s=shift_s)  # 16 s: half a second is common to both
    with pytest.raises(InputError, match="check the clocks") as error:
        Mahony().run(inertial, magnetometer=own)
    assert word in str(error.value) and one_sentence(error)


# ---------------------------------------------------------------- units and gravity


def test_lunar_gravity_is_believed_where_the_log_states_it():
    earth = noisy_swing()
    moon = replace(earth, acc_s=earth.acc_s * (1.62 / G), meta={})
    with pytest.raises(InputError, match="the readings look like g"):
        samples_of(moon)
    samples_of(moon.with_meta(gravity_m_s2=1.62))
    with pytest.raises(InputError, match="the readings look like g"):
        samples_of(replace(earth, acc_s=earth.acc_s / G).with_meta(gravity_m_s2=9.8))


def test_rates_in_degrees_and_counts_are_refused():
    log = noisy_swing()
    with pytest.raises(InputError, match="deg/s or raw counts"):
        samples_of(replace(log, gyr_s=log.gyr_s * 1e3))
    with pytest.raises(InputError, match="raw counts or another unit"):
        samples_of(replace(log, acc_s=log.acc_s * 1e3))


# ---------------------------------------------------------------- live


@pytest.mark.parametrize(
    "bad",
    [
        np.zeros(3, dtype=np.float32),
        np.zeros(3, dtype=np.int64),
        [0.0, 0.0, 0.0],
        np.zeros(6)[::2],
        np.zeros((3, 1)),
        np.zeros(2),
        np.zeros(5),
        np.zeros(0),
        1.0,
        "x",
    ],
    ids=["float32", "int", "list", "strided", "column", "two", "five", "none", "number", "text"],
)
def test_a_live_reading_of_another_kind_is_one_sentence(bad):
    filt = Mahony()
    state = filt.step(filt.start(), reading(*LIVE, dt=0.01))
    for i, name in enumerate(("gyr_s", "acc_s", "mag_s")):
        readings = list(LIVE)
        readings[i] = bad
        if name == "mag_s" and np.shape(bad) == (0,):
            continue  # no new reading
        with pytest.raises(InputError, match=f"{name} of a live sample") as error:
            filt.step(state, reading(*readings, dt=0.01))
        assert one_sentence(error)
    filt.step(state, reading(*LIVE, dt=0.01))  # still of use


def test_a_live_step_wants_its_time_as_a_number():
    with pytest.raises(InputError, match="seconds since the previous sample"):
        Gyro().step(Gyro().start(), reading(*LIVE, dt="0.01"))


@pytest.mark.parametrize("name", FILTERS)
def test_the_state_has_the_bits_of_the_run(name):
    """No second normalisation, which would change the last bits of what a kernel gave."""
    log = noisy_swing()
    filt = filter_by_name(name)
    state = filt.start(Start.of(log))
    whole = filt.run(log[:300])
    for i in range(300):
        state = filt.step(state, log.sample(i))
        assert np.array_equal(filt.belief(state).q_nb, whole.q_nb[i])
    assert len(state.numbers) > OWN


# ---------------------------------------------------------------- steps that are too long, and numbers too large


def test_a_log_slower_than_the_filter_follows_is_one_event():
    log = ideal(swing(duration_s=60.0), 1.0)
    (event,) = Mahony().run(log).events
    assert event.kind == "gap" and "longest_step_s" in event.text
    assert (event.t_s, event.until_s) == (log.t[0], log.t[-1])
    assert Mahony(longest_step_s=2.0).run(log).events == ()


def test_a_lost_attitude_is_told_as_that():
    log = noisy_swing()
    with pytest.raises(InputError, match="lost its attitude at sample"):
        Mahony(inclination_gain=1e308, bias_gain=1e308).run(log)
