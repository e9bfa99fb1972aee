"""strapdown calibrate, the fits: a log in, a calibration with its uncertainty out."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from inspect import Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from strapdown.cli.calibrate.use import apply_to, check_log
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

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from strapdown.calibration.calibration import Calibration
    from strapdown.sensors.triad import Triad
    from strapdown.types import Recording

Output = Annotated[
    Path | None, typer.Option("-o", "--output", metavar="CAL.toml", help="Write the calibration into this file.")
]
Plot = Annotated[bool, typer.Option("--plot", help="Also draw residuals and data, into CAL.png (LOG.png without -o).")]
Part = Annotated[
    str | None,
    typer.Option(
        "--part", metavar="PART", help="Part of the catalogue: its noise is used, its name is written into the file."
    ),
]
Specimen = Annotated[
    str | None, typer.Option("--specimen", metavar="TEXT", help="Name of the specimen, written into the file.")
]
After = Annotated[
    Path | None,
    typer.Option("--after", metavar="CAL.toml", help="Apply this calibration first; the result holds both."),
]
calibrate = typer.Typer(rich_markup_mode="rich", no_args_is_help=True)


@calibrate.callback()
def _group() -> None:
    """Calibrate a sensor: offsets, scale, misalignment, temperature, hard and soft iron, each with its uncertainty.

    Example: strapdown calibrate positions poses.csv -o cal.toml --plot
    """


@dataclass(frozen=True)
class _Method:
    """Properties of a method: the fit, its picture, and the kernels it needs."""

    fit: "Callable[[Recording, Mapping[str, Triad] | None, Calibration | None], Any]"
    figure: "Callable[[Any, str], Figure]"
    kernels: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Job:
    """Common part of every method's command: its fields are the options."""

    log: Log
    output: Output = None
    sensor: Sensor = None
    columns: Columns = None
    also: Also = None
    also_sensor: AlsoSensor = None
    also_columns: AlsoColumns = None
    part: Part = None
    specimen: Specimen = None
    after: After = None
    plot: Plot = False
    as_json: Json = False

    def picture(self) -> Path | None:
        if not self.plot:
            return None
        return (self.output or Path(self.log.name.split(".")[0])).with_suffix(".png")

    def run(self, method: _Method) -> None:
        from strapdown.calibration.apply import apply, joined, warn_other_part
        from strapdown.calibration.calibration_file import read_calibration, write_calibration
        from strapdown.cli import screen
        from strapdown.cli.calibrate.show import as_document, show
        from strapdown.errors import InputError
        from strapdown.io.atomic import refuse_overwriting, writable_target
        from strapdown.recordings.facts import noise_of_part
        from strapdown.reporting.figures import save

        if self.output is not None and self.output.suffix != ".toml":
            raise InputError(f"{self.output} is not a .toml file; name the calibration like cal.toml")
        picture = self.picture()
        for path in (self.output, picture):
            if path is not None:
                writable_target(path)
        refuse_overwriting((self.output, picture), (self.log, self.columns, self.also, self.after, self.part))
        before = None if self.after is None else read_calibration(self.after)
        second = SecondChip(self.also, self.also_sensor, self.also_columns)
        recording = read_chips(self.log, self.sensor, self.columns, second)
        part, noise = noise_of_part(recording, self.part)
        screen.ready(*method.kernels)
        try:
            with screen.warnings_shown() as warned:
                if before is None:  # otherwise applying it reports it
                    warn_other_part("--part", self.part, recording)
                raw = recording if before is None else replace(apply(before, recording), meta=recording.meta)
                result = method.fit(raw, noise, before)
        except InputError as error:
            raise refused(self.log, error) from None
        if part is not None and part.lower().endswith(".toml"):  # a part file: its name holds in every folder
            part = str(Path(part).resolve())
        found = _signed(result.calibration, self.log.name, part, self.specimen)
        whole = found if before is None else joined(before, found)
        if self.output is not None:
            write_calibration(self.output, whole)
        if picture is not None:
            save(method.figure(result, self.log.name), picture)
        paths = {
            "output": None if self.output is None else str(self.output),
            "plot": None if picture is None else str(picture),
        }
        if self.as_json:
            screen.show_json({"log": str(self.log), **as_document(found), **paths, "warnings": warned})
            return
        show(found)
        if self.output is not None:
            print(f"calibration: {self.output}")
        if picture is not None:
            print(f"picture:     {picture}")


def _with_common_options(command: "Callable[..., _Method]") -> "Callable[..., None]":
    """The command with the options of _Job: log and output before its own, the others after."""
    own = list(signature(command).parameters.values())
    common = list(signature(_Job).parameters.values())

    @wraps(command)
    def run(**given: Any) -> None:
        job = _Job(**{p.name: given.pop(p.name) for p in common})
        job.run(command(**given))

    parameters = [*common[:2], *own, *common[2:]]
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    del run.__wrapped__
    return run


def _signed(calibration: "Calibration", log: str, part: str | None, specimen: str | None) -> "Calibration":
    """The calibration with the log's name and today's date, which the fit itself does not have."""
    from datetime import date

    today = date.today().isoformat()
    corrections = {
        name: replace(c, found=replace(c.found, date=today, data={"log": log, **c.found.data}))
        for name, c in calibration.corrections.items()
    }
    return replace(calibration, corrections=corrections, part=part, specimen=specimen)


@calibrate.command("static")
@_with_common_options
def static(
    roll: Annotated[float, typer.Option(metavar="DEG", help="Known attitude of the sensor at rest.")] = 0.0,
    pitch: Annotated[float, typer.Option(metavar="DEG", help="Known attitude of the sensor at rest.")] = 0.0,
    levelness: Annotated[
        float | None,
        typer.Option(
            "--levelness", metavar="DEG", help="Standard deviation of that attitude; default: 2, as put down by hand."
        ),
    ] = None,
    latitude: Latitude = None,
    height: Height = 0.0,
    gravity: Gravity = None,
) -> _Method:
    """Find the offsets of accelerometer and gyroscope, from rest in one known attitude (paper B).

    Example: strapdown calibrate static start.csv -o cal.toml
    """
    import math

    from strapdown.calibration.static import calibrate_static
    from strapdown.reporting.temperature_figures import static_figure

    def fit(recording: "Recording", noise: "Mapping[str, Triad] | None", _: "Calibration | None") -> Any:
        return calibrate_static(
            recording,
            gravity=gravity_at(recording, latitude, height, gravity)[0],
            roll_rad=math.radians(roll),
            pitch_rad=math.radians(pitch),
            attitude_sigma_rad=None if levelness is None else math.radians(levelness),
            noise=noise,
        )

    return _Method(fit, static_figure)


@calibrate.command("positions")
@_with_common_options
def positions(
    model: Annotated[
        str,
        typer.Option(metavar="NAME", help="auto, diagonal, full, cubic, or squared (the case stands on its faces)."),
    ] = "auto",
    levelness: Annotated[
        float, typer.Option(metavar="DEG", help="squared: standard deviation of table and case from level.")
    ] = 0.1,
    latitude: Latitude = None,
    height: Height = 0.0,
    gravity: Gravity = None,
) -> _Method:
    """Calibrate the accelerometer from six or more poses at rest, and the gyroscope from the turns between them.

    No turntable is needed. Put the sensor down for a few seconds on every face and on edges; turn it about all axes.

    Example: strapdown calibrate positions poses.csv --latitude 55.75 -o cal.toml --plot
    """
    import math

    from strapdown.calibration.poses.positions import calibrate_positions
    from strapdown.reporting.positions_figures import positions_figure

    def fit(recording: "Recording", noise: "Mapping[str, Triad] | None", _: "Calibration | None") -> Any:
        local = gravity_at(recording, latitude, height, gravity)[0]
        return calibrate_positions(recording, local, model=model, noise=noise, level_sigma_rad=math.radians(levelness))

    return _Method(fit, positions_figure, ("turns",))


@calibrate.command("temperature")
@_with_common_options
def temperature(
    reference: Annotated[
        float | None, typer.Option(metavar="DEGC", help="Temperature at which the bias is given; default: 25.")
    ] = None,
) -> _Method:
    """Calibrate bias against temperature, from a log at rest while the temperature changes.

    Example: strapdown calibrate temperature warm_up.csv -o cal.toml --plot
    """
    from strapdown.calibration.temperature.bias_curve import calibrate_temperature
    from strapdown.reporting.temperature_figures import temperature_figure

    def fit(recording: "Recording", noise: "Mapping[str, Triad] | None", _: "Calibration | None") -> Any:
        return calibrate_temperature(recording, noise=noise, reference_c=reference)

    return _Method(fit, temperature_figure)


@calibrate.command("magnetometer")
@_with_common_options
def magnetometer(
    latitude: Latitude = None,
    longitude: Longitude = None,
    height: Height = 0.0,
    year: Year = None,
    field: Strength = None,
) -> _Method:
    """Calibrate hard and soft iron, from a log in which the sensor is turned through all directions, away from steel.

    With the place (or the field's strength) the readings have their true size. With an accelerometer in the log the
    axes of both are aligned.

    Example: strapdown calibrate magnetometer tumble.csv --latitude 55.75 --longitude 37.62 -o cal.toml --plot
    """
    from strapdown.calibration.calibration import Correction
    from strapdown.calibration.magnetometer.fit import calibrate_magnetometer
    from strapdown.errors import InputError
    from strapdown.reporting.magnetometer_figures import magnetometer_figure

    if latitude is not None and longitude is None:
        raise InputError("--latitude needs --longitude, since the field is that of a place; give both, or neither")
    if field is not None and latitude is not None:
        raise InputError("--field and the place both say how strong the field is; give one of them")
    if height != 0.0 and latitude is None:
        raise InputError("--height needs --latitude and --longitude; give the place, or leave it out")

    def fit(recording: "Recording", noise: "Mapping[str, Triad] | None", before: "Calibration | None") -> Any:
        size, angle = field_at(recording, latitude, longitude, height, year, field)
        known = None if before is None else before.corrections.get("accelerometer")
        # its readings are corrected already: nothing is left to correct, but how well it is known
        sigma = {} if known is None else {key: known.sigma[key] for key in ("bias", "cubic") if key in known.sigma}
        level = None if known is None else Correction(known.unit, known.found, sigma=sigma)
        return calibrate_magnetometer(recording, field_ut=size, dip_rad=angle, noise=noise, accelerometer=level)

    return _Method(fit, magnetometer_figure, ("ellipsoid",))


calibrate.command("apply")(apply_to)
calibrate.command("check")(check_log)
