"""A session that forgets old rows, and one whose sensors change while it runs."""

import numpy as np
import pytest

from strapdown.environment.session.changing_sensors import use_sensors, with_sensor, without_sensor
from strapdown.environment.session.commands import SetConsole
from strapdown.environment.session.recording.growing import GrowingRows
from strapdown.environment.session.recording.record import recording_of
from strapdown.environment.session.scenario.file import read_scenario
from strapdown.environment.session.session import Session
from strapdown.errors import InputError


def test_rows_are_kept_cut_and_forgotten_as_in_a_list():
    rng = np.random.default_rng(5)
    rows, reference, first = GrowingRows(2), np.empty((0, 2)), 0
    for _ in range(400):
        what = rng.integers(4)
        if what == 0:
            new = rng.random((rng.integers(1, 3000), 2))
            rows.extend(new)
            reference = np.concatenate([reference, new])
        elif what == 1:
            new = rng.random(2)
            rows.append(new)
            reference = np.concatenate([reference, new[None]])
        elif what == 2 and len(reference) > first:
            first = max(first, len(reference) - int(rng.integers(1, 9000)))
            rows.forget(first)
        elif what == 3 and len(reference) > first:
            reference = reference[: int(rng.integers(first, len(reference) + 1))]
            rows.cut(len(reference))
        assert len(rows) == len(reference)
        np.testing.assert_array_equal(rows.rows(), reference[first:])
        newest = rows.newest()
        if len(reference) > first:
            np.testing.assert_array_equal(newest, reference[-1])


def test_what_is_kept_is_the_end_of_the_whole_recording():
    whole, bounded = Session(read_scenario("quadcopter")), Session(read_scenario("quadcopter"))
    bounded._history = type(bounded._history)(maxlen=5)  # rewinds keep what they need
    for _ in range(20):
        bounded.advance(1.0)
        bounded.forget_before(bounded.t_s - 6.0)
    whole.advance(20.0)
    a, b = recording_of(whole), recording_of(bounded)
    n = len(b.t)
    assert 5.0 < b.t[-1] - b.t[0] < 7.5
    np.testing.assert_array_equal(b.t, a.t[-n:])
    for name, values in b.signals.items():
        np.testing.assert_array_equal(values, a.signals[name][-n:])
    np.testing.assert_array_equal(b.truth.q_nb, a.truth.q_nb[-n:])
    log, full = b.recordings["imu"], a.recordings["imu"]
    np.testing.assert_array_equal(log.gyr_s, full.gyr_s[-len(log) :])
    bounded.rewind(bounded.t_s - 3.0)
    bounded.advance(3.0)
    np.testing.assert_array_equal(bounded.truth, whole.truth)


def test_a_new_sensor_changes_no_bit_of_the_others():
    plain, more = Session(read_scenario("quadcopter")), Session(read_scenario("quadcopter"))
    plain.advance(8.0)
    more.advance(3.0)
    table = {"name": "second", "part": "MPU-6050", "rate_hz": 100.0, "position_m": [0.1, 0.0, 0.0]}
    use_sensors(more, with_sensor(more.scenario, "sensor", table))
    more.advance(3.0)
    assert len(recording_of(more).recordings["second"]) == pytest.approx(300, abs=2)
    use_sensors(more, without_sensor(more.scenario, "second"))
    more.advance(2.0)
    np.testing.assert_array_equal(more.truth, plain.truth)
    a, b = recording_of(plain).recordings["imu"], recording_of(more).recordings["imu"]
    np.testing.assert_array_equal(a.acc_s, b.acc_s)
    with pytest.raises(InputError, match="history begins"):
        more.rewind(4.0)
    more.rewind(7.0)


def test_a_sensor_that_the_diagram_needs_stays():
    session = Session(read_scenario("quadcopter"))
    session.advance(1.0)
    with pytest.raises(InputError, match="accelerometer"):
        use_sensors(session, without_sensor(session.scenario, "imu"))
    session.advance(1.0)
    assert [sensor.name for sensor in session.sensors] == ["imu", "altimeter", "receiver"]


def test_sticks_make_no_events_and_old_commands_are_dropped():
    session = Session(read_scenario("quadcopter"))
    session._history = type(session._history)(maxlen=4)
    for i in range(200):
        session.act(SetConsole({"roll": 0.001 * i}))
        session.advance(0.05)
    assert not [event for event in session.events if "roll" in str(event.data)]
    assert len(session._done) <= 4 * 20 + 20  # of the seconds to which a rewind can go
