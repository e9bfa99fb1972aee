"""Confidence intervals of means, shares and quantiles."""

import math

import numpy as np
from scipy.special import bdtr, ndtri, stdtrit

from strapdown.arrays import Array


def mean_interval(values: Array, confidence: float = 0.95) -> tuple[float, float]:
    """Of the mean, by Student's t; from minus to plus infinity for fewer than two values."""
    n = len(values)
    if n < 2:
        return -math.inf, math.inf
    half = float(stdtrit(n - 1, 0.5 + 0.5 * confidence)) * float(np.std(values, ddof=1)) / math.sqrt(n)
    mean = float(np.mean(values))
    return mean - half, mean + half


def share_interval(hits: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Of a probability, by Wilson's score: also right for 0 of n."""
    if n == 0:
        return 0.0, 1.0
    z = float(ndtri(0.5 + 0.5 * confidence))
    share = hits / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    # the ends of 0 and of all are exact: roundoff would print 3e-16
    return max(0.0, middle - half) if hits > 0 else 0.0, min(1.0, middle + half) if hits < n else 1.0


def quantile_interval(values: Array, share: float, confidence: float = 0.95) -> tuple[float, float]:
    """Of a quantile, by order statistics, for any distribution; infinite where the runs are too few."""
    ordered, n = np.sort(values), len(values)
    tail = 0.5 - 0.5 * confidence
    counts = bdtr(np.arange(n), n, share) if n else np.zeros(0)  # probability that at most k values lie below
    below = np.flatnonzero(counts <= tail)
    above = np.flatnonzero(counts >= 1.0 - tail)
    low = float(ordered[below[-1]]) if len(below) else -math.inf
    high = float(ordered[above[0]]) if len(above) else math.inf
    return low, high
