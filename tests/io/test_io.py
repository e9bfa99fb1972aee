"""Recordings in files: nothing is lost, and a file is whole or not there."""

import stat
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from io_cases import SUFFIXES, assert_same_bits, names_in, recording
from strapdown.errors import InputError
from strapdown.io import COLUMNS, read, read_one, whole_file, write
from strapdown.types import Increments, Recording

# ---------------------------------------------------------------- what is written reads back


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_several_sensors_read_back_to_the_same_bits(tmp_path, suffix):
    sensors = {
        "imu": recording(6, 1),
        'odd, "name" ü': recording(4, 2, truth=False, increments=False, meta={"x": [1, None, {"a": True}]}),
        "clock": Recording([3.0, 4.0]),
    }
    write(tmp_path / f"log.{suffix}", sensors)
    back = read(tmp_path / f"log.{suffix}")
    assert list(back) == list(sensors)
    for name, sensor in sensors.items():
        assert_same_bits(sensor, back[name])
    assert back["clock"].acc_s is None
    assert back["clock"].stop is None


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(bits=st.lists(st.integers(0, 2**64 - 1), min_size=3, max_size=30))
@example(bits=[1 << 63, 0, 1, (1 << 63) | 1, 0x7FEFFFFFFFFFFFFF, 0x000FFFFFFFFFFFFF])
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_finite_double_survives(tmp_path, suffix, bits):
    """Signed zeros, subnormals, the largest double: no digit is lost."""
    values = np.array(bits, dtype=np.uint64).view(np.float64)
    values = values[np.isfinite(values)]
    n = len(values) // 3
    if n:
        written = Recording(np.arange(n), acc_s=values[: 3 * n].reshape(n, 3))
        write(tmp_path / f"x.{suffix}", {"imu": written})
        assert_same_bits(written, read_one(tmp_path / f"x.{suffix}"))


def test_csv_keeps_two_hundred_thousand_random_bit_patterns(tmp_path):
    bits = np.random.default_rng(3).integers(0, 2**64, 200_000, dtype=np.uint64, endpoint=False)
    values = bits.view(np.float64)
    values = values[np.isfinite(values)]
    n = len(values) // 3
    written = Recording(np.arange(n), acc_s=values[: 3 * n].reshape(n, 3))
    write(tmp_path / "x.csv", {"imu": written})
    assert_same_bits(written, read_one(tmp_path / "x.csv"))


def test_csv_of_twenty_columns_and_1e5_rows(tmp_path):
    n = 100_000
    rng = np.random.default_rng(0)
    t = np.arange(n) / 200.0
    log = Recording(
        t,
        *rng.normal(size=(3, n, 3)),
        temperature=rng.normal(size=n),
        odometer=t,
        increments=Increments(t, np.full(n, 0.005), *rng.normal(size=(2, n, 3))),
    )
    write(tmp_path / "x.csv", {"imu": log})
    assert_same_bits(log, read_one(tmp_path / "x.csv"))


def test_csv_says_what_it_holds(tmp_path):
    write(
        tmp_path / "x.csv",
        {"imu": Recording([0.5], acc_s=[[0.0, -0.0, 9.81]], stop=[True], meta={"part": "P"})},
    )
    assert (tmp_path / "x.csv").read_text() == (
        '# strapdown 1\n# {"imu": {"part": "P"}}\n'
        'sensor,t [s],"acc_x [m/s2, s]","acc_y [m/s2, s]","acc_z [m/s2, s]",stop\n'
        "imu,0.5,0,-0,9.81,1\n"
    )


def test_parquet_says_what_it_holds(tmp_path):
    write(tmp_path / "x.parquet", {"imu": recording()})
    schema = pa.parquet.read_schema(tmp_path / "x.parquet")
    assert schema.names == [column.header for column in COLUMNS]
    assert schema.field("acc_x [m/s2, s]").metadata == {b"unit": b"m/s2", b"frame": b"s"}
    assert schema.metadata[b"strapdown"] == b"1"


def test_the_same_recordings_give_the_same_bytes(tmp_path):
    for suffix in SUFFIXES:
        for name in "ab":
            write(tmp_path / f"{name}.{suffix}", {"imu": recording()})
        assert (tmp_path / f"a.{suffix}").read_bytes() == (tmp_path / f"b.{suffix}").read_bytes()


def test_rows_of_two_sensors_may_be_mixed(tmp_path):
    (tmp_path / "x.csv").write_text(
        "sensor,t [s],temperature [degC],odometer [m]\nb,1,20,\na,1,,5\nb,2,21,\n\na,2,,6\n"
    )
    back = read(tmp_path / "x.csv")
    assert list(back) == ["b", "a"]
    assert back["a"].temperature is None
    assert back["a"].odometer.tolist() == [5.0, 6.0]
    assert back["b"].temperature.tolist() == [20.0, 21.0]


def test_read_one_wants_a_name_where_there_are_two(tmp_path):
    write(tmp_path / "x.csv", {"imu": recording(), "foot": recording(seed=1)})
    assert_same_bits(read_one(tmp_path / "x.csv", "foot"), recording(seed=1))
    for sensor in (None, "hand"):
        with pytest.raises(InputError, match="imu, foot"):
            read_one(tmp_path / "x.csv", sensor)


# ---------------------------------------------------------------- whole or not at all


def test_a_failing_writer_leaves_the_old_file_and_nothing_else(tmp_path):
    target = tmp_path / "figure.svg"
    target.write_text("old")
    for failure in (RuntimeError("boom"), KeyboardInterrupt(), OSError(28, "No space left on device")):
        with pytest.raises((RuntimeError, KeyboardInterrupt, InputError)), whole_file(target) as tmp:
            assert tmp.suffix == ".svg"
            assert tmp.parent == target.parent
            tmp.write_text("half")
            raise failure
    assert target.read_text() == "old"
    assert names_in(tmp_path) == ["figure.svg"]


def test_writing_keeps_permissions_and_links(tmp_path):
    target, link = tmp_path / "real.txt", tmp_path / "link.txt"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    with whole_file(link) as tmp:
        tmp.write_text("new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_places_that_cannot_be_written(tmp_path, suffix, monkeypatch):
    (tmp_path / f"folder.{suffix}").mkdir()
    for path, why in (
        (tmp_path / "none" / f"x.{suffix}", "does not exist; make it first"),
        (tmp_path / f"folder.{suffix}", "is a folder"),
        (tmp_path / f"zero\0.{suffix}", "null"),
        (tmp_path / f"{'long' * 100}.{suffix}", "too long"),
    ):
        with pytest.raises(InputError, match=why):
            write(path, {"imu": recording()})

    def refuse(*_args, **_kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputError, match="Permission denied; choose a folder you may write to"):
        write(tmp_path / f"x.{suffix}", {"imu": recording()})
    assert names_in(tmp_path) == [f"folder.{suffix}"]


def test_a_device_is_not_replaced_by_a_file():
    with pytest.raises(InputError, match="not a regular file"), whole_file("/dev/null"):
        pass


def test_what_cannot_be_written_is_said_and_leaves_nothing(tmp_path):
    bad_meta = (float("nan"), object(), {1, 2})
    for recordings, why in (
        ({}, "no recording"),
        ({"": recording()}, "sensor name"),
        ({"a\nb": recording()}, "sensor name"),
        *(({"imu": recording(meta={"noise": value})}, "meta 'noise' of sensor imu") for value in bad_meta),
    ):
        for suffix in SUFFIXES:
            with pytest.raises(InputError, match=why):
                write(tmp_path / f"x.{suffix}", recordings)
    with pytest.raises(InputError, match=r"\.csv, \.csv\.gz, \.parquet, \.mcap"):
        write(tmp_path / "x.txt", {"imu": recording()})
    with pytest.raises(InputError, match=r"\.csv, \.csv\.gz, \.parquet, \.mcap"):
        write(tmp_path / "x.xyz", {"imu": recording()})
    with pytest.raises(InputError, match=r"\.csv, \.csv\.gz, \.parquet, \.module, \.bag"):
        read(tmp_path / "x.xyz")
    assert names_in(tmp_path) == []
