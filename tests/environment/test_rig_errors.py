"""Parts, models, temperature, magnetism, inclinometers and odometers in rigs."""

import copy
from pathlib import Path

import numpy as np
import pytest

from strapdown.earth_magnetism import magnetic_field
from strapdown.environment.rig import rig_from
from strapdown.environment.simulate import simulate
from strapdown.errors import InputError
from strapdown.rotation import q_conj, q_rotate
from strapdown.sensors.parts.model_file import write_model
from strapdown.sensors.parts.part import load_part
from strapdown.sensors.triad import Triad

CIRCLE = {
    "duration_s": 4.0,
    "seed": 3,
    "motion": {"kind": "circle", "radius_m": 3.0, "speed_m_s": 1.0, "duration_s": 5.0},
    "physics": {"gravity": "earth", "latitude_deg": 50.0},
    "sensor": [{"name": "imu", "link": "body", "rate_hz": 100.0, "part": "ICM-20948"}],
}


def run(values, folder=Path()):
    return simulate(rig_from(values, folder / "rig.toml")).recordings


def changed(**fields):
    values = copy.deepcopy(CIRCLE)
    values["sensor"][0].update(fields)
    return values


def test_a_part_brings_its_instruments_and_the_run_its_own_specimen():
    recording = run(CIRCLE)["imu"]
    assert recording.acc_s is not None and recording.gyr_s is not None and recording.mag_s is not None
    assert recording.meta["part"] == "ICM-20948" and recording.meta["seed"] == 3
    assert not np.array_equal(recording.gyr_s, run({**CIRCLE, "seed": 4})["imu"].gyr_s)
    assert np.array_equal(recording.gyr_s, run(CIRCLE)["imu"].gyr_s)


def test_adding_a_sensor_changes_no_other_and_two_of_a_kind_are_two_specimens():
    both = copy.deepcopy(CIRCLE)
    both["sensor"].append({**both["sensor"][0], "name": "imu 2"})
    two, one = run(both), run(CIRCLE)
    assert np.array_equal(two["imu"].acc_s, one["imu"].acc_s)
    difference = (two["imu"].gyr_s - two["imu 2"].gyr_s).mean(axis=0)
    assert np.abs(difference).max() > 1e-3  # offsets of some deg/s apart; noise of the mean is 1e-5


def test_specimen_seed_and_range_choose_the_specimen():
    a, b = (run({**changed(specimen_seed=11), "seed": seed})["imu"] for seed in (0, 1))
    offset = load_part("ICM-20948").draw(11, rate_hz=100.0).gyroscope.bias
    for recording in (a, b):  # the same specimen, other noise: offsets agree, samples do not
        found = (recording.gyr_s - recording.truth.w_nb_b).mean(axis=0)
        assert np.abs(found - offset).max() < 0.01  # cross-axis 2 % of 0.33 rad/s, and noise
    assert not np.array_equal(a.gyr_s, b.gyr_s)
    wide = run(changed(range={"accelerometer": 16.0}))["imu"]
    steps = np.diff(np.unique(wide.acc_s[:, 2])).min()
    assert abs(steps / (9.80665 / 2048.0) - 1.0) < 1e-6  # counts of the 16 g range


def test_a_model_file_and_the_matlab_and_paper_modes(tmp_path):
    triads = {"accelerometer": Triad("m/s2", bias=(0.5, 0.0, 0.0)), "gyroscope": Triad("rad/s", bias=(0.0, 0.1, 0.0))}
    write_model(tmp_path / "own.toml", triads, {})
    values = changed(model="own.toml")
    del values["sensor"][0]["part"]
    for mode in ("physical", "matlab", "paper"):
        values["sensor"][0]["errors"] = mode
        recording = run(values, tmp_path)["imu"]
        assert recording.meta["errors"] == mode and recording.mag_s is None
        assert np.allclose(recording.gyr_s - recording.truth.w_nb_b, [0.0, 0.1, 0.0], atol=1e-12)


@pytest.mark.parametrize("mode", ["matlab", "paper"])
def test_a_part_in_another_model_leaves_out_what_the_model_lacks(mode):
    recording = run(changed(part="MPU-6050", errors=mode))["imu"]
    assert 0.0 < np.abs(recording.acc_s - run(changed(part="MPU-6050"))["imu"].acc_s).max() < 1.0
    assert "nonlinearity" in recording.meta["left_out"]["gyroscope"]


def test_an_ideal_magnetometer_reads_the_field_of_the_place():
    values = changed(magnetometer=True)
    del values["sensor"][0]["part"]
    values["magnetism"] = {"longitude_deg": 10.0, "year": 2026.0}
    recording = run(values)["imu"]
    field_n = magnetic_field("earth", 50.0, 10.0, 0.0, 2026.0)
    assert np.allclose(q_rotate(recording.truth.q_nb, recording.mag_s), field_n, atol=1e-9)
    values["magnetism"] = {
        "field_ut": [0.0, 20.0, -40.0],
        "dipole": [{"moment_am2": [0, 0, 5.0], "position_m": [0, 6, 0]}],
    }
    near = run(values)["imu"]
    assert np.ptp(np.linalg.norm(near.mag_s, axis=1)) > 0.001  # the strength changes on the way past the magnet
    values["sensor"][0].update(hard_iron_ut=[10.0, 0.0, 0.0], soft_iron=[[1.1, 0, 0], [0, 1, 0], [0, 0, 1]])
    iron = run(values)["imu"]
    assert np.allclose(iron.mag_s, near.mag_s * [1.1, 1.0, 1.0] + [10.0, 0.0, 0.0], atol=1e-12)


def test_a_part_without_a_magnetometer_takes_an_ideal_one_beside_it():
    recording = run(changed(part="MPU-6050", magnetometer=True))["imu"]
    field_n = magnetic_field("earth", 50.0, 0.0, 0.0, 2026.0)
    assert np.allclose(q_rotate(recording.truth.q_nb, recording.mag_s), field_n, atol=1e-9)


def test_a_slower_magnetometer_repeats_its_reading():
    recording = run(changed(part="MPU-9250", rate_hz=400.0))["imu"]  # its AK8963 ends at 100 Hz
    blocks = recording.mag_s[: len(recording) // 4 * 4].reshape(-1, 4, 3)
    assert np.array_equal(blocks, np.repeat(blocks[:, :1], 4, axis=1))
    assert np.mean(np.diff(recording.acc_s[:, 2]) != 0.0) > 0.9  # the accelerometer does not


def test_a_specimen_reads_alike_as_part_and_as_model_and_the_log_names_it(tmp_path):
    drawn = run(changed(part="MPU-9250", specimen_seed=5))["imu"]
    assert drawn.meta["specimen_seed"] == 5 and drawn.meta["range"]["accelerometer"] == "2 g"
    specimen = load_part("MPU-9250").draw(5, rate_hz=100.0)
    write_model(tmp_path / "own.toml", specimen.triads(), specimen.meta())
    values = changed(model="own.toml")
    del values["sensor"][0]["part"]
    again = run(values, tmp_path)["imu"]
    for name in ("acc_s", "gyr_s", "mag_s"):
        assert np.array_equal(getattr(drawn, name), getattr(again, name)), name


def test_there_is_no_field_on_mars():
    values = copy.deepcopy(CIRCLE)
    values["physics"] = {"gravity": "mars"}
    with pytest.raises(InputError, match=r'sensor "imu".*no magnetic field.*Mars'):
        run(values)


def test_self_heating_and_a_series_of_temperatures():
    heating = {"ambient_c": 20.0, "rise_c": 10.0, "time_constant_s": 2.0}
    recording = run(changed(temperature_c=heating))["imu"]
    assert np.allclose(recording.temperature, 20.0 + 10.0 * (1 - np.exp(-recording.t / 2.0)), atol=1e-9)
    series = {"times_s": [0.0, 4.0], "celsius": [20.0, 30.0]}
    recording = run(changed(temperature_c=series))["imu"]
    assert np.allclose(recording.temperature, 20.0 + 2.5 * recording.t, atol=1e-9)


def test_inclinometer_and_odometer():
    values = copy.deepcopy(CIRCLE)
    values["sensor"] = []
    values["inclinometer"] = [{"name": "tilt", "link": "body", "rate_hz": 20.0, "bias_deg": [1.0, 0.0]}]
    values["odometer"] = [
        {"name": "wheel", "link": "body", "rate_hz": 50.0, "radius_m": 0.1, "ticks_per_revolution": 64}
    ]
    out = run(values)
    tilt, wheel = out["tilt"], out["wheel"]
    force = q_rotate(q_conj(tilt.truth.q_nb), np.add(tilt.truth.a_n, [0, 0, 9.81]))
    assert (
        np.abs(tilt.tilt_s[:, 0] - np.arctan2(force[:, 0], np.hypot(force[:, 1], force[:, 2])) - np.radians(1)).max()
        < 1e-6
    )
    tick = 2 * np.pi * 0.1 / 64
    assert abs(wheel.odometer[-1] - 4.0) <= tick  # 1 m/s for 4 s, whole ticks
    assert np.allclose(wheel.odometer / tick, np.round(wheel.odometer / tick), atol=1e-9)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"part": "MPU-605"}, ['sensor "imu"', "MPU-6050"]),
        ({"model": "x.toml"}, ["part and model"]),
        ({"part": None, "model": "none.toml"}, ["none.toml"]),
        ({"range": {"accelerometer": 3.0}}, ['sensor "imu"', "2"]),
        ({"range": {"thermometer": 3.0}}, ["thermometer", "accelerometer"]),
        ({"increments": True}, ["increments"]),
        ({"errors": "wild"}, ["physical"]),
        ({"part": "MPU-6050", "temperature_c": 200.0}, ['sensor "imu"', "200", "85"]),
        ({"temperature_c": {"ambient_c": 20.0}}, ["rise_c"]),
        ({"specimen_seed": -1}, ["specimen_seed"]),
        ({"part": None, "errors": "matlab"}, ["ideal sensor"]),
        ({"part": None, "temperature_c": 40.0}, ["ideal sensor"]),
        ({"part": "MPU-6050", "hard_iron_ut": [1.0, 0.0, 0.0]}, ['sensor "imu"', "no magnetometer"]),
        ({"part": None, "specimen_seed": 1}, ["name the part"]),
    ],
    ids=str,
)
def test_wrong_errors_are_told_in_one_sentence(fields, expected):
    values = changed(**{k: v for k, v in fields.items() if v is not None})
    for name in [name for name, value in fields.items() if value is None]:
        del values["sensor"][0][name]
    with pytest.raises(InputError) as caught:
        run(values)
    message = str(caught.value)
    assert "\n" not in message
    for part in expected:
        assert part in message, message
