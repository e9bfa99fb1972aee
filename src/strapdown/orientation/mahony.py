"""Mahony's filter: proportional and integral correction, the fastest here."""

import math
from dataclasses import dataclass
from typing import ClassVar

from numpy.typing import ArrayLike

from strapdown.kernels import mahony as kernel
from strapdown.orientation.running import State, fresh_state, live_step, run_rows
from strapdown.orientation.settings import check, own_numbers
from strapdown.types import Array, Recording, Solution


@dataclass(frozen=True)
class Mahony:
    """Pulls to gravity and magnetic north in proportion to the sine of the error, and learns the gyroscope's bias.

    inclination_gain, heading_gain (1/s): one over the time constants. bias_gain (1/s2): 0 for no bias estimate; the
    bias takes about inclination_gain/bias_gain s. Gains of Mahony's kp and ki have the same meaning. magnetometer
    False: 6 axes, the heading is the gyroscope's. declination_rad: of magnetic north from true north, east positive.
    longest_step_s: a longer step is predicted only. Half a turn off, the sine is 0: start near the truth.
    """

    name: ClassVar[str] = "mahony"

    inclination_gain: float = 0.5
    heading_gain: float = 0.1
    bias_gain: float = 0.001
    magnetometer: bool = True
    declination_rad: float = 0.0
    longest_step_s: float = 0.5

    def __post_init__(self) -> None:
        check(self, from_0=("inclination_gain", "heading_gain", "bias_gain"))

    def start(self, q_ns: ArrayLike | None = None) -> State:
        """Before the first sample. q_ns: the attitude at it; without, the first readings tell it."""
        d = self.declination_rad
        gains = self.inclination_gain, self.heading_gain, self.bias_gain
        return fresh_state(own_numbers(self, *gains, math.cos(d), math.sin(d), 0.0, 0.0), q_ns)

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
