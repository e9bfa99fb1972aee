"""Kinds of blocks: what the palette and the forms get, and blocks of the user's own."""

import inspect
import json
import pickle
import sys

import pytest

from diagram_cases import diagram, runner
from helpers import ROOT
from strapdown.environment.diagram import compile_diagram, load_blocks, palette
from strapdown.environment.diagram.block import CATEGORIES
from strapdown.environment.diagram.kinds import builtin
from strapdown.errors import InputError

KINDS = list(builtin().values())

OWN = '''
"""Blocks of my own."""
from typing import NamedTuple
from strapdown.environment.diagram import BlockParameters, Port, block, parameter

class Memory(NamedTuple):
    total: float

@block("leaky_sum", category="own")
class LeakySum:
    """Sum that forgets.

    More text that the palette does not show.
    """
    class Parameters(BlockParameters):
        keep: float = parameter(0.5, title="Keep", description="Share kept per step.", unit="1", limits=(0.0, 1.0))

    rate_hz = None

    def __init__(self, p):
        self.keep = p.keep
        self.inputs = {"in": Port(group="signal")}
        self.outputs = {"out": Port(group="signal")}

    def start(self):
        return Memory(0.0)

    def step(self, state, x, dt):
        total = self.keep * state.total + x
        return Memory(total), (total,)
'''


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_the_palette_has_what_forms_need(kind):
    entry = next(e for e in palette() if e["kind"] == kind.name)
    json.dumps(entry, allow_nan=False)
    assert kind.category in CATEGORIES and entry["description"].endswith(".")
    assert entry["inputs"] is not None  # every parameter has a default: a block can be dropped on the canvas
    for name, field in entry["schema"].get("properties", {}).items():
        assert field["title"] and field["description"].endswith("."), name
        assert "default" in field, name
        number = field if field.get("type") in ("number", "integer") else field.get("items", {})
        if number.get("type") in ("number", "integer"):
            assert field["unit"] and "minimum" in number and "maximum" in number, name


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_limits_of_parameters_are_those_of_the_schema(kind):
    """The form and the check agree: a value beyond a limit is refused, the limit itself is a number."""
    for name, field in kind.schema().get("properties", {}).items():
        for limit, step in (("minimum", -1.0), ("maximum", 1.0)):
            if field.get("type") in ("number", "integer") and limit in field:
                beyond = field[limit] + step * max(1.0, abs(field[limit]))
                value = int(beyond) if field["type"] == "integer" else beyond
                with pytest.raises(ValueError, match=name):
                    kind.make({name: value})


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_the_table_of_blocks_in_the_docs_is_complete(kind):
    made = kind.make({})
    ports = [", ".join(f"`{name}`" for name in names) or "-" for names in (made.inputs, made.outputs)]
    parameters = ", ".join(f"`{name}`" for name in kind.parameters.model_fields) or "-"
    line = f"| `{kind.name}` | {kind.category} | {kind.description} | {ports[0]} | {ports[1]} | {parameters} |"
    lines = (ROOT / "docs" / "diagram.md").read_text(encoding="utf-8").splitlines()
    assert line in lines, f"docs/diagram.md needs the line: {line}"


@pytest.mark.parametrize("kind", [k for k in KINDS if hasattr(k.cls, "apply")], ids=lambda kind: kind.name)
def test_apply_is_the_step_of_a_block_without_memory(kind):
    import numpy as np

    made = kind.make({})
    rng = np.random.default_rng(3)
    given = [rng.normal(size=port.shape) if port.shape else float(rng.normal()) for port in made.inputs.values()]
    given += getattr(made, "feeds", {}).values()
    state, outputs = made.step(made.start(), *given, dt=0.01)
    result = made.apply(*given)
    assert state is None
    for one, other in zip(outputs, (result,) if len(made.outputs) == 1 else result, strict=True):
        np.testing.assert_array_equal(one, other)


def written(tmp_path, text, name="own.py"):
    path = tmp_path / name
    path.write_text(text)
    return path


def test_blocks_of_a_file(tmp_path):
    kinds = load_blocks(written(tmp_path, OWN))
    assert set(kinds) == {*builtin(), "leaky_sum"}
    assert kinds["leaky_sum"].description == "Sum that forgets."
    blocks = {"c": ("constant", {"value": 1.0}), "own": ("leaky_sum", {"keep": 0.5})}
    run = runner(blocks, "c.out -> own.in", kinds=kinds, base_hz=250.0)
    run.advance(4)
    assert run.value("own.out") == 1.875
    again = compile_diagram(run.diagram, kinds)
    again.restore(pickle.loads(pickle.dumps(run.snapshot())))  # the user's own class of state too
    again.tick()
    assert again.value("own.out") == 1.9375
    with pytest.raises(InputError, match='kind "leaky_sum" is not known'):
        compile_diagram(diagram(blocks, "c.out -> own.in"))  # only where the file is named


def test_files_add_to_each_other(tmp_path):
    kinds = load_blocks(written(tmp_path, OWN))
    both = load_blocks(written(tmp_path, OWN.replace("leaky_sum", "other"), "more.py"), kinds)
    assert {"leaky_sum", "other", "gain"} <= set(both)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t.replace("leaky_sum", "gain"), 'block kind "gain" exists already; choose another name'),
        (
            lambda t: t + t.partition("@block")[1] + t.partition("@block")[2].replace("class LeakySum", "class Two"),
            "two classes",
        ),
        (lambda t: t.replace("    def start", "    def begin"), 'block kind "leaky_sum" has no method start'),
        (lambda t: t.replace('unit="1", ', ""), 'parameter "keep" of block kind "leaky_sum" has no unit'),
        (lambda t: t.replace(", limits=(0.0, 1.0)", ""), "has no limits"),
        (
            lambda t: t.replace(
                'parameter(0.5, title="Keep", description="Share kept per step.", unit="1", limits=(0.0, 1.0))', "0.5"
            ),
            "has no description and no unit and no limits and no title",
        ),
        (
            lambda t: t.replace('"""Sum that forgets.', '"""').replace("More text that the palette does not show.", ""),
            "has no docstring",
        ),
        (lambda t: t.replace('"leaky_sum"', '"leaky sum"'), "use letters, digits and _"),
        (lambda t: t.replace("(BlockParameters)", ""), "must be a subclass of BlockParameters"),
        (lambda t: t.replace("class Memory", "clas Memory"), "line 6: not valid Python"),
        (lambda t: t + "\n1 / 0\n", "running it failed: ZeroDivisionError: division by zero"),
        (lambda t: t + "\nraise SystemExit(3)\n", "running it failed: SystemExit: 3"),
        (lambda t: t.replace("@block", "# @block"), "defines no block; mark a class with @block"),
    ],
)
def test_wrong_block_files_are_one_sentence(change, words, tmp_path):
    path = written(tmp_path, change(OWN))
    before = set(sys.modules)
    with pytest.raises(InputError) as caught:
        load_blocks(path)
    assert str(caught.value).startswith(f"{path}: ") and words in str(caught.value), str(caught.value)
    assert "\n" not in str(caught.value)
    assert not {name for name in set(sys.modules) - before if name.startswith("strapdown_blocks")}


def test_block_files_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        load_blocks(tmp_path / "nothing.py")
    (tmp_path / "b.py").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="not a text file"):
        load_blocks(tmp_path / "b.py")


def test_the_block_of_the_docs_works(tmp_path):
    text = (ROOT / "docs" / "diagram.md").read_text(encoding="utf-8")
    code = next(part.partition("```")[0] for part in text.split("```python\n")[1:] if "@block(" in part)
    kinds = load_blocks(written(tmp_path, inspect.cleandoc(code)))
    (name,) = set(kinds) - set(builtin())
    run = runner({"c": ("constant", {"value": 2.0}), "own": name}, "c.out -> own.in", kinds=kinds)
    run.advance(20)
    assert run.value("own.out") is not None
