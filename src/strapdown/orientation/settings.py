"""What simple filters have in common among their settings, checked and laid out for their kernels."""

from typing import Any, Protocol

from strapdown.checks import finite, not_negative, positive, settle
from strapdown.errors import InputError


class Shared(Protocol):
    """Settings that every simple filter has."""

    @property
    def magnetometer(self) -> bool: ...
    @property
    def declination_rad(self) -> float: ...
    @property
    def longest_step_s(self) -> float: ...


def check(filt: Any, *, above_0: tuple[str, ...] = (), from_0: tuple[str, ...] = ()) -> None:
    """Refuse settings that are no numbers or out of bounds; the others become plain floats."""
    if not isinstance(filt.magnetometer, bool):
        raise InputError(f"magnetometer is {filt.magnetometer!r}; give True (9 axes) or False (6 axes)")
    settle(
        filt,
        declination_rad=finite("declination_rad", filt.declination_rad),
        longest_step_s=positive("longest_step_s", filt.longest_step_s),
        **{name: positive(name, getattr(filt, name)) for name in above_0},
        **{name: not_negative(name, getattr(filt, name)) for name in from_0},
    )


def own_numbers(filt: Shared, *further: float) -> tuple[float, ...]:
    """A filter's own part of its state, as kernels/orientation_start.py lays it out, then its further numbers."""
    return (
        *(0.0, 0.0, 0.0, 0.0),  # nothing seen, no rate
        float(filt.magnetometer),
        filt.declination_rad,
        filt.longest_step_s,
        *further,
    )
