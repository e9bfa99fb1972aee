"""MATLAB's parameter file (JSON), as imuSensor's loadparams reads it: accelparams, gyroparams, magparams by name.

    { "PART": { "Accelerometer": { "MeasurementRange": 19.6, ... }, "Gyroscope": {...}, "Magnetometer": {...} } }

SI and rad/s, uT; percent for AxesMisalignment and TemperatureScaleFactor; "Inf" for no range. NoiseType
"double-sided", the default, means the one-sided density of data sheets: N = NoiseDensity / sqrt(2).
"""

import contextlib
import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from strapdown.errors import InputError
from strapdown.io.plain_values import json_values
from strapdown.sensors.triad import (
    Triad,
    Vector,
    matlab_matrix,
    walk_from_matlab,
    white_from_matlab,
)

_NAMES = {"Accelerometer": "accelerometer", "Gyroscope": "gyroscope", "Magnetometer": "magnetometer"}
_UNITS = {"accelerometer": "m/s2", "gyroscope": "rad/s", "magnetometer": "uT"}
_COMMON = (
    "MeasurementRange",
    "Resolution",
    "ConstantBias",
    "AxesMisalignment",
    "NoiseDensity",
    "BiasInstability",
    "RandomWalk",
    "NoiseType",
    "BiasInstabilityCoefficients",
    "TemperatureBias",
    "TemperatureScaleFactor",
)
_GYROSCOPE = (*_COMMON, "AccelerationBias")
_NOT_NEGATIVE = ("Resolution", "NoiseDensity", "BiasInstability", "RandomWalk")
_OURS = "Strapdown"  # next to the instruments; MATLAB passes over it

# fields of a Triad that imuSensor has no property for
_UNKNOWN_THERE = (
    "nonlinearity",
    "turn_on",
    "quantisation",
    "bandwidth_hz",
    "filter_order",
    "latency_s",
    "jitter_s",
    "loss",
    "limits_c",
    "instability_band_s",
    "reference_c",
)


def matlab_text(triads: Mapping[str, Triad], meta: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """The file's text, and the fields that it cannot represent ("gyroscope.nonlinearity"). The part is called
    meta["part"].
    """
    # jsondecode wants a MATLAB name, and loadparams compares with it
    name = re.sub(r"[^A-Za-z0-9_]", "", str(meta.get("part", "Part"))) or "Part"
    name = name if name[0].isalpha() else f"Part{name}"
    part: dict[str, Any] = {}
    left_out: list[str] = []
    for matlab_name, instrument in _NAMES.items():
        if instrument in triads:
            part[matlab_name] = _properties(triads[instrument])
            left_out += [f"{instrument}.{field}" for field in _lost(triads[instrument])]
    try:
        part[_OURS] = json.loads(json.dumps(dict(meta), default=_plain, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise InputError(f"meta cannot be written as JSON: {error}; give text, finite numbers or lists") from None
    return json.dumps({name: part}, indent=2, allow_nan=False) + "\n", tuple(left_out)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"{value!r} is not text, a number or a list")


def _properties(triad: Triad) -> dict[str, Any]:
    """Properties in the order of MATLAB's own display. NoiseType has its default and is omitted, because older MATLAB
    versions cannot read strings there.
    """
    root2 = math.sqrt(2.0)
    fields: dict[str, Any] = {
        "MeasurementRange": "Inf" if triad.full_scale is None else triad.full_scale,
        "Resolution": triad.resolution,
        "ConstantBias": list(triad.bias),
        "AxesMisalignment": [[100.0 * x for x in row] for row in triad.matrix],
        "NoiseDensity": [root2 * x for x in triad.white],
        "BiasInstability": list(triad.instability),
        "RandomWalk": [x / root2 for x in triad.walk],
        "TemperatureBias": list(triad.temperature_bias[0]) if triad.temperature_bias else [0.0] * 3,
        "TemperatureScaleFactor": [100.0 * x for x in triad.temperature_scale[0]]
        if triad.temperature_scale
        else [0.0] * 3,
    }
    if triad.matlab_filter != Triad.matlab_filter:
        numerator, denominator = triad.matlab_filter
        fields["BiasInstabilityCoefficients"] = {"Numerator": list(numerator), "Denominator": list(denominator)}
    if triad.unit == "rad/s":
        fields["AccelerationBias"] = [row[i] for i, row in enumerate(triad.g_sensitivity)]
    return fields


def _lost(triad: Triad) -> list[str]:
    plain = Triad(triad.unit)
    lost = [field for field in _UNKNOWN_THERE if getattr(triad, field) != getattr(plain, field)]
    lost += [field for field in ("temperature_bias", "temperature_scale") if _beyond_linear(getattr(triad, field))]
    if np.any(np.array(triad.g_sensitivity) * (1.0 - np.eye(3))):
        lost.append("g_sensitivity")
    return lost


def _beyond_linear(powers: tuple[Vector, ...]) -> bool:
    return any(x != 0.0 for power in powers[1:] for x in power)


def matlab_from(data: bytes, path: Path, part: str | None = None) -> tuple[dict[str, Triad], dict[str, Any]]:
    """The instruments of a part in MATLAB's JSON, and the other facts in the file."""
    values = json_values(data, path, "use MATLAB's parts and properties")
    parts = values if isinstance(values, dict) else {}
    parts = {name: table for name, table in parts.items() if isinstance(table, dict) and _NAMES.keys() & table.keys()}
    if not parts:
        raise InputError(f'{path}: has no part with {" or ".join(_NAMES)}; MATLAB has {{"PART": {{"Gyroscope": ...}}}}')
    listed = ", ".join(parts)
    if part is None and len(parts) > 1:
        raise InputError(f"{path}: has several parts; choose one of {listed}")
    found = [name for name in parts if part is None or name.lower() == part.lower()]
    if not found:
        raise InputError(f'{path}: has no part "{part}"; it has {listed}')
    table = parts[found[0]]
    triads = {
        ours: _triad(table[theirs], ours, f"{path}: {found[0]}.{theirs}")
        for theirs, ours in _NAMES.items()
        if theirs in table
    }
    ours = table.get(_OURS, {})
    rest = {key: value for key, value in table.items() if key not in (*_NAMES, _OURS)}
    return triads, {"part": found[0], **(ours if isinstance(ours, dict) else {}), **rest}


def _triad(table: Any, instrument: str, where: str) -> Triad:
    if not isinstance(table, dict):
        raise InputError(f"{where} is {str(table)[:60]}; give MATLAB's properties and their values")
    valid = _GYROSCOPE if instrument == "gyroscope" else _COMMON
    for key in table:
        if key not in valid:
            raise InputError(f'{where} has no property "{key}"; valid: {", ".join(valid)}')
    kind = table.get("NoiseType", "double-sided")
    if kind not in ("double-sided", "single-sided"):
        raise InputError(f'{where}.NoiseType is {kind!r}; valid: "double-sided", "single-sided"')

    def vector(key: str) -> Vector:
        value = _array(table.get(key, 0.0), f"{where}.{key}", ((), (3,)))
        if key in _NOT_NEGATIVE and value.min() < 0.0:
            raise InputError(f"{where}.{key} is {table[key]}; give numbers that are not negative")
        x, y, z = np.broadcast_to(value, 3).tolist()
        return x, y, z

    limit = table.get("MeasurementRange", "Inf")
    none = (isinstance(limit, str) and limit.lower() == "inf") or limit == math.inf
    resolution = float(_array(table.get("Resolution", 0.0), f"{where}.Resolution", ((),)))
    if resolution < 0.0:
        raise InputError(f"{where}.Resolution is {resolution}; give a number that is not negative")
    misaligned = _array(table.get("AxesMisalignment", 0.0), f"{where}.AxesMisalignment", ((), (3,), (3, 3)))
    warm = vector("TemperatureBias")
    warm_scale = vector("TemperatureScaleFactor")
    a, b, c = vector("AccelerationBias") if instrument == "gyroscope" else (0.0, 0.0, 0.0)
    try:
        return Triad(
            _UNITS[instrument],
            matrix=matlab_matrix(misaligned),
            g_sensitivity=((a, 0.0, 0.0), (0.0, b, 0.0), (0.0, 0.0, c)),
            bias=vector("ConstantBias"),
            temperature_bias=(warm,) if any(warm) else (),
            temperature_scale=(_map(lambda x: x / 100.0, warm_scale),) if any(warm_scale) else (),
            white=_map(lambda x: white_from_matlab(x, kind), vector("NoiseDensity")),
            instability=vector("BiasInstability"),
            walk=_map(lambda x: walk_from_matlab(x, kind), vector("RandomWalk")),
            full_scale=None if none else float(_array(limit, f"{where}.MeasurementRange", ((),))),
            resolution=resolution,
            matlab_filter=_filter(table.get("BiasInstabilityCoefficients"), f"{where}.BiasInstabilityCoefficients"),
        )
    except InputError as error:
        raise error if str(error).startswith(where) else InputError(f"{where}: {error}") from None


def _map(function: Any, values: Vector) -> Vector:
    x, y, z = (function(v) for v in values)
    return x, y, z


def _filter(value: Any, where: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    if value is None:
        return Triad.matlab_filter
    if not isinstance(value, dict) or set(value) != {"Numerator", "Denominator"}:
        raise InputError(f"{where} is {str(value)[:60]}; give Numerator and Denominator, two lists of numbers")
    parts = [np.atleast_1d(_array(value[key], f"{where}.{key}", None)) for key in ("Numerator", "Denominator")]
    return tuple(parts[0].tolist()), tuple(parts[1].tolist())


def _array(value: Any, where: str, shapes: tuple[tuple[int, ...], ...] | None) -> np.ndarray:
    """Finite numbers of one of these shapes; None: any number of them in a row."""
    names = {(): "a number", (3,): "three numbers", (3, 3): "three rows of three numbers"}
    wanted = "a list of numbers" if shapes is None else " or ".join(names[shape] for shape in shapes)
    array = np.full((0, 0), 0.0)
    if _all_numbers(value):
        with contextlib.suppress(ValueError, OverflowError):
            array = np.array(value, dtype=np.float64)
    fits = array.ndim <= 1 and array.size > 0 if shapes is None else array.shape in shapes
    if not fits or not np.isfinite(array).all():
        raise InputError(f"{where} is {str(value)[:60]}; give {wanted}, all finite")
    return array


def _all_numbers(value: Any) -> bool:
    if isinstance(value, list):
        return all(_all_numbers(item) for item in value)
    return isinstance(value, int | float) and not isinstance(value, bool)
