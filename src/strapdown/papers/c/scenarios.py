"""Faults on paper C's tests, and the cost of each: none may make the filter diverge.

Our filter is run as by strapdown navigate: a stop needs the controller's signal AND the sensor's own readings
(navigation/stops/). The cost of a fault is the error at the end, in % of the path, less that of the same robots without
it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from strapdown.evaluation.stops import stop_table
from strapdown.live import Start
from strapdown.papers.c.drive import Drive, Push, drive, path_of
from strapdown.papers.c.robot import RATE_HZ, robot, with_temperature
from strapdown.papers.chance import seeds_of
from strapdown.papers.claim import Claim
from strapdown.papers.outcome import Outcome, Table
from strapdown.reporting.figures import GREY, STYLE, panels, plain_ticks
from strapdown.reporting.navigation_figures import colour_of
from strapdown.sensors.magnetic_sources import Dipole
from strapdown.sensors.temperature import TemperatureSeries
from strapdown.types import Array, Solution

ROBOTS, FIRST_SEED = 10, 3000
DEAD_S = 30.0  # when the encoder dies
MAGNET_A_M2 = 10.0  # as of a loudspeaker; 1.6 uT or 5 deg at 0.5 m would be 1 A m2
LARGEST = 2.0  # %: of the path at the end, every run: far from divergence
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Scenario:
    """A scenario outside the paper.

    what: description in words.
    test: "square" or "straight".
    make: the run of a seed.
    word: the controller's stop signal of a drive (None: there is none).
    odometer: whether the filter uses it.
    """

    name: str
    what: str
    test: str
    make: Callable[[str, int], Drive]
    word: Callable[[Drive], Flags | None]
    odometer: bool = False


@dataclass(frozen=True, eq=False)
class FaultRuns:
    """Error dr / L in % at the end of every run, without the fault and with it.

    paper: results with the fault, by the paper's filter with its own check of stops.
    events: kinds of events of our filter, and their numbers.
    """

    scenario: Scenario
    undisturbed: Array
    disturbed: Array
    paper: Array
    events: dict[str, int]

    @property
    def lost(self) -> float:
        """Cost in % of the path, mean over the robots."""
        return float(self.disturbed.mean() - self.undisturbed.mean())


def _as_told(one: Drive) -> Flags:
    assert one.log.stop is not None
    return np.array(one.log.stop)


def _always(one: Drive) -> Flags:
    return np.ones(len(one.log), dtype=bool)


def _never(one: Drive) -> None:
    return None


def _wheels_stand(one: Drive) -> Flags:
    """A controller that takes wheels without counts as a stop."""
    log = one.log
    assert log.odometer is not None
    n = round(0.3 * RATE_HZ)
    still = np.zeros(len(log), dtype=bool)
    still[n:] = log.odometer[n:] == log.odometer[:-n]
    still[:n] = True
    return still


def _with(**settings: Any) -> Callable[[str, int], Drive]:
    return lambda test, seed: drive(test, seed, **settings)


def _heated(test: str, seed: int) -> Drive:
    end = path_of(test).duration_s
    rise = TemperatureSeries(np.array([0.0, end]), np.array([25.0, 45.0]))
    return drive(test, seed, temperature=rise, calibration=with_temperature(robot(seed)))


UPSIDE_DOWN = (0.0, 1.0, 0.0, 0.0)
MAGNET = Dipole((MAGNET_A_M2, 0.0, 0.0), (0.5, 3.3, 0.0))
SCENARIOS = (
    Scenario(
        "dead-encoder",
        f"the encoder dies {DEAD_S:g} s after the start, and the controller takes that for a stop",
        "straight",
        _with(wheel={"dead_s": ((DEAD_S, np.inf),)}),
        _wheels_stand,
        odometer=True,
    ),
    Scenario("stuck-flag", "the stop flag is stuck on", "straight", _with(), _always),
    Scenario(
        "no-flag",
        "the stop flag is never given, so the sensor's readings alone tell stops",
        "straight",
        _with(),
        _never,
    ),
    Scenario("push", "pushed sideways by 5 cm during a stop", "straight", _with(push=Push(8)), _as_told),
    Scenario(
        "magnet",
        f"a magnet of {MAGNET_A_M2:g} A m2 passed at 0.5 m",
        "straight",
        _with(sources=(MAGNET,)),
        _as_told,
    ),
    Scenario("heat", "the sensor warms by 20 degC during the run", "square", _heated, _as_told),
    Scenario("lost-samples", "5 % of the samples are lost", "square", _with(loss=0.05), _as_told),
    Scenario("upside-down", "the sensor is mounted upside down", "square", _with(q_bs=UPSIDE_DOWN), _as_told),
    Scenario(
        "south", "the first leg runs due south, where the heading wraps", "square", _with(heading_deg=180.0), _as_told
    ),
    Scenario("slope", "the floor is a slope of 10 deg", "square", _with(slope_deg=10.0), _as_told),
)


def outcome(scenario: Scenario, robots: int = ROBOTS, first_seed: int = FIRST_SEED) -> FaultRuns:
    """The same robots with and without the fault."""
    plain, hit, paper = [], [], []
    events: dict[str, int] = {}
    for seed in range(first_seed, first_seed + robots):
        fine, bad = drive(scenario.test, seed), scenario.make(scenario.test, seed)
        word = scenario.word(bad)
        plain.append(_end(fine, fine.navigated(odometer=scenario.odometer).solution))
        ours = bad.navigated(odometer=scenario.odometer, stop=word).solution
        hit.append(_end(bad, ours))
        for event in ours.events:
            events[event.kind] = events.get(event.kind, 0) + 1
        signal = np.zeros(len(bad.log), dtype=bool) if word is None else word
        log = replace(bad.log, stop=signal)
        theirs = bad.ekf15().run(log, Start.of(log, alignment=bad.aligned()))
        paper.append(_end(bad, theirs))
    return FaultRuns(scenario, np.array(plain), np.array(hit), np.array(paper), events)


def _end(one: Drive, solution: Solution) -> float:
    percent = stop_table(solution, one.stops).final.percent
    assert percent is not None
    return percent


def reproduce_scenarios(done: Callable[[float], None], robots: int = ROBOTS, repeat: int = 0) -> Outcome:
    """Every fault: no run diverges, and its cost."""
    out, outcomes = Outcome(), []
    first_seed = seeds_of(FIRST_SEED, robots, repeat)[0]
    for k, scenario in enumerate(SCENARIOS):
        found = outcome(scenario, robots, first_seed)
        what = f"{scenario.what} ({scenario.test}, {robots} robots): dr / L at the end, largest of all, %"
        worst = float(found.disturbed.max())
        source = "figure asked of this product"
        out.claims.append(Claim(f"C/scenarios/{scenario.name}", what, None, worst, LARGEST, source, kind="requirement"))
        outcomes.append(found)
        done((k + 1) / len(SCENARIOS))
    out.tables.append(_table(outcomes, robots))
    out.figures["C_faults.png"] = _figure(outcomes)
    return out


def _table(outcomes: list[FaultRuns], robots: int) -> Table:
    rows = [
        [
            found.scenario.what,
            found.scenario.test,
            *(f"{x:.2f}" for x in (found.undisturbed.mean(), found.disturbed.mean(), found.disturbed.max())),
            f"{found.lost:+.2f}",
            f"{found.paper.mean():.3g}",
        ]
        for found in outcomes
    ]
    columns = ("fault", "test", "without, mean", "with, mean", "with, largest", "cost", "paper's filter, mean")
    return Table(f"Faults, {robots} robots each: dr / L at the end, %", columns, rows, left=2)


@mpl.rc_context(STYLE)
def _figure(outcomes: list[FaultRuns]) -> Figure:
    """Errors with and without each fault, by our filter and by the paper's."""
    figure, axes = panels(1, 1, (9.0, 4.2))
    axis = axes[0, 0]
    for k, found in enumerate(outcomes):
        for values, at, colour, label in (
            (found.undisturbed, 0.2, GREY, "our filter without the fault"),
            (found.disturbed, 0.0, colour_of(0), "our filter with it"),
            (found.paper, -0.2, colour_of(1), "the paper's filter with it"),
        ):
            axis.plot(values, np.full(len(values), -k + at), ".", ms=5, color=colour, label="_" if k else label)
    axis.axvline(LARGEST, color="black", ls="--", lw=1.0, label=f"asked of our filter: {LARGEST:g} %")
    axis.set_xscale("log")
    plain_ticks(axis.xaxis)
    axis.set_yticks([-k for k in range(len(outcomes))], [found.scenario.name for found in outcomes])
    axis.set_xlabel("dr / L at the end, %: a dot for each robot")
    figure.legend(loc="outside lower center", ncols=2)
    return figure
