"""strapdown orient, as a user runs it."""

import json

import numpy as np
import pytest

from helpers import command
from orientation_cases import G, ideal, swing
from strapdown import io
from strapdown.io.solution import read_solution
from strapdown.orientation.catalogue import FILTERS
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


def six_axes(n=400, scale=1.0):
    rng = np.random.default_rng(1)
    acc = scale * (np.array([0.0, 0.0, G]) + 0.05 * rng.standard_normal((n, 3)))
    return {"gyr_s": 0.001 * rng.standard_normal((n, 3)), "acc_s": acc}


@pytest.mark.parametrize(
    ("readings", "arguments", "word"),
    [
        (six_axes(), ("--axes", "9"), "no magnetometer"),
        ({**six_axes(), "mag_s": np.zeros((400, 3))}, (), "magnetometer reads 0"),
        (six_axes(scale=1.0 / G), (), "that is g"),
        (six_axes(3), (), "3 samples"),
        ({"acc_s": six_axes()["acc_s"]}, (), "no gyroscope"),
        (six_axes(), ("--filter", "kalman"), "valid names"),
        (six_axes(), ("--compare", "vqf,kalman"), "valid names"),
        (six_axes(), ("--axes", "7"), "give 6, 9 or auto"),
        (six_axes(), ("--part", "MPU-9999"), "MPU-9999"),
        (six_axes(), ("--calibration", "none.toml"), "none.toml"),
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
