"""Statistical limits: the limits of claims about random runs follow from the number of the runs.

A correct program fails one such claim with the probability FALSE_ALARM, whatever the number of runs. So the limits are
right for few runs as for many; few runs only prove less.
"""

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import bdtrik, gammaincinv, ndtri

from strapdown.papers.claim import Claim
from strapdown.types import Array

FALSE_ALARM = 1e-3
SEEDS_APART = 10_000  # between the seeds of one repetition and the next: as many as there may be runs


def seeds_of(first: int, runs: int, repeat: int = 0) -> range:
    """Seeds of a number of runs.

    repeat: 0 for the reported ones, 1, 2, ... for others.
    """
    begin = first + SEEDS_APART * repeat
    return range(begin, begin + runs)


def mean_limit(runs: int, elements: int = 1) -> float:
    """The largest of this many means of standard normal numbers, in size."""
    return float(ndtri(1.0 - 0.5 * FALSE_ALARM / elements)) / math.sqrt(runs)


def sigma_limits(runs: int, elements: int = 1) -> tuple[float, float]:
    """The smallest and the largest of this many standard deviations of standard normal numbers."""
    tail = 0.5 * FALSE_ALARM / elements
    low, high = (2.0 * float(gammaincinv(0.5 * (runs - 1), p)) for p in (tail, 1.0 - tail))
    return math.sqrt(low / runs), math.sqrt(high / runs)


def excess_of_mean(values: Array) -> float:
    """How far the mean of these runs may be above that of all runs."""
    values = np.asarray(values, dtype=np.float64)
    if len(values) < 2:
        return 0.0
    return float(ndtri(1.0 - FALSE_ALARM)) * float(values.std(ddof=1)) / math.sqrt(len(values))


def rms_limit(limit: float, squares: Array) -> float:
    """The limit of a root mean square, with the statistical error of the mean of the squares of the runs."""
    return math.sqrt(limit**2 + excess_of_mean(squares))


def most_of(runs: int, share: float) -> int:
    """Largest number of the runs that may have a property which this share of all runs has."""
    return math.ceil(bdtrik(1.0 - FALSE_ALARM, runs, share))


def allan_limit(length_s: float, longest_s: float, axes: int = 3) -> float:
    """Relative error of an Allan deviation up to the averaging time longest_s, from a log of this length.

    A log of n intervals has about n - 1 independent differences on each axis.
    """
    sigma = 1.0 / math.sqrt(2.0 * axes * (length_s / longest_s - 1.0))
    return float(ndtri(1.0 - 0.5 * FALSE_ALARM)) * sigma


def normal_claims(place: str, what: str, errors: Sequence[Array] | Array, source: str) -> list[Claim]:
    """Errors over their reported sigmas, (runs, elements): the claims that they are standard normal numbers."""
    z = np.array(errors).reshape(len(errors), -1)
    runs, elements = z.shape
    spread = z.std(axis=0)
    low, high = sigma_limits(runs, elements)
    mean = float(np.abs(z.mean(axis=0)).max())
    limit = mean_limit(runs, elements)
    return [
        Claim(f"{place}/mean", f"{what}: mean, worst element", None, mean, limit, source, kind="self-check"),
        Claim(
            f"{place}/least", f"{what}: sigma, least", None, float(spread.min()), low, source, ">=", kind="self-check"
        ),
        Claim(f"{place}/most", f"{what}: sigma, largest", None, float(spread.max()), high, source, kind="self-check"),
    ]
