"""Sources, arithmetic, logic, vectors, attitudes against closed formulas."""

import math

import numpy as np
import pytest

from diagram_cases import runner, values
from strapdown.environment.diagram import record
from strapdown.rotation import q_from_euler

DT = 0.004
FAST = {"base_hz": 250.0}  # one tick is one control cycle


def response(kind, parameters, source=("step", {"time_s": 0.0}), n=200, out="b.out", into="b.in"):
    run = runner({"a": source, "b": (kind, parameters)}, f"a.out -> {into}", **FAST)
    return np.array(values(run, out, n), dtype=float)


def test_sources():
    def of(kind, **parameters):
        return np.array(values(runner({"a": (kind, parameters)}, **FAST), "a.out", 500))

    t = np.arange(500) * DT
    np.testing.assert_array_equal(of("step", before=-1.0, after=2.0, time_s=0.3), np.where(t >= 0.3 - 1e-9, 2.0, -1.0))
    np.testing.assert_allclose(
        of("ramp", begin=1.0, slope_per_s=-2.0, time_s=0.2, duration_s=0.5),
        1.0 - 2.0 * np.clip(t - 0.2, 0, 0.5),
        atol=1e-15,
    )
    np.testing.assert_allclose(
        of("sine", amplitude=2.0, frequency_hz=3.0, phase_rad=0.5, offset=1.0),
        1.0 + 2.0 * np.sin(2 * np.pi * 3.0 * t + 0.5),
        atol=1e-13,
    )
    pulse = of("pulse", high=2.0, low=-1.0, period_s=0.4, on_s=0.1, time_s=0.2)
    on = (np.round((t - 0.2) / DT) >= 0) & (np.round((t - 0.2) / DT) % 100 < 25)
    np.testing.assert_array_equal(pulse, np.where(on, 2.0, -1.0))


def test_a_step_falls_on_its_tick_in_spite_of_roundoff():
    for kind, key in (("step", "after"), ("pulse", "high")):
        run = runner({"a": (kind, {"time_s": 0.027, key: 5.0}, {"rate_hz": 1000.0 / 9.0})})
        run.advance(27)
        assert run.value("a.out") == 0.0 and 3 * 0.009 < 0.027
        run.tick()
        assert run.value("a.out") == 5.0


def test_arithmetic_and_limits():
    run = runner(
        {
            "a": ("constant", {"value": 3.0}),
            "b": ("constant", {"value": -5.0}),
            "gain": ("gain", {"gain": -2.0}),
            "sum": ("sum", {"signs": "-+-"}),
            "product": ("product", {"inputs": 3}),
            "absolute": "absolute",
            "low": ("saturation", {"lower": -1.0, "upper": 2.0}),
            "high": ("saturation", {"lower": -1.0, "upper": 2.0}),
            "dead": ("dead_zone", {"width": 1.0}),
            "inside": ("dead_zone", {"width": 4.0}),
        },
        "a.out -> gain.in",
        "a.out -> sum.in1",
        "b.out -> sum.in2",
        "b.out -> sum.in3",
        "a.out -> product.in1",
        "b.out -> product.in2",
        "b.out -> product.in3",
        "b.out -> absolute.in",
        "b.out -> low.in",
        "a.out -> high.in",
        "b.out -> dead.in",
        "a.out -> inside.in",
    )
    run.tick()
    expected = {
        "gain": -6.0,
        "sum": -3.0,
        "product": 75.0,
        "absolute": 5.0,
        "low": -1.0,
        "high": 2.0,
        "dead": -4.0,
        "inside": 0.0,
    }
    assert {name: run.value(f"{name}.out") for name in expected} == expected


def test_rate_limiter_rises_and_falls_with_its_rates_and_arrives_exactly():
    source = ("pulse", {"high": 0.1, "on_s": 0.4, "period_s": 10.0, "time_s": 0.02})
    found = response("rate_limiter", {"rising_per_s": 1.0, "falling_per_s": 0.5}, source)
    assert np.diff(found).max() == pytest.approx(DT) and np.diff(found).min() == pytest.approx(-0.5 * DT)
    assert found[4] == 0.0 and found[60] == 0.1 and found[199] == 0.0


@pytest.mark.parametrize(
    ("relation", "threshold", "expected"),
    [
        ("<", 0.0, 1.0),
        ("<", -1.0, 0.0),
        ("<=", -1.0, 1.0),
        (">", -2.0, 1.0),
        (">", -1.0, 0.0),
        (">=", -1.0, 1.0),
        ("==", -1.0, 1.0),
        ("!=", -1.0, 0.0),
    ],
)
def test_compare(relation, threshold, expected):
    """1 against 2 plus the threshold."""
    run = runner(
        {
            "a": ("constant", {"value": 1.0}),
            "b": ("constant", {"value": 2.0}),
            "c": ("compare", {"relation": relation, "threshold": threshold}),
        },
        "a.out -> c.in1",
        "b.out -> c.in2",
    )
    run.tick()
    assert run.value("c.out") == expected


@pytest.mark.parametrize("a", [0.0, 1.0])
@pytest.mark.parametrize("b", [0.0, 1.0])
def test_logic_and_switch(a, b):
    flag = {"unit": "flag"}
    run = runner(
        {
            "a": ("constant", {"value": a, **flag}),
            "b": ("constant", {"value": b, **flag}),
            "x": ("constant", {"value": 7.0, "unit": "m"}),
            "y": ("constant", {"value": 8.0, "unit": "m"}),
            "and": "and",
            "or": "or",
            "not": "not",
            "switch": "switch",
        },
        "a.out -> and.in1",
        "b.out -> and.in2",
        "a.out -> or.in1",
        "b.out -> or.in2",
        "a.out -> not.in",
        "x.out -> switch.if_on",
        "y.out -> switch.if_off",
        "a.out -> switch.select",
    )
    run.tick()
    assert run.value("and.out") == float(bool(a) and bool(b))
    assert run.value("or.out") == float(bool(a) or bool(b))
    assert run.value("not.out") == 1.0 - a
    assert run.value("switch.out") == (7.0 if a else 8.0)


def test_hysteresis():
    found = response("hysteresis", {"on_above": 0.5, "off_below": -0.5}, ("sine", {"frequency_hz": 1.0}), n=250)
    t = np.arange(250) * DT
    on = (np.sin(2 * np.pi * t) > 0.5) | ((t > 0.25) & (t < 0.5 + 1.0 / 12.0))  # back to off at -30 deg
    np.testing.assert_array_equal(found == 1.0, on)


def test_vectors():
    run = runner(
        {
            "v": ("constant_vector", {"values": [3.0, -4.0], "unit": "m", "frame": "n"}),
            "split": ("split", {"size": 2}),
            "join": ("join", {"size": 2}),
            "norm": ("norm", {"size": 2}),
            "gain": ("gain", {"gain": 2.0}),
            "limit": ("saturation", {"lower": -5.0, "upper": 5.0}),
            "low": ("low_pass", {"start": "zero"}),
            "sum": "integrator",
            "pid": ("pid", {"kp": 2.0, "ki": 1.0, "upper": 1.0}),
            "zero": ("constant_vector", {"values": [0.0, 0.0]}),
            "rate": "rate_limiter",
        },
        "v.out -> split.in",
        "split.out2 -> join.in1",
        "split.out1 -> join.in2",
        "v.out -> norm.in",
        "v.out -> gain.in",
        "gain.out -> limit.in",
        "v.out -> low.in",
        "v.out -> sum.in",
        "v.out -> pid.target",
        "zero.out -> pid.measured",
        "v.out -> rate.in",
        **FAST,
    )
    run.advance(2)
    assert run.value("join.out").tolist() == [-4.0, 3.0]
    assert run.value("norm.out") == 5.0
    assert run.value("limit.out").tolist() == [5.0, -5.0]
    assert run.value("sum.out").tolist() == [3.0 * DT, -4.0 * DT]
    # the first element is at its limit, the second integrates
    np.testing.assert_allclose(run.value("pid.out"), [1.0, -8.0 - 4.0 * DT], rtol=1e-15)
    np.testing.assert_allclose(run.value("low.out"), (1.0 - np.exp(-2 * DT / 0.05)) * np.array([3.0, -4.0]), rtol=1e-14)
    port = run.signals["join.out"].port
    assert (port.unit, port.frame, port.shape) == ("m", "n", (2,))


def test_attitudes():
    angles = (0.3, -0.2, 2.9)
    run = runner(
        {
            **{name: ("constant", {"value": value, "unit": "rad"}) for name, value in zip("rpy", angles, strict=True)},
            "q": "attitude_of_angles",
            "back": "euler_angles",
            "v": ("constant_vector", {"values": [1.0, 2.0, 3.0], "unit": "m/s", "frame": "b"}),
            "turn": "rotate",
            "return": "rotate_back",
            "error": ("sum", {"signs": "-+"}),
            "big": ("gain", {"gain": -1.0}),
            "wrap": "wrap_angle",
        },
        "r.out -> q.roll",
        "p.out -> q.pitch",
        "y.out -> q.yaw",
        "q.attitude -> back.attitude",
        "q.attitude -> turn.attitude",
        "v.out -> turn.in",
        "turn.out -> return.in",
        "q.attitude -> return.attitude",
        "y.out -> big.in",
        "y.out -> error.in1",
        "big.out -> error.in2",
        "error.out -> wrap.in",
    )
    run.tick()
    np.testing.assert_array_equal(run.value("q.attitude"), q_from_euler(*angles))
    found = [run.value(f"back.{name}") for name in ("roll", "pitch", "yaw")]
    np.testing.assert_allclose(found, angles, atol=1e-15)
    np.testing.assert_allclose(run.value("return.out"), [1.0, 2.0, 3.0], atol=1e-15)
    assert run.signals["turn.out"].port.frame == "n" and run.signals["turn.out"].port.unit == "m/s"
    assert run.value("wrap.out") == pytest.approx(2 * math.pi - 5.8)


def test_the_example_settles_at_its_target(tmp_path):
    from helpers import ROOT
    from strapdown.environment.diagram import compile_diagram, read_diagram

    run = compile_diagram(read_diagram(ROOT / "examples" / "diagrams" / "second_order_pid.toml"))
    found = record(run, 8.0)
    assert found["t_s"][1] == DT and len(found["t_s"]) == 2000
    assert (found["scope.in2"][found["t_s"] <= 0.5] == 0.0).all()
    assert abs(found["scope.in2"][-1] - 0.1) < 1e-4  # slowest closed-loop time constant about 0.7 s: e^-10
    assert found["scope.in2"].max() < 0.115


def test_record_counts_and_refuses():
    from strapdown.errors import InputError

    run = runner({"a": "constant"}, base_hz=1000.0)
    assert record(run, 0.1, ["a.out"], rate_hz=500.0)["a.out"].shape == (50,)
    with pytest.raises(InputError, match="not possible"):
        record(run, 0.1, ["a.out"], rate_hz=1e6)
    with pytest.raises(InputError, match=r'signal "a.uot" does not exist; did you mean a.out'):
        record(run, 0.1, ["a.uot"])
