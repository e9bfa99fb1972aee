"""The tables of a rig for motion: robot, physics, motors, starts, program, or a path."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from strapdown.earth import gravity
from strapdown.engines.coppeliasim.connection import DEFAULT_ADDRESS, TIMEOUT_S
from strapdown.engines.course import Course
from strapdown.engines.parts import Motor, Start
from strapdown.engines.program import Command, Push
from strapdown.environment.table import DEG, Flag, Name, NotNegative, Number, Positive, Table, Turned, Vector, one_of


class RobotTable(Turned):
    file: Name | None = None  # None: the robot is in the scene of CoppeliaSim already
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
    engine: Literal["mujoco", "pybullet", "drake", "coppeliasim"] = "mujoco"
    integrator: Literal["rk4", "implicitfast", "discrete", "euler"] | None = None  # None: the engine's default

    def g(self) -> float:
        return gravity(self.gravity, self.latitude_deg, self.height_m)


class CoppeliaSimTable(Table):
    """Which CoppeliaSim, and whether its simulation is stepped or followed as it runs."""

    server: Name = DEFAULT_ADDRESS
    follow: Flag = False
    timeout_s: Annotated[float, Field(strict=True, gt=0.0, le=3600.0)] = TIMEOUT_S
    physics_engine: Literal["bullet", "ode", "vortex", "newton", "mujoco", "drake"] | None = None  # None: the scene's
    substep_s: Positive | None = None  # of the physics within a step; None: 5 ms, or the step if that is shorter

    @model_validator(mode="after")
    def _follows_only(self) -> "CoppeliaSimTable":
        if self.follow and (self.physics_engine is not None or self.substep_s is not None):
            raise ValueError("follows a simulation that runs by itself; remove physics_engine and substep_s")
        return self


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


_COURSES = ("sinusoid", "table")


class SinusoidTable(Table):
    """amplitude sin(2 pi frequency_hz t + phase_deg) + offset; amplitude and offset in the unit of `of`."""

    of: Literal["position_deg", "position_m", "speed_deg_s", "speed_m_s", "torque_nm"]
    amplitude: Number
    frequency_hz: Positive
    phase_deg: Number = 0.0
    offset: Number = 0.0


class PointsTable(Table):
    """Points through which the value goes smoothly; t_s counts from at_s and begins at 0."""

    of: Literal["position_deg", "position_m", "speed_deg_s", "speed_m_s", "torque_nm"]
    t_s: Annotated[tuple[Number, ...], Field(min_length=2, max_length=100_000)]
    values: Annotated[tuple[Number, ...], Field(min_length=2, max_length=100_000)]


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
    sinusoid: SinusoidTable | None = None
    table: PointsTable | None = None
    force_n: Vector | None = None
    push_torque_nm: Vector | None = None

    @model_validator(mode="after")
    def _complete(self) -> "ProgramTable":
        named = [key for key in ("motor", "joint", "link") if getattr(self, key) is not None]
        if len(named) != 1:
            raise ValueError(f"names {' and '.join(named) or 'nothing'}; give exactly one of motor, joint or link")
        values = [key for key in (*_VALUES, *_COURSES) if getattr(self, key) is not None]
        pushes = [key for key in ("force_n", "push_torque_nm") if getattr(self, key) is not None]
        if self.until_s is not None and self.until_s <= self.at_s:
            raise ValueError(f"ends at until_s = {self.until_s:g}, not after at_s = {self.at_s:g}")
        if self.link is not None:
            if values or not pushes or self.until_s is None or self.over_s:
                raise ValueError("a push on a link needs until_s and force_n or push_torque_nm, and nothing else")
        elif len(values) != 1 or pushes:
            raise ValueError(f"needs exactly one of {', '.join((*_VALUES, *_COURSES))} for its {named[0]}")
        elif values[0] == "sinusoid" and self.until_s is None:
            raise ValueError("a sinusoid needs until_s, where it ends")
        elif values[0] == "table" and self.until_s is not None:
            raise ValueError("a table has no until_s; it ends with its last time")
        elif values[0] in _COURSES and self.over_s:
            raise ValueError(f"a {values[0]} has no over_s; it has its own times")
        elif values[0].startswith("position") and self.until_s is not None:
            raise ValueError("a position has no until_s; it holds until the next command")
        elif not values[0].startswith("position") and self.over_s:
            raise ValueError("over_s is for positions; give several speeds or torques instead")
        return self

    def command(self) -> Command:
        name = self.motor or self.joint or ""
        if self.sinusoid is not None or self.table is not None:
            return self._course(name)
        (key,) = [k for k in _VALUES if getattr(self, k) is not None]
        kind, factor = _VALUES[key]
        return Command(name, kind, getattr(self, key) * factor, self.at_s, self.until_s, self.over_s)

    def _course(self, name: str) -> Command:
        if self.sinusoid is not None:
            s = self.sinusoid
            kind, factor = _VALUES[s.of]
            assert self.until_s is not None  # _complete has seen to it
            duration_s, phase_rad = self.until_s - self.at_s, s.phase_deg * DEG
            course = Course.sinusoid(
                s.amplitude * factor, s.frequency_hz, duration_s, phase_rad=phase_rad, offset=s.offset * factor
            )
        else:
            assert self.table is not None
            kind, factor = _VALUES[self.table.of]
            course = Course.table(self.table.t_s, [factor * x for x in self.table.values])
        return Command.along(name, kind, course, self.at_s)

    def push(self) -> Push:
        zero = (0.0, 0.0, 0.0)
        assert self.link is not None and self.until_s is not None  # _complete has seen to it
        return Push(self.link, self.force_n or zero, self.push_torque_nm or zero, self.at_s, self.until_s)


class MotionTable(BaseModel):
    """A path instead of a robot; its further keys depend on its kind (strapdown.motion.catalogue)."""

    model_config = ConfigDict(extra="allow", frozen=True)
    kind: Name
