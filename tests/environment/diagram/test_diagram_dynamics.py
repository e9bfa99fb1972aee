"""Filters, integrator and PID against closed formulas."""

import math

import numpy as np
import pytest

from diagram_cases import runner, values

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
