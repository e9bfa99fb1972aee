"""strapdown navigate: a log in, the driven path out, with its stops, its errors and a report."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

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
    refused,
)
from strapdown.cli.navigate.options import (
    Declination,
    HeadingSigma,
    Lever,
    Mounting,
    PartOfNoise,
    Rest,
    StartHeading,
)

_KERNELS = ("navigation",)


def navigate(
    log: Log,
    name: Annotated[
        str,
        typer.Option("--filter", metavar="NAME", help="eskf (ours), ekf15 (paper C's), or both, separated by a comma."),
    ] = "eskf",
    vehicle: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help="robot (wheels, flat floor), foot, hand, or free; default: that of a simulated log, else robot.",
        ),
    ] = None,
    heading: StartHeading = None,
    heading_sigma: HeadingSigma = 1.0,
    declination: Declination = None,
    calibration: Annotated[
        Path | None, typer.Option(metavar="CAL.toml", help="Apply this calibration to the log first.")
    ] = None,
    part: PartOfNoise = None,
    reference: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Truth: poses or positions by time, or stops in order (columns x, y)."),
    ] = None,
    floor: Annotated[
        bool | None,
        typer.Option(
            "--flat-floor/--no-flat-floor",
            help="All stops at one height, or heights as measured; default: by the vehicle.",
        ),
    ] = None,
    smooth: Annotated[bool, typer.Option("--smooth", help="Smooth: use later samples too (eskf only).")] = False,
    live: Annotated[
        bool,
        typer.Option("--live", help="Forward pass as on a live module: every solution from the samples before it."),
    ] = False,
    rest: Rest = None,
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
    mounting: Mounting = None,
    lever: Lever = None,
    odometer_scale: Annotated[float, typer.Option(metavar="S", help="True metres per metre of the odometer.")] = 1.0,
    odometer_sigma: Annotated[float, typer.Option(metavar="PERCENT", help="Standard deviation of that scale.")] = 0.2,
    columns: Columns = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Folder for solutions, pictures and report.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Path from a log that begins at rest: strapdown navigation with zero-velocity updates.

    With a reference, or the truth in the log, prints the error at every stop as paper C does.

    Example: strapdown navigate drive.csv --calibration cal.toml --part MPU-6050 --heading 0 -o out
    """
    import math

    from strapdown.cli import screen
    from strapdown.cli.navigate.inputs import calibrated, carrier_of, mounting_of, reference_of, three_numbers
    from strapdown.cli.navigate.live import Known, live_navigator
    from strapdown.cli.navigate.outputs import files_of, write_all
    from strapdown.cli.navigate.show import numbers, shares, show
    from strapdown.cli.orient.log import declination_of
    from strapdown.errors import InputError
    from strapdown.evaluation.matching import refuse_other_run
    from strapdown.evaluation.stops import stop_table
    from strapdown.io.atomic import refuse_overwriting
    from strapdown.io.folder import refuse_folder
    from strapdown.navigation.carriers.by_name import FILTERS, carrier_named
    from strapdown.navigation.carriers.wheeled_robot import (
        FARTHEST_LEVER_M,
        GIVEN_LEVER_M,
        UNKNOWN_LEVER_M,
        WheeledRobot,
    )
    from strapdown.navigation.live_program import navigated_live
    from strapdown.navigation.program import navigate as run
    from strapdown.navigation.start_at_rest import Heading
    from strapdown.recordings.facts import Facts, noise_of_part, part_named

    names = [each.strip() for each in name.split(",") if each.strip()]
    if not names:
        raise InputError(f"--filter names no filter; valid names: {', '.join(FILTERS)}, or both with a comma")
    for option, degrees, most in (("--declination", declination, 180.0), ("--heading", heading, 360.0)):
        if degrees is not None and not abs(degrees) <= most:
            raise InputError(f"{option} is {degrees:g} deg; give a number from {-most:g} to {most:g}")
    if not 0.0 <= heading_sigma <= 180.0:
        raise InputError(f"--heading-sigma is {heading_sigma:g} deg; give a number from 0 to 180")
    if not 0.1 <= odometer_scale <= 10.0:
        raise InputError(f"--odometer-scale is {odometer_scale:g}; give a number from 0.1 to 10")
    if not 0.0 <= odometer_sigma <= 50.0:
        raise InputError(f"--odometer-sigma is {odometer_sigma:g} %; give a number from 0 to 50")
    r_bs_b = (0.0, 0.0, 0.0) if lever is None else three_numbers("--lever", lever, "X,Y,Z in m", FARTHEST_LEVER_M)
    if output is not None:
        refuse_overwriting((output / file for file in files_of(names)), (log, calibration, reference, columns, part))
        refuse_folder(output, files_of(names))
    for each in names:
        if each not in FILTERS:
            raise InputError(f'there is no filter "{each}"; valid names: {", ".join(FILTERS)}')
    recording = as_recorded = joined_log(log, sensor, columns, magnetometer, odometer)
    vehicle = carrier_of(recording) if vehicle is None else vehicle
    if live and (smooth or names != ["eskf"] or vehicle not in ("robot", "free")):
        raise InputError("--live runs the filter eskf forward, for a robot or free; leave --smooth and the others away")
    if rest is not None and not live:
        raise InputError("--rest is for --live; without it the rest at the start is found in the log")
    named, noise = noise_of_part(recording, part)
    recording, applied, notes = calibrated(recording, calibration, log)
    q_bs = mounting_of(recording, mounting, notes)
    local, origin = gravity_at(recording, latitude, height, gravity)
    if declination is None:
        before = len(notes)
        declination = declination_of(recording, recording.mag_s is not None, notes)
        if recording.mag_s is not None and len(notes) == before:
            notes.append("no declination is given, and the log states none: magnetic north is taken as true north")
    truth, stops = reference_of(recording, reference, q_bs, r_bs_b)
    if truth is not None:
        refuse_other_run(recording.t, truth)
    if lever is None and vehicle == "robot":
        notes.append(
            "where the sensor sits is not given: the path is that of the sensor, and in turns the wheels measure "
            "little; give --lever if you know"
        )
    facts = Facts(
        local,
        math.radians(declination),
        noise=noise or {},
        part=part_named(named),
        calibration=applied,
        q_bs=q_bs,
        r_bs_b=r_bs_b,
        sources={"gravity": origin},
    )
    robot = WheeledRobot(
        Heading(None if heading is None else math.radians(90.0 - heading), math.radians(heading_sigma)),
        lever_sigma_m=UNKNOWN_LEVER_M if lever is None else GIVEN_LEVER_M,
        odometer_scale=odometer_scale,
        odometer_sigma=odometer_sigma / 100.0,
        flat_floor=floor is not False,
    )
    carriers = {each: carrier_named(vehicle, robot, floor, each) for each in names}
    screen.ready(*_KERNELS)
    try:
        with screen.warnings_shown() as warned, screen.progress("navigating", float(len(names))) as done:
            found = {}
            if live:
                known = Known(part, local, math.radians(declination), q_bs, r_bs_b, applied)
                navigator = live_navigator(carriers["eskf"], known, as_recorded.meta, rest)
                found["eskf"] = navigated_live(navigator, as_recorded, done)
            for i, each in enumerate(names if not live else []):
                found[each] = run(recording, carriers[each], facts, smoothed=smooth, done=partial(_ahead, done, i))
    except InputError as error:
        raise refused(log, error) from None
    notes += warned if as_json else []
    for navigated in found.values():
        notes += [note for note in navigated.notes if note not in notes]
    notes += shares(found, truth)
    tables = {} if stops is None else {each: stop_table(n.solution, stops) for each, n in found.items()}
    written = (
        {}
        if output is None
        else write_all(output, found, truth, stops, log, f"{local:.5f} m/s2, {origin}", calibration)
    )
    document = {each: numbers(n, truth, tables.get(each)) for each, n in found.items()}
    if as_json:
        screen.show_json({"log": str(log), "filters": document, **written, "notes": notes})
        return
    show(document)
    for each, table in tables.items():
        print(f"{each}: error at every stop")
        print(table.text())
    for note in notes:
        print(f"note: {note}")
    for what, path in written.items():
        print(f"{what}: {path}")


def _ahead(done: Callable[[float], None], before: int, part: float) -> None:
    done(before + part)
