"""Madgwick's filter: a gradient step of fixed length in each sample."""

import math
from dataclasses import dataclass
from typing import ClassVar

from numpy.typing import ArrayLike

from strapdown.errors import InputError
from strapdown.kernels import madgwick as kernel
from strapdown.orientation.running import State, fresh_state, live_step, run_rows
from strapdown.orientation.settings import check, own_numbers
from strapdown.types import Array, Recording, Solution


@dataclass(frozen=True)
class Madgwick:
    """Turns at most at 2 beta_rad_s towards gravity and north, however large the error.

    beta_rad_s: as published, 0.1 for most; a gyroscope's bias must stay below 2 beta. zeta_rad_s2: how fast the bias
    estimate moves, 0 for none. The magnetometer pulls on the inclination too, as published. magnetometer False: 6 axes,
    the heading is the gyroscope's. declination_rad: of magnetic north from true north, east positive. longest_step_s:
    a longer step is predicted only.
    """

    name: ClassVar[str] = "madgwick"

    beta_rad_s: float = 0.1
    zeta_rad_s2: float = 0.0
    magnetometer: bool = True
    declination_rad: float = 0.0
    longest_step_s: float = 0.5

    def __post_init__(self) -> None:
        check(self, from_0=("beta_rad_s", "zeta_rad_s2"))
        if self.zeta_rad_s2 > 0.0 and self.beta_rad_s == 0.0:
            raise InputError("zeta_rad_s2 is above 0 and beta_rad_s is 0; a bias is learnt from corrections, give both")

    def start(self, q_ns: ArrayLike | None = None) -> State:
        """Before the first sample. q_ns: the attitude at it; without, the first readings tell it."""
        d = self.declination_rad
        return fresh_state(own_numbers(self, self.beta_rad_s, self.zeta_rad_s2, math.cos(d), math.sin(d)), q_ns)

    def step(self, state: State, gyr_s: Array, acc_s: Array, mag_s: Array | None = None, *, dt: float) -> State:
        """One sample (rad/s, m/s2, uT; arrays of three doubles), dt s after the last; mag_s None: no new reading."""
        return live_step(kernel.step, state, gyr_s, acc_s, mag_s if self.magnetometer else None, dt)

    def run(
        self,
        recording: Recording,
        *,
        q_ns: ArrayLike | None = None,
        magnetometer: Recording | None = None,
        q_bs: ArrayLike | None = None,
    ) -> Solution:
        """A whole recording: the same numbers as its steps."""
        return run_rows(
            kernel.rows,
            self.start(q_ns),
            recording,
            name=self.name,
            magnetometer=magnetometer,
            q_bs=q_bs,
            use_mag=self.magnetometer,
            longest_step_s=self.longest_step_s,
            reports_bias=True,
        )
