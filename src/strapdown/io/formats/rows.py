"""Messages of several instruments as rows of one recording: stamps in order, slow instruments held, fixes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from strapdown.arrays import Array
from strapdown.earth import LocalFrame
from strapdown.errors import InputError
from strapdown.sample import Fixes

Bools = NDArray[np.bool_]

# Where a receiver states no accuracy: one sigma of a single-frequency receiver under open sky, east, north, up (m)
UNSTATED_FIX_SIGMA_M = (3.0, 3.0, 6.0)
STEPPED_NS = 128_000_000  # NTP steps a clock by this and more, and turns smaller differences in slowly (RFC 5905)
BARO_SIGMA_M = 3.5  # default of PX4 (EKF2_BARO_NOISE): wind and rotors disturb the static pressure


def in_order(stamps_ns: NDArray[Any]) -> NDArray[np.int64] | None:
    """Which rows to take, and in which order, so that their stamps rise; None where all do already.

    Messages that were late are put where their stamps belong, and of repeated stamps the first is taken. Where the
    clock was stepped, rows of both sides do not fit together: those that come to lie outside the larger side are
    dropped.
    """
    if len(stamps_ns) < 2 or bool((stamps_ns[1:] > stamps_ns[:-1]).all()):
        return None
    latest = np.maximum.accumulate(stamps_ns)
    if int((latest - stamps_ns).max()) < STEPPED_NS:
        order = np.argsort(stamps_ns, kind="stable")
        return order[np.concatenate([[True], np.diff(stamps_ns[order]) > 0])]
    earliest = np.minimum.accumulate(stamps_ns[::-1])[::-1]
    after_all = np.concatenate([[True], stamps_ns[1:] > latest[:-1]])
    before_all = np.concatenate([stamps_ns[:-1] < earliest[1:], [True]])
    return np.flatnonzero(after_all if after_all.sum() >= before_all.sum() else before_all)


def kept(rows: NDArray[np.int64] | None, *arrays: Any) -> tuple[Any, ...]:
    """The rows of each array; the arrays themselves where all rows are kept."""
    return arrays if rows is None else tuple(None if each is None else each[rows] for each in arrays)


def held(t: Array, t_slow: Array) -> tuple[NDArray[np.int64], Bools]:
    """For each row: the latest reading at or before it, the first one before that; and whether it is new there.

    A reading between two rows arrives with the second one. Of several in one step the last is new.
    """
    index = np.searchsorted(t_slow, t, side="right") - 1
    new = np.diff(index, prepend=-1) > 0
    return np.clip(index, 0, None), new


def held_vectors(t: Array, t_slow: Array, values: Array) -> tuple[Array, Bools]:
    """Readings of a slow instrument at the rows, and which are new."""
    index, new = held(t, t_slow)
    return np.ascontiguousarray(values[index]), new


def held_fixes(t: Array, t_fix: Array, p_n: Array, sigma_n: Array) -> tuple[Fixes, Bools]:
    """Fixes at the rows: each arrives with the first row at or after it, and keeps its own instant."""
    index, new = held(t, t_fix)
    instant = np.minimum(t_fix[index], t)  # before the first fix the row repeats it, and must not be later than its row
    return Fixes(p_n[index], sigma_n[index], instant), new


def local_positions(
    latitude_deg: Array, longitude_deg: Array, height_m: Array, origin: dict[str, float] | None = None
) -> tuple[Array, dict[str, float]]:
    """p_n (m) in the level frame of the first place, or of the origin; and that origin."""
    for name, values, most in (("latitude", latitude_deg, 90.0), ("longitude", longitude_deg, 360.0)):
        if not np.abs(values).max() <= most:
            raise InputError(f"a {name} is {values[np.argmax(np.abs(values))]:g} deg; it may be damaged")
    if origin is None:
        first = (float(latitude_deg[0]), float(longitude_deg[0]), float(height_m[0]))
        origin = dict(zip(("latitude_deg", "longitude_deg", "height_m"), first, strict=True))
    frame = LocalFrame(np.radians(origin["latitude_deg"]), np.radians(origin["longitude_deg"]), origin["height_m"])
    return frame.position(np.radians(latitude_deg), np.radians(longitude_deg), height_m), origin


def interpolated(t: Array, t_other: Array, values: Array) -> Array:
    """Vectors at other times, by straight lines; constant outside."""
    return np.column_stack([np.interp(t, t_other, values[:, i]) for i in range(values.shape[1])])
