"""Stop detectors that look at the IMU alone, as published by Skog, Händel, Nilsson and Rantakokko (2010).

A detector is its settings. The signal of a detector is a mean square over a window in units of the given sigmas. The
sensor is at rest where the signal is below the threshold. sigma_m_s2 and sigma_rad_s are weights as much as noise: the
published thresholds belong to them. A fixed threshold fits one gait; foot_stops.py has a threshold that follows the
gait.
"""

from dataclasses import dataclass, field
from typing import ClassVar

from strapdown import earth
from strapdown.kernels.navigation import stop_detectors as kernel
from strapdown.navigation.stops.windowed import Windowed


@dataclass(frozen=True)
class Shoe(Windowed):
    """Stance hypothesis optimal estimation: the force is gravity and the sensor does not turn.

    The sigmas are those of the authors of the foot_vicon data set. So is the order of the threshold: 2e6 for slow walks
    to 5e8 for runs.
    """

    name: str = field(default="shoe", init=False)
    threshold: float = 1e7
    sigma_m_s2: float = 0.00098
    sigma_rad_s: float = 8.7266463e-5
    gravity: str | float = "earth"

    def _numbers(self) -> dict[int, float]:
        return {
            kernel.S_KIND: kernel.SHOE,
            kernel.S_GRAVITY: earth.gravity(self.gravity),
            kernel.S_ACC: self.sigma_m_s2,
            kernel.S_GYR: self.sigma_rad_s,
            kernel.S_THRESHOLD: self.threshold,
        }


@dataclass(frozen=True)
class Ared(Windowed):
    """Angular rate energy: the sensor does not turn."""

    needs: ClassVar[tuple[str, ...]] = ("gyr_s",)
    name: str = field(default="ared", init=False)
    threshold: float = 0.1
    sigma_rad_s: float = 1.0

    def _numbers(self) -> dict[int, float]:
        return {kernel.S_KIND: kernel.ARED, kernel.S_GYR: self.sigma_rad_s, kernel.S_THRESHOLD: self.threshold}


@dataclass(frozen=True)
class MovingVariance(Windowed):
    """Acceleration moving variance (MV): the force does not change."""

    needs: ClassVar[tuple[str, ...]] = ("acc_s",)
    name: str = field(default="mv", init=False)
    threshold: float = 1.0
    sigma_m_s2: float = 1.0

    def _numbers(self) -> dict[int, float]:
        kind = kernel.MOVING_VARIANCE
        return {kernel.S_KIND: kind, kernel.S_ACC: self.sigma_m_s2, kernel.S_THRESHOLD: self.threshold}


@dataclass(frozen=True)
class Magnitude(Windowed):
    """Acceleration magnitude (MAG): the force is as long as gravity."""

    needs: ClassVar[tuple[str, ...]] = ("acc_s",)
    name: str = field(default="mag", init=False)
    threshold: float = 1.0
    sigma_m_s2: float = 1.0
    gravity: str | float = "earth"

    def _numbers(self) -> dict[int, float]:
        return {
            kernel.S_KIND: kernel.MAGNITUDE,
            kernel.S_GRAVITY: earth.gravity(self.gravity),
            kernel.S_ACC: self.sigma_m_s2,
            kernel.S_THRESHOLD: self.threshold,
        }
