"""Settings that all orientation filters share: checked once, then packed as numbers for the kernels."""

import hashlib
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from strapdown.checks import finite, not_negative, positive, set_fields
from strapdown.errors import InputError
from strapdown.kernels.orientation.state import DECLINATION, KEY, LONGEST, USE_MAG
from strapdown.types import Array


def check(filt: Any, *, above_0: tuple[str, ...] = (), from_0: tuple[str, ...] = ()) -> None:
    """Refuse settings that are no numbers or out of bounds; the others become plain floats."""
    if not isinstance(filt.magnetometer, bool | None):
        raise InputError(
            f"magnetometer is {filt.magnetometer!r}; give True (9 axes), False (6 axes) or None (as the log has it)"
        )
    set_fields(
        filt,
        declination_rad=finite("declination_rad", filt.declination_rad),
        longest_step_s=positive("longest_step_s", filt.longest_step_s),
        **{name: positive(name, getattr(filt, name)) for name in above_0},
        **{name: not_negative(name, getattr(filt, name)) for name in from_0},
    )


def packed(filt: Any, size: int, own: Mapping[int, float]) -> Array:
    """The settings of a filter as its kernel lays them out: the head that all filters share, then its own by index."""
    numbers = np.zeros(size)
    numbers[USE_MAG] = filt.magnetometer is not False
    numbers[DECLINATION] = math.remainder(filt.declination_rad, 2.0 * math.pi)
    numbers[LONGEST] = filt.longest_step_s
    for index, value in own.items():
        numbers[index] = value
    # of the values alone, so that a state is the same in every process
    numbers[KEY] = 1 + int.from_bytes(hashlib.blake2b(numbers.tobytes(), digest_size=6).digest())
    numbers.flags.writeable = False
    return numbers
