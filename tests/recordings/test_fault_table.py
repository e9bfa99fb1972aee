"""Fault by entry point: every way into the program gives the same verdict on a log, in the same sentence.

Wrong units and signs are always reported: refused where physics is certain, else warned. Where a log cannot show a
fault, the table states why.
"""

import re
from dataclasses import replace

import numpy as np
import pytest
from fault_cases import COMMANDS, ENTRIES, FAULTS, commanded, hand, library, right, written

from helpers import command
from strapdown import io
from strapdown.errors import InputError
from strapdown.recordings.examination.verdict import examine
from strapdown.types import Recording

ALL = ("hand", "drive", "table", "poses", "tumble")  # and "heated", which is as "table"


def everywhere(kind, severity, *but):
    return {log: (kind, severity) for log in ALL if log not in but}


REST = "accept"  # a log at rest does not show how axes turn
ALL_FACES = "accept"  # the sensor shows all its faces up, so none of them can be wrong
HARMLESS = "accept"  # a rotation of all readings together is how a sensor may sit
# fault: kind of log: (kind of finding, severity), or why there is none
TABLE = {
    "gyroscope in deg/s": {
        **everywhere("gyroscope_at_rest", "refuse"),
        "tumble": ("gyroscope_rate", "refuse"),  # by its usual size already
    },
    "time in ms": everywhere("time_unit", "refuse"),
    "accelerometer in g": everywhere("accelerometer_unit", "refuse"),
    "accelerometer scaled by 1.2": everywhere("accelerometer_scale", "refuse"),
    # a sensor upside down looks the same: not certain
    "accelerometer sign turned": {
        **everywhere("z_down", "warn", "poses", "tumble"),
        "poses": ALL_FACES,
        "tumble": ALL_FACES,
    },
    "forward-right-down": {**everywhere("z_down", "warn", "poses", "tumble"), "poses": HARMLESS, "tumble": HARMLESS},
    "gyroscope x and y swapped": {
        **everywhere("gyroscope_axes", "refuse", "drive", "table"),
        "drive": "accept",  # on a floor both read 0
        "table": REST,
    },
    "gyroscope z turned": {
        **everywhere("gyroscope_axes", "refuse", "drive", "table"),
        "drive": (
            "gyroscope_axes",
            "warn",
        ),  # gravity does not turn on a floor; the field does, and may mislead
        "table": REST,
    },
    "magnetometer x and y swapped": {
        **everywhere("magnetometer_axes", "warn", "drive", "table"),
        "drive": ("gyroscope_axes", "warn"),  # two instruments that contradict, and no third to tell which is wrong
        "table": REST,
    },
    "magnetometer at full scale": {
        **everywhere("magnetometer_saturated", "refuse", "drive", "table"),
        "drive": ("magnetometer_axis_stuck", "refuse"),
        "table": ("magnetometer_axis_stuck", "refuse"),
    },
    "magnetometer in gauss": everywhere("magnetometer_unit", "refuse"),
    "magnetometer slower": everywhere("magnetometer_slow", "note"),
}
for verdicts in TABLE.values():
    verdicts["heated"] = verdicts["table"]
# a level sensor has z up: the doubt is certain; a calibration is applied to a sensor in any attitude: there is none
OTHERWISE = {("calibrate static", "z_down"): "refuse", ("apply", "z_down"): "accept"}
# take no reading of the magnetometer
NO_FIELD = ("calibrate static", "calibrate positions", "calibrate temperature", "dead reckoning")


@pytest.mark.parametrize("kind", ALL)
def test_right_logs_have_no_finding(kind):
    assert examine(right(kind)).kinds == {}
    assert examine(right(kind), rests=kind in ("table", "poses")).kinds == {}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_examination_finds_what_the_table_says(fault):
    for kind, expected in TABLE[fault].items():
        found = examine(FAULTS[fault](right(kind)), rests=kind in ("table", "poses"))
        if expected == "accept":
            assert not found.of("refuse") and not found.of("warn"), kind
        else:
            assert (expected[0], expected[1]) in found.kinds.items(), (kind, found.kinds)


def wanted(fault, name):
    """(severity, sentence) that the entry point must give."""
    entry = ENTRIES[name]
    log = FAULTS[fault](right(entry.log))
    expected = TABLE[fault][entry.log]
    if expected == "accept" or (name in NO_FIELD and expected[0].startswith("magnetometer")):
        return "accept", ""
    kind, severity = expected
    rests = (name.startswith("calibrate") and name != "calibrate magnetometer") or name == "allan"
    sentence = next(f.sentence for f in examine(log, rests=rests) if f.kind == kind)
    severity = OTHERWISE.get((name, kind), severity)
    if severity in ("note", "accept"):
        return "accept", sentence if severity == "note" else ""
    return severity, sentence


def without_numbers(text):
    """Entry points average over different parts of a log, so that the last digits differ."""
    return re.sub(r"[-+]?\d[\d.e-]*", "#", text)


@pytest.mark.parametrize("name", ENTRIES)
@pytest.mark.parametrize("fault", FAULTS)
def test_library_and_command_give_the_same_verdict(tmp_path, fault, name):
    entry = ENTRIES[name]
    log = FAULTS[fault](right(entry.log))
    severity, sentence = wanted(fault, name)
    verdict, said = library(entry, log)
    assert verdict == severity, said
    assert severity == "accept" or without_numbers(sentence) in [without_numbers(text) for text in said], said
    if entry.words:
        verdict, err = commanded(entry, written(tmp_path / "log.parquet", log))
        assert verdict == severity and without_numbers(sentence) in without_numbers(err), err


@pytest.mark.parametrize("name", ENTRIES)
def test_right_logs_are_accepted_by_all(tmp_path, name):
    entry = ENTRIES[name]
    assert library(entry, right(entry.log)) == ("accept", [])
    if entry.words:
        assert commanded(entry, written(tmp_path / "log.parquet", right(entry.log)))[0] == "accept"


def test_ms_at_1_khz_look_like_a_sample_a_second_and_are_a_doubt():
    """Chambers and nights are logged so, and at that step motion cannot be followed: physics cannot be certain."""
    fast = hand(1000.0)
    assert examine(replace(fast, t=1e3 * fast.t)).kinds == {"time_unit": "warn"}
    assert examine(right("table")[::100]).kinds == {"time_unit": "warn"}
    assert library(ENTRIES["orient"], replace(fast, t=1e3 * fast.t))[0] == "warn"
    assert library(ENTRIES["navigate"], replace(fast, t=1e3 * fast.t))[0] == "refuse"  # it cannot follow such steps


# ---------------------------------------------------------------- faults of a file


def spoilt_csv(path, log, spoil):
    io.write(path, {"imu": log})
    lines = path.read_text(encoding="utf-8").splitlines()
    head = next(i for i, line in enumerate(lines) if line.startswith("sensor"))
    path.write_text("\n".join(spoil(lines, head)) + "\n", encoding="utf-8")
    return path


def blank(lines, head):
    cells = lines[head + 50].split(",")
    cells[-1] = ""
    lines[head + 50] = ",".join(cells)
    return lines


def repeated(lines, head):
    cells = lines[head + 2].split(",")
    cells[1] = lines[head + 1].split(",")[1]
    lines[head + 2] = ",".join(cells)
    return lines


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (blank, "is empty, but sensor imu has it in other rows"),
        (repeated, 'sensor imu: t repeats at sample 1 (0 s, then 0 s), 1 of 300 samples; keep one sample for each '
         'time, or give t = { column = ..., repeated = "spread" }'),
    ],
)  # fmt: skip
def test_faults_of_a_file_are_one_sentence_everywhere(tmp_path, spoil, words, name):
    log = replace(right(ENTRIES[name].log)[:300], stop=None)
    path = spoilt_csv(tmp_path / "log.csv", log, spoil)
    verdict, err = commanded(ENTRIES[name], path)
    assert verdict == "refuse" and words in err
    with pytest.raises(InputError, match=r"t repeats at sample 1|is empty"):
        io.read_one(path)


def test_a_repeated_first_stamp_is_refused_by_the_type_and_spread_by_a_mapping(tmp_path):
    log = right("table")[:300]
    with pytest.raises(InputError, match="t repeats at sample 1"):
        Recording(np.concatenate([log.t[:1], log.t[:-1]]), acc_s=log.acc_s)
    path = spoilt_csv(tmp_path / "log.csv", log, repeated)
    header = next(line for line in path.read_text().splitlines() if line.startswith("sensor"))
    columns = {"t": {"column": "t [s]", "repeated": "spread"}, "sensor": "sensor"}
    columns |= {f"gyr_{axis}": f"gyr_{axis} [rad/s, s]" for axis in "xyz"}
    assert "t [s]" in header
    again = io.read_one(path, columns=columns)
    # the first two stamps are 0: the first sample came a step earlier
    assert again.t[0] == pytest.approx(-0.01, rel=0.01) and again.t[1] == 0.0
    assert np.array_equal(again.gyr_s, log.gyr_s)


def test_a_slower_magnetometer_gives_the_same_flags_to_all():
    """Blank cells held by a mapping, or rows repeated by the logger: the same readings are new."""
    from strapdown.calibration.magnetometer.checks import usable_rows
    from strapdown.orientation.samples import samples_of

    log = FAULTS["magnetometer slower"](right("tumble"))
    every_fifth = np.arange(len(log)) % 5 == 0
    assert np.array_equal(samples_of(log).mag_new, every_fifth)
    assert np.array_equal(log.new["mag_s"], every_fifth)  # as navigation and live steps ask
    assert np.array_equal(usable_rows(log)[0], every_fifth)


def test_a_mapping_that_names_the_frame_or_the_unit_ends_the_warning(tmp_path):
    """The remedy that the sentence gives works."""
    log = FAULTS["forward-right-down"](right("hand"))
    table = np.column_stack([log.t, log.gyr_s, log.acc_s, log.mag_s])
    names = "time,gx,gy,gz,ax,ay,az,mx,my,mz"
    np.savetxt(tmp_path / "log.csv", table, delimiter=",", header=names, comments="", fmt="%.17g")
    lines = ['t = "time"']
    for ours, theirs in (("gyr", "g"), ("acc", "a"), ("mag", "m")):
        lines += [f'{ours}_{axis} = "{theirs}{axis}"' for axis in "xyz"]
    for frame, verdict in (("flu", "warn"), ("frd", "accept")):
        (tmp_path / "map.toml").write_text("\n".join([f'frame = "{frame}"', *lines]), encoding="utf-8")
        said = command("orient", tmp_path / "log.csv", "--filter", "mahony", "--columns", tmp_path / "map.toml")
        assert said.code == 0 and ("warn" if "points down" in said.err else "accept") == verdict
