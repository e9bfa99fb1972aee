"""The long checks: one page for each, with date and commit; every target of `strapdown reproduce` has one."""

import re
import sys

import pytest

from helpers import ROOT
from strapdown.cli.reproduce.experiments import B_EXPERIMENTS, C_EXPERIMENTS

sys.path.insert(0, str(ROOT / "tools"))

import evidence


def test_every_target_of_reproduce_is_a_check():
    targets = {"A", *(f"B {name}" for name in B_EXPERIMENTS), *(f"C {name}" for name in C_EXPERIMENTS)}
    assert set(evidence.REPRODUCED) == targets
    for target in targets:
        assert f"reproduce-{target.lower().replace(' ', '-')}" in evidence.CHECKS


@pytest.mark.parametrize(("code", "result"), [(0, "passed"), (3, "FAILED, exit code 3")])
def test_a_page_states_date_commit_command_and_output(code, result, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(evidence, "FOLDER", tmp_path)
    script = f"import sys; print('a figure: 1.23'); print('why', file=sys.stderr); sys.exit({code})"
    passed = evidence.run("some", evidence.Check("What it shows.", (sys.executable, "-c", script)))
    page = (tmp_path / "some.md").read_text(encoding="utf-8")
    assert passed is (code == 0) and list(tmp_path.iterdir()) == [tmp_path / "some.md"]
    assert "What it shows." in page and "a figure: 1.23" in page and f"- result: {result}" in page
    assert re.search(r"- date: \d{4}-\d\d-\d\d \d\d:\d\d UTC", page) and re.search(r"- commit: \w+", page)
    assert sys.executable not in page and ("On standard error" in page) is (code != 0)


def test_the_list_of_pages_is_complete():
    folder = ROOT / "docs" / "evidence"
    listed = set(re.findall(r"\]\((.+?\.md)\)", (folder / "README.md").read_text(encoding="utf-8")))
    assert listed == {page.name for page in folder.glob("*.md")} - {"README.md"}
