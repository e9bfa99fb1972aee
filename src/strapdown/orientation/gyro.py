"""The gyroscope alone: what every filter has to be better than."""

from dataclasses import dataclass
from typing import ClassVar

from numpy.typing import ArrayLike

from strapdown.kernels import gyro as kernel
from strapdown.orientation.running import State, fresh_state, live_step, run_rows
from strapdown.orientation.settings import check, own_numbers
from strapdown.types import Array, Recording, Solution


@dataclass(frozen=True)
class Gyro:
    """The turn of the gyroscope from the first attitude on, by the mean of neighbouring readings; nothing corrects it.

    For short times, and to see what corrections are worth. magnetometer: whether the first heading comes from it.
    declination_rad (rad, east positive), longest_step_s (s): longer steps are gaps, and said so.
    """

    name: ClassVar[str] = "gyro"

    magnetometer: bool = True
    declination_rad: float = 0.0
    longest_step_s: float = 0.5

    def __post_init__(self) -> None:
        check(self)

    def start(self, q_ns: ArrayLike | None = None) -> State:
        """Before the first sample. q_ns: the attitude at it; without, the first readings tell it."""
        return fresh_state(own_numbers(self), q_ns)

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
            reports_bias=False,
        )
