"""Many recordings through one filter at once, side by side: for studies with hundreds of runs."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from strapdown.errors import InputError
from strapdown.kernels.orientation import mahony_lanes as kernel
from strapdown.live import Start
from strapdown.orientation.mahony import Mahony
from strapdown.orientation.results import solution_of
from strapdown.orientation.running import first_numbers
from strapdown.orientation.samples import Samples, samples_of
from strapdown.types import Array, Recording, Solution


def run_many(
    filt: Mahony, recordings: Sequence[Recording], *, q_ns: ArrayLike | None = None, q_bs: ArrayLike | None = None
) -> list[Solution]:
    """Results of filt.run for each recording, except for roundoff, several at a time. Lengths and times may differ.

    q_ns: attitudes at the first samples, one for all or one row for each recording.
    q_bs: mounting of all sensors. Memory: 136 bytes for each sample of the longest recording times the number of
        recordings.
    """
    if not isinstance(filt, Mahony):
        raise InputError(f"{type(filt).__name__} cannot run side by side; use Mahony, or run recordings one by one")
    if isinstance(recordings, Recording) or not isinstance(recordings, Sequence):
        raise InputError(f"recordings is of type {type(recordings).__name__}; give a list of recordings")
    if len(recordings) == 0:
        return []
    if filt.magnetometer is None:
        have = {r.mag_s is not None for r in recordings if isinstance(r, Recording)}
        if len(have) == 2:
            raise InputError("some recordings have a magnetometer and others have none; run the two kinds apart")
        filt = replace(filt, magnetometer=have != {False})
    streams = [samples_of(r, q_bs=q_bs, use_mag=filt.magnetometer is True) for r in recordings]
    states = np.stack([first_numbers(filt, Start(q_ns=q)) for q in _first_attitudes(q_ns, len(streams))])
    n = max(len(s.t) for s in streams)
    dt = _side_by_side([s.dt for s in streams], n, ())
    gyr, acc = (_side_by_side([getattr(s, name) for s in streams], n, (3,)) for name in ("gyr", "acc"))
    mag, mag_new = _locked(np.empty((0, 3, len(streams)))), _locked(np.empty((0, len(streams))))
    if filt.magnetometer:
        mag = _side_by_side([s.mag for s in streams], n, (3,))
        mag_new = _side_by_side([s.mag_new.astype(np.float64) for s in streams], n, ())
    q, bias = np.empty((n, 4, len(streams))), np.empty((n, 3, len(streams)))
    flags = np.empty((n, len(streams)))
    kernel.rows(states, filt.packed_settings, dt, gyr, acc, mag, mag_new, q, bias, flags)
    return [_solution(filt, s, q[..., j], bias[..., j], flags[:, j]) for j, s in enumerate(streams)]


def _first_attitudes(q_ns: ArrayLike | None, count: int) -> list[Array | None]:
    """First attitude of each recording; None where its first sample gives it."""
    if q_ns is None:
        return [None] * count
    try:
        given = np.asarray(q_ns, dtype=np.float64)
    except (ValueError, TypeError):  # text, rows of different lengths
        given = np.empty(0)
    if given.shape not in ((4,), (count, 4)):
        raise InputError(
            f"q_ns does not fit {count} recordings; give one quaternion (w, x, y, z) for all, or one for each"
        )
    return list(np.broadcast_to(given, (count, 4)))


def _side_by_side(columns: list[Array], n: int, item: tuple[int, ...]) -> Array:
    """Arrays (row, axis, stream), zeros after the end of a stream."""
    out = np.zeros((n, *item, len(columns)))
    for j, column in enumerate(columns):
        out[: len(column), ..., j] = column
    return _locked(out)


def _locked(array: Array) -> Array:
    array.flags.writeable = False  # the kernel is compiled for inputs that do not change
    return array


def _solution(filt: Mahony, samples: Samples, q: Array, bias: Array, flags: Array) -> Solution:
    n = len(samples.t)
    return solution_of(samples, q[:n], bias[:n], None, flags[:n], {"filter": filt.name}, filt.longest_step_s)
