#!/usr/bin/env python3
"""Notebooks of the tutorials, made from their pages: a page in docs/tutorials gives a file in its folder notebooks.

Usage: python tools/notebooks.py

Text becomes Markdown cells, Python blocks become code cells, and commands become cells that begin with an exclamation
mark. A test compares the notebooks with the pages, so that they cannot differ.
"""

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
TUTORIALS = ROOT / "docs" / "tutorials"
_BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```\n?", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?!https?:)([^)]+)\)")


def notebook(page: str) -> dict:
    """The notebook of a page, without outputs; links lead from the folder of the notebooks."""
    cells, at = [], 0
    for match in _BLOCK.finditer(page):
        _add_text(cells, page[at : match.start()])
        kind, body = match[1], match[2].rstrip("\n")
        marked = page[at : match.start()].rstrip().endswith("-->")
        if kind == "sh":
            body = "\n".join(f"{'# ' if marked else '!'}{line}" for line in body.splitlines())
        cells.append(_cell(len(cells), "code", body))
        at = match.end()
    _add_text(cells, page[at:])
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def _add_text(cells: list[dict], text: str) -> None:
    text = re.sub(r"<!--.*?-->\n?", "", text).strip()
    if text:
        cells.append(_cell(len(cells), "markdown", _LINK.sub(lambda m: f"](../{m[1]})", text)))


def _cell(number: int, kind: str, text: str) -> dict:
    cell = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": text.splitlines(keepends=True)}
    return cell if kind == "markdown" else {**cell, "execution_count": None, "outputs": []}


def written(page: Path) -> str:
    """The text of the notebook file of a page."""
    return json.dumps(notebook(page.read_text(encoding="utf-8")), indent=1, ensure_ascii=False) + "\n"


def main() -> int:
    folder = TUTORIALS / "notebooks"
    folder.mkdir(exist_ok=True)
    for page in sorted(TUTORIALS.glob("*.md")):
        if page.name != "README.md":
            (folder / f"{page.stem}.ipynb").write_text(written(page), encoding="utf-8")
            print(folder / f"{page.stem}.ipynb")
    return 0


if __name__ == "__main__":
    sys.exit(main())
