"""The input of the error chain, checked at its boundary: rows of true values on an even grid of times."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strapdown.errors import InputError
from strapdown.kernels.sensors import chain_memory as m
from strapdown.kernels.sensors import chain_settings as s
from strapdown.kernels.sensors.chain_supply import first_uneven

Array = NDArray[np.float64]

EVEN = 1e-3  # of the sample period: print rounding of logged times


def locked(x: Any) -> Any:
    """The array in the form of the compiled kernels: contiguous and read-only."""
    array = np.ascontiguousarray(x).view()
    array.flags.writeable = False
    return array


def rows(x: ArrayLike, t: Array, name: str) -> Array:
    """True values (n, 3), one row for each time; the kernel stops at one that is not finite (refuse_row)."""
    try:
        array = locked(np.asarray(x, dtype=np.float64))
    except (ValueError, TypeError) as e:
        raise InputError(f"{name} is not an array of numbers ({e}); give rows of three") from None
    if array.shape != (len(t), 3):
        raise InputError(f"{name} has shape {array.shape}, expected {(len(t), 3)}, one row for each time")
    return array


def even_times(t: ArrayLike, output_rate_hz: float | None) -> tuple[Array, float]:
    """The times, and the step between them."""
    try:
        times = locked(np.asarray(t, dtype=np.float64))
    except (ValueError, TypeError) as e:
        raise InputError(f"t is not an array of numbers ({e}); give times in s") from None
    if times.ndim != 1 or len(times) == 0 or (len(times) == 1 and output_rate_hz is None):
        raise InputError(f"t has shape {times.shape}, expected a column of at least two times")
    if len(times) == 1:
        return times, 1.0 / _positive(output_rate_hz)
    if not np.isfinite(times[[0, -1]]).all():
        raise InputError("t begins or ends with a number that is not finite; drop such samples first")
    step = float(times[-1] - times[0]) / (len(times) - 1)
    bad = first_uneven(times, step, EVEN * step + 4.0 * float(np.spacing(np.abs(times[[0, -1]]).max())))
    if bad >= 0 or not step > 0.0:
        i = max(bad, 1)
        raise InputError(
            f"t is not evenly spaced at sample {i} ({times[i - 1]:.9g} s, then {times[i]:.9g} s, "
            f"mean step {step:.9g} s); take the true values at the sensor's own rate"
        )
    return times, step


def stride_of(step: float, output_rate_hz: float | None) -> int:
    """The part gives every n-th sample of its input."""
    if output_rate_hz is None:
        return 1
    ratio = 1.0 / (step * _positive(output_rate_hz))
    stride = round(ratio)
    if stride < 1 or abs(ratio - stride) > EVEN * stride:
        raise InputError(
            f"output_rate_hz {output_rate_hz:g} is not a whole part of the input's rate {1.0 / step:g} Hz; "
            "take the true values at a multiple of it"
        )
    return stride


def exact_step(t: Array | None, step: float, rate_hz: float | None = None) -> float:
    """The exact step of a rate: rate_hz or a multiple of it, or the nearest round rate (1e-6 Hz) if it is None.

    The mean over times differs from the exact step by roundoff, which depends on the number of times; live rows have no
    mean. The exact step is the same for both. A step that differs by more than roundoff is not changed.
    """
    fine_hz = round(1.0 / step, 6) if rate_hz is None else rate_hz * stride_of(step, rate_hz)
    nominal = 1.0 / (fine_hz or math.inf)
    roundoff = 4.0 * float(np.spacing(step))
    if t is None:
        roundoff += 1e-9 * step  # typed by a person
    elif len(t) > 1:
        roundoff += 2.0 * float(np.spacing(np.abs(t[[0, -1]]).max())) / (len(t) - 1)
    return nominal if abs(step - nominal) <= roundoff else step


def _positive(rate: float | None) -> float:
    if rate is None or not (np.isfinite(rate) and rate > 0.0):
        raise InputError(f"output_rate_hz is {rate}; give a number above 0")
    return float(rate)


def step_of(step_s: float) -> float:
    """The time between rows (s), checked."""
    if isinstance(step_s, bool) or not isinstance(step_s, int | float) or not (np.isfinite(step_s) and step_s > 0.0):
        raise InputError(f"step_s is {step_s!r}; give the time between rows in s, above 0")
    return float(step_s)


def refuse_row(settings: Array, memory: Array, t: Array, ideal: Array, force: Array, celsius: Array, row: int) -> None:
    """Raise for a row that the kernel stopped at, if the row is the cause."""
    when = f"at sample {row} (t = {t[row]:.6g} s)"
    for name, values in (("ideal", ideal), ("specific_force", force if settings[s.FORCED] else ideal)):
        if not np.isfinite(values[row]).all():
            raise InputError(f"{name} is not finite {when}; drop or fill such samples first")
    step, before = settings[s.STEP], t[row - 1] if row > 0 else memory[m.TIME]
    if np.isfinite(settings[s.UNEVEN]) and not (row == 0 and np.isnan(before) and np.isfinite(t[row])):
        allowed = settings[s.UNEVEN] + 4.0 * np.finfo(np.float64).eps * abs(t[row])
        if not abs(t[row] - before - step) <= allowed:
            raise InputError(
                f"the row {when} follows one at {before:.9g} s, and rows are {step:.9g} s apart; "
                "give every row of the input in order"
            )
    warm = float(celsius[row if len(celsius) > 1 else 0])
    if not settings[s.LOW_C] <= warm <= settings[s.HIGH_C]:
        raise InputError(
            f"the temperature is {warm:.6g} degC {when}, outside the sensor's limits "
            f"({settings[s.LOW_C]:g} to {settings[s.HIGH_C]:g} degC); choose another part or temperature"
        )


def listed_kernel(kernel: Any) -> None:
    """Let a kernel of live readings take arrays that are writable or not, without being compiled for each mixture."""
    from strapdown.kernels.compiled import fix_signature  # imports all kernels

    fix_signature(kernel)
