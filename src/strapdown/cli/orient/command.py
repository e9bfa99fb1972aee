"""strapdown orient: a log in, attitude out, by one filter or by all of them side by side."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from strapdown.cli.log import ANY_LOG, Columns, Gravity, Json, Sensor, chosen, read_sensors, refused
from strapdown.cli.orient.log import Prepared, declination_of, filter_for, prepared

if TYPE_CHECKING:
    from strapdown.types import Recording, Solution

_DEFAULT = "lodestar"
_ANGLE_DECIMALS = 9  # of angles.csv: far below what any sensor shows; times are written with all their digits
_MOST_REJECTED = 0.5  # of all readings: a filter that rejects more has a wrong log or wrong settings
_ADVICE = {
    "acc_rejected": ("accelerometer's", "check its unit, its calibration and --gravity"),
    "mag_rejected": ("magnetometer's", "calibrate it (strapdown calibrate magnetometer), or use --axes 6"),
}


def orient(
    log: Annotated[Path | None, typer.Argument(metavar="LOG", help=ANY_LOG, show_default=False)] = None,
    name: Annotated[
        str, typer.Option("--filter", metavar="NAME", help="Name of the filter; --list shows all.")
    ] = _DEFAULT,
    compare: Annotated[
        str | None, typer.Option("--compare", metavar="NAMES", help="Several filters, separated by commas, or: all.")
    ] = None,
    smooth: Annotated[
        bool, typer.Option("--smooth", help="Smooth: use later samples too, where the filter can.")
    ] = False,
    axes: Annotated[
        str,
        typer.Option(metavar="6|9|auto", help="6: without magnetometer, 9: with it, auto: with it if the log has one."),
    ] = "auto",
    magnetometer: Annotated[
        str | None, typer.Option(metavar="NAME", help="Sensor of the log whose magnetometer to use, at its own rate.")
    ] = None,
    declination: Annotated[
        float | None, typer.Option(metavar="DEG", help="Magnetic declination, east positive: heading from true north.")
    ] = None,
    part: Annotated[str | None, typer.Option(metavar="PART", help="Part of the catalogue whose noise to use.")] = None,
    calibration: Annotated[
        Path | None, typer.Option(metavar="CAL.toml", help="Apply this calibration to the log first.")
    ] = None,
    gravity: Gravity = None,
    sensor: Sensor = None,
    columns: Columns = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Folder for solutions, angles and the picture.")
    ] = None,
    listed: Annotated[
        bool, typer.Option("--list", help="Describe the filters, and when to use which, and exit.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Attitude from a log of gyroscope, accelerometer and, if there is one, magnetometer.

    With the truth in the log, prints the errors: root mean square of total, heading and inclination.

    Example: strapdown orient flight.parquet --compare all -o out
    """
    from strapdown.calibration.calibration_file import read_calibration
    from strapdown.cli import screen
    from strapdown.errors import InputError
    from strapdown.io.atomic import refuse_overwriting
    from strapdown.io.folder import refuse_folder
    from strapdown.orientation.catalogue import FILTERS

    if listed:
        _list(as_json)
        return
    if log is None:
        raise InputError("give the log whose attitude is asked for, or --list to see the filters")
    names = [name] if compare is None else _names(compare)
    for each in names:
        if each not in FILTERS:
            raise InputError(f'there is no filter "{each}"; valid names: {", ".join(FILTERS)}')
    if declination is not None and not -180.0 <= declination <= 180.0:
        raise InputError(f"--declination is {declination:g}; give degrees from -180 to 180, east positive")
    if output is not None:
        csv, parquet = (_files(output, names, suffix) for suffix in (".csv", ".parquet"))  # the length decides
        written_to = [*csv.values(), *(path for what, path in parquet.items() if what != "picture")]
        refuse_overwriting(written_to, (log, calibration, columns, part))
        refuse_folder(output, [path.name for path in written_to])
    sensors = read_sensors(log, columns)
    recording = chosen(sensors, sensor, log)
    own = None if magnetometer is None else chosen(sensors, magnetometer, log)
    known = None if calibration is None else read_calibration(calibration)
    try:
        ready = prepared(recording, own, axes, known, gravity, part)
        if declination is None:
            declination = declination_of(ready.recording if own is None else own, ready.nine, ready.notes)
        screen.ready(*kernel_files(names, smooth))
        with screen.warnings_shown() as warned:
            solutions = {each: _solved(each, ready, declination, part is not None, smooth) for each in names}
    except InputError as error:
        raise refused(log, error, without_field="--axes 6") from None
    shown, q_truth = _beside_truth(ready, solutions)
    errors = {} if q_truth is None else {each: _rmse(found, q_truth) for each, found in shown.items()}
    written = {} if output is None else _write(output, solutions, shown, ready.recording, q_truth, log.name)
    notes, nine = [*ready.notes, *_remarks(solutions), *(warned if as_json else ())], ready.nine
    if as_json:
        screen.show_json(
            {"log": str(log), "axes": 9 if nine else 6, **_document(solutions, errors), **written, "notes": notes}
        )
        return
    _show(solutions, errors, nine)
    for note in notes:
        print(f"note: {note}")
    for what, path in written.items():
        print(f"{what}: {path}")


def _names(compare: str) -> list[str]:
    from strapdown.errors import InputError
    from strapdown.orientation.catalogue import FILTERS

    names = [each.strip() for each in compare.split(",") if each.strip()]
    if not names:
        raise InputError("--compare names no filter; give names with commas between, or all")
    return list(FILTERS) if [each.lower() for each in names] == ["all"] else names


def _remarks(solutions: "dict[str, Solution]") -> list[str]:
    """Notes for the user: events, and readings that were rejected most of the time."""
    said = []
    for name, solution in solutions.items():
        said += [f"{name}: {event.text}" for event in solution.events[:3]]
        for flag, (whose, advice) in _ADVICE.items():
            share = float(solution.flags[flag].mean()) if flag in solution.flags else 0.0
            if share > _MOST_REJECTED:
                said.append(f"{name}: rejected {100.0 * share:.0f} % of the {whose} readings: {advice}")
    return said


def kernel_files(names: list[str], smooth: bool) -> list[str]:
    """A filter's kernels are in the file or folder of its name, those of its backward pass in `smoother`."""
    from strapdown.orientation.catalogue import FILTERS

    endings = ("", ".filter", ".smoother") if smooth else ("", ".filter")
    return [f"orientation.{FILTERS[name].module}{ending}" for name in names for ending in endings]


def _solved(name: str, log: Prepared, declination_deg: float, part_given: bool, smooth: bool) -> "Solution":
    filt = filter_for(name, log, declination_deg, part_given)
    own = log.own if log.nine else None
    if smooth and hasattr(filt, "smooth"):
        return filt.smooth(log.recording, magnetometer=own)
    if smooth:
        log.notes.append(f"{name}: has no backward pass; run on line")
    return filt.run(log.recording, magnetometer=own)


def _beside_truth(log: Prepared, solutions: "dict[str, Solution]") -> "tuple[dict[str, Solution], Any]":
    """Solutions for errors and the picture, and the truth (None without).

    With six axes the heading is not determined: it is turned to the truth's at the first sample. Files keep the
    estimates.
    """
    if log.recording.truth is None:
        return solutions, None
    q_truth = log.recording.truth.q_nb
    if log.nine:
        return solutions, q_truth
    return {name: _turned(solution, q_truth[0]) for name, solution in solutions.items()}, q_truth


def _rmse(solution: "Solution", q_truth: Any) -> dict[str, float]:
    from strapdown.evaluation.attitude import attitude_errors, rmse_deg

    total, heading, inclination = rmse_deg(attitude_errors(solution.q_nb, q_truth))
    return {"total_deg": total, "heading_deg": heading, "inclination_deg": inclination}


def _turned(solution: "Solution", q_first: Any) -> "Solution":
    """The same attitudes in a world turned about the vertical, so that the first heading is the truth's."""
    from dataclasses import replace

    import numpy as np

    from strapdown.evaluation.attitude import attitude_errors
    from strapdown.rotation import q_mul

    half = -0.5 * float(attitude_errors(solution.q_nb[:1], q_first[None]).heading[0])
    return replace(solution, q_nb=q_mul(np.array([np.cos(half), 0.0, 0.0, np.sin(half)]), solution.q_nb))


def _files(folder: Path, names: list[str], suffix: str) -> dict[str, Path]:
    """All files that are written: the solution of each filter by its name, angles and the picture."""
    tables = {name: folder / f"{name}{suffix}" for name in (*names, "angles")}
    return {**tables, "picture": folder / "orientation.png"}


def _write(
    folder: Path,
    solutions: "dict[str, Solution]",
    shown: "dict[str, Solution]",
    recording: "Recording",
    q_truth: Any,
    title: str,
) -> dict[str, str]:
    """Write the solutions, the picture and the report.

    shown: solutions for the picture.
    """
    import numpy as np

    from strapdown.evaluation.attitude import angles_deg
    from strapdown.io.folder import output_folder
    from strapdown.io.plain_table import write_table
    from strapdown.io.solutions.file import solution_suffix, write_solution
    from strapdown.reporting.figures import save
    from strapdown.reporting.orientation_figures import orientation_figure

    suffix = solution_suffix(next(iter(solutions.values())))
    columns = {"t [s]": recording.t}
    attitudes = {name: solution.q_nb for name, solution in solutions.items()}
    for name, q in (attitudes if q_truth is None else {**attitudes, "true": q_truth}).items():
        turned = angles_deg(q)
        turned = np.round(turned, _ANGLE_DECIMALS)
        columns |= {f"{name} {angle} [deg]": turned[:, i] for i, angle in enumerate(("roll", "pitch", "yaw"))}
    with output_folder(folder, "orient") as new:
        files = _files(new, list(solutions), suffix)
        write_table(files["angles"], columns)
        for name, solution in solutions.items():
            write_solution(files[name], solution)
        save(orientation_figure(shown, recording.t, q_truth, title), files["picture"])
    files = _files(folder, list(solutions), suffix)
    return {"solutions": str(folder), "angles": str(files["angles"]), "picture": str(files["picture"])}


def _document(solutions: "dict[str, Solution]", errors: dict[str, Any]) -> dict[str, Any]:
    return {"filters": {name: {**_last(solution), "rmse": errors.get(name)} for name, solution in solutions.items()}}


def _last(solution: "Solution") -> dict[str, Any]:
    """The last estimate of a filter, and how often it rejected readings."""
    from strapdown.evaluation.attitude import angles_deg

    roll, pitch, yaw = angles_deg(solution.q_nb[-1:])[0].tolist()
    sigma = solution.sigma.get("attitude_n")
    bias = solution.bias.get("gyr_s")
    return {
        "samples": len(solution),
        "last_roll_deg": roll,
        "last_pitch_deg": pitch,
        "last_yaw_deg": yaw,
        "last_quaternion_wxyz": solution.q_nb[-1].tolist(),
        "last_bias_rad_s": None if bias is None else bias[-1].tolist(),
        "last_sigma_rad": None if sigma is None else sigma[-1].tolist(),
        **{f"{flag}_share": float(values.mean()) for flag, values in solution.flags.items()},
        "events": [{"t_s": e.t_s, "until_s": e.until_s, "kind": e.kind, "text": e.text} for e in solution.events],
        "smoothed": bool(solution.meta.get("smoothed", False)),
    }


def _show(solutions: "dict[str, Solution]", errors: dict[str, Any], nine: bool) -> None:
    from strapdown.cli import screen

    rows = []
    for name, solution in solutions.items():
        last = _last(solution)
        angles = [f"{last[f'last_{angle}_deg']:.2f}" for angle in ("roll", "pitch", "yaw")]
        shares = [f"{100.0 * last[f'{flag}_share']:.1f}" for flag in ("rest", "acc_rejected", "mag_rejected")]
        found = errors.get(name)
        keys = ("total_deg", "heading_deg", "inclination_deg")
        rows.append([name, *(["-"] * 3 if found is None else [f"{found[key]:.3f}" for key in keys]), *angles, *shares])
    against = "RMS error against the log's truth and last angles" if errors else "last angles"
    title = f"Attitude, {9 if nine else 6} axes: {against}; share of samples at rest and of rejected readings"
    if errors and not nine:
        title += "; for the errors the first heading is the truth's"
    screen.show_table(
        title,
        [
            *("filter", "total error, deg", "heading error, deg", "inclination error, deg"),
            *("last roll, deg", "last pitch, deg", "last yaw, deg"),
            *("rest, %", "acc rejected, %", "mag rejected, %"),
        ],
        rows,
    )


def _list(as_json: bool) -> None:
    from strapdown.cli import screen
    from strapdown.orientation.catalogue import FILTERS

    if as_json:
        screen.show_json([{"name": name, "what": e.what, "when": e.when} for name, e in FILTERS.items()])
        return
    screen.show_table(
        "Orientation filters",
        ["name", "what it is", "when to use it"],
        [[n, e.what, e.when] for n, e in FILTERS.items()],
        left=3,
    )
