"""Watches the true motion: tipped over, hit the ground, left the scene, in the air or not."""

import math
from typing import NamedTuple

from strapdown.environment.session.events import SessionEvent

TIPPED_DEG = 75.0  # from upright: no control of ours recovers from there
_TIPPED = math.cos(math.radians(TIPPED_DEG))
HARD_M_S = 2.0  # downward speed that a landing gear does not take
_AIRBORNE_M = 0.05  # above the start
LOST = ("tipped", "impact", "away")


class Watch(NamedTuple):
    """State of the watch so far.

    radius_m: distance from the start at which the scene ends.
    falling: vertical speed at the last check.
    """

    start: tuple[float, float, float]
    radius_m: float
    falling: float = 0.0
    airborne: bool = False
    seen: frozenset[str] = frozenset()

    def look(self, t: float, row: list[float], flies: bool) -> tuple["Watch", tuple[SessionEvent, ...]]:
        """Examine the state of the vehicle once.

        row: row of the plant, for the body (live.PLANT_COLUMNS).
        """
        x, y = row[4], row[5]
        up = 1.0 - 2.0 * (x * x + y * y)
        vz, high = row[9], row[2] - self.start[2]
        events = []
        seen = self.seen
        if up < _TIPPED and "tipped" not in seen:
            seen |= {"tipped"}
            events.append(SessionEvent(t, "tipped", {"tilt_deg": math.degrees(math.acos(max(-1.0, up)))}))
        if flies:
            if self.falling < -HARD_M_S and vz > 0.5 * self.falling and high < 0.5 and "impact" not in seen:
                seen |= {"impact"}
                events.append(SessionEvent(t, "impact", {"speed_m_s": -self.falling}))
            airborne = high > _AIRBORNE_M if not self.airborne else high > 0.5 * _AIRBORNE_M
            if airborne != self.airborne:
                events.append(SessionEvent(t, "lift_off" if airborne else "touch_down"))
        else:
            airborne = False
        distance = math.dist(row[0:3], self.start)
        if distance > self.radius_m and "away" not in seen:
            seen |= {"away"}
            events.append(SessionEvent(t, "away", {"distance_m": distance}))
        return Watch(self.start, self.radius_m, vz, airborne, seen), tuple(events)

    @property
    def lost(self) -> bool:
        return bool(self.seen)
