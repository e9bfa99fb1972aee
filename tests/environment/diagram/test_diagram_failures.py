"""Blocks that fail or do not keep to the rules: they are named, and nothing else changes."""

import pickle

import numpy as np
import pytest

from diagram_cases import kinds_with, runner
from strapdown.environment.diagram import BlockError, Port, block


@block("trap", category="own")
class Trap:
    """Passes its input; when it reaches 5, does something wrong."""

    what = "raise"
    rate_hz = None

    def __init__(self, p):
        self.inputs, self.outputs = {"in": Port(shape=())}, {"out": Port(shape=())}

    def start(self):
        return 0

    def step(self, state, x, dt):
        if x < 5.0:
            return state + 1, (x,)
        if self.what == "raise":
            raise ZeroDivisionError("five")
        if self.what == "exit":
            raise SystemExit(3)
        return state + 1, ({"nan": float("nan"), "inf": float("inf"), "text": "five", "none": None}[self.what],)


class Fragile(Trap):
    """Fails with a value that is not a number."""

    block_kind, block_category = "fragile", "own"

    def step(self, state, x, dt):
        return int(x), (x,)  # raises for NaN


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("raise", "it raised ZeroDivisionError: five"),
        ("exit", "it raised SystemExit: 3"),
        ("nan", 'output "out" is nan'),
        ("inf", 'output "out" is inf'),
        ("text", "output \"out\" is 'five'; it must be a number"),
        ("none", 'output "out" is None; it must be a number'),
    ],
)
@pytest.mark.parametrize("at", [5.0, 1.0])
@pytest.mark.parametrize("after", ["fragile", "gain"])
def test_a_failing_block_is_named_and_nothing_changes(what, words, at, after, monkeypatch):
    """at: the ramp reaches 5 in careful ticks, or later in the quick code. after: a block that raises on what the trap
    gives, or one that passes it on."""
    monkeypatch.setattr(Trap, "what", what)
    run = runner(
        {
            "ramp": ("ramp", {"slope_per_s": 250.0 * at, "duration_s": 100.0}),
            "i": "integrator",
            "trap": "trap",
            "after": after,
        },
        "ramp.out -> i.in",
        "ramp.out -> trap.in",
        "trap.out -> after.in",
        kinds=kinds_with(Trap, Fragile),
        base_hz=250.0,
    )
    run.advance(round(5.0 / at))
    kept = run.snapshot()
    for _ in range(2):  # it stays stopped
        with pytest.raises(BlockError) as caught:
            run.tick()
        assert caught.value.block == "trap"
        assert f'block "trap" stopped the diagram at t = {run.t_s:g} s: ' in str(caught.value)
        assert words in str(caught.value)
        assert run.snapshot() == kept
    if what == "raise":
        assert isinstance(caught.value.cause, ZeroDivisionError)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.block, str(again)) == ("trap", str(caught.value))
    run.set_parameters("ramp", slope_per_s=0.0)  # corrected: it goes on
    run.tick()
    assert run.ticks == kept.ticks + 1


def test_large_finite_values_are_no_fault():
    blocks = {f"c{i}": ("constant", {"value": 1e9}) for i in range(2)}
    blocks |= {f"g{i}": ("gain", {"gain": 1e9}) for i in range(33)}
    wires = ["c0.out -> g0.in", *(f"g{i}.out -> g{i + 1}.in" for i in range(32))]
    run = runner(blocks, *wires, base_hz=250.0)
    run.advance(5)
    assert run.value("g32.out") == pytest.approx(1e306)
    twice = runner(
        {**blocks, "h": ("gain", {"gain": 170.0}), "j": ("gain", {"gain": 170.0})},
        *wires,
        "g32.out -> h.in",
        "g32.out -> j.in",
        base_hz=250.0,
    )
    twice.advance(5)  # each is 1.7e308, their sum is infinite
    assert twice.ticks == 5 and twice.value("j.out") == pytest.approx(1.7e308)


@pytest.mark.parametrize("wrong", ["state", "input", "count", "form", "shape", "pickle"])
def test_a_careless_block_is_found_in_the_first_ticks(wrong):
    @block("careless", category="own")
    class Careless:
        """Does not keep to the rules."""

        rate_hz = None

        def __init__(self, p):
            self.inputs, self.outputs = {"in": Port(shape=(2,))}, {"out": Port(shape=(2,))}

        def start(self):
            return (lambda: 0) if wrong == "pickle" else [0.0]

        def step(self, state, x, dt):
            if wrong == "state":
                state[0] += 1.0
            if wrong == "input":
                x[0] += 1.0
            if wrong == "form":
                return (2.0 * x,)
            if wrong == "count":
                return state, (x, x)
            return state, (x[:1] if wrong == "shape" else 1.0 * x,)

    run = runner(
        {"a": "constant", "j": ("join", {"size": 2}), "b": "careless"},
        "a.out -> j.in1",
        "a.out -> j.in2",
        "j.out -> b.in",
        kinds=kinds_with(Careless),
    )
    expected = {
        "state": "step changed its state or an input in place",
        "input": "step changed its state or an input in place",
        "count": "return a tuple of its outputs (out)",
        "form": "return (state, outputs)",
        "shape": "must be an array of shape (2,)",
        "pickle": "its state cannot be pickled",
    }[wrong]
    with pytest.raises(BlockError) as caught:
        run.tick()
    assert caught.value.block == "b" and expected in str(caught.value)


def test_a_wrong_length_later_in_the_run_is_found_too():
    @block("shrinking", category="own")
    class Shrinking:
        """Loses an element."""

        rate_hz = None

        def __init__(self, p):
            self.inputs, self.outputs = {}, {"small": Port(shape=(3,)), "large": Port(shape=(4, 4))}

        def start(self):
            return 0

        def step(self, state, dt):
            n = 2 if state == 6 else 3
            return state + 1, (np.ones(n), np.ones((4, 4)))

    run = runner({"a": "shrinking"}, kinds=kinds_with(Shrinking), base_hz=250.0)
    run.advance(6)
    with pytest.raises(BlockError, match=r'output "small" is .*must be an array of shape \(3,\)'):
        run.tick()
