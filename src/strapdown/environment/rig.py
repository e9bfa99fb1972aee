"""The rig file (TOML): which robot or path moves, in what gravity, with which motors, sensors and program.

Keys carry their units. The models of the tables are the format. The values of the tables are converted once, there, to
the plain types of the engines and sensors. docs/simulate.md explains every key.
"""

from os import PathLike
from pathlib import Path
from typing import Any

from pydantic import Field, PrivateAttr, ValidationError, model_validator

from strapdown.engines.catalogue import COPPELIASIM, MUJOCO
from strapdown.engines.program import Command, Program
from strapdown.environment.complaint import first_complaint
from strapdown.environment.rig_robot import (
    CoppeliaSimTable,
    MotionTable,
    MotorTable,
    PhysicsTable,
    ProgramTable,
    RobotTable,
    StartTable,
)
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
from strapdown.io.plain_values import toml_values
from strapdown.regular_file import whole_bytes


class Rig(Table):
    """A whole rig file."""

    duration_s: Positive | None = None  # of a motion: None is all of it
    robot: RobotTable | None = None
    motion: MotionTable | None = None
    physics: PhysicsTable = PhysicsTable()
    coppeliasim: CoppeliaSimTable = CoppeliaSimTable()
    motor: tuple[MotorTable, ...] = ()
    start: tuple[StartTable, ...] = ()
    sensor: tuple[SensorTable, ...] = ()
    inclinometer: tuple[InclinometerTable, ...] = ()
    odometer: tuple[OdometerTable, ...] = ()
    magnetism: MagnetismTable = MagnetismTable()
    seed: Seed = 0
    program: tuple[ProgramTable, ...] = ()
    folder: Path = Field(default=Path(), exclude=True)  # of the rig file: relative paths start here
    _more_commands: tuple[Command, ...] = PrivateAttr(())  # of a program in Python: no file can state them

    @model_validator(mode="after")
    def _consistent(self) -> "Rig":
        if (self.robot is None) == (self.motion is None):
            raise ValueError("needs either a [robot] or a [motion], and not both")
        if self.robot is not None and self.duration_s is None:
            raise ValueError("has no duration_s; say how long the robot moves")
        self._check_engine()
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

    def _check_engine(self) -> None:
        engine = self.physics.engine
        if self.motion is not None and engine != MUJOCO:
            raise ValueError(f'has a [motion], which needs no engine; remove engine = "{engine}"')
        if "coppeliasim" in self.model_fields_set and "engine" not in self.physics.model_fields_set:
            raise ValueError('has a [coppeliasim] table; set engine = "coppeliasim" in [physics], or remove the table')
        if self.robot is None or engine == MUJOCO:
            if self.robot is not None and self.robot.file is None:
                raise ValueError("has a [robot] without a file; name a URDF or MJCF file")
            return
        if self.robot.drive == "kinematic":
            raise ValueError(
                f'is driven kinematically, which needs no physics; set drive = "motors" or remove engine = "{engine}"'
            )
        if engine != COPPELIASIM and self.robot.file is None:
            raise ValueError("has a [robot] without a file; name a URDF or MJCF file")
        set_here = {"step_s", "gravity"} & self.physics.model_fields_set
        if self.coppeliasim.follow and (self.robot.file or self.motor or self.start or self.program or set_here):
            raise ValueError(
                "follows a simulation that runs by itself; remove file, step_s, gravity, motors, starts and program"
            )
        if self.robot.file is None and self.start:
            raise ValueError("has starts of joints, which belong to a robot file; set them in the scene")

    def mounted(self) -> tuple[Mounted, ...]:
        """All sensors on links, in the order of the recordings."""
        return (*self.sensor, *self.inclinometer, *self.odometer)

    def commands(self) -> Program:
        commands = tuple(line.command() for line in self.program if line.link is None)
        return Program(
            commands + self._more_commands,
            tuple(line.push() for line in self.program if line.link is not None),
        )

    def with_commands(self, commands: tuple[Command, ...]) -> "Rig":
        """The same rig with further commands of its motors or joints."""
        if self.robot is None:
            raise InputError("the rig has a motion and no robot; commands need motors or joints")
        rig = self.model_copy()
        rig._more_commands = self._more_commands + commands
        return rig


def read_rig(path: str | PathLike[str], engine: str | None = None) -> Rig:
    """The rig in a TOML file; any defect is one sentence that names the file and the line or field.

    engine: instead of the one that the file names.
    """
    values = toml_values(whole_bytes(path, "rig file"), path, "a rig has tables and plain values")
    physics = values.get("physics", {})
    if engine is not None and isinstance(physics, dict):
        values["physics"] = {**physics, "engine": engine}
    return rig_from(values, path)


def rig_from(values: dict[str, Any], path: str | PathLike[str]) -> Rig:
    """The rig in plain values; `path` is where they came from, for messages and relative paths."""
    if "folder" in values:
        raise InputError(f'{path}: field "folder" is not known; remove it')
    try:
        return Rig(**values, folder=Path(path).parent)
    except ValidationError as error:
        raise InputError(f"{path}: {first_complaint(error, Rig, 'rig')}") from None
