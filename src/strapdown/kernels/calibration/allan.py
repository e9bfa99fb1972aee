"""Overlapping Allan variance of many axes at many averaging times."""

import numpy as np
from numba import njit

from strapdown.kernels.jit import kernel


# sums may be taken in any order: eight at a time is four times as fast, and a sum of squares has nothing to cancel
@njit(
    cache=True,
    error_model="numpy",
    fastmath={"reassoc", "contract"},
    no_cpython_wrapper=True,
    no_cfunc_wrapper=True,
)
def _mean_square_second_difference(phase, m):
    total = 0.0
    count = len(phase) - 2 * m
    for k in range(count):
        d = phase[k + 2 * m] - 2.0 * phase[k + m] + phase[k]
        total += d * d
    return total / count


@kernel
def allan_variances(readings, factors, out):
    """out[i, a]: the Allan variance of readings[a] averaged over factors[i] samples; 2 factors[i] <= samples.

    The variance is the mean of (y[k+m] - y[k])^2 / 2, with y[k] the mean over m samples from k, k = 0, 1, 2, ...
    """
    axes, n = readings.shape
    phase = np.empty(n + 1)
    for a in range(axes):
        mean = 0.0
        for k in range(n):
            mean += (readings[a, k] - mean) / (k + 1)
        phase[0] = 0.0
        for k in range(n):  # without its mean the sum stays small, and so does its roundoff
            phase[k + 1] = phase[k] + (readings[a, k] - mean)
        for i in range(len(factors)):
            m = factors[i]
            out[i, a] = _mean_square_second_difference(phase, m) / (2.0 * m * m)
