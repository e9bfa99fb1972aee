"""Paper B's idea without its faults: a complementary filter of quaternions with time constants."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from strapdown.errors import InputError
from strapdown.kernels.orientation import complementary as kernel
from strapdown.orientation.running import OrientationFilter
from strapdown.orientation.settings import check


@dataclass(frozen=True)
class Complementary(OrientationFilter):
    """The gyroscope determines fast changes, accelerometer and magnetometer slow ones.

    inclination_s, heading_s: time in which an error decays to 1/e, whatever the rate.
    low_pass_s: low-pass of accelerometer and magnetometer before the correction, in frame n so that turning does not
    blur them.
        The low-pass is at most a quarter of the time constants, or the filter would oscillate.
    magnetometer: None: 9 axes if the log has one; False: 6 axes, the heading is the gyroscope's.
    declination_rad: declination of magnetic north from true north, east positive.
    longest_step_s: a longer step is predicted only.
    """

    name: ClassVar[str] = "complementary"
    kernel: ClassVar[Any] = kernel
    reports_bias: ClassVar[bool] = False

    inclination_s: float = 2.0
    heading_s: float = 10.0
    low_pass_s: float = 0.0
    magnetometer: bool | None = None
    declination_rad: float = 0.0
    longest_step_s: float = 0.5

    def __post_init__(self) -> None:
        check(self, above_0=("inclination_s", "heading_s"), from_0=("low_pass_s",))
        if self.low_pass_s > 0.25 * min(self.inclination_s, self.heading_s):
            raise InputError(
                f"low_pass_s is {self.low_pass_s:g}, more than a quarter of inclination_s or heading_s, and the filter "
                "would swing; make it shorter"
            )

    def own_settings(self) -> Mapping[int, float]:
        return {
            kernel.INCLINATION_S: self.inclination_s,
            kernel.HEADING_S: self.heading_s,
            kernel.LOW_PASS_S: self.low_pass_s,
        }
