"""Arrays that are checked once and then read-only: numbers, times, flags, attitudes."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strapdown.errors import InputError

Array = NDArray[np.float64]

UNIT_NORM_TOLERANCE = 1e-6  # print rounding of logs with 7 digits


def _numbers(x: ArrayLike, name: str) -> Array:
    """x as float64, locked. The result is a copy, or x itself where its owner has locked it already, so that large logs
    are in memory once.
    """
    if isinstance(x, np.ndarray) and x.dtype == np.float64 and x.flags.c_contiguous and _sealed(x):
        return x
    try:
        array = np.array(x, dtype=np.float64, order="C")  # kernels take rows, MATLAB gives columns
    except (ValueError, TypeError) as e:  # text, None, rows of different lengths
        raise InputError(f"{name} is not an array of numbers ({e}); give rows of equal length") from None
    array.flags.writeable = False
    return array


def _sealed(x: NDArray[Any]) -> bool:
    """Whether an array is locked and not a view of memory that another array may write to."""
    return x.base is None and type(x) is np.ndarray and not x.flags.writeable and x.flags.owndata


def locked(x: ArrayLike, shape: tuple[int, ...], name: str, t: Array | None = None) -> Array:
    """x read-only, of the given shape and finite; the error names the first bad sample and its time."""
    array = _numbers(x, name)
    if array.shape != shape:
        raise InputError(f"{name} has shape {array.shape}, expected {shape}")
    if not np.isfinite(array).all():  # which row is only looked for where there is one: narrow rows are slow to look at
        bad = np.flatnonzero(~np.isfinite(array).reshape(len(array), -1).all(axis=1))
        i = int(bad[0])
        when = "" if t is None or not np.isfinite(t[i]) else f" (t = {t[i]:.6g} s)"
        raise InputError(
            f"{name} is not finite at sample {i}{when}, {len(bad)} of {len(array)} samples; "
            "drop or fill these samples first"
        )
    return array


def locked_time(t: ArrayLike, name: str = "t") -> Array:
    """Time in s, strictly increasing."""
    array = _numbers(t, name)
    if array.ndim != 1 or len(array) == 0:
        raise InputError(f"{name} has shape {array.shape}, expected a column of at least one time")
    array = locked(array, array.shape, name)
    back = np.flatnonzero(array[1:] <= array[:-1])  # not diff, which overflows between times of 1e308 s
    if len(back):
        i = int(back[0]) + 1
        what = "repeats" if array[i] == array[i - 1] else "goes backward"
        raise InputError(
            f"{name} {what} at sample {i} ({array[i - 1]:.9g} s, then {array[i]:.9g} s); "
            "sort the samples and keep one for each time"
        )
    return array


def locked_flags(flags: ArrayLike, n: int, name: str, t: Array | None = None) -> NDArray[np.bool_]:
    """True or false, given as bool or as 0 and 1."""
    if isinstance(flags, np.ndarray) and flags.dtype == np.bool_ and flags.shape == (n,):
        if not _sealed(flags):
            flags = flags.copy()
            flags.flags.writeable = False
        return flags
    number = locked(flags, (n,), name, t)  # bool() alone would take NaN and "0" for true
    odd = np.flatnonzero((number != 0.0) & (number != 1.0))
    if len(odd):
        raise InputError(f"{name} is {number[odd[0]]:.6g} at sample {odd[0]}; give 0 or 1")
    array = number == 1.0
    array.flags.writeable = False
    return array


def locked_attitude(q: ArrayLike, n: int, name: str, t: Array | None = None) -> Array:
    """Unit quaternions (w, x, y, z)."""
    array = locked(q, (n, 4), name, t)
    with np.errstate(over="ignore"):  # squares of 1e200 are inf, and reported as a wrong norm
        norms = np.sqrt(np.einsum("ij,ij->i", array, array))
    if not (np.abs(norms - 1.0) <= UNIT_NORM_TOLERANCE).all():
        i = int(np.argmax(~(np.abs(norms - 1.0) <= UNIT_NORM_TOLERANCE)))
        when = "" if t is None else f" (t = {t[i]:.6g} s)"
        raise InputError(
            f"{name} has norm {norms[i]:.6g} at sample {i}{when}, expected 1; "
            "check the order of its columns (w, x, y, z) or normalise the log first"
        )
    return array


def refuse_negative(sigma: Array, name: str, t: Array | None = None) -> None:
    """Refuse negative standard deviations, one or more in a row; the error names the first bad sample and its time."""
    if sigma.size and sigma.min() < 0.0:
        least = sigma.reshape(len(sigma), -1).min(axis=1)
        i = int(np.argmax(least < 0.0))
        when = "" if t is None else f" (t = {t[i]:.6g} s)"
        raise InputError(f"{name} is {least[i]:.6g} at sample {i}{when}; a standard deviation is 0 or more")
