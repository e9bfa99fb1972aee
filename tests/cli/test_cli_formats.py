"""Files of other programs at the command line, and recorded robots end to end."""

import json

import numpy as np
import pytest

from format_cases import recording, track
from helpers import command, shared_data
from strapdown import io
from strapdown.io.formats.writers import writer_of


def answer(*arguments):
    said = command(*arguments, "--json")
    assert said.code == 0, said.err
    return json.loads(said.out)


@pytest.fixture(scope="module")
def px4():
    return shared_data("px4_ulog") / "sample.ulg"


@pytest.fixture(scope="module")
def jackal():
    return shared_data("jackal_bag") / "jackal.bag"


def test_a_flight_of_px4_end_to_end(px4, tmp_path):
    """Against the autopilot's own filter, which had the same sensors. Measured: 0.42 deg total (0.40 heading, 0.14
    inclination) by orient, 0.45 deg by navigate, rms over 69 s; the limits are twice that. It had no position."""
    seen = answer("look", px4)
    assert seen["format"] == "PX4 ULog" and "north-east-down" in seen["frames"]
    assert seen["tracks"]["estimate"]["holds"] == "attitude"
    assert abs(seen["sensors"]["sensor_combined"]["rate_hz"] - 250.0) < 0.5
    answer("orient", px4, "-o", tmp_path / "attitude")
    errors = answer("evaluate", tmp_path / "attitude" / "lodestar.csv", px4)
    assert errors["samples"] > 17000 and errors["compared_s"] > 68.0
    assert errors["attitude_deg"]["rms"] < 0.84 and errors["inclination_deg"]["rms"] < 0.28
    answer("navigate", px4, "--vehicle", "free", "-o", tmp_path / "path")
    errors = answer("evaluate", tmp_path / "path" / "eskf.csv", px4)
    assert errors["attitude_deg"]["rms"] < 0.9
    assert f"strapdown navigate {px4} -o nav" in command("look", px4).out  # a heading of 0 would be 34 deg off


def test_a_drive_of_a_jackal_end_to_end(jackal, tmp_path):
    """Against the robot's own attitude and odometry. Measured: inclination 1.0 deg rms; heading 0.40 deg after the
    offset of six axes, since the robot too integrates its gyroscope. Its odometry has wheels that slip in every turn:
    the path agrees in length alone, 92.4 m against 84.2 m."""
    seen = answer("look", jackal)
    assert seen["tracks"]["jackal_velocity_controller/odom"]["holds"] == "position, attitude, velocity"
    answer("orient", jackal, "-o", tmp_path / "attitude")
    errors = answer("evaluate", tmp_path / "attitude" / "lodestar.csv", jackal)
    assert errors["inclination_deg"]["rms"] < 2.0 and errors["heading_fitted_deg"]["rms"] < 0.8
    path = answer("navigate", jackal, "--heading", "90", "-o", tmp_path / "path")
    errors = answer("evaluate", tmp_path / "path" / "eskf.csv", jackal)
    assert abs(errors["path_length_m"] - 84.2) < 0.1 and errors["samples"] == 3059
    assert abs(path["filters"]["eskf"]["path_length_m"] / errors["path_length_m"] - 1.0) < 0.18
    said = command("evaluate", tmp_path / "path" / "eskf.csv", jackal, "--topic", "nothing")
    assert said.code == 2 and "it has imu/data, jackal_velocity_controller/odom" in said.err


@pytest.mark.parametrize("name", ["out.csv", "out.parquet", "out.mcap", "out.bag", "out.mat", "out"])
def test_convert_and_read_directly(tmp_path, name):
    """From our format to each and back: the readings are equal."""
    log = recording()
    io.write(tmp_path / "in.parquet", {"imu": log})
    target = tmp_path / name
    said = command("convert", tmp_path / "in.parquet", target, *(["--to", "ros2"] if name == "out" else []))
    assert said.code == 0, said.err
    assert f"written: {target}" in said.out
    said = command("convert", target, tmp_path / "back.parquet")
    assert said.code == 0, said.err
    back = io.read_one(tmp_path / "back.parquet")
    np.testing.assert_array_equal(back.gyr_s, log.gyr_s)
    np.testing.assert_array_equal(back.acc_s, log.acc_s)


def test_convert_states_what_a_format_cannot_hold(tmp_path, jackal):
    said = command("convert", jackal, tmp_path / "path.tum")
    assert said.code == 0 and "not written: recording imu/data" in said.out
    assert len(io.read_all(tmp_path / "path.tum").tracks["path"]) == 3060
    said = command("convert", jackal, tmp_path / "log.csv")
    assert "not written: track jackal_velocity_controller/odom: a .tum or .mcap file holds it" in said.out
    said = command("convert", jackal, tmp_path / "path.kitti")
    assert "not written: velocities of the track jackal_velocity_controller/odom" in said.out


def test_a_solution_becomes_a_trajectory(tmp_path, px4):
    assert command("orient", px4, "-o", tmp_path / "out").code == 0
    solution = tmp_path / "out" / "lodestar.csv"
    said = command("convert", solution, tmp_path / "path.tum")
    assert said.code == 2 and "no track with positions" in said.err
    said = command("convert", solution, tmp_path / "path.mcap")
    assert said.code == 0 and "not written: flags of the solution" in said.out
    found = io.read_all(tmp_path / "path.mcap").tracks["solution"]
    assert found.p_n is None and len(found) == 17070


def test_two_imus_are_listed_and_refused_without_a_topic(tmp_path):
    writer_of(tmp_path / "two.mcap").write(tmp_path / "two.mcap", {"a/imu": recording(), "b/imu": recording()}, {})
    seen = command("look", tmp_path / "two.mcap")
    assert "Sensor a/imu" in seen.out and f"orient {tmp_path / 'two.mcap'} --topic b/imu" in seen.out
    for words in (("orient",), ("navigate",), ("allan",), ("calibrate", "static")):
        output = ("-o", tmp_path / "cal.toml") if words[0] == "calibrate" else ()
        said = command(*words, tmp_path / "two.mcap", *output)
        assert said.code == 2 and "holds the sensors a/imu, b/imu; choose one with --topic" in said.err, said
    assert command("orient", tmp_path / "two.mcap", "--topic", "/b/imu", "--axes", "6").code == 0


def test_positions_alone_are_for_evaluate(tmp_path):
    lines = [f"$GPGGA,12351{k}.00,4807.03{k},N,01131.000,E,1,08,0.9,545.4,M,46.9,M,," for k in range(5)]
    sums = [f"{line}*{np.bitwise_xor.reduce(np.frombuffer(line[1:].encode(), np.uint8)):02X}" for line in lines]
    path = tmp_path / "gps.nmea"
    path.write_text("\n".join(sums))
    seen = command("look", path)
    assert "To compare a path with it: strapdown evaluate SOLUTION" in seen.out and "doubtful" not in seen.out
    for words in ("orient", "navigate", "allan"):
        said = command(words, path)
        assert said.code == 2 and "holds positions alone" in said.err, said


def test_the_noise_of_kalibr_in_and_out(tmp_path):
    """accelerometer_noise_density is N: white noise of N / sqrt(step) at each sample."""
    text = "accelerometer_noise_density: 1.86e-03\naccelerometer_random_walk: 4.33e-04\n"
    text += "gyroscope_noise_density: 1.87e-4\ngyroscope_random_walk: 2.66e-05\nrostopic: /imu0\nupdate_rate: 200.0\n"
    source = tmp_path / "imu.yaml"
    source.write_text(text)
    seen = answer("look", source)
    assert seen["noise"] == {
        "accelerometer": {"white": 1.86e-3, "walk": 4.33e-4},
        "gyroscope": {"white": 1.87e-4, "walk": 2.66e-5},
    }
    assert command("convert", source, tmp_path / "model.toml").code == 0
    assert "white_m_s2_rthz = [0.00186, 0.00186, 0.00186]" in (tmp_path / "model.toml").read_text()
    assert command("convert", tmp_path / "model.toml", tmp_path / "back.yaml").code == 0
    assert answer("look", tmp_path / "back.yaml")["noise"] == seen["noise"]
    assert command("convert", "MPU-6050", tmp_path / "part.yaml").code == 0
    nested = "".join(f"  {line}\n" for line in text.splitlines())
    source.write_text(f"%YAML:1.0\nimu0:\n{nested}")  # as OpenVINS has it
    assert answer("look", source)["noise"] == seen["noise"]
    source.write_text(f"imu0:\n{nested}imu1:\n{nested}")
    assert "has the noise of imu0, imu1; keep one of them" in command("look", source).err
    source.write_text(text.replace("1.87e-4", "fast"))
    said = command("look", source)
    assert said.code == 2 and "gyroscope_noise_density is 'fast'; give a number" in said.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("convert", "in.mcap", "out"), "states no format"),
        (("convert", "in.mcap", "out", "--to", "word"), '--to is "word"; valid: mcap, ros1, ros2'),
        (("convert", "in.mcap", "in.mcap"), "this command reads it"),
        (("convert", "in.mcap", "out.tum", "--topic", "no"), "has no no; it has imu, imu/fix, imu/truth, filter"),
        (("convert", "missing.mcap", "out.csv"), "missing.mcap does not exist"),
        (("convert", "in.mcap", "folder", "--to", "ros2"), "exists already"),
        (("evaluate", "in.mcap", "imu.mcap"), "holds the tracks imu/truth, filter; choose one of them, and write it"),
        (("convert", "in.mcap", "out.tum"), "holds the tracks imu/truth, filter; choose one of them, with --topic"),
    ],
)
def test_wrong_use_is_one_sentence(tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    log = recording()
    writer_of(tmp_path / "in.mcap").write(tmp_path / "in.mcap", {"imu": log}, {"filter": track()})
    from dataclasses import replace

    bare = replace(log, truth=None, odometer=None, position_fix=None)
    writer_of(tmp_path / "imu.mcap").write(tmp_path / "imu.mcap", {"imu": bare}, {})
    said = command(*arguments)
    assert said.code == 2 and words in said.err and said.err.count("\n") == 1, said
    assert sorted(p.name for p in tmp_path.iterdir()) == ["folder", "imu.mcap", "in.mcap"]
