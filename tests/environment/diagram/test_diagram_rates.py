"""Several rates on one clock, the order in a cycle, delays in loops."""

import numpy as np
import pytest

from diagram_cases import diagram, runner, sheet, values
from strapdown.environment.diagram import DiagramError, check, compile_diagram


def test_a_slow_block_holds_its_value_for_fast_ones_and_a_fast_one_is_sampled():
    ramp = {"slope_per_s": 1000.0, "duration_s": 100.0}  # counts ticks
    run = runner(
        {
            "fast": ("ramp", ramp, {"rate_hz": 1000.0}),
            "slow": ("gain", {}, {"rate_hz": 250.0}),
            "again": ("gain", {}, {"rate_hz": 1000.0}),
            "slowest": ("gain", {}, {"rate_hz": 100.0}),
        },
        "fast.out -> slow.in",
        "slow.out -> again.in",
        "again.out -> slowest.in",
    )
    rows = []
    for _ in range(40):
        run.tick()
        rows.append([round(run.value(f"{name}.out"), 9) for name in ("fast", "slow", "again", "slowest")])
    n = np.arange(40)
    held = 4 * (n // 4)
    slowest = 4 * (10 * (n // 10) // 4)  # the value that `again` held at ticks 0, 10, 20, 30
    np.testing.assert_array_equal(np.array(rows), np.stack([n, held, held, slowest], axis=1))


def test_a_block_runs_with_the_step_of_its_rate():
    run = runner(
        {
            "one": "constant",
            "a": ("integrator", {}, {"rate_hz": 1000.0}),
            "b": ("integrator", {}, {"rate_hz": 100.0}),
            "x": ("constant", {"value": 1.0}),
        },
        "x.out -> a.in",
        "x.out -> b.in",
    )
    run.run_until(0.5)
    assert run.ticks == 500
    run.tick()
    assert run.value("a.out") == pytest.approx(0.5, abs=1e-13)  # 500 roundoffs
    assert run.value("b.out") == pytest.approx(0.5, abs=1e-13)


def test_rates_come_from_the_block_the_file_the_sub_diagram_or_the_control_rate():
    sub = {"name": "s", **sheet({"own": ("constant", {}, {"rate_hz": 500.0}), "around": "constant"})}
    run = runner({"s": ("diagram s", {}, {"rate_hz": 125.0}), "c": "constant"}, diagram=[sub], control_hz=200.0)
    rates = {name: signal.rate_hz for name, signal in run.signals.items()}
    assert rates == {"s/own.out": 500.0, "s/around.out": 125.0, "c.out": 200.0}


def test_rates_given_with_digits_are_recognised():
    assert not check(diagram({"a": ("constant", {}, {"rate_hz": 333.3333333333})}))


def test_a_loop_with_a_delay_is_a_recursion():
    """x[k] = a x[k-1] + 1: closed form (1 - a^k) / (1 - a)."""
    run = runner(
        {
            "one": ("constant", {"value": 1.0}),
            "sum": ("sum", {"signs": "++"}),
            "delay": "unit_delay",
            "a": ("gain", {"gain": 0.5}),
        },
        "one.out -> sum.in1",
        "a.out -> sum.in2",
        "sum.out -> delay.in",
        "delay.out -> a.in",
        base_hz=250.0,
    )
    found = values(run, "sum.out", 30)
    assert found == [2.0 * (1.0 - 0.5 ** (k + 1)) for k in range(30)]  # powers of two: no roundoff


def test_delays_in_a_row_each_take_a_step_whatever_their_order_in_the_file():
    blocks = {
        "c": ("unit_delay", {"initial": -3.0}),
        "b": ("unit_delay", {"initial": -2.0}),
        "a": ("unit_delay", {"initial": -1.0}),
        "t": ("ramp", {"slope_per_s": 250.0, "duration_s": 10.0}),
    }
    run = runner(blocks, "t.out -> a.in", "a.out -> b.in", "b.out -> c.in", base_hz=250.0)
    assert np.round(values(run, "c.out", 6), 9).tolist() == [-3.0, -2.0, -1.0, 0.0, 1.0, 2.0]


def test_a_delay_takes_the_shape_of_its_signal():
    run = runner(
        {"v": ("constant_vector", {"values": [1.0, 2.0]}), "d": ("unit_delay", {"initial": 7.0}), "g": "gain"},
        "v.out -> d.in",
        "d.out -> g.in",
        base_hz=250.0,
    )
    assert [v.tolist() for v in values(run, "g.out", 2)] == [[7.0, 7.0], [1.0, 2.0]]


def test_a_loop_without_a_delay_names_its_blocks():
    blocks = {"in": "constant", "one": ("sum", {"signs": "++"}), "two": "gain", "three": "gain", "after": "gain"}
    wires = [
        "in.out -> one.in1",
        "one.out -> two.in",
        "two.out -> three.in",
        "three.out -> one.in2",
        "two.out -> after.in",
    ]
    (problem,) = check(diagram(blocks, *wires))
    assert problem.kind == "loop"
    assert 'algebraic loop "two" -> "three" -> "one" -> "two"' in problem.message
    assert "after" not in problem.message
    with pytest.raises(DiagramError, match="algebraic loop"):
        compile_diagram(diagram(blocks, *wires))


def test_each_of_two_loops_is_reported():
    blocks = {"a": "gain", "b": "gain", "c": "gain"}
    found = check(diagram(blocks, "a.out -> b.in", "b.out -> a.in", "c.out -> c.in"))
    assert sorted(p.message.partition(":")[0] for p in found) == [
        'algebraic loop "b" -> "a" -> "b"',
        'algebraic loop "c" -> "c"',
    ]


def test_a_loop_through_a_sub_diagram_is_found_and_broken_inside_it():
    def with_inner(kind):
        sub = {
            "name": "s",
            "input": [{"name": "x"}],
            "output": [{"name": "y"}],
            **sheet({"inner": kind}, "x -> inner.in", "inner.out -> y"),
        }
        return diagram({"g": "gain", "s": "diagram s"}, "g.out -> s.x", "s.y -> g.in", diagram=[sub])

    (problem,) = check(with_inner("gain"))
    assert '"s/inner" -> "g"' in problem.message or '"g" -> "s/inner"' in problem.message
    assert not check(with_inner("unit_delay"))


def test_ports_of_sub_diagrams_in_a_circle_are_found():
    sub = {"name": "s", "input": [{"name": "x"}], "output": [{"name": "y"}], **sheet({}, "x -> y")}
    blocks = {"a": "diagram s", "b": "diagram s", "g": "gain"}
    (problem,) = check(diagram(blocks, "a.y -> b.x", "b.y -> a.x", "b.y -> g.in", diagram=[sub]))
    assert problem.kind == "loop" and problem.block == "g" and "in a circle" in problem.message


def test_a_signal_passes_straight_through_nested_sub_diagrams():
    inner = {"name": "inner", "input": [{"name": "x"}], "output": [{"name": "y"}], **sheet({}, "x -> y")}
    outer = {
        "name": "outer",
        "input": [{"name": "x"}],
        "output": [{"name": "y"}],
        **sheet({"i": "diagram inner", "g": ("gain", {"gain": 3.0})}, "x -> i.x", "i.y -> g.in", "g.out -> y"),
    }
    run = runner(
        {"c": ("constant", {"value": 2.0, "unit": "m"}), "o": "diagram outer", "p": "diagram outer", "g": "gain"},
        "c.out -> o.x",
        "o.y -> p.x",
        "p.y -> g.in",
        diagram=[inner, outer],
    )
    run.tick()
    assert run.value("g.out") == 18.0 and run.signals["g.out"].port.unit == "m"
    assert run.value("o/g.out") == 6.0 and run.value("p/g.in") == 6.0


def test_feedback_inside_a_sub_diagram_used_twice_keeps_two_states():
    sub = {
        "name": "count",
        "input": [{"name": "by"}],
        "output": [{"name": "y"}],
        **sheet(
            {"s": ("sum", {"signs": "++"}), "d": "unit_delay"},
            "by -> s.in1",
            "d.out -> s.in2",
            "s.out -> d.in",
            "d.out -> y",
        ),
    }
    run = runner(
        {
            "one": ("constant", {"value": 1.0}),
            "two": ("constant", {"value": 2.0}),
            "a": "diagram count",
            "b": "diagram count",
            "t": ("sum", {"signs": "++"}),
        },
        "one.out -> a.by",
        "two.out -> b.by",
        "a.y -> t.in1",
        "b.y -> t.in2",
        diagram=[sub],
        base_hz=250.0,
    )
    run.advance(10)
    assert (run.value("a/d.out"), run.value("b/d.out"), run.value("t.out")) == (9.0, 18.0, 27.0)
