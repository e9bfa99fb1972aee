"""A running diagram: snapshots, changes between ticks, failing blocks, signals, feeds."""

import pickle

import numpy as np
import pytest

from diagram_cases import diagram, kinds_with, runner, sheet, values
from strapdown.environment.diagram import DiagramError, Port, block, compile_diagram
from strapdown.errors import InputError

BLOCKS = {
    "t": ("pulse", {"period_s": 0.3, "on_s": 0.1}),
    "c": ("pid", {"kp": 3.0, "ki": 2.0, "kd": 0.1, "derivative_filter_s": 0.02}),
    "p": ("integrator", {}, {"rate_hz": 1000.0}),
    "f": ("low_pass_2", {"frequency_hz": 20.0}),
    "d": ("unit_delay", {}, {"rate_hz": 50.0}),
    "v": ("join", {"size": 2}),
    "l": ("low_pass", {}),
}
WIRES = (
    "t.out -> c.target",
    "f.out -> c.measured",
    "c.out -> p.in",
    "p.out -> f.in",
    "p.out -> d.in",
    "d.out -> v.in1",
    "f.out -> v.in2",
    "v.out -> l.in",
)


def bits(run):
    return pickle.dumps([(name, np.asarray(run.value(name)).tobytes()) for name in run.signals])


def trace(run, ticks):
    found = []
    for _ in range(ticks):
        run.tick()
        found.append(bits(run))
    return found


def test_two_runs_are_equal_to_the_bit():
    assert trace(runner(BLOCKS, *WIRES), 300) == trace(runner(BLOCKS, *WIRES), 300)


@pytest.mark.parametrize("ticks", [0, 1, 2, 57, 200])
def test_a_snapshot_continues_to_the_bit(ticks):
    run = runner(BLOCKS, *WIRES)
    run.advance(ticks)
    kept = run.snapshot()
    expected = trace(run, 150)
    run.restore(kept)
    assert run.ticks == ticks and trace(run, 150) == expected
    fresh = runner(BLOCKS, *WIRES)
    fresh.restore(pickle.loads(pickle.dumps(kept)))
    assert trace(fresh, 150) == expected


def test_reset_begins_anew():
    run = runner(BLOCKS, *WIRES)
    expected = trace(run, 50)
    run.reset()
    assert run.ticks == 0 and trace(run, 50) == expected


def test_a_parameter_changed_in_flight_equals_a_run_from_the_snapshot_with_the_new_parameter():
    run = runner(BLOCKS, *WIRES)
    run.advance(123)
    kept = run.snapshot()
    run.set_parameters("c", kp=5.0)
    changed = trace(run, 100)

    other = runner({**BLOCKS, "c": ("pid", {**BLOCKS["c"][1], "kp": 5.0})}, *WIRES)
    moved = pickle.loads(pickle.dumps(kept))
    other.restore(type(kept)(other.diagram, moved.ticks, moved.kept, moved.feeds, moved.pending))
    assert trace(other, 100) == changed

    run.restore(kept)  # with the parameters of its time
    assert run.diagram == kept.diagram
    assert trace(run, 100) != changed
    run.restore(kept)
    run.set_parameters("c", kp=5.0)
    assert trace(run, 100) == changed


def test_a_parameter_acts_from_the_next_tick_on_with_the_old_state():
    run = runner({"c": ("constant", {"value": 1.0}), "i": "integrator", "g": "gain"}, "c.out -> i.in", "i.out -> g.in")
    run.advance(9)
    state = run.state("i")
    before = run.value("g.out")
    run.set_parameters("g", gain=10.0)
    assert run.state("i") is state and run.value("g.out") == before
    run.advance(4)
    assert run.value("g.out") == 10.0 * run.value("i.out")
    assert run.diagram.block[2].parameters == {"gain": 10.0}


def test_a_parameter_that_changes_ports_or_is_wrong():
    run = runner(
        {"c": ("constant", {"value": 1.0, "unit": "m"}), "g": "gain", "h": "gain"}, "c.out -> g.in", "g.out -> h.in"
    )
    run.advance(3)
    run.set_parameters("g", unit_out="rad", gain=4.0)
    assert run.signals["h.out"].port.unit == "rad"
    run.advance(4)
    assert run.value("h.out") == 4.0
    kept = run.snapshot()
    with pytest.raises(DiagramError, match='block "g": parameter "gain" is \'x\''):
        run.set_parameters("g", gain="x")
    with pytest.raises(DiagramError, match='parameter "gian" is not known; did you mean gain'):
        run.set_parameters("g", gian=1.0)
    with pytest.raises(InputError, match='block "gg" does not exist; did you mean g'):
        run.set_parameters("gg", gain=1.0)
    assert run.snapshot() == kept
    notch = runner({"s": "sine", "n": ("notch", {"frequency_hz": 50.0})}, "s.out -> n.in")
    with pytest.raises(DiagramError, match="not below half of its rate"):
        notch.set_parameters("n", frequency_hz=200.0)


def test_a_parameter_in_a_sub_diagram_changes_in_all_its_uses():
    sub = {
        "name": "s",
        "input": [{"name": "x"}],
        "output": [{"name": "y"}],
        **sheet({"g": "gain"}, "x -> g.in", "g.out -> y"),
    }
    run = runner(
        {"c": ("constant", {"value": 1.0}), "a": "diagram s", "b": "diagram s"},
        "c.out -> a.x",
        "c.out -> b.x",
        diagram=[sub],
    )
    run.set_parameters("b/g", gain=3.0)
    run.tick()
    assert (run.value("a/g.out"), run.value("b/g.out")) == (3.0, 3.0)


def test_replacement_keeps_the_states_of_unchanged_blocks():
    run = runner(BLOCKS, *WIRES)
    run.advance(101)  # between two ticks of the controller
    states = {name: run.state(name) for name in BLOCKS}
    more = {
        **BLOCKS,
        "c": ("pid", {"kp": 1.0}),
        "new": ("low_pass", {"start": "zero"}),
        "slow": ("gain", {}, {"rate_hz": 10.0}),
    }
    run.replace(diagram(more, *WIRES, "p.out -> new.in", "new.out -> slow.in"))
    assert {name: run.state(name) for name in BLOCKS} == states
    assert run.ticks == 101
    run.tick()
    assert isinstance(run.value("new.out"), float) and run.value("new.out") != 0.0
    assert run.value("slow.out") == run.value("new.out")  # a new block runs at once, whatever its rate
    held = run.value("slow.out")
    run.advance(80)
    assert run.value("slow.out") == held  # and then at its rate
    assert run.value("new.out") != held


def test_replacement_by_the_same_diagram_changes_nothing():
    run = runner(BLOCKS, *WIRES)
    run.advance(101)
    kept = run.snapshot()
    expected = trace(run, 100)
    run.restore(kept)
    run.replace(diagram(dict(reversed(BLOCKS.items())), *reversed(WIRES)))  # another order in the file
    found = []
    for _ in range(100):
        run.tick()
        found.append({name: np.asarray(run.value(name)).tobytes() for name in run.signals})
    assert [dict(pickle.loads(row)) for row in expected] == found


@pytest.mark.parametrize(
    "changed",
    [("unit_delay", {}, {"rate_hz": 1000.0}), ("low_pass", {}, {"rate_hz": 50.0})],
    ids=["another rate", "another kind"],
)
def test_replacement_starts_changed_blocks_anew(changed):
    run = runner(BLOCKS, *WIRES)
    run.advance(101)
    assert run.state("d") != 0.0
    run.replace(diagram({**BLOCKS, "d": changed}, *WIRES))
    assert run.state("d") in (0.0, None)


def test_a_wrong_replacement_leaves_everything_as_it_was():
    run = runner(BLOCKS, *WIRES)
    run.advance(50)
    kept = run.snapshot()
    with pytest.raises(DiagramError, match="not connected"):
        run.replace(diagram(BLOCKS, *WIRES[1:]))
    with pytest.raises(InputError, match="base clock"):
        run.replace(diagram(BLOCKS, *WIRES, base_hz=2000.0))
    assert run.snapshot() == kept
    run.advance(10)


def test_a_snapshot_from_before_a_replacement_brings_its_diagram_back():
    run = runner(BLOCKS, *WIRES)
    run.advance(60)
    kept = run.snapshot()
    expected = trace(run, 60)
    run.replace(diagram({"a": "constant"}))
    run.advance(5)
    run.restore(kept)
    assert trace(run, 60) == expected


@block("fed", category="own")
class Fed:
    """Gives what the session wrote."""

    rate_hz = None

    def __init__(self, p):
        self.inputs = {"in": Port(shape=())}
        self.outputs = {"out": Port(shape=())}
        self.feeds = {"reading": 0.0, "any": None}

    def start(self):
        return None

    def step(self, state, x, reading, anything, *, dt):
        return None, (x + reading,)


def test_feeds_are_read_when_the_block_is_due_and_belong_to_the_snapshot():
    blocks = {"c": ("constant", {"value": 10.0}), "f": "fed"}
    run = runner(blocks, "c.out -> f.in", kinds=kinds_with(Fed))
    run.tick()
    assert run.value("f.out") == 10.0
    run.feed("f.reading", 1.0)
    run.feed("f.any", {"a": 1})
    run.tick()
    assert run.value("f.out") == 10.0  # not due
    kept = run.snapshot()
    run.advance(3)
    assert run.value("f.out") == 11.0
    run.feeds[run.feed_slot("f.reading")] = 5.0
    run.restore(kept)
    run.advance(3)
    assert run.value("f.out") == 11.0
    run.replace(diagram({"x": "fed", **blocks}, "c.out -> f.in", "c.out -> x.in"))
    run.advance(4)
    assert (run.value("f.out"), run.value("x.out")) == (11.0, 10.0)  # the feed of an unchanged block stays
    with pytest.raises(InputError, match='block "f" has no feed "raeding"; did you mean reading'):
        run.feed("f.raeding", 1.0)


def test_signals_by_name_of_either_end():
    run = runner(BLOCKS, *WIRES)
    assert run.value("p.out") is None
    run.advance(20)
    assert run.value("p.out") == run.value("f.in") == run.value("d.in")
    read = run.reader(["p.out", "l.out"])
    assert read()[0] == run.value("p.out") and read()[1] is run.value("l.out")
    assert run.reader(["p.out"])() == (run.value("p.out"),) and run.reader([])() == ()
    run.advance(5)
    assert read()[0] == run.value("p.out")
    assert run.signals["p.out"].rate_hz == 1000.0 and run.signals["l.out"].port.shape == (2,)
    with pytest.raises(InputError, match=r'signal "p.uot" does not exist; did you mean p.out'):
        run.value("p.uot")


def test_scopes_and_loggers_mark_signals_and_are_not_stepped():
    run = runner(
        {"a": ("sine", {"unit": "m"}), "s": ("scope", {"inputs": 1}), "l": ("logger", {"inputs": 1})},
        "a.out -> s.in1",
        "a.out -> l.in1",
    )
    assert run.watched() == {"s": ("s.in1",), "l": ("l.in1",)}
    run.advance(5)
    assert run.value("s.in1") == run.value("a.out")


def test_an_empty_diagram_runs():
    run = compile_diagram(diagram({}))
    run.advance(10)
    assert run.ticks == 10


def test_dt_by_name_and_by_place():
    @block("by_name", category="own")
    class ByName:
        """Gives its step."""

        rate_hz = 500.0

        def __init__(self, p):
            self.inputs, self.outputs = {}, {"out": Port("s", None, ())}

        def start(self):
            return None

        def step(self, state, *inputs, dt):
            return state, (dt,)

    run = runner({"a": "by_name"}, kinds=kinds_with(ByName))
    assert values(run, "a.out", 8) == [0.002] * 8
