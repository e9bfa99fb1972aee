"""Test statistics of stop detectors over a moving window, and the threshold that follows the gait.

Definitions: Skog, Händel, Nilsson and Rantakokko 2010, Zero-velocity detection: an algorithm evaluation. Row i looks at
the rows i - before to i + after, at the ends of the log at as many as there are. acc in m/s2, gyr in rad/s, frame s.
"""

import math

import numpy as np
from numba import njit


@njit(cache=True)
def shoe_rows(gyr, acc, gravity, sigma_acc, sigma_gyr, before, after, out):
    """Stance hypothesis optimal estimation: gravity along the mean force, and no rate; mean square in sigmas."""
    n = len(gyr)
    u = np.empty(3)
    for i in range(n):
        lo, hi = max(i - before, 0), min(i + after, n - 1) + 1
        norm = 0.0
        for j in range(3):
            u[j] = 0.0
            for k in range(lo, hi):
                u[j] += acc[k, j]
            norm += u[j] * u[j]
        scale = gravity / math.sqrt(norm) if norm > 0.0 else 0.0
        force = rate = 0.0
        for j in range(3):
            for k in range(lo, hi):
                force += (acc[k, j] - u[j] * scale) ** 2
                rate += gyr[k, j] ** 2
        out[i] = (force / sigma_acc**2 + rate / sigma_gyr**2) / (hi - lo)


@njit(cache=True)
def ared_rows(gyr, sigma_gyr, before, after, out):
    """Angular rate energy."""
    n = len(gyr)
    for i in range(n):
        lo, hi = max(i - before, 0), min(i + after, n - 1) + 1
        rate = 0.0
        for k in range(lo, hi):
            rate += gyr[k, 0] ** 2 + gyr[k, 1] ** 2 + gyr[k, 2] ** 2
        out[i] = rate / (sigma_gyr**2 * (hi - lo))


@njit(cache=True)
def moving_variance_rows(acc, sigma_acc, before, after, out):
    """Variance of the specific force about its mean, all axes."""
    n = len(acc)
    for i in range(n):
        lo, hi = max(i - before, 0), min(i + after, n - 1) + 1
        spread = 0.0
        for j in range(3):
            mean = 0.0
            for k in range(lo, hi):
                mean += acc[k, j]
            mean /= hi - lo
            for k in range(lo, hi):
                spread += (acc[k, j] - mean) ** 2
        out[i] = spread / (sigma_acc**2 * (hi - lo))


@njit(cache=True)
def magnitude_rows(acc, gravity, sigma_acc, before, after, out):
    """Length of the specific force against gravity."""
    n = len(acc)
    for i in range(n):
        lo, hi = max(i - before, 0), min(i + after, n - 1) + 1
        off = 0.0
        for k in range(lo, hi):
            off += (math.sqrt(acc[k, 0] ** 2 + acc[k, 1] ** 2 + acc[k, 2] ** 2) - gravity) ** 2
        out[i] = off / (sigma_acc**2 * (hi - lo))


@njit(cache=True)
def gait_threshold_rows(x, signal, dt, ratio, forget_s, least, patience_s, threshold, stop):
    """The foot stands where its signal is below ratio times its recent peak, which is forgotten within forget_s.

    x: peak of the signal and time since the last stop, carried from call to call. After patience_s without a stop the
    threshold grows by a factor e every second: a foot that is carried or shaken is not lost for ever.
    """
    for i in range(len(signal)):
        x[0] = max(x[0] * math.exp(-dt[i] / forget_s), signal[i])
        x[1] += dt[i]
        limit = max(ratio * x[0], least)
        if x[1] > patience_s:
            limit *= math.exp(min(x[1] - patience_s, 20.0))  # no overflow; nothing moves a foot so fast
        threshold[i] = limit
        stop[i] = signal[i] < limit
        if stop[i]:
            x[1] = 0.0
