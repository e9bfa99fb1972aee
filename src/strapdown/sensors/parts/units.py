"""Units as data sheets print them, in one table: factor to SI (uT for fields, degC for temperature) and quantity.

Plain ASCII stands for the printed signs: u for µ, rtHz for √Hz, rth for √h, deg for °, G for gauss (g is gravity).
Conversions between kinds of noise (density to N, Allan floor to B) are in triad.py.
"""

import math
from typing import NamedTuple

from strapdown.errors import InputError

STANDARD_GRAVITY = 9.80665  # m/s2, the g of data sheets (by definition)
DEG = math.pi / 180.0
HOUR_S = 3600.0


class Unit(NamedTuple):
    """A value in this unit, times factor, is in the SI unit of its quantity."""

    factor: float
    quantity: str


# the three things measured
_BASE = {
    "m/s2": Unit(1.0, "acceleration"),
    "g": Unit(STANDARD_GRAVITY, "acceleration"),
    "mg": Unit(1e-3 * STANDARD_GRAVITY, "acceleration"),
    "ug": Unit(1e-6 * STANDARD_GRAVITY, "acceleration"),
    "rad/s": Unit(1.0, "rate"),
    "deg/s": Unit(DEG, "rate"),
    "mdeg/s": Unit(1e-3 * DEG, "rate"),
    "dps": Unit(DEG, "rate"),
    "mdps": Unit(1e-3 * DEG, "rate"),
    "deg/h": Unit(DEG / HOUR_S, "rate"),
    "uT": Unit(1.0, "field"),
    "nT": Unit(1e-3, "field"),
    "mT": Unit(1e3, "field"),
    "G": Unit(100.0, "field"),
    "mG": Unit(0.1, "field"),
    "uG": Unit(1e-4, "field"),
}


def _bracketed(name: str) -> str:
    return f"({name})" if "/" in name else name


def _table() -> dict[str, Unit]:
    units = dict(_BASE)
    for name, (factor, quantity) in _BASE.items():
        units[f"{name}/rtHz"] = Unit(factor, f"{quantity} density")  # one-sided, as printed
        units[f"{name}/rts"] = Unit(factor, f"{quantity} walk")
        for degree in ("degC", "K"):
            units[f"{name}/{degree}"] = Unit(factor, f"{quantity} per degree")
        units[f"{name}/LSB"] = Unit(factor, f"{quantity} per count")
        units[f"LSB/{_bracketed(name)}"] = Unit(1.0 / factor, f"counts per {quantity}")
        if quantity == "rate":
            units[f"{name}/g"] = Unit(factor / STANDARD_GRAVITY, "rate per acceleration")
            units[f"{_bracketed(name)}/(m/s2)"] = Unit(factor, "rate per acceleration")
    units |= {
        "deg/rth": Unit(DEG / math.sqrt(HOUR_S), "angle random walk"),  # rad/sqrt(s)
        "rad/rts": Unit(1.0, "angle random walk"),
        "m/s/rth": Unit(1.0 / math.sqrt(HOUR_S), "velocity random walk"),  # m/s/sqrt(s)
        "m/s/rts": Unit(1.0, "velocity random walk"),
        "%": Unit(1e-2, "ratio"),
        "ppm": Unit(1e-6, "ratio"),
        "%FS": Unit(1e-2, "part of full scale"),
        "ppmFS": Unit(1e-6, "part of full scale"),
        "%FS/G": Unit(1e-4, "part of full scale per field"),  # 1e-2 per 100 uT
        "%/degC": Unit(1e-2, "ratio per degree"),
        "%/K": Unit(1e-2, "ratio per degree"),
        "ppm/degC": Unit(1e-6, "ratio per degree"),
        "ppm/K": Unit(1e-6, "ratio per degree"),
        "deg": Unit(DEG, "angle"),
        "mrad": Unit(1e-3, "angle"),
        "Hz": Unit(1.0, "frequency"),
        "kHz": Unit(1e3, "frequency"),
        "degC": Unit(1.0, "temperature"),
        "LSB": Unit(1.0, "counts"),
        "LSB/degC": Unit(1.0, "counts per degree"),
        "mV/g": Unit(1e-3 / STANDARD_GRAVITY, "voltage per acceleration"),
        "bit": Unit(1.0, "bits"),
        "I2C": Unit(1.0, "address"),
        "register": Unit(1.0, "register value"),
        "1": Unit(1.0, "number"),
    }
    return units


UNITS = _table()


def unit(name: str) -> Unit:
    """The entry of a unit; InputError with the near ones if it is not in the table."""
    if name in UNITS:
        return UNITS[name]
    import difflib

    near = [known for known in UNITS if known.lower() == name.lower()] or difflib.get_close_matches(name, UNITS, 4)
    hint = f"did you mean {' or '.join(near)}" if near else "valid ones are listed in docs/catalogue.md"
    raise InputError(f'unit "{name}" is not known; {hint}')


def to_si(value: float, name: str) -> float:
    """A printed value in SI. deg/s become rad/s here and nowhere else."""
    return value * unit(name).factor


def units_of(quantity: str) -> list[str]:
    """The names of all units of a quantity, the SI one first."""
    names = [name for name, entry in UNITS.items() if entry.quantity == quantity]
    return sorted(names, key=lambda name: UNITS[name].factor != 1.0)


def per_degree(change: float, over_c: tuple[float, float], reference_c: float = 25.0) -> float:
    """A change "over temperature" as a slope: the limit is reached at the farther end (docs/catalogue.md)."""
    return change / max(over_c[1] - reference_c, reference_c - over_c[0])
