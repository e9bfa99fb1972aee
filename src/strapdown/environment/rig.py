"""The rig file (TOML): which robot or path moves, in what gravity, with which motors, sensors and program.

Keys carry their units. The models below are the format; what they accept is turned into the plain types of the
engines and sensors, once, here. docs/simulate.md explains every key.
"""

import re
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args

import numpy as np
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from strapdown.earth import gravity
from strapdown.engines.parts import Motor, Mount, ProofMass, Start
from strapdown.engines.program import Command, Program, Push
from strapdown.errors import InputError
from strapdown.rotation import q_from_euler
from strapdown.sensors.imu import ALLOWED_ACC, ALLOWED_GYR, Imu

_DEG = np.pi / 180.0

_FAR = 1e12  # in any unit: more is a typing error, and its square still a number


def _not_tiny(x: float) -> float:
    if x < 1.0 / _FAR:
        raise ValueError(f"is {x:g}, too close to 0; give {1.0 / _FAR:g} or more")
    return x


# strict: "10" and true are not numbers, 1 is not a yes
Positive = Annotated[float, Field(strict=True, gt=0.0, le=_FAR, allow_inf_nan=False), AfterValidator(_not_tiny)]
NotNegative = Annotated[float, Field(strict=True, ge=0.0, le=_FAR, allow_inf_nan=False)]
Number = Annotated[float, Field(strict=True, ge=-_FAR, le=_FAR, allow_inf_nan=False)]
Flag = Annotated[bool, Field(strict=True)]
Vector = tuple[Number, Number, Number]
Name = Annotated[str, Field(min_length=1, max_length=100)]


def _unit_quaternion(q: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
    if abs(np.linalg.norm(q) - 1.0) > 1e-6:
        raise ValueError(f"has norm {np.linalg.norm(q):.6g}, expected 1")
    return q


Quaternion = Annotated[tuple[Number, Number, Number, Number], AfterValidator(_unit_quaternion)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


_T = TypeVar("_T", bound=_Table)


def _one_of(table: _T, first: str, second: str) -> _T:
    if getattr(table, first) is not None and getattr(table, second) is not None:
        raise ValueError(f"has both {first} and {second}; keep one")
    return table


class _Turned(_Table):
    """An attitude: ZYX Euler angles (roll, pitch, yaw) in deg, or a quaternion (w, x, y, z)."""

    rotation_deg: Vector | None = None
    quaternion_wxyz: Quaternion | None = None

    @model_validator(mode="after")
    def _one(self) -> "_Turned":
        return _one_of(self, "rotation_deg", "quaternion_wxyz")

    def q(self) -> tuple[float, float, float, float] | None:
        if self.quaternion_wxyz is not None:
            return self.quaternion_wxyz
        if self.rotation_deg is None:
            return None
        w, x, y, z = q_from_euler(*(np.array(self.rotation_deg) * _DEG)).tolist()
        return w, x, y, z


class RobotTable(_Turned):
    file: Name
    drive: Literal["motors", "kinematic"] = "motors"
    floating: Flag = False
    floor: Flag = False
    position_m: Vector | None = None
    inertia_from_collision: Flag = False
    packages: dict[str, str] = Field(default_factory=dict)


class PhysicsTable(_Table):
    gravity: Literal["earth", "mars", "moon"] | NotNegative = "earth"
    latitude_deg: Annotated[float, Field(strict=True, ge=-90.0, le=90.0)] = 45.0
    height_m: Number = 0.0
    step_s: Positive = 1e-3
    integrator: Literal["rk4", "implicitfast", "discrete", "euler"] = "rk4"

    def g(self) -> float:
        return gravity(self.gravity, self.latitude_deg, self.height_m)


class MotorTable(_Table):
    joint: Name
    name: Name | None = None
    kind: Literal["speed", "position", "torque"]
    max_torque_nm: Positive | None = None
    max_force_n: Positive | None = None
    time_constant_s: Positive | None = None
    gravity_compensation: Flag = True

    @model_validator(mode="after")
    def _one_limit(self) -> "MotorTable":
        return _one_of(self, "max_torque_nm", "max_force_n")

    def motor(self) -> Motor:
        limit = self.max_torque_nm if self.max_torque_nm is not None else self.max_force_n
        return Motor(
            self.name or self.joint, self.joint, self.kind, limit, self.time_constant_s, self.gravity_compensation
        )


class StartTable(_Table):
    joint: Name
    position_deg: Number | None = None
    position_m: Number | None = None
    speed_deg_s: Number | None = None
    speed_m_s: Number | None = None

    @model_validator(mode="after")
    def _one_unit(self) -> "StartTable":
        return _one_of(_one_of(self, "position_deg", "position_m"), "speed_deg_s", "speed_m_s")

    def start(self) -> Start:
        position = self.position_deg * _DEG if self.position_deg is not None else self.position_m or 0.0
        speed = self.speed_deg_s * _DEG if self.speed_deg_s is not None else self.speed_m_s or 0.0
        return Start(self.joint, position, speed)


class SensorTable(_Turned):
    name: Name
    link: Name
    method: str | list[str] = "exact"
    rate_hz: Positive = 100.0
    position_m: Vector = (0.0, 0.0, 0.0)
    increments: Flag = False
    allowed_error_m_s2: Positive = ALLOWED_ACC
    allowed_error_rad_s: Positive = ALLOWED_GYR
    proof_mass_kg: Positive = 1e-3
    joint_frequency_hz: Positive | None = None
    damping_ratio: NotNegative = 0.7

    def methods(self) -> tuple[str, ...]:
        return (self.method,) if isinstance(self.method, str) else tuple(self.method)

    def imu(self) -> Imu:
        return Imu(
            self.name,
            self.rate_hz,
            self.methods(),
            self.increments,
            self.allowed_error_m_s2,
            self.allowed_error_rad_s,
        )

    def mount(self) -> Mount:
        proof = None
        if "proof-mass" in self.methods():
            proof = ProofMass(self.proof_mass_kg, self.joint_frequency_hz, self.damping_ratio)
        return Mount(self.name, self.link, self.position_m, self.q() or (1.0, 0.0, 0.0, 0.0), proof)


_VALUES = {
    "speed_deg_s": ("speed", _DEG),
    "speed_m_s": ("speed", 1.0),
    "position_deg": ("position", _DEG),
    "position_m": ("position", 1.0),
    "torque_nm": ("torque", 1.0),
}


class ProgramTable(_Table):
    """One line of the program: a motor (or, driven, a joint) follows a value, or a link is pushed."""

    at_s: NotNegative
    until_s: NotNegative | None = None
    over_s: NotNegative = 0.0
    motor: Name | None = None
    joint: Name | None = None
    link: Name | None = None
    speed_deg_s: Number | None = None
    speed_m_s: Number | None = None
    position_deg: Number | None = None
    position_m: Number | None = None
    torque_nm: Number | None = None
    force_n: Vector | None = None
    push_torque_nm: Vector | None = None

    @model_validator(mode="after")
    def _complete(self) -> "ProgramTable":
        named = [key for key in ("motor", "joint", "link") if getattr(self, key) is not None]
        if len(named) != 1:
            raise ValueError(f"names {' and '.join(named) or 'nothing'}; give exactly one of motor, joint or link")
        values = [key for key in _VALUES if getattr(self, key) is not None]
        pushes = [key for key in ("force_n", "push_torque_nm") if getattr(self, key) is not None]
        if self.until_s is not None and self.until_s <= self.at_s:
            raise ValueError(f"ends at until_s = {self.until_s:g}, not after at_s = {self.at_s:g}")
        if self.link is not None:
            if values or not pushes or self.until_s is None or self.over_s:
                raise ValueError("a push on a link needs until_s and force_n or push_torque_nm, and nothing else")
        elif len(values) != 1 or pushes:
            raise ValueError(f"needs exactly one of {', '.join(_VALUES)} for its {named[0]}")
        elif values[0].startswith("position") and self.until_s is not None:
            raise ValueError("a position has no until_s; it holds until the next command")
        elif not values[0].startswith("position") and self.over_s:
            raise ValueError("over_s is for positions; give several speeds or torques instead")
        return self

    def command(self) -> Command:
        (key,) = [k for k in _VALUES if getattr(self, k) is not None]
        kind, factor = _VALUES[key]
        name = self.motor or self.joint or ""
        return Command(name, kind, getattr(self, key) * factor, self.at_s, self.until_s, self.over_s)

    def push(self) -> Push:
        zero = (0.0, 0.0, 0.0)
        assert self.link is not None and self.until_s is not None  # _complete has seen to it
        return Push(self.link, self.force_n or zero, self.push_torque_nm or zero, self.at_s, self.until_s)


class MotionTable(BaseModel):
    """A path instead of a robot; its further keys depend on its kind (strapdown.motion.catalogue)."""

    model_config = ConfigDict(extra="allow", frozen=True)
    kind: Name


class Rig(_Table):
    """A whole rig file."""

    duration_s: Positive | None = None  # of a motion: None is all of it
    robot: RobotTable | None = None
    motion: MotionTable | None = None
    physics: PhysicsTable = PhysicsTable()
    motor: tuple[MotorTable, ...] = ()
    start: tuple[StartTable, ...] = ()
    sensor: Annotated[tuple[SensorTable, ...], Field(min_length=1)]
    program: tuple[ProgramTable, ...] = ()
    folder: Path = Field(default=Path(), exclude=True)  # of the rig file: relative paths start here

    @model_validator(mode="after")
    def _consistent(self) -> "Rig":
        if (self.robot is None) == (self.motion is None):
            raise ValueError("needs either a [robot] or a [motion], and not both")
        if self.robot is not None and self.duration_s is None:
            raise ValueError("has no duration_s; say how long the robot moves")
        names = [sensor.name for sensor in self.sensor]
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise ValueError(f'has two sensors called "{twice[0]}"; give each its own name')
        if self.motion is not None and (self.motor or self.start or self.program):
            raise ValueError("has a [motion], which takes no motor, start or program; remove them or use a [robot]")
        if self.robot is not None:
            joints = [item.joint for item in self.start]
            again = [joint for joint in joints if joints.count(joint) > 1]
            if again:
                raise ValueError(f'has two starts of joint "{again[0]}"; keep one')
            driven = self.robot.drive == "kinematic"
            if driven and self.motor:
                raise ValueError('is driven kinematically, which takes no motors; remove them or set drive = "motors"')
            for i, line in enumerate(self.program):
                if driven and line.motor is not None:
                    raise ValueError(f'program {i + 1} names motor "{line.motor}"; a kinematic drive names joints')
                if not driven and line.joint is not None:
                    raise ValueError(f'program {i + 1} names joint "{line.joint}"; name the motor on it instead')
        return self

    def commands(self) -> Program:
        return Program(
            tuple(line.command() for line in self.program if line.link is None),
            tuple(line.push() for line in self.program if line.link is not None),
        )


def read_rig(path: Path) -> Rig:
    """The rig in a TOML file; any defect is one sentence that names the file and the line or field."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check the name of the rig file") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: not a text file in UTF-8; a rig is a TOML file") from None
    try:
        values = tomllib.loads(text)
    except ValueError as error:  # tomllib's own, and numbers of thousands of digits
        raise InputError(f"{path}: not valid TOML: {error}; correct it there") from None
    except RecursionError:
        raise InputError(f"{path}: not valid TOML: nested too deeply; a rig has tables and plain values") from None
    return rig_from(values, path)


def rig_from(values: dict[str, Any], path: Path) -> Rig:
    """The rig in plain values; `path` is where they came from, for messages and relative paths."""
    if "folder" in values:
        raise InputError(f'{path}: field "folder" is not known; remove it')
    try:
        return Rig(**values, folder=path.parent)
    except ValidationError as error:
        raise InputError(f"{path}: {_first(error)}") from None


def _first(error: ValidationError) -> str:
    """The first complaint in our words: field, what is wrong, what is valid."""
    complaints = error.errors(include_url=False)
    complaint = complaints[0]
    where = _field(complaint["loc"])
    if complaint["type"] == "extra_forbidden":
        valid = ", ".join(name for name in _table_at(complaint["loc"][:-1]).model_fields if name != "folder")
        return f'field "{where}" is not known; valid names: {valid}'
    if complaint["type"] == "missing":
        return f'field "{where}" is missing; add it'
    if complaint["type"] == "value_error":
        message = str(complaint["ctx"]["error"])
        return f'"{where}" {message}' if where else f"the rig {message}"
    shown = repr(complaint["input"])
    shown = shown if len(shown) < 60 else shown[:57] + "..."
    # a field that may be one of several things has a complaint for each
    messages = dict.fromkeys(c["msg"][0].lower() + c["msg"][1:] for c in complaints if _field(c["loc"]) == where)
    message = re.sub("valid (dictionary or instance of )\\w+", "table", " or ".join(messages)).replace("tuple", "list")
    return f'field "{where}" is {shown}: {message}'


def _field(loc: tuple[int | str, ...]) -> str:
    """The place as a user counts, without pydantic's names for the kinds of a field."""
    parts = [p for p in loc if isinstance(p, int) or not re.fullmatch(r".*[\[(].*|str|float|constrained-.*", p)]
    return ".".join(str(p + 1) if isinstance(p, int) else p for p in parts)


def _table_at(loc: tuple[int | str, ...]) -> type[BaseModel]:
    """The model of the table at a place of the rig."""
    table: type[BaseModel] = Rig
    for part in loc:
        if isinstance(part, str):
            kinds = [table.model_fields[part].annotation]
            while not (isinstance(kinds[0], type) and issubclass(kinds[0], BaseModel)):
                kinds = [*get_args(kinds[0]), *kinds[1:]]
            table = kinds[0]
    return table
