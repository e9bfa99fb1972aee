"""Common part of the tables of a rig file: strict numbers with limits, attitudes, refusal of unknown keys."""

from typing import Annotated, TypeVar

import numpy as np
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from strapdown.rotation import q_from_euler

DEG = np.pi / 180.0

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


def _one_line(name: str) -> str:
    if not name.isprintable():
        raise ValueError(f"is {name!r}; give one line of printable text")
    return name


Name = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_one_line)]


def _unit_quaternion(q: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
    if abs(np.linalg.norm(q) - 1.0) > 1e-6:
        raise ValueError(f"has norm {np.linalg.norm(q):.6g}, expected 1")
    return q


Quaternion = Annotated[tuple[Number, Number, Number, Number], AfterValidator(_unit_quaternion)]


class Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


_T = TypeVar("_T", bound=Table)


def one_of(table: _T, first: str, second: str) -> _T:
    if getattr(table, first) is not None and getattr(table, second) is not None:
        raise ValueError(f"has both {first} and {second}; keep one")
    return table


class Turned(Table):
    """An attitude: ZYX Euler angles (roll, pitch, yaw) in deg, or a quaternion (w, x, y, z)."""

    rotation_deg: Vector | None = None
    quaternion_wxyz: Quaternion | None = None

    @model_validator(mode="after")
    def _one(self) -> "Turned":
        return one_of(self, "rotation_deg", "quaternion_wxyz")

    def q(self) -> tuple[float, float, float, float] | None:
        if self.quaternion_wxyz is not None:
            return self.quaternion_wxyz
        if self.rotation_deg is None:
            return None
        w, x, y, z = q_from_euler(*(np.array(self.rotation_deg) * DEG)).tolist()
        return w, x, y, z
