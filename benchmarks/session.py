"""The whole loop of a quadcopter, against bare MuJoCo: how many times real time on one core.

Paper B's diagram with the full error chain of an MPU-6050 and QMC5883L at 250 Hz, rotor vibration, altimeter and
receiver, in hover; the same in flight at 100 Hz; and our own diagrams at 500 Hz. CPU time, best of many short
stretches; bare MuJoCo in the same run is the floor. Also real-time pace: how far from the clock 60 s end, and how long
cycles take.

Usage: python -m benchmarks.session [--pace SECONDS]
"""

import argparse
import time
from collections.abc import Iterator

import mujoco

from strapdown.environment.session.pace import run_paced
from strapdown.environment.session.scenario.file import Scenario, read_scenario
from strapdown.environment.session.session import Session

STRETCH_S, STRETCHES = 0.2, 100  # shorter than a time slice of a busy machine
TAKEN_OFF_S = 12.0
TARGET, LATE_MS = 60.0, 5.0  # times real time; at the end of a minute at real time


def hovering(name: str, rate_hz: float) -> Scenario:
    """The scenario with its module read at this rate, taken off and then with centred sticks, without velocity hold: at
    250 Hz the loop is lost with paper B's filter as soon as it moves."""
    scenario = read_scenario(name)
    sensors = tuple(table.model_copy(update={"rate_hz": rate_hz}) for table in scenario.sensor)
    pilot = [line for line in scenario.pilot if line.at_s < TAKEN_OFF_S]
    pilot[0] = pilot[0].model_copy(update={"mode": "stabilise"})
    return scenario.model_copy(update={"sensor": sensors, "pilot": tuple(pilot)})


def session_speed(scenario: Scenario) -> float:
    """Times real time in flight, CPU time of this thread."""
    session = Session(scenario)
    session.advance(TAKEN_OFF_S)  # calibrated and in the air
    best = 0.0
    for _ in range(STRETCHES):
        before = time.thread_time()
        session.advance(STRETCH_S)
        best = max(best, STRETCH_S / (time.thread_time() - before))
    if session.watch.lost or not session.watch.airborne:
        raise SystemExit("the quadcopter does not fly any more: what was measured is no flight")
    return best


def bare_speed() -> float:
    """Times real time of mj_step alone on the same model in the air, 1 ms."""
    plant = Session(read_scenario("quadcopter")).plant
    model = plant.model
    data = mujoco.MjData(model)
    data.qpos[2] = 1000.0
    best = 0.0
    for _ in range(STRETCHES):
        before = time.thread_time()
        for _ in range(round(STRETCH_S / model.opt.timestep)):
            mujoco.mj_step(model, data)
        best = max(best, STRETCH_S / (time.thread_time() - before))
    return best


def report(pace_s: float = 60.0) -> Iterator[str]:
    """Lines for make bench."""
    bare = bare_speed()
    yield f"Closed loop of a quadcopter, CPU time on one core (peer: bare MuJoCo, 1 ms, {bare:.0f} times real time)"
    for what, scenario in (
        ("paper B's diagram, error chain, 250 Hz", hovering("quadcopter_paper_b", 250.0)),
        ("paper B's diagram as it flies, 100 Hz", read_scenario("quadcopter_paper_b")),
        ("our diagram (mekf), error chain, 500 Hz", read_scenario("quadcopter")),
        ("velocity-aided eskf, error chain, 500 Hz", read_scenario("quadcopter_velocity_aided")),
    ):
        speed = session_speed(scenario)
        met = "" if "paper" not in what else f"   target {TARGET:g}: {'met' if speed >= TARGET else 'MISSED'}"
        yield f"  {what:42s} {speed:6.1f} times real time, {bare / speed:5.1f} times the time of the peer{met}"
    if pace_s > 0.0:
        found = run_paced(Session(read_scenario("quadcopter")), pace_s).figures()
        met = "met" if abs(found["end_late_ms"]) <= LATE_MS else "MISSED"
        yield (
            f"  real-time pace, {pace_s:g} s: ended {found['end_late_ms']:.2f} ms late, target {LATE_MS:g} ms: {met}; "
            f"cycles: 99 % within {found['cycle_p99_ms']:.2f} ms, longest {found['cycle_worst_ms']:.2f} ms"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pace", type=float, default=60.0, metavar="SECONDS", help="length of the real-time run")
    for line in report(parser.parse_args().pace):
        print(line)


if __name__ == "__main__":
    main()
