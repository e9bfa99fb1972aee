"""Differences between specimens of a part: the tolerances of its data sheet, drawn or set to zero."""

from collections.abc import Callable

import numpy as np

from strapdown.sensors.parts.sheet_number import Number
from strapdown.sensors.streams import stream
from strapdown.sensors.triad import Array

_LIMIT = 3.0  # sigmas: where a drawn tolerance is cut, and where a printed limit stands

# a tolerance: its field, its number, the shape wanted -> values in the unit printed
Spread = Callable[[str, Number, tuple[int, ...]], Array]


def no_spread(field: str, number: Number, shape: tuple[int, ...]) -> Array:
    """The nominal part: only terms with a known sign, and its nonlinearity."""
    return np.broadcast_to(number.all(), shape) if number.signed or field == "nonlinearity" else np.zeros(shape)


def drawn_spread(seed: int, part: str, instrument: str) -> Spread:
    """Draws a tolerance from its own stream: no other part, instrument or field changes it."""
    from scipy.special import ndtr, ndtri

    low = float(ndtr(-_LIMIT))

    def draw(field: str, number: Number, shape: tuple[int, ...]) -> Array:
        if number.signed:
            return np.broadcast_to(np.array(number.all()), shape)
        deviation = np.abs(number.all()) / (1.0 if number.kind == "typ" else _LIMIT)
        chance = stream(seed, "specimen", part, instrument, field).uniform(low, 1.0 - low, shape)
        return deviation * np.clip(ndtri(chance), -_LIMIT, _LIMIT)  # clip: roundoff of ndtri at the ends only

    return draw
