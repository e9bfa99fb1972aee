"""The gyroscope alone: the baseline for every filter."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from strapdown.kernels.orientation import gyro as kernel
from strapdown.orientation.running import OrientationFilter
from strapdown.orientation.settings import check


@dataclass(frozen=True)
class Gyro(OrientationFilter):
    """The turn of the gyroscope from the first attitude on, by the mean of neighbouring readings, without correction.

    For short times, and to see the effect of corrections.

    magnetometer: whether the first heading comes from it; None: if the log has one.
    declination_rad (rad, east positive), longest_step_s (s): longer steps are gaps, and flagged.
    """

    name: ClassVar[str] = "gyro"
    kernel: ClassVar[Any] = kernel
    reports_bias: ClassVar[bool] = False

    magnetometer: bool | None = None
    declination_rad: float = 0.0
    longest_step_s: float = 0.5

    def __post_init__(self) -> None:
        check(self)

    def own_settings(self) -> Mapping[int, float]:
        return {}
