"""Block diagrams against PathSim and bdsim: CPU time of one cycle of a chain of 20 scalar blocks.

The chain is the same everywhere: a constant, then 19 gains. Ours runs by `Runner.tick`, with its test of every value.
PathSim runs by `Simulation.timestep`, bdsim by `BlockDiagram.evaluate`, the inner loop of its simulation. A second
chain of ours mixes kinds (gains, limits, filters, integrators); it shows what blocks with memory cost.
"""

import contextlib
import io
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from benchmarks.measure import interleaved
from strapdown.environment.diagram import Runner, compile_diagram
from strapdown.environment.diagram.file import diagram_from

BLOCKS = 20
GAIN = 1.01
TARGET = 20.0  # times as fast as each peer
CYCLES, CYCLES_OF_PEERS = 5000, 200
RATE_HZ = 250.0
MIXED = ("gain", "saturation", "low_pass", "dead_zone", "rate_limiter", "integrator", "low_pass_2", "gain", "notch")


def chain(kinds: list[str], parameters: dict[str, dict[str, Any]]) -> Runner:
    """A constant and these kinds in a row, one tick per cycle."""
    blocks = [{"name": "b0", "kind": "constant", "parameters": {"value": 1.0}}]
    blocks += [{"name": f"b{i}", "kind": k, "parameters": parameters.get(k, {})} for i, k in enumerate(kinds, start=1)]
    wires = [{"from": f"b{i}.out", "to": f"b{i + 1}.in"} for i in range(len(kinds))]
    run = compile_diagram(
        diagram_from({"version": 1, "base_hz": RATE_HZ, "control_hz": RATE_HZ, "block": blocks, "wire": wires})
    )
    run.advance(5)  # the first ticks are careful
    return run


def _pathsim() -> tuple[Callable[[], object], Callable[[], float]]:
    """The work of some cycles, and the value at the end of the chain."""
    from pathsim import Connection, Simulation
    from pathsim.blocks import Amplifier, Constant

    blocks = [Constant(1.0), *(Amplifier(GAIN) for _ in range(BLOCKS - 1))]
    wires = [Connection(a, b) for a, b in pairwise(blocks)]
    simulation = Simulation(blocks, wires, dt=1.0 / RATE_HZ, log=False)

    def work() -> None:
        for _ in range(CYCLES_OF_PEERS):
            simulation.timestep(1.0 / RATE_HZ)

    return work, lambda: float(blocks[-1].outputs[0])


def _bdsim() -> tuple[Callable[[], object], Callable[[], float]]:
    import bdsim

    with contextlib.redirect_stdout(io.StringIO()):
        simulation = bdsim.BDSim(graphics=False, progress=False, sysargs=False)
        diagram = simulation.blockdiagram()
        blocks = [diagram.CONSTANT(1.0), *(diagram.GAIN(GAIN) for _ in range(BLOCKS - 1)), diagram.NULL()]
        for a, b in pairwise(blocks):
            diagram.connect(a, b)
        diagram.compile(verbose=False)

    def work() -> None:
        for k in range(CYCLES_OF_PEERS):
            diagram.evaluate({}, k / RATE_HZ)

    return work, lambda: float(blocks[-1].inport_values[0])


def report() -> list[str]:
    """Lines to print; those with a target state whether it is met."""
    gains = chain(["gain"] * (BLOCKS - 1), {"gain": {"gain": GAIN}})
    mixed = chain([MIXED[i % len(MIXED)] for i in range(BLOCKS - 1)], {"notch": {"frequency_hz": 72.0}})

    def ours(run: Runner) -> Callable[[], object]:
        return lambda: run.advance(CYCLES)

    works = {"20 blocks (constant, gains)": ours(gains), "20 blocks (mixed kinds)": ours(mixed)}
    cycles = dict.fromkeys(works, CYCLES)
    notes = []
    expected = gains.value(f"b{BLOCKS - 1}.out")
    for name, make in (("PathSim", _pathsim), ("bdsim", _bdsim)):
        try:
            work, value = make()
        except ImportError as error:
            notes.append(f"  {name} is not measured: {error}; pip install {name.lower()}")
            continue
        work()
        if abs(value() - expected) > 1e-9 * abs(expected):  # roundoff: the peer computes the same
            notes.append(f"  {name} gives {value()} instead of {expected}; it is not compared")
            continue
        works[f"peer {name}"], cycles[f"peer {name}"] = work, CYCLES_OF_PEERS
    cost = {name: seconds / cycles[name] * 1e6 for name, seconds in interleaved(works, rounds=15).items()}
    lines = ["Block diagram, one cycle, CPU time"]
    first = cost["20 blocks (constant, gains)"]
    for name, us in cost.items():
        ratio = us / first
        met = f"   ours {ratio:5.1f} times as fast   target {TARGET:g}: {'met' if ratio >= TARGET else 'MISSED'}"
        lines.append(f"  {name:28s} {us:8.2f} us{met if name.startswith('peer') else ''}")
    return lines + notes


if __name__ == "__main__":
    print("\n".join(report()))
