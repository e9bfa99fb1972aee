"""Every Python block of the documentation runs, in the order of its page, in a folder with the files that it names."""

import gzip
import shutil
from pathlib import Path

import numpy as np
import pytest
from doc_pages import PAGES, python_blocks

from helpers import ROOT
from strapdown import io
from strapdown.calibration.calibration import Calibration, Correction, Found
from strapdown.calibration.calibration_file import write_calibration
from strapdown.motion import StopAndGo
from strapdown.sensors.parts.part import load_part
from strapdown.sensors.record import Surroundings, record

# tutorials run with their commands, from a wheel: test_tutorials.py
WITH_BLOCKS = [
    page for page in PAGES if python_blocks(page.read_text(encoding="utf-8")) and page.parent.name != "tutorials"
]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The files that blocks read: a drive, a walk, a log of a phone, poses, a calibration, and the examples."""
    folder = tmp_path_factory.mktemp("files")
    path = StopAndGo.square()
    part = load_part("MPU-9250").draw(seed=1, rate_hz=50.0)
    log = record(path, part, seed=1, surroundings=Surroundings(magnetic=(3.0, 20.0, -44.0)))
    io.write(folder / "drive.parquet", {"imu": log})
    io.write(folder / "walk.csv", {"foot": log[:100]})
    phone = np.column_stack([10.0 * np.arange(100), np.full((100, 3), [0.0, 0.0, 1.0]), np.full(100, 25.0)])
    np.savetxt(folder / "phone.csv", phone, delimiter=",", header="time,ax,ay,az,T", comments="")
    poses = (ROOT / "examples" / "poses.csv").read_text(encoding="utf-8").replace("time_s", "t", 1)
    (folder / "flight.csv").write_text(poses, encoding="utf-8")
    foreign = poses.replace("p_x", "D1_x", 1).replace("q_w", "D1_qw", 1)
    (folder / "run.csv.gz").write_bytes(gzip.compress(foreign.encode()))
    none = Correction("m/s2", Found("positions"))
    write_calibration(folder / "cal.toml", Calibration({"accelerometer": none}))
    shutil.copytree(ROOT / "examples", folder / "examples")
    return folder


@pytest.mark.parametrize("page", WITH_BLOCKS, ids=lambda page: page.name)
def test_blocks_of_a_page_run(page, files, tmp_path, monkeypatch):
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    for block in python_blocks(page.read_text(encoding="utf-8")):
        if block.not_run is None:
            exec(compile("\n" * (block.line - 1) + block.text, str(page), "exec"), names)


def test_only_blocks_that_are_slow_or_need_a_module_are_not_run():
    marked = {
        page.name: block.not_run for page in WITH_BLOCKS for block in python_blocks(page.read_text(encoding="utf-8"))
    }
    reasons = {name: reason for name, reason in marked.items() if reason is not None}
    assert set(reasons) <= {"paper-c.md", "device.md"}


def test_blocks_and_marks_are_found():
    text = "a\n```python\nx = 1\n```\n<!-- not run by tests: too slow -->\n```python\ny = 2\n```\n"
    first, second = python_blocks(text)
    assert (first.line, first.text, first.not_run) == (3, "x = 1\n", None)
    assert (second.line, second.text, second.not_run) == (7, "y = 2\n", "too slow")
    assert Path("README.md").name in {page.name for page in WITH_BLOCKS}
