"""strapdown calibrate, as a user rehearses it: simulate a virtual part, calibrate it, check it, apply it once."""

import json
from pathlib import Path

import numpy as np
import pytest

from helpers import ROOT, command, shared_data
from strapdown import io
from strapdown.calibration.calibration_file import read_calibration
from strapdown.sensors.parts.part import load_part

MG = 9.80665e-3


@pytest.fixture(scope="module")
def rehearsal(tmp_path_factory):
    """Logs of one virtual specimen, and its calibrations, made by commands alone."""
    folder = tmp_path_factory.mktemp("rehearsal")
    for name in ("positions", "tumble", "temperature"):
        said = command(
            "simulate", str(ROOT / "examples" / f"calibrate_{name}.toml"), "-o", str(folder / f"{name}.parquet")
        )
        assert said.code == 0, said.err
    said = command(
        "calibrate", "positions", str(folder / "positions.parquet"), "-o", str(folder / "imu.toml"), "--plot"
    )
    assert said.code == 0, said.err
    arguments = ("--after", str(folder / "imu.toml"), "-o", str(folder / "all.toml"), "--json", "--plot")
    said = command("calibrate", "magnetometer", str(folder / "tumble.parquet"), *arguments)
    assert said.code == 0, said.err
    (folder / "magnetometer.json").write_text(said.out, encoding="utf-8")
    return folder


def test_the_rehearsal_recovers_the_specimen(rehearsal):
    """Biases within four of their own standard deviations: one in 16 000 by chance."""
    found = read_calibration(rehearsal / "all.toml")
    log = io.read_one(rehearsal / "positions.parquet")
    truth = load_part("MPU-6050").draw(log.meta["specimen_seed"], {"accelerometer": 2.0, "gyroscope": 250.0}).triads()
    assert set(found.corrections) == {"accelerometer", "gyroscope", "magnetometer"}
    assert found.part == "MPU-6050"
    for name in ("accelerometer", "gyroscope"):
        off = found.corrections[name].bias - np.array(truth[name].bias)
        assert np.abs(off / found.corrections[name].sigma["bias"]).max() < 4.0
    assert found.verdict == "good"
    assert (rehearsal / "imu.png").read_bytes().startswith(b"\x89PNG")


def test_json_is_one_document_with_sigmas_and_verdict(rehearsal):
    document = json.loads((rehearsal / "magnetometer.json").read_text(encoding="utf-8"))
    mag = document["instruments"]["magnetometer"]
    assert mag["verdict"] == document["verdict"] == "good"
    assert np.shape(mag["matrix"]) == (3, 3)
    assert max(mag["sigma"]["bias"]) < 0.1  # uT
    assert document["plot"] == str(rehearsal / "all.png")
    assert mag["data"]["log"] == "tumble.parquet"


def test_check_holds_on_the_same_sensor_and_not_on_another(rehearsal, tmp_path):
    said = command("calibrate", "check", str(rehearsal / "all.toml"), str(rehearsal / "tumble.parquet"))
    assert said.code == 0, said.out + said.err
    assert "the calibration holds" in said.out
    log = io.read_one(rehearsal / "tumble.parquet")
    from dataclasses import replace

    io.write(tmp_path / "worn.parquet", {"imu": replace(log, gyr_s=log.gyr_s + 0.01, acc_s=log.acc_s + 0.1)})
    said = command("calibrate", "check", str(rehearsal / "all.toml"), str(tmp_path / "worn.parquet"), "--json")
    assert said.code == 1
    held = {item["instrument"]: item["holds"] for item in json.loads(said.out)["checks"]}
    assert held == {"accelerometer": False, "gyroscope": False, "magnetometer": True}


def test_check_does_not_hold_where_the_truth_does_not(tmp_path):
    """Six poses determine six unknowns: on their own log nothing is left to check, but the truth shows the errors."""
    rig = ROOT / "examples" / "calibrate_six_positions.toml"
    assert command("simulate", rig, "-o", tmp_path / "six.parquet").code == 0
    assert command("calibrate", "positions", tmp_path / "six.parquet", "-o", tmp_path / "cal.toml").code == 0
    said = command("calibrate", "check", tmp_path / "cal.toml", tmp_path / "six.parquet", "--json")
    document = json.loads(said.out)
    assert said.code == 1 and document["holds"] is False
    at_rest = {item["instrument"]: item for item in document["checks"]}
    assert at_rest["accelerometer"]["after"] is None  # not a number of the size of roundoff
    for item in document["truth"]:
        assert item["holds"] is (item["after"] <= item["allowed"])
    assert not all(item["holds"] for item in document["truth"])
    said = command("calibrate", "check", tmp_path / "cal.toml", tmp_path / "six.parquet")
    assert "does not hold against the truth" in said.out and "e-1" not in said.out


def test_apply_corrects_once(rehearsal, tmp_path):
    arguments = ("calibrate", "apply", str(rehearsal / "all.toml"))
    said = command(*arguments, str(rehearsal / "tumble.parquet"), "-o", str(tmp_path / "done.parquet"))
    assert said.code == 0, said.err
    done = io.read_one(tmp_path / "done.parquet")
    still = done.t < 4.0
    g = done.meta["gravity_m_s2"]
    assert abs(np.linalg.norm(done.acc_s[still].mean(axis=0)) - g) < 1.0 * MG
    again = command(*arguments, str(tmp_path / "done.parquet"), "-o", str(tmp_path / "twice.parquet"))
    assert again.code == 2
    assert "calibrated already" in again.err
    assert not (tmp_path / "twice.parquet").exists()


def test_temperature_of_a_chamber_log(rehearsal, tmp_path):
    log = str(rehearsal / "temperature.parquet")
    said = command("calibrate", "temperature", log, "--sensor", "chamber", "-o", str(tmp_path / "t.toml"), "--json")
    assert said.code == 0, said.err
    gyr = read_calibration(tmp_path / "t.toml").corrections["gyroscope"]
    truth = load_part("MPU-6050").draw(io.read_one(log, "chamber").meta["specimen_seed"]).triads()["gyroscope"]
    off = gyr.temperature_bias[0] - np.array(truth.temperature_bias[0])
    assert np.abs(off / gyr.sigma["temperature_bias"][0]).max() < 4.0
    assert gyr.range_c[0] < 1.0 and gyr.range_c[1] > 59.0


RAW = """t = { rate_hz = 100 }
acc_x = { column = "ax", unit = "g", counts_per_unit = 16384 }
acc_y = { column = "ay", unit = "g", counts_per_unit = 16384 }
acc_z = { column = "az", unit = "g", counts_per_unit = 16384 }
gyr_x = { column = "gx", unit = "deg/s", counts_per_unit = 131 }
gyr_y = { column = "gy", unit = "deg/s", counts_per_unit = 131 }
gyr_z = { column = "gz", unit = "deg/s", counts_per_unit = 131 }
"""


def test_raw_counts_of_a_real_part(tmp_path):
    """The 10-pose log: 7 usable poses for 9 unknowns are refused, and stated so; the still log gives offsets."""
    folder = shared_data("mpu6050")
    mapping = tmp_path / "raw.toml"
    mapping.write_text(RAW, encoding="utf-8")
    poses = str(folder / "example_data_calibration.csv")
    said = command(
        "calibrate", "positions", poses, "--columns", str(mapping), "--model", "full", "-o", str(tmp_path / "c.toml")
    )
    assert said.code == 2
    assert "7 usable poses" in said.err and "9 unknowns" in said.err
    assert not (tmp_path / "c.toml").exists()
    still = str(folder / "imu_static_test.csv")
    said = command("calibrate", "static", still, "--columns", str(mapping), "-o", str(tmp_path / "s.toml"))
    assert said.code == 0, said.err
    mapping.write_text(
        RAW.replace(", counts_per_unit = 16384", "").replace(", counts_per_unit = 131", ""), encoding="utf-8"
    )
    said = command("calibrate", "positions", poses, "--columns", str(mapping))
    assert said.code == 2
    assert "counts" in said.err


def noise(rng, n, acc=(0.0, 0.0, 9.81), rate=0.0):
    return acc + 0.02 * rng.standard_normal((n, 3)), rate + 0.001 * rng.standard_normal((n, 3))


@pytest.mark.parametrize(
    ("method", "make", "said"),
    [
        ("static", "moving", "no still phase"),
        ("positions", "moving", "no still phase"),
        ("positions", "one pose", "pose"),
        ("temperature", "one pose", "temperature"),
        ("magnetometer", "one pose", "turn"),
        ("magnetometer", "no magnetometer", "magnetometer"),
    ],
)
def test_logs_that_cannot_do_are_one_sentence(tmp_path, method, make, said):
    from strapdown.types import Recording

    rng = np.random.default_rng(1)
    n = 6000
    t = 0.01 * np.arange(n)
    acc, gyr = noise(rng, n)
    mag = np.array([20.0, 0.0, -40.0]) + 0.2 * rng.standard_normal((n, 3))
    if make == "moving":
        gyr = gyr + np.stack([np.sin(3 * t), np.cos(2 * t), np.sin(t + 1)], axis=-1)
        acc = acc + 3.0 * np.stack([np.sin(4 * t), np.cos(5 * t), np.sin(2 * t)], axis=-1)
    log = Recording(t, gyr, acc, None if make == "no magnetometer" else mag, temperature=np.full(n, 25.0))
    io.write(tmp_path / "log.parquet", {"imu": log})
    answer = command("calibrate", method, str(tmp_path / "log.parquet"), "-o", str(tmp_path / "c.toml"))
    assert answer.code == 2
    assert said in answer.err
    assert len(answer.err.strip().splitlines()) == 1
    assert list(Path(tmp_path).iterdir()) == [tmp_path / "log.parquet"]


def test_wrong_use_is_one_sentence(rehearsal, tmp_path):
    log = str(rehearsal / "positions.parquet")
    for arguments, word in (
        (("positions", log, "-o", "cal.json"), ".toml"),
        (("positions", log, "--model", "cube"), "model"),
        (("positions", log, "--gravity", "9810"), "--gravity"),
        (("positions", log, "--latitude", "55", "--gravity", "9.8"), "both"),
        (("positions", log, "--part", "MPU-9999"), "MPU-9999"),
        (("magnetometer", log, "--longitude", "30"), "--latitude"),
        (("magnetometer", log, "--latitude", "30"), "--longitude"),
        (("magnetometer", log, "--latitude", "30", "--longitude", "30", "--field", "50"), "--field"),
        (("magnetometer", log, "--height", "300"), "--height"),
        (("magnetometer", log, "--year", "2026"), "--year"),
        (("magnetometer", log, "--latitude", "30", "--longitude", "30", "--year", "0"), "year"),
        (("positions", log, "--height", "300"), "--latitude"),
        (("static", log, "--after", str(tmp_path / "none.toml")), "none.toml"),
        (("check", str(rehearsal / "imu.toml"), str(tmp_path / "none.csv")), "none.csv"),
    ):
        said = command("calibrate", *arguments)
        assert said.code == 2, arguments
        assert word in said.err
        assert len(said.err.strip().splitlines()) == 1


def test_noise_is_that_of_the_part_at_the_rate_and_range_of_the_log(rehearsal):
    """The module's magnetometer has its own part, and a log states its range as text."""
    from strapdown.recordings.facts import noise_of_part

    log = io.read_one(rehearsal / "tumble.parquet")
    name, noise = noise_of_part(log, None)
    wanted = load_part("MPU-6050").nominal({"accelerometer": 2.0, "gyroscope": 250.0}, rate_hz=100.0).triads()
    assert name == "MPU-6050"
    assert noise["accelerometer"] == wanted["accelerometer"] and noise["gyroscope"] == wanted["gyroscope"]
    assert noise["accelerometer"] != load_part("MPU-6050").nominal({"accelerometer": 4.0}).triads()["accelerometer"]
    assert (
        noise["magnetometer"]
        == load_part("QMC5883L").nominal({"magnetometer": 2.0}, rate_hz=100.0).triads()["magnetometer"]
    )
    from dataclasses import replace

    wide = replace(log, meta={**log.meta, "range": {"accelerometer": "16 g", "gyroscope": "no number"}})
    assert noise_of_part(wide, None)[1]["accelerometer"].full_scale > 150.0
    odd = replace(log, meta={"part": "MPU-6050", "range": 7})
    assert noise_of_part(odd, None)[1].keys() == {"accelerometer", "gyroscope"}


def test_the_range_of_the_log_is_in_the_words_of_the_command(rehearsal, tmp_path):
    """The nonlinearity of 0.5 % of the range is 1.9 mg at 2 g and a fourth of it at 4 g, by the log."""
    from dataclasses import replace

    log = io.read_one(rehearsal / "positions.parquet")
    wide = {**log.meta, "range": {"accelerometer": "4 g", "gyroscope": "250 deg/s"}}
    io.write(tmp_path / "wide.parquet", {"imu": replace(log, meta=wide)})
    for path, bend in ((rehearsal / "positions.parquet", "1.9 mg between"), (tmp_path / "wide.parquet", "0.5 mg")):
        said = command("calibrate", "positions", str(path), "--model", "full", "--json")
        assert said.code == 0, said.err
        assert bend in " ".join(json.loads(said.out)["instruments"]["accelerometer"]["undetermined"])


def test_check_compares_a_simulated_log_with_its_truth(rehearsal):
    said = command("calibrate", "check", str(rehearsal / "all.toml"), str(rehearsal / "tumble.parquet"), "--json")
    errors = {item["instrument"]: item for item in json.loads(said.out)["truth"]}
    assert set(errors) == {"accelerometer", "gyroscope", "magnetometer"}
    for item in errors.values():
        assert item["after"] < 0.1 * item["before"]  # offsets and iron of this specimen are far above its noise


def test_check_judges_what_the_log_can_tell(rehearsal, tmp_path):
    """Without rest the magnetometer alone; a calibration against temperature not by the offset that it assumed."""
    from dataclasses import replace

    log = io.read_one(rehearsal / "tumble.parquet")
    rows = log.t > 6.0  # rest ends at 5 s
    cut = {name: getattr(log, name)[rows] for name in ("acc_s", "gyr_s", "mag_s")}
    meta = {key: log.meta[key] for key in ("gravity_m_s2", "magnetic_field_n_ut")}
    moving = replace(log, t=log.t[rows], **cut, temperature=None, clipped=None, truth=None, meta=meta)
    io.write(tmp_path / "moving.parquet", {"imu": moving})
    said = command("calibrate", "check", str(rehearsal / "all.toml"), str(tmp_path / "moving.parquet"), "--json")
    assert said.code == 0, said.err
    checks = {item["instrument"]: item for item in json.loads(said.out)["checks"]}
    assert checks["accelerometer"]["after"] is None and "no still phase" in checks["accelerometer"]["notes"][0]
    assert checks["magnetometer"]["after"] < checks["magnetometer"]["allowed"]
    said = command("calibrate", "check", str(rehearsal / "imu.toml"), str(tmp_path / "moving.parquet"))
    assert said.code == 2 and "no still phase" in said.err
    warm = (str(rehearsal / "temperature.parquet"), "--sensor", "chamber")
    assert command("calibrate", "temperature", *warm, "-o", str(tmp_path / "t.toml")).code == 0
    said = command("calibrate", "check", str(tmp_path / "t.toml"), *warm, "--json")
    assert said.code == 0, said.out
    acc = next(item for item in json.loads(said.out)["checks"] if item["instrument"] == "accelerometer")
    assert "change" in acc["what"] and acc["after"] < acc["before"]


def test_another_part_than_the_logs_is_told_once(rehearsal):
    said = command(
        "calibrate", "static", str(rehearsal / "temperature.parquet"), "--sensor", "warm-up", "--part", "BMI160"
    )
    assert said.code == 0, said.err
    assert said.err.count("--part is of part BMI160, and the log states MPU-6050") == 1


def test_raw_counts_are_told_by_apply_and_check(rehearsal, tmp_path):
    from dataclasses import replace

    log = io.read_one(rehearsal / "tumble.parquet")
    for spoilt in ({"acc_s": 1670.0 * log.acc_s}, {"gyr_s": 7506.0 * log.gyr_s}):
        io.write(tmp_path / "raw.parquet", {"imu": replace(log, **spoilt)})
        arguments = (str(rehearsal / "imu.toml"), str(tmp_path / "raw.parquet"))
        for said in (
            command("calibrate", "apply", *arguments, "-o", str(tmp_path / "out.parquet")),
            command("calibrate", "check", *arguments),
        ):
            assert said.code == 2
            assert "column mapping" in said.err and len(said.err.strip().splitlines()) == 1
