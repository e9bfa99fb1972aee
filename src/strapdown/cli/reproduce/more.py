"""strapdown reproduce B and C: experiments of virtual parts, and of recorded data where it is at hand."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from strapdown.papers.b.closed_loop.flight import FlightClaims
    from strapdown.papers.b.filters_on_broad import BroadTable
    from strapdown.papers.claim import Claim

B_EXPERIMENTS = ("sensors", "orientation", "flight")
NAVIGATION = ("navigation",)
C_EXPERIMENTS = ("calibration", "navigation", "scenarios", "foot")


def reproduce_b(experiment: str | None, folder: Path, data: Path | None, runs: int | None, as_json: bool) -> None:
    """runs: seeds of a flight, 20 if None."""
    from strapdown.cli import screen
    from strapdown.errors import InputError
    from strapdown.io.folder import refuse_folder
    from strapdown.kernels.compiled import ERRORS
    from strapdown.papers.recorded_data import data_folder

    names = _experiments(experiment, B_EXPERIMENTS)
    if runs is not None and "flight" not in names:
        raise InputError("--runs belongs to paper C and to the experiment flight of paper B; leave it out")
    if runs is not None and not 1 <= runs <= 1000:
        raise InputError(f"--runs is {runs}; give 1 to 1000 seeds")
    recorded = data_folder(data)
    if experiment is not None and data is not None and "orientation" in names:
        _needed(recorded, ("broad",), "the trials of BROAD")
    refuse_folder(folder)
    claims: list[Claim] = []
    figures: dict[str, Figure] = {}
    notes: list[str] = []
    table = None
    if "sensors" in names:
        from strapdown.papers.b.sensors import reproduce_sensors

        screen.ready("calibration.allan", *ERRORS)
        with screen.progress("paper B, sensors", 1.0) as done:
            sensors = reproduce_sensors(done)
        claims += sensors.claims
        figures |= sensors.figures
    if "orientation" in names:
        from strapdown.cli.orient.command import kernel_files
        from strapdown.orientation.catalogue import FILTERS
        from strapdown.papers.b.orientation import reproduce_orientation

        screen.ready(*kernel_files(list(FILTERS), True), *ERRORS)
        with screen.progress("paper B, orientation", 1.0) as done:
            found = reproduce_orientation(recorded, done)
        claims += found.claims
        figures |= found.figures
        table = found.broad
        notes += (
            ["the BROAD trials were not found: give their folder with --data, or in STRAPDOWN_DATA"]
            if table is None
            else list(table.notes)
        )
    more: dict[str, Any] = {} if table is None else {"broad": _scores(table)}
    if table is not None and not as_json:
        _show_broad(table)
    if "flight" in names:
        flown = _flight(runs)
        claims += flown.claims
        figures |= flown.figures
        more["flight"] = [each.as_dict() for each in flown.tables]
        if not as_json:
            for each in flown.tables:
                screen.show_table(each.title, each.columns, each.rows, left=each.left, keys=each.left)
                for note in each.notes:
                    print(note)
    pictures = _save(figures, folder, "reproduce B" if experiment is None else f"reproduce B {names[0]}")
    _finish(claims, pictures, notes, as_json, more)


def _flight(runs: int | None) -> "FlightClaims":
    from strapdown.cli import screen
    from strapdown.cli.run import KERNELS
    from strapdown.kernels.compiled import ERRORS
    from strapdown.papers.b.closed_loop.flight import SEEDS, reproduce_flight

    screen.ready(*KERNELS, *NAVIGATION, *ERRORS, "orientation.paper_b", "calibration.ellipsoid")
    with screen.progress("paper B, flights", 1.0) as done:
        return reproduce_flight(done, runs or SEEDS)


def reproduce_c(experiment: str | None, folder: Path, data: Path | None, runs: int | None, as_json: bool) -> None:
    """runs: virtual specimens or robots; 100 for calibration, 50 for navigation, 10 for each scenario if None."""
    from strapdown.cli import screen
    from strapdown.errors import InputError
    from strapdown.io.folder import refuse_folder
    from strapdown.kernels.compiled import ERRORS
    from strapdown.papers.recorded_data import data_folder

    names = _experiments(experiment, C_EXPERIMENTS)
    if runs is not None and not 10 <= runs <= 10_000:
        raise InputError(f"--runs is {runs}; give 10 to 10000 virtual specimens")
    recorded = data_folder(data)
    if experiment is not None and "foot" in names:
        from strapdown.papers.c.foot import SETS

        _needed(recorded, SETS, "the recorded walks")
    refuse_folder(folder)
    screen.ready(*ERRORS, "calibration.ellipsoid")
    claims: list[Claim] = []
    notes: list[str] = []
    more: dict[str, Any] = {}
    if "calibration" in names:
        from strapdown.papers.c.calibration import calibration_claims

        with screen.progress("paper C, calibration", 1.0) as done:
            found, left_out = calibration_claims(recorded, done, runs or 100)
        claims += found
        notes += left_out
    if names != ("calibration",):
        screen.ready(*NAVIGATION)
    if "navigation" in names:
        from strapdown.papers.c.navigation import claims as navigation_claims

        with screen.progress("paper C, tests 1 and 2", 1.0) as done:
            found, tables = navigation_claims(done, runs or 50)
        claims += found
        more["stops"] = {name: [asdict(row) for row in table.rows] for name, table in tables.items()}
        if not as_json:
            for name, table in tables.items():
                print(f"{name}, first robot: error at every stop")
                print(table.text())
    if "scenarios" in names:
        from strapdown.papers.c.scenarios import claims as scenario_claims

        with screen.progress("paper C, faults", 1.0) as done:
            claims += scenario_claims(done, runs or 10)[0]
    if "foot" in names:
        claims += _foot(recorded, notes)
    _finish(claims, [], notes, as_json, more)


def _foot(recorded: Path | None, notes: list[str]) -> "list[Claim]":
    from strapdown.cli import screen
    from strapdown.papers.c.foot import SETS, real_claims

    here = [] if recorded is None else [name for name in SETS if (recorded / name).is_dir()]
    if recorded is None or len(here) < len(SETS):
        notes.append("the recorded walks were not found: give their folder with --data, or in STRAPDOWN_DATA")
        return []
    with screen.progress("recorded walks", 1.0) as done:
        return real_claims(recorded, done)


def _needed(recorded: Path | None, names: Sequence[str], what: str) -> None:
    """An experiment that was asked for by its name is not excluded silently."""
    from strapdown.errors import InputError

    missing = [name for name in names if recorded is None or not (recorded / name).is_dir()]
    if missing:
        where = "there is no folder of recorded data" if recorded is None else f"{recorded} has no {', '.join(missing)}"
        raise InputError(f"{where}: give the folder that holds {what} with --data, or in STRAPDOWN_DATA")


def _experiments(wanted: str | None, valid: Sequence[str]) -> Sequence[str]:
    from strapdown.errors import InputError

    if wanted is None:
        return valid
    if wanted.lower() not in valid:
        raise InputError(f'experiment "{wanted}" is not known; valid names: {", ".join(valid)}')
    return (wanted.lower(),)


def _save(figures: "Mapping[str, Figure]", folder: Path, owner: str) -> list[str]:
    """The paths of the pictures."""
    from strapdown.io.folder import output_folder
    from strapdown.reporting.figures import save

    if figures:
        with output_folder(folder, owner) as new:
            for name, figure in figures.items():
                save(figure, new / name)
    return [str(folder / name) for name in figures]


def _finish(
    claims: "Sequence[Claim]", pictures: Sequence[str], notes: Sequence[str], as_json: bool, more: dict[str, Any]
) -> None:
    from strapdown.cli import screen
    from strapdown.cli.reproduce.command import exit_by, show_claims

    if as_json:
        screen.show_json(
            {"claims": [c.as_dict() for c in claims], "figures": list(pictures), "notes": list(notes), **more}
        )
    else:
        show_claims(claims)
        for note in notes:
            print(f"note: {note}")
        for picture in pictures:
            print(f"figure: {picture}")
    exit_by(claims)


def _scores(table: "BroadTable") -> dict[str, Any]:
    return {
        method: {"mean": table.mean(method)._asdict(), "trials": {name: s._asdict() for name, s in trials.items()}}
        for method, trials in table.scores.items()
    }


def _show_broad(table: "BroadTable") -> None:
    from strapdown.cli import screen

    rows = [[method, *(f"{x:.2f}" for x in table.mean(method))] for method in table.scores]
    count = len(next(iter(table.scores.values())))
    title = f"BROAD, {count} trials: RMSE over the movement, mean of the trials; every method with its defaults"
    screen.show_table(title, ["method", "total, deg", "heading, deg", "inclination, deg"], rows)
