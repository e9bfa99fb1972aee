"""Console, sensor taps, truth and actuators: what the session writes is what the diagram reads."""

import numpy as np
import pytest

from diagram_cases import runner
from strapdown.environment.diagram.kinds import builtin

TAPS = [name for name, kind in builtin().items() if kind.category == "sensor"]
FAST = {"base_hz": 250.0}


def test_the_console_passes_every_feed():
    run = runner({"c": "console"}, **FAST)
    names = ["power", "calibrate", "arm", "mode", "roll", "pitch", "yaw", "throttle", "drive", "turn"]
    for k, name in enumerate(names):
        run.feed(f"c.{name}", 0.1 * k)
    run.tick()
    assert [run.value(f"c.{name}") for name in names] == [0.1 * k for k in range(10)]


def test_a_slider_stays_within_its_limits():
    run = runner({"s": ("slider", {"low": -1.0, "high": 2.0, "start": 0.5})}, **FAST)
    found = []
    for value in (None, -3.0, 1.5, 9.0):
        if value is not None:
            run.feed("s.value", value)
        run.tick()
        found.append(run.value("s.out"))
    assert found == [0.5, -1.0, 1.5, 2.0]
    with pytest.raises(ValueError, match="start is 3, outside low -1 to high 2"):
        builtin()["slider"].make({"low": -1.0, "high": 2.0, "start": 3.0})


@pytest.mark.parametrize("kind", TAPS)
def test_a_sensor_gives_values_only_while_enabled(kind):
    run = runner({"c": "console", "s": (kind, {"timeout_s": 0.02})}, "c.power -> s.enable", **FAST)
    shape = run.signals["s.out"].port.shape
    value = np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape) if shape else 3.0
    run.feed("s.value", value)
    run.feed("s.new", 1.0)

    def state():
        run.tick()
        return (
            np.all(run.value("s.out") == value),
            np.all(run.value("s.out") == 0.0),
            run.value("s.new"),
            run.value("s.ok"),
        )

    assert state() == (False, True, 0.0, 0.0)  # no power
    run.feed("c.power", 1.0)
    assert state() == (True, False, 1.0, 1.0)
    run.feed("s.new", 0.0)  # held, and ok until the timeout
    assert [state()[2:] for _ in range(6)] == [(0.0, 1.0)] * 5 + [(0.0, 0.0)]
    run.feed("s.new", 1.0)
    assert state() == (True, False, 1.0, 1.0)
    run.feed("c.power", 0.0)
    assert state() == (False, True, 0.0, 0.0)
    run.feed("c.power", 1.0)
    run.feed("s.new", 0.0)
    assert state()[2:] == (0.0, 0.0)  # switched on again: not ok before the first reading


def test_fixes_carry_sigma_and_the_instant_they_belong_to():
    run = runner({"s": "velocity_fix"}, **FAST)
    for name, value in {"value": np.ones(3), "sigma": np.full(3, 0.1), "at": 1.25, "new": 1.0}.items():
        run.feed(f"s.{name}", value)
    run.tick()
    np.testing.assert_array_equal(run.value("s.sigma"), 0.1)
    assert run.value("s.t") == 1.25


def test_truth_is_a_block_of_its_own():
    assert builtin()["truth"].category == "simulation only"
    run = runner(
        {"TRUTH": "truth", "r": "rotate"}, "TRUTH.attitude -> r.attitude", "TRUTH.specific_force -> r.in", **FAST
    )
    run.feed("TRUTH.attitude", np.array([0.0, 1.0, 0.0, 0.0]))
    run.feed("TRUTH.specific_force", np.array([1.0, 2.0, 3.0]))
    run.tick()
    np.testing.assert_array_equal(run.value("r.out"), [1.0, -2.0, -3.0])


@pytest.mark.parametrize(("kind", "size", "held"), [("motors", 4, 0.0), ("wheels", 2, 0.0), ("joints", 3, 1.0)])
def test_actuators_are_driven_only_while_armed(kind, size, held):
    blocks = {"c": "console", "v": ("constant_vector", {"values": [1.0] * size}), "out": kind}
    run = runner(blocks, "v.out -> out.command", "c.arm -> out.arm", **FAST)
    run.tick()
    np.testing.assert_array_equal(run.value("out.command"), np.zeros(size))
    run.feed("c.arm", 1.0)
    run.tick()
    np.testing.assert_array_equal(run.value("out.command"), np.ones(size))
    run.feed("c.arm", 0.0)
    run.tick()
    np.testing.assert_array_equal(run.value("out.command"), np.full(size, held))


def test_one_output_of_an_actuator_is_the_command():
    for kind in ("motors", "swashplate", "wheels", "joints"):
        made = builtin()[kind].make({})
        assert made.actuates and list(made.outputs) == ["command"]
