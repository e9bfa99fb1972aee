"""Checks of a tape on a sample before it writes any of it."""

import math
from typing import Any

import numpy as np

from strapdown.errors import InputError
from strapdown.sample import Fix, Height, Sample

# columns besides those of gyroscope, accelerometer and magnetometer, and their width (0: one number); of a fix: value,
# standard deviation, time
OTHERS = {
    **{"temperature": 0, "tilt_s": 2, "stop": 0, "odometer": 0},
    **{"position_fix": 7, "velocity_fix": 7, "height": 2, "clipped": 0},
}


def rows_of_others(sample: Sample, travel_m: float) -> dict[str, Any]:
    """Rows for the columns OTHERS; None: no reading.

    travel_m: the odometer before this sample.
    """
    return {
        "temperature": _number(sample, "temperature"),
        "tilt_s": _vector(sample, "tilt_s", sample.tilt_s, 2),
        "stop": _flag(sample, "stop"),
        "odometer": None if sample.travel_m is None else travel_m + (_number(sample, "travel_m") or 0.0),
        "position_fix": _fix(sample, "position_fix"),
        "velocity_fix": _fix(sample, "velocity_fix"),
        "height": _height(sample),
        "clipped": _flag(sample, "clipped"),
    }


def refused(sample: Any, last_t: float) -> InputError:
    """The error for a sample whose time or inertial or magnetic readings do not fit."""
    if not isinstance(sample, Sample):
        return InputError(f"a {type(sample).__name__} was put on the tape; put a Sample(t, dt, gyr_s, acc_s, mag_s)")
    try:
        in_order = last_t < sample.t < math.inf
    except TypeError:
        return InputError(f"t of a sample is {sample.t!r}; give a time in s")
    if not in_order:
        return InputError(f"a sample at {sample.t:.9g} s follows one at {last_t:.9g} s; put them in order")
    for name in ("gyr_s", "acc_s", "mag_s"):
        _vector(sample, name, getattr(sample, name), 3, needed=name != "mag_s")
    return InputError(f"the sample at {sample.t:.9g} s does not fit: {sample}; please report it")


def _wrong(sample: Sample, name: str, value: Any, need: str) -> InputError:
    return InputError(f"{name} of the sample at {sample.t:.9g} s is {value!r}; give {need}")


def _number(sample: Sample, name: str) -> float | None:
    value = getattr(sample, name)
    if value is None:
        return None
    good = isinstance(value, int | float | np.number) and not isinstance(value, bool) and math.isfinite(value)
    if not good:
        raise _wrong(sample, name, value, "a finite number")
    return float(value)


def _flag(sample: Sample, name: str) -> bool | None:
    value = getattr(sample, name)
    if value is not None and not isinstance(value, bool | np.bool_):
        raise _wrong(sample, name, value, "True or False")
    return None if value is None else bool(value)


def _vector(sample: Sample, name: str, value: Any, width: int, *, needed: bool = False) -> list[float] | None:
    if value is None and not needed:
        return None
    if isinstance(value, np.ndarray) and value.shape == (width,) and value.dtype.kind in "fiu":
        numbers: list[float] = value.tolist()
        if math.isfinite(sum(numbers)):
            return numbers
    raise _wrong(sample, name, value, f"an array of {width} finite numbers")


def _fix(sample: Sample, name: str) -> list[float] | None:
    fix = getattr(sample, name)
    if fix is None:
        return None
    if not isinstance(fix, Fix):
        raise _wrong(sample, name, fix, "a Fix(value_n, sigma_n, t_s)")
    value = _vector(sample, f"value_n of {name}", fix.value_n, 3, needed=True)
    sigma = _vector(sample, f"sigma_n of {name}", fix.sigma_n, 3, needed=True)
    assert value is not None and sigma is not None
    if min(sigma) < 0.0:
        raise _wrong(sample, f"sigma_n of {name}", fix.sigma_n, "standard deviations of 0 or more")
    if not isinstance(fix.t_s, int | float | np.number) or not math.isfinite(fix.t_s):
        raise _wrong(sample, f"t_s of {name}", fix.t_s, "the time in s that the fix belongs to")
    return [*value, *sigma, float(fix.t_s)]


def _height(sample: Sample) -> tuple[float, float] | None:
    height = sample.height
    if height is None:
        return None
    try:
        good = isinstance(height, Height) and math.isfinite(sum(height)) and height.sigma_m >= 0.0
    except TypeError:
        good = False
    if not good:
        raise _wrong(sample, "height", height, "a Height of finite numbers, its standard deviation 0 or more")
    return float(height.height_m), float(height.sigma_m)
