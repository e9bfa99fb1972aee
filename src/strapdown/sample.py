"""One instant of a measuring module, and external measurements: fixes of position or velocity, heights.

Frames: n local level (x east, y north, z up), s sensor. SI units and radians.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from strapdown.arrays import Array, locked, refuse_negative


class Fix(NamedTuple):
    """An external measurement of position (m) or velocity (m/s): value and standard deviation, frame n, (3,) each."""

    value_n: Array
    sigma_n: Array
    t_s: float  # the instant it belongs to, at or before the sample that brings it


class Height(NamedTuple):
    """A height above the origin of n (m) and its standard deviation."""

    height_m: float
    sigma_m: float


class Sample(NamedTuple):
    """One instant, from a simulation, a log or a serial line: the quantities of a Recording. Units and frames are
    the Recording's. None: no new reading at this instant."""

    t: float
    dt: float  # s since the previous sample; 0 for the first
    gyr_s: Array
    acc_s: Array
    mag_s: Array | None = None
    temperature: float | None = None
    tilt_s: Array | None = None
    stop: bool | None = None  # the controller's signal
    travel_m: float | None = None  # difference of the odometer since the previous sample
    position_fix: Fix | None = None
    velocity_fix: Fix | None = None
    height: Height | None = None
    clipped: bool = False


@dataclass(frozen=True, eq=False)
class Fixes:
    """External measurements of position (m) or velocity (m/s), frame n: one row per sample, used where it is new.

    value_n, sigma_n (standard deviation): (n, 3).
    t_s: the instant each value belongs to, at or before its row's time.
    """

    value_n: Array
    sigma_n: Array
    t_s: Array

    def __post_init__(self) -> None:
        t_s = locked(self.t_s, (np.size(self.t_s),), "t_s of a fix")
        n = len(t_s)
        sigma_n = locked(self.sigma_n, (n, 3), "sigma_n of a fix", t_s)
        refuse_negative(sigma_n, "sigma_n of a fix", t_s)
        object.__setattr__(self, "t_s", t_s)
        object.__setattr__(self, "value_n", locked(self.value_n, (n, 3), "value_n of a fix", t_s))
        object.__setattr__(self, "sigma_n", sigma_n)

    def __len__(self) -> int:
        return len(self.t_s)

    def __getitem__(self, rows: slice | NDArray[Any]) -> "Fixes":
        return Fixes(self.value_n[rows], self.sigma_n[rows], self.t_s[rows])


@dataclass(frozen=True, eq=False)
class Heights:
    """Height above the origin of n, from pressure or range: height_m, sigma_m (standard deviation), (n,) each."""

    height_m: Array
    sigma_m: Array

    def __post_init__(self) -> None:
        n = np.size(self.height_m)
        sigma_m = locked(self.sigma_m, (n,), "sigma_m of a height")
        refuse_negative(sigma_m, "sigma_m of a height")
        object.__setattr__(self, "height_m", locked(self.height_m, (n,), "height_m"))
        object.__setattr__(self, "sigma_m", sigma_m)

    def __len__(self) -> int:
        return len(self.height_m)

    def __getitem__(self, rows: slice | NDArray[Any]) -> "Heights":
        return Heights(self.height_m[rows], self.sigma_m[rows])
