"""Pages of the documentation, their Python blocks, and what the source defines."""

import ast
import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cache

from helpers import ROOT

SOURCE = ROOT / "src" / "strapdown"
NOT_RUN = re.compile(r"<!-- not run by tests: (.+) -->")
# pages of docs/evidence hold what commands have printed
PAGES = [
    ROOT / "README.md",
    ROOT / "CONVENTIONS.md",
    ROOT / "CONTRIBUTING.md",
    *(page for page in sorted((ROOT / "docs").rglob("*.md")) if page.parent.name != "evidence"),
]


@dataclass(frozen=True)
class Block:
    """A Python block of a page: its first line in the page, its text, and why it is not run (None: it is)."""

    line: int
    text: str
    not_run: str | None


def python_blocks(text):
    lines, found, begin = text.splitlines(), [], None
    for i, line in enumerate(lines):
        if begin is None and line.startswith("```python"):
            begin = i + 1
        elif begin is not None and line.startswith("```"):
            mark = NOT_RUN.fullmatch(lines[begin - 2]) if begin >= 2 else None
            found.append(Block(begin + 1, "\n".join(lines[begin:i]) + "\n", mark.group(1) if mark else None))
            begin = None
    return found


def code_spans(text):
    """(line, text) of everything in backticks, outside of blocks."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield from ((number, span) for span in re.findall(r"`([^`]+)`", line))


@cache
def defined():
    """(modules, classes): names at the top of each module, by the end of its path; members of each class, by name."""
    modules, classes = defaultdict(set), defaultdict(set)
    for path in SOURCE.rglob("*.py"):
        parts = path.relative_to(SOURCE.parent).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        tree = ast.parse(path.read_text(encoding="utf-8"))
        top = set(_names(tree.body))
        if path.name == "__init__.py":
            top |= {other.stem for other in path.parent.iterdir() if other.suffix in (".py", "")}
        for i in range(len(parts)):
            modules[".".join(parts[i:])] |= top
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                classes[node.name] |= set(_names(node.body)) | {
                    target.attr
                    for inner in ast.walk(node)
                    if isinstance(inner, ast.Assign | ast.AnnAssign)
                    for target in (inner.targets if isinstance(inner, ast.Assign) else [inner.target])
                    if isinstance(target, ast.Attribute)
                }
    return modules, classes


def _names(body):
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in node.names)
