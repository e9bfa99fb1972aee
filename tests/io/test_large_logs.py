"""Large logs: read as a stream and held once, the same whatever its blocks, and every fault with its line."""

import gzip
import re
import threading
import time
import tracemalloc
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from helpers import command
from io_cases import assert_same_bits, spoken
from strapdown.cli.log import joined_log
from strapdown.errors import InputError
from strapdown.io import read, read_one, table, write
from strapdown.io.blocks import memory
from strapdown.io.blocks import text as text_blocks
from strapdown.io.solutions.file import read_solution, write_solution
from strapdown.live import Start
from strapdown.navigation.alignment import align_to_yaw
from strapdown.navigation.eskf.filter import Eskf
from strapdown.navigation.eskf.outputs import refuse_too_long
from strapdown.papers.c.drive import drive
from strapdown.reporting.report import MOST_STOPS, write_report
from strapdown.types import Recording, Solution

N = 230_000  # rows of about 50 MB of CSV


def log_of(n, seed=0):
    rng = np.random.default_rng(seed)
    t = np.arange(n) / 100.0
    triads = [rng.normal(size=(n, 3)) for _ in range(3)]
    return Recording(t, *triads, temperature=rng.normal(20.0, 5.0, n), stop=rng.random(n) > 0.5, odometer=t / 3.0)


def bytes_of(log):
    return sum(values.nbytes for values in vars(log).values() if isinstance(values, np.ndarray))


@pytest.fixture(scope="module")
def long_log():
    return log_of(N)


@pytest.fixture(scope="module")
def long_files(tmp_path_factory, long_log):
    paths = {suffix: tmp_path_factory.mktemp("long") / f"log.{suffix}" for suffix in ("csv", "parquet")}
    for path in paths.values():
        write(path, {"imu": long_log})
    return paths


@contextmanager
def peak_bytes():
    """[bytes] that Python and numpy had at most, above what they had before, and pyarrow, looked at every millisecond:
    its pools cannot be asked for their peak of a while, and replacing them crashes its threads now and then."""
    found, most, over = [], [0], threading.Event()
    before = pa.total_allocated_bytes()

    def look():
        while not over.is_set():
            most[0] = max(most[0], pa.total_allocated_bytes() - before)
            time.sleep(0.001)

    looking = threading.Thread(target=look)
    looking.start()
    tracemalloc.start()
    try:
        yield found
        found.append(tracemalloc.get_traced_memory()[1] + most[0])
    finally:
        tracemalloc.stop()
        over.set()
        looking.join()


# ---------------------------------------------------------------- how much memory


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_reading_needs_the_columns_and_a_block(long_files, suffix, long_log, monkeypatch):
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 1 << 20)
    with peak_bytes() as peak:
        back = read(long_files[suffix])
    assert_same_bits(back["imu"], long_log)
    columns = bytes_of(long_log)
    # a tenth of room that is not used while arrays grow, masks of a byte a number while they are checked, and blocks of
    # text with their table; all of the file and all of its columns once more would be 50 and 22 MB
    assert columns < peak[0] < 1.25 * columns + 8e6


def test_reading_a_gzipped_log_needs_no_more(tmp_path, monkeypatch):
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 1 << 18)
    log = log_of(30_000)
    write(tmp_path / "log.csv.gz", {"imu": log})
    with peak_bytes() as peak:
        back = read_one(tmp_path / "log.csv.gz")
    assert_same_bits(back, log)
    assert peak[0] < 1.25 * bytes_of(log) + 3e6  # as above; the text is 6 MB, and all in memory once more would be 9 MB


def test_arrays_of_a_file_are_taken_over_as_they_are(tmp_path):
    """Each owns its memory, is locked, and keeps no memory that it does not use."""
    write(tmp_path / "log.csv", {"imu": log_of(1000)})
    back = read_one(tmp_path / "log.csv")
    for name in ("t", "gyr_s", "acc_s", "mag_s", "temperature", "stop", "odometer"):
        values = getattr(back, name)
        assert values.flags.owndata and values.base is None and not values.flags.writeable, name


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_writing_needs_a_slice(tmp_path, suffix, monkeypatch):
    monkeypatch.setattr(table, "SLICE_ROWS", 5000)
    n = 60_000
    log = log_of(n)
    q_nb = np.tile([1.0, 0.0, 0.0, 0.0], (n, 1))
    solution = Solution(log.t, q_nb, log.gyr_s, log.acc_s, sigma={"p_n": np.abs(log.mag_s)})
    for what in (lambda path: write(path, {"imu": log}), lambda path: write_solution(path, solution)):
        with peak_bytes() as peak:
            what(tmp_path / f"x.{suffix}")
        assert peak[0] < 3e6, peak  # a slice of 14 columns is 0.6 MB, its text and its pages as much again; all is 6 MB
    back = read_solution(tmp_path / f"x.{suffix}")
    assert np.array_equal(back.v_n, solution.v_n) and np.array_equal(back.sigma["p_n"], solution.sigma["p_n"])


def test_a_run_of_the_filter_is_in_memory_once():
    lap = drive("straight", 1).log
    laps = 12
    n = laps * len(lap)
    tiled = {name: np.tile(getattr(lap, name), (laps, 1)) for name in ("gyr_s", "acc_s")}
    log = Recording(np.arange(n) / 100.0, **tiled, stop=np.tile(lap.stop, laps))
    filt, given = Eskf(), Start.of(log, alignment=align_to_yaw(log, 0.0, rest_s=5.0))
    filt.track(lap, given)
    with peak_bytes() as peak:
        track = filt.track(log, given)
    solution = track.solution
    held = sum(v.nbytes for v in (solution.q_nb, solution.p_n, solution.v_n, *solution.bias.values()))
    held += sum(v.nbytes for v in solution.sigma.values())
    assert held == 248 * n  # 31 doubles
    # 8 MB: what the kernel is about 20 000 samples; 60 bytes: steps, flags, innovations, checks. Twice would be 496 n
    assert peak[0] < held + 60 * n + 8e6


def test_a_report_of_many_stops_stays_short(tmp_path):
    """Of 5000 stops the first are in the table, and how many are not; the picture has fewer points than stops."""
    n, m = 50_000, 5000
    stop = (np.arange(n) // (n // m // 2)) % 2 == 0
    p_n = np.column_stack([np.cumsum(~stop) * 0.01, np.zeros((n, 2))])
    t = np.arange(n) / 10.0
    solution = Solution(t, np.tile([1.0, 0, 0, 0], (n, 1)), p_n, flags={"stop_believed": stop})
    write_report(tmp_path / "long.html", {"eskf": solution})
    text = (tmp_path / "long.html").read_text(encoding="utf-8")
    assert f"{m - MOST_STOPS} more stops are not shown" in text
    assert text.count("<tr") < MOST_STOPS + 100
    assert len(text) < 2e6  # all stops as marks of a picture are some MB


# ---------------------------------------------------------------- the same whatever the blocks

ROWS = [("imu", 0.5 * i, i * 0.1 - 3.0, i % 2) for i in range(300)]
HEAD = ("sensor", "t [s]", "temperature [degC]", "stop")


def text_of(rows, delimiter=",", end="\n", last="\n"):
    return end.join(delimiter.join(str(cell) for cell in row) for row in (HEAD, *rows)) + last


OWN = {"sensor": "sensor", "t": "t [s]", "temperature": "temperature [degC]", "stop": "stop"}


@pytest.mark.parametrize("block", [97, 256, 1000])
@pytest.mark.parametrize("suffix", ["csv", "csv.gz"])
@pytest.mark.parametrize(
    ("text", "columns"),
    [
        (text_of(ROWS), None),
        (text_of(ROWS, last=""), None),
        (text_of(ROWS, end="\r\n"), None),
        (text_of(ROWS, end="\r"), None),
        (text_of(ROWS, end="\n\n\n"), None),
        ("\ufeff" + text_of(ROWS), None),
        (text_of(ROWS, ";"), OWN),
        (text_of(ROWS, "\t", last=""), OWN),
        (text_of([(f'"{s}, {i % 3}"', *more) for i, (s, *more) in enumerate(ROWS)]), None),
        (
            text_of(
                [
                    (f"s{i % 2}", t, "" if i % 2 else temperature, stop)
                    for i, (_, t, temperature, stop) in enumerate(ROWS)
                ]
            ),
            None,
        ),
        (
            text_of(
                [
                    ("a" if i < 150 else "b", t, temperature, "" if i < 150 else stop)
                    for i, (_, t, temperature, stop) in enumerate(ROWS)
                ]
            ),
            None,
        ),
    ],
)
def test_a_file_reads_the_same_in_blocks(tmp_path, monkeypatch, text, columns, suffix, block):
    path = tmp_path / f"x.{suffix}"
    with gzip.open(path, "wb") if suffix == "csv.gz" else path.open("wb") as file:
        file.write(text.encode())
    whole = read(path, columns)
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", block)
    parts = read(path, columns)
    assert list(parts) == list(whole)
    assert sum(len(log) for log in parts.values()) == len(ROWS)
    for name, log in whole.items():
        assert_same_bits(parts[name], log)


FAULTS = [
    ("imu,zero,1,0", "line 251: 'zero' in column t [s] is not a number"),
    ("imu,125,1", "line 251 has 3 cells, the header 4"),
    ("imu,125,1,maybe", "line 251: stop is 'maybe', expected 0 or 1"),
    ("imu,125,,0", "line 251: temperature is empty, but sensor imu has it"),
    ("imu,125,nan,0", "line 251: temperature of sensor imu is not finite at sample {} (t = 125 s), 1 of {} samples"),
    (",125,1,0", "line 251 has no sensor name"),
    ("imu,1,1,0", "sensor imu: t goes backward at sample {}"),
]


@pytest.mark.parametrize("suffix", ["csv", "csv.gz"])
@pytest.mark.parametrize(("end", "blank"), [("\n", 0), ("\r\n", 40), ("\r", 0)])
@pytest.mark.parametrize(("row", "why"), FAULTS)
def test_a_fault_deep_inside_is_told_with_its_line(tmp_path, monkeypatch, row, why, end, blank, suffix):
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 500)
    lines = text_of(ROWS).split("\n")
    lines[250] = row
    for i in range(blank):
        lines[10 + i] = ""
    path = tmp_path / f"x.{suffix}"
    with gzip.open(path, "wb") if suffix == "csv.gz" else path.open("wb") as file:
        file.write(end.join(lines).encode())
    assert why.format(249 - blank, 300 - blank) in spoken(path)


def test_a_fault_deep_inside_a_long_file(tmp_path, long_files):
    """Blocks as they are: the fault stands in the third, behind 44 MB."""
    whole, t_s = long_files["csv"].read_bytes(), b"2000"  # of the row in line 200 004, three lines above the rows
    path = tmp_path / "log.csv"
    path.write_bytes(whole.replace(b"\nimu," + t_s + b",", b"\nimu,x" + t_s + b",", 1))
    assert "line 200004: 'x2000' in column t [s] is not a number" in spoken(path)


def test_a_file_that_is_no_text_is_refused_before_it_is_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 1000)
    (tmp_path / "x.csv").write_bytes(b"t [s]\n" + b"1" * 100_000)
    assert "line 2 is longer than" in spoken(tmp_path / "x.csv")


def test_parquet_of_many_row_groups_and_mixed_sensors(tmp_path):
    names = pa.array([f"s{i % 2}" for i in range(300)])
    t = np.arange(300) / 10.0
    heat = pa.array([None if i % 2 else float(i) for i in range(300)])
    path = tmp_path / "x.parquet"
    pa.parquet.write_table(pa.table({"t [s]": t, "temperature [K]": heat, "sensor": names}), path, row_group_size=7)
    back = read(path)
    assert back["s0"].temperature.tolist() == [i - 273.15 for i in range(0, 300, 2)]
    assert back["s1"].temperature is None and np.array_equal(back["s1"].t, t[1::2])
    bad = np.where(np.arange(300) == 290, np.nan, t)
    pa.parquet.write_table(pa.table({"t [s]": bad, "sensor": names}), path, row_group_size=7)
    assert "row 290: t of sensor s0 is not finite at sample 145, 1 of 150 samples" in spoken(path)


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "parquet"])
def test_progress_rises_to_one(tmp_path, suffix, monkeypatch):
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 100_000)
    monkeypatch.setattr(table, "SLICE_ROWS", 1000)
    write(tmp_path / f"x.{suffix}", {"imu": log_of(5000)})
    told = []
    read(tmp_path / f"x.{suffix}", done=told.append)
    assert len(told) > 3 and told == sorted(told) and told[-1] == 1.0


# ---------------------------------------------------------------- commands


def test_a_command_reads_its_log_once(tmp_path, monkeypatch):
    log = log_of(100)
    write(
        tmp_path / "log.csv",
        {
            "imu": replace(log, mag_s=None, odometer=None),
            "compass": Recording(log.t[::10], mag_s=log.mag_s[::10]),
            "wheel": Recording(log.t[::5], odometer=log.odometer[::5]),
        },
    )
    opened = []
    stream = text_blocks.text_blocks

    def counted(path, *more):
        opened.append(path)
        return stream(path, *more)

    monkeypatch.setattr("strapdown.io.csv.text_blocks", counted)
    joined = joined_log(tmp_path / "log.csv", "imu", None, "compass", "wheel")
    assert len(opened) == 1
    assert np.array_equal(joined.mag_s, np.repeat(log.mag_s[::10], 10, axis=0))
    assert np.abs(joined.odometer[:96] - log.odometer[:96]).max() < 1e-15  # roundoff of a straight line


def test_what_does_not_fit_into_memory_is_refused_in_a_sentence(tmp_path, monkeypatch):
    log = log_of(5000)
    for suffix in ("csv", "csv.gz", "parquet"):
        write(tmp_path / f"log.{suffix}", {"imu": log})
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 50_000)
    used = memory.used_bytes()
    monkeypatch.setattr(memory, "used_bytes", lambda: used)
    monkeypatch.setattr(memory, "physical_bytes", lambda: used + 0.7 * bytes_of(log))
    for suffix in ("csv", "csv.gz", "parquet"):
        text = spoken(tmp_path / f"log.{suffix}")
        assert re.search(
            r"about \d\S* rows of 13 columns, needs \S+ GB of memory and this machine has \S+; cut it", text
        )
        said = command("navigate", tmp_path / f"log.{suffix}")
        assert said.code == 2 and "needs" in said.err
    monkeypatch.setattr(memory, "physical_bytes", lambda: used + 400 * 10**6)
    refuse_too_long(10**6)
    with pytest.raises(InputError, match="navigating 2000000 samples needs"):
        refuse_too_long(2 * 10**6)
    monkeypatch.setattr(memory, "physical_bytes", lambda: None)
    refuse_too_long(10**15)


def test_a_container_may_have_less_than_the_machine(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "_CONTAINER_LIMIT", tmp_path / "memory.max")
    whole = memory.physical_bytes()
    for text, told in (("max\n", whole), ("123456789\n", 123456789), (f"{10 * whole}\n", whole)):
        (tmp_path / "memory.max").write_text(text)
        assert memory.physical_bytes() == told
