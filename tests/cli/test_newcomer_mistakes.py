"""Mistakes of a newcomer: each gets its sentence, none is silent, and docs/mistakes.md shows what is printed today."""

import re

import pytest

from helpers import ROOT
from newcomer_mistakes import HEAD, MISTAKES, answered, sentence

PAGE = (ROOT / "docs" / "mistakes.md").read_text(encoding="utf-8")


def without_numbers(text):
    """Digits may differ in their last place between machines."""
    return re.sub(r"\d[\d.e+-]*", "0", text)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.what)
def test_a_mistake_gets_its_sentence(mistake):
    said = answered(mistake)
    stated = sentence(mistake, said)
    assert stated is not None, said
    assert "Traceback" not in said.err and "internal error" not in said.err
    if said.code == 2:
        assert said.err.count("\n") == 1 and said.out == ""
    else:
        assert said.code == 0 and stated.startswith(("warning: ", "note: "))
    row = next(line for line in PAGE.splitlines() if f"| {mistake.what} |" in line)
    assert without_numbers(row).endswith(f"| {without_numbers(stated)} |")


def test_the_page_is_written_by_the_table():
    assert len(MISTAKES) >= 30 and PAGE.startswith(HEAD)
    assert len({mistake.what for mistake in MISTAKES}) == len(MISTAKES) == PAGE.count("\n| ") - 1
