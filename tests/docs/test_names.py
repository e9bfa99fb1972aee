"""Every path and every name of the package that a page, a comment or a docstring states exists."""

import builtins
import re
import sys

import pytest
from doc_pages import PAGES, SOURCE, code_spans, defined

from helpers import ROOT

sys.path.insert(0, str(ROOT / "tools"))

from plain_words import python_prose

# what names of variables stand for in the pages
VARIABLES = {
    "log": "Recording",
    "truth": "Motion",
    "sample": "Sample",
    "found": "StopIntervals",
    "run": "Runner",
    "vibration": "Vibration",
    "motion": "RecordedMotion",
    "imu": "Specimen",
    "verdict": "Verdict",
    "part": "Inclinometer",
    "wheel": "WheelOdometer",
}
# keys of files, which look like members of modules
KEYS = {
    "diagram.md": ("block", "wire", "diagram"),
    "catalogue.md": ("magnetometer",),
    "campaigns.md": ("scene", "block", "calibration", "stops", "sensor", "world", "log", "archive"),
    "engines.md": ("robot", "sim", "simURDF"),  # and functions of CoppeliaSim
    "formats.md": ("log",),
    "studio-protocol.md": ("session", "messages", "strapdown", "hello", "signals", "diagram", "events"),
}
OTHERS = {"np", "benchmarks"}  # of other packages
NAMED_TUPLE = {"_replace", "_asdict"}  # which every NamedTuple has
PLACES = (ROOT, ROOT / "src", SOURCE, ROOT / "docs", ROOT / "tests")
PATH = re.compile(r"[\w-]+(?:/[\w.*-]+)*/?|[\w./-]+\.py")
DOTTED = re.compile(r"([A-Za-z_]\w*)((?:\.[A-Za-z_]\w*)+)")
CALL = re.compile(r"(?<![\w.])([A-Za-z_]\w*)\(")
FILE = re.compile(r"(?<![\w/.{}*])((?:[\w.-]+/)+[\w.-]+\.(?:py|md))\b")


def wrong_path(span):
    """A path whose first folder is one of the project, or a Python file, that does not exist."""
    if not PATH.fullmatch(span) or ("/" not in span and not span.endswith(".py")):
        return False
    first = span.split("/")[0]
    ours = span.endswith(".py") or any((place / first).is_dir() for place in PLACES)
    return ours and not any(list(place.glob(span.rstrip("/"))) for place in PLACES)


def wrong_names(span, keys=()):
    """Members that no module or class has, and functions that are called and defined nowhere."""
    modules, classes = defined()
    every = set().union(*modules.values(), *classes.values(), dir(builtins), *classes)
    for match in DOTTED.finditer(re.sub(r'"[^"]*"', '""', span)):
        first, *rest = match.group(0).split(".")
        before, after = span[: match.start()][-1:], span[match.end() :][:1]
        if before in ("/", ".", '"', "-") or after in ("/", "-") or first in keys or first in OTHERS:
            continue
        if rest[-1] in (
            "py",
            "md",
            "toml",
            "json",
            "csv",
            "parquet",
            "png",
            "html",
            "urdf",
            "gz",
            "svg",
            "yaml",
            "bag",
        ):
            continue
        owner = VARIABLES.get(first, first)
        if owner in classes:
            if rest[0] not in classes[owner] | NAMED_TUPLE:
                yield match.group(0)
        elif first in modules:
            if not _member(modules, classes, [first, *rest]):
                yield match.group(0)
        elif first in every:
            continue  # a function, or a member of something that was named before
        else:
            yield match.group(0)
    for name in CALL.findall(span):
        if name not in every and name not in modules:
            yield f"{name}()"


def _member(modules, classes, parts):
    """Whether a dotted name leads from a module to a module, a name in it, or a member of a class in it."""
    for i in range(len(parts), 0, -1):
        head = ".".join(parts[:i])
        if head in modules:
            rest = parts[i:]
            if not rest:
                return True
            if rest[0] not in modules[head]:
                return False
            return len(rest) == 1 or rest[1] in classes.get(rest[0], ())
    return False


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_paths_and_names_of_a_page_exist(page):
    wrong = []
    for line, span in code_spans(page.read_text(encoding="utf-8")):
        wrong += [f"{line}: {span}"] if wrong_path(span) else []
        wrong += [f"{line}: {name}" for name in wrong_names(span, KEYS.get(page.name, ()))]
    assert not wrong


def test_paths_in_comments_and_docstrings_exist():
    """Files named with their folder; kernels/ has its own headers."""
    wrong = []
    for folder in ("src", "tests", "tools", "benchmarks"):
        for path in (ROOT / folder).rglob("*.py"):
            if path.name in ("test_plain_words.py", "test_names.py") or "kernels" in path.parts:
                continue
            for number, text in python_prose(path.read_text(encoding="utf-8")).items():
                for named in FILE.findall(text):
                    if not any((place / named).exists() for place in (*PLACES, path.parent)):
                        wrong.append(f"{path.relative_to(ROOT)}:{number}: {named}")
    assert not wrong


def test_links_between_pages_lead_somewhere():
    wrong = []
    for page in [*PAGES, *sorted((ROOT / "docs" / "evidence").glob("*.md"))]:
        for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
            if "://" not in target and not (page.parent / target).exists():
                wrong.append(f"{page.name}: {target}")
    assert not wrong


def test_a_stale_path_or_name_is_found():
    for span in ("kernels/lodestar_heading.py", "tests/test_ekf15.py", "navigation/stops.py", "docs/nothing.md"):
        assert wrong_path(span)
    for span in ("m/s2", "navigation/stops/", "kernels/jit.py", "deg/s", "params_gyro.csv"):
        assert not wrong_path(span)
    assert list(wrong_names("navigation.strapdown.dead_reckon(recording)")) == ["navigation.strapdown.dead_reckon"]
    assert list(wrong_names("log.nothing")) == ["log.nothing"]
    assert list(wrong_names("no_such_function(3)")) == ["no_such_function()"]
    for span in ("log.between(t0_s, t1_s)", "strapdown.live", "io.solutions.file.write_solution", "Poses.six()"):
        assert not list(wrong_names(span))


def test_no_text_names_a_folder_outside_of_the_project():
    """Recorded data is found by STRAPDOWN_DATA; where it lies is not the product's to state."""
    wrong = []
    for folder in ("src", "docs", "tests", "tools", "benchmarks", "examples"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".py", ".md", ".toml", ".j2", ".html") and path.name != "test_names.py":
                text = path.read_text(encoding="utf-8")
                wrong += [str(path.relative_to(ROOT)) for _ in re.findall(r"(?<![\w-])shared/", text)]
    for name in ("README.md", "CONTRIBUTING.md", "CONVENTIONS.md", "CHANGELOG.md", "Makefile", "pyproject.toml"):
        wrong += [name for _ in re.findall(r"(?<![\w-])shared/", (ROOT / name).read_text(encoding="utf-8"))]
    assert not wrong
