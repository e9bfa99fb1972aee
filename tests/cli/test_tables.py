"""Tables at 80 columns: no line is longer, no word is broken, whatever command prints them."""

import contextlib
import fcntl
import io
import os
import pty
import struct
import subprocess
import sys
import termios

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreign_cases import drive, table
from helpers import ROOT, command
from strapdown.cli import screen, tables
from strapdown.sensors.parts.part import catalogue

WIDTH = 80


def rendered(title, columns, rows, left, keys=1, width=WIDTH):
    console = tables.Screen(file=io.StringIO(), width=width, highlight=False)
    tables.print_table(console, title, columns, rows, left, keys)
    return console.file.getvalue()


def check(title, columns, rows, left, keys=1, width=WIDTH):
    """Lines fit, and every word of title, heads and cells is whole in some line."""
    text = rendered(title, columns, rows, left, keys, width)
    assert max(map(len, text.splitlines())) <= width
    words = {word for cell in (title, *columns, *(cell for row in rows for cell in row)) for word in cell.split()}
    shown = set(text.replace("│", " ").replace("┃", " ").split())
    assert words <= shown, words - shown


@pytest.fixture
def checked(monkeypatch):
    """Every table that a command shows, checked at 80 columns; how many there were."""
    seen = []

    def show(title, columns, rows, left=1, keys=1):
        check(title, columns, rows, left, keys)
        assert all(columns) and len(set(columns)) == len(columns), "columns have a name each"
        assert len({tuple(row[:keys]) for row in rows}) == len(rows), "the key columns identify a row"
        seen.append(title)

    monkeypatch.setattr(screen, "show_table", show)
    return seen


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    for name in ("six_positions", "tumble", "temperature"):
        rig = ROOT / "examples" / f"calibrate_{name}.toml"
        assert command("simulate", rig, "-o", folder / f"{name}.parquet").code == 0
    said = command("calibrate", "positions", folder / "six_positions.parquet", "-o", folder / "cal.toml")
    assert said.code == 0, said
    assert command("orient", folder / "tumble.parquet", "--filter", "vqf", "-o", folder).code == 0
    log = drive()
    header = "Time (s),Acceleration x (m/s^2),Acceleration y (m/s^2),Acceleration z (m/s^2),gx,gy,gz"
    table(folder / "foreign.csv", header, [log.t, log.acc_s, np.degrees(log.gyr_s)])
    return folder


@pytest.mark.parametrize(
    "arguments",
    [
        ("look", "{}/six_positions.parquet"),
        ("look", "{}/foreign.csv"),
        ("look", "--list"),
        ("sensors",),
        ("sensors", "compare", *(part.name for part in catalogue())),
        ("orient", "--list"),
        ("orient", "{}/tumble.parquet", "--compare", "all"),
        ("allan", "{}/temperature.parquet", "--sensor", "warm-up", "--fit"),
        ("calibrate", "positions", "{}/six_positions.parquet"),
        ("calibrate", "static", "{}/temperature.parquet", "--sensor", "chamber"),
        ("calibrate", "temperature", "{}/temperature.parquet", "--sensor", "chamber"),
        ("calibrate", "magnetometer", "{}/tumble.parquet"),
        ("calibrate", "check", "{}/cal.toml", "{}/six_positions.parquet"),
        ("evaluate", "{}/vqf.csv", "{}/tumble.parquet"),
        ("reproduce", "A", "a-d", "-o", "{}/reproduced"),
        *(("simulate", path, "-o", "{}/x.parquet") for path in sorted((ROOT / "examples").glob("*arm*.toml"))),
        *(("sensors", "show", part.name) for part in catalogue()),
    ],
    ids=lambda words: " ".join(str(word).rpartition("/")[2] for word in words[:3]),
)
def test_tables_of_commands(arguments, checked, logs):
    said = command(*(str(word).format(logs) for word in arguments))
    if arguments[0] == "evaluate":  # a solution of orientation has no places
        return
    assert said.code in (0, 1) and "internal error" not in said.err, said
    assert checked


def test_navigation_tables(checked):
    from strapdown.cli.navigate.show import show

    found = {
        "largest_percent_of_way": 123.45,
        "path_length_m": 1234.567,
        "last_position_m": [-1000.123, 1000.123, -0.123],
        "closing_error_m": 1414.2,
        "stops_believed": 1000,
        "warnings": ["the wheels contradict the accelerometer from t = 12.3 s on"],
        "against_truth": {"final_percent": 12.34, "largest_percent_of_path": 123.45},
    }
    show({"eskf": found, "ekf15": found})
    numbers = [f"{name} {what}" for name in ("paper C", "ours") for what in ("dx", "dy", "dr", "e, %")]
    rows = [[str(stop), "4.8", *["-0.1287"] * 8] for stop in range(14, 17)]
    screen.show_table("Error at every stop, m", ["stop", "L, m", *numbers], rows, keys=2)
    assert len(checked) == 2


text = st.text(alphabet="abc µ√°±,.-0123456789[]", max_size=30)


@settings(max_examples=200, deadline=None)
@given(st.data(), st.integers(1, 12), st.integers(1, 3), st.integers(1, 3), st.integers(40, 200))
def test_any_table(data, columns, left, keys, width):
    heads = data.draw(st.lists(text, min_size=columns, max_size=columns))
    rows = data.draw(st.lists(st.lists(text, min_size=columns, max_size=columns), max_size=4))
    words = [word for cell in (*heads, *(cell for row in rows for cell in row)) for word in cell.split()]
    if max(map(len, words), default=0) <= width // 2 - 8:  # two columns of such words fit
        check("some title", heads, rows, left, min(keys, columns), width)


def parts_of(text):
    """The cells of each part's lines, without the rules."""
    found = []
    for line in text.splitlines():
        if line.startswith("┏"):
            found.append([])
        elif line.startswith(("┃", "│")):
            found[-1].append([cell.strip() for cell in line.strip("┃│").replace("┃", "│").split("│")])
    return found


def test_every_part_of_a_split_table_identifies_its_rows():
    names = ["experiment", "method", *(f"value{i}, m/s2" for i in range(8))]
    rows = [[f"A-{i // 2}", "ab"[i % 2], *(f"{i}.{j}12345" for j in range(8))] for i in range(4)]
    parts = parts_of(rendered("t", names, rows, 2, keys=2))
    assert len(parts) > 1
    for part in parts:
        assert [line[:2] for line in part[-4:]] == [row[:2] for row in rows]
    columns = [len(part[0]) - 2 for part in parts]
    assert max(columns) - min(columns) <= 1  # shared out evenly


@pytest.mark.parametrize("keys", [["same"] * 4, [f"{'wide' * 17}{i}" for i in range(4)]], ids=["alike", "too wide"])
def test_rows_are_numbered_where_their_key_does_not_identify_them(keys):
    rows = [[key, *(f"{i}.{j}12345" for j in range(8))] for i, key in enumerate(keys)]
    parts = parts_of(rendered("t", ["key", *(f"value{i}" for i in range(8))], rows, 1))
    assert len(parts) > 1
    for part in parts:
        assert [line[0] for line in part if line[0].isdigit()] == ["1", "2", "3", "4"]


def test_a_table_that_fits_is_not_numbered():
    assert "row" not in rendered("t", ["key", "value"], [["same", "1"], ["same", "2"]], 1)


def test_a_word_wider_than_the_terminal_is_the_only_one_cut():
    lines = rendered("files", ["what", "where"], [["log", "/" + "x" * 200]], 2).splitlines()
    assert max(map(len, lines)) <= WIDTH and sum(line.count("x") for line in lines) == 200


def test_in_a_terminal_of_80_columns():
    """As a person sees it: a terminal of its own, whose width the command asks for."""
    theirs, ours = pty.openpty()
    fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 40, WIDTH, 0, 0))
    environment = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES")}
    words = [sys.executable, "-m", "strapdown", "sensors", "compare", "MPU-6050", "BMI088", "ICM-20948"]
    with subprocess.Popen(words, stdout=ours, stderr=ours, env={**environment, "TERM": "dumb"}) as run:
        os.close(ours)
        said = b""
        with contextlib.suppress(OSError):  # the other end of a terminal is closed by an error
            while part := os.read(theirs, 4096):
                said += part
        assert run.wait() == 0
    os.close(theirs)
    lines = [line for line in said.decode().splitlines() if line.startswith(("│", "┃", "┏"))]
    assert lines and max(map(len, lines)) <= WIDTH
    assert any("position" in line for line in lines) and any("gyroscope" in line for line in lines)
