#!/usr/bin/env python3
"""Check new text against the table "Words we do not use" of CONTRIBUTING.md; print file:line and exit 1.

Usage: python tools/plain_words.py [BASE]

New text is every line that was added since the commit BASE. Older text is rewritten step by step.
"""

import io
import re
import subprocess
import sys
import tokenize
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
BASE = "d7c8da3"  # the last commit before the table
SUFFIXES = ("*.py", "*.md", "*.j2", "*.toml", "*.ts", "*.tsx")
TABLE = "## Words we do not use"
# files that name the words in order to forbid them
ABOUT_WORDS = ("CONTRIBUTING.md", "tools/plain_words.py", "tests/core/test_plain_words.py")

PRINTED = ("docs/evidence/", "docs/api.md")  # pages that programs have written


def table(text: str) -> list[tuple[str, list[str], str]]:
    """Rows of the table: the word, phrases in which it is allowed, and what to write instead."""
    found = []
    for line in text.partition(TABLE)[2].partition("\n## ")[0].splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|") or len(cells) != 2 or cells[0] in ("we do not write", "---"):
            continue
        words, _, allowed = cells[0].partition(" (but: ")
        but = [phrase.strip() for phrase in allowed.rstrip(")").split(",") if phrase.strip()]
        found += [(word.strip(), but, cells[1]) for word in words.split(",")]
    return found


def added_lines(base: str, root: Path = ROOT) -> Iterator[tuple[str, int, str]]:
    """File, line number and text of every line added since base, committed or not."""
    diff = subprocess.run(
        ["git", "diff", "-U0", "--find-renames=30%", "--no-color", base, "--", *SUFFIXES],
        cwd=root,
        capture_output=True,
        check=True,
    ).stdout.decode("utf-8", "replace")
    file, number = "", 0
    for line in diff.splitlines():
        if line.startswith("+++ "):
            file = line[4:].removeprefix("b/")
        elif line.startswith("@@"):
            number = int(re.search(r"\+(\d+)", line).group(1))  # type: ignore[union-attr]
        elif line.startswith("+"):
            yield file, number, line[1:]
            number += 1


def prose(lines: Iterable[tuple[str, int, str]], root: Path = ROOT) -> Iterator[tuple[str, int, str]]:
    """The lines, those of programs reduced to their comments and strings: names of variables and tags are code."""
    texts: dict[str, dict[int, str]] = {}
    for file, number, text in lines:
        if file.endswith((".ts", ".tsx")):
            yield file, number, typescript_prose(text)
            continue
        if not file.endswith(".py"):
            yield file, number, text
            continue
        if file not in texts:
            texts[file] = python_prose((root / file).read_text(encoding="utf-8"))
        yield file, number, texts[file].get(number, "")


def typescript_prose(line: str) -> str:
    """Comment and texts of a line of TypeScript; a text in quotes has a blank, a word of code has none."""
    comment = re.search(r"(?<!:)//.*|/?\*.*", line)
    texts = [text for _, text in re.findall(r"([\"'`])((?:(?!\1).)*)\1", line) if " " in text]
    return " ".join([comment.group(0) if comment else "", *(re.sub(r"\$\{[^{}]*\}", "", text) for text in texts)])


def python_prose(source: str) -> dict[int, str]:
    """Comments and strings of a Python file by line number; without the code inside f-strings."""
    found: dict[int, str] = defaultdict(str)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT or "STRING" in tokenize.tok_name[token.type]:
            text = re.sub(r"\{[^{}]*\}", "", token.string)
            for i, line in enumerate(text.split("\n")):
                found[token.start[0] + i] += " " + line
    return found


def problems(lines: Iterable[tuple[str, int, str]], words: list[tuple[str, list[str], str]]) -> list[str]:
    """One line "file:line: ..." for each word that should not be there."""
    # \b alone takes an apostrophe or a hyphen for the end of a word, which is right; names with _ are code
    rules = [(re.compile(rf"\b{re.escape(word)}\b", re.IGNORECASE), word, but, instead) for word, but, instead in words]
    found = []
    for file, number, text in lines:
        if file in ABOUT_WORDS or file.startswith(PRINTED):
            continue
        for rule, word, but, instead in rules:
            rest = text
            for phrase in but:
                rest = re.sub(rf"\b{re.escape(phrase)}\b", "", rest, flags=re.IGNORECASE)
            if rule.search(rest):
                found.append(f'{file}:{number}: "{word}"; write: {instead}')
    return found


def main(arguments: list[str]) -> int:
    words = table((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    base = arguments[0] if arguments else BASE
    try:
        found = problems(prose(added_lines(base)), words)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"the words of new text were not checked: git cannot compare with {base} ({error})", file=sys.stderr)
        return 2
    for line in found:
        print(line)
    if found:
        print(f"{len(found)} words that we do not use; the table is in CONTRIBUTING.md", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
