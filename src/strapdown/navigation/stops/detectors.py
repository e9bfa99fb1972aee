"""Stop detectors that look at the IMU alone, as published by Skog, Händel, Nilsson and Rantakokko (2010).

A detector is its settings. Its statistic is a mean square over a window in units of the given deviations; it stands
where the statistic is below the threshold. sigma_m_s2, sigma_rad_s are weights as much as noise: the published
thresholds belong to them. A fixed threshold fits one gait; adaptive_stops.py has one that follows it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from strapdown import earth
from strapdown.errors import InputError
from strapdown.kernels.navigation import stop_detectors as kernels
from strapdown.types import Array, Recording


class StopDetector(Protocol):
    """What all of them can do."""

    @property
    def name(self) -> str: ...

    def statistic(self, recording: Recording) -> Array:
        """One number for each sample; small where the sensor stands."""

    def stops(self, recording: Recording) -> NDArray[np.bool_]:
        """Where the sensor stands."""


@dataclass(frozen=True)
class _Windowed:
    """window_s: length of the window. look_ahead: it lies around the sample; False: before it, as live use needs."""

    window_s: float = 0.025
    look_ahead: bool = True

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, float | int) and not isinstance(value, bool) and not 0.0 < value < np.inf:
                raise InputError(f"{name} of the detector is {value}; give a number above 0")

    def _windows(self, t: Array) -> tuple[int, int]:
        return windows(t, self.window_s, self.look_ahead)


@dataclass(frozen=True)
class Shoe(_Windowed):
    """Stance hypothesis optimal estimation: the force is gravity and nothing turns.

    The deviations are those of the foot_vicon data set's authors, and so is the order of the threshold: 2e6 for slow
    walks to 5e8 for runs.
    """

    name: str = field(default="shoe", init=False)
    threshold: float = 1e7
    sigma_m_s2: float = 0.00098
    sigma_rad_s: float = 8.7266463e-5
    gravity: str | float = "earth"

    def statistic(self, recording: Recording) -> Array:
        acc, gyr = _force(recording), _rate(recording)
        g = earth.gravity(self.gravity)
        return _rows(
            kernels.shoe_rows, recording, gyr, acc, g, self.sigma_m_s2, self.sigma_rad_s, *self._windows(recording.t)
        )

    def stops(self, recording: Recording) -> NDArray[np.bool_]:
        return self.statistic(recording) < self.threshold


@dataclass(frozen=True)
class Ared(_Windowed):
    """Angular rate energy: nothing turns."""

    name: str = field(default="ared", init=False)
    threshold: float = 0.1
    sigma_rad_s: float = 1.0

    def statistic(self, recording: Recording) -> Array:
        gyr = _rate(recording)
        return _rows(kernels.ared_rows, recording, gyr, self.sigma_rad_s, *self._windows(recording.t))

    def stops(self, recording: Recording) -> NDArray[np.bool_]:
        return self.statistic(recording) < self.threshold


@dataclass(frozen=True)
class MovingVariance(_Windowed):
    """Acceleration moving variance (MV): the force does not change."""

    name: str = field(default="mv", init=False)
    threshold: float = 1.0
    sigma_m_s2: float = 1.0

    def statistic(self, recording: Recording) -> Array:
        acc = _force(recording)
        return _rows(kernels.moving_variance_rows, recording, acc, self.sigma_m_s2, *self._windows(recording.t))

    def stops(self, recording: Recording) -> NDArray[np.bool_]:
        return self.statistic(recording) < self.threshold


@dataclass(frozen=True)
class Magnitude(_Windowed):
    """Acceleration magnitude (MAG): the force is as long as gravity."""

    name: str = field(default="mag", init=False)
    threshold: float = 1.0
    sigma_m_s2: float = 1.0
    gravity: str | float = "earth"

    def statistic(self, recording: Recording) -> Array:
        acc = _force(recording)
        g = earth.gravity(self.gravity)
        return _rows(kernels.magnitude_rows, recording, acc, g, self.sigma_m_s2, *self._windows(recording.t))

    def stops(self, recording: Recording) -> NDArray[np.bool_]:
        return self.statistic(recording) < self.threshold


def windows(t: Array, window_s: float, look_ahead: bool) -> tuple[int, int]:
    """Samples before and after each one that its window holds, from the median step; at least three together."""
    if len(t) < 3:
        raise InputError(f"the recording has {len(t)} samples; a stop detector needs three or more")
    size = max(round(window_s / float(np.median(np.diff(t)))), 3)
    if size > len(t):
        raise InputError(
            f"a window of {window_s:g} s is {size} samples and the recording has {len(t)}; give a shorter window"
        )
    return (size // 2, size - 1 - size // 2) if look_ahead else (size - 1, 0)


def _rows(kernel: Callable[..., None], recording: Recording, *values: Any) -> Array:
    out = np.empty(len(recording))
    kernel(*values, out)
    out.flags.writeable = False
    return out


def _force(recording: Recording) -> Array:
    if recording.acc_s is None:
        raise InputError("the recording has no accelerometer, which this stop detector looks at; take another one")
    return recording.acc_s


def _rate(recording: Recording) -> Array:
    if recording.gyr_s is None:
        raise InputError("the recording has no gyroscope, which this stop detector looks at; take another one")
    return recording.gyr_s
