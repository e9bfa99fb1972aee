"""Tutorials and the README's program, from a wheel outside of the repository, where warnings are errors; their
notebooks, the page of public names, and the README's size."""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from doc_pages import NOT_RUN, python_blocks

from helpers import ROOT

pytest.importorskip("hatchling")
sys.path.insert(0, str(ROOT / "tools"))

from api_page import packages, public_names
from notebooks import TUTORIALS, written

PAGES = [page for page in sorted(TUTORIALS.glob("*.md")) if page.name != "README.md"]
BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```", re.MULTILINE | re.DOTALL)
SOURCE = ROOT / "src"
# the program of a page: its Python blocks in one namespace, its commands between them
RUNNER = """
import json, subprocess, sys
names = {"__name__": "__main__"}
for kind, text in json.loads(sys.stdin.read()):
    if kind == "python":
        exec(compile(text, "tutorial", "exec"), names)
    else:
        for line in text.splitlines():
            subprocess.run([sys.executable, "-W", "error", "-m", *line.split()], check=True, stdin=subprocess.DEVNULL)
import strapdown
print("ran from", strapdown.__file__)
"""


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """The files of a wheel that was just built, with the kernels that are compiled already."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, env={**os.environ, "STRAPDOWN_NO_PAGE": "1"}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    installed = folder / "installed"
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as file:
        file.extractall(installed)
    for source in (SOURCE / "strapdown" / "kernels").rglob("*"):
        copy = installed / source.relative_to(SOURCE)
        if source.suffix == ".py":
            assert copy.read_bytes() == source.read_bytes()
            shutil.copystat(source, copy)  # numba compares times
        elif source.suffix in (".nbi", ".nbc", ".sha256"):
            copy.parent.mkdir(exist_ok=True)
            shutil.copy2(source, copy)
    return installed


def run(blocks, wheel, folder):
    environment = {**os.environ, "PYTHONPATH": str(wheel), "MPLBACKEND": "agg"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", RUNNER],
        input=json.dumps(blocks),
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    assert f"ran from {wheel}" in done.stdout  # not the source tree
    return done.stdout


def blocks_of(page):
    text, found = page.read_text(encoding="utf-8"), []
    for match in BLOCK.finditer(text):
        before = text[: match.start()].splitlines()
        if not (before and NOT_RUN.fullmatch(before[-1])):
            found.append((match[1], match[2]))
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_tutorial_runs_from_a_wheel(page, wheel, tmp_path):
    out = run(blocks_of(page), wheel, tmp_path)
    if page.stem == "own-robot":  # energy: the step of the simulation is 1 ms
        theory, simulated = (float(x) for x in re.search(r"theory: ([\d.]+) m/s2; simulated: ([\d.]+)", out).groups())
        assert simulated == pytest.approx(theory, rel=2e-3)
    if page.stem == "own-filter":
        errors = [float(x) for x in re.findall(r"inclination ([\d.]+) deg", out)]
        ours = float(re.search(r"inclination, deg +([\d.]+)", out)[1])
        assert errors[1] < min(errors[0], errors[2]) and max(errors[1], ours) < 0.6
    if page.stem == "calibrate-a-module":
        raw, calibrated = (float(x) for x in re.findall(r"reads ([\d.]+) m/s2 at rest", out))
        assert abs(calibrated - 9.80665) < 0.01 < abs(raw - 9.80665)
    if page.stem == "first-log":
        assert (tmp_path / "attitude" / "orientation.png").exists() and (tmp_path / "nav" / "report.html").exists()
    if page.stem == "choose-a-part":
        assert all(float(x) < 0.2 for x in re.findall(r"([\d.]+) m at the end", out))


def test_the_program_of_the_readme_runs_from_a_wheel(wheel, tmp_path):
    program = [("python", block.text) for block in python_blocks((ROOT / "README.md").read_text(encoding="utf-8"))]
    assert "sd.navigate" in program[0][1]
    run(program, wheel, tmp_path)
    assert (tmp_path / "out.html").stat().st_size > 10_000


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_notebook_of_a_tutorial_is_its_page(page):
    """`make docs` writes them again."""
    stored = TUTORIALS / "notebooks" / f"{page.stem}.ipynb"
    assert stored.read_text(encoding="utf-8") == written(page)
    cells = json.loads(stored.read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert [text for kind, text in blocks_of(page) if kind == "python"] == [
        f"{text}\n" for text in code if not text.startswith(("!", "# strapdown"))
    ]


def test_the_page_of_public_names_has_them_all():
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## (strapdown\S*)\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL))
    missing = [
        f"{title}.{name}"
        for title, module in packages().items()
        for name in public_names(module)
        if f"\n### {name}\n" not in sections.get(title, "")
    ]
    assert not missing, "make docs writes the page again"
    assert len(packages()) > 10 and len(public_names(packages()["strapdown"])) > 40


def test_the_readme_is_one_screen():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 50 and max(map(len, lines)) <= 160
    text = "\n".join(lines)
    for reference in ("10.34031/2071-7318-2024-10-3-125-135", "10.51790/2712-9942-2024-5-1-03", "Pesov"):
        assert reference in text


def test_the_pictures_of_the_concepts_are_those_that_the_tool_makes():
    from concept_pictures import PICTURES

    text = (ROOT / "docs" / "concepts.md").read_text(encoding="utf-8")
    assert set(re.findall(r"pictures/(concept_\w+\.png)", text)) == set(PICTURES)
    assert all(Path(ROOT / "docs" / "pictures" / name).exists() for name in PICTURES)
