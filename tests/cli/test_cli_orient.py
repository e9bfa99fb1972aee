"""strapdown orient, as a user runs it."""

import json
from dataclasses import replace

import numpy as np
import pytest

from helpers import command
from orientation_cases import G, ideal, over_the_top, swing
from strapdown import io
from strapdown.calibration.calibration import Calibration, Correction, Found
from strapdown.cli.orient.log import Prepared, filter_for, uncalibrated
from strapdown.io.solutions.file import read_solution
from strapdown.motion import Rest
from strapdown.orientation.catalogue import FILTERS
from strapdown.orientation.mahony import Mahony
from strapdown.orientation.mekf import Mekf
from strapdown.sensors.parts.part import load_part
from strapdown.types import Recording


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.parquet"
    io.write(path, {"imu": ideal(swing())})
    return str(path)


def test_all_filters_side_by_side_with_errors_and_files(log, tmp_path):
    out = tmp_path / "out"
    said = command("orient", log, "--compare", "all", "-o", str(out), "--json")
    assert said.code == 0, said.err
    document = json.loads(said.out)
    assert set(document["filters"]) == set(FILTERS)
    assert document["axes"] == 9
    for name, found in document["filters"].items():
        if name != "paper-b":
            assert found["rmse"]["total_deg"] < 5.0, name  # perfect readings of a gentle motion
        solution = read_solution(out / f"{name}.csv")
        assert solution.q_nb[-1].tolist() == found["last_quaternion_wxyz"]
    angles = np.genfromtxt(out / "angles.csv", delimiter=",", names=True)
    assert len(angles) == len(io.read_one(log))
    assert (out / "orientation.png").read_bytes().startswith(b"\x89PNG")


def test_all_is_all_in_any_case(log):
    said = command("orient", log, "--compare", "ALL", "--json")
    assert set(json.loads(said.out)["filters"]) == set(FILTERS)


def test_the_log_is_never_written_over(tmp_path):
    for name in ("mahony.csv", "angles.csv"):
        io.write(tmp_path / name, {"imu": ideal(swing())})
        before = (tmp_path / name).read_bytes()
        said = command("orient", tmp_path / name, "--filter", "mahony", "-o", tmp_path / "." / "x" / "..")
        assert said.code == 2 and "this command reads it" in said.err
        assert (tmp_path / name).read_bytes() == before
        (tmp_path / name).unlink()
    assert list(tmp_path.iterdir()) == []
    io.write(tmp_path / "log.csv", {"imu": ideal(swing())})
    (tmp_path / "mahony.csv").symlink_to(tmp_path / "log.csv")
    said = command("orient", tmp_path / "log.csv", "--filter", "mahony", "-o", tmp_path)
    assert said.code == 2 and "this command reads it" in said.err


def test_six_axes_are_turned_to_the_truth_for_the_errors_only(log, tmp_path):
    """The truth begins at yaw 86 deg, the filter at 0: files and JSON keep what the filter stated."""
    arguments = ("orient", log, "--filter", "mahony", "--axes", "6", "-o", tmp_path / "out", "--json")
    found = json.loads(command(*arguments).out)["filters"]["mahony"]
    recording = io.read_one(log)
    plain = Mahony(magnetometer=False).run(recording)
    assert np.array_equal(read_solution(tmp_path / "out" / "mahony.csv").q_nb, plain.q_nb)
    assert found["last_quaternion_wxyz"] == plain.q_nb[-1].tolist()
    angles = np.genfromtxt(tmp_path / "out" / "angles.csv", delimiter=",", skip_header=1)
    assert abs(angles[0, 3]) < 1e-6 and abs(angles[0, 6] - np.rad2deg(1.5)) < 1e-6  # print rounding
    assert found["rmse"]["heading_deg"] < 2.0


# ---------------------------------------------------------------- what a log or its calibration lacks


def tumbled(hard_iron_ut=(0.0, 0.0, 0.0)):
    recording = ideal(over_the_top())
    return replace(recording, mag_s=recording.mag_s + np.array(hard_iron_ut))


def notes_of(path, *arguments):
    said = command("orient", path, "--filter", "mahony", "--json", *arguments)
    assert said.code == 0, said.err
    return " | ".join(json.loads(said.out)["notes"])


def test_hard_iron_is_told_where_the_log_shows_it(tmp_path):
    for name, recording in (("good", tumbled()), ("iron", tumbled((22.0, -15.0, 9.0)))):
        io.write(tmp_path / f"{name}.parquet", {"imu": recording})
    assert "magnetometer" not in notes_of(tmp_path / "good.parquet")
    assert "calibrate magnetometer" in notes_of(tmp_path / "iron.parquet")
    assert "magnetometer" not in notes_of(tmp_path / "iron.parquet", "--axes", "6")
    assert uncalibrated(ideal(Rest(duration_s=3.0))) == []  # one direction shows nothing
    assert len(uncalibrated(tumbled((22.0, -15.0, 9.0)))) == 1  # as strapdown navigate asks


def test_readings_rejected_most_of_the_time_are_reported(tmp_path):
    """Readings in motion under half of their gravity: reported, and rejected by a filter that knows gravity."""
    io.write(tmp_path / "log.parquet", {"imu": ideal(swing())[256:1792]})
    said = command("orient", tmp_path / "log.parquet", "--filter", "mekf", "--gravity", "5", "--json")
    document = json.loads(said.out)
    assert "where gravity is 5 m/s2" in said.err
    assert document["filters"]["mekf"]["acc_rejected_share"] > 0.5
    assert any("% of the accelerometer's readings" in note and "rejected" in note for note in document["notes"])


def test_the_moons_gravity_reaches_the_filter(tmp_path):
    n = 2000
    readings = six_axes(n, scale=1.62 / G)
    for meta, arguments in (({"gravity_m_s2": 1.62}, ()), ({}, ("--gravity", "1.62"))):
        io.write(tmp_path / "moon.parquet", {"imu": Recording(0.01 * np.arange(n), **readings, meta=meta)})
        said = command("orient", tmp_path / "moon.parquet", "--filter", "mekf", "--json", *arguments)
        assert said.code == 0, said.err
        document = json.loads(said.out)
        assert document["filters"]["mekf"]["acc_rejected_share"] < 0.01
        assert not any("calibrate it" in note for note in document["notes"])


def test_a_log_slower_than_the_filter_is_one_note(tmp_path):
    io.write(tmp_path / "slow.parquet", {"imu": ideal(swing(duration_s=60.0), 1.0)})
    notes = notes_of(tmp_path / "slow.parquet")
    assert notes.count("longest_step_s") == 1 and "no samples for" not in notes


# ---------------------------------------------------------------- noise from a part and from a calibration


def known_to(level, turn, residual=None, **more):
    acc = Correction("m/s2", Found("test", residual_rms=residual), sigma={"bias": np.full(3, level)})
    gyr = Correction("rad/s", Found("test"), sigma={"bias": np.full(3, 1e-4), "matrix": np.full((3, 3), turn)})
    calibration = Calibration({"accelerometer": acc, "gyroscope": gyr})
    recording = ideal(swing())
    return Prepared(recording, None, True, G, more.get("part"), more.get("noise"), calibration)


def test_a_calibration_says_what_it_leaves_over():
    log = known_to(level=0.03, turn=1e-4, residual=0.04)
    filt = filter_for("mekf", log, 10.0, False)
    assert filt.tilt_floor_rad == pytest.approx(0.05 / G)  # 3-4-5
    assert filt.gyr_turn == pytest.approx(np.sqrt(3.0) * 1e-4)
    assert (filt.gravity, filt.bias_start_dps) == (G, Mekf().bias_start_dps)
    assert filt.declination_rad == pytest.approx(np.radians(10.0))
    assert any("residual errors" in note for note in log.notes)
    assert filter_for("mekf", known_to(1e-6, 1e-4), 0.0, False).tilt_floor_rad == Mekf().tilt_floor_rad
    assert filter_for("mahony", known_to(0.03, 1e-4), 0.0, False) == Mahony(magnetometer=True)


def test_a_part_says_its_noise_and_a_calibration_adds_to_its_wander():
    noise = load_part("mpu-9250").nominal().triads()
    plain = Mekf.for_triads(noise, gravity=G)
    log = known_to(0.03, 1e-4, residual=0.04, part="MPU-9250", noise=noise)
    filt = filter_for("mekf", log, 0.0, False)
    assert filt.gyr_white == plain.gyr_white != Mekf().gyr_white
    assert filt.tilt_floor_rad == pytest.approx(np.hypot(plain.tilt_floor_rad, 0.05 / G))
    assert 0.1 <= filt.bias_start_dps < Mekf().bias_start_dps
    assert any("noise of MPU-9250, which the log names" in note for note in log.notes)
    bare = replace(log, calibration=None, notes=[])
    assert filter_for("mekf", bare, 0.0, True).gyr_turn == Mekf().gyr_turn  # unknown until calibrated
    assert any("as asked for" in note for note in bare.notes)


def test_off_line_and_six_axes(log):
    said = command("orient", log, "--filter", "lodestar", "--smooth", "--axes", "6", "--json")
    assert said.code == 0, said.err
    document = json.loads(said.out)
    assert document["axes"] == 6
    assert document["filters"]["lodestar"]["smoothed"]
    assert document["filters"]["lodestar"]["rmse"]["total_deg"] < 2.0


def test_the_list_says_when_to_use_which():
    said = command("orient", "--list", "--json")
    assert {item["name"] for item in json.loads(said.out)} == set(FILTERS)
    assert all(item["what"] and item["when"] for item in json.loads(said.out))
    default = [item["name"] for item in json.loads(said.out) if "by default" in item["when"]]
    assert default == ["lodestar"]


def six_axes(n=400, scale=1.0):
    rng = np.random.default_rng(1)
    acc = scale * (np.array([0.0, 0.0, G]) + 0.05 * rng.standard_normal((n, 3)))
    return {"gyr_s": 0.001 * rng.standard_normal((n, 3)), "acc_s": acc}


@pytest.mark.parametrize(
    ("readings", "arguments", "word"),
    [
        (six_axes(), ("--axes", "9"), "no magnetometer"),
        (
            {**six_axes(), "mag_s": np.zeros((400, 3))},
            (),
            "no field in 100 % of the samples; check that it is connected, or work without it; options: --axes 6",
        ),
        (six_axes(scale=1.0 / G), (), "the readings look like g"),
        (six_axes(3), (), "3 samples"),
        ({"acc_s": six_axes()["acc_s"]}, (), "no gyroscope"),
        (six_axes(), ("--filter", "kalman"), "valid names"),
        (six_axes(), ("--compare", "vqf,kalman"), "valid names"),
        (six_axes(), ("--axes", "7"), "give 6, 9 or auto"),
        (six_axes(), ("--part", "MPU-9999"), "MPU-9999"),
        (six_axes(), ("--calibration", "none.toml"), "none.toml"),
        (six_axes(), ("--compare", ""), "names no filter"),
        (six_axes(), ("--compare", " , "), "names no filter"),
        (six_axes(), ("--declination", "200"), "from -180 to 180"),
        (six_axes(), ("--declination", "nan"), "from -180 to 180"),
        (six_axes(), ("--gravity", "0.01"), "--gravity is 0.01"),
        (six_axes(scale=1.62 / G), (), "gravity_m_s2"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(tmp_path, readings, arguments, word):
    n = len(readings["acc_s"])
    io.write(tmp_path / "log.parquet", {"imu": Recording(0.01 * np.arange(n), **readings)})
    said = command("orient", str(tmp_path / "log.parquet"), *arguments, "-o", str(tmp_path / "out"))
    assert said.code == 2
    assert word in said.err
    assert len(said.err.strip().splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_bad_rows_are_one_sentence(tmp_path):
    header = "t [s]," + ",".join(f'"{k}_{a} [{u}, s]"' for k, u in (("gyr", "rad/s"), ("acc", "m/s2")) for a in "xyz")
    rows = [f"{0.01 * i},0,0,0,0,0,9.81" for i in range(50)]
    for broken, word in ((f"{0.01 * 20},0,nan,0,0,0,9.81", "not finite"), ("0.05,0,0,0,0,0,9.81", "goes backward")):
        lines = [header, *rows]
        lines[21] = broken
        (tmp_path / "log.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        said = command("orient", str(tmp_path / "log.csv"))
        assert said.code == 2
        assert word in said.err


def test_without_log_the_command_says_what_it_needs():
    said = command("orient")
    assert said.code == 2
    assert "--list" in said.err
