"""Diagram files: what is read, written and refused."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers import ROOT
from strapdown.environment.diagram import BlockError, DiagramError, check, compile_diagram, read_diagram, write_diagram
from strapdown.environment.diagram import file as diagram_file
from strapdown.environment.diagram.file import Diagram, diagram_from, diagram_from_text, diagram_text
from strapdown.errors import InputError

EXAMPLES = sorted((ROOT / "examples" / "diagrams").glob("*.toml"))

EVERY_KEY = '''
version = 1
title = "with \\"quotes\\" and a ünit"
comment = """two
lines"""
base_hz = 2000.0
control_hz = 500
wire = [{ from = "a.out", to = "u.x", comment = "why" }]

[[block]]
name = "a"
kind = "constant_vector"
rate_hz = 1000.0
at = [-12.5, 40]
comment = "c"
parameters = { values = [1, 2.5e-3], unit = "m" }

[[block]]
name = "u"
diagram = "s"

[[diagram]]
name = "s"
title = "t"
comment = "c"
[[diagram.input]]
name = "x"
unit = "m"
frame = "n"
shape = [2]
at = [0, 1]
comment = "c"
[[diagram.output]]
name = "y"
[[diagram.block]]
name = "g"
kind = "gain"
[[diagram.wire]]
from = "x"
to = "g.in"
[[diagram.wire]]
from = "g.out"
to = "y"
'''


def test_every_key_is_written_and_read_back(tmp_path):
    first = diagram_from_text(EVERY_KEY)
    assert check(first) == []
    path = tmp_path / "d.toml"
    write_diagram(path, first)
    again = read_diagram(path)
    assert again == first
    assert diagram_text(again) == path.read_text(encoding="utf-8")
    # all keys of the format occur
    for model, values in (
        (Diagram, first),
        (diagram_file.BlockTable, first.block[0]),
        (diagram_file.WireTable, first.wire[0]),
        (diagram_file.SubDiagram, first.diagram[0]),
        (diagram_file.PortTable, first.diagram[0].input[0]),
    ):
        missing = {name for name in model.model_fields if not getattr(values, name)}
        assert missing <= {"diagram"}, model  # of a block: its kind is given instead


def test_every_key_is_in_the_docs():
    text = (ROOT / "docs" / "diagram.md").read_text(encoding="utf-8")
    tables = {
        "": Diagram,
        "block.": diagram_file.BlockTable,
        "wire.": diagram_file.WireTable,
        "diagram.": diagram_file.SubDiagram,
        "diagram.input.": diagram_file.PortTable,
    }
    for prefix, model in tables.items():
        for name, field in model.model_fields.items():
            assert f"| `{prefix}{field.alias or name}` |" in text, f"{prefix}{name}"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_have_no_problems_and_are_written_without_loss(path, tmp_path):
    read = read_diagram(path)
    assert check(read) == []
    write_diagram(tmp_path / "d.toml", read)
    assert read_diagram(tmp_path / "d.toml") == read


def refused(text):
    with pytest.raises(DiagramError) as caught:
        diagram_from_text(text, "d.toml")
    return [str(p) for p in caught.value.problems]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "version is None; give version = 1"),
        ("version = '1'", "version is '1'; give version = 1"),
        ("version = true", "version is True"),
        ("version = 2", "version 2 is newer than this program, which reads up to 1; update strapdown"),
        ("version = 0", "version 0 does not exist"),
        ("version = -3", "version -3 does not exist"),
        ("version = ", "not valid TOML"),
        ("version = 1\nblok = []", 'key "blok" is not known; did you mean block'),
        ("version = 1\n[block]\nname = 'a'", "block is {'name': 'a'}; give a list of tables: write [[block]]"),
        ("version = 1\n[[block]]\nkind = 'gain'", 'block 1: key "name" is missing; add it'),
        ("version = 1\n[[block]]\nname = 'a'", 'block "a": needs either a kind or a diagram, and not both'),
        ("version = 1\n[[block]]\nname = 'a'\nkind = 'b'\ndiagram = 'c'", "and not both"),
        ("version = 1\n[[block]]\nname = 'a'\ndiagram = 'c'\nparameters = {x = 1}", "which has no parameters"),
        ("version = 1\n[[block]]\nname = 'a.b'\nkind = 'gain'", "name is 'a.b'; use printable text without"),
        ("version = 1\n[[block]]\nname = ' a'\nkind = 'gain'", "spaces at the ends"),
        ("version = 1\n[[block]]\nname = ''\nkind = 'gain'", "name is ''"),
        (
            "version = 1\n[[block]]\nname = 'a'\nkind = 'gain'\nkindd = 1",
            'block "a": key "kindd" is not known; did you mean kind',
        ),
        ("version = 1\n[[block]]\nname = 'a'\nkind = 'gain'\nrate_hz = 0", "rate_hz is 0"),
        ("version = 1\n[[block]]\nname = 'a'\nkind = 'gain'\nat = [1]", "at is [1]"),
        ("version = 1\n[[wire]]\nfrom = 'a.b'", 'wire 1: key "to" is missing'),
        ("version = 1\n[[wire]]\nform = 'a.b'\nto = 'c.d'", 'key "form" is not known; did you mean from'),
        (
            "version = 1\n[[diagram]]\nname = 'd'\n[[diagram.input]]\nname = 'x'\nshape = [0]",
            'diagram "d", input "x": shape',
        ),
        ("version = 1\n[[diagram]]\nname = 'd'\n[[diagram.diagram]]\nname = 'e'", 'key "diagram" is not known'),
        ("version = 1\nblock = [1]", "block 1: the table is 1; give a table"),
        ("version = 1\nblocks = 'own.py'", 'key "blocks" is not known'),  # a file cannot name Python to run
    ],
)
def test_wrong_files(text, words):
    found = refused(text)
    assert any(words in sentence for sentence in found), found
    assert all("\n" not in sentence for sentence in found)


def test_all_wrong_keys_are_found_at_once():
    found = refused(
        "version = 1\nx = 1\n[[block]]\nname = 'a'\nkind = 'gain'\ny = 1\n[[wire]]\nfrom = 1\nto = 'a.in'\n"
    )
    assert len(found) == 3


def test_older_versions_are_read(monkeypatch):
    monkeypatch.setattr(diagram_file, "VERSION", 2)
    with pytest.raises(DiagramError, match="version 1 does not exist"):
        diagram_from({"version": 1})
    monkeypatch.setitem(diagram_file.UPGRADES, 1, lambda values: {"title": values["name"]})
    read = diagram_from({"version": 1, "name": "old"})
    assert (read.version, read.title) == (2, "old")


PIECES = [
    "",
    "0",
    "-1",
    "1e300",
    "nan",
    "[",
    "]",
    "{",
    "}",
    '"',
    "=",
    ".",
    "\n",
    "[[block]]",
    "[[diagram]]",
    "[[wire]]",
]
PIECES += [
    'name = "a"',
    'kind = "sum"',
    "true",
    '"x"',
    "[1, 2]",
    "pid",
    "plant",
    "version = 1",
    "é",
    "\0",
    "rate_hz = 7",
]


@settings(max_examples=300, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from(EXAMPLES),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 30), st.sampled_from(PIECES)), max_size=4),
)
def test_damaged_files_run_or_are_refused_in_a_sentence(path, edits):
    text = path.read_text(encoding="utf-8")
    for at, length, piece in edits:
        i = int(at * len(text))
        text = text[:i] + piece + text[i + length :]
    try:
        compile_diagram(diagram_from_text(text)).advance(5)
    except (InputError, BlockError) as error:
        assert "\n" not in str(error) and len(str(error)) < 1000


def test_files_that_are_no_diagrams(tmp_path):
    with pytest.raises(InputError, match=r"diagram .*nothing.toml does not exist"):
        read_diagram(tmp_path / "nothing.toml")
    (tmp_path / "b.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match=r"b.toml: not a text file in UTF-8"):
        read_diagram(tmp_path / "b.toml")
    (tmp_path / "m.toml").write_bytes(b"\xef\xbb\xbfversion = 1\r\n")  # as Notepad writes it
    assert read_diagram(tmp_path / "m.toml").block == ()


def test_values_that_toml_cannot_hold_are_refused_and_leave_no_file(tmp_path):
    given = diagram_from({"version": 1, "block": [{"name": "a", "kind": "gain", "parameters": {"gain": object()}}]})
    with pytest.raises(InputError, match='"gain" is <object'):
        write_diagram(tmp_path / "d.toml", given)
    assert list(tmp_path.iterdir()) == []
