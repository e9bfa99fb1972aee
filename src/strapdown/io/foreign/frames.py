"""Axes of foreign files: directions of x, y and z, as three letters of forward/back, left/right, up/down."""

from collections.abc import Callable
from itertools import permutations

import numpy as np

from strapdown.arrays import Array
from strapdown.errors import InputError
from strapdown.rotation import flu_from_frd, flu_from_rfu

OURS = "flu"  # x forward, y left, z up
_DIRECTIONS = {"f": (1, 0, 0), "b": (-1, 0, 0), "l": (0, 1, 0), "r": (0, -1, 0), "u": (0, 0, 1), "d": (0, 0, -1)}
_NAMED: dict[str, Callable[[Array], Array]] = {"frd": flu_from_frd, "rfu": flu_from_rfu}


def _matrix(frame: str) -> Array:
    """v_flu = matrix @ v_frame."""
    return np.array([_DIRECTIONS[letter] for letter in frame], dtype=np.float64).T


FRAMES = tuple(
    "".join(letters)
    for letters in permutations("fblrud", 3)
    if np.linalg.det(_matrix("".join(letters))) > 0.5  # three axes, right-handed
)


def checked_frame(frame: object) -> str:
    """One of the 24 right-handed frames along the body's axes."""
    if isinstance(frame, str) and frame in FRAMES:
        return frame
    raise InputError(
        f'frame is {frame!r} in the column mapping; give the directions of x, y and z, as "flu" (forward, left, up), '
        '"frd" or "rfu": one of f and b, one of l and r, one of u and d, right-handed'
    )


def to_flu(values: Array, frame: str) -> Array:
    """Vectors (n, 3) of a frame expressed in ours; inclinations (n, 2) too, where z points up or down."""
    if frame == OURS:
        return values
    if values.shape[1] == 2:
        if frame[2] not in "ud":
            raise InputError(f'tilt cannot be converted from frame "{frame}", whose z axis is level; leave it out')
        up = _matrix(frame)[:2, :2]
        return np.ascontiguousarray(values @ up.T)
    converted = _NAMED[frame](values) if frame in _NAMED else values @ _matrix(frame).T
    return np.ascontiguousarray(converted)
