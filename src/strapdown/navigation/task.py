"""What is known of a vehicle, its sensor and its start before a log is navigated."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from strapdown import earth
from strapdown.arrays import locked
from strapdown.calibration.calibration import Calibration
from strapdown.errors import InputError
from strapdown.rotation import IDENTITY, q_normalise
from strapdown.sensors.parts.part import Part
from strapdown.sensors.triad import Triad

VEHICLES = ("robot", "foot", "hand", "free")
FARTHEST_LEVER_M = 100.0
UNKNOWN_LEVER_M = 0.2  # of a sensor somewhere on a robot that fits on a table
GIVEN_LEVER_M = 0.005  # of one that was measured with a ruler


@dataclass(frozen=True)
class Task:
    """How to navigate. vehicle: "robot" (wheels that do not slide, a flat floor), "foot", "hand", "free" (stops alone).

    yaw_rad: of the body at the start, known to heading_sigma_rad (0: it starts on a mark); None: from the magnetometer,
    or north, as unknown, where there is none. gravity: m/s2. declination_rad: field east of north is positive.
    noise: triads of the part, by instrument. calibration: what was applied to the log, for its uncertainty. part: its
    tolerances are the deviations of what no calibration has found; without it those of a common part are taken.
    q_bs: mounting of the sensor on the body. r_bs_b: its lever arm (m) from the body's origin, where wheels do not
    slide; the position told is that of this origin. lever_sigma_m: how well each number of it is known. odometer_scale:
    true travel for one metre read, known to odometer_sigma (a part of it). flat_floor: whether all stops are as high as
    the first; None: for a robot yes, for a foot those are as high as the one before that no stair can lie between,
    else no.
    """

    vehicle: str = "robot"
    yaw_rad: float | None = None
    heading_sigma_rad: float = float(np.radians(1.0))
    gravity: float | str = "earth"
    declination_rad: float = 0.0
    noise: Mapping[str, Triad] = field(default_factory=dict)
    calibration: Calibration | None = None
    smoothed: bool = False
    q_bs: tuple[float, ...] = tuple(IDENTITY.tolist())
    r_bs_b: tuple[float, ...] = (0.0, 0.0, 0.0)
    lever_sigma_m: float = UNKNOWN_LEVER_M
    odometer_scale: float = 1.0
    odometer_sigma: float = 0.002
    part: Part | None = None
    flat_floor: bool | None = None

    def __post_init__(self) -> None:
        if self.vehicle not in VEHICLES:
            raise InputError(f'vehicle "{self.vehicle}" is not known; valid: {", ".join(VEHICLES)}')
        if not 0.0 <= self.heading_sigma_rad <= np.pi:
            degrees = np.degrees(self.heading_sigma_rad)
            raise InputError(f"the deviation of the heading is {degrees:g} deg; give a number from 0 to 180")
        earth.gravity(self.gravity)
        q_bs = locked(np.asarray(self.q_bs, dtype=np.float64), (4,), "q_bs")
        if abs(np.linalg.norm(q_bs) - 1.0) > 1e-6:
            raise InputError(f"q_bs has norm {np.linalg.norm(q_bs):.6g}; give a unit quaternion (w, x, y, z)")
        r_bs_b = locked(np.asarray(self.r_bs_b, dtype=np.float64), (3,), "r_bs_b")
        if np.abs(r_bs_b).max() > FARTHEST_LEVER_M:
            raise InputError(f"the lever arm is {np.abs(r_bs_b).max():g} m long; give metres, at most 100")
        if not 0.0 <= self.lever_sigma_m <= FARTHEST_LEVER_M:
            raise InputError(f"the lever arm is known to {self.lever_sigma_m:g} m; give metres, from 0 to 100")
        if not 0.1 <= self.odometer_scale <= 10.0:
            raise InputError(f"the odometer's scale is {self.odometer_scale:g}; give a number from 0.1 to 10")
        if not 0.0 <= self.odometer_sigma <= 0.5:
            percent = 100.0 * self.odometer_sigma
            raise InputError(f"the deviation of the odometer's scale is {percent:g} %; give a number from 0 to 50")
        object.__setattr__(self, "q_bs", tuple(q_normalise(q_bs).tolist()))
        object.__setattr__(self, "r_bs_b", tuple(r_bs_b.tolist()))
