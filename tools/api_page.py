#!/usr/bin/env python3
"""The page of the public names, made from their docstrings and signatures: docs/api.md.

Usage: python tools/api_page.py

The names are those of dir(strapdown) and of dir() of its packages, as users see them.
"""

import importlib
import inspect
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "api.md"
# a line of a docstring that explains an argument: its name, or several, with shape or unit
_NAME = r"[a-z_][\w.]*(?: \([^()]*\))?"
FIELD = rf"{_NAME}(?:(?:, | and ){_NAME})*: "
HEAD = """# Public names

`import strapdown as sd` gives all of them. `make docs` makes this page from the docstrings. A test checks that no
public name is missing. Names carry frames and units: [CONVENTIONS.md](../CONVENTIONS.md).
`Array` is a numpy array of doubles.
"""


def packages() -> dict[str, ModuleType]:
    """strapdown and the packages that it names, in the order of the page."""
    top = importlib.import_module("strapdown")
    named = {name: getattr(top, name) for name in dir(top) if not name.startswith("_")}
    return {"strapdown": top, **{f"strapdown.{n}": m for n, m in named.items() if isinstance(m, ModuleType)}}


def public_names(module: ModuleType) -> dict[str, Any]:
    """What a user sees in a package: its own public names, without modules."""
    listed = getattr(module, "__all__", None)
    own = listed is None  # without a list: what the package itself defines
    names = sorted({name for name in (listed or dir(module)) if not name.startswith("_")})
    found = {name: getattr(module, name) for name in names}
    if own:
        home = module.__name__
        found = {n: v for n, v in found.items() if str(getattr(v, "__module__", "")).startswith(home)}
    return {name: value for name, value in found.items() if not isinstance(value, ModuleType)}


def text() -> str:
    """The whole page."""
    parts = [HEAD]
    every = {title: public_names(module) for title, module in packages().items()}
    below = {id(value): title for title, names in every.items() for value in names.values() if title != "strapdown"}
    for title, module in packages().items():
        doc = inspect.getdoc(module) or ""
        parts.append(f"\n## {title}\n\n{_plain(doc)}\n" if doc else f"\n## {title}\n")
        for name, value in every[title].items():
            if title == "strapdown" and id(value) in below:
                parts.append(f"\n### {name}\n\nSee {below[id(value)]}, below.\n")
            else:
                parts.append(_entry(name, value))
    return "".join(parts)


def _entry(name: str, value: Any) -> str:
    doc = inspect.getdoc(value) if inspect.isclass(value) or inspect.isroutine(value) else None
    head = f"\n### {name}\n\n"
    if inspect.isclass(value) or inspect.isroutine(value):
        head += f"```text\n{_signature(name, value)}\n```\n\n"
    methods = (
        [f"- `{each}`: {_first(getattr(value, each))}" for each in _methods(value)] if inspect.isclass(value) else []
    )
    return head + (f"{_plain(doc)}\n" if doc else "") + ("\n" + "\n".join(methods) + "\n" if methods else "")


def _signature(name: str, value: Any) -> str:
    try:
        shown = str(inspect.signature(value))
    except (TypeError, ValueError):
        return f"{name}(...)"
    shown = re.sub(r"<([\w.]+) object at 0x[0-9a-f]+>", r"\1", re.sub(r"<function .*? at 0x[0-9a-f]+>", "...", shown))
    shown = shown.replace("numpy.ndarray[tuple[typing.Any, ...], numpy.dtype[numpy.float64]]", "Array")
    shown = re.sub(r"\b[a-z_0-9]+(?:\.[a-z_0-9]+)*\.(?=[A-Z])", "", shown)  # paths of modules
    shown = re.sub(r"~(\w+)", r"\1", shown.replace("'", "").replace(" -> None", ""))
    return _broken(name, shown)


def _broken(name: str, shown: str) -> str:
    """A signature on one line, or one line for each argument."""
    if len(name) + len(shown) <= 100 or not shown.startswith("("):
        return name + shown
    depth, lines, at = 0, [], 1
    for i, letter in enumerate(shown):
        depth += letter in "([{"
        depth -= letter in ")]}"
        if (letter == "," and depth == 1) or depth == 0:
            lines.append(shown[at:i].strip())
            at = i + 1
        if depth == 0:
            return name + "(\n" + "".join(f"    {line},\n" for line in lines if line) + ")" + shown[i + 1 :]
    return name + shown


def _methods(value: type) -> list[str]:
    members = vars(value)
    return [name for name in members if not name.startswith("_") and _first(getattr(value, name, None))]


def _first(member: Any) -> str:
    """The first sentence of a docstring of its own."""
    doc = inspect.getdoc(member) if inspect.isroutine(member) or isinstance(member, property) else None
    return re.split(r"(?<=[.;])\s", " ".join(_plain(doc).split()))[0].rstrip(".;") if doc else ""


def _plain(doc: str) -> str:
    """Text of a docstring in Markdown: a list of its arguments; angle brackets and stars mean themselves."""
    doc = re.sub(rf"(?<![^\n.:;)]\n)^(?={FIELD})", "- ", doc, flags=re.MULTILINE)
    parts = re.split(r"(`[^`]*`)", doc.strip())  # code means itself already
    parts[::2] = [text.replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_") for text in parts[::2]]
    return "".join(parts)


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
    sys.exit(0)
