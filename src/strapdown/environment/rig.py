"""The rig file (TOML): which robot or path moves, in what gravity, with which motors, sensors and program.

Keys carry their units. The models of the tables are the format; what they accept is turned into the plain types of
the engines and sensors, once, there. docs/simulate.md explains every key.
"""

import re
from os import PathLike
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, Field, ValidationError, model_validator

from strapdown.engines.program import Program
from strapdown.environment.rig_robot import MotionTable, MotorTable, PhysicsTable, ProgramTable, RobotTable, StartTable
from strapdown.environment.rig_sensors import (
    InclinometerTable,
    MagnetismTable,
    Mounted,
    OdometerTable,
    Seed,
    SensorTable,
)
from strapdown.environment.table import Positive, Table
from strapdown.errors import InputError
from strapdown.io.expected import expected
from strapdown.io.plain_values import toml_values
from strapdown.regular_file import whole_bytes


class Rig(Table):
    """A whole rig file."""

    duration_s: Positive | None = None  # of a motion: None is all of it
    robot: RobotTable | None = None
    motion: MotionTable | None = None
    physics: PhysicsTable = PhysicsTable()
    motor: tuple[MotorTable, ...] = ()
    start: tuple[StartTable, ...] = ()
    sensor: tuple[SensorTable, ...] = ()
    inclinometer: tuple[InclinometerTable, ...] = ()
    odometer: tuple[OdometerTable, ...] = ()
    magnetism: MagnetismTable = MagnetismTable()
    seed: Seed = 0
    program: tuple[ProgramTable, ...] = ()
    folder: Path = Field(default=Path(), exclude=True)  # of the rig file: relative paths start here

    @model_validator(mode="after")
    def _consistent(self) -> "Rig":
        if (self.robot is None) == (self.motion is None):
            raise ValueError("needs either a [robot] or a [motion], and not both")
        if self.robot is not None and self.duration_s is None:
            raise ValueError("has no duration_s; say how long the robot moves")
        names = [mounted.name for mounted in self.mounted()]
        if not names:
            raise ValueError("has no [[sensor]], [[inclinometer]] or [[odometer]]; add one")
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

    def mounted(self) -> tuple[Mounted, ...]:
        """All that sits on links, in the order of the recordings."""
        return (*self.sensor, *self.inclinometer, *self.odometer)

    def commands(self) -> Program:
        return Program(
            tuple(line.command() for line in self.program if line.link is None),
            tuple(line.push() for line in self.program if line.link is not None),
        )


def read_rig(path: str | PathLike[str]) -> Rig:
    """The rig in a TOML file; any defect is one sentence that names the file and the line or field."""
    return rig_from(toml_values(whole_bytes(path, "rig file"), path, "a rig has tables and plain values"), path)


def rig_from(values: dict[str, Any], path: str | PathLike[str]) -> Rig:
    """The rig in plain values; `path` is where they came from, for messages and relative paths."""
    if "folder" in values:
        raise InputError(f'{path}: field "folder" is not known; remove it')
    try:
        return Rig(**values, folder=Path(path).parent)
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
    wanted = dict.fromkeys(expected(c) for c in complaints if _field(c["loc"]) == where)
    return f'field "{where}" is {shown}; give {" or ".join(wanted)}'


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
