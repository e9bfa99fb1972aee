"""Paper B's idea without its faults: a complementary filter of quaternions with time constants."""

from dataclasses import dataclass
from typing import ClassVar

from numpy.typing import ArrayLike

from strapdown.errors import InputError
from strapdown.kernels import complementary as kernel
from strapdown.orientation.running import State, fresh_state, live_step, run_rows
from strapdown.orientation.settings import check, own_numbers
from strapdown.types import Array, Recording, Solution

MEMORY = (0.0,) * 7  # of the low-pass and the last magnetometer reading


@dataclass(frozen=True)
class Complementary:
    """The gyroscope for the short run, accelerometer and magnetometer for the long run.

    inclination_s, heading_s: how fast an error goes to 1/e of it, whatever the rate. low_pass_s: of accelerometer and
    magnetometer before that, in frame n so that turning does not blur them; at most a quarter of the time constants,
    or it would swing. magnetometer False: 6 axes, the heading is the gyroscope's. declination_rad: of magnetic north
    from true north, east positive. longest_step_s: a longer step is predicted only.
    """

    name: ClassVar[str] = "complementary"

    inclination_s: float = 2.0
    heading_s: float = 10.0
    low_pass_s: float = 0.0
    magnetometer: bool = True
    declination_rad: float = 0.0
    longest_step_s: float = 0.5

    def __post_init__(self) -> None:
        check(self, above_0=("inclination_s", "heading_s"), from_0=("low_pass_s",))
        if self.low_pass_s > 0.25 * min(self.inclination_s, self.heading_s):
            raise InputError(
                f"low_pass_s is {self.low_pass_s:g}, more than a quarter of inclination_s or heading_s, and the filter "
                "would swing; make it shorter"
            )

    def start(self, q_ns: ArrayLike | None = None) -> State:
        """Before the first sample. q_ns: the attitude at it; without, the first readings tell it."""
        return fresh_state(own_numbers(self, self.inclination_s, self.heading_s, self.low_pass_s, *MEMORY), q_ns)

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
