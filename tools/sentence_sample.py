#!/usr/bin/env python3
"""Draw sentences of docs, docstrings, help and messages at random, for a blind reading (docs/evidence/plain-words.md).

Usage: python tools/sentence_sample.py SEED [COUNT]   COUNT sentences (400) with file, line and heading
       python tools/sentence_sample.py --long         every sentence of more than 25 words

Counts on standard error: all sentences, and those of more than 25 words. Code in backticks, or a list of
such pieces, counts as one word.
"""

import ast
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
_LEAST_WORDS = 4
_MOST_WORDS = 25
# evidence pages are printed by programs, the page of public names repeats docstrings, decisions record the past
_EXCLUDED = {"evidence", "decisions", "api.md"}
# a line of a docstring that explains an argument: its name, or several, with shape or unit
_NAME = r"[a-z_][\w.]*(?: \([^()]*\))?"
_FIELD = rf"{_NAME}(?:(?:, | and ){_NAME})*: "


class Sentence(NamedTuple):
    """A sentence, the file and line of its paragraph, and the heading or name above it."""

    file: str
    line: int
    heading: str
    text: str

    @property
    def words(self) -> int:
        """Number of words: tokens with a letter, after each piece of code, or list of them, has become one word."""
        plain = re.sub(r"`[^`]*`(, `[^`]*`)*", "code", re.sub(r"\]\([^)]*\)", "]", self.text))
        return sum(bool(re.search("[A-Za-z]", token)) for token in plain.split())


def sentences(text: str) -> list[str]:
    """Split a paragraph into sentences; points inside code do not end one, and a name with _ may begin one."""
    kept = re.sub(r"`[^`]*`", lambda code: code[0].replace(".", "\0"), " ".join(text.split()))
    parts = re.split(r"(?<=[.!?])[*\"]*\s+(?=[*\[]*[A-Z`\"(]|[a-z]+_\w+\b)", kept)
    return [part.strip().replace("\0", ".") for part in parts]


def of_page(text: str) -> Iterator[tuple[int, str, str]]:
    """Line, heading and sentence of a Markdown page, with cells of tables and without code."""
    heading = ""
    text = re.sub(r"^ *```.*?^ *```", lambda code: "\n" * code[0].count("\n"), text, flags=re.MULTILINE | re.DOTALL)
    start = 0
    for end in [*re.finditer(r"\n\s*\n|\n(?=\s*(?:[-*] |[#|]|\d+\. ))", text), None]:
        paragraph = text[start : end.start() if end else None]
        line = text.count("\n", 0, start) + 1
        start = end.end() if end else start
        if paragraph.lstrip().startswith("#"):
            heading, _, paragraph = paragraph.strip("# \n").partition("\n")
        cells = paragraph.strip().strip("|").split("|") if paragraph.lstrip().startswith("|") else [paragraph]
        for cell in cells:
            for sentence in sentences(re.sub(r"^\s*([-*]|\d+\.)\s+", "", cell)):
                yield line, heading, sentence


def of_module(source: str) -> Iterator[tuple[int, str, str]]:
    """Line, name and sentence of docstrings, of help= texts and of the texts of exceptions that are raised."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            name = getattr(node, "name", "module")
            for paragraph in re.split(rf"\n\s*\n|(?<=[.:;)])\n(?={_FIELD}|\d+\. |- )", ast.get_docstring(node) or ""):
                for sentence in sentences(paragraph):
                    yield node.body[0].lineno, name, sentence
        elif isinstance(node, ast.keyword) and node.arg == "help":
            for sentence in sentences(_text(node.value)):
                yield node.value.lineno, "help", sentence
        elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
            for sentence in sentences(_text(node.exc.args[0])):
                yield node.lineno, "message", sentence


def _text(node: ast.expr) -> str:
    """Text of a string constant or f-string; values are replaced by {}."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return ""


def all_sentences() -> list[Sentence]:
    """Sentences of README, CONVENTIONS, CONTRIBUTING, CHANGELOG, the docs and the package, in a fixed order."""
    pages = [ROOT / f"{name}.md" for name in ("README", "CONVENTIONS", "CONTRIBUTING", "CHANGELOG")]
    pages += [page for page in sorted((ROOT / "docs").rglob("*.md")) if not _EXCLUDED & set(page.parts)]
    found = [(page, *found) for page in pages for found in of_page(page.read_text(encoding="utf-8"))]
    for module in sorted((ROOT / "src" / "strapdown").rglob("*.py")):
        found += [(module, *found) for found in of_module(module.read_text(encoding="utf-8"))]
    every = (Sentence(str(path.relative_to(ROOT)), *rest) for path, *rest in found)
    return [sentence for sentence in every if sentence.words >= _LEAST_WORDS]


def main(arguments: list[str]) -> int:
    every = all_sentences()
    long = [sentence for sentence in every if sentence.words > _MOST_WORDS]
    print(f"{len(every)} sentences, {len(long)} above {_MOST_WORDS} words", file=sys.stderr)
    if arguments[0] == "--long":
        drawn = long
    else:
        count = int(arguments[1]) if len(arguments) > 1 else 400
        drawn = random.Random(int(arguments[0])).sample(every, count)
    for number, sentence in enumerate(drawn, 1):
        print(f"{number} {sentence.file}:{sentence.line} [{sentence.heading}] {sentence.text}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
