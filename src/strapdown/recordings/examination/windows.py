"""Short windows spread over a log: means and scatter, from which units and rest are judged at a bounded cost."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from strapdown.types import Array, Recording

WINDOW_S, LEAST_SAMPLES = 0.5, 16
_MOST_WINDOWS = 400
_QUIETEST = 0.1  # of the windows
_MOST = 1e6  # no sensor reads more; squares and their sums stay numbers


def tamed(values: Array) -> Array:
    """Readings with single values beyond any sensor clipped."""
    return np.clip(values, -_MOST, _MOST)


@dataclass(frozen=True, eq=False)
class Windows:
    """Windows in the order of time. Means (k, 3) and scatter (k,: largest axis) of a sample; noise: of the gyroscope,
    by second differences, which motion hardly has. None where the log has no such instrument.

    field_turn, field_as_read: angle (rad) between the mean fields of a window's halves, and the angle that the mean
    rate turns the field by in that time."""

    acc_mean: Array | None
    acc_scatter: Array | None
    gyr_mean: Array | None
    gyr_scatter: Array | None
    gyr_noise: Array | None
    field_turn: Array | None = None
    field_as_read: Array | None = None

    @property
    def gyr_rate(self) -> Array:
        """Norm of the mean rates."""
        assert self.gyr_mean is not None
        return np.asarray(np.linalg.norm(self.gyr_mean, axis=1))

    @property
    def quietest(self) -> NDArray[np.int64]:
        """Indices of the windows where the accelerometer, else the gyroscope, scatters least."""
        scatter = self.acc_scatter if self.acc_scatter is not None else self.gyr_scatter
        assert scatter is not None
        return np.argsort(scatter, kind="stable")[: max(2, int(_QUIETEST * len(scatter)))]


def windows_of(recording: Recording) -> Windows | None:
    """None for a log of less than two windows, and for one without accelerometer and gyroscope."""
    step = recording.step_s
    if (recording.acc_s is None and recording.gyr_s is None) or step <= 0.0:
        return None
    width = max(LEAST_SAMPLES, round(WINDOW_S / step))
    count = len(recording) // width
    if count < 2:
        return None
    chosen = np.unique(np.linspace(0, count - 1, min(count, _MOST_WINDOWS)).astype(np.int64))

    def cut(values: Array) -> Array:
        """Data without the extreme readings of each window: a single spike is no wrong unit."""
        each = tamed(values[: count * width].reshape(count, width, 3)[chosen])
        ordered = np.partition(each, (1, width - 2), axis=1)
        return np.clip(each, ordered[:, 1:2], ordered[:, width - 2 : width - 1])

    acc_mean = acc_scatter = gyr_mean = gyr_scatter = gyr_noise = None
    if recording.acc_s is not None:
        acc = cut(recording.acc_s)
        acc_mean, acc_scatter = acc.mean(axis=1), acc.std(axis=1).max(axis=1)
    if recording.gyr_s is not None:
        gyr = cut(recording.gyr_s)
        gyr_mean, gyr_scatter = gyr.mean(axis=1), gyr.std(axis=1).max(axis=1)
        gyr_noise = np.diff(gyr, n=2, axis=1).std(axis=1).max(axis=1) / np.sqrt(6.0)
    field_turn = field_as_read = None
    if recording.mag_s is not None and gyr_mean is not None:
        halves = np.array_split(cut(recording.mag_s), 2, axis=1)
        first, last = (_directions(half.mean(axis=1)) for half in halves)
        field_turn = np.linalg.norm(np.cross(first, last), axis=1)
        field_as_read = 0.5 * width * step * np.linalg.norm(np.cross(gyr_mean, first), axis=1)
    return Windows(acc_mean, acc_scatter, gyr_mean, gyr_scatter, gyr_noise, field_turn, field_as_read)


def _directions(vectors: Array) -> Array:
    """Unit vectors; zeros stay zeros."""
    size = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(size > 0.0, size, 1.0))
