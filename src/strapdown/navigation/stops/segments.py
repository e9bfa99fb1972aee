"""Segments of a recording in which force and rate are constant, as far as noise shows."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from strapdown.kernels.compiled import fix_signature
from strapdown.kernels.navigation import stop_segments as kernel
from strapdown.navigation.stops.judged import both_instruments
from strapdown.navigation.stops.wheel import rolling
from strapdown.types import Array, Recording

BLOCK_S = 0.05  # means over so long are cut into segments
GAP_S = 0.5  # a longer step ends a segment
LONGEST_S = 10.0  # of a segment; the chain joins those of one stop


class Noise(Protocol):
    """What a cut needs to know."""

    @property
    def acc_white(self) -> float: ...
    @property
    def gyr_white(self) -> float: ...
    @property
    def false_alarm(self) -> float: ...


@dataclass(frozen=True, eq=False)
class Segments:
    """Segments that follow each other.

    first, count: the first row of each, and the number of its rows.
    length_s: time of each.
    rate_s: mean rate without the bias (rad/s).
    acc_var, gyr_var: variance of a reading about the mean, mean of the axes.
    table: columns of kernels/navigation/stop_segments.py.
    gravity: of the known rest (m/s2).
    """

    first: NDArray[np.int64]
    count: NDArray[np.int64]
    length_s: Array
    rate_s: Array
    acc_var: Array
    gyr_var: Array
    table: Array
    gravity: float

    def __len__(self) -> int:
        return len(self.first)

    def at(self, row: int) -> int:
        """The segment of a row."""
        return int(np.searchsorted(self.first, row, side="right")) - 1

    def most(self, flags: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Segments of which most rows have this flag."""
        return np.asarray(2 * np.add.reduceat(flags.astype(np.int64), self.first) > self.count)

    def columns(self, own: Array) -> Array:
        """Columns as the kernel reads them.

        own: evidence of the segments' own readings.
        """
        table = self.table.copy()
        table[:, kernel.OWN] = own
        return table


def segments_of(noise: Noise, recording: Recording, rest: tuple[int, int]) -> Segments:
    """Segments between changes of force and rate. They also end where the controller's signal changes, where the wheel
    begins or ends to turn, and at gaps.

    rest: first and last row of a known rest.
    """
    gyr, acc = both_instruments(recording)
    n, step_s = len(recording), recording.step_s
    bias, force = (np.ascontiguousarray(x[rest[0] : rest[1] + 1].mean(axis=0)) for x in (gyr, acc))
    steps = np.diff(recording.t, prepend=recording.t[0] - step_s)
    marks = [np.flatnonzero(steps > GAP_S), _changes(rolling(recording))]
    if recording.stop is not None:
        marks.append(_changes(recording.stop))
    forced = np.unique(np.concatenate(marks))
    dt = np.minimum(steps, GAP_S)
    edges = _cut(noise, (acc - force, gyr - bias), dt, forced[(forced > 0) & (forced < n)])
    a, b = edges[:-1], edges[1:]
    velocity, turn, angle = np.zeros((n + 1, 3)), np.zeros((n + 1, 3)), np.zeros(n + 1)
    for array in (dt, bias):
        array.flags.writeable = False
    fix_signature(kernel.turned_back)
    kernel.turned_back(gyr, acc, dt, bias, velocity, turn, angle)
    times = np.concatenate([[recording.t[0] - step_s], recording.t])
    length = times[b] - times[a]
    mean_f, mean_w = ((x[b] - x[a]) / length[:, None] for x in (velocity, turn))
    # a bias turns the frame; the force of a stop is at its begin and its end what it is in its middle, turned by it
    half = 0.5 * length[:, None] * np.cross(mean_w, mean_f)
    table = np.zeros((len(a), kernel.COLUMNS))
    table[:, kernel.BEGIN_S], table[:, kernel.END_S] = times[a], times[b]
    table[:, kernel.TURNED_0], table[:, kernel.TURNED_1] = angle[a], angle[b]
    for column, value in (
        *((kernel.V_0, velocity[a]), (kernel.V_1, velocity[b])),
        *((kernel.F_0, mean_f - half), (kernel.F_1, mean_f + half), (kernel.RATE, mean_w)),
    ):
        table[:, column : column + 3] = value
    means, variances = zip(*(_statistics(x, a, b - a) for x in (gyr - bias, acc - force)), strict=True)
    gravity = float(np.linalg.norm(force))
    return Segments(a, b - a, length, means[0], variances[1], variances[0], table, gravity)


def _cut(noise: Noise, readings: tuple[Array, Array], dt: Array, forced: NDArray[np.int64]) -> NDArray[np.int64]:
    """First rows of the segments, and the number of rows."""
    from scipy.special import chdtri

    n, step_s = len(dt), float(np.median(dt))
    size = max(round(BLOCK_S / step_s), 2)
    edges = np.union1d(np.append(np.arange(0, n, size), n), forced).astype(np.int64)
    starts = edges[:-1]
    count = np.diff(edges)[:, None]
    values = np.column_stack(
        [
            np.add.reduceat(x, starts) / (count * white)
            for x, white in zip(readings, (noise.acc_white, noise.gyr_white), strict=True)
        ]
    )
    before = np.zeros(len(edges), dtype=np.int64)
    weights = np.add.reduceat(dt, starts)
    must = np.isin(starts, forced)
    for array in (values, weights, must):
        array.flags.writeable = False
    fix_signature(kernel.cut)
    penalty = float(chdtri(values.shape[1], noise.false_alarm))
    kernel.cut(values, weights, must, penalty, max(round(LONGEST_S / (size * step_s)), 1), before)
    found, k = [n], len(starts)
    while k > 0:
        k = int(before[k])
        found.append(int(starts[k]))
    return np.array(found[::-1], dtype=np.int64)


def _statistics(x: Array, first: NDArray[np.int64], count: NDArray[np.int64]) -> tuple[Array, Array]:
    """Mean of each segment, and variance of a reading about it."""
    mean = np.add.reduceat(x, first) / count[:, None]
    off = x - np.repeat(mean, count, axis=0)
    return mean, np.add.reduceat((off * off).sum(axis=1), first) / (3.0 * np.maximum(count - 1, 1))


def _changes(flags: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Rows at which a flag is another than at the row before."""
    return np.flatnonzero(np.diff(flags)) + 1
