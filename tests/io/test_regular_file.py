"""Files to read: pipes, devices, folders and packed bombs are refused at once, in one sentence."""

import gzip
import os
import resource
import socket
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from strapdown.calibration.calibration_file import read_calibration
from strapdown.environment.rig import read_rig
from strapdown.errors import InputError
from strapdown.evaluation.evaluate import read_estimate, read_reference
from strapdown.io import read, read_mapping
from strapdown.io.plain_values import json_values, toml_values
from strapdown.io.solutions.file import read_solution
from strapdown.motion.recorded import read_poses
from strapdown.regular_file import opened, refuse_bomb
from strapdown.sensors.parts.model_file import read_model
from strapdown.sensors.parts.part_file import read_part_file

READERS = {
    "log.csv": read,
    "log.csv.gz": read,
    "log.parquet": read,
    "mapping.toml": read_mapping,
    "calibration.toml": read_calibration,
    "part.toml": read_part_file,
    "model.toml": read_model,
    "model.json": read_model,
    "rig.toml": read_rig,
    "poses.csv": read_poses,
    "solution.csv": read_solution,
    "solution.parquet": read_solution,
    "truth.csv": read_reference,
    "truth.parquet": read_reference,
    "estimate.csv": read_estimate,
}


def special(kind, path):
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(str(path))
    else:
        path.symlink_to("/dev/zero" if kind == "device" else "/dev/full")


@pytest.mark.parametrize("kind", ["pipe", "folder", "socket", "device", "full device"])
@pytest.mark.parametrize("name", READERS)
def test_special_files_are_refused(name, kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the path of a socket may have 100 bytes only
    special(kind, tmp_path / name) if kind != "socket" else special(kind, type(tmp_path)(name))
    with pytest.raises(InputError, match=f"{name} is a {kind.split()[-1]}"):
        READERS[name](name)


@pytest.mark.parametrize("name", READERS)
def test_paths_are_text_or_path_and_may_be_absurd(name, tmp_path):
    """Each function takes both; a name of 300 characters and one with a zero byte are sentences."""
    for made in (str, lambda path: path):
        with pytest.raises(InputError, match="does not exist"):
            READERS[name](made(tmp_path / name))
    for bad in ("x" * 300 + name, "zero\0" + name):
        with pytest.raises(InputError, match=r"cannot read|not exist"):
            READERS[name](str(tmp_path / bad))


LIMITED = """
import resource, sys, time
from pathlib import Path
import strapdown.cli.main, strapdown.io, strapdown.evaluation.evaluate, strapdown.motion.recorded
import strapdown.io.solutions.file
from strapdown.errors import InputError
from strapdown.io import read
from strapdown.evaluation.evaluate import read_reference
from strapdown.io.solutions.file import read_solution
from strapdown.motion.recorded import read_poses
from contextlib import suppress
with suppress(ImportError):
    import pandas  # pyarrow loads it at its first conversion, where it is installed
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 500_000_000, used + 500_000_000))
began = time.process_time()
try:
    {reader}({path!r})
    print("read")
except InputError as error:
    print("refused", error)
print(time.process_time() - began)
"""


def bomb(path, kind):
    """About 10 GB when unpacked, in some megabytes or less."""
    head = {
        "solution": b"# strapdown-solution 1\n# {}\nt,q_w,q_x,q_y,q_z,p_x,p_y,p_z\n",
        "poses": b"t,p_x,p_y,p_z,q_w,q_x,q_y,q_z\n",
    }.get(kind, b"sensor,t [s],gyr_x [rad/s],gyr_y [rad/s],gyr_z [rad/s],odometer [m],temperature [degC],stop\n")
    row = {"zeros": bytes(1 << 20), "lines": b"\n" * (1 << 20)}.get(kind, b"0,0,0,0,1,0,0,0\n" * (1 << 16))
    once = gzip.compress(row, 9)
    with path.open("wb") as file:
        file.write(gzip.compress(head))
        for _ in range(10_000):  # members of a gzip file follow each other
            file.write(once)
    return path


@pytest.mark.parametrize(
    ("reader", "name", "kind"),
    [
        ("read", "x.csv.gz", "zeros"),
        ("read", "x.csv.gz", "lines"),
        ("read", "x.csv.gz", "rows"),
        ("read_solution", "x.csv.gz", "solution"),
        ("read_poses", "x.csv.gz", "poses"),
        ("read_reference", "x.csv.gz", "poses"),
        ("read", "x.parquet", "parquet"),
        ("read_solution", "x.parquet", "parquet"),
    ],
)
def test_packed_bombs_are_refused_early(reader, name, kind, tmp_path):
    path = tmp_path / name
    if kind == "parquet":  # 40 columns of 4 million equal numbers in some kilobytes
        equal = pa.array(np.zeros(4_000_000))
        names = ["t [s]", *(f"gyr_{axis} [rad/s]" for axis in "xyz"), *(f"c{i}" for i in range(36))]
        table = pa.table(dict.fromkeys(names, equal)).replace_schema_metadata({"strapdown-solution": "1"})
        pyarrow.parquet.write_table(table, path)
    else:
        bomb(path, kind)
    text = LIMITED.format(reader=reader, path=str(path))
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120, check=False)
    said, spent = done.stdout.strip().rsplit("\n", 1)
    reasons = ("as no recording does", "GB of memory", "than fit into memory")
    assert said.startswith("refused") and any(reason in said for reason in reasons), done
    assert float(spent) < 1.0  # s of CPU


def test_a_packed_log_of_equal_readings_is_read(tmp_path):
    """Text of readings that hardly change packs to 1/50, which is far from the limit."""
    rows = "\n".join(f"{i / 100:.2f},0.000000,0.000000,0.000000" for i in range(100_000))
    path = tmp_path / "still.csv.gz"
    path.write_bytes(gzip.compress(f"t [s],gyr_x [rad/s],gyr_y [rad/s],gyr_z [rad/s]\n{rows}\n".encode(), 9))
    assert len(read(path)["still"]) == 100_000
    refuse_bomb(path, 1_000_000, 199_000_000)


def test_a_large_file_is_no_setting(tmp_path):
    path = tmp_path / "cal.toml"
    with path.open("wb") as file:
        file.truncate(10_000_000_000)
    began = time.process_time()
    with pytest.raises(InputError, match="10000 MB"):
        read_calibration(path)
    assert time.process_time() - began < 1.0


def test_settings_that_no_reader_can_use(tmp_path):
    digits = "9" * 400
    for text, why in (
        (f"a = {digits}", "64 bits"),
        (f"a = {{ b = [1, {digits}] }}", '"a.b" is a whole number'),
        ("a = " + "[" * 40 + "]" * 40, "nested too deeply"),
        ("a = " + "[" * 5000 + "]" * 5000, "nested too deeply"),
        ("[" + ".".join("a" * 1 for _ in range(40)) + "]\nb = 1", "nested too deeply"),
    ):
        with pytest.raises(InputError, match=why):
            toml_values(text.encode(), tmp_path / "x.toml")
    for text, why in (("[" * 40 + "]" * 40, "nested"), ("[" * 100_000 + "]" * 100_000, "nested")):
        with pytest.raises(InputError, match=why):
            json_values(text.encode(), tmp_path / "x.json")
    assert json_values(f"[{digits}]".encode(), "x.json") == [float("inf")]


def test_opened_leaves_no_descriptor_open(tmp_path):
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    for _ in range(soft + 10):
        with pytest.raises(InputError):
            opened(tmp_path)
