"""Checks whether a log can be used for noise analysis: evenly sampled, and at rest."""

import numpy as np

from strapdown.errors import InputError
from strapdown.types import Array

LEAST_SAMPLES = 200
_GAP = 1.5  # of the usual step: beyond it a sample is missing
_OUTLIER = 8.0  # sigmas; Gaussian noise gives one in 1e15
_MOST_MOVED = 0.02  # of all windows; more than a knock or two is a log that moves
_MOST_SHARE = 0.5  # of the log's variance in so few windows: no knock, but a turn


def even_step(t: Array) -> tuple[float, float]:
    """Mean step and jitter in s; the jitter is the sigma of the time stamps from an even grid."""
    n = len(t)
    if n < LEAST_SAMPLES:
        raise InputError(
            f"the log has {n} samples, an Allan analysis needs at least {LEAST_SAMPLES}; record for minutes"
        )
    steps = np.diff(t)
    usual = float(np.median(steps))
    wide = np.flatnonzero(steps > _GAP * usual)
    if len(wide):
        i = int(wide[0])
        raise InputError(
            f"samples are missing after sample {i} (t = {t[i]:.6g} s): the next comes {steps[i]:.4g} s later, usual "
            f"are {usual:.4g} s ({len(wide)} gaps in {n} samples); cut the log to a piece without gaps, or give its "
            "rate instead of its time stamps if only these are wrong"
        )
    step = float((t[-1] - t[0]) / (n - 1))
    return step, float(np.std(t - t[0] - step * np.arange(n)))


def moved_at(readings: Array, step: float, name: str) -> str | None:
    """None for an axis at rest, a sentence where it was touched; refuses an axis that moves.

    Examines windows of one second: a step between their means, or a noise within one, far beyond the usual one. A touch
    takes few windows of a long log and little of its variance.
    """
    n = len(readings)
    width = int(np.clip(round(1.0 / step), 20, max(20, n // 10)))
    count = n // width
    windows = readings[: count * width].reshape(count, width)
    spread = windows.var(axis=1, ddof=1)
    usual = float(np.median(spread))
    if readings.min() == readings.max():
        raise InputError(f"{name} is {readings[0]:.6g} in all {n} samples: no noise to analyse; is it connected?")
    # sigmas from the median, not from the mean square: motion must not set its own scale
    means = np.diff(windows.mean(axis=1))
    moved = np.zeros(count, dtype=bool)
    moved[1:] = np.abs(means) > _OUTLIER * max(_usual_deviation(means), np.sqrt(2.0 * usual / width), 1e-300)
    if usual > 0.0:
        # a variance of width samples scatters by sqrt(2 / width), with coarse counts a little more, and that of
        # correlated noise by far more
        scatter = _usual_deviation(np.log(np.maximum(spread, 1e-3 * usual)))
        moved |= spread > usual * max(1.5 + 10.0 * np.sqrt(2.0 / (width - 1)), np.exp(_OUTLIER * scatter))
    if not moved.any():
        return None
    first = int(np.argmax(moved)) * width * step
    share = f"{int(moved.sum())} of {count} windows of {width * step:.3g} s"
    power = np.sum((windows - np.median(readings)) ** 2, axis=1)
    beside = np.convolve(moved, [1, 1, 1], "same") > 0  # a steady turn shows at its ends
    if moved.sum() > _MOST_MOVED * count or power[beside].sum() > _MOST_SHARE * power.sum():
        raise InputError(
            f"{name} is not at rest: it moves first about {first:.4g} s after the start, and in {share}; "
            "noise can only be estimated from a log in which the sensor is at rest: cut that part out"
        )
    return f"{name} was touched or jumped about {first:.4g} s after the start ({share}); cut the log there"


def _usual_deviation(x: Array) -> float:
    """Standard deviation of most values, whatever a few outliers are."""
    return 1.4826 * float(np.median(np.abs(x - np.median(x))))
