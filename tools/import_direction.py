#!/usr/bin/env python3
"""Check that imports inside src/strapdown point one way; print each violation as file:line and exit 1.

Usage: python tools/import_direction.py [path/to/strapdown]
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGE = "strapdown"

# room: what it may import from the package, besides itself. A room is a file or a folder in src/strapdown;
# "motion.protocol" names one file of a room.
CORE = {"errors", "arrays", "checks", "held_rows", "sample", "live", "kernels", "rotation", "earth", "earth_magnetism"}
CORE |= {"types", "summaries", "atmosphere", "keywords"}
CORE |= {"regular_file"}  # every package that reads files opens them there
AT_THE_EDGE = CORE | {"motion.protocol"}
MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "regular_file": {"errors"},
    "checks": {"errors", "arrays", "kernels", "rotation"},
    "kernels": set(),
    "rotation": {"errors", "kernels"},
    "earth": {"errors", "kernels", "rotation"},
    "atmosphere": {"errors", "checks", "kernels", "rotation", "arrays", "earth"},
    "earth_magnetism": {"errors", "kernels", "rotation", "earth"},
    "arrays": {"errors"},
    "held_rows": {"arrays"},
    "sample": {"errors", "arrays"},
    "summaries": {"arrays"},
    # io: for Recording.from_arrays, to_pandas and from_pandas, which import it when they are called
    "types": {"errors", "arrays", "held_rows", "sample", "summaries", "kernels", "rotation", "earth", "io.in_memory"},
    "keywords": set(),
    "live": {"errors", "arrays", "keywords", "sample", "types"},
    "motion": CORE,
    "engines": AT_THE_EDGE,
    "devices": AT_THE_EDGE,
    "io": AT_THE_EDGE | {"devices.protocol"},  # reads the files that a module's recorder writes
    "vehicles": CORE | {"motion", "engines", "io"},
    "sensors": CORE | {"motion", "io"},  # part and model files
}
# the main path; io joins where results and calibrations are written
MAY_IMPORT["recordings"] = CORE | {"motion", "sensors", "io"}
MAY_IMPORT["calibration"] = MAY_IMPORT["recordings"] | {"recordings"}
MAY_IMPORT["orientation"] = MAY_IMPORT["recordings"] | {"recordings"}
MAY_IMPORT["navigation"] = MAY_IMPORT["calibration"] | {"calibration", "orientation"}
MAY_IMPORT["evaluation"] = MAY_IMPORT["navigation"] | {"navigation"}
MAY_IMPORT["reporting"] = MAY_IMPORT["evaluation"] | {"evaluation"}
MAY_IMPORT["environment"] = MAY_IMPORT["reporting"] | {"reporting", "engines", "devices", "vehicles"}
MAY_IMPORT["studio"] = MAY_IMPORT["environment"] | {"environment"}
MAY_IMPORT["bridges"] = MAY_IMPORT["environment"] | {"environment"}
MAY_IMPORT["papers"] = MAY_IMPORT["environment"] | {"environment"}  # the experiments are rigs run in the environment
# specimens are calibrated as in paper C
MAY_IMPORT["campaigns"] = MAY_IMPORT["papers"] | {"papers"}
MAY_IMPORT["studio"] |= {"campaigns", "papers"}  # its view of a campaign opens a run of it
MAY_IMPORT["cli"] = MAY_IMPORT["studio"] | {"studio", "papers", "campaigns", "bridges"}
MAY_IMPORT["__main__"] = {"cli"}
MAY_IMPORT["__init__"] = MAY_IMPORT["cli"]  # the public names; so no room may import the package itself

# rooms that may import only these from outside the package, besides the standard library
# llvmlite: the part of numba that writes code
OUTSIDE: dict[str, set[str]] = {"kernels": {"numpy", "numba", "llvmlite"}, "errors": set()}


def violations(package: Path) -> list[str]:
    """One line "file:line: ..." for each import that points the wrong way, and for each room not in the table."""
    found = []
    rooms_seen: set[str] = set()
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).with_suffix("").parts
        room = parts[0]
        if room not in MAY_IMPORT:
            if room not in rooms_seen:
                found.append(f"{path}:1: room {room} is not in the table of {Path(__file__).name}; give it a place")
            rooms_seen.add(room)
            continue
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except SyntaxError as e:
            found.append(f"{path}:{e.lineno}: cannot be parsed: {e.msg}")
            continue
        for line, target in dict.fromkeys(_imports(tree, package, parts)):  # one report for several names of a line
            problem = _problem(room, target)
            if problem:
                found.append(f"{path}:{line}: {problem}")
    return found


def _imports(tree: ast.AST, package: Path, parts: tuple[str, ...]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Line and full dotted name of every import in a file, wherever it stands in it."""
    here = (PACKAGE, *parts)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, tuple(alias.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            # one dot is the file's own folder, each further dot one folder up
            base = here[: len(here) - node.level] if node.level else ()
            module = (*base, *(node.module.split(".") if node.module else ()))
            for alias in node.names:
                # "from strapdown.motion import protocol" imports a file, "import Path" a name in a file
                inner = package.joinpath(*module[1:], alias.name) if module[:1] == (PACKAGE,) else None
                is_file = inner is not None and (inner.with_suffix(".py").exists() or inner.is_dir())
                yield node.lineno, (*module, alias.name) if is_file else module


def _problem(room: str, target: tuple[str, ...]) -> str | None:
    if target[0] != PACKAGE:
        allowed = OUTSIDE.get(room)
        if allowed is None or target[0] in allowed or target[0] in sys.stdlib_module_names:
            return None
        return f"{room} imports {target[0]}; outside the package it may know only {_listed(allowed)}"
    other = target[1] if len(target) > 1 else "__init__"
    dotted = ".".join(target[1:3])
    if other == room or other in MAY_IMPORT[room] or dotted in MAY_IMPORT[room]:
        return None
    return f"{room} imports {'.'.join(target)}; it may know only {_listed(MAY_IMPORT[room])}"


def _listed(names: set[str]) -> str:
    return ", ".join(sorted(names)) or "nothing"


def main(arguments: list[str]) -> int:
    package = Path(arguments[0]) if arguments else Path(__file__).parents[1] / "src" / PACKAGE
    if not package.is_dir():
        print(f"{package} is not a folder; give the path of the package", file=sys.stderr)
        return 2
    found = violations(package)
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
