"""The experiments of each paper, run with progress; command.py shows and writes their results."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from strapdown.papers.outcome import Outcome
    from strapdown.types import Recording

A_EXPERIMENTS = ("a-a", "a-b", "a-c", "a-d", "a-e")
B_EXPERIMENTS = ("sensors", "orientation", "flight")
C_EXPERIMENTS = ("calibration", "navigation", "scenarios", "foot", "robustness")
EXPERIMENTS = {"A": A_EXPERIMENTS, "B": B_EXPERIMENTS, "C": C_EXPERIMENTS}
NAVIGATION = ("navigation",)  # kernels
_FOOT = "the recorded walks"


@dataclass(frozen=True)
class Asked:
    """The experiments that the user asked for.

    names: names of the experiments. named: whether one was asked for by its name. data: folder of recorded data, None
    if there is none. runs: None for the usual number. seed: 0 for the reported seeds.
    """

    names: Sequence[str]
    named: bool
    data: Path | None
    runs: int | None
    seed: int


def experiments_of(paper: str, wanted: str | None) -> Sequence[str]:
    """The experiment that was asked for, or all."""
    from strapdown.errors import InputError

    valid = EXPERIMENTS[paper]
    if wanted is None:
        return valid
    if wanted.lower() not in valid:
        raise InputError(f'experiment "{wanted}" is not known; valid names: {", ".join(valid)}')
    return (wanted.lower(),)


def checked(paper: str, asked: Asked) -> None:
    """Refuse options that do not fit the paper, before anything runs."""
    from strapdown.errors import InputError

    runs = asked.runs
    if asked.seed < 0:
        raise InputError(f"--seed is {asked.seed}; give a whole number from 0")
    if paper == "A":
        if runs is not None or asked.seed:
            raise InputError("paper A has no random runs; omit --runs and --seed")
    elif paper == "B":
        if runs is not None and "flight" not in asked.names:
            raise InputError("--runs belongs to paper C and to the experiment flight of paper B; omit it")
        if runs is not None and not 1 <= runs <= 1000:
            raise InputError(f"--runs is {runs}; give 1 to 1000 seeds")
    else:
        if runs is not None and not 10 <= runs <= 10_000:
            raise InputError(f"--runs is {runs}; give 10 to 10000 virtual specimens")
        if asked.named and "foot" in asked.names:
            from strapdown.papers.c.foot import SETS

            needed(asked.data, SETS, _FOOT)


def needed(recorded: Path | None, names: Sequence[str], what: str) -> None:
    """Refuse an experiment that was asked for by its name and lacks its data."""
    from strapdown.errors import InputError

    missing = [name for name in names if recorded is None or not (recorded / name).is_dir()]
    if missing:
        where = "there is no folder of recorded data" if recorded is None else f"{recorded} has no {', '.join(missing)}"
        raise InputError(f"{where}: give the folder that holds {what} with --data, or in STRAPDOWN_DATA")


def paper_a(asked: Asked) -> "tuple[Outcome, Mapping[str, Mapping[str, Recording]]]":
    """Runs paper A, with the recordings of its runs."""
    from strapdown.cli import screen
    from strapdown.kernels.compiled import ENGINES
    from strapdown.papers.a.reproduction import reproduce
    from strapdown.papers.a.tables import outcome_of

    screen.ready(*ENGINES)
    with screen.progress("paper A", 1.0) as done:
        result = reproduce(asked.names, done)
    return outcome_of(result), result.recordings


def paper_a_in(
    asked: Asked, engine: str, server: str | None
) -> "tuple[Outcome, Mapping[str, Mapping[str, Recording]]]":
    """Paper A in another engine than MuJoCo."""
    from strapdown.cli import screen
    from strapdown.kernels.compiled import ENGINES
    from strapdown.papers.a.engine_claims import outcome_in
    from strapdown.papers.a.engines import run_in
    from strapdown.papers.a.experiments import STEPS_MS

    screen.ready(*ENGINES)
    with screen.progress(f"paper A in {engine}", 1.0) as done:
        run = run_in(engine, asked.names, STEPS_MS, done, server)
    return outcome_in(run), run.recordings


def paper_b(asked: Asked) -> "Outcome":
    from strapdown.papers.outcome import Outcome

    out = Outcome()
    for name in asked.names:
        out.add({"sensors": _sensors, "orientation": _orientation, "flight": _flight}[name](asked))
    return out


def _sensors(asked: Asked) -> "Outcome":
    from strapdown.cli import screen
    from strapdown.cli.run import KERNELS
    from strapdown.kernels.compiled import ERRORS
    from strapdown.papers.b.sensors import reproduce_sensors

    screen.ready("calibration.allan", *KERNELS, *ERRORS)
    with screen.progress("paper B, sensors", 1.0) as done:
        return reproduce_sensors(done, asked.seed)


def _orientation(asked: Asked) -> "Outcome":
    from strapdown.cli import screen
    from strapdown.cli.orient.command import kernel_files
    from strapdown.kernels.compiled import ERRORS
    from strapdown.orientation.catalogue import FILTERS
    from strapdown.papers.b.orientation import reproduce_orientation

    screen.ready(*kernel_files(list(FILTERS), True), *ERRORS)
    with screen.progress("paper B, orientation", 1.0) as done:
        return reproduce_orientation(asked.data, done, asked.seed)


def _flight(asked: Asked) -> "Outcome":
    from strapdown.cli import screen
    from strapdown.cli.run import KERNELS
    from strapdown.kernels.compiled import ERRORS
    from strapdown.papers.b.closed_loop.flight import SEEDS, reproduce_flight

    screen.ready(*KERNELS, *NAVIGATION, *ERRORS, "orientation.paper_b", "calibration.ellipsoid")
    with screen.progress("paper B, flights", 1.0) as done:
        return reproduce_flight(done, asked.runs or SEEDS, asked.seed)


def paper_c(asked: Asked) -> "Outcome":
    """Run the experiments of paper C that were asked for.

    runs: 100 specimens for calibration, 50 robots for navigation, 10 for each scenario, unless given.
    """
    from strapdown.cli import screen
    from strapdown.kernels.compiled import ERRORS
    from strapdown.papers.outcome import Outcome

    screen.ready(*ERRORS, "calibration.ellipsoid", *(() if asked.names == ("calibration",) else NAVIGATION))
    out = Outcome()
    for name in asked.names:
        run: Callable[[Asked], Outcome] = {
            "calibration": _calibration,
            "navigation": _navigation,
            "scenarios": _scenarios,
            "foot": foot,
            "robustness": _robustness,
        }[name]
        out.add(run(asked))
    return out


def _calibration(asked: Asked) -> "Outcome":
    from strapdown.cli import screen
    from strapdown.papers.c.calibration import reproduce_calibration

    with screen.progress("paper C, calibration", 1.0) as done:
        return reproduce_calibration(asked.data, done, asked.runs or 100, asked.seed)


def _navigation(asked: Asked) -> "Outcome":
    from strapdown.cli import screen
    from strapdown.papers.c.navigation import reproduce_navigation

    with screen.progress("paper C, tests 1 and 2", 1.0) as done:
        return reproduce_navigation(done, asked.runs or 50, asked.seed)


def _scenarios(asked: Asked) -> "Outcome":
    from strapdown.cli import screen
    from strapdown.papers.c.scenarios import ROBOTS, reproduce_scenarios

    with screen.progress("paper C, faults", 1.0) as done:
        return reproduce_scenarios(done, asked.runs or ROBOTS, asked.seed)


def _robustness(asked: Asked) -> "Outcome":
    from strapdown.cli import screen
    from strapdown.papers.c.robustness.outcome import SEEDS, claims
    from strapdown.papers.outcome import Outcome

    with screen.progress("drives unlike paper C's", 1.0) as done:
        return Outcome(claims(done, asked.runs or SEEDS))


def foot(asked: Asked) -> "Outcome":
    """The recorded walks, or a note that they were not found."""
    from strapdown.cli import screen
    from strapdown.papers.c.foot import SETS, real_claims
    from strapdown.papers.outcome import Outcome

    data = asked.data
    if data is None or not all((data / name).is_dir() for name in SETS):
        note = f"{_FOOT} were not found: give their folder with --data, or in STRAPDOWN_DATA"
        return Outcome(notes=[note])
    with screen.progress(_FOOT.removeprefix("the "), 1.0) as done:
        return Outcome(real_claims(data, done))
