"""The still phases of a log as a few hundred means, and the conditions that a log must meet."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from strapdown.calibration.apply import refuse_calibrated
from strapdown.calibration.calibration import FIELDS
from strapdown.errors import InputError
from strapdown.recordings.examination.limits import ALIKE_SAMPLES
from strapdown.recordings.examination.verdict import checked
from strapdown.types import Array, Recording

MOST_BLOCKS = 64  # more say no more about drift, and their covariance is a full matrix
_LEAST_SAMPLES = 10  # in a block
_SHORTEST_S = 0.5


@dataclass(frozen=True, eq=False)
class Blocks:
    """Blocks of samples at rest in the order of time: rows first[i] to last[i] (not included) of the recording.

    t: middles of the blocks (s, from the start of the recording).
    width_s: samples times the step.
    rest: index of the still phase that each belongs to.
    step_s: usual time from sample to sample.
    """

    first: NDArray[np.int64]
    last: NDArray[np.int64]
    t: Array
    width_s: Array
    rest: NDArray[np.int64]
    step_s: float

    def __len__(self) -> int:
        return len(self.t)

    @property
    def samples(self) -> int:
        return int((self.last - self.first).sum())

    def means(self, values: Array) -> Array:
        """Means of values (n,) or (n, k) of the recording: one row for each block."""
        # reduceat sums from each index to the next, so the rows between blocks are summed, too, and dropped
        edges = np.stack([self.first, self.last], axis=1).ravel()
        inside = edges < len(values)
        sums = np.add.reduceat(values, edges[inside], axis=0)[::2]
        count = self.last - self.first
        return sums / (count if values.ndim == 1 else count[:, None])


def blocks_of(t: Array, rests: Sequence[slice], most: int = MOST_BLOCKS) -> Blocks:
    """Cut still phases (rows of the recording) into about `most` blocks of about the same length."""
    step = float(np.median(np.diff(t)))
    samples = sum(rest.stop - rest.start for rest in rests)
    width = max(_LEAST_SAMPLES, round(_SHORTEST_S / step), -(-samples // most))
    first, last, of = [], [], []
    for k, rest in enumerate(rests):
        count = max(1, round((rest.stop - rest.start) / width))
        edges = np.linspace(rest.start, rest.stop, count + 1).round().astype(np.int64)
        first.append(edges[:-1])
        last.append(edges[1:])
        of.append(np.full(count, k))
    begin, end = np.concatenate(first), np.concatenate(last)
    middle = 0.5 * (t[begin] + t[end - 1]) - t[0]
    return Blocks(begin, end, middle, np.asarray((end - begin) * step, dtype=np.float64), np.concatenate(of), step)


def instruments_at_rest(recording: Recording, gravity: float | None = None) -> dict[str, Array]:
    """Accelerometer and gyroscope readings of the log by instrument. A log that is not as recorded, in SI, is refused.

    gravity (m/s2): gravity of the place, if it is known.
    """
    present = {name: getattr(recording, FIELDS[name]) for name in ("accelerometer", "gyroscope")}
    present = {name: values for name, values in present.items() if values is not None}
    if not present:
        raise InputError("the log has neither accelerometer nor gyroscope; record at least one of them")
    refuse_calibrated(recording, *present)
    checked(recording, uses=tuple(present), gravity=gravity, rests=True)
    return present


def refuse_saturated(recording: Recording, name: str, values: Array, rows: NDArray[np.bool_]) -> None:
    """Refuse saturated readings. At rest no reading is near the end of its range, unless the range is wrong or the
    sensor broken.
    """
    if recording.clipped is not None and recording.clipped[rows].any():
        first = int(np.flatnonzero(recording.clipped & rows)[0])
        raise InputError(
            f"{int(recording.clipped[rows].sum())} samples are saturated while the sensor is at rest, the first at "
            f"sample {first} (t = {recording.t[first]:.6g} s); choose a wider range and record again"
        )
    still = values[rows]
    stuck = (still == still[0]).all(axis=0)
    if stuck.any() and not stuck.all() and len(still) > ALIKE_SAMPLES:
        axis = "xyz"[int(np.argmax(stuck))]
        raise InputError(
            f"{name} {axis} reads {still[0][int(np.argmax(stuck))]:.6g} in all {len(still)} still samples, and the "
            "other axes have noise: saturated or broken; choose a wider range or check the wiring"
        )
