"""Random diagrams: the schedule gives the bits of an interpreter that computes on demand."""

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from diagram_cases import Interpreter
from strapdown.environment.diagram import check, compile_diagram
from strapdown.environment.diagram.file import diagram_from, diagram_from_text, diagram_text

small = st.floats(-2.0, 2.0, allow_nan=False).map(lambda x: round(x, 3))
rates = st.sampled_from([None, None, 1000.0, 500.0, 200.0, 125.0])
# kind: parameters, inputs, whether it breaks loops
KINDS = {
    "constant": (st.fixed_dictionaries({"value": small}), [], False),
    "sine": (st.fixed_dictionaries({"amplitude": small, "frequency_hz": st.floats(0.1, 20.0)}), [], False),
    "step": (st.fixed_dictionaries({"time_s": st.sampled_from([0.0, 0.004, 0.02])}), [], False),
    "gain": (st.fixed_dictionaries({"gain": small}), ["in"], False),
    "sum": (st.fixed_dictionaries({"signs": st.sampled_from(["+-", "++", "--"])}), ["in1", "in2"], False),
    "saturation": (st.just({}), ["in"], False),
    "dead_zone": (st.just({}), ["in"], False),
    "rate_limiter": (st.just({}), ["in"], False),
    "low_pass": (st.just({}), ["in"], False),
    "low_pass_2": (st.just({"start": "zero"}), ["in"], False),
    "pid": (st.fixed_dictionaries({"kp": small, "ki": small, "kd": st.just(0.01)}), ["target", "measured"], False),
    "unit_delay": (st.fixed_dictionaries({"initial": small}), ["in"], True),
    "integrator": (st.fixed_dictionaries({"initial": small}), ["in"], True),
    "compare": (st.just({}), ["in1"], False),
    "switch": (st.just({}), ["if_on", "if_off", "select"], False),
}


@st.composite
def sheets(draw, own=(), subs=()):
    """Blocks and wires of a sheet: a block takes from earlier ones, one that delays from all."""
    count = draw(st.integers(1, 8))
    blocks, wires, signals, flags, late = [], [], list(own), [], []
    for i in range(count):
        name = f"b{i}"
        choices = [
            k for k, (_, ins, breaks) in KINDS.items() if (not ins or signals or breaks) and (k != "switch" or flags)
        ]
        if subs and signals and draw(st.integers(0, 3)) == 0:
            sub = draw(st.sampled_from(subs))
            blocks.append({"name": name, "diagram": sub["name"], "rate_hz": draw(rates)})
            wires += [{"from": draw(st.sampled_from(signals)), "to": f"{name}.{p['name']}"} for p in sub["input"]]
            signals += [f"{name}.{p['name']}" for p in sub["output"]]
            continue
        kind = draw(st.sampled_from(choices))
        parameters, inputs, breaks = KINDS[kind]
        blocks.append({"name": name, "kind": kind, "parameters": draw(parameters), "rate_hz": draw(rates)})
        for port in inputs:
            if breaks:
                late.append(f"{name}.{port}")
            else:
                source = draw(st.sampled_from(flags if port == "select" else signals))
                wires.append({"from": source, "to": f"{name}.{port}"})
        (flags if kind == "compare" else signals).append(f"{name}.out")
    for target in late:
        wires.append({"from": draw(st.sampled_from(signals)), "to": target})
    return draw(st.permutations(blocks)), draw(st.permutations(wires)), signals


@st.composite
def diagrams(draw):
    subs = []
    for i in range(draw(st.integers(0, 2))):
        inputs = [{"name": f"x{k}"} for k in range(draw(st.integers(1, 2)))]
        blocks, wires, signals = draw(sheets([p["name"] for p in inputs], tuple(subs)))
        outputs = [{"name": f"y{k}"} for k in range(draw(st.integers(1, 2)))]
        wires = [*wires, *({"from": draw(st.sampled_from(signals)), "to": p["name"]} for p in outputs)]
        subs.append({"name": f"s{i}", "input": inputs, "output": outputs, "block": blocks, "wire": wires})
    blocks, wires, _ = draw(sheets((), tuple(subs)))
    return diagram_from(
        _without_none({"version": 1, "block": blocks, "wire": wires, "diagram": subs, "control_hz": 250.0})
    )


def _without_none(value):
    if isinstance(value, dict):
        return {k: _without_none(v) for k, v in value.items() if v is not None}
    return [_without_none(v) for v in value] if isinstance(value, list | tuple) else value


@settings(max_examples=150, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(diagrams())
def test_the_schedule_equals_computing_on_demand(given_diagram):
    assert check(given_diagram) == []
    run, slow = compile_diagram(given_diagram), Interpreter(given_diagram)
    for _ in range(45):  # all rates coincide at tick 40
        run.tick()
        slow.tick()
        for path, outputs in slow.held.items():
            for port, value in outputs.items():
                assert np.float64(run.value(f"{path}.{port}")).tobytes() == np.float64(value).tobytes(), (path, port)


@settings(max_examples=100, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(diagrams())
def test_a_written_diagram_reads_back_equal(given_diagram):
    assert diagram_from_text(diagram_text(given_diagram)) == given_diagram
