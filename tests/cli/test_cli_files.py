"""Files of commands: inputs are never written over, output goes to any terminal and disk, one sentence for the rest."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from helpers import ROOT, command
from strapdown import io
from strapdown.io.atomic import refuse_overwriting
from strapdown.motion.recorded import read_poses
from strapdown.types import Recording

RIG = """
duration_s = 0.2
[motion]
kind = "recorded"
file = "poses.csv"
[[sensor]]
name = "imu"
link = "body"
part = "my_part.toml"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A rig with a pose log and a part file next to it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rig.toml").write_text(RIG)
    (tmp_path / "poses.csv").write_text((ROOT / "examples" / "poses.csv").read_text().replace("time_s", "t", 1))
    part = ROOT / "src" / "strapdown" / "sensors" / "catalogue" / "mpu-6050.toml"
    (tmp_path / "my_part.toml").write_bytes(part.read_bytes())
    return tmp_path


def still_log(path, start_s=0.0, n=3000, **more):
    rng = np.random.default_rng(1)
    t = start_s + 0.01 * np.arange(n)
    gyr, acc = (rng.normal(size=(n, 3)) * s for s in (1e-3, 1e-2))
    io.write(path, {"imu": Recording(t, gyr_s=gyr, acc_s=acc + np.array([0.0, 0.0, 9.81]), **more)})
    return path


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


CALIBRATION = """
format = "strapdown calibration 1"
[gyroscope]
method = "static"
bias_rad_s = [0.0, 0.0, 0.0]
"""


@pytest.mark.parametrize("link", ["same", "symbolic", "hard", "dotted"])
@pytest.mark.parametrize(
    ("read", "arguments"),
    [
        ("poses.csv", ("simulate", "rig.toml", "-o", "{}")),
        ("log.csv", ("calibrate", "apply", "cal.toml", "log.csv", "-o", "{}")),
        ("cal.toml", ("calibrate", "static", "log.csv", "--after", "cal.toml", "-o", "{}")),
        ("my_part.toml", ("calibrate", "static", "log.csv", "--part", "my_part.toml", "-o", "{}")),
        ("map.toml", ("calibrate", "static", "log.csv", "--columns", "map.toml", "-o", "{}")),
        ("my_part.toml", ("sensors", "draw", "my_part.toml", "--seed", "1", "-o", "{}")),
        ("map.toml", ("allan", "log.csv", "--columns", "map.toml", "-o", "{}")),
    ],
)
def test_no_command_writes_over_what_it_reads(folder, read, arguments, link):
    still_log(folder / "log.csv")
    (folder / "cal.toml").write_text(CALIBRATION)
    names = {f"{k}_{a}": f"{k}_{a} [{u}, s]" for k, u in (("gyr", "rad/s"), ("acc", "m/s2")) for a in "xyz"}
    (folder / "map.toml").write_text('t = "t [s]"\n' + "".join(f'{k} = "{v}"\n' for k, v in names.items()))
    output = folder / f"other{Path(read).suffix}"
    if link == "symbolic":
        output.symlink_to(folder / read)
    elif link == "hard":
        os.link(folder / read, output)
    elif link == "dotted":
        (folder / "sub").mkdir()
        output = folder / "sub" / ".." / read
    else:
        output = folder / read
    before = contents(folder)
    said = command(*(word.format(output) for word in arguments))
    assert said.code == 2 and "this command reads it" in said.err and said.err.count("\n") == 1, said
    assert contents(folder) == before


def test_pictures_and_folders_are_not_written_over_inputs_either(folder):
    still_log(folder / "allan.parquet")
    (folder / "allan.parquet").rename(folder / "vqf.parquet")
    (folder / "log.png").symlink_to(folder / "log.csv")
    still_log(folder / "log.csv")
    still_log(folder / "orientation.csv")
    before = contents(folder)
    for arguments in (
        ("allan", "log.csv", "--plot", "log.png"),
        ("calibrate", "static", "log.csv", "--plot"),
        ("orient", "vqf.parquet", "--filter", "vqf", "-o", "."),
    ):
        said = command(*arguments)
        assert said.code == 2 and "this command reads it" in said.err, said
    assert contents(folder) == before
    with pytest.raises(Exception, match="written twice"):
        refuse_overwriting(["a.png", "./a.png"], [])


def test_results_do_not_depend_on_the_working_folder(folder, monkeypatch):
    """The part file that a rig names by a relative path is found from every folder, and so is one that a log names."""
    said = command("simulate", "rig.toml", "-o", "log.parquet")
    assert said.code == 0, said
    assert io.read_one(folder / "log.parquet").meta["part"] == str(folder / "my_part.toml")
    log = io.read_one(folder / "log.parquet")
    io.write(folder / "named.parquet", {"imu": log.with_meta(part="my_part.toml")})
    (folder / "elsewhere").mkdir()
    found = []
    for where, log in ((".", "log.parquet"), (".", "named.parquet"), ("elsewhere", "../named.parquet")):
        monkeypatch.chdir(folder / where)
        said = command("orient", log, "--filter", "mekf", "--json")
        assert said.code == 0, said
        found.append({key: value for key, value in json.loads(said.out).items() if key != "log"})
    assert found[0] == found[1] == found[2]
    assert any("noise of" in note for note in found[0]["notes"])


def test_unix_stamps_keep_their_steps_in_the_table_of_angles(tmp_path):
    log = still_log(tmp_path / "log.parquet", start_s=1.7e9)
    said = command("orient", log, "--filter", "mahony", "-o", tmp_path / "out")
    assert said.code == 0, said
    angles = np.loadtxt(tmp_path / "out" / "angles.csv", delimiter=",", skiprows=1)
    assert np.array_equal(angles[:, 0], io.read_one(log).t)  # to the bit


@pytest.mark.parametrize("rows", range(1, 12))
def test_short_pose_logs_are_read_or_refused(rows, folder):
    lines = (folder / "poses.csv").read_text().splitlines()
    (folder / "short.csv").write_text("\n".join(lines[: rows + 1]) + "\n")
    if rows < 5:
        with pytest.raises(Exception, match="poses"):
            read_poses(folder / "short.csv")
        return
    motion = read_poses(folder / "short.csv")
    assert len(motion.at_samples()) == rows and np.isfinite(motion.at_samples().a_n).all()


def run(*arguments, **more):
    """In a process of its own: the interpreter's end counts too."""
    words = [sys.executable, "-m", "strapdown", *map(str, arguments)]
    return subprocess.run(words, capture_output="stdout" not in more, text=True, check=False, timeout=300, **more)


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-8"])
def test_output_in_any_character_set(encoding):
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    words = [sys.executable, "-m", "strapdown", "sensors", "compare", "MPU-6050", "BMI088"]
    said = subprocess.run(words, capture_output=True, check=False, env=environment)
    assert said.returncode == 0 and said.stderr == b"", said
    text = said.stdout.decode(encoding)  # every byte is of the set
    assert "?" not in text and ("√h" in text if encoding == "utf-8" else "rth" in text)
    rows = [line for line in text.splitlines() if line.startswith(("|", "┃", "│"))]
    assert len({len(row) for row in rows}) == 1  # columns stay below each other


@pytest.mark.parametrize("arguments", [("sensors",), ("sensors", "show", "MPU-6050", "--json")])
def test_a_full_disk_behind_standard_output(arguments):
    with Path("/dev/full").open("w") as full:
        said = run(*arguments, stdout=full, stderr=subprocess.PIPE)
    assert said.returncode == 2, said
    assert said.stderr.startswith("strapdown: ") and said.stderr.count("\n") == 1 and "No space left" in said.stderr


def test_a_full_disk_behind_an_output_file(folder):
    for arguments in (("simulate", "rig.toml", "-o", "/dev/full"), ("sensors", "draw", "BMI088", "--seed", "1", "-o")):
        output = () if arguments[-1] == "/dev/full" else ("full.toml",)
        (folder / "full.toml").unlink(missing_ok=True)
        (folder / "full.toml").symlink_to("/dev/full")
        said = command(*arguments, *output)
        assert said.code == 2 and said.err.count("\n") == 1, said


@pytest.mark.parametrize(
    "words", ["sensors show MPU-6050", "sensors show MPU-6050 --json", "sensors", "--help", "--version"]
)
def test_a_reader_that_has_left_ends_a_command_quietly(words):
    unread, output = os.pipe()
    os.close(unread)  # before the command writes: a reader that leaves during a line is a matter of chance
    try:
        ended = subprocess.run(
            [sys.executable, "-m", "strapdown", *words.split()],
            stdout=output,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    finally:
        os.close(output)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.parametrize(
    "arguments",
    [
        ("allan", "{}.csv"),
        ("orient", "{}.parquet"),
        ("navigate", "{}.csv"),
        ("evaluate", "{}.csv", "{}.csv"),
        ("simulate", "{}.toml", "-o", "x.csv"),
        ("simulate", "rig.toml", "-o", "{}.csv"),
        ("calibrate", "check", "{}.toml", "{}.csv"),
        ("sensors", "show", "{}.toml"),
        ("sensors", "draw", "BMI088", "--seed", "1", "-o", "{}.toml"),
        ("orient", "log.csv", "-o", "{}"),
        ("demo", "-o", "{}"),
        ("reproduce", "A", "a-a", "-o", "{}"),
    ],
)
def test_names_of_300_characters(arguments, folder):
    still_log(folder / "log.csv")
    said = command(*(word.format("n" * 300) for word in arguments))
    assert said.code == 2 and said.err.count("\n") == 1 and "too long" in said.err, said


@pytest.mark.parametrize(
    "lines",
    [
        "reference_c = [25.0]",
        "residual_rms_rad_s = [0.1]",
        "residual_rms_rad_s = -1.0",
        "reference_c = " + "9" * 400,
        "bias_rad_s = [0.0, 0.0, " + "9" * 400 + "]",
        "bias_rad_s = " + "[" * 50 + "]" * 50,
        "bias_rad_s = [[0.0, 0.0, 0.0]]",
        "matrix = 1.0",
        "range_c = 3.0",
        "data = [1]",
        "notes = [[1]]",
        'verdict = ["good"]',
        "date = [1]",
    ],
)
def test_wrong_kinds_of_numbers_in_a_calibration(lines, folder):
    still_log(folder / "log.csv")
    (folder / "cal.toml").write_text(f'format = "strapdown calibration 1"\n[gyroscope]\nmethod = "static"\n{lines}\n')
    said = command("calibrate", "apply", "cal.toml", "log.csv", "-o", "out.csv")
    assert said.code == 2 and said.err.count("\n") == 1 and "cal.toml" in said.err, said
    assert "internal error" not in said.err


def test_meta_with_absurd_numbers_is_a_sentence(folder):
    still_log(folder / "log.csv", meta={"rate_hz": 100.0})
    text = (folder / "log.csv").read_text()
    for value in ("9" * 400, "1e999", "[" * 5000 + "]" * 5000):
        (folder / "log.csv").write_text(text.replace("100.0", value))
        said = command("orient", "log.csv")
        assert said.code == 2 and "meta" in said.err and said.err.count("\n") == 1, said


def test_internal_errors_are_one_sentence(monkeypatch):
    from strapdown.sensors.parts import part

    def broken(_):
        raise ZeroDivisionError("of ours\nin two lines")

    monkeypatch.setattr(part, "load_part", broken)
    said = command("sensors", "show", "x")
    assert said.code == 1 and "internal error (ZeroDivisionError: of ours in two lines)" in said.err
    assert "Traceback" not in said.err and said.err.count("\n") == 1
