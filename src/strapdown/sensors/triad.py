"""The errors of a three-axis sensor: accelerometer, gyroscope or magnetometer, as settings.

SI units: m/s2, rad/s, and uT for magnetometers; "unit" below stands for the one that applies. Every term is zero by
default. The order in which they act, and the three modes of the model, are in kernels/triad.py and docs/errors.md.
"""

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strapdown.errors import InputError

Array = NDArray[np.float64]
Vector = tuple[float, float, float]
Matrix = tuple[Vector, Vector, Vector]

ZERO: Vector = (0.0, 0.0, 0.0)
IDENTITY: Matrix = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
NO_MATRIX: Matrix = (ZERO, ZERO, ZERO)
UNITS = ("m/s2", "rad/s", "uT")


@dataclass(frozen=True)
class Triad:
    """One specimen of a sensor. Vectors are per axis x, y, z.

    matrix: scale and cross-coupling, reading = matrix @ truth. nonlinearity: largest deviation from the straight line,
    as a part of full_scale. g_sensitivity: unit per m/s2 of specific force (gyroscopes). bias: constant; turn_on:
    standard deviation of a further constant, drawn anew for every run. temperature_bias, temperature_scale: one vector
    for each power of (T - reference), unit/degC and 1/degC first. white: N, the integral after t s has deviation
    N sqrt(t). instability: B, the Allan deviation is flat at 0.664 B over instability_band_s. walk: K, the drift after
    t s has deviation K sqrt(t). quantisation: Q, unit times s. full_scale: readings are clipped there. resolution: unit
    per count. bandwidth_hz, filter_order: low-pass of the part (1, or 2: Butterworth). latency_s; jitter_s: deviation
    of the time stamps; loss: probability that a sample is missing.
    """

    unit: str
    matrix: Matrix = IDENTITY
    nonlinearity: Vector = ZERO
    g_sensitivity: Matrix = NO_MATRIX
    bias: Vector = ZERO
    turn_on: Vector = ZERO
    temperature_bias: tuple[Vector, ...] = ()
    temperature_scale: tuple[Vector, ...] = ()
    reference_c: float = 25.0
    limits_c: tuple[float, float] | None = None
    white: Vector = ZERO
    instability: Vector = ZERO
    instability_band_s: tuple[float, float] = (1.0, 1000.0)
    walk: Vector = ZERO
    quantisation: Vector = ZERO
    full_scale: float | None = None
    resolution: float = 0.0
    bandwidth_hz: float | None = None
    filter_order: int = 1
    latency_s: float = 0.0
    jitter_s: float = 0.0
    loss: float = 0.0
    matlab_filter: tuple[tuple[float, ...], tuple[float, ...]] = ((1.0,), (1.0, -0.5))  # mode "matlab" only

    def __post_init__(self) -> None:
        if self.unit not in UNITS:
            raise InputError(f'unit "{self.unit}" is not known; valid: {", ".join(UNITS)}')
        for field in fields(self):
            if field.name == "unit":
                continue
            value = getattr(self, field.name)
            if value is not None and not all(np.isfinite(np.ravel(part)).all() for part in _parts(value)):
                raise InputError(f"{field.name} is {value}; give finite numbers")
        for name in ("white", "instability", "walk", "quantisation", "turn_on", "nonlinearity"):
            if min(getattr(self, name)) < 0.0:
                raise InputError(f"{name} is {getattr(self, name)}; give numbers that are not negative")
        for name in ("resolution", "latency_s", "jitter_s"):
            if getattr(self, name) < 0.0:
                raise InputError(f"{name} is {getattr(self, name)}; give a number that is not negative")
        if self.full_scale is not None and not self.full_scale > self.resolution:
            raise InputError(f"full_scale {self.full_scale:g} is not above the resolution {self.resolution:g}")
        if max(self.nonlinearity) > 0.0 and self.full_scale is None:
            raise InputError("nonlinearity is a part of full_scale, which is not given; give it")
        if self.bandwidth_hz is not None and not self.bandwidth_hz > 0.0:
            raise InputError(f"bandwidth_hz is {self.bandwidth_hz}; give a number above 0, or none")
        if self.filter_order not in (1, 2):
            raise InputError(f"filter_order is {self.filter_order}; give 1 or 2")
        if not 0.0 <= self.loss < 1.0:
            raise InputError(f"loss is {self.loss}; give a probability from 0 to below 1")
        low, high = self.instability_band_s
        if not 0.0 < low < high:
            raise InputError(
                f"instability_band_s is {self.instability_band_s}; give two times above 0, the shorter first"
            )
        if self.limits_c is not None and not self.limits_c[0] < self.limits_c[1]:
            raise InputError(f"limits_c is {self.limits_c}; give the lower temperature first")


def _parts(value: object) -> list[ArrayLike]:
    """Ragged tuples (polynomials, filters) piece by piece."""
    if isinstance(value, tuple) and value and isinstance(value[0], tuple):
        return list(value)
    return [value]  # type: ignore[list-item]
