"""strapdown navigate: a log in, the way driven out, with its stops, its errors and a report."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from strapdown.cli.log import (
    Columns,
    Gravity,
    Height,
    Json,
    Latitude,
    Log,
    Sensor,
    gravity_at,
    joined_log,
    noise_of_part,
)

if TYPE_CHECKING:
    from strapdown.evaluation.matching import Reference
    from strapdown.evaluation.stops import StopPlaces, StopTable
    from strapdown.motion.stop_and_go import Stops
    from strapdown.navigation.program import Navigated
    from strapdown.types import Recording

_KERNELS = ("eskf", "eskf_smoother", "ekf15", "stop_judge", "stop_detectors", "mechanisation", "strapdown")


def navigate(
    log: Log,
    name: Annotated[
        str, typer.Option("--filter", metavar="NAME", help="eskf, ekf15 (paper C's), or both, with a comma.")
    ] = "eskf",
    vehicle: Annotated[
        str, typer.Option(metavar="KIND", help="robot (wheels, flat floor), foot, or free (stops alone).")
    ] = "robot",
    heading: Annotated[
        float | None, typer.Option(metavar="DEG", help="At the start, clockwise from north; else the magnetometer's.")
    ] = None,
    heading_sigma: Annotated[float, typer.Option(metavar="DEG", help="Standard deviation of --heading.")] = 1.0,
    declination: Annotated[
        float | None, typer.Option(metavar="DEG", help="Magnetic declination, east positive.")
    ] = None,
    calibration: Annotated[
        Path | None, typer.Option(metavar="CAL.toml", help="Apply this calibration to the log first.")
    ] = None,
    part: Annotated[str | None, typer.Option(metavar="PART", help="Part of the catalogue: its noise.")] = None,
    reference: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Truth: poses or positions by time, or stops in order (columns x, y)."),
    ] = None,
    smooth: Annotated[bool, typer.Option("--smooth", help="Off line: use later samples too (eskf).")] = False,
    latitude: Latitude = None,
    height: Height = 0.0,
    gravity: Gravity = None,
    sensor: Sensor = None,
    magnetometer: Annotated[
        str | None, typer.Option(metavar="NAME", help="Sensor of the log whose magnetometer to use.")
    ] = None,
    odometer: Annotated[
        str | None, typer.Option(metavar="NAME", help="Sensor of the log whose odometer to use.")
    ] = None,
    columns: Columns = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Folder for solutions, pictures and report.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Where it went: strapdown navigation with zero-velocity updates, from a log that begins at rest.

    With a reference, or the truth in the log, prints the error at every stop as paper C does.

    Example: strapdown navigate drive.csv --calibration cal.toml --part MPU-6050 --heading 0 -o out
    """
    import math

    from strapdown.cli import screen
    from strapdown.cli.navigate_output import refuse_folder, write_all
    from strapdown.cli.orient import declination_of
    from strapdown.errors import InputError
    from strapdown.navigation.program import FILTERS, Task
    from strapdown.navigation.program import navigate as run

    names = [each.strip() for each in name.split(",") if each.strip()]
    if not names:
        raise InputError(f"--filter names no filter; valid names: {', '.join(FILTERS)}, or both with a comma")
    for option, degrees, most in (("--declination", declination, 180.0), ("--heading", heading, 360.0)):
        if degrees is not None and not abs(degrees) <= most:
            raise InputError(f"{option} is {degrees:g} deg; give a number from {-most:g} to {most:g}")
    if not 0.0 <= heading_sigma <= 180.0:
        raise InputError(f"--heading-sigma is {heading_sigma:g} deg; give a number from 0 to 180")
    if output is not None:
        refuse_folder(output, names)
    for each in names:
        if each not in FILTERS:
            raise InputError(f'there is no filter "{each}"; valid names: {", ".join(FILTERS)}')
    recording = joined_log(log, sensor, columns, magnetometer, odometer)
    _, noise = noise_of_part(recording, part)
    recording, applied, notes = _calibrated(recording, calibration, log)
    local, origin = gravity_at(recording, latitude, height, gravity)
    if declination is None:
        declination = declination_of(recording, recording.mag_s is not None, notes)
        if recording.mag_s is not None and declination == 0.0:
            notes.append("no declination is given or told by the log: magnetic north is taken for north")
    truth, stops = _reference(recording, reference)
    task = Task(
        vehicle,
        None if heading is None else math.radians(90.0 - heading),
        math.radians(heading_sigma),
        local,
        math.radians(declination),
        noise or {},
        applied,
        smooth,
    )
    screen.ready(*_KERNELS)
    try:
        with screen.progress("navigating", float(len(names))) as done:
            found = {}
            for i, each in enumerate(names):
                found[each] = run(recording, each, task, partial(_ahead, done, i))
    except InputError as error:
        raise InputError(f"{log}: {error}") from None
    for navigated in found.values():
        notes += [note for note in navigated.notes if note not in notes]
    notes += _shares(found, truth)
    tables = {} if stops is None else {each: _table(n, stops) for each, n in found.items()}
    written = (
        {}
        if output is None
        else write_all(output, found, truth, stops, log, f"{local:.5f} m/s2, {origin}", calibration)
    )
    document = {each: _numbers(n, truth, tables.get(each)) for each, n in found.items()}
    if as_json:
        screen.show_json({"log": str(log), "filters": document, **written, "notes": notes})
        return
    _show(document)
    for each, table in tables.items():
        print(f"{each}: error at every stop")
        print(table.text())
    for note in notes:
        print(f"note: {note}")
    for what, path in written.items():
        print(f"{what}: {path}")


def _ahead(done: Callable[[float], None], before: int, part: float) -> None:
    done(before + part)


def _calibrated(recording: "Recording", path: Path | None, log: Path) -> tuple["Recording", Any, list[str]]:
    from strapdown.calibration.apply import apply
    from strapdown.calibration.calibration_file import read_calibration
    from strapdown.cli import screen
    from strapdown.cli.orient import uncalibrated
    from strapdown.errors import InputError

    if path is None:
        return recording, None, uncalibrated(recording)
    found = read_calibration(path)
    try:
        with screen.warnings_shown() as warned:
            return apply(found, recording), found, warned
    except InputError as error:
        raise InputError(f"{log}: {error}") from None


def _shares(found: "dict[str, Navigated]", truth: "Reference | None") -> list[str]:
    """A sentence where the truth tells only of a part of the log."""
    from strapdown.evaluation.matching import matched

    if truth is None:
        return []
    solution = next(iter(found.values())).solution
    t = matched(solution, truth).t
    compared_s, all_s = float(t[-1] - t[0]), float(solution.t[-1] - solution.t[0])
    if compared_s >= 0.99 * all_s:
        return []
    share = 100.0 * compared_s / all_s
    return [f"the reference tells of {compared_s:.4g} of {all_s:.4g} s ({share:.0f} %): errors are of that part alone"]


def _reference(recording: "Recording", path: Path | None) -> "tuple[Reference | None, Stops | StopPlaces | None]":
    """The truth along the way, and the stops to compare at, as far as they are known."""
    from strapdown.evaluation.evaluate import read_reference
    from strapdown.evaluation.stops import stops_of_motion
    from strapdown.types import Motion

    if path is not None:
        places = _places(path)
        if places is not None:
            return None, places
        truth = read_reference(path)
    elif recording.truth is not None:
        truth = recording.truth
    else:
        return None, None
    if (
        isinstance(truth, Motion)
        and recording.stop is not None
        and recording.stop.any()
        and len(truth) == len(recording)
    ):
        return truth, stops_of_motion(truth, recording.stop)
    return truth, None


def _places(path: Path) -> "StopPlaces | None":
    """Stops in the order of the drive: a CSV file with the columns x and y (m), and z if there is one."""
    import csv

    import numpy as np

    from strapdown.errors import InputError
    from strapdown.evaluation.stops import stop_places

    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.reader(line for line in file if line.strip() and not line.startswith("#")))
    except (OSError, UnicodeDecodeError, csv.Error):
        return None  # its reader will say what it is
    header = [cell.strip().lower() for cell in rows[0]] if rows else []
    if header not in (["x", "y"], ["x", "y", "z"]):
        return None
    try:
        return stop_places(np.array([[float(cell) for cell in row] for row in rows[1:]]))
    except ValueError as error:
        raise InputError(f"{path}: a stop is not a number ({error}); give x,y in m, one stop in each line") from None


def _table(navigated: "Navigated", stops: "Stops | StopPlaces") -> "StopTable":
    from strapdown.evaluation.stops import stop_table

    return stop_table(navigated.solution, stops)


def _numbers(navigated: "Navigated", truth: "Reference | None", table: "StopTable | None") -> dict[str, Any]:
    from strapdown.evaluation.evaluate import evaluate
    from strapdown.evaluation.stops import believed_stands
    from strapdown.evaluation.trajectory import closing_error, estimated_path_length

    solution = navigated.solution
    assert solution.p_n is not None
    sigma = solution.sigma.get("p_n")
    said: dict[str, Any] = {
        "samples": len(solution),
        "path_length_m": float(estimated_path_length(solution)),
        "closing_error_m": closing_error(solution).length_m,
        "last_position_m": solution.p_n[-1].tolist(),
        "last_sigma_m": None if sigma is None else sigma[-1].tolist(),
        "stops_believed": len(believed_stands(solution)),
        "events": [
            {"t_s": e.t_s, "until_s": e.until_s, "kind": e.kind, "text": e.text}
            for e in solution.events
            if e.kind != "stop_believed"
        ],
        "against_truth": None if truth is None else evaluate(solution, truth).numbers(),
    }
    if table is not None:
        said["stops"] = [
            {
                "number": row.number,
                "t_s": row.t_s,
                "dx_m": row.dx_m,
                "dy_m": row.dy_m,
                "dr_m": row.dr_m,
                "path_length_m": row.path_length_m,
                "percent": row.percent,
            }
            for row in table.rows
        ]
    return said


def _show(document: dict[str, dict[str, Any]]) -> None:
    from strapdown.cli import screen

    rows = []
    for name, said in document.items():
        x, y, z = said["last_position_m"]
        against = said["against_truth"] or {}
        final, worst = against.get("final_percent"), against.get("max_percent")
        rows.append(
            [
                name,
                f"{said['path_length_m']:.3f}",
                f"{x:.3f}",
                f"{y:.3f}",
                f"{z:.3f}",
                f"{said['closing_error_m']:.3f}",
                str(said["stops_believed"]),
                "-" if final is None else f"{final:.2f}",
                "-" if worst is None else f"{worst:.2f}",
            ]
        )
    screen.show_table(
        "Where it went (m), and its error in % of the path where the truth is known",
        ["filter", "path", "x", "y", "z", "end to start", "stops", "at the end", "at most, of the whole path"],
        rows,
    )
