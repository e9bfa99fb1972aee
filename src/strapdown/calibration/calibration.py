"""A calibration: for each instrument the correction from reading to true value, its uncertainty, and its origin.

    v = (reading - bias - sum of temperature_bias[p] dT^(p+1) - g_sensitivity @ f)
        / (1 + sum of temperature_scale[p] dT^(p+1))
    w = matrix @ v
    corrected = w + cubic * w^3

with dT = temperature - reference_c and f the corrected specific force: the inverse, term by term, of the error chain
of virtual sensors (docs/errors.md). Units: m/s2, rad/s, uT, frame s.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from types import MappingProxyType
from typing import Any

import numpy as np

from strapdown.arrays import locked
from strapdown.errors import InputError
from strapdown.types import Array

FIELDS = {"accelerometer": "acc_s", "gyroscope": "gyr_s", "magnetometer": "mag_s"}  # of a Recording
UNITS = {"accelerometer": "m/s2", "gyroscope": "rad/s", "magnetometer": "uT"}
VERDICTS = ("good", "usable", "poor")
_SHAPES: dict[str, tuple[int, ...]] = {
    "matrix": (3, 3),
    "bias": (3,),
    "cubic": (3,),
    "g_sensitivity": (3, 3),
}
PARAMETERS = (*_SHAPES, "temperature_bias", "temperature_scale")


@dataclass(frozen=True)
class Found:
    """How a correction was found.

    method: "positions", ...
    data: the log and its conditions, plain values.

    residual_rms: residual after the correction, in the unit of the instrument (None: the method has no residual).
    verdict: good, usable or poor, and notes: sentences with the reasons.
    undetermined: parameters that the data does not determine and that were assumed, each with the reason.
    """

    method: str
    data: Mapping[str, Any] = field(default_factory=dict)
    date: str | None = None
    residual_rms: float | None = None
    verdict: str = "good"
    notes: tuple[str, ...] = ()
    undetermined: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise InputError(f'verdict "{self.verdict}" is not known; valid: {", ".join(VERDICTS)}')
        if self.residual_rms is not None and not self.residual_rms >= 0.0:
            raise InputError(f"residual_rms is {self.residual_rms}; give 0 or more, or leave it out")


@dataclass(frozen=True, eq=False)
class Correction:
    """Correction of one instrument, from reading to true value, by the formula above.

    matrix (3x3, no unit), bias (unit), cubic (1/unit^2), g_sensitivity (gyroscopes: rad/s per m/s2), temperature_bias
    (a vector for each power of dT, unit/degC first), temperature_scale (1/degC first).

    range_c: temperatures of the data.
    sigma: standard deviations by parameter, of its shape. inf where an element was assumed; no entry where the whole
        parameter was assumed.
    """

    unit: str
    found: Found
    matrix: Array = field(default_factory=lambda: np.eye(3))
    bias: Array = field(default_factory=lambda: np.zeros(3))
    cubic: Array = field(default_factory=lambda: np.zeros(3))
    g_sensitivity: Array = field(default_factory=lambda: np.zeros((3, 3)))
    temperature_bias: Array = field(default_factory=lambda: np.zeros((0, 3)))
    temperature_scale: Array = field(default_factory=lambda: np.zeros((0, 3)))
    reference_c: float = 25.0
    range_c: tuple[float, float] | None = None
    sigma: Mapping[str, Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.unit not in UNITS.values():
            raise InputError(f'unit "{self.unit}" is not known; valid: {", ".join(UNITS.values())}')
        for name in PARAMETERS:
            value = np.asarray(getattr(self, name), dtype=np.float64)
            if name not in _SHAPES and value.size == 0:
                value = value.reshape(0, 3)
            shape = _SHAPES.get(name, (len(value) if value.ndim else 0, 3))
            object.__setattr__(self, name, locked(value, shape, name))
        if self.g_sensitivity.any() and self.unit != UNITS["gyroscope"]:
            raise InputError("g_sensitivity is the gyroscope's alone; leave it out of other instruments")
        if not abs(np.linalg.det(self.matrix)) > 1e-9:
            raise InputError("matrix is singular: a direction is lost; check the calibration")
        sigma = {}
        for name, value in self.sigma.items():
            given = np.array(value, dtype=np.float64)
            if name in PARAMETERS and not given.size:  # of a curve of degree 0
                continue
            if name not in PARAMETERS or given.shape != getattr(self, name).shape or not (given >= 0.0).all():
                raise InputError(f"sigma of {name} does not fit; give standard deviations of the parameter's shape")
            given.flags.writeable = False
            sigma[name] = given
        object.__setattr__(self, "sigma", MappingProxyType(sigma))

    @property
    def follows_temperature(self) -> bool:
        return len(self.temperature_bias) > 0 or len(self.temperature_scale) > 0

    def corrected(self, readings: Array, celsius: Array | None = None, f_s: Array | None = None) -> Array:
        """Readings (n, 3) corrected. celsius (n,) is needed if the correction follows temperature, f_s (n, 3) for
        g-sensitivity.
        """
        v = readings - self.bias
        if self.follows_temperature:
            if celsius is None:
                raise InputError(
                    "the calibration follows temperature, and the log has none; record it, or calibrate anew"
                )
            warm = celsius - self.reference_c
            v = (v - power_series(self.temperature_bias, warm)) if len(self.temperature_bias) else v
        if self.g_sensitivity.any():
            if f_s is None:
                raise InputError(
                    "the gyroscope's calibration takes its g-sensitivity off, which needs the accelerometer"
                )
            v = v - f_s @ self.g_sensitivity.T
        if len(self.temperature_scale):
            v = v / (1.0 + power_series(self.temperature_scale, warm))
        w = v @ self.matrix.T
        return w + self.cubic * w**3 if self.cubic.any() else w


def power_series(coefficients: Array, warm: Array) -> Array:
    """Sum of coefficients[p] warm^(p+1), (n, 3)."""
    total = np.zeros((len(warm), 3))
    for row in coefficients[::-1]:
        total = (total + row) * warm[:, None]
    return total


@dataclass(frozen=True)
class Calibration:
    """Corrections by instrument ("accelerometer", ...) of one specimen of a part."""

    corrections: Mapping[str, Correction]
    part: str | None = None
    specimen: str | None = None

    def __post_init__(self) -> None:
        if not self.corrections:
            raise InputError(f"a calibration needs an instrument; give one of {', '.join(UNITS)}")
        for name, correction in self.corrections.items():
            if UNITS.get(name) != correction.unit:
                raise InputError(f'a calibration of "{name}" in {correction.unit} is not known; valid: {UNITS}')
        object.__setattr__(self, "corrections", MappingProxyType(dict(self.corrections)))

    @property
    def verdict(self) -> str:
        """The worst of its instruments."""
        return max((c.found.verdict for c in self.corrections.values()), key=VERDICTS.index)

    def of_specimen(self, part: str | None, specimen: str) -> "Calibration":
        """The same calibration, dated today and marked with this specimen."""
        today = date.today().isoformat()
        dated = {
            name: c if c.found.date is not None else replace(c, found=replace(c.found, date=today))
            for name, c in self.corrections.items()
        }
        return replace(self, corrections=dated, part=part, specimen=specimen)
