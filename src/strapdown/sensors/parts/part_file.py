"""The part file (TOML): statements of a data sheet on a sensor, every number with unit, kind, status, source and page.

The models below are the format; docs/catalogue.md explains every key. The meaning of the numbers for a specimen is in
part.py.
"""

from collections.abc import Iterator, Mapping
from os import PathLike
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, ValidationError, model_validator

from strapdown.errors import InputError
from strapdown.io.expected import expected
from strapdown.io.plain_values import toml_values
from strapdown.regular_file import whole_bytes
from strapdown.sensors.parts.sheet_number import FAR, Figure, Number, Status, Table, Text
from strapdown.sensors.parts.units import units_of

GROUPS = ("consumer IMU", "tactical IMU", "attitude module", "accelerometer", "magnetometer")
INSTRUMENTS = ("accelerometer", "gyroscope", "magnetometer")
_BITS = (2, 64)  # of a register

# what a field may be measured in: quantities of units.py, with {} for the instrument's own; how many values; sign
_FIELDS: dict[str, tuple[tuple[str, ...], str, str]] = {
    "ranges": (("{}",), "any", "positive"),
    "default_range": (("{}",), "one", "positive"),
    "range_z": (("{}",), "any", "positive"),
    "sensitivity": (("counts per {}", "{} per count", "voltage per acceleration"), "any", "positive"),
    "bits": (("bits",), "any", "positive"),
    "noise_density": (("{} density",), "axes", "not negative"),
    "random_walk": (("velocity random walk", "angle random walk"), "axes", "not negative"),
    "noise_rms": (("{}",), "any", "not negative"),
    "in_run_bias": (("{}",), "axes", "not negative"),
    "walk": (("{} walk",), "axes", "not negative"),
    "offset": (("{}", "counts"), "axes", "any"),
    "offset_temperature": (("{} per degree", "{}"), "axes", "any"),
    "scale_tolerance": (("ratio",), "axes", "any"),
    "scale_temperature": (("ratio per degree", "ratio"), "axes", "any"),
    "nonlinearity": (("part of full scale",), "axes", "not negative"),
    "cross_axis": (("ratio", "angle", "part of full scale per field"), "one", "not negative"),
    "g_sensitivity": (("rate per acceleration",), "axes", "any"),
    "hysteresis": (("{}", "part of full scale"), "one", "not negative"),
    "bandwidth": (("frequency",), "span", "positive"),
    "rates": (("frequency",), "any", "positive"),
}
_QUANTITY = {"accelerometer": "acceleration", "gyroscope": "rate", "magnetometer": "field"}
_ONLY_FOR = {"g_sensitivity": "gyroscope", "axes": "magnetometer"}


class AxesMatrix(Table):
    """Matrix of v_imu = rows @ v_chip: from the magnetometer's own axes to those of accelerometer and gyroscope."""

    rows: tuple[tuple[Figure, Figure, Figure], tuple[Figure, Figure, Figure], tuple[Figure, Figure, Figure]]
    unit: Literal["1"]
    kind: Literal["typ"]
    status: Status
    source: Text
    page: Text | None = None
    note: Text | None = None


class Instrument(Table):
    """One sensor of a part; a field that is absent is not on the data sheet (or not known to us)."""

    chip: Text | None = None
    ranges: Number
    default_range: Number | None = None
    range_z: Number | None = None
    sensitivity: Number | None = None
    bits: Number | None = None
    noise_density: Number | None = None
    random_walk: Number | None = None
    noise_rms: Number | None = None
    in_run_bias: Number | None = None
    walk: Number | None = None
    offset: Number | None = None
    offset_temperature: Number | None = None
    scale_tolerance: Number | None = None
    scale_temperature: Number | None = None
    nonlinearity: Number | None = None
    cross_axis: Number | None = None
    g_sensitivity: Number | None = None
    hysteresis: Number | None = None
    bandwidth: Number | None = None
    rates: Number | None = None
    axes: AxesMatrix | None = None

    def numbers(self) -> Iterator[tuple[str, Number]]:
        for name in _FIELDS:
            number = getattr(self, name)
            if number is not None:
                yield name, number

    def is_estimated(self, *names: str) -> bool:
        """Whether one of these numbers is given and not verified in a data sheet."""
        return any(number.estimated for name, number in self.numbers() if name in names)

    def check(self, instrument: str) -> None:
        """Raise ValueError at the first number that contradicts its name."""
        quantity = _QUANTITY[instrument]
        for name, owner in _ONLY_FOR.items():
            if getattr(self, name) is not None and instrument != owner:
                raise ValueError(f'"{instrument}.{name}" is for a {owner} only; remove it')
        for name, number in self.numbers():
            where = f'"{instrument}.{name}"'
            quantities, count, sign = _FIELDS[name]
            valid = [u for q in quantities for u in units_of(q.format(quantity))]
            if number.unit not in valid:
                raise ValueError(f'{where} has unit "{number.unit}"; valid: {", ".join(valid)}')
            _check_values(where, number, count, sign)
            total = number.unit in units_of(quantity) if name == "offset_temperature" else number.unit in ("%", "ppm")
            if name in ("offset_temperature", "scale_temperature") and total != (number.over_c is not None):
                raise ValueError(
                    f"{where} is in {number.unit} {'without' if total else 'with'} over_c; "
                    f"a change needs over_c = [from, to], a slope is per degC"
                )
        steps = self.sensitivity
        if steps is not None and len(steps.all()) not in (1, len(self.ranges.all())):
            raise ValueError(
                f'"{instrument}.sensitivity" has {len(steps.all())} values for {len(self.ranges.all())} ranges; '
                "give one, or one for each range"
            )
        if self.bits is not None and any(n % 1.0 or not _BITS[0] <= n <= _BITS[1] for n in self.bits.all()):
            raise ValueError(
                f'"{instrument}.bits" is {list(self.bits.all())}; give whole numbers from {_BITS[0]} to {_BITS[1]}'
            )
        default = self.default_range
        if default is not None and (default.unit != self.ranges.unit or default.value not in self.ranges.all()):
            raise ValueError(f'"{instrument}.default_range" is not one of the ranges {list(self.ranges.all())}')


def _check_values(where: str, number: Number, count: str, sign: str) -> None:
    values = number.all()
    if count == "one" and number.value is None:
        raise ValueError(f"{where} takes one value, not a list")
    if count == "axes" and len(values) not in (1, 3):
        raise ValueError(f"{where} has {len(values)} values; give one, or one for each of x, y, z")
    if count == "span" and (len(values) > 2 or list(values) != sorted(values)):
        raise ValueError(f"{where} is {list(values)}; give the largest, or the smallest and the largest")
    if sign == "positive" and min(values) < 1.0 / FAR:
        raise ValueError(f"{where} is {min(values):g}; give numbers above 0")
    if sign == "not negative" and min(values) < 0.0:
        raise ValueError(f"{where} is {min(values):g}; give numbers that are not negative")


class Identity(Table):
    """Answer of the chip on the bus."""

    address: Number | None = None
    who_am_i: Number | None = None
    lookalikes: Number | None = None  # WHO_AM_I of other chips sold under this name


class Thermometer(Table):
    """Temperature = counts / sensitivity + zero."""

    sensitivity: Number
    zero: Number | None = None


class Measured(Table):
    """Result of our own analysis of a recorded log for an instrument, shown next to the data sheet."""

    noise_density: Number | None = None
    in_run_bias: Number | None = None


class PartFile(Table):
    """A whole part file."""

    format: Literal["strapdown part 1"]
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._+-]{0,60}$")]
    aliases: tuple[Text, ...] = ()
    maker: Text
    group: Literal["consumer IMU", "tactical IMU", "attitude module", "accelerometer", "magnetometer"]
    character: Text
    note: Text | None = None
    temperature_limits: Number | None = None
    identity: Identity | None = None
    thermometer: Thermometer | None = None
    accelerometer: Instrument | None = None
    gyroscope: Instrument | None = None
    magnetometer: Instrument | None = None
    measured: Mapping[Literal["accelerometer", "gyroscope", "magnetometer"], Measured] = {}

    @model_validator(mode="after")
    def _consistent(self) -> "PartFile":
        present = [name for name in INSTRUMENTS if getattr(self, name) is not None]
        if not present:
            raise ValueError(f"has no instrument; add one of [{'], ['.join(INSTRUMENTS)}]")
        for name in present:
            getattr(self, name).check(name)
        for name, found in self.measured.items():
            if getattr(self, name) is None:
                raise ValueError(f'"measured.{name}" is of an instrument that the part does not have; remove it')
            for field in Measured.model_fields:
                number, (quantities, count, sign) = getattr(found, field), _FIELDS[field]
                valid = [u for q in quantities for u in units_of(q.format(_QUANTITY[name]))]
                if number is not None and number.unit not in valid:
                    raise ValueError(f'"measured.{name}.{field}" has unit "{number.unit}"; valid: {", ".join(valid)}')
                if number is not None:
                    _check_values(f'"measured.{name}.{field}"', number, count, sign)
        limits = self.temperature_limits
        if limits is not None and (limits.unit != "degC" or len(limits.all()) != 2 or not limits.all()[0] < 25.0):
            raise ValueError('"temperature_limits" needs unit = "degC" and values = [lowest, highest], around 25 degC')
        for table, units in ((self.identity, ("I2C", "register")), (self.thermometer, ("LSB/degC", "degC"))):
            for name in () if table is None else type(table).model_fields:
                number = getattr(table, name)
                if number is not None and number.unit not in units:
                    raise ValueError(f'"{name}" has unit "{number.unit}"; valid: {", ".join(units)}')
        return self

    def numbers(self) -> Iterator[tuple[str, str, Number]]:
        """All numbers: table, name, number."""
        if self.temperature_limits is not None:
            yield "part", "temperature_limits", self.temperature_limits
        for table in ("identity", "thermometer"):
            for name in () if getattr(self, table) is None else type(getattr(self, table)).model_fields:
                number = getattr(getattr(self, table), name)
                if number is not None:
                    yield table, name, number
        for instrument in INSTRUMENTS:
            if getattr(self, instrument) is not None:
                for name, number in getattr(self, instrument).numbers():
                    yield instrument, name, number

    def data_sheet_share(self) -> float:
        """Part of all values that was verified in a data sheet, 0 to 1."""
        statuses = [status for _, _, number in self.numbers() for status in number.statuses()]
        return statuses.count("verified") / len(statuses)


def read_part_file(path: str | PathLike[str]) -> PartFile:
    """The part in a TOML file; any defect is one sentence that names the file and the field."""
    return part_file_from(toml_values(whole_bytes(path, "part file"), path), path)


def part_file_from(values: dict[str, Any], path: str | PathLike[str]) -> PartFile:
    """The part in plain values; `path` is where they came from, for messages."""
    try:
        return PartFile.model_validate(values)
    except ValidationError as error:
        raise InputError(f"{path}: {_first(error)}") from None


_TABLES: dict[str, type[BaseModel]] = {
    "identity": Identity,
    "thermometer": Thermometer,
    "axes": AxesMatrix,
    "measured": Measured,
    **dict.fromkeys(INSTRUMENTS, Instrument),
}


def _first(error: ValidationError) -> str:
    """The first error in our words: field, what is wrong, what is valid."""
    complaint = error.errors(include_url=False)[0]
    # pydantic names the alternatives of a field in brackets: literal['verified', ...]; a file has no such key
    loc = [str(p + 1) if isinstance(p, int) else p for p in complaint["loc"] if "[" not in str(p)]
    where = ".".join(p if p.isprintable() else repr(p)[1:-1] for p in loc)  # one line, whatever the key
    if complaint["type"] == "extra_forbidden":
        owner: type[BaseModel] = PartFile
        for part in loc[:-1]:
            owner = _TABLES.get(part, Number)
        return f'field "{where}" is not known; valid names: {", ".join(owner.model_fields)}'
    if complaint["type"] == "missing":
        return f'field "{where}" is missing; add it'
    if complaint["type"] == "value_error":
        message = str(complaint["ctx"]["error"])
        return f'field "{where}" {message}' if where else message if message[0] == '"' else f"the part {message}"
    shown = repr(complaint["input"])
    shown = shown if len(shown) < 60 else shown[:57] + "..."
    return f'field "{where}" is {shown}; give {expected(complaint)}'
