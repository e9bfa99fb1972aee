"""Air by height: pressure, temperature and density of a gas at rest whose temperature falls linearly with height.

Hydrostatic balance dp = -rho g dh with rho = p / (R T) and T = T0 - L h gives p = p0 (1 - L h / T0)^(g / (R L)), and
p = p0 exp(-g h / (R T0)) where L is 0. Heights are above the place where pressure and temperature are given.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, Self

from strapdown.checks import finite, positive, set_fields
from strapdown.earth import MARS_GRAVITY, STANDARD_GRAVITY
from strapdown.errors import InputError

KELVIN = 273.15  # K at 0 degC


@dataclass(frozen=True)
class Atmosphere:
    """A still atmosphere in hydrostatic balance.

    pressure_pa, temperature_c: values at height 0.
    lapse_k_m: fall of temperature with height.
    gas_j_kg_k: constant of the gas, R over its molar mass.
    highest_m: greatest height at which the linear fall of temperature is valid.
    """

    name: str
    pressure_pa: float
    temperature_c: float
    lapse_k_m: float
    gas_j_kg_k: float
    gravity_m_s2: float
    highest_m: float

    def __post_init__(self) -> None:
        numbers = ("pressure_pa", "gas_j_kg_k", "gravity_m_s2", "highest_m")
        set_fields(
            self,
            **{name: positive(name, getattr(self, name)) for name in numbers},
            **{name: finite(name, getattr(self, name)) for name in ("temperature_c", "lapse_k_m")},
        )
        if not self.temperature_c + KELVIN - max(self.lapse_k_m, 0.0) * self.highest_m > 0.0:
            raise InputError(
                f"the air of {self.name} is colder than -273.15 degC at {self.highest_m:g} m; lower lapse_k_m"
            )

    def with_ground(self, pressure_pa: float | None = None, temperature_c: float | None = None) -> Self:
        """The same gas with another pressure or temperature at height 0: the weather of the day."""
        given: dict[str, Any] = {"pressure_pa": pressure_pa, "temperature_c": temperature_c}
        return replace(self, **{name: value for name, value in given.items() if value is not None})

    def temperature_at(self, height_m: float) -> float:
        """degC."""
        if not -self.highest_m <= height_m <= self.highest_m:
            raise InputError(f"height is {height_m:g} m; the air of {self.name} is known within {self.highest_m:g} m")
        return self.temperature_c - self.lapse_k_m * height_m

    def pressure_at(self, height_m: float) -> float:
        """Pa."""
        warm, ground = self.temperature_at(height_m) + KELVIN, self.temperature_c + KELVIN
        if self.lapse_k_m == 0.0:
            return self.pressure_pa * math.exp(-self.gravity_m_s2 * height_m / (self.gas_j_kg_k * ground))
        return self.pressure_pa * float((warm / ground) ** (self.gravity_m_s2 / (self.gas_j_kg_k * self.lapse_k_m)))

    def density_at(self, height_m: float) -> float:
        """kg/m3."""
        return self.pressure_at(height_m) / (self.gas_j_kg_k * (self.temperature_at(height_m) + KELVIN))

    def height_of(self, pressure_pa: float) -> float:
        """Height (m) at which this pressure belongs: the inverse of pressure_at."""
        ratio, ground = positive("pressure_pa", pressure_pa) / self.pressure_pa, self.temperature_c + KELVIN
        if self.lapse_k_m == 0.0:
            return -self.gas_j_kg_k * ground / self.gravity_m_s2 * math.log(ratio)
        exponent = self.gas_j_kg_k * self.lapse_k_m / self.gravity_m_s2
        return float(-ground / self.lapse_k_m * math.expm1(exponent * math.log(ratio)))


# ISO 2533 (1975), geopotential height, to 11 km
EARTH = Atmosphere("earth", 101325.0, 15.0, 0.0065, 287.05287, STANDARD_GRAVITY, 11_000.0)
# NASA Glenn Research Center, "Mars Atmosphere Model": 699 Pa and -31 degC at the surface, 0.998 K/km, R = 192.1 J/kg/K
MARS = Atmosphere("mars", 699.0, -31.0, 0.000998, 192.1, MARS_GRAVITY, 7_000.0)
