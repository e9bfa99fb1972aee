"""Measurements with a covariance made independent of each other, each of deviation 1.

A loop rather than the linear algebra library: at some hundred rows the latter spends its time waking its threads.
"""

import math

from strapdown.kernels.jit import kernel


@kernel
def factor(covariance):
    """Replace a covariance by its Cholesky factor L (lower part; what is above stays).

    A measurement that depends on those before it, by roundoff, is treated as if it were worthless.
    """
    for i in range(len(covariance)):
        for j in range(i):
            total = covariance[i, j]
            for k in range(j):
                total -= covariance[i, k] * covariance[j, k]
            covariance[i, j] = total / covariance[j, j]
        total = covariance[i, i]
        for k in range(i):
            total -= covariance[i, k] * covariance[i, k]
        covariance[i, i] = math.sqrt(total) if total > 0.0 else 1e150


@kernel
def whiten(lower, rows):
    """Replace rows (n, m) by L^-1 rows."""
    n, m = rows.shape
    for i in range(n):
        for k in range(i):
            share = lower[i, k]
            for c in range(m):
                rows[i, c] -= share * rows[k, c]
        for c in range(m):
            rows[i, c] /= lower[i, i]
