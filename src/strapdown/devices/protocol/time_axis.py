"""The module's time stamps as one axis, and its map to the host's clock.

Stamps are microseconds in 32 bits. Time stamps wrap after 71.6 minutes and restart at 0 when the module is reset.
"""

from collections import deque

import numpy as np

WRAP_US = 1 << 32
_BUCKET_US = 1_000_000  # of one point of the fit: the frame with the shortest way through the system
_POINTS = 300  # five minutes


class TimeAxis:
    """Continuous time from the time stamps of a module, which wrap.

    offset_us: time on the axis less the stamp, for the stamps that follow.
    """

    def __init__(self) -> None:
        self.offset_us = 0
        self.last_us: int | None = None  # on the axis
        self.last_host_s = 0.0

    def ahead_us(self, stamp: int) -> int:
        """Time (us) from the last stamp to this one, by its 32 bits: 2^31 and more is backward."""
        return 0 if self.last_us is None else (stamp - self.last_us + self.offset_us) % WRAP_US

    def take(self, stamp: int, host_s: float | None = None) -> int:
        """Time on the axis (us) of a stamp that follows the last one.

        host_s: monotone, to count the wraps of a long silence; None: at most one.
        """
        if self.last_us is None:
            self.last_us = stamp + self.offset_us
        else:
            ahead = self.ahead_us(stamp)
            if host_s is not None:
                silent_us = (host_s - self.last_host_s) * 1e6
                ahead += WRAP_US * max(round((silent_us - ahead) / WRAP_US), 0)
            self.last_us += ahead
        self.offset_us = self.last_us - stamp
        self.last_host_s = self.last_host_s if host_s is None else host_s
        return self.last_us

    def restart(self, stamp: int, host_s: float) -> None:
        """The module was reset: its stamps continue after the silence that the host has measured, 1 us at least."""
        if self.last_us is None:
            return
        silent_us = max(round((host_s - self.last_host_s) * 1e6), 1)
        self.offset_us = self.last_us + silent_us - stamp
        self.last_us += silent_us
        self.last_host_s = host_s


class ClockFit:
    """Linear fit host = offset + rate * module, by least squares over the fastest frame of each second of the last
    minutes.
    """

    def __init__(self) -> None:
        self._points: deque[tuple[float, float]] = deque(maxlen=_POINTS)
        self._bucket = -1
        self._best: tuple[float, float] | None = None

    def put(self, axis_us: int, host_s: float) -> None:
        """Add a frame with its stamp on the axis, and its time of arrival."""
        bucket = axis_us // _BUCKET_US
        module_s = axis_us * 1e-6
        if bucket != self._bucket:
            if self._best is not None:
                self._points.append(self._best)
            self._bucket, self._best = bucket, None
        if self._best is None or host_s - module_s < self._best[1] - self._best[0]:
            self._best = (module_s, host_s)

    def fit(self) -> tuple[float, float, float] | None:
        """Offset (s), drift of the host against the module (ppm) and rms residual (s); None before three points."""
        if len(self._points) < 3:
            return None
        points = np.array(self._points)
        module, late = points[:, 0] - points[0, 0], points[:, 1] - points[:, 0]
        drift, offset = np.polyfit(module, late, 1)
        residual = late - (offset + drift * module)
        return float(offset - drift * points[0, 0]), float(1e6 * drift), float(np.sqrt(np.mean(residual**2)))

    def host_s(self, axis_us: int) -> float | None:
        """The host's time of an instant of the module, by the fit."""
        found = self.fit()
        if found is None:
            return None
        offset, ppm, _ = found
        module = axis_us * 1e-6
        return module + offset + 1e-6 * ppm * module
