"""The force law of a helicopter with two coaxial rotors."""

from typing import Any

import numpy as np

from strapdown.arrays import Array
from strapdown.kernels.compiled import fix_signature
from strapdown.kernels.vehicles import coaxial as kernel
from strapdown.vehicles.actuation import DEG
from strapdown.vehicles.free_body_law import FreeBodyLaw
from strapdown.vehicles.vehicle_file import CoaxialTable

RPM = 2.0 * np.pi / 60.0  # rad/s


class CoaxialLaw(FreeBodyLaw):
    """Two rotors on the mast (z axis) of a floating body."""

    def __init__(self, body: str, table: CoaxialTable, air_kg_m3: float) -> None:
        super().__init__(body, kernel.CONTROLS, air_kg_m3)
        low, high = table.collective_deg
        self._numbers = np.array(
            [
                *(table.radius_m, table.speed_rpm * RPM, table.solidity, table.lift_slope, table.profile_drag),
                *(table.hub_height_m, table.separation_m, table.lag_s, low * DEG, high * DEG, table.cyclic_deg * DEG),
                *(table.drag_area_m2, table.induced_factor, -np.inf),
            ]
        )
        self._speeds = np.array([table.speed_rpm * RPM, table.speed_rpm * RPM, 0.0, 0.0])
        fix_signature(kernel.coaxial_forces)

    def attach(self, model: Any, data: Any) -> None:
        super().attach(model, data)
        self._numbers[kernel.GROUND] = self._ground

    def identity(self) -> bytes:
        return self._numbers.tobytes()

    def apply(self, size_s: float) -> bool:
        kernel.coaxial_forces(self._all, self._numbers, self._place, self._motion, size_s, self._force)
        return False

    @property
    def speeds(self) -> Array:
        return self._speeds
