"""strapdown look: what it finds in logs of known units, and that its mapping and its commands work."""

import json
import tomllib
from datetime import datetime, timedelta

import numpy as np
import pytest

from foreign_cases import SIX, drive, rfu, table, tumble
from helpers import command, shared_data
from strapdown.earth import STANDARD_GRAVITY as G
from strapdown.errors import InputError
from strapdown.io import read_mapping, read_one
from strapdown.io.foreign.clock import clock_seconds

HEADER = "time," + ",".join(SIX)
AS = {
    "si": (1.0, 1.0, 1.0, "%.6f", ("s", "m/s2", "rad/s")),
    "g, deg/s, ms": (1e3, 1.0 / G, 180.0 / np.pi, "%.6f", ("ms", "g", "deg/s")),
    "mg, deg/s, us": (1e6, 1e3 / G, 180.0 / np.pi, "%.6f", ("us", "mg", "deg/s")),
    "2 g, 250 deg/s": (1e3, 16384 / G, 131 * 180.0 / np.pi, "%d", ("ms", "g", "deg/s")),
    "8 g, 1000 deg/s": (1e3, 4096 / G, 32.8 * 180.0 / np.pi, "%d", ("ms", "g", "deg/s")),
}


@pytest.mark.parametrize("unit", AS)
def test_units_that_no_column_states_are_found_in_the_readings(unit, tmp_path):
    """The log tilts by 90 deg, so gravity shows the gyroscope's unit."""
    t, acc, gyr = tumble()
    per_s, per_acc, per_gyr, form, names = AS[unit]
    log = table(tmp_path / "log.csv", HEADER, [t * per_s, acc * per_acc, gyr * per_gyr], form)
    found = command("look", log, "-o", tmp_path / "log.toml")
    assert found.code == 0, found.err
    mapping = read_mapping(tmp_path / "log.toml")
    assert (mapping["t"]["unit"], mapping["acc_x"]["unit"], mapping["gyr_x"]["unit"]) == names
    read = read_one(log, columns=mapping)
    # one count of the coarsest range: printing cuts
    assert np.abs(read.acc_s - acc).max() < 2.5e-3 and np.abs(read.gyr_s - gyr).max() < 6e-4
    assert np.abs(read.t - t).max() < 1e-3


def test_a_unit_that_the_readings_do_not_show_is_marked(tmp_path):
    """A log at rest in raw counts fits several ranges of the gyroscope."""
    t, acc, gyr = (x[:400] for x in tumble())
    log = table(tmp_path / "log.csv", HEADER, [t * 1e3, acc / G * 16384, np.degrees(gyr) * 131 + 300], "%d")
    found = command("look", log, "-o", tmp_path / "log.toml")
    assert found.code == 0 and "CHECK: assumed: the log fits 131 counts per deg/s or 65.5" in " ".join(
        found.out.replace("│", " ").split()
    )
    assert "CHECK: assumed" in (tmp_path / "log.toml").read_text(encoding="utf-8")


def test_what_it_counts_is_in_the_log(tmp_path):
    log = drive()
    rows = np.ones(len(log), dtype=bool)
    rows[3000:3050] = False
    columns = [log.t[rows], log.acc_s[rows], log.gyr_s[rows], log.mag_s[rows]]
    path = table(tmp_path / "log.csv", HEADER + ",mx,my,mz", columns)
    document = json.loads(command("look", path, "--json").out)
    seen = document["sensors"]["log"]
    assert seen["samples"] == len(log) - 50 and seen["rate_hz"] == pytest.approx(100.0)
    assert [gap["length_s"] for gap in seen["gaps"]] == [pytest.approx(0.51)]
    assert seen["rests"][0]["t_s"] == 0.0 and 9.0 < seen["rests"][0]["until_s"] < 10.5
    assert len(seen["rests"]) >= 16  # the stops of the square
    steps = {step["what"]: step for step in seen["steps"]}
    assert (
        steps["position"]["command"] == f"strapdown navigate {path} --columns log.toml -o nav"
    )  # its magnetometer knows it
    assert steps["noise"]["command"] == "" and "it has 1 gap;" in steps["noise"]["why"]


def test_the_commands_it_names_work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    log = drive()
    table(tmp_path / "log.csv", HEADER, [log.t * 1e3, log.acc_s / G, np.degrees(log.gyr_s)])
    found = command("look", "log.csv", "-o", "log.toml", "--json")
    steps = json.loads(found.out)["sensors"]["log"]["steps"]
    named = [step["command"].split() for step in steps if step["command"]]
    assert [words[1] for words in named] == ["orient", "navigate", "calibrate"]
    for words in named:
        assert command(*words[1:]).code == 0, words


def test_a_folder_of_a_phone_becomes_one_log(tmp_path):
    log = drive()
    folder = tmp_path / "2026-11-01_walk"
    folder.mkdir()
    header = "time,seconds_elapsed,z,y,x"
    late = log.t + 0.004  # clocks of a phone's sensors are not aligned
    for name, t, values in (
        ("TotalAcceleration", late, log.acc_s),
        ("Gyroscope", log.t, log.gyr_s),
        ("Magnetometer", log.t[::2], log.mag_s[::2]),
    ):
        table(folder / f"{name}.csv", header, [t * 1e9, t, rfu(values)[:, ::-1]])
    (folder / "Metadata.csv").write_text("version,device\n3,phone\n")
    found = command("look", folder, "-o", tmp_path / "walk.parquet")
    assert found.code == 0, found.err
    assert "the accelerometer of TotalAcceleration.csv is interpolated to them" in found.out
    read = read_one(tmp_path / "walk.parquet")
    assert read.t[0] >= late[0] and read.t[-1] <= log.t[-1]
    inside = np.searchsorted(log.t, read.t - 1e-6)
    assert np.abs(read.gyr_s - log.gyr_s[inside]).max() < 1e-6
    # the mean of neighbours of white noise has less of it: what remains is the noise of a sample, 0.04 m/s2
    assert np.sqrt(np.mean((read.acc_s - log.acc_s[inside]) ** 2)) < 0.2
    assert read.new["mag_s"].mean() == pytest.approx(0.5, abs=0.01)
    assert "is a folder without files that a ready mapping reads" in command("look", tmp_path).err


def test_our_own_log_needs_no_mapping(tmp_path):
    from strapdown.io import write

    write(tmp_path / "own.parquet", {"imu": drive()})
    found = command("look", tmp_path / "own.parquet", "-o", tmp_path / "x.toml")
    assert found.code == 0 and "in our own format" in found.out and "none was written" in found.out
    assert not (tmp_path / "x.toml").exists() and "--columns" not in found.out


def test_the_mapping_is_toml_that_states_why(tmp_path):
    log = drive()
    path = table(tmp_path / "log.csv", HEADER, [log.t, -log.acc_s * [1, 1, 1], log.gyr_s])
    assert command("look", path, "-o", tmp_path / "m.toml").code == 0
    text = (tmp_path / "m.toml").read_text(encoding="utf-8")
    assert tomllib.loads(text)["frame"] == "frd" and "z reads -g at rest" in text


@pytest.mark.parametrize(
    ("name", "units"),
    [
        ("xio_gait/short_walk.csv", ("s", "g", "deg/s")),
        ("mpu6050/example_data_calibration.csv", (None, "g", "deg/s")),
    ],
)
def test_recorded_logs(name, units, tmp_path):
    folder, _, file = name.partition("/")
    document = json.loads(command("look", shared_data(folder) / file, "--json").out)
    mapping = document["mapping"]
    assert (mapping["t"].get("unit"), mapping["acc_x"]["unit"], mapping["gyr_x"]["unit"]) == units
    if folder == "mpu6050":
        assert (mapping["acc_x"]["counts_per_unit"], mapping["gyr_x"]["counts_per_unit"]) == (16384.0, 131.0)
        steps = {step["what"]: step["command"] for step in next(iter(document["sensors"].values()))["steps"]}
        assert steps["scale and axes"].startswith("strapdown calibrate positions")


def test_ready_mappings_are_listed():
    found = command("look", "--list")
    assert found.code == 0 and "phyphox" in found.out and "xsens-mt" in found.out


def test_a_coarse_clock_and_blank_cells_are_stated_in_the_mapping(tmp_path):
    t, acc, gyr = tumble()
    mag = np.tile([20.0, 0.0, -40.0], (len(t), 1)) + np.sin(t)[:, None]
    log = table(tmp_path / "log.csv", HEADER + ",mx,my,mz", [np.floor(t * 50) / 50, acc, gyr, mag])
    rows = log.read_text().splitlines()
    slow = [row if i % 4 == 0 else ",".join([*row.split(",")[:7], "", "", ""]) for i, row in enumerate(rows)]
    log.write_text("\n".join(slow) + "\n")
    assert command("look", log, "-o", tmp_path / "log.toml").code == 0
    mapping = read_mapping(tmp_path / "log.toml")
    assert mapping["t"]["repeated"] == "spread" and mapping["mag_x"]["empty"] == "hold"
    read = read_one(log, columns=mapping)
    assert len(read) == len(t) and 0.2 < read.new["mag_s"].mean() < 0.3


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "time,ax,ay,az,gx,gy,gz\n" + "0,,,,1,2,3\n1,1,2,3,,,\n" * 9,
            "no two rows hold time and all inertial readings",
        ),
        ("time,ax,ay,az\n" + "5,0,0,9.8\n" * 9, "the time of the log does not rise"),
        ("when,what\n1,2\n", "has no columns that look like an accelerometer"),
        ("one\ntwo\n", "is not a table"),
        ("time,ax,ay,az\n12:01,0,0,9\n12:02,0,0,9\n", "the time column \"time\" holds '12:01'"),
        ("\n\n", "is empty"),
    ],
)
def test_a_table_that_cannot_be_read_is_one_sentence(text, sentence, tmp_path):
    (tmp_path / "log.csv").write_text(text)
    found = command("look", tmp_path / "log.csv")
    assert found.code == 2 and sentence in found.err and found.err.count("\n") == 1


def spelled(t, form):
    """Times of a log as text: seconds after 14:07 on 5 March 2024, in one of the forms that programs write."""
    start = datetime(2024, 3, 5, 14, 7)
    return [(start + timedelta(microseconds=round(1e6 * s))).strftime(form) for s in t]


CLOCKS = {
    "a phone, point": "%H:%M:%S.%f",
    "Physics Toolbox": "%H:%M:%S:%f",
    "ISO": "%Y-%m-%dT%H:%M:%S.%fZ",
    "spreadsheet, America": "%m/%d/%Y %I:%M:%S.%f %p",
    "spreadsheet, Europe": "%d.%m.%Y %H:%M:%S.%f",
}


@pytest.mark.parametrize("form", CLOCKS)
@pytest.mark.parametrize("name", ["time", "Date", "When"])
def test_clock_times_are_read(form, name, tmp_path):
    t, acc, gyr = tumble()
    rows = np.column_stack([acc, gyr])
    cells = [
        ",".join([word, *(f"{x:.6f}" for x in row)]) for word, row in zip(spelled(t, CLOCKS[form]), rows, strict=True)
    ]
    (tmp_path / "log.csv").write_text(f"{name},{','.join(SIX)}\n" + "\n".join(cells) + "\n")
    found = command("look", tmp_path / "log.csv", "-o", tmp_path / "log.toml")
    assert found.code == 0, found.err
    mapping = read_mapping(tmp_path / "log.toml")
    assert mapping["t"] == {"column": name, "unit": "clock"}
    read = read_one(tmp_path / "log.csv", columns=mapping)
    # seconds since 1970 have steps of 0.24 us, and the text of 1 us
    np.testing.assert_allclose(read.t - read.t[0], t - t[0], rtol=0.0, atol=1.3e-6)
    (tmp_path / "log.csv").write_text(f"{name},{','.join(SIX)}\n" + "\n".join([*cells[:9], "noon" + cells[9][8:]]))
    with pytest.raises(InputError, match=r"line 11: .* is no clock time"):
        read_one(tmp_path / "log.csv", columns=mapping)


def test_midnight_and_dates_that_are_none():
    assert clock_seconds("2024-03-06 00:00:00") - clock_seconds("5.3.2024 23:59:59,5") == 0.5
    assert clock_seconds("12:00:00 AM") == 0.0 and clock_seconds("12:00:01 PM") == 43201.0
    for none in ("25:00:00", "12:60:00", "2024-02-30 12:00:00", "12:01", "noon", ""):
        assert np.isnan(clock_seconds(none))


@pytest.mark.parametrize(
    ("head", "separator", "scale", "unit"),
    [
        ("t_us,ax,ay,az,gx,gy,gz", ",", 1e6, "us"),
        ("Zeit (s);Beschl_x;Beschl_y;Beschl_z;Drehrate_x;Drehrate_y;Drehrate_z", ";", 1.0, "s"),
        ("time  ax  ay  az  gx  gy  gz", "   ", 1.0, "s"),
        ("Time,AccX,AccY,AccZ,GyrX,GyrY,GyrZ\ns,m/s^2,m/s^2,m/s^2,rad/s,rad/s,rad/s", ",", 1.0, "s"),
        ("timestamp,ax,ay,az,gx,gy,gz", ",", 1.0 / 86400.0, "d"),
    ],
)
def test_names_separators_and_lines_of_units_that_people_write(head, separator, scale, unit, tmp_path):
    t, acc, gyr = tumble()
    form = ["%.10f", *["%.6f"] * 6]
    log = table(tmp_path / "log.txt", head, [t * scale, acc, gyr], form, separator)
    found = command("look", log, "-o", tmp_path / "log.toml")
    assert found.code == 0, found.err
    mapping = read_mapping(tmp_path / "log.toml")
    assert mapping["t"]["unit"] == unit
    read = read_one(log, columns=mapping)
    assert np.abs(read.t - t).max() < 1e-5 and np.abs(read.gyr_s - gyr).max() < 1e-6


def test_time_that_is_not_recognised_is_not_denied(tmp_path):
    t, acc, gyr = tumble()
    found = command("look", table(tmp_path / "log.csv", "lap,ax,ay,az,gx,gy,gz", [t, acc, gyr]))
    assert "no column was recognised as time" in found.out and "not used: lap" in found.out
    (tmp_path / "log.csv").write_text("time,ax,ay,az\n0,0,0,9\n", encoding="utf-16")
    assert "is UTF-16 text, not UTF-8" in command("look", tmp_path / "log.csv").err


def test_of_ranges_that_the_log_does_not_tell_apart_the_one_at_power_on_is_assumed(tmp_path):
    """A level drive does not show the range of raw counts; an MPU-6050 starts at 250 deg/s."""
    log = drive()
    counts = [1e3 * log.t, log.acc_s * 16384 / G, np.degrees(log.gyr_s) * 131]
    found = command("look", table(tmp_path / "log.csv", "millis,ax,ay,az,gx,gy,gz", counts, "%d"), "--json")
    assert json.loads(found.out)["mapping"]["gyr_x"]["counts_per_unit"] == 131.0


def test_clock_times_in_a_file_of_a_ready_mapping(tmp_path):
    """Physics Toolbox writes either: the commands that look prints must work."""
    t, acc, gyr = tumble()
    rows = np.column_stack([rfu(acc) / G, rfu(gyr)])
    cells = [",".join([w, *(f"{x:.6f}" for x in row)]) for w, row in zip(spelled(t, "%H:%M:%S:%f"), rows, strict=True)]
    (tmp_path / "log.csv").write_text("time,gFx,gFy,gFz,wx,wy,wz\n" + "\n".join(cells) + "\n")
    found = command("look", tmp_path / "log.csv", "-o", tmp_path / "log.toml")
    assert found.code == 0 and "--columns physics-toolbox" not in found.out
    read = read_one(tmp_path / "log.csv", columns=read_mapping(tmp_path / "log.toml"))
    assert np.abs(read.acc_s - acc).max() < 1e-4


def test_commands_for_a_log_of_several_sensors_name_the_sensor(tmp_path):
    from strapdown.io import write

    write(tmp_path / "two.parquet", {"imu": drive(), "foot": drive()})
    found = command("look", tmp_path / "two.parquet")
    assert f"strapdown orient {tmp_path / 'two.parquet'} --topic foot -o attitude" in found.out
    sensors = json.loads(command("look", tmp_path / "two.parquet", "--json").out)["sensors"]
    assert all(f"--topic {name}" in each["steps"][0]["command"] for name, each in sensors.items())
