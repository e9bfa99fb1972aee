"""The table of docs/recordings.md: a row for each kind of finding and severity, as the code has them."""

import ast
import re

from doc_pages import SOURCE

from helpers import ROOT

SEVERITIES = {"REFUSE": "refuse", "WARN": "warn", "NOTE": "note"}


def findings_of_the_code():
    """(kind, severity) of every Finding that is made with a plain kind; a choice between two gives both."""
    for path in (SOURCE / "recordings").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Finding" and len(node.args) > 1:
                kind, severity = node.args[:2]
                if isinstance(kind, ast.Constant):
                    names = [n.id for n in ast.walk(severity) if isinstance(n, ast.Name) and n.id in SEVERITIES]
                    yield from ((kind.value, SEVERITIES[name]) for name in names)


def rows():
    text = (ROOT / "docs" / "recordings.md").read_text(encoding="utf-8")
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `") and len(cells) == 4:
            yield re.findall(r"`(\w+)`", cells[0]), cells[3].split(",")[0]


def test_every_row_has_one_kind_and_one_severity_that_the_code_gives():
    given = set(findings_of_the_code())
    kinds = {kind for kind, _ in given} | {"accelerometer_scale"}  # its severity is passed in
    stated = [(kind, severity) for names, severity in rows() for kind in names]
    assert len(stated) > 20
    for kind, severity in stated:
        assert severity in SEVERITIES.values() and kind in kinds
        assert kind == "accelerometer_scale" or (kind, severity) in given, (kind, severity)


def test_no_finding_about_units_axes_and_magnetometer_is_missing():
    stated = {(kind, severity) for names, severity in rows() for kind in names}
    prefixes = ("time_unit", "accelerometer_", "gyroscope_", "magnetometer_", "temperature_", "z_down")
    others = {"accelerometer_zero", "magnetometer_dead"}  # what commands do with a log of zeros
    missing = {f for f in findings_of_the_code() if f[0].startswith(prefixes) and f[0] not in others} - stated
    assert not missing
