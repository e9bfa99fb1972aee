"""Plausible mistakes of a newcomer, and what is typed. tests/cli/test_newcomer_mistakes.py runs them, and
docs/mistakes.md shows them. `PYTHONPATH=tests python tests/newcomer_mistakes.py` writes it."""

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from foreign_cases import drive, table
from helpers import ROOT, command
from strapdown.earth import STANDARD_GRAVITY as G
from strapdown.io import write
from strapdown.motion import Tumble
from strapdown.sensors.parts.part import load_part
from strapdown.sensors.record import Surroundings, record

NINE = ("ax", "ay", "az", "gx", "gy", "gz", "mx", "my", "mz")
OURS = tuple(f"{name}_{axis}" for name in ("acc", "gyr", "mag") for axis in "xyz")
ORIENT = "orient log.csv --columns log.toml"


@cache
def tumbled():
    """A sensor turned about by hand: gravity and field show units and axes."""
    imu = load_part("MPU-9250").nominal(rate_hz=100.0)
    return record(Tumble(duration_s=30.0), imu, seed=1, surroundings=Surroundings(magnetic=(3.0, 20.0, -44.0)))


def columns(t=None, acc=None, gyr=None, mag=None):
    log = tumbled()
    return [
        given if given is not None else own
        for given, own in ((t, log.t), (acc, log.acc_s), (gyr, log.gyr_s), (mag, log.mag_s))
    ]


def mapping(changed=None, extra="", without=()):
    """A mapping in SI units with some lines changed."""
    lines = {"t": "time", **dict(zip(OURS, NINE, strict=True)), **(changed or {})}
    text = "".join(
        f"{ours} = {column if column.startswith('{') else chr(34) + column + chr(34)}\n"
        for ours, column in lines.items()
        if ours not in without
    )
    Path("log.toml").write_text(extra + text, encoding="utf-8")


def log(**changed):
    """log.csv with the header time,ax,...,mz and a mapping that reads it in SI units."""
    table("log.csv", "time," + ",".join(NINE), columns(**changed), "%.7g")
    mapping()


def lines(edit):
    """The same with its lines edited as text."""
    log()
    text = Path("log.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    edit(text)
    Path("log.csv").write_text("".join(text), encoding="utf-8")


def level(**changed):
    """A drive on the floor in our own format, as drive.csv."""
    from dataclasses import replace

    write("drive.csv", {"imu": replace(drive(), **changed)})


@dataclass(frozen=True)
class Mistake:
    """group and what: for the page. states: what the answer must contain. make: writes the files into the working
    folder. typed: behind `strapdown`."""

    group: str
    what: str
    states: str
    make: Callable[[], object]
    typed: str = ORIENT


def _cell(row, column, text):
    def edit(rows):
        cells = rows[row].rstrip("\n").split(",")
        cells[column] = text
        rows[row] = ",".join(cells) + "\n"

    return edit


def _poses(order):
    """Poses of a rover that drives a circle, with the quaternion in some order under the names of ours."""
    t = np.arange(0.0, 20.0, 0.05)
    angle = 0.3 * t
    q = {"w": np.cos(angle / 2), "x": 0.0 * t, "y": 0.0 * t, "z": np.sin(angle / 2)}
    values = [t, np.cos(angle), np.sin(angle), 0.0 * t, *(q[axis] for axis in order)]
    table("poses.csv", "t,p_x,p_y,p_z,q_w,q_x,q_y,q_z", values, "%.9g")
    rig = '[motion]\nkind = "recorded"\nfile = "poses.csv"\n[[sensor]]\nname = "imu"\nlink = "body"\nrate_hz = 100.0\n'
    Path("rig.toml").write_text(rig, encoding="utf-8")


def _swap(values, *order):
    return np.column_stack([np.sign(i) * values[:, abs(i) - 1] for i in order])


MISTAKES = [
    Mistake(
        "unit", "accelerometer in g, read as m/s2", "the readings look like g", lambda: log(acc=tumbled().acc_s / G)
    ),
    Mistake(
        "unit",
        "accelerometer in mg, read as m/s2",
        "readings look like mg",
        lambda: log(acc=tumbled().acc_s / G * 1e3),
    ),
    Mistake(
        "unit", "gyroscope in deg/s, read as rad/s", "deg/s or raw counts", lambda: log(gyr=np.degrees(tumbled().gyr_s))
    ),
    Mistake(
        "unit",
        "gyroscope converted to rad/s twice",
        "converted from deg/s to rad/s twice",
        lambda: log(gyr=np.radians(tumbled().gyr_s)),
    ),
    Mistake("unit", "time in ms, read as s", "time looks like ms", lambda: log(t=tumbled().t * 1e3)),
    Mistake("unit", "magnetometer in gauss, read as uT", "gauss", lambda: log(mag=tumbled().mag_s / 100.0)),
    Mistake(
        "unit", "raw counts, read as SI units", "raw counts", lambda: log(acc=np.round(tumbled().acc_s / G * 16384))
    ),
    Mistake(
        "unit",
        "a unit that is none",
        "gyr_x can be in rad/s, deg/s",
        lambda: (log(), mapping({"gyr_x": '{ column = "gx", unit = "rpm" }'})),
    ),
    Mistake(
        "unit",
        "temperature in kelvin",
        "kelvin",
        lambda: level(temperature=np.full(len(drive()), 298.15)),
        "navigate drive.csv --heading 0",
    ),
    Mistake(
        "sign",
        "accelerometer sign turned (iPhone)",
        "if their sign is turned",
        lambda: level(acc_s=-drive().acc_s),
        "orient drive.csv",
    ),
    Mistake(
        "sign",
        "one axis of the gyroscope turned",
        "gyroscope and accelerometer contradict each other",
        lambda: log(gyr=_swap(tumbled().gyr_s, 1, 2, -3)),
    ),
    Mistake(
        "sign",
        "acceleration without gravity, as phone apps offer it",
        "record the acceleration with gravity",
        lambda: log(acc=tumbled().acc_s - _gravity()),
    ),
    Mistake(
        "frame",
        "forward-right-down axes, read as forward-left-up",
        'give frame = "frd"',
        lambda: level(acc_s=_swap(drive().acc_s, 1, -2, -3), gyr_s=_swap(drive().gyr_s, 1, -2, -3)),
        "orient drive.csv --axes 6",
    ),
    Mistake("frame", "a left-handed frame", "right-handed", lambda: (log(), mapping(extra='frame = "fru"\n'))),
    Mistake(
        "frame",
        "magnetometer axes other than the gyroscope's",
        "the magnetometer is read as (y, x, z)",
        lambda: log(mag=_swap(tumbled().mag_s, 2, 1, 3)),
    ),
    Mistake(
        "order", "x and y of the gyroscope exchanged", "contradict", lambda: log(gyr=_swap(tumbled().gyr_s, 2, 1, 3))
    ),
    Mistake(
        "order",
        "columns of accelerometer and gyroscope exchanged",
        "the accelerometer reads",
        lambda: log(acc=tumbled().gyr_s, gyr=tumbled().acc_s),
    ),
    Mistake(
        "order",
        "quaternion as x, y, z, w under the names w, x, y, z",
        "look like x, y, z, w",
        lambda: _poses("xyzw"),
        "simulate rig.toml -o out.parquet",
    ),
    Mistake(
        "order",
        "rows not in the order of time",
        "t goes backward",
        lambda: lines(lambda rows: rows.insert(500, rows.pop(20))),
    ),
    Mistake("column", "no mapping at all", "strapdown look log.csv writes one", log, "orient log.csv"),
    Mistake(
        "column",
        "a column name that the file does not have",
        "the closest is ax",
        lambda: (log(), mapping({"acc_x": "aX"})),
    ),
    Mistake(
        "column",
        "a key that is none",
        "did you mean acc_x?",
        lambda: (log(), mapping({"accel_x": "ax"}, without=("acc_x",))),
    ),
    Mistake("column", "an axis forgotten", "without gyr_z", lambda: (log(), mapping(without=("gyr_z",)))),
    Mistake("column", "one column for two axes", "for acc_x and for acc_y", lambda: (log(), mapping({"acc_y": "ax"}))),
    Mistake("column", "no time", "the column mapping has no time", lambda: (log(), mapping(without=("t",)))),
    Mistake("column", "time as clock text", "is a clock time", lambda: lines(_cell(1, 0, "12:00:01.250"))),
    Mistake("cells", "blank cells", "line 701: gyr_x is empty", lambda: lines(_cell(700, 4, ""))),
    Mistake("cells", "a word in a cell of numbers", "line 701: 'ERR'", lambda: lines(_cell(700, 4, "ERR"))),
    Mistake("cells", "decimal commas between commas", "line 701 has 11 cells", lambda: lines(_cell(700, 4, "0,12"))),
    Mistake("cells", "the last line cut", "has 3 cells", lambda: lines(lambda rows: rows.append("29.99,0.1,0.2\n"))),
    Mistake("time", "the same time twice", "t repeats", lambda: lines(lambda rows: rows.insert(500, rows[500]))),
    Mistake(
        "time", "a gap of 2 s", "no samples for 2.01 s", lambda: lines(lambda rows: rows.__delitem__(slice(1000, 1200)))
    ),
    Mistake(
        "time",
        "a log that begins in motion",
        "begins in motion",
        lambda: write("drive.csv", {"imu": drive()[1030:]}),
        "navigate drive.csv --heading 0",
    ),
    Mistake(
        "time",
        "a log of ten samples",
        "10 samples",
        lambda: write("drive.csv", {"imu": drive()[:10]}),
        "navigate drive.csv --heading 0",
    ),
    Mistake("file", "an empty file", "is empty", lambda: Path("log.csv").touch(), "orient log.csv"),
    Mistake(
        "file",
        "a header without rows",
        "has a header but no rows",
        lambda: lines(lambda rows: rows.__delitem__(slice(1, None))),
    ),
    Mistake("file", "a folder", "is a folder", lambda: Path("logs").mkdir(), "orient logs"),
    Mistake("file", "a file that does not exist", "does not exist", lambda: None, "orient drvie.csv"),
    Mistake(
        "file",
        "a spreadsheet",
        "use a name that ends in .csv",
        lambda: Path("log.xlsx").write_bytes(b"PK\3\4"),
        "orient log.xlsx",
    ),
    Mistake(
        "file",
        "text in UTF-16, as a spreadsheet saves it",
        "not UTF-8",
        lambda: (log(), Path("log.csv").write_bytes(Path("log.csv").read_text().encode("utf-16"))),
    ),
    Mistake(
        "file",
        "the result in place of the log",
        "is a solution",
        lambda: (level(), command("orient", "drive.csv", "-o", ".", "--axes", "6", "--filter", "vqf")),
        "navigate vqf.csv --heading 0",
    ),
    Mistake(
        "file",
        "calibration and log exchanged",
        "the calibration comes first",
        level,
        "calibrate check drive.csv cal.toml",
    ),
    Mistake(
        "part", "a misspelt part", "did you mean MPU-6050", level, "navigate drive.csv --heading 0 --part MPU6050X"
    ),
    Mistake(
        "part",
        "a gyroscope that is not connected",
        "check that it is connected",
        lambda: log(gyr=0.0 * tumbled().gyr_s),
    ),
    Mistake("option", "a misspelt option", "did you mean --filter?", level, "orient drive.csv --filtr vqf"),
]


def _gravity():
    """Gravity as the tumbled sensor feels it."""
    truth = tumbled().truth
    return truth.specific_force_b(G) - _moved(truth)


def _moved(truth):
    from strapdown.rotation import q_conj, q_rotate

    return q_rotate(q_conj(truth.q_nb), truth.a_n)


def answered(mistake):
    """(code, text) of the command, run in an empty folder."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            mistake.make()
            said = command(*mistake.typed.split())
        finally:
            os.chdir(before)
    return said


def sentence(mistake, said):
    """The line of the answer that states the mistake; None: it was silent."""
    lines = [*said.err.splitlines(), *said.out.splitlines()]
    found = [
        line for line in lines if line.startswith(("strapdown: ", "warning: ", "note: ")) and mistake.states in line
    ]
    return found[0].removeprefix("strapdown: ") if found else None


def page():
    """docs/mistakes.md."""
    rows = []
    for mistake in MISTAKES:
        said = answered(mistake)
        stated = sentence(mistake, said)
        assert stated is not None, (mistake.what, said)
        kind = "refused" if said.code == 2 else "continues"
        rows.append(f"| {mistake.group} | {mistake.what} | strapdown {mistake.typed} | {kind} | {stated} |")
    return HEAD + "\n".join(rows) + "\n"


HEAD = f"""# What happens after a mistake

{len(MISTAKES)} mistakes that people make with a new tool, and the sentence that each gets. None is silent.

- Refused: nothing is computed or written, and the exit code is 2.
- Continues: the log may be right, so the result comes with the sentence.

`tests/newcomer_mistakes.py` makes the files and writes this page. The tests compare both.

| | mistake | typed | | sentence |
|---|---|---|---|---|
"""


if __name__ == "__main__":
    (ROOT / "docs" / "mistakes.md").write_text(page(), encoding="utf-8")
