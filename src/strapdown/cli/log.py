"""What commands that read a log share: its options, the choice of a sensor, and where on Earth it was recorded."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from strapdown.sensors.parts.part import Part
    from strapdown.sensors.triad import Triad
    from strapdown.types import Recording

Log = Annotated[Path, typer.Argument(metavar="LOG", help="The log: .csv, .csv.gz or .parquet.")]
Sensor = Annotated[str | None, typer.Option("--sensor", metavar="NAME", help="Which sensor of the log.")]
Columns = Annotated[
    Path | None,
    typer.Option(
        "--columns", metavar="MAPPING.toml", help="Column mapping of a foreign log, or raw counts (docs/io.md)."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of tables.")]
Latitude = Annotated[float | None, typer.Option("--latitude", metavar="DEG", help="Of the place, for its gravity.")]
Height = Annotated[float, typer.Option("--height", metavar="M", help="Of the place above the ellipsoid.")]
Longitude = Annotated[float | None, typer.Option("--longitude", metavar="DEG", help="Of the place, for its field.")]
Year = Annotated[
    float | None, typer.Option("--year", metavar="YEAR", help="Of the log, for the field; today's if left out.")
]
Strength = Annotated[float | None, typer.Option("--field", metavar="UT", help="Strength of the field, if you know it.")]
Gravity = Annotated[float | None, typer.Option("--gravity", metavar="M/S2", help="Local gravity, if you know better.")]

_LONG_BYTES = 100e6  # a log that takes seconds to read


def read_log(log: Path, sensor: str | None, columns: Path | None) -> "Recording":
    """The recording of one sensor of a log."""
    return chosen(read_sensors(log, columns), sensor, log)


def read_sensors(log: Path, columns: Path | None) -> "dict[str, Recording]":
    """All sensors of a log; with a bar on the way if it is long. Read it once, whatever sensors of it are wanted."""
    from strapdown.errors import InputError
    from strapdown.io import read, read_mapping
    from strapdown.io.solution import is_solution

    if log.is_file() and is_solution(log):
        raise InputError(f"{log} is a solution, which navigate or orient wrote; give the log it was made from")
    mapping = None if columns is None else read_mapping(columns)
    if not log.is_file() or log.stat().st_size < _LONG_BYTES:
        return read(log, mapping)
    from strapdown.cli import screen

    with screen.progress("reading", 1.0) as done:
        return read(log, mapping, done)


def chosen(recordings: "Mapping[str, Recording]", sensor: str | None, log: Path) -> "Recording":
    """One of the sensors of a log: that of the name, or the only one."""
    from strapdown.errors import InputError

    names = ", ".join(recordings)
    if sensor is None and len(recordings) > 1:
        raise InputError(f"{log} holds the sensors {names}; choose one with --sensor")
    if sensor is not None and sensor not in recordings:
        raise InputError(f"{log} has no sensor {sensor}; it has {names}")
    return next(iter(recordings.values())) if sensor is None else recordings[sensor]


def gravity_at(
    recording: "Recording", latitude_deg: float | None, height_m: float, given: float | None
) -> tuple[float, str]:
    """Gravity (m/s2) and where it is from: the option, the place, the log's own word, or the standard."""
    from strapdown.earth import STANDARD_GRAVITY, gravity
    from strapdown.errors import InputError

    if height_m != 0.0 and latitude_deg is None:
        raise InputError("--height needs --latitude; give both, or neither")
    if given is not None:
        if latitude_deg is not None:
            raise InputError("--gravity and --latitude both say how strong gravity is; give one of them")
        if not 0.1 <= given <= 100.0:
            raise InputError(f"--gravity is {given:g}; give m/s2, about 9.8 on Earth")
        return given, "given"
    if latitude_deg is not None:
        return gravity("earth", latitude_deg, height_m), f"at latitude {latitude_deg:g} deg, height {height_m:g} m"
    said = recording.meta.get("gravity_m_s2")
    if isinstance(said, int | float) and not isinstance(said, bool) and 0.1 <= said <= 100.0:
        return float(said), "from the log"
    return STANDARD_GRAVITY, "standard; give --latitude for the local one, which differs by up to 2.7 mg"


def field_at(
    recording: "Recording",
    latitude_deg: float | None,
    longitude_deg: float | None,
    height_m: float,
    year: float | None,
    given_ut: float | None,
) -> tuple[float | None, float | None]:
    """Strength (uT) and dip (rad, down positive) of the field: as given, of the place, the log's word, or None."""
    from datetime import date

    import numpy as np

    from strapdown.earth_magnetism import decimal_year, dip, magnetic_field, strength
    from strapdown.errors import InputError

    if given_ut is not None:
        if longitude_deg is not None:
            raise InputError("--field and --longitude both say how strong the field is; give one of them")
        if year is not None:
            raise InputError("--year is for the field of a place, and --field is given; leave one of them out")
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
    said = recording.meta.get("magnetic_field_n_ut")
    if isinstance(said, list | tuple) and len(said) == 3 and all(isinstance(x, int | float) for x in said):
        b_n = np.array(said, dtype=np.float64)
        return float(strength(b_n)), float(dip(b_n))
    return None, None


def joined_log(
    log: Path, sensor: str | None, columns: Path | None, magnetometer: str | None, odometer: str | None
) -> "Recording":
    """The recording of a sensor with the magnetometer or the odometer of other sensors of the same log.

    A magnetometer's last reading stands in the rows until its next; an odometer's travel runs straight between its own.
    """
    from dataclasses import replace

    import numpy as np

    from strapdown.errors import InputError

    sensors = read_sensors(log, columns)
    recording = chosen(sensors, sensor, log)
    if magnetometer is not None:
        other = chosen(sensors, magnetometer, log)
        if other.mag_s is None:
            raise InputError(f"{log}: sensor {magnetometer} has no magnetometer; name another")
        mag_s = other.mag_s[np.maximum(np.searchsorted(other.t, recording.t, side="right") - 1, 0)]
        mag_s.flags.writeable = False
        recording = replace(recording, mag_s=mag_s)
    if odometer is not None:
        other = chosen(sensors, odometer, log)
        if other.odometer is None:
            raise InputError(f"{log}: sensor {odometer} has no odometer; name another")
        travel = np.interp(recording.t, other.t, other.odometer)
        travel.flags.writeable = False
        recording = replace(recording, odometer=travel)
    return recording


def noise_of_part(recording: "Recording", part: str | None) -> "tuple[str | None, Mapping[str, Triad] | None]":
    """(name, errors by instrument) of the part given, or of the one that the log names if the catalogue knows it.

    Of a data sheet's numbers those for the log's own rate and range are taken, where the part has them, and a
    magnetometer that stands beside the part has those of its own part.
    """
    from strapdown.errors import InputError
    from strapdown.sensors.parts.part import load_part

    meta = recording.meta
    named = part if part is not None else meta.get("part")
    triads: dict[str, Triad] = {}
    if isinstance(named, str):
        try:
            # ranges that the log tells are those of its own part
            ranges = meta.get("range") if part is None or meta.get("part") in (None, part) else None
            triads |= _triads(load_part(named), ranges, recording)
        except InputError:
            if part is not None:
                raise
    beside = meta.get("magnetometer_part")
    if isinstance(beside, str) and "magnetometer" not in triads:
        try:
            known = _triads(load_part(beside), meta.get("range"), recording)
            triads |= {name: triad for name, triad in known.items() if name == "magnetometer"}
        except InputError:
            pass
    return named if isinstance(named, str) else None, triads or None


def part_named(name: str | None) -> "Part | None":
    """The part of the catalogue, where it has one of this name."""
    from strapdown.errors import InputError
    from strapdown.sensors.parts.part import load_part

    try:
        return None if name is None else load_part(name)
    except InputError:
        return None


def _triads(part: "Part", said: object, recording: "Recording") -> "Mapping[str, Triad]":
    """As printed for the ranges that the log tells ({"accelerometer": "2 g"}) and its rate, if the part has them."""
    from strapdown.errors import InputError

    ranges: dict[str, float] = {}
    for name in part.instruments:
        text = said.get(name) if isinstance(said, Mapping) else None
        sheet: Any = getattr(part.file, name).ranges
        number, _, unit = text.partition(" ") if isinstance(text, str) else ("", "", "")
        try:
            value = float(number)
        except ValueError:
            continue
        if unit == sheet.unit and value in sheet.all():
            ranges[name] = value
    try:
        return part.nominal(ranges, rate_hz=_rate_hz(recording)).triads()
    except InputError:
        return part.nominal(ranges).triads()


def _rate_hz(recording: "Recording") -> float | None:
    """By the usual step; the log's own word where that agrees, since time stamps are rounded."""
    import numpy as np

    if len(recording) < 2:
        return None
    rate = 1.0 / float(np.median(np.diff(recording.t)))
    said = recording.meta.get("rate_hz")
    agrees = isinstance(said, int | float) and not isinstance(said, bool) and abs(said / rate - 1.0) < 0.05
    return float(said) if agrees and said is not None else float(f"{rate:.4g}")
