"""Blocks against closed formulas."""

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


def test_low_pass_step_response_is_the_exponential():
    tau = 0.05
    found = response("low_pass", {"time_constant_s": tau, "start": "zero"})
    k = np.arange(1, 201)
    # 200 roundoffs: exact for a held input
    np.testing.assert_allclose(found, 1.0 - np.exp(-k * DT / tau), rtol=0, atol=1e-14)


def test_low_pass_starts_settled_unless_asked_otherwise():
    found = response("low_pass", {}, ("constant", {"value": 3.0}), n=5)
    assert list(found) == [3.0] * 5


@pytest.mark.parametrize("kind", ["low_pass", "low_pass_2", "notch"])
def test_filters_settle_at_a_constant_input(kind):
    found = response(kind, {"start": "zero"}, ("constant", {"value": 3.0}), n=3000)
    assert abs(found[-1] - 3.0) < 1e-9  # 12 s are more than 20 time constants: e^-20, and roundoff
    settled = response(kind, {"start": "input"}, ("constant", {"value": 3.0}), n=100)
    np.testing.assert_allclose(settled, 3.0, rtol=1e-13)  # 100 roundoffs


def amplitude(kind, parameters, frequency_hz):
    """Steady amplitude behind a sine of 1, by projection on sine and cosine over whole periods."""
    n = 5000
    sine = ("sine", {"frequency_hz": frequency_hz})
    found = response(kind, {**parameters, "start": "zero"}, sine, n=n)[n // 2 :]
    angle = 2.0 * np.pi * frequency_hz * DT * np.arange(n // 2, n)
    basis = np.stack([np.sin(angle), np.cos(angle)], axis=1)
    return float(np.linalg.norm(np.linalg.lstsq(basis, found, rcond=None)[0]))


def test_notch_removes_its_frequency_and_passes_others():
    notch = {"frequency_hz": 40.0, "width_hz": 8.0}
    assert amplitude("notch", notch, 40.0) < 1e-12  # an exact zero; roundoff of the projection
    assert amplitude("notch", notch, 2.0) == pytest.approx(1.0, abs=0.001)  # (2 * 8 / 40**2)^2 / 2 below 1
    # half power at the edges of the band, which the bilinear transform shifts
    k = math.tan(math.pi * 40.0 * DT)
    wide = k * 8.0 / 40.0
    edge = math.atan(0.5 * (wide + math.sqrt(wide * wide + 4.0 * k * k))) / (math.pi * DT)
    assert amplitude("notch", notch, edge) == pytest.approx(math.sqrt(0.5), abs=1e-6)


def test_second_order_low_pass_has_half_power_at_its_corner():
    low = {"frequency_hz": 5.0}
    assert amplitude("low_pass_2", low, 5.0) == pytest.approx(math.sqrt(0.5), abs=1e-9)  # prewarped: exact
    assert amplitude("low_pass_2", {"frequency_hz": 5.0, "damping": 0.25}, 5.0) == pytest.approx(2.0, abs=1e-6)
    # far above: (f / f0)^-2, with the bilinear transform's own frequency axis
    ratio = math.tan(math.pi * 50.0 * DT) / math.tan(math.pi * 5.0 * DT)
    assert amplitude("low_pass_2", low, 50.0) == pytest.approx(1.0 / math.sqrt(1.0 + ratio**4), rel=1e-6)


def test_integrator_adds_held_inputs_and_stays_within_limits():
    found = response("integrator", {"initial": 1.0, "upper": 1.5}, ("constant", {"value": 2.0}))
    np.testing.assert_allclose(found, np.minimum(1.0 + 2.0 * DT * np.arange(200), 1.5), atol=1e-13)  # 63 additions
    assert found[0] == 1.0 and found[-1] == 1.5


def test_integrator_leaves_its_limit_at_once():
    run = runner(
        {
            "a": ("pulse", {"high": 10.0, "low": -10.0, "on_s": 0.4, "period_s": 10.0}),
            "b": ("integrator", {"upper": 1.0}),
        },
        "a.out -> b.in",
        **FAST,
    )
    found = values(run, "b.out", 120)
    assert found[100] == 1.0 and found[101] == pytest.approx(0.96)  # no windup


def test_integrator_resets_on_demand():
    run = runner(
        {
            "a": ("constant", {"value": 1.0}),
            "r": ("pulse", {"time_s": 0.4, "on_s": 0.002, "period_s": 100.0, "unit": "flag"}),
            "b": ("integrator", {"initial": 0.5}),
        },
        "a.out -> b.in",
        "r.out -> b.reset",
        **FAST,
    )
    found = values(run, "b.out", 103)
    assert found[100] == pytest.approx(0.9) and found[101] == 0.5 and found[102] == pytest.approx(0.504)


def pi_on_integrator(kp, ki, dt_hz, seconds):
    """PI controller and integrator in a loop; the exact solution of the discrete loop, and of the continuous one."""
    run = runner(
        {"t": ("constant", {"value": 1.0}), "c": ("pid", {"kp": kp, "ki": ki}), "p": "integrator"},
        "t.out -> c.target",
        "p.out -> c.measured",
        "c.out -> p.in",
        base_hz=dt_hz,
        control_hz=dt_hz,
    )
    n = round(seconds * dt_hz)
    found = np.array(values(run, "p.out", n))
    dt = 1.0 / dt_hz
    # x: plant, i: integral. x+ = x + dt (kp (1 - x) + i), i+ = i + ki dt (1 - x)
    matrix = np.array([[1.0 - kp * dt, dt, kp * dt], [-ki * dt, 1.0, ki * dt], [0.0, 0.0, 1.0]])
    state, discrete = np.array([0.0, 0.0, 1.0]), []
    for _ in range(n):
        discrete.append(state[0])
        state = matrix @ state
    t = dt * np.arange(n)
    zeta, w = kp / (2.0 * math.sqrt(ki)), math.sqrt(ki)
    wd = w * math.sqrt(1.0 - zeta**2)
    # s X = (kp s + ki) / (s^2 + kp s + ki)
    continuous = 1.0 - np.exp(-zeta * w * t) * (np.cos(wd * t) - zeta * w / wd * np.sin(wd * t))
    return found, np.array(discrete), continuous


def test_pid_on_an_integrator():
    found, discrete, continuous = pi_on_integrator(2.0, 5.0, 250.0, 5.0)
    np.testing.assert_allclose(found, discrete, atol=1e-12)  # 1250 roundoffs
    coarse = np.abs(found - continuous).max()
    found, _, continuous = pi_on_integrator(2.0, 5.0, 500.0, 5.0)
    fine = np.abs(found - continuous).max()
    assert 1.8 < coarse / fine < 2.2  # step order 1: half the step, half the error


def test_pid_derivative_and_its_filter():
    ramp = ("ramp", {"slope_per_s": 3.0, "duration_s": 100.0})
    p = {"kp": 0.0, "kd": 2.0, "derivative_filter_s": 0.02}

    def run(derivative_of, into, other):
        r = runner(
            {"a": ramp, "z": "constant", "b": ("pid", {**p, "derivative_of": derivative_of})},
            f"a.out -> b.{into}",
            f"z.out -> b.{other}",
            **FAST,
        )
        return np.array(values(r, "b.out", 100))

    expected = 2.0 * 3.0 * (1.0 - np.exp(-np.arange(100) * DT / 0.02))
    np.testing.assert_allclose(
        run("error", "target", "measured"), expected, atol=1e-11
    )  # 100 roundoffs of a difference
    np.testing.assert_allclose(run("measured", "measured", "target"), -expected, atol=1e-11)
    assert not run("measured", "target", "measured").any()  # no kick from the target


def test_pid_without_windup():
    """Saturated for 2 s; with windup the integral would be 20 and the output would stay at its limit for long."""
    run = runner(
        {
            "t": ("step", {"before": 10.0, "after": -1.0, "time_s": 2.0}),
            "m": "constant",
            "c": ("pid", {"kp": 1.0, "ki": 1.0, "lower": -2.0, "upper": 2.0}),
        },
        "t.out -> c.target",
        "m.out -> c.measured",
        **FAST,
    )
    found = values(run, "c.out", 502)
    assert set(found[:500]) == {2.0}
    assert found[500] == -1.0  # kp e, and an integral of exactly 0
    assert found[501] == pytest.approx(-1.0 - DT)  # and it integrates again


def test_pid_resets_on_demand():
    run = runner(
        {
            "t": ("constant", {"value": 1.0}),
            "m": "constant",
            "r": ("pulse", {"time_s": 0.2, "on_s": 0.002, "period_s": 100.0, "unit": "flag"}),
            "c": ("pid", {"kp": 0.0, "ki": 1.0}),
        },
        "t.out -> c.target",
        "m.out -> c.measured",
        "r.out -> c.reset",
        **FAST,
    )
    found = values(run, "c.out", 52)
    assert found[49] == pytest.approx(49 * DT) and found[50] == 0.0 and found[51] == pytest.approx(DT)


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
