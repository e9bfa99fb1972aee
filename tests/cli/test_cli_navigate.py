"""strapdown navigate and evaluate, as a user runs them on the log of a virtual robot."""

import json
from dataclasses import replace

import numpy as np
import pytest

from helpers import command
from paper_c_cases import DECLINATION, drive
from strapdown import io
from strapdown.io.solutions.file import read_solution

# the virtual robot starts exactly as stated
KNOWN = ("--heading", "0", "--heading-sigma", "0", "--lever", "0,0,0", "--declination", str(np.degrees(DECLINATION)))


@pytest.fixture(scope="module")
def square(tmp_path_factory):
    """A calibrated robot's drive of paper C's square, stop flags and truth in the log."""
    folder = tmp_path_factory.mktemp("square")
    io.write(folder / "drive.parquet", {"robot": drive("square", 3).log})
    return folder / "drive.parquet"


def test_both_filters_with_tables_report_and_solutions(square, tmp_path):
    out = tmp_path / "out"
    arguments = ("--filter", "eskf,ekf15", *KNOWN, "-o", str(out), "--json")
    said = command("navigate", str(square), *arguments)
    assert said.code == 0, said.err
    document = json.loads(said.out)
    ours, paper = document["filters"]["eskf"], document["filters"]["ekf15"]
    assert len(ours["stops"]) == len(paper["stops"]) == 17
    assert ours["against_truth"]["final_percent"] < 1.5  # the claim of reproduce C is 1.0 for 95 of 100 robots
    assert ours["stops"][-1]["percent"] == pytest.approx(100 * ours["stops"][-1]["dr_m"] / 4.8, rel=1e-6)
    assert read_solution(out / "eskf.csv").p_n[-1].tolist() == ours["last_position_m"]
    report = (out / "report.html").read_text(encoding="utf-8")
    assert "eskf" in report and "ekf15" in report and "http://" not in report.replace("http://www.w3.org", "")
    assert (out / "trajectory.png").read_bytes().startswith(b"\x89PNG")
    told = command("evaluate", str(out / "eskf.csv"), str(square), "--json")
    assert told.code == 0, told.err
    assert json.loads(told.out)["final_percent"] == pytest.approx(ours["against_truth"]["final_percent"], rel=1e-9)
    assert "NEES" in command("evaluate", str(out / "eskf.csv"), str(square)).out


def test_the_smoother_lowers_the_largest_error(square):
    plain, smoothed = (
        json.loads(command("navigate", str(square), *KNOWN, "--json", *more).out)["filters"]["eskf"]
        for more in ((), ("--smooth",))
    )
    # chance: on the average of many robots it is lower (docs/navigation.md)
    assert smoothed["against_truth"]["horizontal"]["rms"] <= 1.1 * plain["against_truth"]["horizontal"]["rms"]


def test_stops_in_order_are_a_reference(square, tmp_path):
    """As paper C has them: marks on the floor, no times."""
    log = io.read_one(square)
    from strapdown.evaluation.stops import stops_of_motion

    marks = stops_of_motion(log.truth, log.stop).p_n[1:, :2]
    (tmp_path / "marks.csv").write_text("x,y\n" + "\n".join(f"{x},{y}" for x, y in marks), encoding="utf-8")
    io.write(tmp_path / "log.csv", {"robot": replace(log, truth=None)})
    said = command("navigate", str(tmp_path / "log.csv"), *KNOWN, "--reference", str(tmp_path / "marks.csv"), "--json")
    assert said.code == 0, said.err
    rows = json.loads(said.out)["filters"]["eskf"]["stops"]
    assert len(rows) == len(marks)
    assert rows[-1]["percent"] < 1.5


def test_a_log_without_stop_flag_is_navigated_by_the_sensor_alone(square, tmp_path):
    io.write(tmp_path / "log.parquet", {"robot": replace(io.read_one(square), stop=None)})
    said = command("navigate", str(tmp_path / "log.parquet"), *KNOWN, "--json")
    assert said.code == 0, said.err
    document = json.loads(said.out)
    assert any("no stop flag" in note for note in document["notes"])
    assert document["filters"]["eskf"]["against_truth"]["final_percent"] < 1.5


@pytest.mark.parametrize(
    ("change", "arguments", "word"),
    [
        ({}, ("--filter", "kalman"), "valid names"),
        ({}, ("--vehicle", "boat"), "valid"),
        ({"gyr_s": None}, (), "gyroscope"),
        ({}, ("--reference", "none.csv"), "none.csv"),
        ({}, ("--calibration", "none.toml"), "none.toml"),
        ({}, ("--filter", "ekf15", "--vehicle", "foot"), "use eskf"),
        ({}, ("--odometer", "wheel"), "wheel"),
        ({}, ("--filter", ""), "valid names"),
        ({}, ("--filter", " , "), "valid names"),
        ({}, ("--declination", "400"), "from -180 to 180"),
        ({}, ("--heading", "0", "--heading-sigma", "-1"), "--heading-sigma"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(square, tmp_path, change, arguments, word):
    io.write(tmp_path / "log.parquet", {"robot": replace(io.read_one(square), **change)})
    said = command("navigate", str(tmp_path / "log.parquet"), *arguments, "-o", str(tmp_path / "out"))
    assert said.code == 2
    assert word in said.err
    assert len(said.err.strip().splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_a_log_that_begins_in_motion_is_refused(square, tmp_path):
    log = io.read_one(square)
    late = np.flatnonzero(~log.stop)[0] + 20
    cut = replace(log, t=log.t[late:], **{f: getattr(log, f)[late:] for f in ("gyr_s", "acc_s", "stop")}, mag_s=None,
                  temperature=None, odometer=None, clipped=None, truth=None)  # fmt: skip
    io.write(tmp_path / "log.parquet", {"robot": cut})
    said = command("navigate", str(tmp_path / "log.parquet"), "--heading", "0")
    assert said.code == 2
    assert "rest" in said.err


def test_a_reference_of_another_time_is_one_sentence(square, tmp_path):
    out = tmp_path / "out"
    assert command("navigate", str(square), "--heading", "0", "-o", str(out)).code == 0
    log = io.read_one(square)
    later = replace(log, t=log.t + 1e4, truth=replace(log.truth, t=log.t + 1e4))
    io.write(tmp_path / "later.parquet", {"robot": later})
    said = command("evaluate", str(out / "eskf.csv"), str(tmp_path / "later.parquet"))
    assert said.code == 2
    assert len(said.err.strip().splitlines()) == 1

    said = command("navigate", str(square), "--heading", "0", "--reference", str(tmp_path / "later.parquet"))
    assert said.code == 2
    assert "of the same run and clock" in said.err
    said = command("navigate", str(out / "eskf.csv"), "--heading", "0")  # a solution is no log
    assert said.code == 2
    assert "is a solution" in said.err and len(said.err) < 300


def test_milliseconds_called_seconds_are_one_sentence(square, tmp_path):
    log = io.read_one(square)
    io.write(tmp_path / "ms.parquet", {"robot": replace(log, t=1e3 * log.t, truth=None)})
    said = command("navigate", str(tmp_path / "ms.parquet"), "--heading", "0")
    assert said.code == 2
    assert "usual step of the log is 10 s" in said.err and "ms" in said.err


def test_a_folder_that_cannot_be_is_refused_before_the_work(square, tmp_path):
    (tmp_path / "file").write_text("here", encoding="utf-8")
    said = command("navigate", str(square), "--heading", "0", "-o", str(tmp_path / "file" / "out"))
    assert said.code == 2 and "choose another" in said.err and len(said.err.strip().splitlines()) == 1
    assert "navigating" not in said.out


def test_units_of_g_are_one_sentence(square, tmp_path):
    log = io.read_one(square)
    io.write(tmp_path / "log.parquet", {"robot": replace(log, acc_s=log.acc_s / 9.80665)})
    for vehicle in ("robot", "foot"):
        said = command("navigate", str(tmp_path / "log.parquet"), "--heading", "0", "--vehicle", vehicle)
        assert (
            said.code == 2
            and "the readings look like g" in said.err
            and "--columns" in said.err
            and len(said.err.strip().splitlines()) == 1
        )


def test_notes_tell_unknown_heading_short_reference_and_events(square, tmp_path):
    log = io.read_one(square)
    half = log.t <= 0.5 * log.t[-1]
    truth = log.truth[half]
    rows = np.column_stack([truth.t, truth.p_n])
    places = tmp_path / "places.csv"
    np.savetxt(places, rows, delimiter=",", header="t [s],p_x [m],p_y [m],p_z [m]", comments="")
    gap = (log.t < 20.0) | (log.t > 22.0)
    cut = replace(log, t=log.t[gap], gyr_s=log.gyr_s[gap], acc_s=log.acc_s[gap], stop=log.stop[gap], mag_s=None,
                  temperature=None, odometer=None, clipped=None, truth=None)  # fmt: skip
    io.write(tmp_path / "log.parquet", {"robot": cut})
    said = command(
        *("navigate", str(tmp_path / "log.parquet"), "--filter", "eskf,ekf15", "--smooth"),
        *("--reference", str(places), "--json"),
    )
    assert said.code == 0, said.err
    notes = json.loads(said.out)["notes"]
    for word in ("drawn heading north", "50 %", "gap: 1 (first at t = 1", "ekf15 has no smoother: it is not smoothed"):
        assert any(word in note for note in notes), (word, notes)
    sigma = json.loads(said.out)["filters"]["eskf"]["last_sigma_m"]
    assert max(sigma[:2]) > 0.3  # m: the heading is unknown, so is the place
