"""The calibration file (TOML): one table for each instrument, units in the keys. docs/calibration.md explains them."""

import datetime
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from strapdown.calibration.calibration import PARAMETERS, UNITS, VERDICTS, Calibration, Correction, Found
from strapdown.errors import InputError
from strapdown.io.atomic import whole_bytes, whole_file
from strapdown.io.plain_values import toml_values
from strapdown.io.toml_text import shown, toml_key, toml_value

FORMAT = "strapdown calibration 1"
_FAMILY = FORMAT.rpartition(" ")[0]
_LETTERS = {"accelerometer": "m_s2", "gyroscope": "rad_s", "magnetometer": "ut"}
_ABOUT = ("part", "specimen")
_FOUND = ("method", "date", "verdict", "notes", "undetermined", "data")
_CONDITIONS = ("reference_c", "range_c")


def _key(instrument: str, parameter: str) -> str:
    """The key of a parameter, with its unit."""
    unit = _LETTERS[instrument]
    return {
        "matrix": "matrix",
        "bias": f"bias_{unit}",
        "cubic": f"cubic_per_{unit}_squared",
        "g_sensitivity": "g_sensitivity_rad_s_per_m_s2",
        "temperature_bias": f"temperature_bias_{unit}_per_c",
        "temperature_scale": "temperature_scale_per_c",
    }[parameter]


def _sigma_key(instrument: str, parameter: str) -> str:
    return f"sigma_{_key(instrument, parameter)}"


def _valid_keys(instrument: str) -> list[str]:
    own = [p for p in PARAMETERS if p != "g_sensitivity" or instrument == "gyroscope"]
    keys = [key for p in own for key in (_key(instrument, p), _sigma_key(instrument, p))]
    return [*_FOUND, f"residual_rms_{_LETTERS[instrument]}", *keys, *_CONDITIONS]


def write_calibration(path: str | os.PathLike[str], calibration: Calibration) -> None:
    """Write the file whole or not at all."""
    with whole_file(path) as tmp:
        tmp.write_text(calibration_text(calibration), encoding="utf-8")


def calibration_text(calibration: Calibration) -> str:
    """The calibration as TOML, in SI, with every digit; parameters that do nothing and were not fitted are omitted."""
    lines = [f'format = "{FORMAT}"']
    lines += [f"{key} = {toml_value(getattr(calibration, key))}" for key in _ABOUT if getattr(calibration, key)]
    for instrument, c in calibration.corrections.items():
        lines += ["", f"[{instrument}]", f"method = {toml_value(c.found.method)}"]
        if c.found.date is not None:
            lines.append(f"date = {toml_value(c.found.date)}")
        lines.append(f"verdict = {toml_value(c.found.verdict)}")
        if c.found.residual_rms is not None:
            lines.append(f"residual_rms_{_LETTERS[instrument]} = {toml_value(float(c.found.residual_rms))}")
        plain = Correction(c.unit, c.found)
        for parameter in PARAMETERS:
            value = getattr(c, parameter)
            if not value.size:  # a curve of degree 0
                continue
            if parameter in c.sigma or not np.array_equal(value, getattr(plain, parameter)):
                lines.append(f"{_key(instrument, parameter)} = {toml_value(value)}")
            if parameter in c.sigma:
                lines.append(f"{_sigma_key(instrument, parameter)} = {toml_value(c.sigma[parameter])}")
        if c.follows_temperature or c.reference_c != plain.reference_c:
            lines.append(f"reference_c = {toml_value(float(c.reference_c))}")
        if c.range_c is not None:
            lines.append(f"range_c = {toml_value([float(x) for x in c.range_c])}")
        for key in ("undetermined", "notes"):
            if getattr(c.found, key):
                lines.append(f"{key} = {toml_value(getattr(c.found, key))}")
        if c.found.data:
            lines += ["", f"[{instrument}.data]"]
            lines += [f"{toml_key(k)} = {toml_value(v, k)}" for k, v in c.found.data.items() if v is not None]
    return "\n".join(lines) + "\n"


def read_calibration(path: str | os.PathLike[str]) -> Calibration:
    """The calibration in a file; any defect is one sentence that names the file and the key."""
    path = Path(path)
    return calibration_from(whole_bytes(path, "calibration"), path)


def calibration_from(content: bytes, path: Path) -> Calibration:
    """The calibration in the content of a file; `path` is its name in sentences."""
    values = toml_values(content, path)
    said = values.get("format")
    if said != FORMAT:
        if isinstance(said, str) and said.startswith(_FAMILY):
            raise InputError(f'{path}: is of format "{said}", this program reads "{FORMAT}"; update strapdown')
        wrong = "is missing" if said is None else f"is {shown(said)}"
        raise InputError(f'{path}: "format" {wrong}; a calibration has format = "{FORMAT}"')
    corrections = {}
    for name, value in values.items():
        if name == "format":
            continue
        if name in _ABOUT:
            _text(value, f'{path}: "{name}"')
        elif name in UNITS:
            if not isinstance(value, dict):
                raise InputError(f'{path}: "{name}" is {shown(value)}; write it as a table [{name}]')
            corrections[name] = _correction(name, value, path)
        else:
            raise InputError(f'{path}: "{name}" is not known; valid names: format, {", ".join((*_ABOUT, *UNITS))}')
    if not corrections:
        raise InputError(f"{path}: has no instrument; add one of [{'], ['.join(UNITS)}]")
    return Calibration(corrections, values.get("part"), values.get("specimen"))


def _correction(instrument: str, table: dict[str, Any], path: Path) -> Correction:
    for key in table:
        if key not in _valid_keys(instrument):
            raise InputError(
                f'{path}: "{instrument}.{key}" is not known; valid names: {", ".join(_valid_keys(instrument))}'
            )
    settings: dict[str, Any] = {}
    sigma = {}
    for parameter in PARAMETERS:
        key, sigma_key = _key(instrument, parameter), _sigma_key(instrument, parameter)
        if key in table:
            settings[parameter] = _numbers(table[key], f'{path}: "{instrument}.{key}"')
        if sigma_key in table:
            sigma[parameter] = _numbers(table[sigma_key], f'{path}: "{instrument}.{sigma_key}"', finite=False)
    if "reference_c" in table:
        settings["reference_c"] = _number(table["reference_c"], f'{path}: "{instrument}.reference_c"')
    if "range_c" in table:
        limits = _numbers(table["range_c"], f'{path}: "{instrument}.range_c"')
        if limits.shape != (2,) or limits[0] > limits[1]:
            raise InputError(f'{path}: "{instrument}.range_c" is {shown(table["range_c"])}; give the lower one first')
        settings["range_c"] = (float(limits[0]), float(limits[1]))
    try:
        return Correction(UNITS[instrument], _found(instrument, table, path), sigma=sigma, **settings)
    except InputError as error:
        message = str(error)
        raise InputError(message if message.startswith(str(path)) else f"{path}: {instrument}: {message}") from None


def _found(instrument: str, table: dict[str, Any], path: Path) -> Found:
    where = f'{path}: "{instrument}'
    if "method" not in table:
        raise InputError(f'{where}.method" is missing; say how it was found, as method = "positions"')
    date = table.get("date")
    if not isinstance(date, str | datetime.date | None):
        raise InputError(f'{where}.date" is {shown(date)}; give a date like 2026-01-31')
    residual = table.get(f"residual_rms_{_LETTERS[instrument]}")
    if residual is not None:
        key = f'{where}.residual_rms_{_LETTERS[instrument]}"'
        residual = _number(residual, key)
        if residual < 0.0:
            raise InputError(f"{key} is {residual:g}; give a number of 0 or more")
    verdict = table.get("verdict", VERDICTS[0])
    if verdict not in VERDICTS:
        raise InputError(f'{where}.verdict" is {shown(verdict)}; valid: {", ".join(VERDICTS)}')
    lists = {}
    for key in ("notes", "undetermined"):
        value = table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise InputError(f'{where}.{key}" is {shown(value)}; give a list of sentences')
        lists[key] = tuple(value)
    data = table.get("data", {})
    if not isinstance(data, Mapping):
        raise InputError(f'{where}.data" is {shown(data)}; write it as a table [{instrument}.data]')
    return Found(
        _text(table["method"], f'{where}.method"'),
        data,
        None if date is None else str(date),
        residual,
        verdict,
        **lists,
    )


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"{where} is {shown(value)}; give text in quotes")
    return value


def _number(value: Any, where: str) -> float:
    """One number, not a list of one."""
    array = _numbers(value, where)
    if array.shape != ():
        raise InputError(f"{where} is {shown(value)}; give one number")
    return float(array)


def _numbers(value: Any, where: str, finite: bool = True) -> Any:
    """A number or nested lists of numbers. Booleans and text are refused, although numpy accepts them."""

    def is_number(x: Any) -> bool:
        if isinstance(x, list):
            return all(is_number(item) for item in x)
        return isinstance(x, int | float) and not isinstance(x, bool) and not math.isnan(x)

    try:
        array = np.array(value, dtype=np.float64) if is_number(value) else None
    except (ValueError, OverflowError):
        array = None
    if array is None or (finite and not np.isfinite(array).all()):
        raise InputError(f"{where} is {shown(value)}; give finite numbers, in rows of equal length")
    return array
