"""Measurements with a covariance made independent of each other, each of standard deviation 1.

A loop is used instead of the linear algebra library, which at some hundred rows spends its time waking its threads.
"""

import math

from strapdown.kernels.jit import kernel


@kernel
def factor(covariance):
    """Replace a covariance by its Cholesky factor L (lower part; the upper part is not changed).

    A measurement that depends on earlier ones, by roundoff, gets no weight.
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
