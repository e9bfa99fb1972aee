"""Common parts of the blocks: limits and texts of parameters, and operations on numbers and arrays."""

from typing import Annotated, Any

import numpy as np
from pydantic import Field

from strapdown.environment.diagram.block import parameter

FAR = 1e9  # largest number a parameter may have, in any unit
MOST_PORTS = 16
Numbers = tuple[Annotated[float, Field(ge=-FAR, le=FAR)], ...]
Positives = tuple[Annotated[float, Field(ge=0.0, le=FAR)], ...]


def number(default: float, title: str, description: str, unit: str = "signal") -> Any:
    """Any number."""
    return parameter(default, title=title, description=description, unit=unit, limits=(-FAR, FAR))


def not_negative(default: float, title: str, description: str, unit: str = "signal") -> Any:
    """A number of 0 or more."""
    return parameter(default, title=title, description=description, unit=unit, limits=(0.0, FAR))


def unit_out(description: str) -> Any:
    """The unit of an output; empty by default."""
    return parameter("", title="Unit of the output", description=description, max_length=40)


def count(default: int, title: str, description: str) -> Any:
    """A number of ports."""
    return parameter(default, title=title, description=description, unit="1", limits=(2, MOST_PORTS))


def clipped(x: Any, lower: float, upper: float) -> Any:
    if isinstance(x, np.ndarray):
        return np.minimum(np.maximum(x, lower), upper)
    return lower if x < lower else upper if x > upper else x


def chosen(condition: Any, if_true: Any, if_false: Any) -> Any:
    """Element by element."""
    if isinstance(condition, np.ndarray):
        return np.where(condition, if_true, if_false)
    return if_true if condition else if_false


def three(default: tuple[float, float, float], title: str, description: str, unit: str) -> Any:
    """Three numbers of 0 or more, about or along body x, y and z; a field of type Positives."""
    return parameter(default, title=title, description=description, unit=unit, min_length=3, max_length=3, strict=False)


def between(default: float, low: float, high: float, title: str, description: str, unit: str) -> Any:
    """A number between two limits."""
    return parameter(default, title=title, description=description, unit=unit, limits=(low, high))


def plain_array(values: Any) -> Any:
    """Numbers of the parameters as an array for a kernel. Not locked: numba takes twice as long to find the type of a
    locked array. Nobody writes to it."""
    return np.array(values, dtype=np.float64)
