"""The tables of a rig that move things: robot, physics, motors, starts, program, or a path."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from strapdown.earth import gravity
from strapdown.engines.parts import Motor, Start
from strapdown.engines.program import Command, Push
from strapdown.environment.table import DEG, Flag, Name, NotNegative, Number, Positive, Table, Turned, Vector, one_of


class RobotTable(Turned):
    file: Name
    drive: Literal["motors", "kinematic"] = "motors"
    floating: Flag = False
    floor: Flag = False
    position_m: Vector | None = None
    inertia_from_collision: Flag = False
    packages: dict[str, str] = Field(default_factory=dict)


class PhysicsTable(Table):
    gravity: Literal["earth", "mars", "moon"] | NotNegative = "earth"
    latitude_deg: Annotated[float, Field(strict=True, ge=-90.0, le=90.0)] = 45.0
    height_m: Number = 0.0
    step_s: Positive = 1e-3
    integrator: Literal["rk4", "implicitfast", "discrete", "euler"] = "rk4"

    def g(self) -> float:
        return gravity(self.gravity, self.latitude_deg, self.height_m)


class MotorTable(Table):
    joint: Name
    name: Name | None = None
    kind: Literal["speed", "position", "torque"]
    max_torque_nm: Positive | None = None
    max_force_n: Positive | None = None
    time_constant_s: Positive | None = None
    gravity_compensation: Flag = True

    @model_validator(mode="after")
    def _one_limit(self) -> "MotorTable":
        return one_of(self, "max_torque_nm", "max_force_n")

    def motor(self) -> Motor:
        limit = self.max_torque_nm if self.max_torque_nm is not None else self.max_force_n
        return Motor(
            self.name or self.joint, self.joint, self.kind, limit, self.time_constant_s, self.gravity_compensation
        )


class StartTable(Table):
    joint: Name
    position_deg: Number | None = None
    position_m: Number | None = None
    speed_deg_s: Number | None = None
    speed_m_s: Number | None = None

    @model_validator(mode="after")
    def _one_unit(self) -> "StartTable":
        return one_of(one_of(self, "position_deg", "position_m"), "speed_deg_s", "speed_m_s")

    def start(self) -> Start:
        position = self.position_deg * DEG if self.position_deg is not None else self.position_m or 0.0
        speed = self.speed_deg_s * DEG if self.speed_deg_s is not None else self.speed_m_s or 0.0
        return Start(self.joint, position, speed)


_VALUES = {
    "speed_deg_s": ("speed", DEG),
    "speed_m_s": ("speed", 1.0),
    "position_deg": ("position", DEG),
    "position_m": ("position", 1.0),
    "torque_nm": ("torque", 1.0),
}


class ProgramTable(Table):
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
