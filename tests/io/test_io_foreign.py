"""Foreign and bad files: a mapping reads them, or one sentence states why not."""

import gzip
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_cases import FUZZ, SUFFIXES, recording, spoken
from strapdown.earth import STANDARD_GRAVITY
from strapdown.errors import InputError
from strapdown.io import COLUMNS, UNITS, read, read_mapping, read_one, write
from strapdown.types import Recording

# ---------------------------------------------------------------- foreign files

PHONE = "time,ax,ay,az,gx,gy,gz,note\n0,0,0,1,0,0,180,a\n5,0.5,0,-1,90,0,0,b\n"
PHONE_COLUMNS = {
    "t": {"column": "time", "unit": "ms"},
    **{f"acc_{a}": {"column": f"a{a}", "unit": "g"} for a in "xyz"},
    **{f"gyr_{a}": {"column": f"g{a}", "unit": "deg/s"} for a in "xyz"},
}


def test_a_mapping_reads_a_foreign_file_into_our_units(tmp_path):
    (tmp_path / "phone.csv").write_text(PHONE)
    log = read_one(tmp_path / "phone.csv", columns=PHONE_COLUMNS)
    assert log.t.tolist() == [0.0, 0.005]
    assert log.acc_s.tolist() == [
        [0.0, 0.0, STANDARD_GRAVITY],
        [0.5 * STANDARD_GRAVITY, 0.0, -STANDARD_GRAVITY],
    ]
    assert log.gyr_s.tolist() == [[0.0, 0.0, np.pi], [np.pi / 2, 0.0, 0.0]]
    assert list(read(tmp_path / "phone.csv", PHONE_COLUMNS)) == ["phone"]


@pytest.mark.parametrize("head", ["# made by a phone\n\nversion;3\n", "\ufeff"])
@pytest.mark.parametrize("delimiter", [";", "\t", ","])
def test_notes_marks_and_separators_of_foreign_files(tmp_path, head, delimiter):
    text = head + PHONE.replace(",", delimiter).replace("\n", "\r\n")
    (tmp_path / "phone.csv").write_bytes(text.encode())
    assert read_one(tmp_path / "phone.csv", columns=PHONE_COLUMNS).t.tolist() == [0.0, 0.005]


@pytest.mark.parametrize("form", ["%d", "%.1f", "%.18e"])
@pytest.mark.parametrize("point", [".", ","])
def test_flags_and_decimal_points_as_programs_write_them(tmp_path, form, point):
    rows = [f"{i / 2};{form % (i % 2)}" for i in range(4)]
    (tmp_path / "x.csv").write_text("time;halt\n" + "\n".join(rows).replace(".", point) + "\n")
    log = read_one(tmp_path / "x.csv", columns={"t": "time", "stop": "halt"})
    assert log.t.tolist() == [0.0, 0.5, 1.0, 1.5]
    assert log.stop.tolist() == [False, True, False, True]
    (tmp_path / "x.csv").write_text(f"time;halt\n0{point}5;2\n")
    assert "line 2: stop is '2'" in spoken(tmp_path / "x.csv", {"t": "time", "stop": "halt"})


def test_another_separator_is_named(tmp_path):
    (tmp_path / "x.csv").write_text("t [s];stop\n0;1\n")
    assert "separated by semicolons" in spoken(tmp_path / "x.csv", None)
    (tmp_path / "x.csv").write_text("time stop\n0 1\n")
    assert "separated by spaces" in spoken(tmp_path / "x.csv", {"t": "time"})


def test_a_clock_slower_than_its_sensor_is_spread_if_asked_for(tmp_path):
    (tmp_path / "x.csv").write_text("time,T\n0,1\n1,2\n3,3\n3,4\n6,5\n6,6\n6,7\n")
    spread = {"t": {"column": "time", "repeated": "spread"}, "temperature": "T"}
    assert read_one(tmp_path / "x.csv", columns=spread).t.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert "t repeats" in spoken(tmp_path / "x.csv", {"t": "time", "temperature": "T"})
    for wrong in (
        {"t": {"column": "time", "repeated": "drop"}},
        {"t": "time", "temperature": {"column": "T", "repeated": "spread"}},
    ):
        with pytest.raises(InputError, match='as "spread"'):
            read(tmp_path / "x.csv", wrong)
    (tmp_path / "back.csv").write_text("time,T\n0,1\n2,2\n1,3\n")
    assert "goes backward" in spoken(tmp_path / "back.csv", spread)


def test_a_mapping_reads_foreign_parquet(tmp_path):
    table = pa.table({"imu.time": pa.array([0, 5_000_000], pa.int64()), "T": pa.array([293.15, 0.0], pa.float32())})
    pa.parquet.write_table(table, tmp_path / "x.parquet")
    columns = {"t": {"column": "imu.time", "unit": "ns"}, "temperature": {"column": "T", "unit": "K"}}
    log = read_one(tmp_path / "x.parquet", columns=columns)
    assert log.t.tolist() == [0.0, 0.005]
    np.testing.assert_allclose(log.temperature, [20.0, -273.15], atol=2e-5)  # float32 has 7 digits of 293


def test_a_mapping_is_a_small_toml_file(tmp_path):
    lines = [f'{ours} = {{ column = "{e["column"]}", unit = "{e["unit"]}" }}' for ours, e in PHONE_COLUMNS.items()]
    (tmp_path / "phone.toml").write_text("\n".join(lines))
    assert read_mapping(tmp_path / "phone.toml") == PHONE_COLUMNS
    for text, why in (
        ("t = ", "not valid TOML"),
        ("", "maps no column"),
        ('speed = "v"', "speed"),
        ('t = { column = "time", unit = "h" }', "s, ms, us, ns"),
        ("t = 3", "column mapping of t"),
        ('t = { name = "time" }', "column mapping of t"),
        ('stop = { column = "halt", unit = "m" }', "has none"),
    ):
        (tmp_path / "bad.toml").write_text(text)
        with pytest.raises(InputError, match=why) as caught:
            read_mapping(tmp_path / "bad.toml")
        assert "bad.toml" in str(caught.value)
    with pytest.raises(InputError, match="does not exist"):
        read_mapping(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("name", "value", "unit", "expected"),
    [
        *(("t", v, u, 2.0) for u, v in (("s", 2), ("ms", 2e3), ("us", 2e6), ("ns", 2e9))),
        *(("acc_x", v, u, 9.80665) for u, v in (("m/s2", 9.80665), ("g", 1), ("mg", 1e3))),
        *(("gyr_x", v, u, np.pi) for u, v in (("rad/s", np.pi), ("deg/s", 180))),
        *(("mag_x", v, u, 50.0) for u, v in (("uT", 50), ("nT", 5e4), ("mT", 0.05), ("G", 0.5), ("gauss", 0.5))),
        *(("temperature", v, u, 20.0) for u, v in (("degC", 20), ("K", 293.15))),
        *(("odometer", v, u, 1.5) for u, v in (("m", 1.5), ("mm", 1500))),
    ],
)
def test_units(tmp_path, name, value, unit, expected):
    assert UNITS[unit].convert(np.array([value])) == pytest.approx(expected, rel=1e-15)  # two roundings
    if name in ("odometer", "temperature"):  # our own headers may carry another unit as well
        (tmp_path / "x.csv").write_text(f"t [s],{name} [{unit}]\n0,{value}\n")
        assert getattr(read_one(tmp_path / "x.csv"), name)[0] == pytest.approx(expected, rel=1e-15)


def test_every_column_is_in_the_docs():
    text = (Path(__file__).parents[2] / "docs" / "io.md").read_text(encoding="utf-8")
    for column in COLUMNS:
        assert column.axis not in (None, 0) or f"`{column.header}" in text, column.header


def test_a_foreign_file_without_mapping_says_how_to_give_one(tmp_path):
    (tmp_path / "phone.csv").write_text(PHONE)
    text = spoken(tmp_path / "phone.csv")
    assert "MAPPING.toml" in text and "docs/io.md" in text  # where all our names are
    assert len(text) - len(str(tmp_path)) < 300
    assert "--" not in text  # the library names no options; the commands do
    for word in ("time, ax, ay, az", '{"t": {"column": "time", "unit": "ms"}'):
        assert word in text


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"acc_x": "a_x"}, 'has no column "a_x", which the mapping names for acc_x; the closest is ax'),
        ({"acc_x": {"column": "ax", "unit": "deg/s"}}, "acc_x can be in m/s2, g, mg"),
        ({"speed": "ax"}, '"speed"; our columns are sensor, t'),
        ({"temperature": "note"}, "line 2: 'a' in column note is not a number"),
        ({"mag_x": "note"}, "part of mag_s, without mag_y, mag_z"),
        ({"mag_x": "ax"}, 'names column "ax" for acc_x and for mag_x; give each its own column'),
    ],
)
def test_wrong_mappings(tmp_path, change, why):
    (tmp_path / "phone.csv").write_text(PHONE)
    with pytest.raises(InputError) as caught:
        read(tmp_path / "phone.csv", {**PHONE_COLUMNS, **change})
    assert why in str(caught.value)


# ---------------------------------------------------------------- bad files

HEAD = 'sensor,t [s],"acc_x [m/s2, s]","acc_y [m/s2, s]","acc_z [m/s2, s]"\n'


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is empty"),
        ("\n \n", "is empty"),
        ("# strapdown 1\n# {}\n", "no header line"),
        (HEAD, "no rows"),
        ("1,2,3\n4,5,6\n", "none of our columns; it has 1, 2, 3"),
        ("t [s],gry_x\n1,1\n", "not known: gry_x (closest: gyr_x [rad/s, s]"),
        ("# strapdown 2\n" + HEAD, "format version '2'"),
        ("# strapdown 1\n# {nonsense\n" + HEAD, "line 2 has meta that is not JSON"),
        ('# strapdown 1\n# {"imu": 3}\n' + HEAD, "line 2 has meta that is not of the form"),
        (HEAD.replace("t [s],", "") + "imu,0,0,0\n", "no column t [s]"),
        ("t [s],t [ms]\n1,1\n", "has column t twice"),
        ('t [s],"acc_x [m/s2, s]"\n1,1\n', "part of acc_s, without acc_y, acc_z"),
        ('t [s],"true_p_x [m, n]"\n1,1\n', "part of truth, without true_p_y"),
        ("t [s],temperature\n1,1\n", "names no unit; write temperature [degC]"),
        ("t [s],temperature [m]\n1,1\n", "temperature can be in degC, K"),
        ('t [s],"acc_x [m/s2, b]"\n1,1\n', "expressed in frame b; expected acc_x [m/s2, s]"),
        (HEAD + "imu,0,0,0,0\nimu,1,0,zero,0\n", "line 3: 'zero' in column acc_y [m/s2, s] is not a number"),
        ("\n\n" + HEAD + "imu,0,0,0,0\n\nimu,1,0,0x1,0\n", "line 6: '0x1' in column acc_y"),
        (
            HEAD + "imu,0,0,0,0\nimu,0.25,0,nan,0\n",
            "line 3: acc_y of sensor imu is not finite at sample 1 (t = 0.25 s)",
        ),
        (HEAD + "imu,0,0,0,0\nimu,0.25,0,0,1e999\n", "line 3: acc_z of sensor imu is not finite"),
        (HEAD + "imu,0,0,0,0\nimu,nan,0,0,0\n", "line 3: t of sensor imu is not finite"),
        (
            HEAD + "imu,0,0,0,0\nimu,1,0,,0\n",
            'line 3: acc_y is empty, but sensor imu has it in other rows; fill the cell, or give empty = "drop" in a',
        ),
        (HEAD + "imu,0,0,,0\n", "sensor imu: acc_y empty but acc_x is not"),
        (HEAD + "imu,,0,0,0\n", "sensor imu: t is empty"),
        (HEAD + ",0,0,0,0\n", "line 2 has no sensor name"),
        (HEAD + "imu,0,0,0,0\nimu,0,0,0,0\n", "t repeats at sample 1"),
        (HEAD + "imu,1,0,0,0\nimu,0,0,0,0\n", "t goes backward at sample 1"),
        (HEAD + "imu,0,0,0,0\nimu,1,0,0\n", "line 3 has 4 cells, the header 5"),
        (HEAD + "imu,0,0,0,0,0\n", "line 2 has 6 cells, the header 5"),
        ("t [s],stop\n0,1\n1,maybe\n", "line 3: stop is 'maybe', expected 0 or 1"),
    ],
)
def test_bad_csv(tmp_path, text, why):
    (tmp_path / "x.csv").write_text(text)
    assert why in spoken(tmp_path / "x.csv")
    with gzip.open(tmp_path / "x.csv.gz", "wt") as packed:
        packed.write(text)
    assert why in spoken(tmp_path / "x.csv.gz")


def test_a_quaternion_that_is_not_unit_is_named_with_its_sample(tmp_path):
    write(tmp_path / "x.csv", {"imu": recording()})
    lines = (tmp_path / "x.csv").read_text().splitlines()
    index = [column.name for column in COLUMNS].index("true_q_x")
    cells = lines[5].split(",")
    cells[index] = "1e200"
    lines[5] = ",".join(cells)
    (tmp_path / "x.csv").write_text("\n".join(lines))
    assert "sensor imu: q_nb has norm inf at sample 2 (t = " in spoken(tmp_path / "x.csv")


def test_files_that_are_not_what_they_say(tmp_path):
    assert "does not exist; check the path" in spoken(tmp_path / "none.csv")
    for suffix in SUFFIXES:
        (tmp_path / f"folder.{suffix}").mkdir()
        assert "is a folder" in spoken(tmp_path / f"folder.{suffix}")
    (tmp_path / "utf16.csv").write_text(HEAD + "imu,0,0,0,0\n", encoding="utf-16")
    assert "line 1 is not UTF-8 text" in spoken(tmp_path / "utf16.csv")
    (tmp_path / "latin.csv").write_text(HEAD + "kü,0,0,0,0\n", encoding="latin-1")
    assert "UTF-8" in spoken(tmp_path / "latin.csv")
    (tmp_path / "plain.csv.gz").write_text(HEAD)
    assert "is not a whole gzip file" in spoken(tmp_path / "plain.csv.gz")
    (tmp_path / "text.parquet").write_text(HEAD)
    assert "is not a whole Parquet file" in spoken(tmp_path / "text.parquet")
    (tmp_path / "none.parquet").write_bytes(b"")
    assert "is empty" in spoken(tmp_path / "none.parquet")


def test_truncated_parquet(tmp_path):
    write(tmp_path / "x.parquet", {"imu": recording()})
    whole = (tmp_path / "x.parquet").read_bytes()
    for length in (1, 4, 8, len(whole) // 2, len(whole) - 1):
        (tmp_path / "x.parquet").write_bytes(whole[:length])
        assert "is not a whole Parquet file" in spoken(tmp_path / "x.parquet")


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ({"t [s]": ["a"]}, "column t [s] holds string, expected numbers"),
        ({"t [s]": [1.0], "sensor": [2]}, "column sensor holds int64, expected text"),
        ({"t [s]": [1.0], "stop": [0.5]}, "column stop holds double, expected true or false"),
        ({"t [s]": [1.0, float("nan")]}, "row 1: t of sensor x is not finite"),
        ({"t [s]": pa.array([], pa.float64())}, "no rows"),
        ({"time": [1.0]}, "none of our columns; it has time"),
    ],
)
def test_bad_parquet(tmp_path, columns, why):
    pa.parquet.write_table(pa.table(columns), tmp_path / "x.parquet")
    assert why in spoken(tmp_path / "x.parquet")


# ---------------------------------------------------------------- wild input: a valid result or InputError


def read_or_refuse(path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            for sensor in read(path).values():
                assert isinstance(sensor, Recording)
        except InputError as e:
            assert "\n" not in str(e)  # one sentence, one line


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(data=st.binary(max_size=300))
@FUZZ
def test_random_bytes(tmp_path, suffix, data):
    (tmp_path / f"x.{suffix}").write_bytes(data)
    read_or_refuse(tmp_path / f"x.{suffix}")


SPLICES = st.one_of(
    st.binary(max_size=8),
    st.text('0123456789.,-+e"\n\r# naif[]{}\0', max_size=8).map(str.encode),
    st.just(b"1e308"),
)


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(
    edits=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 20), SPLICES), min_size=1, max_size=4),
    in_footer=st.booleans(),
)
@FUZZ
def test_random_changes_of_a_good_file(tmp_path, suffix, edits, in_footer):
    path = tmp_path / f"good.{suffix}"
    if not path.exists():
        write(path, {"imu": recording(4), "foot": replace(recording(3, 1, truth=False), mag_s=None, new={})})
    data = path.read_bytes()
    # a Parquet file's structure is expressed in its footer: half of the changes go there
    begin = len(data) // 2 if in_footer and suffix == "parquet" else 0
    for where, drop, splice in edits:
        i = begin + int(where * (len(data) - begin))
        data = data[:i] + splice + data[i + drop :]
    (tmp_path / f"x.{suffix}").write_bytes(data)
    read_or_refuse(tmp_path / f"x.{suffix}")
