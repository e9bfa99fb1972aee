"""A filter without a given start aligns itself live, on the first second of its samples, which are taken as a rest.

The sums are in the state of the filter, SIZE numbers; after the rest they give the same alignment as alignment.py.
"""

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from strapdown.live import Alignment, Start, State, refuse_sample
from strapdown.navigation.alignment import (
    LEAST_SAMPLES,
    Rest,
    alignment_of,
    attitude_of,
    magnetic_yaw,
    rest_from,
)
from strapdown.types import Array, Recording, Sample

REST_S = 1.0
NORTH_RAD = 0.5 * np.pi  # yaw of a body that heads north
MAGNETIC_SIGMA_RAD = 0.05  # of a heading by the magnetometer
SIZE = 25

# first time, last time, samples; first readings; sums and sums of squares of the differences from them; sum of the
# magnetic field and how many readings of it
_BEGAN, _LAST, _COUNT, _ACC, _ACC_SUM, _ACC_SQUARES, _GYR, _GYR_SUM, _GYR_SQUARES, _MAG_SUM, _MAG_COUNT = (
    *(0, 1, 2, 3, 6, 9, 12, 15, 18, 21, 24),
)


def is_over(sums: Array, sample: Sample) -> bool:
    """Whether the rest had ended before this sample: after a second, if it then has enough samples."""
    return bool(sums[_COUNT] >= LEAST_SAMPLES and sample.t > sums[_BEGAN] + REST_S)


def take(sums: Array, sample: Sample, q_bs: ArrayLike) -> Array:
    """Add one more sample of the rest; returns the attitude so far (q_ns). Refused if it does not fit."""
    try:
        readings = [reading for reading in (sample.gyr_s, sample.acc_s, sample.mag_s) if reading is not None]
        usable = all(np.isfinite(x).all() for x in readings) and (sums[_COUNT] == 0.0 or 0.0 <= sample.dt < np.inf)
        if usable:
            _add(sums, sample)
    except (TypeError, ValueError):  # no arrays of three numbers
        usable = False
    if not usable:
        raise refuse_sample(sample)
    return _attitude_so_far(sums, q_bs)


def rows_at_rest(
    filt: "SelfAligning", recording: Recording, state: State, put: Callable[[int, Array], None]
) -> tuple[State, int]:
    """The rows in which a filter aligns itself, by its live steps. Returns the state before the first other row, and
    that row. put(i, numbers) is called for each.
    """
    for i in range(len(recording)):
        if not filt.aligns(state.numbers):
            return state, i
        sample = recording.sample(i)
        begun = filt.after_rest(state.numbers, sample)
        if begun is not None:
            return begun, i
        state = filt.align(state.numbers.copy(), sample)
        put(i, state.numbers)
    return state, len(recording)


class SelfAligning(Protocol):
    """Interface of a filter for rows_at_rest.

    x: the numbers of its state.
    """

    def aligns(self, x: Array) -> bool:
        """Whether the filter still aligns itself."""
        ...

    def align(self, x: Array, sample: Sample) -> State:
        """The state after a sample of the rest; the first one after the rest starts the filter."""
        ...

    def after_rest(self, x: Array, sample: Sample) -> State | None:
        """The state at the end of the rest, as if its last sample had been the first; None: it has not ended."""
        ...


def _add(sums: Array, sample: Sample) -> None:
    if sums[_COUNT] == 0.0:
        sums[_BEGAN] = sample.t
        sums[_ACC : _ACC + 3], sums[_GYR : _GYR + 3] = sample.acc_s, sample.gyr_s
    sums[_LAST] = sample.t
    sums[_COUNT] += 1.0
    for first, total, squares, reading in (
        (_ACC, _ACC_SUM, _ACC_SQUARES, sample.acc_s),
        (_GYR, _GYR_SUM, _GYR_SQUARES, sample.gyr_s),
    ):
        off = reading - sums[first : first + 3]
        sums[total : total + 3] += off
        sums[squares : squares + 3] += off * off
    if sample.mag_s is not None:
        sums[_MAG_SUM : _MAG_SUM + 3] += sample.mag_s
        sums[_MAG_COUNT] += 1.0


def _attitude_so_far(sums: Array, q_bs: ArrayLike) -> Array:
    """q_ns, level by the mean force so far, with heading north."""
    acc_s = sums[_ACC : _ACC + 3] + sums[_ACC_SUM : _ACC_SUM + 3] / sums[_COUNT]
    nothing = np.zeros(3)
    return attitude_of(Rest(int(sums[_COUNT]), 0.0, acc_s, 0.0, nothing, nothing, None), NORTH_RAD, q_bs)


def aligned(sums: Array, q_bs: ArrayLike, declination_rad: float | None) -> Alignment:
    """Alignment on the rest that has ended.

    declination_rad: the heading is the magnetometer's; None: the body heads north.
    """
    n = sums[_COUNT]
    means = []
    for first, total, squares in ((_ACC, _ACC_SUM, _ACC_SQUARES), (_GYR, _GYR_SUM, _GYR_SQUARES)):
        off = sums[total : total + 3] / n
        variance = np.maximum(sums[squares : squares + 3] / n - off * off, 0.0)
        means.append((sums[first : first + 3] + off, np.sqrt(variance)))
    field = sums[_MAG_SUM : _MAG_SUM + 3] / sums[_MAG_COUNT] if sums[_MAG_COUNT] > 0.0 else None
    rest = rest_from(int(n), float(sums[_LAST] - sums[_BEGAN]), means[0], means[1], field)
    if declination_rad is None or field is None:
        return alignment_of(rest, attitude_of(rest, NORTH_RAD, q_bs), 0.0, False)
    yaw = magnetic_yaw(rest, declination_rad, q_bs)
    return alignment_of(rest, attitude_of(rest, yaw, q_bs), MAGNETIC_SIGMA_RAD, True)


def given_alignment(given: Start, gyr_bias_sigma: float) -> Alignment | None:
    """Alignment of the start, or one of a known attitude; None: the filter aligns itself."""
    if given.alignment is not None or given.q_ns is None:
        return given.alignment
    sigma = np.full(3, gyr_bias_sigma)
    return Alignment(np.asarray(given.q_ns, dtype=np.float64), 1, 0.0, 0.0, 0.0, False, np.zeros(3), sigma)
