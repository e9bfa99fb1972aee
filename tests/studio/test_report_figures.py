"""Figures of the report that come from readings: rest, noise, errors; and files that the page opens."""

import zipfile
from types import SimpleNamespace

import numpy as np
import pytest

from strapdown.environment.session.recording.outcome import errors_of, figures
from strapdown.environment.session.recording.record import recording_of
from strapdown.environment.session.scenario.file import read_scenario
from strapdown.environment.session.session import Session
from strapdown.errors import InputError
from strapdown.orientation.catalogue import FILTERS
from strapdown.studio.server.files_of_user import unpacked
from strapdown.studio.simulation.other_filters import other_filters
from strapdown.studio.simulation.report import _error_row, rest_of, white_noise


def test_white_noise_of_readings_at_rest_is_found_with_its_spread():
    rng = np.random.default_rng(1)
    hz, density = 500.0, 0.003
    t = np.arange(0.0, 20.0, 1.0 / hz)
    ratios = []
    for _ in range(20):
        readings = 0.4 + density * np.sqrt(hz) * rng.standard_normal((len(t), 3))
        found, sigma = white_noise(t, readings)
        ratios.append((found - density) / sigma)
    # 20 values of unit variance: their mean has a sigma of 0.22, their spread one of 16 %
    assert abs(np.mean(ratios)) < 4 * 0.22
    assert 0.5 < np.std(ratios) < 1.6


def test_a_constant_reading_and_a_short_one_have_no_noise():
    t = np.arange(0.0, 5.0, 0.01)
    assert white_noise(t, np.ones((len(t), 3))) is None
    assert white_noise(t[:50], np.random.default_rng(2).standard_normal((50, 3))) is None


def _run(speed, power, events=()):
    t = 0.1 * np.arange(len(speed))
    v = np.zeros((len(speed), 3))
    v[:, 0] = speed
    signals = {"console.power": np.asarray(power, dtype=float)}
    return SimpleNamespace(t=t, truth=SimpleNamespace(v_n=v), signals=signals, events=events)


def test_rest_is_the_longest_one_with_power_after_the_last_change_of_a_sensor():
    speed = np.r_[np.zeros(40), np.ones(10), np.zeros(60)]
    power = np.r_[np.zeros(20), np.ones(90)]
    begin, end = rest_of(_run(speed, power))
    assert (begin, end) == pytest.approx((5.5, 10.9))  # 0.5 s after it came to rest, until the end
    edit = SimpleNamespace(kind="sensor", t_s=10.5)
    assert rest_of(_run(speed, power, (edit,))) is None
    assert rest_of(_run(np.ones(50), np.ones(50))) is None
    armed = _run(speed, power)
    armed.signals["console.arm"] = np.r_[np.zeros(80), np.ones(30)]  # rotors turn from 8.0 s on
    assert rest_of(armed) == pytest.approx((5.5, 7.9))


def test_other_filters_are_compared_on_the_readings_of_the_run():
    session = Session(read_scenario("quadcopter"), seed=2)
    session.advance(20.0)
    run = recording_of(session)
    gravity = session.surroundings.scene.g()
    rest = rest_of(run, 7.0)  # armed at 7 s
    assert rest == pytest.approx((1.0, 7.0), abs=0.01)
    errors = errors_of(run)
    found = other_filters(run, errors, rest, gravity)
    assert (found.from_s, found.to_s) == pytest.approx((7.0, 20.0), abs=0.01)
    rows = {row.name: row for row in found.rows}
    assert set(rows) == {"flown", *FILTERS} and rows["flown"].flown
    assert rows["flown"].roll == pytest.approx(figures(run)["roll_rmse_deg"])
    # calibrated at rest, the gyroscope alone drifts by less than a degree in 13 s; as read it is 5 deg/s off
    assert rows["gyro"].roll < 1.0 and rows["gyro"].pitch < 1.0
    assert rows["mekf"].roll < 1.0 and rows["mekf"].heading is not None
    assert other_filters(run, errors, None, gravity) is None  # no rest: nothing to calibrate with


def test_errors_inside_three_sigma_are_counted():
    error = np.array([0.1, -0.2, 4.0, 0.0])
    row = _error_row("Roll", "deg", error, np.ones(4))
    assert row.inside == 0.75
    assert row.largest == 4.0
    assert _error_row("Height", "m", error, None).inside is None


def test_a_downloaded_recording_is_unpacked_and_other_zip_files_are_refused(tmp_path):
    good, bad, broken = (tmp_path / f"{name}.zip" for name in ("good", "bad", "broken"))
    with zipfile.ZipFile(good, "w") as file:
        file.writestr("recording/recording.parquet", b"numbers")
    with zipfile.ZipFile(bad, "w") as file:
        file.writestr("../recording.txt", b"x")
    broken.write_bytes(b"PK\x03\x04 no zip")
    into = tmp_path / "uploads"
    into.mkdir()
    assert unpacked(good, into).read_bytes() == b"numbers"
    with pytest.raises(InputError, match=r"no recording\.parquet"):
        unpacked(bad, into)
    with pytest.raises(InputError, match="above"):
        unpacked(good, into, most_bytes=3)
    with pytest.raises(InputError, match="not a readable ZIP"):
        unpacked(broken, into)
    assert [path.name for path in into.iterdir()] == ["good.parquet"]
