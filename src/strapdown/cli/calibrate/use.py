"""strapdown calibrate apply, check: apply a calibration, and check whether it still fits its sensor."""

from pathlib import Path
from typing import Annotated, Any

import typer

from strapdown.cli.log import (
    Also,
    AlsoColumns,
    AlsoSensor,
    Columns,
    Gravity,
    Height,
    Json,
    Latitude,
    Log,
    Longitude,
    SecondChip,
    Sensor,
    Strength,
    Year,
    field_at,
    gravity_at,
    read_chips,
    refused,
)


def refuse_swapped(calibration: Path, log: Path, what: str) -> None:
    from strapdown.errors import InputError
    from strapdown.io import LOG_SUFFIXES

    if calibration.name.lower().endswith(LOG_SUFFIXES) and log.suffix.lower() == ".toml":
        raise InputError(
            f"{calibration} is named as a log and {log} as a calibration; the calibration comes first: "
            f"strapdown calibrate {what} {log} {calibration}"
        )


def apply_to(
    calibration: Annotated[Path, typer.Argument(metavar="CAL.toml", help="The calibration.")],
    log: Log,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="OUT", help="Recording to write: .parquet, .csv or .csv.gz.")
    ],
    sensor: Sensor = None,
    columns: Columns = None,
    also: Also = None,
    also_sensor: AlsoSensor = None,
    also_columns: AlsoColumns = None,
    as_json: Json = False,
) -> None:
    """Correct the readings of a log. A log that is calibrated already is refused.

    Example: strapdown calibrate apply cal.toml drive.csv -o calibrated.parquet
    """
    from strapdown.calibration.apply import META, apply
    from strapdown.calibration.calibration_file import read_calibration
    from strapdown.cli import screen
    from strapdown.errors import InputError
    from strapdown.io import check_writable, write
    from strapdown.io.atomic import refuse_overwriting

    refuse_swapped(calibration, log, "apply")
    check_writable(output)
    refuse_overwriting((output,), (calibration, log, columns, also))
    found = read_calibration(calibration)
    recording = read_chips(log, sensor, columns, SecondChip(also, also_sensor, also_columns))
    try:
        with screen.warnings_shown() as warned:
            corrected = apply(found, recording)
    except InputError as error:
        raise refused(log, error) from None
    write(output, {sensor or str(recording.meta.get("sensor", log.name.split(".")[0])): corrected})
    done = corrected.meta[META]
    if as_json:
        screen.show_json({"log": str(log), "output": str(output), "calibrated": done, "warnings": warned})
        return
    for name in found.corrections:
        state = "corrected" if name in done else "not in this log"
        print(f"{name}: {state}")
    print(f"recording: {output}")


def check_log(
    calibration: Annotated[Path, typer.Argument(metavar="CAL.toml", help="The calibration.")],
    log: Log,
    latitude: Latitude = None,
    longitude: Longitude = None,
    height: Height = 0.0,
    gravity: Gravity = None,
    year: Year = None,
    field: Strength = None,
    sensor: Sensor = None,
    columns: Columns = None,
    also: Also = None,
    also_sensor: AlsoSensor = None,
    also_columns: AlsoColumns = None,
    as_json: Json = False,
) -> None:
    """Check a calibration with a new log: gravity and rates at rest, strength of the magnetic field.

    For a simulated log the corrected readings are also compared with the truth. Exit code 1 if it is not valid.

    Example: strapdown calibrate check cal.toml today.csv --latitude 55.75
    """
    from strapdown.calibration.apply import apply
    from strapdown.calibration.calibration_file import read_calibration
    from strapdown.calibration.check import check
    from strapdown.calibration.truth_check import against_truth
    from strapdown.cli import screen
    from strapdown.cli.calibrate.show import checks_document, show_checks, show_truth, truth_document
    from strapdown.errors import InputError

    refuse_swapped(calibration, log, "check")
    found = read_calibration(calibration)
    recording = read_chips(log, sensor, columns, SecondChip(also, also_sensor, also_columns))
    local, origin = gravity_at(recording, latitude, height, gravity)
    size = field_at(recording, latitude, longitude, height, year, field)[0]
    try:
        with screen.warnings_shown() as warned:
            checks = check(found, recording, gravity=local, field_ut=size)
            errors, turn = against_truth(found, recording, apply(found, recording))
    except InputError as error:
        raise refused(log, error) from None
    at_rest = all(item.holds for item in checks)
    wrong = [item.instrument for item in errors if not item.holds]
    judged = [item for item in errors if item.allowed is not None]
    holds = at_rest and not wrong if judged or any(item.told for item in checks) else None
    if as_json:
        document: dict[str, Any] = {
            "calibration": str(calibration),
            "log": str(log),
            "holds": holds,
            "gravity_m_s2": local,
        }
        screen.show_json(
            {**document, "checks": checks_document(checks), **truth_document(errors, turn), "warnings": warned}
        )
    else:
        show_checks(checks)
        show_truth(errors, turn)
        print(f"gravity: {local:.5f} m/s2 ({origin})")
        if not at_rest:
            print("the calibration does not hold any more: calibrate again")
        elif wrong:
            print(
                f"the calibration does not hold against the truth of this log ({', '.join(wrong)}): it lacks a part of "
                "the sensor's errors; calibrate in more poses and turns"
            )
        elif holds is None:
            print("this log cannot check the calibration; give another one")
        else:
            print("the calibration holds")
    if holds is False:
        raise typer.Exit(1)
