"""What strapdown navigate writes into its folder: picture, report, solutions."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from strapdown.evaluation.matching import Reference
    from strapdown.evaluation.stops import StopPlaces
    from strapdown.motion.paths.stop_and_go import Stops
    from strapdown.navigation.program import Navigated


def files_of(names: list[str]) -> list[str]:
    """All names that a run may write: the length of the log chooses the format of its solutions."""
    return ["report.html", "trajectory.png", *(f"{name}{suffix}" for name in names for suffix in (".csv", ".parquet"))]


def write_all(
    folder: Path,
    found: "dict[str, Navigated]",
    truth: "Reference | None",
    stops: "Stops | StopPlaces | None",
    log: Path,
    gravity: str,
    calibration: Path | None,
) -> dict[str, str]:
    from strapdown.io.folder import output_folder
    from strapdown.io.solutions.file import solution_suffix, write_solution
    from strapdown.reporting.figures import save
    from strapdown.reporting.navigation_figures import trajectory_figure
    from strapdown.reporting.report import navigated_figures, write_report

    solutions = {name: n.solution for name, n in found.items()}
    more = navigated_figures(found)
    first = next(iter(found.values()))
    conditions: dict[str, dict[str, Any]] = {
        "log": {"file": log.name, "samples": len(first.solution), "gravity": gravity},
        "calibration": {"file": "none" if calibration is None else calibration.name},
    }
    with output_folder(folder, "navigate") as new:
        save(trajectory_figure(solutions, truth, stops, log.name), new / "trajectory.png")
        write_report(
            new / "report.html",
            solutions,
            title=f"Navigation of {log.name}",
            reference=truth,
            stops=stops,
            conditions=conditions,
            more_figures=more,
        )
        for name, solution in solutions.items():
            write_solution(new / f"{name}{solution_suffix(solution)}", solution)
    return {
        "solutions": str(folder),
        "picture": str(folder / "trajectory.png"),
        "report": str(folder / "report.html"),
    }
