"""strapdown allan: what it writes and prints, a real MPU-6050, and one sentence for every log it cannot use."""

import json
import tomllib
from pathlib import Path

import numpy as np
import pytest

from helpers import ROOT, command, shared_data, write
from strapdown.errors import InputError
from strapdown.io import read_mapping, read_one
from strapdown.io import write as write_recordings
from strapdown.types import Recording

STEP = 0.01
COUNTS = """
t = { rate_hz = 100 }
acc_x = { column = "ax", unit = "g", counts_per_unit = 16384 }
acc_y = { column = "ay", unit = "g", counts_per_unit = 16384 }
acc_z = { column = "az", unit = "g", counts_per_unit = 16384 }
gyr_x = { column = "gx", unit = "deg/s", counts_per_unit = 131 }
gyr_y = { column = "gy", unit = "deg/s", counts_per_unit = 131 }
gyr_z = { column = "gz", unit = "deg/s", counts_per_unit = 131 }
"""


def recording(n=6000, seed=0, **more):
    rng = np.random.default_rng(seed)
    acc = [0.0, 0.0, 9.81] + 0.03 * rng.normal(size=(n, 3))
    return Recording(np.arange(n) * STEP, gyr_s=0.002 * rng.normal(size=(n, 3)), acc_s=acc, **more)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    write_recordings(tmp_path / "log.parquet", {"imu": recording()})
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def mpu6050() -> Path:
    return shared_data("mpu6050")


def refused(*arguments):
    before = sorted(p.name for p in Path().iterdir())
    said = command("allan", *arguments)
    assert (said.code, said.out) == (2, ""), said
    assert said.err.startswith("strapdown: ") and said.err.count("\n") == 1 and "internal error" not in said.err
    assert sorted(p.name for p in Path().iterdir()) == before
    return said.err


# What it writes and prints


def test_tables_picture_and_convention(folder):
    said = command("allan", "log.parquet", "--fit", "--plot", "allan.png")
    assert said.code == 0 and said.err == ""
    for part in ("N white noise", "ug/sqrt(Hz)", "deg/sqrt(h)", "deg/h", "multiply N by sqrt(2)", "< ", "not visible"):
        assert part in said.out, part
    assert (folder / "allan.png").read_bytes().startswith(b"\x89PNG")
    bare = command("allan", "log.parquet")
    assert bare.code == 0 and "Allan deviation" in bare.out and "N white noise" not in bare.out


def test_json_has_curves_bands_terms_and_units(folder):
    said = command("allan", "log.parquet", "--fit", "--json")
    assert said.code == 0 and said.err == ""
    document = json.loads(said.out)
    assert document["samples"] == 6000 and document["rate_hz"] == pytest.approx(100.0) and document["output"] is None
    assert set(document["instruments"]) == {"accelerometer", "gyroscope"}
    axis = document["instruments"]["gyroscope"]["axes"]["y"]
    assert len(axis["deviation"]) == len(axis["low"]) == len(document["instruments"]["gyroscope"]["tau_s"])
    white = axis["fit"]["white"]
    truth = 0.002 * np.sqrt(STEP)
    assert abs(white["value"] - truth) < 4.0 * white["sigma"] and white["unit"] == "rad/s/sqrt(Hz)"
    usual = white["usual"]
    assert usual["deg/s/sqrt(Hz)"]["value"] == pytest.approx(np.rad2deg(white["value"]), rel=1e-12)
    assert usual["deg/sqrt(h)"]["value"] == pytest.approx(60.0 * np.rad2deg(white["value"]), rel=1e-12)
    assert usual["deg/s/sqrt(Hz) one-sided"]["value"] == pytest.approx(
        np.sqrt(2.0) * np.rad2deg(white["value"]), rel=1e-12
    )
    walk = axis["fit"]["walk"]
    assert walk["value"] is None and walk["sigma"] is None and walk["at_most"] > 0.0 and "not visible" in walk["reason"]


def test_the_model_file_is_a_sensor_model(folder):
    from strapdown.sensors.parts.model_file import read_model

    said = command("allan", "log.parquet", "-o", "twin.toml", "--json")
    assert said.code == 0 and json.loads(said.out)["output"] == "twin.toml"
    triads, meta = read_model(folder / "twin.toml")[:2]
    np.testing.assert_allclose(triads["gyroscope"].white, 0.002 * np.sqrt(STEP), rtol=0.05)  # chance: 1 %
    np.testing.assert_allclose(triads["accelerometer"].white, 0.03 * np.sqrt(STEP), rtol=0.05)
    assert triads["accelerometer"].bias == (0.0, 0.0, 0.0) and meta["rate_hz"] == 100.0


def test_one_sensor_of_several(folder):
    write_recordings("two.csv", {"a": recording(), "b": recording(seed=1)})
    assert "holds the sensors a, b; choose one with --sensor" in refused("two.csv")
    assert command("allan", "two.csv", "--sensor", "b").code == 0
    assert "no sensor c" in refused("two.csv", "--sensor", "c")


def test_a_magnetometer_is_analysed_too(folder):
    mag = np.array([20.0, 0.0, -40.0]) + np.random.default_rng(5).normal(size=(2000, 3))
    write_recordings("mag.parquet", {"m": Recording(np.arange(2000) * 0.02, mag_s=mag)})
    said = command("allan", "mag.parquet", "--fit", "--json")
    assert list(json.loads(said.out)["instruments"]) == ["magnetometer"]


# A real part


def white_of(mpu6050, mapping, folder, name="example_data_tinit_calc.csv"):
    write(folder, "counts.toml", mapping)
    said = command("allan", mpu6050 / name, "--columns", folder / "counts.toml", "--fit", "--json")
    assert said.code == 0, said.err
    found = json.loads(said.out)["instruments"]
    acc, gyr = (
        [found[name]["axes"][axis]["fit"]["white"]["usual"][unit]["value"] for axis in "xyz"]
        for name, unit in (("accelerometer", "ug/sqrt(Hz)"), ("gyroscope", "deg/s/sqrt(Hz)"))
    )
    return np.array(acc), np.array(gyr), found


def test_the_noise_of_a_real_mpu6050(mpu6050, folder):
    """300 to 490 ug/sqrt(Hz), 0.0076 to 0.0129 deg/s/sqrt(Hz): these are N; one-sided would be 1.41 times as much."""
    acc, gyr, found = white_of(mpu6050, COUNTS, folder)
    assert np.all((acc >= 300.0) & (acc <= 490.0)), acc
    # its gyroscope x is 3 % more sensitive than nominal (params_gyro.csv of the same source; the part allows 3 %)
    assert np.all((gyr >= 0.0076 * 0.97) & (gyr <= 0.0129)), gyr
    assert not np.all(np.sqrt(2.0) * acc <= 490.0) and not np.all(np.sqrt(2.0) * gyr <= 0.0129)
    steps = [found["accelerometer"]["axes"][axis]["resolution"] for axis in "xyz"]
    np.testing.assert_allclose(steps, 4 / 16384 * 9.80665, rtol=1e-6)  # this log's counts are multiples of 4


def test_the_documented_mapping_is_the_tested_one():
    text = (ROOT / "docs" / "allan.md").read_text(encoding="utf-8")
    assert tomllib.loads(text.split("```toml\n")[1].split("```")[0]) == tomllib.loads(COUNTS)


def test_the_noise_of_a_real_mpu6050_with_its_own_scale(mpu6050, folder):
    scale = np.loadtxt(mpu6050 / "params_gyro.csv")[6:9]  # rad/s per count, calibrated by the source
    mapping = COUNTS
    for axis, per_count in zip("xyz", scale, strict=True):
        nominal = f'gyr_{axis} = {{ column = "g{axis}", unit = "deg/s", counts_per_unit = 131 }}'
        assert nominal in mapping
        mapping = mapping.replace(nominal, nominal.replace("131", f"{1.0 / np.rad2deg(per_count):.9g}"))
    _, gyr, _ = white_of(mpu6050, mapping, folder)
    assert np.all((gyr >= 0.0076) & (gyr <= 0.0129)), gyr


def test_two_logs_of_the_same_part_agree(mpu6050, folder):
    long = white_of(mpu6050, COUNTS, folder)
    short = white_of(mpu6050, COUNTS, folder, "imu_static_test.csv")
    for a, b in zip(long[:2], short[:2], strict=True):
        np.testing.assert_allclose(a, b, rtol=0.04)  # four sigmas of the shorter, and two days' temperature


@pytest.mark.parametrize("name", ["imu_90_x_rot.csv", "example_data_calibration.csv"])
def test_logs_of_a_turning_part_are_refused(name, mpu6050, folder):
    write(folder, "counts.toml", COUNTS)
    assert "is not at rest" in refused(mpu6050 / name, "--columns", "counts.toml", "--fit")


# Raw counts and logs without time


def test_raw_counts_become_units(tmp_path):
    write(tmp_path, "raw.csv", "made by,someone\nax,ay,az,T\n32768,49152,16384,0\n32768,49152,16384,340\n")
    entry = 'acc_{0} = {{ column = "a{0}", unit = "g", counts_per_unit = 16384, zero_counts = 32768 }}\n'
    text = "t = { rate_hz = 50 }\n" + "".join(entry.format(axis) for axis in "xyz")
    text += 'temperature = { column = "T", unit = "degC", counts_per_unit = 340, zero_counts = -12420.2 }\n'
    log = read_one(tmp_path / "raw.csv", columns=read_mapping(write(tmp_path, "map.toml", text)))
    assert log.t.tolist() == [0.0, 0.02]
    np.testing.assert_allclose(log.acc_s, [[0.0, 9.80665, -9.80665]] * 2, atol=1e-14)  # roundoff
    np.testing.assert_allclose(log.temperature, [36.53, 37.53], atol=1e-12)


def test_counts_in_parquet(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet

    pa.parquet.write_table(pa.table({"T": [1, 2, 3]}), tmp_path / "raw.parquet")
    mapping = {"t": {"rate_hz": 10.0}, "temperature": {"column": "T", "unit": "degC", "counts_per_unit": 2}}
    log = read_one(tmp_path / "raw.parquet", columns=mapping)
    assert log.t.tolist() == [0.0, 0.1, 0.2] and log.temperature.tolist() == [0.5, 1.0, 1.5]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("t = { rate_hz = 0 }", "rate_hz in the mapping of t is 0"),
        ("t = { rate_hz = -5 }", "above 0"),
        ('t = { rate_hz = "fast" }', "rate_hz"),
        ("t = { rate_hz = 100 }", "names no column of the file"),
        ('t = { rate_hz = 100 }\nsensor = "name"', "one sensor only"),
        ('t = { column = "t", rate_hz = 100 }', "column mapping of t"),
        ("temperature = { rate_hz = 100 }", "column mapping of temperature"),
        ('temperature = { column = "T", counts_per_unit = 0 }', "counts_per_unit"),
        ('temperature = { column = "T", counts_per_unit = nan }', "counts_per_unit"),
        ('temperature = { column = "T", zero_counts = true }', "zero_counts"),
        ('stop = { column = "T", counts_per_unit = 2 }', "stop has no unit"),
        ("temperature = { column = 3 }", "column mapping of temperature"),
    ],
)
def test_wrong_counts_are_one_sentence(line, why, tmp_path):
    with pytest.raises(InputError, match=why):
        read_mapping(write(tmp_path, "map.toml", line))


# Bad logs


def test_bad_logs_are_one_sentence(folder):
    good = recording()
    keep = np.arange(6000) != 3000
    write_recordings("gap.parquet", {"a": Recording(good.t[keep], gyr_s=good.gyr_s[keep])})
    assert "after sample 2999 (t = 29.99 s)" in refused("gap.parquet", "-o", "model.toml", "--plot", "a.png")
    write_recordings("short.parquet", {"a": recording(50)})
    assert "50 samples" in refused("short.parquet", "--fit")
    write_recordings("still.parquet", {"a": Recording(good.t, gyr_s=np.zeros((6000, 3)))})
    assert "the gyroscope reads the same in all 6000 samples" in refused("still.parquet")
    write_recordings("none.parquet", {"a": Recording(good.t, temperature=good.t)})
    assert "neither accelerometer" in refused("none.parquet")
    lines = [f"{0.01 * i:.2f},0.{i % 7},0.1,{'nan' if i == 300 else '0.2'}" for i in range(500)]
    write(folder, "nan.csv", "\n".join(["t [s],gyr_x [rad/s],gyr_y [rad/s],gyr_z [rad/s]", *lines]) + "\n")
    assert "gyr_z" in refused("nan.csv") and "sample 300" in refused("nan.csv")


def test_no_twin_of_a_log_that_moved_or_was_clipped(folder):
    good = recording()
    turned = good.gyr_s[:3000].copy()
    turned[1000:1200, 2] += 1.0
    write_recordings("turned.parquet", {"a": Recording(good.t[:3000], gyr_s=turned)})
    for more in ((), ("--fit",), ("-o", "twin.toml")):
        assert "gyroscope z is not at rest: it moves first about 10 s" in refused("turned.parquet", *more)
    knocked = good.gyr_s.copy()
    knocked[1000:1010, 0] += 0.02
    write_recordings("knocked.parquet", {"a": Recording(good.t, gyr_s=knocked)})
    said = command("allan", "knocked.parquet", "--fit")
    assert said.code == 0 and "note: gyroscope x was touched or jumped about 10 s" in said.out
    assert "a twin is made from a log at rest only" in refused("knocked.parquet", "-o", "twin.toml", "--plot", "a.png")
    clipped = np.zeros(6000, dtype=bool)
    clipped[[700, 701, 5000]] = True
    write_recordings("clipped.parquet", {"a": recording(clipped=clipped)})
    assert "3 of 6000 samples are clipped at the sensor's range, the first at sample 700 (t = 7 s)" in refused(
        "clipped.parquet"
    )


def test_numbers_of_the_table_are_written_out():
    from strapdown.calibration.noise.fit import Term
    from strapdown.cli.allan import _cell

    assert _cell(Term(149.3, 38.0), 1.0) == "149 ± 40" and _cell(Term(None, at_most=171.0), 1.0) == "< 170"
    assert _cell(Term(0.00753, 3.1e-5, reason="short"), 1.0) == "0.00753 ± 3e-05 ?"
    assert _cell(Term(None), 1.0) == "-"


def test_a_foreign_log_is_told_the_option(folder):
    write(folder, "phone.csv", "time,ax\n0,1\n")
    assert "--columns MAPPING.toml" in refused("phone.csv")


def test_wrong_use_is_one_sentence(folder):
    assert "LOG" in refused()
    assert "none.csv" in refused("none.csv")
    assert ".toml" in refused("log.parquet", "-o", "model.txt")
    assert ".png" in refused("log.parquet", "--plot", "a.svg")
    assert "does not exist" in refused("log.parquet", "-o", "none/model.toml")
    assert "none.toml" in refused("log.parquet", "--columns", "none.toml")
