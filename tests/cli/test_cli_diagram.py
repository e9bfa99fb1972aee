"""strapdown diagram: problems on the terminal and as JSON, pictures."""

import json
import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest

from helpers import ROOT, command

EXAMPLE = ROOT / "examples" / "diagrams" / "second_order_pid.toml"
SVG = "{http://www.w3.org/2000/svg}"

BROKEN = """
version = 1
wire = [{ from = "a.out", to = "b.in" }]
[[block]]
name = "a"
kind = "constant"
parameters = { unit = "m" }
[[block]]
name = "b"
kind = "wrap_angle"
[[block]]
name = "c"
kind = "gian"
"""

BLOCKS = '''
from strapdown.environment.diagram import Memoryless, Port, block

@block("twice", category="own")
class Twice(Memoryless):
    """Doubles its input."""

    def __init__(self, p):
        self.inputs, self.outputs = {"in": Port(group="x")}, {"out": Port(group="x")}

    def apply(self, x):
        return 2.0 * x
'''
CONSTANT = '[[block]]\nname = "{}"\nkind = "constant"\nat = [{}, 0]\n'
GAIN = '[[block]]\nname = "{}"\nkind = "gain"\nat = [0, 0]\n'
WITH_OWN = (
    'version = 1\nwire = [{from = "a.out", to = "b.in"}]\n'
    + CONSTANT.format("a", 0)
    + '[[block]]\nname = "b"\nkind = "twice"\n'
)


@pytest.fixture
def broken(tmp_path):
    path = tmp_path / "broken.toml"
    path.write_text(BROKEN)
    return path


@pytest.fixture
def own(tmp_path):
    (tmp_path / "own.py").write_text(BLOCKS)
    (tmp_path / "own.toml").write_text(WITH_OWN)
    return tmp_path / "own.toml", tmp_path / "own.py"


def test_check_without_problems_lists_the_blocks():
    result = command("diagram", "check", EXAMPLE)
    assert result.code == 0 and result.err == ""
    assert "no problems; 10 blocks on a base clock of 1000 Hz" in result.out
    assert re.search(r"plant/speed\W+integrator\W+1000\W+out: m/s", result.out)


def test_check_lists_all_problems_and_exits_2(broken):
    result = command("diagram", "check", broken)
    assert result.code == 2 and result.out == ""
    lines = result.err.strip().splitlines()
    assert len(lines) == 2 and all(line.startswith(f"strapdown: {broken}: block ") for line in lines)
    assert "did you mean gain" in lines[0] and "expects unit rad, receives unit m" in lines[1]


def test_check_as_json(broken):
    result = command("diagram", "check", broken, "--json")
    document = json.loads(result.out)
    assert result.code == 2 and [p["kind"] for p in document["problems"]] == ["kind", "type"]
    assert document["problems"][0]["block"] == "c"
    result = command("diagram", "check", EXAMPLE, "--json")
    document = json.loads(result.out)
    assert result.code == 0 and document["problems"] == [] and len(document["blocks"]) == 10
    assert {b["path"]: b["rate_hz"] for b in document["blocks"]}["plant/speed"] == 1000.0


def test_files_that_are_no_diagrams_are_problems_too(tmp_path):
    path = tmp_path / "d.toml"
    path.write_text("version = 9\n")
    result = command("diagram", "check", path)
    assert result.code == 2 and result.err.count("\n") == 1 and "newer than this program" in result.err
    assert json.loads(command("diagram", "check", path, "--json").out)["problems"][0]["kind"] == "file"
    assert command("diagram", "check", tmp_path / "nothing.toml").code == 2


def test_own_blocks_only_where_their_file_is_named(own):
    file, blocks = own
    result = command("diagram", "check", file)
    assert result.code == 2 and 'kind "twice" is not known' in result.err
    assert command("diagram", "check", file, "--blocks", blocks).code == 0
    result = command("diagram", "check", file, "--blocks", blocks, "--blocks", blocks)
    assert result.code == 2 and "exists already" in result.err


def drawn(path):
    root = ET.parse(path).getroot()
    assert root.tag == f"{SVG}svg"
    return root


def test_show_draws_every_block_port_and_signal(tmp_path):
    result = command("diagram", "show", EXAMPLE, "-o", tmp_path / "d.svg")
    assert result.code == 0 and result.err == "" and "picture: " in result.out
    root = drawn(tmp_path / "d.svg")
    texts = [t.text for t in root.iter(f"{SVG}text")]
    for word in ("target", "controller", "plant", "filter", "scope", "measured", "net force", "position", "m/s2", "N"):
        assert word in texts
    assert "prefers-color-scheme: dark" in root.find(f"{SVG}style").text
    wires = [p for p in root.iter(f"{SVG}path") if p.get("class", "").startswith("wire")]
    assert len(wires) == 4 + 7  # signals of the main diagram and of the sub-diagram


def test_the_picture_of_the_docs_is_that_of_the_example(tmp_path):
    command("diagram", "show", EXAMPLE, "-o", tmp_path / "d.svg")
    assert (tmp_path / "d.svg").read_bytes() == (ROOT / "docs" / "pictures" / "diagram.svg").read_bytes()


def inside(point, box):
    x, y, w, h = box
    return x < point[0] < x + w and y < point[1] < y + h


@pytest.mark.parametrize("name", ["second_order_pid", "filters"])
def test_wires_have_right_angles_and_keep_out_of_boxes(name):
    from strapdown.environment.diagram import read_diagram
    from strapdown.environment.diagram.drawing.picture import panels
    from strapdown.environment.diagram.drawing.route import routes
    from strapdown.environment.diagram.kinds import builtin

    for panel in panels(read_diagram(EXAMPLE.with_name(f"{name}.toml")), builtin()):
        boxes = [(b.x, b.y, b.width, b.height) for b in panel.boxes.values()]
        for i, a in enumerate(boxes):  # no box lies on another
            for b in boxes[i + 1 :]:
                assert a[0] + a[2] <= b[0] or b[0] + b[2] <= a[0] or a[1] + a[3] <= b[1] or b[1] + b[3] <= a[1]
        for connection, way in zip(panel.connections, routes(panel), strict=True):
            assert way[0] == panel.boxes[connection.source].port_xy("out", connection.output)
            assert way[-1] == panel.boxes[connection.target].port_xy("in", connection.input)
            for (ax, ay), (bx, by) in pairwise(way):
                assert ax == bx or ay == by
                points = [(ax + (bx - ax) * k / 50, ay + (by - ay) * k / 50) for k in range(51)]
                assert not any(inside(p, box) for p in points for box in boxes)


def test_blocks_without_a_place_stand_in_columns_by_depth():
    from strapdown.environment.diagram import read_diagram
    from strapdown.environment.diagram.drawing.picture import panels
    from strapdown.environment.diagram.kinds import builtin

    (panel,) = panels(read_diagram(EXAMPLE.with_name("filters.toml")), builtin())
    x = {name: box.x for name, box in panel.boxes.items()}
    assert x["motion"] == x["vibration"] < x["reading"] < x["notch"] == x["low-pass"] == x["second order"] < x["logger"]


def test_show_marks_broken_blocks_and_says_so(broken, tmp_path):
    result = command("diagram", "show", broken, "-o", tmp_path / "d.svg")
    assert result.code == 0 and "note: 2 problems; strapdown diagram check lists them" in result.err
    root = drawn(tmp_path / "d.svg")
    assert [r.get("class") for r in root.iter(f"{SVG}rect")].count("node bad") == 2


@pytest.mark.parametrize(
    "text",
    [
        "version = 1\n",
        'version = 1\ntitle = "<&>"\n[[block]]\nname = "<b> & \'c\'"\nkind = "constant"\ncomment = "a\\nb"\n',
        "version = 1\n" + CONSTANT.format("a", 1e9) + CONSTANT.format("b", 0),
        "version = 1\n[[diagram]]\nname = 'd'\n[[diagram.block]]\nname = 'a'\ndiagram = 'd'\n",
        'version = 1\nwire = [{from = "a.out", to = "a.in"}]\n' + GAIN.format("a"),
        'version = 1\nwire = [{from = "a.out", to = "b.in"}]\n' + GAIN.format("a") + GAIN.format("b"),
    ],
    ids=["empty", "signs", "far apart", "recursion", "loop", "on each other"],
)
def test_odd_diagrams_are_drawn(text, tmp_path):
    path = tmp_path / "d.toml"
    path.write_text(text)
    result = command("diagram", "show", path, "-o", tmp_path / "d.svg")
    assert result.code == 0, result.err
    drawn(tmp_path / "d.svg")


def test_show_refuses_other_pictures_and_leaves_no_file(tmp_path, broken):
    result = command("diagram", "show", EXAMPLE, "-o", tmp_path / "d.png")
    assert result.code == 2 and "name it" in result.err and not (tmp_path / "d.png").exists()
    broken.write_text("version = ")
    result = command("diagram", "show", broken, "-o", tmp_path / "d.svg")
    assert result.code == 2 and result.err.count("\n") == 1 and not (tmp_path / "d.svg").exists()


def test_help_has_examples():
    for words in (("diagram", "check"), ("diagram", "show")):
        result = command(*words, "--help")
        assert result.code == 0 and "Example: strapdown diagram" in " ".join(result.out.split())
