"""Barometers, rangefinders and receivers by name, with the numbers of their data sheets.

The catalogue of parts (catalogue/*.toml) is for instruments of three axes. These parts have one number, or a fix, so
their sheets are a table here: every number has its status and source, as there.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from strapdown.errors import InputError
from strapdown.sensors.aiding.altimeter import Altimeter
from strapdown.sensors.aiding.barometer import Barometer
from strapdown.sensors.aiding.fix import FixReceiver
from strapdown.sensors.aiding.outside import Outside
from strapdown.sensors.streams import stream

Status = Literal["verified", "unverified", "estimated"]


@dataclass(frozen=True)
class SheetNumber:
    """One number of a data sheet, in SI.

    limit: the sheet gives it as a limit around 0. A specimen draws it from a normal distribution with a third of it as
        standard deviation, cut at the limit.
    """

    value: float
    status: Status
    source: str
    limit: bool = False


@dataclass(frozen=True)
class OutsidePart:
    """A part that is no inertial sensor.

    numbers: numbers by setting of its class.
    settings: settings that are not numbers.
    """

    name: str
    maker: str
    make: Callable[..., Outside]
    numbers: Mapping[str, SheetNumber]
    settings: Mapping[str, Any]

    def nominal(self, **more: Any) -> Outside:
        """The part without tolerances.

        more: settings that replace those of the sheet.
        """
        taken = {name: number.value for name, number in self.numbers.items() if not number.limit}
        return self.make(**{**self._spread(taken), **self.settings, **more})

    def draw(self, seed: int, **more: Any) -> Outside:
        """One specimen: each tolerance from its own stream."""
        drawn = {}
        for name, number in self.numbers.items():
            drawn[name] = number.value
            if number.limit:
                normal = float(stream(seed, self.name, name).standard_normal())
                drawn[name] = number.value * max(-1.0, min(normal / 3.0, 1.0))
        return self.make(**{**self._spread(drawn), **self.settings, **more})

    @staticmethod
    def _spread(numbers: Mapping[str, float]) -> dict[str, Any]:
        """Numbers such as sigma_n_level and sigma_n_up as the three of one setting."""
        found: dict[str, Any] = {name: value for name, value in numbers.items() if "_n_" not in name}
        for name in {name.rpartition("_")[0] for name in numbers if "_n_" in name}:
            level = numbers[f"{name}_level"]
            found[name] = (level, level, numbers[f"{name}_up"])
        return found


_BMP280 = "Bosch BST-BMP280-DS001-11 rev. 1.14"
_MS5611 = "TE MS5611-01BA03 data sheet, sensor performances"
_LIDAR = "Garmin LIDAR-Lite v3 manual 0A, specifications; from memory"
_M8 = "u-blox NEO-M8 data sheet; from memory"

PARTS: Mapping[str, OutsidePart] = {
    part.name: part
    for part in (
        OutsidePart(
            "BMP280",
            "Bosch Sensortec",
            Barometer,
            {
                "bias_pa": SheetNumber(100.0, "verified", f"{_BMP280}, key parameters: absolute accuracy", limit=True),
                "per_degc_pa": SheetNumber(1.5, "verified", f"{_BMP280}, key parameters: offset by temperature", True),
                "resolution_pa": SheetNumber(0.16, "verified", f"{_BMP280}, oversampling x16"),
                "sigma_pa": SheetNumber(1.3, "unverified", "memory: rms noise without filter"),
                "drift_pa": SheetNumber(4.0, "estimated", "a third of the relative accuracy, +-12 Pa"),
                "rate_hz": SheetNumber(25.0, "unverified", "memory: oversampling x16"),
            },
            {"limits_pa": (30_000.0, 110_000.0), "drift_s": 300.0},
        ),
        OutsidePart(
            "MS5611",
            "TE Connectivity",
            Barometer,
            {
                "bias_pa": SheetNumber(150.0, "verified", f"{_MS5611}: accuracy at 25 degC", limit=True),
                "sigma_pa": SheetNumber(1.2, "verified", f"{_MS5611}: resolution at oversampling 4096"),
                "lag_s": SheetNumber(0.00822, "verified", f"{_MS5611}: response time at oversampling 4096"),
                "drift_pa": SheetNumber(4.0, "estimated", "as the BMP280's"),
                "rate_hz": SheetNumber(50.0, "estimated", "a pressure and a temperature conversion for each reading"),
            },
            {"limits_pa": (1_000.0, 120_000.0), "drift_s": 300.0},
        ),
        OutsidePart(
            "LIDAR-Lite v3",
            "Garmin",
            Altimeter,
            {
                "bias_m": SheetNumber(0.025, "unverified", f"{_LIDAR}: accuracy beyond 1 m", limit=True),
                "resolution_m": SheetNumber(0.01, "unverified", f"{_LIDAR}: resolution"),
                "sigma_m": SheetNumber(0.01, "estimated", "one count; the manual has no noise"),
                "rate_hz": SheetNumber(50.0, "unverified", f"{_LIDAR}: default repetition rate"),
            },
            {"limits_m": (0.05, 40.0)},
        ),
        OutsidePart(
            "NEO-M8N velocity",
            "u-blox",
            FixReceiver,
            {
                "sigma_n_level": SheetNumber(0.05, "unverified", f"{_M8}: velocity accuracy, 50 % at 30 m/s"),
                "sigma_n_up": SheetNumber(0.1, "estimated", "twice the level one"),
                "delay_s": SheetNumber(0.1, "estimated", "what autopilots set for this family"),
                "rate_hz": SheetNumber(5.0, "unverified", f"{_M8}: two systems at a time"),
            },
            {"kind": "velocity"},
        ),
        OutsidePart(
            "NEO-M8N position",
            "u-blox",
            FixReceiver,
            {
                "correlated_n_level": SheetNumber(2.1, "unverified", f"{_M8}: 2.5 m circular error, over 1.18"),
                "correlated_n_up": SheetNumber(4.0, "estimated", "about twice the level one"),
                "sigma_n_level": SheetNumber(0.1, "estimated", "short-term scatter of smoothed positions"),
                "sigma_n_up": SheetNumber(0.2, "estimated", "twice the level one"),
                "delay_s": SheetNumber(0.1, "estimated", "what autopilots set for this family"),
                "rate_hz": SheetNumber(5.0, "unverified", f"{_M8}: two systems at a time"),
            },
            {"kind": "position", "correlation_s": 200.0},
        ),
    )
}


def outside_part(name: str) -> OutsidePart:
    """A part by its name; case, dashes and spaces do not matter."""
    names = {_key(known): known for known in PARTS}
    if _key(name) not in names:
        raise InputError(f'there is no part "{name}"; the barometers, altimeters and receivers are: {", ".join(PARTS)}')
    return PARTS[names[_key(name)]]


def _key(name: str) -> str:
    return "".join(c for c in str(name).lower() if c.isalnum())
