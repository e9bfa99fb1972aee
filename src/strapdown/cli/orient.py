"""strapdown orient: a log in, attitude out, by one filter or by all of them side by side."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from strapdown.cli.log import Columns, Json, Sensor, read_log

if TYPE_CHECKING:
    from strapdown.types import Recording, Solution

_DEFAULT = "lodestar"
_MOST_RATE_DPS = 1.0  # at rest: filters take more than 2 deg/s for a turn
_MOST_OFF_G = 0.03  # beyond every data sheet's scale error of a calibrated part


def orient(
    log: Annotated[
        Path | None, typer.Argument(metavar="LOG", help="The log: .csv, .csv.gz or .parquet.", show_default=False)
    ] = None,
    name: Annotated[str, typer.Option("--filter", metavar="NAME", help="Which filter; --list has them.")] = _DEFAULT,
    compare: Annotated[
        str | None, typer.Option("--compare", metavar="NAMES", help="Several filters, with commas; or all.")
    ] = None,
    smooth: Annotated[
        bool, typer.Option("--smooth", help="Off line: use later samples too, if the filter can.")
    ] = False,
    axes: Annotated[
        str, typer.Option(metavar="6|9|auto", help="Without or with magnetometer; auto: with, if the log has one.")
    ] = "auto",
    magnetometer: Annotated[
        str | None, typer.Option(metavar="NAME", help="Sensor of the log whose magnetometer to use, at its own rate.")
    ] = None,
    declination: Annotated[
        float | None, typer.Option(metavar="DEG", help="Magnetic declination, east positive: heading from true north.")
    ] = None,
    part: Annotated[str | None, typer.Option(metavar="PART", help="Take noise settings from this part.")] = None,
    calibration: Annotated[
        Path | None, typer.Option(metavar="CAL.toml", help="Apply this calibration to the log first.")
    ] = None,
    sensor: Sensor = None,
    columns: Columns = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Folder for solutions, angles and the picture.")
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="Describe the filters and when to use which.")] = False,
    as_json: Json = False,
) -> None:
    """Attitude from a log of gyroscope, accelerometer and, if there is one, magnetometer.

    With the truth in the log, prints the errors: root mean square of total, heading and inclination.

    Example: strapdown orient flight.parquet --compare all -o out
    """
    from strapdown.cli import screen
    from strapdown.errors import InputError
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
    if part is not None:
        from strapdown.sensors.part import load_part

        load_part(part)
    recording = read_log(log, sensor, columns)
    own = None if magnetometer is None else read_log(log, magnetometer, columns)
    try:
        recording, own, nine, notes = _prepared(recording, own, axes, calibration)
        if declination is None:
            declination = declination_of(recording if own is None else own, nine, notes)
        screen.ready(*kernel_files(names, smooth))
        solutions = {each: _solved(each, recording, own, nine, declination, part, smooth, notes) for each in names}
    except InputError as error:
        raise InputError(f"{log}: {error}") from None
    errors, q_truth = _errors(recording, solutions, nine)
    written = {} if output is None else _write(output, solutions, recording, q_truth, log.name)
    notes += [f"{each}: {event.text}" for each, s in solutions.items() for event in s.events[:3]]
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
    from strapdown.orientation.catalogue import FILTERS

    return list(FILTERS) if compare == "all" else [each.strip() for each in compare.split(",") if each.strip()]


def kernel_files(names: list[str], smooth: bool) -> list[str]:
    """A filter's kernels stand in the file of its name, those of its backward pass in one beside it."""
    from strapdown.orientation.catalogue import FILTERS

    endings = ("", "_smooth", "_smoother") if smooth else ("",)
    return [FILTERS[name].module + ending for name in names for ending in endings]


def _prepared(
    recording: "Recording", own: "Recording | None", axes: str, calibration: Path | None
) -> "tuple[Recording, Recording | None, bool, list[str]]":
    """The log as filters want it: calibrated if asked for; with or without magnetometer."""
    from strapdown.errors import InputError

    notes = []
    if calibration is not None:
        from strapdown.calibration.apply import apply
        from strapdown.calibration.calibration_file import read_calibration
        from strapdown.cli import screen

        found = read_calibration(calibration)
        with screen.warnings_shown() as warned:
            recording = apply(found, recording)
            if own is not None and "magnetometer" in found.corrections:
                own = apply(found, own)
        notes += warned
    notes += uncalibrated(recording)
    has = own is not None or recording.mag_s is not None
    if axes not in ("6", "9", "auto"):
        raise InputError(f'--axes is "{axes}"; give 6, 9 or auto')
    if axes == "auto" and not has:
        notes.append("the log has no magnetometer: 6 axes, the heading is the gyroscope's and starts at 0")
    return recording, own, has if axes == "auto" else axes == "9", notes


def uncalibrated(recording: "Recording") -> list[str]:
    """What a missing calibration shows at rest: most filters that seem broken lack one."""
    import numpy as np

    from strapdown.calibration.still import still_intervals
    from strapdown.earth import STANDARD_GRAVITY
    from strapdown.errors import InputError

    try:
        still = max(still_intervals(recording), key=lambda s: s.duration_s)
    except InputError:  # no rest, no word
        return []
    said = []
    if still.gyr_mean is not None and np.linalg.norm(still.gyr_mean) > np.radians(_MOST_RATE_DPS):
        rate = float(np.rad2deg(np.linalg.norm(still.gyr_mean)))
        said.append(f"the gyroscope reads {rate:.2g} deg/s at rest: calibrate it first (strapdown calibrate static)")
    if still.acc_mean is not None:
        off = float(np.linalg.norm(still.acc_mean)) / STANDARD_GRAVITY - 1.0
        if _MOST_OFF_G < abs(off) < 0.5:
            said.append(f"the accelerometer reads {100.0 * off:+.1f} % of g beside g at rest: calibrate it first")
    return said


def declination_of(recording: "Recording", nine: bool, notes: list[str]) -> float:
    """In deg, by the field that a simulated log tells of its place; 0 where nothing is known."""
    import numpy as np

    from strapdown.earth_magnetism import declination

    field = recording.meta.get("magnetic_field_n_ut")
    if not nine or not isinstance(field, list | tuple) or len(field) != 3:
        return 0.0
    degrees = float(np.rad2deg(declination(np.array(field, dtype=np.float64))))
    notes.append(f"declination {degrees:.2f} deg, from the field that the log states for its place")
    return degrees


def _solved(
    name: str,
    recording: "Recording",
    own: "Recording | None",
    nine: bool,
    declination_deg: float,
    part: str | None,
    smooth: bool,
    notes: list[str],
) -> "Solution":
    import math

    from strapdown.errors import InputError
    from strapdown.orientation.catalogue import FILTERS, filter_by_name

    settings: dict[str, Any] = {"magnetometer": nine, "declination_rad": math.radians(declination_deg)}
    known = FILTERS[name].cls.__dataclass_fields__
    settings = {key: value for key, value in settings.items() if key in known}
    said = part or recording.meta.get("part")
    if isinstance(said, str) and hasattr(FILTERS[name].cls, "for_triads"):
        from strapdown.sensors.part import load_part

        try:
            filt = FILTERS[name].cls.for_triads(load_part(said).nominal().triads(), **settings)
        except InputError:
            if part is not None:
                raise
            filt = filter_by_name(name, **settings)
    else:
        filt = filter_by_name(name, **settings)
        if part is not None:
            notes.append(f"{name}: has no noise settings to take from a part")
    own = own if nine else None
    if smooth and hasattr(filt, "smooth"):
        return filt.smooth(recording, magnetometer=own)
    if smooth:
        notes.append(f"{name}: has no backward pass; run on line")
    return filt.run(recording, magnetometer=own)


def _errors(recording: "Recording", solutions: "dict[str, Solution]", nine: bool) -> tuple[dict[str, Any], Any]:
    """Errors (deg) by filter, and the truth they were held against; nothing without truth.

    Six axes leave the heading open: it is turned to the truth's at the first sample.
    """
    from strapdown.evaluation.attitude import attitude_errors, rmse_deg

    if recording.truth is None:
        return {}, None
    q_truth = recording.truth.q_nb
    if not nine:
        for name, solution in solutions.items():
            solutions[name] = _turned(solution, q_truth[0])
    found = {}
    for name, solution in solutions.items():
        total, heading, inclination = rmse_deg(attitude_errors(solution.q_nb, q_truth))
        found[name] = {"total_deg": total, "heading_deg": heading, "inclination_deg": inclination}
    return found, q_truth


def _turned(solution: "Solution", q_first: Any) -> "Solution":
    """The same attitudes in a world turned about the vertical, so that the first heading is the truth's."""
    from dataclasses import replace

    import numpy as np

    from strapdown.evaluation.attitude import attitude_errors
    from strapdown.rotation import q_mul

    half = -0.5 * float(attitude_errors(solution.q_nb[:1], q_first[None]).heading[0])
    return replace(solution, q_nb=q_mul(np.array([np.cos(half), 0.0, 0.0, np.sin(half)]), solution.q_nb))


def _write(
    folder: Path, solutions: "dict[str, Solution]", recording: "Recording", q_truth: Any, title: str
) -> dict[str, str]:
    import numpy as np

    from strapdown.cli.reproduce import make_folder
    from strapdown.evaluation.figures import save
    from strapdown.evaluation.orientation_figures import angles_deg, orientation_figure
    from strapdown.io import whole_file
    from strapdown.io.solution import write_solution

    make_folder(folder)
    columns, header = [recording.t], ["t [s]"]
    for name, solution in solutions.items():
        write_solution(folder / f"{name}.csv", solution)
        columns.append(angles_deg(solution.q_nb))
        header += [f"{name} {angle} [deg]" for angle in ("roll", "pitch", "yaw")]
    if q_truth is not None:
        columns.append(angles_deg(q_truth))
        header += [f"true {angle} [deg]" for angle in ("roll", "pitch", "yaw")]
    with whole_file(folder / "angles.csv") as tmp:
        np.savetxt(tmp, np.column_stack(columns), fmt="%.9g", delimiter=",", header=",".join(header), comments="")
    save(orientation_figure(solutions, recording.t, q_truth, title), folder / "orientation.png")
    return {"solutions": str(folder), "angles": str(folder / "angles.csv"), "picture": str(folder / "orientation.png")}


def _document(solutions: "dict[str, Solution]", errors: dict[str, Any]) -> dict[str, Any]:
    return {"filters": {name: {**_last(solution), "rmse": errors.get(name)} for name, solution in solutions.items()}}


def _last(solution: "Solution") -> dict[str, Any]:
    """What a filter ends with, and how often it set readings aside."""
    from strapdown.evaluation.orientation_figures import angles_deg

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
    title = f"Attitude, {9 if nine else 6} axes: RMS error against the log's truth and last angles (deg), samples (%)"
    if errors and not nine:
        title += "; heading set to the truth's at the start"
    screen.show_table(
        title,
        ["filter", "total", "heading", "inclination", "roll", "pitch", "yaw", "rest", "acc aside", "mag aside"],
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
