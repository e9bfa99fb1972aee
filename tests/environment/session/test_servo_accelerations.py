"""An accelerometer on a vehicle with servos: its readings add up to the change of velocity."""

import numpy as np
import pytest
from tests.environment.session.session_cases import short

from strapdown.environment.session.changing_sensors import use_sensors, with_sensor
from strapdown.environment.session.recording.record import recording_of
from strapdown.environment.session.session import Session
from strapdown.rotation import q_rotate

PILOT = [
    {"at_s": 0.1, "power": True},
    {"at_s": 0.2, "calibrate": True},
    {"at_s": 2.2, "calibrate": False},
    {"at_s": 2.5, "drive": 0.6},
    {"at_s": 3.5, "drive": 0.0},
]


@pytest.fixture(scope="module")
def drive():
    """One row for each physics step: an ideal sensor at 1 kHz."""
    sensor = {"name": "imu", "rate_hz": 1000.0, "magnetometer": True}
    session = Session(short(3.2, "rover", pilot=PILOT, vibration={}, sensor=[sensor], odometer=[{"name": "odometer"}]))
    session.run()
    return recording_of(session).recordings["imu"].between(2.4, 3.2)


def test_the_sum_of_the_readings_is_the_speed(drive):
    speed = drive.truth.v_n[:, 0]
    summed = np.cumsum(q_rotate(drive.truth.q_nb, drive.acc_s)[1:, 0]) * 1e-3  # gravity has no part along x
    assert speed[-1] > 0.17  # it has come to speed
    assert np.abs(summed - (speed[1:] - speed[0])).max() < 1e-9  # roundoff


def test_the_truth_has_the_same_acceleration(drive):
    a_n = np.diff(drive.truth.v_n, axis=0) * 1e3
    assert np.abs(drive.truth.a_n[1:] - a_n).max() < 1e-9  # roundoff of 1 m/s over 1 ms


def test_rewound_it_goes_on_to_the_bit():
    session = Session(short(3.0, "rover", pilot=PILOT))
    session.run()
    before = session.sensors[0].log.rows().tobytes()
    session.rewind(2.61)
    session.run()
    assert session.sensors[0].log.rows().tobytes() == before


def test_a_sensor_that_is_added_reads_too():
    session = Session(short(3.0, "rover", pilot=PILOT))
    session.advance(1.0)
    use_sensors(session, with_sensor(session.scenario, "sensor", {"name": "second", "rate_hz": 100.0}))
    session.run()
    assert len(recording_of(session).recordings["second"]) == 200
