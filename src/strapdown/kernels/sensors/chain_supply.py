"""Rows of the input that the error chain can use: valid ones, whose random numbers have been drawn."""

import math

from strapdown.kernels.jit import internal_uncounted, live_unlocked
from strapdown.kernels.sensors import chain_memory as m
from strapdown.kernels.sensors import chain_settings as s
from strapdown.kernels.sensors.drift import acts, instability_supplied

_ULPS = 4.0 * 2.220446049250313e-16  # roundoff of two times


@internal_uncounted
def samples_in(settings, memory, rows):
    """Number of samples in the next rows."""
    skip, stride = int(memory[m.SKIP]), int(settings[s.STRIDE])
    return 0 if rows <= skip else (rows - 1 - skip) // stride + 1


@internal_uncounted
def supplied_rows(settings, memory, width, rows):
    """Number of the next rows whose random numbers have all been drawn."""
    n = wanted = samples_in(settings, memory, rows)
    physical = settings[s.MATLAB] == 0.0
    left = width - int(memory[m.POSITION + m.WHITE])
    if acts(settings, s.WHITE):
        n = min(n, left // 3)
    if acts(settings, s.QUANTUM):
        first = 3 if memory[m.QUANTUM_STARTED] == 0.0 else 0
        n = min(n, max(width - int(memory[m.POSITION + m.QUANTUM]) - first, 0) // 3)
    if acts(settings, s.WALK):
        first = 3 if physical and memory[m.WALK_STARTED] == 0.0 else 0
        n = min(n, max(width - int(memory[m.POSITION + m.WALK]) - first, 0) // 3)
    if settings[s.JITTER] > 0.0:
        n = min(n, width - int(memory[m.POSITION + m.JITTER]))
    if settings[s.LOSS] > 0.0:
        n = min(n, width - int(memory[m.POSITION + m.LOSS]))
    if acts(settings, s.INSTABILITY):
        left = width - int(memory[m.POSITION + m.INSTABILITY])
        n = instability_supplied(n, settings, memory, left) if physical else min(n, left // 3)
    return rows if n == wanted else int(memory[m.SKIP]) + n * int(settings[s.STRIDE])


@internal_uncounted
def good_rows(settings, memory, t, ideal, force, celsius, varies, first, last):
    """The first row that is not finite, not in time, or beyond the limits of temperature; last if there is none.

    varies: the temperature has a value for each row; otherwise it has one.
    """
    forced, before = settings[s.FORCED] != 0.0, memory[m.TIME]
    for i in range(first, last):
        # 0 times inf or NaN is NaN, and so is its sum with anything
        if 0.0 * ideal[3 * i] + 0.0 * ideal[3 * i + 1] + 0.0 * ideal[3 * i + 2] != 0.0:
            return i
        if forced and 0.0 * force[3 * i] + 0.0 * force[3 * i + 1] + 0.0 * force[3 * i + 2] != 0.0:
            return i
    if settings[s.UNEVEN] < math.inf:
        for i in range(first, last):
            even = abs(t[i] - before - settings[s.STEP]) <= settings[s.UNEVEN] + _ULPS * abs(t[i])
            begins = memory[m.STARTED] == 0.0 and i == first and abs(t[i]) < math.inf
            if not (even or begins):
                return i
            before = t[i]
    low, high = settings[s.LOW_C], settings[s.HIGH_C]
    if not varies:
        return last if low <= celsius[0] <= high else first
    for i in range(first, last):
        if not low <= celsius[i] <= high:
            return i
    return last


@live_unlocked
def first_uneven(t, step, allowed):
    """Index of the first time that is not `step` after the previous one, within `allowed`; -1 if there is none."""
    for i in range(1, len(t)):
        if not abs(t[i] - t[i - 1] - step) <= allowed:
            return i
    return -1
