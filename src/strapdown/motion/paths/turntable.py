"""A turntable: turning about an axis fixed in the body, through phases of its angle."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from strapdown.checks import attitude, direction, finite, set_fields, times_within, triple
from strapdown.keywords import shows_keywords
from strapdown.motion.paths.profile import Keep, MoveTo, Phase, Profile
from strapdown.rotation import q_exp, q_mul
from strapdown.types import Motion


@shows_keywords("constant", "positions", without=("start_rate_rad_s",))
@dataclass(frozen=True)
class Turntable:
    """Turn about axis_b through phases of the angle (rad), from angle 0 at start_rate_rad_s.

    Phases: Keep (plateau), Ramp (linear in rate), SmoothRamp (limited jerk), MoveTo (turn to an angle, rest to rest).

    p_n (m): a point on the axis; use Motion.seen_from for a sensor away from it.
    q_nb: the attitude at angle 0.

    The angular acceleration jumps only where a Ramp starts or ends.
    """

    phases: Sequence[Phase]
    axis_b: ArrayLike = (0.0, 0.0, 1.0)
    start_rate_rad_s: float = 0.0
    p_n: ArrayLike = (0.0, 0.0, 0.0)
    q_nb: ArrayLike = (1.0, 0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        set_fields(
            self,
            phases=tuple(self.phases),
            axis_b=direction("axis_b", self.axis_b),
            start_rate_rad_s=finite("start_rate_rad_s", self.start_rate_rad_s),
            p_n=triple("p_n", self.p_n),
            q_nb=attitude("q_nb", self.q_nb),
        )
        _ = self._angle  # a chain of phases that does not fit together is refused here, not later

    @classmethod
    def constant(cls, rate_rad_s: float, duration_s: float, **settings: Any) -> Self:
        """Turn at one rate all the time."""
        return cls([Keep(duration_s)], start_rate_rad_s=rate_rad_s, **settings)

    @classmethod
    def positions(cls, angles_rad: Sequence[float], turn_s: float, hold_s: float, **settings: Any) -> Self:
        """Hold at angle 0, then turn to each angle one after the other and hold there."""
        phases: list[Phase] = [Keep(hold_s)]
        for angle_rad in angles_rad:
            phases += [MoveTo(angle_rad, turn_s), Keep(hold_s)]
        return cls(phases, **settings)

    @cached_property
    def _angle(self) -> Profile:
        return Profile(self.phases, rate=self.start_rate_rad_s)

    @property
    def duration_s(self) -> float:
        return self._angle.duration_s

    @property
    def joints_s(self) -> tuple[float, ...]:
        """Times between phases."""
        return self._angle.inner_joints_s

    def at(self, t: ArrayLike) -> Motion:
        asked, inside = times_within(t, self.duration_s)
        angle, rate, acceleration, _ = (x[:, None] for x in self._angle.at(inside))
        axis_b, zero = np.array(self.axis_b), np.zeros((len(asked), 3))
        return Motion(
            asked,
            np.tile(self.p_n, (len(asked), 1)),
            zero,
            zero,
            q_mul(self.q_nb, q_exp(angle * axis_b)),
            rate * axis_b,
            acceleration * axis_b,
        )
