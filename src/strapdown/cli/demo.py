"""strapdown demo: the whole chain in a minute: drive, calibrate, navigate, report the error at every stop."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from strapdown.cli.log import Json

if TYPE_CHECKING:
    from strapdown.evaluation.stops import StopTable

_SEED = 1
_NAMES = {"paper C": "ekf15", "ours": "eskf"}


def demo(
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="Folder for logs, calibration, solutions and report.")
    ] = Path("strapdown-demo"),
    as_json: Json = False,
) -> None:
    """Drive paper C's square with a virtual MPU-6050 and QMC5883L, calibrate them, and navigate by both filters.

    Example: strapdown demo
    """
    from strapdown.calibration.calibration_file import write_calibration
    from strapdown.cli import screen
    from strapdown.evaluation.stops import stop_table
    from strapdown.io import write
    from strapdown.io.folder import output_folder, refuse_folder
    from strapdown.io.solutions.file import write_solution
    from strapdown.kernels.compiled import ERRORS
    from strapdown.papers.c.drive import drive
    from strapdown.reporting.figures import save
    from strapdown.reporting.navigation_figures import trajectory_figure
    from strapdown.reporting.report import write_report

    refuse_folder(output)
    screen.ready(
        *ERRORS,
        *("calibration.ellipsoid", "calibration.turns", "whitening"),
        *(f"navigation.{name}" for name in ("eskf.filter", "ekf15", "stop_segments")),
        helped=False,  # a second process would take 2 s of CPU more
    )
    with screen.progress("calibrating a virtual robot and driving its square", 3.0) as done:
        run = drive("square", _SEED)
        done(1.0)
        solutions = {shown: run.navigated(name).solution for shown, name in _NAMES.items()}
        tables = {name: stop_table(solution, run.stops) for name, solution in solutions.items()}
        done(2.0)
        with output_folder(output, "demo") as new:
            write(new / "drive.parquet", {"robot": run.raw})
            write_calibration(new / "calibration.toml", run.robot.calibration)
            for name, solution in solutions.items():
                write_solution(new / f"{_NAMES[name]}.csv", solution)
            picture = trajectory_figure(solutions, run.truth, run.stops, "Square of 1.2 m, a stop each 0.3 m")
            save(picture, new / "drive.png")
            write_report(
                new / "report.html",
                solutions,
                title="A virtual robot drives paper C's square",
                note="A virtual MPU-6050 and QMC5883L with the errors of real parts, calibrated from their own "
                "simulated logs; iron below the floor turns the compass by 3 deg rms.",
                reference=run.truth,
                stops=run.stops,
                conditions={"drive": {"path": "square of 1.2 m, a stop each 0.3 m", "specimen": f"seed {_SEED}"}},
            )
        done(3.0)
    written = {name: str(output / name) for name in ("drive.parquet", "calibration.toml", "drive.png", "report.html")}
    if as_json:
        screen.show_json({"filters": {name: _numbers(table) for name, table in tables.items()}, "written": written})
        return
    _show(tables)
    print(f"report:      {output / 'report.html'}")
    print(f"picture:     {output / 'drive.png'}")
    log, calibration = output / "drive.parquet", output / "calibration.toml"
    print(f"log:         {log}, as the virtual parts read, and {calibration}")
    known = "--heading 0 --heading-sigma 0 --lever 0,0,0"
    print(f"next: strapdown navigate {log} --calibration {calibration} {known} --smooth -o out")
    print("live: strapdown device demo, a virtual module on a serial line, navigated while it drives")


def _numbers(table: "StopTable") -> dict[str, Any]:
    return {
        "final_percent": table.final.percent,
        "largest_percent_of_way": table.worst.percent,
        "stops": [
            {"path_length_m": r.path_length_m, "dx_m": r.dx_m, "dy_m": r.dy_m, "dr_m": r.dr_m, "percent": r.percent}
            for r in table.rows
        ],
    }


def _show(tables: "dict[str, StopTable]") -> None:
    """Both tables side by side."""
    from strapdown.cli import screen

    rows = []
    for both in zip(*(table.rows for table in tables.values()), strict=True):
        cells = [str(both[0].number), f"{both[0].path_length_m:.1f}"]
        for row in both:
            percent = "-" if row.percent is None else f"{row.percent:.2f}"
            cells += [f"{row.dx_m:.4f}", f"{row.dy_m:.4f}", f"{row.dr_m:.4f}", percent]
        rows.append(cells)
    columns = [f"{name}: {what}" for name in tables for what in ("dx, m", "dy, m", "dr, m", "e, %")]
    screen.show_table("Error at every stop; L: way so far, e = dr / L", ["stop", "L, m", *columns], rows, keys=2)
    for name, table in tables.items():
        final, worst = table.final.percent, table.worst.percent
        print(
            f"{name}: error at the end {final:.2f} % of the path, largest error at a stop {worst:.2f} % of the way "
            "so far (published: 4.08 and 4.98 %)"
        )
