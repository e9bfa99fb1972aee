"""A body at rest."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from strapdown.checks import attitude, positive, set_fields, times_within, triple
from strapdown.types import Motion


@dataclass(frozen=True)
class Rest:
    """Rest at p_n (m) in the attitude q_nb for duration_s."""

    duration_s: float
    p_n: ArrayLike = (0.0, 0.0, 0.0)
    q_nb: ArrayLike = (1.0, 0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        set_fields(
            self,
            duration_s=positive("duration_s", self.duration_s),
            p_n=triple("p_n", self.p_n),
            q_nb=attitude("q_nb", self.q_nb),
        )

    @property
    def joints_s(self) -> tuple[float, ...]:
        """Times between phases: none."""
        return ()

    def at(self, t: ArrayLike) -> Motion:
        asked, _ = times_within(t, self.duration_s)
        n, zero = len(asked), np.zeros((len(asked), 3))
        return Motion(asked, np.tile(self.p_n, (n, 1)), zero, zero, np.tile(self.q_nb, (n, 1)), zero, zero)
