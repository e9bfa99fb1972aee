"""What the error chain takes in, checked once at its door: rows of true values on an even grid of times."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strapdown.errors import InputError
from strapdown.kernels.sensors.error_chain import first_bad_row, first_uneven

Array = NDArray[np.float64]

EVEN = 1e-3  # of the sample period: print rounding of logged times


def locked(x: Any) -> Any:
    """As the kernels are compiled: contiguous and read-only."""
    array = np.ascontiguousarray(x).view()
    array.flags.writeable = False
    return array


def rows(x: ArrayLike, t: Array, name: str) -> Array:
    """True values (n, 3), one row for each time."""
    try:
        array = locked(np.asarray(x, dtype=np.float64))
    except (ValueError, TypeError) as e:
        raise InputError(f"{name} is not an array of numbers ({e}); give rows of three") from None
    if array.shape != (len(t), 3):
        raise InputError(f"{name} has shape {array.shape}, expected {(len(t), 3)}, one row for each time")
    bad = first_bad_row(array)
    if bad >= 0:
        raise InputError(f"{name} is not finite at sample {bad} (t = {t[bad]:.6g} s); drop or fill such samples first")
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
    """Every how many samples the part gives one."""
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


def _positive(rate: float | None) -> float:
    if rate is None or not (np.isfinite(rate) and rate > 0.0):
        raise InputError(f"output_rate_hz is {rate}; give a number above 0")
    return float(rate)
