"""Gravity and magnetic field that the meta of a log states for its place. A value of another type is refused."""

from typing import Any

import numpy as np

from strapdown.earth import STANDARD_GRAVITY
from strapdown.errors import InputError
from strapdown.types import Array, Recording

_GRAVITY, _FIELD = "gravity_m_s2", "magnetic_field_n_ut"
_USABLE_M_S2 = (0.1, 100.0)


def stated_gravity(recording: Recording) -> float | None:
    """In m/s2. None where the log states no gravity, or one so weak that no accelerometer shows the vertical."""
    said = recording.meta.get(_GRAVITY)
    if said is None:
        return None
    if not _is_number(said):
        raise InputError(
            f"the log states {_GRAVITY} = {said!r}, which is no number; give m/s2 or delete it from its meta"
        )
    return float(said) if _usable(said) else None


def gravity_to_compare(recording: Recording, given: float | None) -> float:
    """Given gravity (m/s2), else that of the log, else the standard."""
    if given is not None:
        return given if _usable(given) else STANDARD_GRAVITY
    return stated_gravity(recording) or STANDARD_GRAVITY


def stated_field(recording: Recording) -> Array | None:
    """The field (uT, frame n) of the place; None where the log states none, or 0."""
    said = recording.meta.get(_FIELD)
    if said is None:
        return None
    if not isinstance(said, list | tuple) or len(said) != 3 or not all(_is_number(x) for x in said):
        raise InputError(
            f"the log states {_FIELD} = {said!r}, which are not three numbers; give the field in uT (east, north, up) "
            "or delete it from its meta"
        )
    b_n = np.array(said, dtype=np.float64)
    return b_n if b_n.any() else None


def _is_number(value: Any) -> bool:
    """Whether a value is a number within the range of a double."""
    return isinstance(value, int | float) and not isinstance(value, bool) and -1e300 < value < 1e300


def _usable(gravity: float) -> bool:
    return _USABLE_M_S2[0] <= gravity <= _USABLE_M_S2[1]
