"""Settings and times of paths, checked once at the boundary; each error is a sentence that names the setting."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strapdown.arrays import UNIT_NORM_TOLERANCE
from strapdown.errors import InputError

Array = NDArray[np.float64]
Interval = tuple[float, float]
Triple = tuple[float, float, float]
Quadruple = tuple[float, float, float, float]

# A grid made by adding up steps misses the end of a path by roundoff; no sensor resolves a nanosecond.
END_ROUNDOFF_S = 1e-9


def set_fields(path: Any, **values: Any) -> None:
    """Put the checked settings into a frozen path, once, while it is made."""
    for name, value in values.items():
        object.__setattr__(path, name, value)


def finite(name: str, value: Any) -> float:
    """A finite number."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if isinstance(value, bool) or not np.isfinite(number):
        raise InputError(f"{name} is {value!r}; give a finite number")
    return number


def positive(name: str, value: Any) -> float:
    """A number above 0."""
    number = finite(name, value)
    if number <= 0.0:
        raise InputError(f"{name} is {number:g}; give a number above 0")
    return number


def not_negative(name: str, value: Any) -> float:
    """A number of 0 or more."""
    number = finite(name, value)
    if number < 0.0:
        raise InputError(f"{name} is {number:g}; give a number of 0 or more")
    return number


def rows(name: str, value: ArrayLike, width: int) -> Array:
    """A table of finite numbers with the given number of columns and at least one row."""
    try:
        table = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        table = np.zeros(0)
    if table.ndim != 2 or table.shape[1] != width or len(table) == 0:
        raise InputError(f"{name} is {_short(value)}; give rows of {width} numbers each")
    if not np.isfinite(table).all():
        i = int(np.argmin(np.isfinite(table).all(axis=1)))
        raise InputError(f"{name} is not finite in row {i}; give finite numbers")
    return table


def triple(name: str, value: ArrayLike) -> Triple:
    """Three finite numbers."""
    x, y, z = _row(name, value, 3)
    return x, y, z


def attitude(name: str, q: ArrayLike) -> Quadruple:
    """A unit quaternion (w, x, y, z), normalised to remove the rounding of a printed one."""
    row = np.array(_row(name, q, 4))
    norm = float(np.linalg.norm(row))
    if abs(norm - 1.0) > UNIT_NORM_TOLERANCE:
        raise InputError(f"{name} has norm {norm:.6g}; give a quaternion (w, x, y, z) of norm 1")
    w, x, y, z = _unit(row, norm)
    return w, x, y, z


def direction(name: str, value: ArrayLike) -> Triple:
    """A vector that points somewhere, scaled to length 1."""
    row = np.array(_row(name, value, 3))
    length = float(np.linalg.norm(row))
    if length == 0.0:
        raise InputError(f"{name} is (0, 0, 0); give a vector that is not zero")
    x, y, z = _unit(row, length)
    return x, y, z


def times_within(t: ArrayLike, duration_s: float) -> tuple[Array, Array]:
    """The given times, and the same clipped to the ends of the path if roundoff puts them beyond, for evaluation."""
    asked = np.atleast_1d(np.asarray(t, dtype=np.float64))
    inside = (asked >= -END_ROUNDOFF_S) & (asked <= duration_s + END_ROUNDOFF_S)
    if not inside.all():
        first = asked[~inside][0]
        raise InputError(f"time {first:.9g} s is outside the path, which lasts from 0 to {duration_s:.9g} s")
    return asked, np.clip(asked, 0.0, duration_s)


def intervals(name: str, value: Iterable[Interval]) -> tuple[Interval, ...]:
    """Times (start, end) in s, in order and without overlap; the last may end at inf."""
    try:
        found = tuple((float(start), float(end)) for start, end in value)
    except (TypeError, ValueError):
        raise InputError(f"{name} is {value!r}; give pairs of times (start, end) in s") from None
    for start, end in found:
        if not (np.isfinite(start) and start < end):
            raise InputError(f"{name} has ({start:g}, {end:g}); give a start and a later end, in s")
    for (_, end), (start, _) in pairwise(found):
        if start < end:
            raise InputError(f"{name} overlap or are not in order at {start:g} s; sort and join them")
    return found


def _unit(row: Array, length: float) -> tuple[float, ...]:
    """A vector scaled to length 1. It is unchanged if only roundoff is missing, so that a second check changes
    nothing.
    """
    return tuple(float(c) for c in (row if abs(length - 1.0) < 1e-15 else row / length))


def _row(name: str, value: ArrayLike, width: int) -> tuple[float, ...]:
    try:
        row = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        row = np.zeros(0)
    if row.shape != (width,) or not np.isfinite(row).all():
        raise InputError(f"{name} is {_short(value)}; give {width} finite numbers")
    return tuple(float(c) for c in row)


def _short(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else text[:57] + "..."
