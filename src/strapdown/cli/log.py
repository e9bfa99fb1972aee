"""Common parts of commands that read a log: its options, the choice of a sensor, and where on Earth it was recorded."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from strapdown.errors import InputError
    from strapdown.io.formats import Contents
    from strapdown.types import Recording

# what the help of commands that read a log calls it; docs/formats.md has the list
ANY_LOG = "The log, in any format that look can read: .csv, .parquet, .bag, .mcap, .ulg, .bin, .mat, a folder."
Log = Annotated[Path, typer.Argument(metavar="LOG", help=ANY_LOG)]
Sensor = Annotated[
    str | None,
    typer.Option("--sensor", "--topic", metavar="NAME", help="Name of the sensor or topic, if the log has several."),
]
Columns = Annotated[
    Path | None,
    typer.Option(
        "--columns",
        metavar="MAPPING.toml",
        help="Column mapping of a foreign log, or the name of a ready one (look --list).",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of tables.")]
Latitude = Annotated[
    float | None, typer.Option("--latitude", metavar="DEG", help="Latitude of the place, for its gravity.")
]
Height = Annotated[float, typer.Option("--height", metavar="M", help="Height of the place above the ellipsoid.")]
Longitude = Annotated[
    float | None, typer.Option("--longitude", metavar="DEG", help="Longitude of the place, for its magnetic field.")
]
Year = Annotated[
    float | None,
    typer.Option("--year", metavar="YEAR", help="Year of the log, for the magnetic field; default: today."),
]
Strength = Annotated[
    float | None, typer.Option("--field", metavar="UT", help="Strength of the magnetic field, if known.")
]
Gravity = Annotated[float | None, typer.Option("--gravity", metavar="M/S2", help="Local gravity, if known.")]

Also = Annotated[
    Path | None,
    typer.Option(
        "--also", metavar="LOG", help="Log of a second chip by the same clock; its instruments are joined by time."
    ),
]
AlsoSensor = Annotated[
    str | None,
    typer.Option(
        "--also-sensor", metavar="NAME", help="Its sensor or topic; without --also, a second sensor of the same log."
    ),
]
AlsoColumns = Annotated[
    Path | None, typer.Option("--also-columns", metavar="MAPPING.toml", help="Column mapping of that log.")
]

_LONG_BYTES = 100e6  # a log that takes seconds to read


def read_log(log: Path, sensor: str | None, columns: Path | None) -> "Recording":
    """The recording of one sensor of a log."""
    return chosen(read_sensors(log, columns), sensor, log)


@dataclass(frozen=True)
class SecondChip:
    """Where the instruments of a second chip come from: another log, or another sensor of the same log."""

    also: Path | None = None
    sensor: str | None = None
    columns: Path | None = None

    def of(self, log: Path, columns: Path | None) -> "Recording | None":
        """Its recording; None if there is no second chip."""
        from strapdown.errors import InputError

        if self.also is not None:
            return read_log(self.also, self.sensor, self.columns)
        if self.columns is not None:
            raise InputError("--also-columns is for the log of --also; give both, or neither")
        return None if self.sensor is None else read_log(log, self.sensor, columns)


def read_chips(log: Path, sensor: str | None, columns: Path | None, second: SecondChip) -> "Recording":
    """The recording of one sensor of a log, with the instruments of a second chip where one is given."""
    from strapdown.errors import InputError
    from strapdown.recordings.two_chips import with_chip

    recording, other = read_log(log, sensor, columns), second.of(log, columns)
    try:
        return recording if other is None else with_chip(recording, other)
    except InputError as error:
        raise InputError(f"{log} and {second.also or second.sensor}: {error}") from None


def read_sensors(log: Path, columns: Path | None) -> "dict[str, Recording]":
    """All sensors of a log, with a progress bar if it is long. The log is read once, whatever sensors of it are
    used.
    """
    from strapdown.cli import screen
    from strapdown.errors import InputError
    from strapdown.io import read, read_mapping
    from strapdown.io.foreign.source import MAPPING_HINT
    from strapdown.io.solutions.file import is_solution

    if log.is_file() and is_solution(log):
        raise InputError(f"{log} is a solution, which navigate or orient wrote; give the log it was made from")
    mapping = None if columns is None else read_mapping(columns)
    try:
        if log_bytes(log) < _LONG_BYTES:
            with screen.warnings_shown():
                return read(log, mapping)
        with screen.warnings_shown(), screen.progress("reading", 1.0) as done:
            return read(log, mapping, done)
    except InputError as error:
        if mapping is None and MAPPING_HINT in str(error):
            raise InputError(f"{error}, with --columns MAPPING.toml; strapdown look {log} writes one") from None
        raise


def read_contents(log: Path, columns: Path | None) -> "Contents":
    """Recordings and tracks of a log in any format; with a bar on the way if it is long."""
    from strapdown.io import read_all, read_mapping

    mapping = None if columns is None else read_mapping(columns)
    if log_bytes(log) < _LONG_BYTES:
        return read_all(log, mapping)
    from strapdown.cli import screen

    with screen.progress("reading", 1.0) as done:
        return read_all(log, mapping, done)


def log_bytes(log: Path) -> int:
    """The size of a file, or of the files of a folder; 0 for what is not there."""
    if log.is_dir():
        return sum(each.stat().st_size for each in log.iterdir() if each.is_file())
    return log.stat().st_size if log.is_file() else 0


def _measures(recording: "Recording") -> bool:
    """Whether a recording has readings of a module: that of a satellite receiver alone has none."""
    others = ("gyr_s", "acc_s", "mag_s", "increments", "temperature", "tilt_s", "odometer")
    return any(getattr(recording, name) is not None for name in others)


def chosen(recordings: "Mapping[str, Recording]", sensor: str | None, log: Path) -> "Recording":
    """One of the sensors of a log: the one with this name, or the only one."""
    from strapdown.errors import InputError
    from strapdown.io.files import sensor_named

    if not any(_measures(each) for each in recordings.values()):
        raise InputError(f"{log} holds positions alone, to compare a path with: strapdown evaluate SOLUTION {log}")
    if sensor is not None:
        return recordings[sensor_named(sensor, recordings, str(log))]
    first = next(iter(recordings.values()))
    if len(recordings) > 1:
        option = "--topic" if "topic" in first.meta else "--sensor"
        raise InputError(f"{log} holds the sensors {', '.join(recordings)}; choose one with {option}")
    return first


def gravity_at(
    recording: "Recording", latitude_deg: float | None, height_m: float, given: float | None
) -> tuple[float, str]:
    """Gravity (m/s2) and its source: the option, the place, the log, or the standard."""
    from strapdown.errors import InputError
    from strapdown.recordings.facts import STANDARD, gravity_of

    if height_m != 0.0 and latitude_deg is None:
        raise InputError("--height needs --latitude; give both, or neither")
    if given is not None and latitude_deg is not None:
        raise InputError("--gravity and --latitude both state the strength of gravity; give one of them")
    if given is not None and not 0.1 <= given <= 100.0:
        raise InputError(f"--gravity is {given:g}; give m/s2, about 9.8 on Earth")
    local, origin = gravity_of(recording, given, latitude_deg, height_m)
    if origin == STANDARD:
        origin = "standard; give --latitude for the local one, which differs by up to 2.7 mg"
    return local, origin


def field_at(
    recording: "Recording",
    latitude_deg: float | None,
    longitude_deg: float | None,
    height_m: float,
    year: float | None,
    given_ut: float | None,
) -> tuple[float | None, float | None]:
    """Strength (uT) and dip (rad, down positive) of the field: from the options, the place, the log, or None."""
    from datetime import date

    from strapdown.earth_magnetism import decimal_year, dip, magnetic_field, strength
    from strapdown.errors import InputError
    from strapdown.recordings.facts import strength_and_dip

    if given_ut is not None:
        if longitude_deg is not None:
            raise InputError("--field and --longitude both state the strength of the field; give one of them")
        if year is not None:
            raise InputError("--year is for the field of a place, and --field is given; give one of them")
        if not 10.0 <= given_ut <= 100.0:
            raise InputError(f"--field is {given_ut:g}; give uT, 22 to 67 on Earth")
        return given_ut, None
    if longitude_deg is not None:
        if latitude_deg is None:
            raise InputError("--longitude needs --latitude; give both, or neither")
        when = decimal_year(date.today()) if year is None else year
        b_n = magnetic_field("earth", latitude_deg, longitude_deg, height_m, when)
        return float(strength(b_n)), float(dip(b_n))
    if year is not None:
        raise InputError("--year is for the field of a place; give --latitude and --longitude with it")
    return strength_and_dip(recording)


def joined_log(
    log: Path, sensor: str | None, columns: Path | None, magnetometer: str | None, odometer: str | None
) -> "Recording":
    """The recording of a sensor with the magnetometer or the odometer of other sensors of the same log."""
    from strapdown.errors import InputError
    from strapdown.recordings.join import with_instrument

    sensors = read_sensors(log, columns)
    recording = chosen(sensors, sensor, log)
    for name, field, instrument in ((magnetometer, "mag_s", "magnetometer"), (odometer, "odometer", "odometer")):
        if name is None:
            continue
        other = chosen(sensors, name, log)
        if getattr(other, field) is None:
            raise InputError(f"{log}: sensor {name} has no {instrument}; name another")
        recording = with_instrument(recording, other, field)
    return recording


# what a command can do about a finding of the examination, besides what its sentence states
_OPTIONS = {
    "time_unit": "--columns",
    "accelerometer_unit": "--columns, --gravity",
    "accelerometer_scale": "--columns, --calibration",
    "gyroscope_axes": "--columns",
    "gyroscope_rate": "--columns",
    "gyroscope_scale": "--columns",
    "gyroscope_at_rest": "--columns",
    "magnetometer_unit": "--columns",
}


def refused(log: Path, error: "InputError", without_field: str = "") -> "InputError":
    """The error with the name of the log and the options that help; without_field: for commands without
    magnetometer.
    """
    from strapdown.errors import InputError
    from strapdown.recordings.examination.findings import LogError

    kind = error.finding.kind if isinstance(error, LogError) else ""
    option = without_field if kind.startswith("magnetometer") and kind not in _OPTIONS else _OPTIONS.get(kind, "")
    return InputError(f"{log}: {error}; options: {option}" if option else f"{log}: {error}")
