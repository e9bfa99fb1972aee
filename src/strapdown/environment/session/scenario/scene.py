"""The scene of a scenario: gravity, air, wind, temperature, magnetic field; also from paper B's text file."""

import re
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from strapdown.arrays import Array
from strapdown.earth import gravity
from strapdown.earth_magnetism import magnetic_field
from strapdown.environment.rig_sensors import DipoleTable
from strapdown.environment.session.world.wind import Wind
from strapdown.environment.table import Name, NotNegative, Number, Positive, Table, Vector
from strapdown.errors import InputError
from strapdown.regular_file import whole_bytes

# density (kg/m3) and temperature (degC) of the air near the ground. Earth: ISO 2533. Mars: mean of the planet in the
# NASA planetary fact sheet, 0.020 kg/m3 and -63 degC
AIR = {"earth": (1.225, 15.0), "mars": (0.020, -63.0), "moon": (0.0, -20.0)}
_MOST_BYTES = 100_000


class SceneTable(Table):
    """Everything around the vehicle. Values that are not given are those of the place named by `gravity`."""

    file: Name | None = None  # paper B's text file of scene parameters; keys given here come first
    gravity: Literal["earth", "mars", "moon"] | NotNegative = "earth"
    latitude_deg: Annotated[float, Field(strict=True, ge=-90.0, le=90.0)] = 45.0
    longitude_deg: Annotated[float, Field(strict=True, ge=-180.0, le=180.0)] = 0.0
    height_m: Number = 0.0
    year: Number = 2026.0
    air_temperature_c: Annotated[float, Field(strict=True, ge=-150.0, le=150.0)] | None = None
    air_density_kg_m3: NotNegative | None = None
    wind_m_s: Vector = (0.0, 0.0, 0.0)  # mean, frame n
    turbulence_m_s: NotNegative = 0.0  # wind at 6 m that makes the turbulence (Dryden)
    magnetic_induction_ut: Vector | None = None  # east, north, up
    dipole: tuple[DipoleTable, ...] = ()
    friction: Positive | None = None  # of tyres on the ground
    radius_m: Positive = 1000.0  # a vehicle farther from its start is lost

    @property
    def place(self) -> str:
        return self.gravity if isinstance(self.gravity, str) else "earth"

    def g(self) -> float:
        return gravity(self.gravity, self.latitude_deg, self.height_m)

    def density(self) -> float:
        return AIR[self.place][0] if self.air_density_kg_m3 is None else self.air_density_kg_m3

    def celsius(self) -> float:
        return AIR[self.place][1] if self.air_temperature_c is None else self.air_temperature_c

    def field_n(self) -> Array:
        if self.magnetic_induction_ut is not None:
            return np.array(self.magnetic_induction_ut)
        return magnetic_field(self.place, self.latitude_deg, self.longitude_deg, self.height_m, self.year)

    def magnets(self) -> Array:
        """One row for each dipole: moment (A m2), position (m)."""
        rows = [[*dipole.moment_am2, *dipole.position_m] for dipole in self.dipole]
        return np.array(rows, dtype=np.float64).reshape(-1, 6)

    def wind(self) -> Wind:
        return Wind(self.wind_m_s, self.turbulence_m_s)


# keys of paper B's text file: field of SceneTable and how many numbers it has
TEXT_KEYS = {
    "air_temperature_c": 1,
    "magnetic_induction_ut": 3,
    "gravity_m_s2": 1,
    "air_density_kg_m3": 1,
    "wind_m_s": 3,
    "turbulence_m_s": 1,
}


def read_scene_text(path: str | Path) -> dict[str, Any]:
    """The scene parameters of a text file with lines `key = value`; "#" begins a comment. Values are numbers, a vector
    is three numbers with commas or blanks between them."""
    data = whole_bytes(path, "scene file")
    if len(data) > _MOST_BYTES:
        raise InputError(f"{path}: has {len(data) / 1e3:.0f} kB; a scene file has a few lines")
    try:
        lines = data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise InputError(f"{path}: not a text file in UTF-8; write lines like air_temperature_c = 20") from None
    values: dict[str, Any] = {}
    for i, line in enumerate(lines, start=1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        key, equals, rest = (part.strip() for part in text.partition("="))
        if not equals or key not in TEXT_KEYS:
            raise InputError(f'{path}: line {i}: "{text[:60]}" is not known; valid keys: {", ".join(TEXT_KEYS)}')
        if key in values:
            raise InputError(f'{path}: line {i}: "{key}" is given twice; keep one')
        numbers = _numbers(rest)
        if len(numbers) != TEXT_KEYS[key]:
            count = {1: "one number", 3: "three numbers"}[TEXT_KEYS[key]]
            raise InputError(f'{path}: line {i}: "{key}" is "{rest[:60]}"; give {count}')
        values[key] = numbers[0] if TEXT_KEYS[key] == 1 else tuple(numbers)
    if "gravity_m_s2" in values:
        values["gravity"] = values.pop("gravity_m_s2")
    return values


def _numbers(text: str) -> list[float]:
    try:
        numbers = [float(part) for part in re.split(r"[,\s]+", text.strip("[]() ")) if part]
    except ValueError:
        return []
    return numbers if all(np.isfinite(numbers)) else []
