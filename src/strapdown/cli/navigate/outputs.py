"""What strapdown navigate writes into its folder: picture, report, solutions."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from strapdown.evaluation.matching import Reference
    from strapdown.evaluation.stops import StopPlaces
    from strapdown.motion.paths.stop_and_go import Stops
    from strapdown.navigation.program import Navigated


def refuse_folder(folder: Path, names: list[str]) -> None:
    """Before an hour of work: that the results can be written, without a trace if nothing comes of it."""
    import os

    from strapdown.errors import InputError
    from strapdown.io.atomic import writable_target

    if folder.is_dir():
        solutions = (f"{name}{suffix}" for name in names for suffix in (".csv", ".parquet"))  # the length decides
        for file in ("report.html", "trajectory.png", *solutions):
            writable_target(folder / file)
        return
    there = next((each for each in (folder, *folder.absolute().parents) if each.exists()), folder)
    if not there.is_dir():
        raise InputError(f"cannot make folder {folder}: {there} is a file; choose another with -o")
    if not os.access(there, os.W_OK):
        raise InputError(f"cannot make folder {folder}: {there} is not writable; choose another with -o")


def write_all(
    folder: Path,
    found: "dict[str, Navigated]",
    truth: "Reference | None",
    stops: "Stops | StopPlaces | None",
    log: Path,
    gravity: str,
    calibration: Path | None,
) -> dict[str, str]:
    from strapdown.cli.reproduce.command import make_folder
    from strapdown.io.solution import solution_suffix, write_solution
    from strapdown.reporting.figures import save
    from strapdown.reporting.navigation_figures import detector_figure, innovation_figure, trajectory_figure
    from strapdown.reporting.report import write_report

    make_folder(folder)
    solutions = {name: n.solution for name, n in found.items()}
    save(trajectory_figure(solutions, truth, stops, log.name), folder / "trajectory.png")
    more = {}
    for name, n in found.items():
        if n.innovations:
            more[f"Innovations of {name}"] = innovation_figure(n.innovations)
    first = next(iter(found.values()))
    more["Stops: what the sensor shows"] = detector_figure(*_detector(first))
    conditions: dict[str, dict[str, Any]] = {
        "log": {"file": log.name, "samples": len(first.solution), "gravity": gravity},
        "calibration": {"file": "none" if calibration is None else calibration.name},
    }
    write_report(
        folder / "report.html",
        solutions,
        title=f"Navigation of {log.name}",
        reference=truth,
        stops=stops,
        conditions=conditions,
        more_figures=more,
    )
    for name, solution in solutions.items():  # last: they are the largest
        write_solution(folder / f"{name}{solution_suffix(solution)}", solution)
    return {
        "solutions": str(folder),
        "picture": str(folder / "trajectory.png"),
        "report": str(folder / "report.html"),
    }


def _detector(navigated: "Navigated") -> tuple[Any, ...]:
    stops = navigated.stops
    return stops.t, stops.signal, stops.threshold, stops.flags, "detector"
