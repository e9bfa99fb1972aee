"""A straight run with trapezoidal speed."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from strapdown.checks import Array, attitude, not_negative, positive, set_fields, times_within, triple
from strapdown.errors import InputError
from strapdown.motion.paths.profile import Keep, Phase, Profile, Ramp
from strapdown.rotation import q_from_euler
from strapdown.types import Motion


@dataclass(frozen=True)
class Linear:
    """Run straight from start_p_n to end_p_n (m): accelerate, hold speed_m_s, brake; a short path has no hold.

    q_nb: the attitude; None: level, heading along the run (a vertical run faces east). The acceleration jumps
    between the phases; at such a time the later value counts.
    """

    start_p_n: ArrayLike
    end_p_n: ArrayLike
    speed_m_s: float
    acceleration_m_s2: float
    rest_before_s: float = 0.0
    rest_after_s: float = 0.0
    q_nb: ArrayLike | None = None

    def __post_init__(self) -> None:
        set_fields(
            self,
            start_p_n=triple("start_p_n", self.start_p_n),
            end_p_n=triple("end_p_n", self.end_p_n),
            speed_m_s=positive("speed_m_s", self.speed_m_s),
            acceleration_m_s2=positive("acceleration_m_s2", self.acceleration_m_s2),
            rest_before_s=not_negative("rest_before_s", self.rest_before_s),
            rest_after_s=not_negative("rest_after_s", self.rest_after_s),
            q_nb=None if self.q_nb is None else attitude("q_nb", self.q_nb),
        )
        if self.start_p_n == self.end_p_n:
            raise InputError("start_p_n and end_p_n are the same place; use a rest for a body that stands")

    @cached_property
    def _way_n(self) -> Array:
        return np.subtract(self.end_p_n, self.start_p_n)

    @cached_property
    def _length(self) -> Profile:
        way_m, speed, acceleration = np.linalg.norm(self._way_n), self.speed_m_s, self.acceleration_m_s2
        plateau_s = float(way_m / speed - speed / acceleration)
        if plateau_s <= 0.0:  # too short to reach the speed: brake half way
            speed = float(np.sqrt(way_m * acceleration))
        phases: list[Phase] = [Ramp(speed, speed / acceleration), Ramp(0.0, speed / acceleration)]
        if plateau_s > 0.0:
            phases.insert(1, Keep(plateau_s))
        if self.rest_before_s:
            phases.insert(0, Keep(self.rest_before_s))
        if self.rest_after_s:
            phases.append(Keep(self.rest_after_s))
        return Profile(phases)

    @property
    def duration_s(self) -> float:
        return self._length.duration_s

    @property
    def joints_s(self) -> tuple[float, ...]:
        """Times between phases."""
        return self._length.inner_joints_s

    def at(self, t: ArrayLike) -> Motion:
        asked, inside = times_within(t, self.duration_s)
        s, v, a, _ = (x[:, None] for x in self._length.at(inside))
        along_n, zero = self._way_n / np.linalg.norm(self._way_n), np.zeros((len(asked), 3))
        q_nb = self.q_nb
        if q_nb is None:
            q_nb = q_from_euler(0.0, 0.0, np.arctan2(along_n[1], along_n[0]))
        return Motion(
            asked,
            np.add(self.start_p_n, s * along_n),
            v * along_n,
            a * along_n,
            np.tile(q_nb, (len(asked), 1)),
            zero,
            zero,
        )
