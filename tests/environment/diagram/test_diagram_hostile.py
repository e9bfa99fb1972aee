"""Hostile files are refused within seconds; the largest diagram runs."""

import time

import pytest

from strapdown.environment.diagram import DiagramError, compile_diagram, read_diagram
from strapdown.environment.diagram.file import MAX_BLOCKS, diagram_from_text

QUICK_S = 10.0  # on a machine that is busy with other tests


def many(text, n):
    return "version = 1\n" + "".join(text.format(i) for i in range(n))


def bomb():
    text = "version = 1\n[[block]]\nname = 'x'\ndiagram = 'd0'\n"
    for i in range(25):
        text += f"[[diagram]]\nname = 'd{i}'\n"
        text += "".join(f"[[diagram.block]]\nname = 'b{j}'\ndiagram = 'd{i + 1}'\n" for j in range(10))
    return text + "[[diagram]]\nname = 'd25'\n[[diagram.block]]\nname = 'c'\nkind = 'constant'\n"


def chain(n):
    text = "version = 1\n[[block]]\nname = 'x'\ndiagram = 'd0'\n"
    text += "".join(
        f"[[diagram]]\nname = 'd{i}'\n[[diagram.block]]\nname = 'b'\ndiagram = 'd{i + 1}'\n" for i in range(n)
    )
    return text + f"[[diagram]]\nname = 'd{n}'\n"


def ring(n):
    wires = "".join(f"{{from = 'a{i}.out', to = 'a{(i + 1) % n}.in'}},\n" for i in range(n))
    return many("[[block]]\nname = 'a{}'\nkind = 'gain'\n", n).replace("\n", f"\nwire = [\n{wires}]\n", 1)


HOSTILE = {
    "nested lists": ("version = 1\nx = " + "[\n" * 100_000, "nested too deeply"),
    "nested tables": ("version = 1\n" + "x = {" * 5000, "nested too deeply"),
    "long key": ("version = 1\n" + "a." * 5000 + "a = 1\n", "line 2 has a key or a list with more than 100 dots"),
    "many long keys": (many("b{}." + ".".join("a" * 95) + " = 1\n", 1500), "not known"),
    "100000 blocks": (many("[[block]]\nname = 'a{}'\nkind = 'gain'\n", 100_000), "MB, a diagram at most 0.5 MB"),
    "too many blocks": (many("[[block]]\nname = 'a{}'\nkind = 'gain'\n", 2001), "2001 block tables, at most 2000"),
    "most blocks": (many("[[block]]\nname = 'a{}'\nkind = 'gain'\n", 2000), "not connected"),
    "most wrong kinds": (many("[[block]]\nname = 'a{}'\nkind = 'gian'\n", 2000), "did you mean gain"),
    "wires from nowhere": (many("[[wire]]\nfrom = 'x{0}.out'\nto = 'y{0}.in'\n", 8000), "does not exist"),
    "a large loop": (ring(2000), "algebraic loop"),
    "sub-diagrams that multiply": (bomb(), "more than 1e9 blocks"),
    "a chain of sub-diagrams": (chain(1500), "nested 1502 deep, at most 30"),
    "a number of 5000 digits": ("version = 1\nbase_hz = " + "9" * 5000, "not valid TOML"),
    "a number of 400 digits": ("version = 1\nbase_hz = " + "9" * 400, "base_hz is 999"),
    "not a number": ("version = 1\nbase_hz = nan\n", "base_hz is nan"),
    "a far position": ("version = 1\n[[block]]\nname = 'a'\nkind = 'constant'\nat = [1e300, 0]\n", 'block "a": at is'),
}


@pytest.mark.parametrize(("text", "words"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_files_are_refused_quickly(text, words, tmp_path):
    path = tmp_path / "hostile.toml"
    path.write_text(text)
    began = time.perf_counter()
    with pytest.raises(DiagramError) as caught:
        compile_diagram(read_diagram(path))
    assert time.perf_counter() - began < QUICK_S
    assert words in str(caught.value) and len(str(caught.value)) < 600


def test_the_largest_diagram_runs():
    wires = "".join(f"{{from = 'a{i}.out', to = 'a{i + 1}.in'}},\n" for i in range(MAX_BLOCKS - 1))
    text = many("[[block]]\nname = 'a{}'\nkind = 'unit_delay'\n", MAX_BLOCKS).replace(
        "\n", f"\nwire = [\n{wires}]\n", 1
    )
    text = text.replace("kind = 'unit_delay'", "kind = 'constant'", 1)
    run = compile_diagram(diagram_from_text(text))
    run.advance(20)
    assert run.value(f"a{MAX_BLOCKS - 1}.out") == 0.0
