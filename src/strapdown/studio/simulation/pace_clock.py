"""Relation of the time of the simulation to the wall clock."""

import time
from collections import deque

from strapdown.studio.buffers import FRAME_HZ

_LATE_S = 1.0  # time that is made up for after a stall; more is lost, and the real-time factor falls


class PaceClock:
    def __init__(self) -> None:
        self.speed = 1.0  # seconds of the simulation per second, as wanted
        self.restart(0.0)

    def restart(self, t_s: float) -> None:
        """The time t_s of the simulation is due now."""
        self._from_wall, self._from_s = time.perf_counter(), t_s
        self._pace: deque[tuple[float, float]] = deque(maxlen=round(FRAME_HZ))

    def due_s(self, now: float, t_s: float) -> float:
        """The time to which the simulation, which is at t_s, must continue."""
        target = self._from_s + (now - self._from_wall) * self.speed
        latest = t_s + _LATE_S * self.speed
        if target > latest:
            self._from_s -= target - latest
            return latest
        return target

    def reached(self, now: float, t_s: float) -> None:
        """Note the time that the simulation has reached."""
        self._pace.append((now, t_s))

    def factor(self) -> float:
        """Seconds of the simulation per second of the clock, over the last second."""
        if len(self._pace) < 2:
            return 0.0
        (wall, first), (now, last) = self._pace[0], self._pace[-1]
        return (last - first) / (now - wall) if now > wall else 0.0
