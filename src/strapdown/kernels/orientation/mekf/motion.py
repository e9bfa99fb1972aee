"""Accelerations of the motion as the multiplicative Kalman filter follows them. It follows their variance, the time
over which they are correlated, and whether specific force points up at all.

A hand's accelerations come and go within some hundredths to tenths of a second, a vehicle's within seconds. Averaging
reduces the noise and not the motion. So the time is found from the readings: the share of the variance that remains
behind a low-pass.
"""

import math

from strapdown.kernels.jit import internal, not_constant
from strapdown.kernels.orientation.mekf.layout import (
    BAND,
    BAND2,
    FEEDBACK,
    FORCE_N,
    FORCE_S,
    FORCE_T,
    GATE2,
    GRAVITY,
    LATE2,
    LEVEL2,
    LOST_P,
    LOST_T,
    MOTION_MEMORY_S,
    MOTION_S,
    MOTION_START2,
    ROUGH2,
    SLOW,
    SLOW2,
)
from strapdown.kernels.orientation.mekf.update import P

STOPPED = 8.0  # the long memory is not believed beyond so many times the short one: after a motion comes rest
QUIET = 0.25  # of the white variance of a reading: less is chance in the mean over the memory, not motion
LEANS = 0.3  # of the variance in n: a force that is as much steadier in s is that of a vehicle that leans
BEYOND = 9.0  # of its mean square, three sigmas: a force further from up is no part of the motion that was averaged
ASSUMED_S = 1.0  # s of readings that the assumed correlation time is worth
NEVER = 1e30  # of a variance: nothing is that large
MOST_SLOW = 0.8  # slow part of the variance, of a correlation time of 4 MOTION_S: more looks like an inclination


@internal
def _unsteady(state, at, k, slow_k, quick_k, fx, fy, fz, white2):
    """Follow a force: its mean at `at`, then the mean square of its difference from that mean, less the white noise."""
    ex, ey, ez = fx - state[at], fy - state[at + 1], fz - state[at + 2]
    state[at] += k * ex
    state[at + 1] += k * ey
    state[at + 2] += k * ez
    if k < 1.0:  # a reading differs from the mean by its own noise and by the mean's
        square = (ex * ex + ey * ey + ez * ez) / 3.0 - white2 * (1.0 + 0.5 * k)
        state[at + 3] += slow_k * (square - state[at + 3])
        state[at + 4] += quick_k * (square - state[at + 4])
        state[at + 3] = min(state[at + 3], STOPPED * max(state[at + 4], QUIET * white2))


@internal
def follow_motion(state, settings, ax, ay, az, fx, fy, fz, white2, dt):
    """In n a force is unsteady by motion and by the turn of n due to the bias; in s by motion and by turning. The
    smaller one is certainly motion, unless a vehicle leans into its accelerations: then it is steady in s.
    """
    state[FORCE_T] += dt
    first = 1.0 if state[FORCE_T] <= dt else dt / state[FORCE_T]
    k = max(dt / (2.0 * settings[MOTION_S] + dt), first)
    slow_k = max(dt / (settings[MOTION_MEMORY_S] + dt), first)
    quick_k = max(dt / (settings[MOTION_S] + dt), first)
    _unsteady(state, not_constant(FORCE_N), k, slow_k, quick_k, fx, fy, fz, white2)
    _unsteady(state, not_constant(FORCE_S), k, slow_k, quick_k, ax, ay, az, white2)
    if first < 1.0:
        low_k, square = dt / (settings[MOTION_S] + dt), 0.0
        for i in range(3):
            f = fx if i == 0 else fy if i == 1 else fz
            state[SLOW + i] += low_k * (f - state[FORCE_N + i] - state[SLOW + i])
            square += state[SLOW + i] * state[SLOW + i]
        state[SLOW2] += slow_k * (square / 3.0 - 0.5 * low_k * white2 - state[SLOW2])
        state[LATE2] += slow_k * (state[FORCE_N + 4] - state[LATE2])  # as late as what it is compared with


@internal
def follow_strength(state, settings, norm_off, dt):
    """Works with any error of the attitude: accelerations change the norm of the force, by about as much as along one
    axis.
    """
    k = dt / min(state[FORCE_T] + dt, settings[MOTION_S] + dt)
    state[ROUGH2] += k * (norm_off * norm_off - state[ROUGH2])


@internal
def correlated(state, settings, white2):
    """Time (s) over which the motion's accelerations are correlated. For a Gauss-Markov process, subtract a mean of
    time constant 2 T, then apply a low-pass of T. The part (2/3) tau / (T + tau) of the variance remains.
    """
    seen_s, all2 = state[FORCE_T], max(state[LATE2], 0.0)
    part = 1.5 * (max(state[SLOW2], 0.0) * seen_s + ASSUMED_S / 3.0 * all2) / max(all2 * (seen_s + ASSUMED_S), 1e-12)
    part = min(part, MOST_SLOW) if all2 > QUIET * white2 else 0.5
    if state[FORCE_S + 3] < LEANS * state[FORCE_N + 3]:  # its accelerations last as long as it leans
        part = MOST_SLOW
    return settings[MOTION_S] * part / (1.0 - part)


@internal
def motion_variance(state, settings, white2, tau):
    """Variance of the motion's acceleration per axis: the followed value, and at first the assumed one."""
    seen_s = max(min(state[FORCE_T], 2.0 * settings[MOTION_S]), 1e-6)
    # what a bias as large as it may still be turns n by while the mean is taken
    turned = 2.0 * settings[MOTION_S] * settings[GRAVITY]
    drift2 = turned * turned * (state[P + 21] + state[P + 28] + state[P + 35]) / 3.0
    in_n2, in_s2 = max(state[FORCE_N + 3], state[FORCE_N + 4]), max(state[FORCE_S + 3], state[FORCE_S + 4])
    motion2, leaning2 = min(in_n2, in_s2), in_n2 - drift2
    if leaning2 > STOPPED * QUIET * white2:  # less may be left of a bias that was large
        motion2 = max(motion2, leaning2)
    # the mean follows slow accelerations, which are then missing in what differs from it
    followed = motion2 * (1.0 + tau / seen_s) if motion2 > QUIET * white2 else 0.0
    assumed = (settings[MOTION_START2] + state[ROUGH2]) * math.exp(-state[FORCE_T] / max(settings[MOTION_S], 1e-6))
    return followed + (assumed if assumed > QUIET * white2 else 0.0)


@internal
def points_elsewhere(state, settings, motion2, tau, white2):
    """Whether the mean of specific force points further from up than its own sigma and that of the attitude explain."""
    fx, fy, fz = state[FORCE_N], state[FORCE_N + 1], state[FORCE_N + 2]
    level2, g2 = fx * fx + fy * fy, settings[GRAVITY] * settings[GRAVITY]
    seen_s = max(min(state[FORCE_T], 2.0 * settings[MOTION_S]), 1e-6)
    if state[LOST_T] == 0.0:
        # the mean is of a time before, and n turns by the bias; what time without readings adds explains nothing
        turned2 = seen_s * seen_s * (state[P + 21] + state[P + 28] + state[P + 35]) / 3.0
        state[LOST_P] = 0.5 * (state[P] + state[P + 7]) + turned2
    variance = (motion2 * tau / (tau + seen_s) + QUIET * white2) / g2 + state[LOST_P]
    return fz < 0.0 or level2 > settings[GATE2] * variance * g2


@internal
def averaged_variance(state, settings, white2, dt):
    """Variance (m/s2)^2 of the mean force as a reading of this step, from its own power at low frequencies.

    The speed of a hand is bounded, so its accelerations have little power there: less than their variance and
    correlation time tell. The mean force f is a low-pass of time T = 2 MOTION_S, and the filter's corrections at the
    rate k are a high-pass. Behind a second low-pass of T white noise of density N^2 has the variance
    N^2 / (4 T (1 + k T)^2).

    Returns NEVER where this is not known: at first, in a force far beyond its mean square, and in a vehicle that leans.
    """
    x, y, low_s = state[FORCE_N], state[FORCE_N + 1], 2.0 * settings[MOTION_S]
    low_k = dt / (low_s + dt)
    state[BAND] += low_k * (x - state[BAND])
    state[BAND + 1] += low_k * (y - state[BAND + 1])
    now2, band2 = 0.5 * (x * x + y * y), 0.5 * (state[BAND] * state[BAND] + state[BAND + 1] * state[BAND + 1])
    k = max(dt / (settings[MOTION_MEMORY_S] + dt), dt / state[FORCE_T])
    state[LEVEL2] += k * (now2 - state[LEVEL2])
    state[BAND2] += k * (band2 - state[BAND2])
    leans = state[FORCE_S + 3] < LEANS * state[FORCE_N + 3]
    if leans or state[FORCE_T] < settings[MOTION_MEMORY_S] or now2 > BEYOND * state[LEVEL2] + QUIET * white2:
        return NEVER
    over = 1.0 + state[FEEDBACK] * low_s
    return white2 + 4.0 * low_s * over * over * max(state[BAND2], band2) / dt
