"""Every kind of problem with its sentence, and all of them at once."""

import pytest

from diagram_cases import diagram, sheet
from strapdown.environment.diagram import DiagramError, Port, block, check, compile_diagram
from strapdown.environment.diagram.file import diagram_from
from strapdown.environment.diagram.kinds import Kind, builtin
from strapdown.environment.diagram.problem import PROBLEMS
from strapdown.errors import InputError

METRES = ("constant", {"unit": "m"})
RADIANS = ("constant", {"unit": "rad"})
VECTOR = ("constant_vector", {"unit": "m", "frame": "b"})


def sub(name="s", blocks=None, *wires, **keys):
    return {"name": name, **sheet(blocks or {}, *wires), **keys}


def same_names():
    given = sheet({"a": "constant"})
    return diagram_from({"version": 1, **given, "block": given["block"] * 2})


# kind of the problem, block, words of the sentence, diagram
CASES = [
    ("name", "a", 'block "a": the name is used by two blocks; give each its own', same_names),
    (
        "name",
        "",
        'diagram "s": the name is used by two sub-diagrams; rename one',
        lambda: diagram({}, diagram=[sub(), sub()]),
    ),
    (
        "name",
        "",
        'diagram "s", input "x": the name is used by two ports; rename one',
        lambda: diagram({}, diagram=[sub(input=[{"name": "x"}, {"name": "x"}])]),
    ),
    ("kind", "a", 'block "a": kind "gian" is not known; did you mean gain', lambda: diagram({"a": "gian"})),
    ("kind", "a", 'kind "teleport" is not known; see the table in docs/diagram.md', lambda: diagram({"a": "teleport"})),
    (
        "kind",
        "a",
        'block "a": sub-diagram "lop" does not exist; did you mean loop',
        lambda: diagram({"a": "diagram lop"}, diagram=[sub("loop")]),
    ),
    (
        "kind",
        "b",
        'diagram "s", block "b": kind "gian" is not known',
        lambda: diagram({}, diagram=[sub("s", {"b": "gian"})]),
    ),
    (
        "parameter",
        "a",
        'block "a": parameter "vlaue" is not known; did you mean value',
        lambda: diagram({"a": ("constant", {"vlaue": 1.0})}),
    ),
    (
        "parameter",
        "a",
        "parameter \"value\" is '1'; give a number",
        lambda: diagram({"a": ("constant", {"value": "1"})}),
    ),
    ("parameter", "a", 'parameter "value" is True', lambda: diagram({"a": ("constant", {"value": True})})),
    ("parameter", "a", 'parameter "value" is 1e+300', lambda: diagram({"a": ("constant", {"value": 1e300})})),
    ("parameter", "a", 'parameter "value" is nan', lambda: diagram({"a": ("constant", {"value": float("nan")})})),
    ("parameter", "a", "parameter \"signs\" is '+*'", lambda: diagram({"a": ("sum", {"signs": "+*"})})),
    (
        "parameter",
        "a",
        "lower is 2, above upper of 1; exchange them",
        lambda: diagram({"a": ("saturation", {"lower": 2.0})}),
    ),
    ("parameter", "a", "valid names: inputs", lambda: diagram({"a": ("and", {"something": 1})})),
    ("parameter", "a", "this kind has no parameters", lambda: diagram({"a": ("not", {"something": 1})})),
    (
        "wire",
        "",
        'wire 1 from "x.out" to "g.in": block "x" does not exist; add it, or remove the wire',
        lambda: diagram({"g": "gain"}, "x.out -> g.in"),
    ),
    (
        "wire",
        "",
        'block "filtre" does not exist; did you mean filter',
        lambda: diagram({"c": "constant", "filter": ("gain", {})}, "c.out -> filter.in", "c.out -> filtre.in"),
    ),
    ("wire", "", '"c" is no port; write an end as "block.port"', lambda: diagram({"c": "constant"}, "c -> c.in")),
    (
        "wire",
        "",
        'diagram "s", wire 1 from "x" to "g.in": the sub-diagram has no input "x"; did you mean x1',
        lambda: diagram(
            {"c": "constant", "u": "diagram s"},
            "c.out -> u.x1",
            diagram=[sub("s", {"g": "gain"}, "x -> g.in", input=[{"name": "x1"}])],
        ),
    ),
    (
        "port",
        "g",
        'block "g" has no input "inn"; did you mean in',
        lambda: diagram(
            {"c": "constant", "g": "gain", "d": "gain"}, "c.out -> g.in", "c.out -> g.inn", "c.out -> d.in"
        ),
    ),
    ("port", "c", 'block "c" has no input "in"; it has no inputs', lambda: diagram({"c": "constant"}, "c.out -> c.in")),
    (
        "port",
        "g",
        'block "g" has no output "in"; "in" is an input',
        lambda: diagram({"c": "constant", "g": "gain", "h": "not"}, "c.out -> g.in", "g.in -> h.in"),
    ),
    (
        "twice",
        "g",
        '"g.in" has a wire from "a.out" already; keep one, or add the two with a sum',
        lambda: diagram({"a": "constant", "b": "constant", "g": "gain"}, "a.out -> g.in", "b.out -> g.in"),
    ),
    (
        "unconnected",
        "p",
        'block "p": input "measured" is not connected; draw a wire to it',
        lambda: diagram({"a": "constant", "p": "pid"}, "a.out -> p.target"),
    ),
    (
        "unconnected",
        "",
        'diagram "s", output "y": is not connected',
        lambda: diagram({}, diagram=[sub(output=[{"name": "y"}])]),
    ),
    (
        "type",
        "s",
        'block "s": input "in2" expects unit m, receives unit rad from "b.out"; connect another signal',
        lambda: diagram({"a": METRES, "b": RADIANS, "s": "sum"}, "a.out -> s.in1", "b.out -> s.in2"),
    ),
    (
        "type",
        "w",
        'input "in" expects unit rad, receives unit m from "g2.out"',
        lambda: diagram(
            {"w": "wrap_angle", "g2": "gain", "g1": ("low_pass", {}), "a": METRES},
            "a.out -> g1.in",
            "g1.out -> g2.in",
            "g2.out -> w.in",
        ),
    ),
    (
        "type",
        "n",
        'input "in" expects unit flag, receives unit m from "a.out"',
        lambda: diagram({"a": METRES, "n": "not"}, "a.out -> n.in"),
    ),
    (
        "type",
        "r",
        'input "in" expects frame n, receives frame b from "v.out"; connect another signal, or rotate it',
        lambda: diagram(
            {"v": VECTOR, "r": ("rotate", {"frames": "bn"}), "q": ("constant_vector", {"values": [1, 0, 0, 0]})},
            "v.out -> r.in",
            "q.out -> r.attitude",
        ),
    ),
    (
        "type",
        "s",
        'input "in2" expects one number, receives 3 numbers from "v.out"; connect another signal, or use split or join',
        lambda: diagram({"a": METRES, "v": VECTOR, "s": "sum"}, "a.out -> s.in1", "v.out -> s.in2"),
    ),
    (
        "type",
        "u/g",
        'port "u/x" expects unit m, receives unit rad from "a.out"',
        lambda: diagram(
            {"a": RADIANS, "u": "diagram s"},
            "a.out -> u.x",
            diagram=[sub("s", {"g": "gain"}, "x -> g.in", input=[{"name": "x", "unit": "m"}])],
        ),
    ),
    ("loop", "a", 'algebraic loop "a" -> "a"', lambda: diagram({"a": "gain"}, "a.out -> a.in")),
    (
        "rate",
        "a",
        'block "a": rate 300 Hz does not divide the base clock of 1000 Hz; choose 500 or 250 Hz',
        lambda: diagram({"a": ("constant", {}, {"rate_hz": 300.0})}),
    ),
    (
        "rate",
        "a",
        "rate 2000 Hz is above the base clock of 1000 Hz; lower it, or raise base_hz",
        lambda: diagram({"a": ("constant", {}, {"rate_hz": 2000.0})}),
    ),
    ("rate", "a", "below the slowest possible", lambda: diagram({"a": ("constant", {}, {"rate_hz": 1e-3})})),
    ("rate", "a", "rate 300 Hz does not divide", lambda: diagram({"a": "constant"}, control_hz=300.0)),
    (
        "rate",
        "n",
        "frequency_hz is 130, not below half of its rate of 250 Hz",
        lambda: diagram({"s": "sine", "n": ("notch", {"frequency_hz": 130.0})}, "s.out -> n.in"),
    ),
    (
        "rate",
        "s",
        "a sine of 200 Hz needs a rate of more than 400 Hz",
        lambda: diagram({"s": ("sine", {"frequency_hz": 200.0})}),
    ),
    (
        "rate",
        "",
        "coincide less than once in 100000 ticks",
        lambda: diagram({f"a{n}": ("constant", {}, {"rate_hz": 1000.0 / n}) for n in (7, 11, 13, 17, 19)}),
    ),
    (
        "recursion",
        "",
        "contains itself (a -> b -> a); remove one of these uses",
        lambda: diagram({"x": "diagram a"}, diagram=[sub("a", {"i": "diagram b"}), sub("b", {"j": "diagram a"})]),
    ),
    ("recursion", "", "contains itself (a -> a)", lambda: diagram({}, diagram=[sub("a", {"i": "diagram a"})])),
]


@pytest.mark.parametrize(
    ("kind", "block_name", "words", "make"), CASES, ids=[f"{c[0]}-{i}" for i, c in enumerate(CASES)]
)
def test_a_problem_has_its_kind_its_block_and_its_sentence(kind, block_name, words, make):
    given = make()
    problems = check(given)
    found = [p for p in problems if words in str(p)]
    assert found, [str(p) for p in problems]
    assert (found[0].kind, found[0].block) == (kind, block_name)
    assert "\n" not in str(found[0])
    with pytest.raises(DiagramError) as caught:
        compile_diagram(given)
    assert isinstance(caught.value, InputError)
    assert str(caught.value).startswith(str(problems[0])) and caught.value.problems == tuple(problems)


def test_every_kind_of_problem_has_a_case_and_a_line_in_the_docs():
    from helpers import ROOT

    assert {case[0] for case in CASES} | {"file", "size"} == set(PROBLEMS)
    text = (ROOT / "docs" / "diagram.md").read_text(encoding="utf-8")
    for kind, meaning in PROBLEMS.items():
        assert f"| `{kind}` | {meaning} |" in text


def test_all_problems_are_found_at_once():
    given = diagram(
        {
            "a": "gian",
            "b": ("gain", {"x": 1}),
            "c": "gain",
            "d": RADIANS,
            "e": ("sum", {}, {"rate_hz": 3.0}),
            "m": METRES,
        },
        "d.out -> e.in1",
        "m.out -> e.in2",
        "nowhere.out -> c.in",
    )
    assert [p.kind for p in check(given)] == ["kind", "parameter", "wire", "type", "rate"]


def test_one_wrong_block_brings_no_further_problems():
    """Ports of a block that is wrong itself are not known: its wires are not reported too."""
    given = diagram({"a": "constant", "b": "gian", "c": "gain"}, "a.out -> b.in", "b.out -> c.in")
    assert [p.kind for p in check(given)] == ["kind"]


def test_units_are_not_checked_where_a_port_takes_any():
    assert not check(
        diagram(
            {"a": METRES, "b": RADIANS, "p": "product", "w": "wrap_angle"},
            "a.out -> p.in1",
            "b.out -> p.in2",
            "p.out -> w.in",
        )
    )
    (problem,) = check(
        diagram(
            {"a": METRES, "b": RADIANS, "p": ("product", {"unit_out": "m"}), "w": "wrap_angle"},
            "a.out -> p.in1",
            "b.out -> p.in2",
            "p.out -> w.in",
        )
    )
    assert problem.kind == "type"


def test_a_gain_with_unit_out_converts():
    wires = ("a.out -> g.in", "g.out -> w.in")
    assert check(diagram({"a": METRES, "g": "gain", "w": "wrap_angle"}, *wires))
    assert not check(diagram({"a": METRES, "g": ("gain", {"unit_out": "rad"}), "w": "wrap_angle"}, *wires))


def own(cls):
    return {**builtin(), "own": Kind("own", "own", "x", block("own", category="own")(cls))}


def test_classes_that_do_not_fit_are_problems_of_their_block():
    class Raises:
        def __init__(self, p):
            raise KeyError("ouch")

        def start(self): ...
        def step(self): ...

    class WrongStep:
        rate_hz = None

        def __init__(self, p):
            self.inputs, self.outputs = {"in": Port()}, {}

        def start(self): ...
        def step(self, state, dt): ...

    class WrongPorts(WrongStep):
        def __init__(self, p):
            self.inputs, self.outputs = {"in": "m"}, {}

    class WrongRate(WrongStep):
        def __init__(self, p):
            self.inputs, self.outputs, self.rate_hz = {}, {}, "fast"

    class OwnRate(WrongStep):
        def __init__(self, p):
            self.inputs, self.outputs, self.rate_hz = {}, {}, 100.0

    class Refuses(OwnRate):
        def refuses(self, dt):
            return 1 / 0

    class Unresolved(OwnRate):
        def resolved(self, inputs, outputs):
            return 1 / 0

    def sentences(cls, **keys):
        return "; ".join(str(p) for p in check(diagram({"a": ("own", {}, keys)}), own(cls)))

    assert 'block "a": cannot be made: KeyError' in sentences(Raises)
    assert "does not take its inputs and dt" in sentences(WrongStep)
    assert "inputs is not a mapping of names to Port" in sentences(WrongPorts)
    assert "its rate is 'fast'" in sentences(WrongRate)
    assert "its own rate is 100 Hz, rate_hz asks for 50 Hz; remove rate_hz" in sentences(OwnRate, rate_hz=50.0)
    assert sentences(OwnRate) == ""
    assert "refuses raised ZeroDivisionError" in sentences(Refuses)
    with pytest.raises(InputError, match="resolved of block class Unresolved raised ZeroDivisionError"):
        sentences(Unresolved)
