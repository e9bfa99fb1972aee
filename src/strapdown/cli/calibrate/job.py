"""Common part of the fits of strapdown calibrate: their options, and the way from a log to a calibration."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from inspect import Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from strapdown.cli.log import Also, AlsoColumns, AlsoSensor, Columns, Json, Log, SecondChip, Sensor, read_chips, refused

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


@dataclass(frozen=True)
class Method:
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

    def run(self, method: Method) -> None:
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


def with_common_options(command: "Callable[..., Method]") -> "Callable[..., None]":
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
