"""The parameter file of a vehicle (vehicle.toml): its model, and its rotors, wheels or joints.

The tables below are the format; docs/vehicles.md explains every key. Names of links and joints are checked against the
model in vehicle.py.
"""

import re
from os import PathLike
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from strapdown.errors import InputError
from strapdown.io.plain_values import check_settings_version, toml_values
from strapdown.regular_file import whole_bytes

VERSION = 1
_FAR, _NEAR = 1e9, 1e-12  # of any number in SI: beyond is a typing error
_MOST = 64  # rotors, wheels or joints

Positive = Annotated[float, Field(strict=True, ge=_NEAR, le=_FAR, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(strict=True, ge=0.0, le=_FAR, allow_inf_nan=False)]
Number = Annotated[float, Field(strict=True, ge=-_FAR, le=_FAR, allow_inf_nan=False)]
Angle = Annotated[float, Field(strict=True, ge=-90.0, le=90.0, allow_inf_nan=False)]
Vector = tuple[Number, Number, Number]


def _printable(name: str) -> str:
    if not name.isprintable():
        raise ValueError(f"is {name!r}; give one line of printable text")
    return name


Name = Annotated[str, Field(strict=True, min_length=1, max_length=200), AfterValidator(_printable)]


def _direction(axis: tuple[float, float, float]) -> tuple[float, float, float]:
    length = sum(x * x for x in axis) ** 0.5
    if not length > 1e-6:
        raise ValueError("has no direction; give a vector that is not 0, for example [0.0, 0.0, 1.0]")
    x, y, z = axis
    return x / length, y / length, z / length


class Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RotorTable(Table):
    """A fixed-pitch rotor on a link that is fixed to the body."""

    name: Name
    link: Name | None = None  # None: the body
    position_m: Vector = (0.0, 0.0, 0.0)  # hub, in the frame of the link
    axis: Annotated[Vector, AfterValidator(_direction)] = (0.0, 0.0, 1.0)  # of thrust, in the frame of the link
    spin: Literal["clockwise", "counter-clockwise"]  # seen from the tip of the axis
    thrust_n_s2: Positive
    moment_m: NotNegative
    lag_up_s: Positive
    lag_down_s: Positive
    fastest_rad_s: Positive
    drag_n_s2_m: NotNegative = 0.0
    rolling_n_s2: NotNegative = 0.0
    inertia_kg_m2: NotNegative = 0.0
    radius_m: Positive


class CoaxialTable(Table):
    """Two rotors on one mast with collective and cyclic pitch, at a constant speed."""

    radius_m: Positive
    speed_rpm: Positive
    solidity: Positive
    lift_slope: Positive
    profile_drag: NotNegative
    induced_factor: Annotated[float, Field(strict=True, ge=1.0, le=3.0)]
    hub_height_m: Number
    separation_m: NotNegative
    lag_s: Positive
    collective_deg: tuple[Angle, Angle]
    cyclic_deg: Annotated[float, Field(strict=True, gt=0.0, le=90.0)]
    drag_area_m2: NotNegative

    @model_validator(mode="after")
    def _rising(self) -> "CoaxialTable":
        low, high = self.collective_deg
        if low >= high:
            raise ValueError(f"collective_deg runs from {low:g} to {high:g}; give the lower angle first")
        return self


class WheelTable(Table):
    """A driven wheel: the joint it turns on, and its drive."""

    name: Name
    joint: Name
    side: Literal["left", "right"]
    radius_m: Positive  # rolling radius
    ticks_per_turn: Annotated[int, Field(strict=True, ge=1, le=10_000_000)]
    fastest_rad_s: Positive
    servo_n_m_s: Positive
    max_torque_n_m: Positive


class JointTable(Table):
    """A joint with a position servo; deg for a hinge, m for a slide."""

    joint: Name
    name: Name | None = None
    low_deg: Number | None = None
    high_deg: Number | None = None
    low_m: Number | None = None
    high_m: Number | None = None
    time_constant_s: Positive | None = None
    max_torque_n_m: Positive | None = None
    max_force_n: Positive | None = None


class VehicleFile(Table):
    """A whole parameter file."""

    version: int
    name: Name
    title: Name
    model: Name
    body: Name
    floor: Annotated[bool, Field(strict=True)] = False  # a plane at z = 0 besides the model
    position_m: Vector | None = None  # of the root at the start; None: as in the model
    density_kg_m3: Positive = 1.225
    parasitic_drag_n_s2_m2: tuple[NotNegative, NotNegative, NotNegative] = (0.0, 0.0, 0.0)
    track_m: Positive | None = None
    friction: Positive | None = None
    rotors: Annotated[tuple[RotorTable, ...], Field(max_length=_MOST)] = ()
    coaxial: CoaxialTable | None = None
    wheels: Annotated[tuple[WheelTable, ...], Field(max_length=_MOST)] = ()
    joints: Annotated[tuple[JointTable, ...], Field(max_length=_MOST)] = ()

    @property
    def kind(self) -> str:
        return "coaxial" if self.coaxial else "rotors" if self.rotors else "wheels" if self.wheels else "joints"

    @model_validator(mode="after")
    def _consistent(self) -> "VehicleFile":
        given = [key for key in ("rotors", "coaxial", "wheels", "joints") if getattr(self, key)]
        if len(given) != 1:
            had = " and ".join(given) if given else "none of them"
            raise ValueError(f"needs exactly one of rotors, coaxial, wheels or joints; it has {had}")
        for what, tables in (("rotors", self.rotors), ("wheels", self.wheels)):
            _own_names(what, [table.name for table in tables])
        _own_names("wheels with the joint", [table.joint for table in self.wheels])
        _own_names("joints", [table.name or table.joint for table in self.joints])
        _own_names("servos on the joint", [table.joint for table in self.joints])
        if self.wheels:
            if {wheel.side for wheel in self.wheels} != {"left", "right"}:
                raise ValueError("has wheels on one side only; give a left and a right one")
            if self.track_m is None:
                raise ValueError("has wheels but no track_m; give the distance between left and right wheels")
            if self.friction is None:
                raise ValueError("has wheels but no friction; give that of tyres on the ground, for example 0.8")
        elif self.track_m is not None or self.friction is not None:
            raise ValueError("has a track_m or friction but no wheels; remove it")
        if any(self.parasitic_drag_n_s2_m2) and not self.rotors:
            raise ValueError("has a parasitic_drag_n_s2_m2, which is for vehicles with rotors; remove it")
        return self


def _own_names(what: str, names: list[str]) -> None:
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f'has two {what} "{twice[0]}"; give each its own')


def read_vehicle_file(path: str | PathLike[str]) -> VehicleFile:
    """The parameter file, checked; any defect is one sentence that names the file and the place."""
    values = toml_values(whole_bytes(path, "vehicle file"), path, "a vehicle file has tables and plain values")
    check_settings_version(values.get("version"), VERSION, path)
    defaults = values.pop("rotor_defaults", None)
    if defaults is not None:
        rotors = values.get("rotors")
        if not isinstance(defaults, dict) or "name" in defaults:
            raise InputError(f"{path}: rotor_defaults is a table of values that all rotors share, without a name")
        if not isinstance(rotors, list) or not rotors:
            raise InputError(f"{path}: there are rotor_defaults but no [[rotors]]; add the rotors")
        values["rotors"] = [{**defaults, **rotor} if isinstance(rotor, dict) else rotor for rotor in rotors]
    try:
        return VehicleFile(**values)
    except ValidationError as error:
        raise InputError(f"{path}: {_first(error, values)}") from None


def _first(error: ValidationError, values: dict[str, Any]) -> str:
    """The first error: place, what is wrong, what to do."""
    complaint = error.errors(include_url=False)[0]
    where = _place(complaint["loc"], values)
    if complaint["type"] == "extra_forbidden":
        return f"{where} is not known; remove it, or see docs/vehicles.md for the valid names"
    if complaint["type"] == "missing":
        return f"{where} is missing; add it"
    if complaint["type"] == "value_error":
        return f"{where or 'the vehicle'} {complaint['ctx']['error']}"
    shown = repr(complaint["input"])
    message = complaint["msg"][0].lower() + complaint["msg"][1:]
    message = re.sub("valid (dictionary or instance of )\\w+", "table", message).replace("tuple", "list")
    return f"{where} is {shown if len(shown) < 60 else shown[:57] + '...'}: {message}"


def _place(loc: tuple[int | str, ...], values: dict[str, Any]) -> str:
    """For example: radius_m of rotors "front"; a table without a name is counted from 1."""
    if not loc:
        return ""
    if len(loc) > 1 and isinstance(loc[1], int):
        item = values[str(loc[0])][loc[1]]
        name = item.get("name", item.get("joint")) if isinstance(item, dict) else None
        which = f'{loc[0]} "{str(name)[:60]}"' if name is not None else f"{loc[0]} {loc[1] + 1}"
        rest = [str(part) for part in loc[2:] if isinstance(part, str)]
        return f"{'.'.join(rest)} of {which}" if rest else which
    return ".".join(str(part) for part in loc if isinstance(part, str))
