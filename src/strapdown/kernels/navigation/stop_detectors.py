"""Statistics of stop detectors over a moving window, and the threshold that follows the gait: one kernel for all.

Definitions: Skog, Händel, Nilsson and Rantakokko 2010, Zero-velocity detection: an algorithm evaluation. Mean squares
over the window in units of the given sigmas; acc in m/s2, gyr in rad/s, frame s. A window may end some samples after
the one it belongs to. At the ends of a log it has as many samples as there are. The cost of a sample does not depend on
the length of the window. Sums over it are updated, and computed again once in a window, so that roundoff does not
accumulate.
"""

import math

from numba import njit

from strapdown.kernels.jit import internal, offset, pointer

SHOE, ARED, MOVING_VARIANCE, MAGNITUDE, GAIT = range(5)

# state x
COUNT, NEXT = 0, 1  # samples in the window; where the next one goes
PEAK, WITHOUT_S = 2, 3  # of the gait: recent peak of the signal; time since the last stop
SIGNAL, THRESHOLD, STOP = 4, 5, 6  # of the last sample
STEP_S = 7  # the usual step that the window was laid out for
REFERENCE = 8  # a force near those of the window
SUMS = 11  # force less the reference, three numbers
FORCE2, RATE2, LENGTH2 = 14, 15, 16  # sums of squares: of this difference, of the rate, of |force| less gravity
SIZE = 17  # samples of the window
WINDOW = 18  # its rows: force, rate squared

# settings s
S_KIND, S_GRAVITY, S_ACC, S_GYR, S_THRESHOLD = 0, 1, 2, 3, 4
S_RATIO, S_FORGET_S, S_LEAST, S_PATIENCE_S = 5, 6, 7, 8  # of the gait
S_SIZE = 9


def state_size(size):
    """Number of numbers in a state whose window has this many samples."""
    return WINDOW + 4 * size


@njit(cache=True, error_model="numpy", no_cfunc_wrapper=True)
def rows(x, s, gyr, acc, dt, after, signal, threshold, stop):
    """Update the state x with these samples: one live sample, or many of a recording. Arrays are flat.

    after: number of samples of the window after the sample that is judged, 0 live.
    signal, threshold, stop: results for each sample, or empty.

    The function returns False, with x unchanged, if an array has another length.
    """
    n = len(dt)
    size = int(x[SIZE])
    if len(x) != WINDOW + 4 * size or len(gyr) != 3 * n or len(acc) != 3 * n:
        return False
    at, settings = pointer(x), pointer(s)
    for k in range(n + after):
        if k < n:
            if x[COUNT] >= size:
                _leaves(at, settings, size)
            _joins(at, settings, size, offset(gyr, 3 * k), offset(acc, 3 * k))
            if x[NEXT] == 0.0:
                _sum_anew(at, settings, size)
        elif k >= size:  # the log has ended; the window goes on, unless it still holds the log's first samples
            _leaves(at, settings, size)
        i = k - after
        if i < 0:
            continue
        x[SIGNAL] = _statistic(at, settings)
        if settings[S_KIND] == GAIT:
            x[SIGNAL] = math.sqrt(x[SIGNAL])
        _decide(at, settings, dt[i])
        if len(signal) > 0:
            signal[i], threshold[i], stop[i] = x[SIGNAL], x[THRESHOLD], x[STOP] > 0.0
    return True


@internal
def _joins(x, s, size, gyr, acc):
    row = WINDOW + 4 * int(x[NEXT])
    if x[COUNT] == 0.0:
        for j in range(3):
            x[REFERENCE + j] = acc[j]
    for j in range(3):
        x[row + j] = acc[j]
    x[row + 3] = gyr[0] ** 2 + gyr[1] ** 2 + gyr[2] ** 2
    _count(x, s, row, 1.0)
    x[NEXT] = (x[NEXT] + 1.0) % size
    x[COUNT] += 1.0


@internal
def _leaves(x, s, size):
    """Remove the oldest sample of the window."""
    _count(x, s, WINDOW + 4 * ((int(x[NEXT]) - int(x[COUNT])) % size), -1.0)
    x[COUNT] -= 1.0


@internal
def _count(x, s, row, sign):
    """Add a row of the window to the sums, or subtract it."""
    for j in range(3):
        off = x[row + j] - x[REFERENCE + j]
        x[SUMS + j] += sign * off
        x[FORCE2] += sign * off * off
    x[RATE2] += sign * x[row + 3]
    length = math.sqrt(x[row] ** 2 + x[row + 1] ** 2 + x[row + 2] ** 2) - s[S_GRAVITY]
    x[LENGTH2] += sign * length * length


@internal
def _sum_anew(x, s, size):
    """Compute the sums again from the rows of the window, against their mean."""
    count = int(x[COUNT])
    for j in range(3):
        x[REFERENCE + j] += x[SUMS + j] / count
    for j in range(6):
        x[SUMS + j] = 0.0
    for k in range(count):
        _count(x, s, WINDOW + 4 * ((int(x[NEXT]) - 1 - k) % size), 1.0)


@internal
def _statistic(x, s):
    count = x[COUNT]
    kind = s[S_KIND]
    if kind == ARED:
        return max(x[RATE2], 0.0) / (s[S_GYR] ** 2 * count)
    if kind == MAGNITUDE:
        return max(x[LENGTH2], 0.0) / (s[S_ACC] ** 2 * count)
    if kind == MOVING_VARIANCE:
        spread = x[FORCE2]
        for j in range(3):
            spread -= x[SUMS + j] ** 2 / count
        return max(spread, 0.0) / (s[S_ACC] ** 2 * count)
    # gravity along the mean force, and no rate
    norm = 0.0
    for j in range(3):
        norm += (count * x[REFERENCE + j] + x[SUMS + j]) ** 2
    scale = s[S_GRAVITY] / math.sqrt(norm) if norm > 0.0 else 0.0
    force = x[FORCE2]
    for j in range(3):
        off = x[REFERENCE + j] - scale * (count * x[REFERENCE + j] + x[SUMS + j])
        force += 2.0 * off * x[SUMS + j] + count * off * off
    return (max(force, 0.0) / s[S_ACC] ** 2 + max(x[RATE2], 0.0) / s[S_GYR] ** 2) / count


@internal
def _decide(x, s, dt):
    """A foot is at rest where its signal is below ratio times its recent peak, which is forgotten within forget_s.
    After patience_s without a stop the threshold grows by a factor e every second. So a foot that is carried or shaken
    is not lost for ever. Other detectors have a fixed threshold.
    """
    limit = s[S_THRESHOLD]
    if s[S_KIND] == GAIT:
        x[PEAK] = max(x[PEAK] * math.exp(-dt / s[S_FORGET_S]), x[SIGNAL])
        x[WITHOUT_S] += dt
        limit = max(s[S_RATIO] * x[PEAK], s[S_LEAST])
        if x[WITHOUT_S] > s[S_PATIENCE_S]:
            limit *= math.exp(min(x[WITHOUT_S] - s[S_PATIENCE_S], 20.0))  # no overflow; nothing moves a foot so fast
    x[THRESHOLD] = limit
    x[STOP] = 1.0 if x[SIGNAL] < limit else 0.0
    if x[STOP] > 0.0:
        x[WITHOUT_S] = 0.0
