"""The sensor model file (TOML): the settings of one specimen, drawn from a part or fitted to a log.

A key is the name of a Triad's field and its unit: bias_mg, white_m_s2_rthz. Files are written in SI, which reads back
without loss; other units of the table below are converted once, here. A file that ends in .json has MATLAB's form
(matlab.py), one in .yaml Kalibr's (kalibr.py). docs/catalogue.md explains every key.
"""

import math
import os
import re
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from strapdown.errors import InputError
from strapdown.io.atomic import whole_bytes, whole_file
from strapdown.io.plain_values import toml_values
from strapdown.io.toml_text import shown, toml_key, toml_value
from strapdown.sensors.parts.kalibr import SUFFIXES as KALIBR
from strapdown.sensors.parts.kalibr import kalibr_from, kalibr_text
from strapdown.sensors.parts.part import SI_UNIT
from strapdown.sensors.parts.units import to_si
from strapdown.sensors.triad import Triad, random_walk_from_density

FORMAT = "strapdown sensor model 1"

# unit of units.py to its letters in a key; the SI one first
_LETTERS = {
    "accelerometer": {"m/s2": "m_s2", "g": "g", "mg": "mg", "ug": "ug"},
    "gyroscope": {"rad/s": "rad_s", "deg/s": "deg_s", "deg/h": "deg_h"},
    "magnetometer": {"uT": "ut", "nT": "nt", "G": "gauss", "mG": "mgauss"},
}
# field: what follows the letters in its key, and the shape of its value; -1 is any number of them
_MEASURED: dict[str, tuple[str, tuple[int, ...]]] = {
    "bias": ("", (3,)),
    "turn_on": ("", (3,)),
    "temperature_bias": ("_per_c", (-1, 3)),
    "white": ("_rthz", (3,)),
    "noise_density": ("_rthz", (3,)),  # of data sheets, one-sided: becomes white
    "instability": ("", (3,)),
    "walk": ("_per_rts", (3,)),
    "quantisation": ("_s", (3,)),
    "full_scale": ("", ()),
    "resolution": ("", ()),
}
_PLAIN: dict[str, tuple[str, tuple[int, ...]]] = {  # key: field, shape
    "matrix": ("matrix", (3, 3)),
    "nonlinearity_of_full_scale": ("nonlinearity", (3,)),
    "g_sensitivity_rad_s_per_m_s2": ("g_sensitivity", (3, 3)),
    "temperature_scale_per_c": ("temperature_scale", (-1, 3)),
    "reference_c": ("reference_c", ()),
    "limits_c": ("limits_c", (2,)),
    "instability_band_s": ("instability_band_s", (2,)),
    "bandwidth_hz": ("bandwidth_hz", ()),
    "filter_order": ("filter_order", ()),
    "latency_s": ("latency_s", ()),
    "jitter_s": ("jitter_s", ()),
    "loss": ("loss", ()),
    "matlab_filter_numerator": ("matlab_filter", (-1,)),
    "matlab_filter_denominator": ("matlab_filter", (-1,)),
}
_SIGNED = (
    *("bias", "temperature_bias", "matrix", "nonlinearity"),
    *("g_sensitivity", "temperature_scale", "reference_c", "limits_c"),
)
_SHAPES = {
    (): "a finite number",
    (2,): "two finite numbers",
    (3,): "three finite numbers, for x, y and z",
    (3, 3): "three rows of three finite numbers",
    (-1,): "a list of finite numbers",
    (-1, 3): "a list of vectors of three finite numbers, one for each power of the temperature",
}


def keys(instrument: str) -> dict[str, tuple[str, str, tuple[int, ...]]]:
    """Every valid key of an instrument's table: its field, unit ("" if none of the instrument's) and shape."""
    valid = {
        f"{field}_{letters}{after}": (field, unit, shape)
        for unit, letters in _LETTERS[instrument].items()
        for field, (after, shape) in _MEASURED.items()
    }
    plain = {key: (field, "", shape) for key, (field, shape) in _PLAIN.items()}
    if instrument != "gyroscope":
        del plain["g_sensitivity_rad_s_per_m_s2"]
    return valid | plain


def write_model(path: str | os.PathLike[str], triads: Mapping[str, Triad], meta: Mapping[str, Any]) -> tuple[str, ...]:
    """Write the instruments ("accelerometer", "gyroscope", "magnetometer") of one specimen; meta states where from.

    Values of meta are text, numbers, yes or no, lists and tables of these; None is not written. Returns the fields that
    the form cannot represent: none in TOML, some in MATLAB's .json, most in Kalibr's .yaml.
    """
    _check_instruments(triads)
    if str(path).lower().endswith(".json"):
        from strapdown.sensors.parts.matlab import matlab_text

        text, left_out = matlab_text(triads, meta)
    elif str(path).lower().endswith(KALIBR):
        text, left_out = kalibr_text(triads, meta)
    else:
        text, left_out = model_text(triads, meta), ()
    with whole_file(path) as tmp:
        tmp.write_text(text, encoding="utf-8")
    return left_out


def model_text(triads: Mapping[str, Triad], meta: Mapping[str, Any]) -> str:
    """The model as TOML, in SI, with every digit; a field at its default is not written."""
    _check_instruments(triads)
    lines = [f'format = "{FORMAT}"', "", "[meta]"]
    lines += [f"{toml_key(key)} = {toml_value(value, key)}" for key, value in meta.items() if value is not None]
    for instrument, triad in triads.items():
        plain = Triad(triad.unit)
        lines += ["", f"[{instrument}]"]
        si = _LETTERS[instrument][SI_UNIT[instrument]]
        for field in (f.name for f in fields(Triad) if f.name != "unit"):
            value = getattr(triad, field)
            if value == getattr(plain, field):
                continue
            if field == "matlab_filter":
                lines += [
                    f"{field}_numerator = {toml_value(value[0])}",
                    f"{field}_denominator = {toml_value(value[1])}",
                ]
            elif field in _MEASURED:
                lines.append(f"{field}_{si}{_MEASURED[field][0]} = {toml_value(value)}")
            else:
                (key,) = (key for key, (name, _) in _PLAIN.items() if name == field)
                lines.append(f"{key} = {toml_value(value)}")
    return "\n".join(lines) + "\n"


def read_model(path: str | os.PathLike[str], part: str | None = None) -> tuple[dict[str, Triad], dict[str, Any]]:
    """The instruments in a model file, and its meta; part chooses one of several in MATLAB's .json."""
    data = whole_bytes(path, "sensor model")
    if str(path).lower().endswith(".json"):
        from strapdown.sensors.parts.matlab import matlab_from

        return matlab_from(data, Path(path), part)
    if str(path).lower().endswith(KALIBR):
        return kalibr_from(data, Path(path))
    return model_from(toml_values(data, Path(path)), Path(path))


def model_from(values: dict[str, Any], path: Path) -> tuple[dict[str, Triad], dict[str, Any]]:
    """The model in plain values; `path` is where they came from, for messages."""
    if values.get("format") != FORMAT:
        raise InputError(f'{path}: "format" is {shown(values.get("format"))}; a sensor model has format = "{FORMAT}"')
    meta = values.get("meta", {})
    if not isinstance(meta, dict):
        raise InputError(f'{path}: "meta" is {shown(meta)}; write it as a table [meta]')
    triads = {}
    for name, table in values.items():
        if name in ("format", "meta"):
            continue
        if name not in SI_UNIT:
            raise InputError(f'{path}: "{name}" is not known; valid names: format, meta, {", ".join(SI_UNIT)}')
        if not isinstance(table, dict):
            raise InputError(f'{path}: "{name}" is {shown(table)}; write it as a table [{name}]')
        triads[name] = _triad(name, table, path)
    if not triads:
        raise InputError(f"{path}: has no instrument; add one of [{'], ['.join(SI_UNIT)}]")
    return triads, meta


def _triad(instrument: str, table: dict[str, Any], path: Path) -> Triad:
    valid = keys(instrument)
    settings: dict[str, Any] = {}
    key_of: dict[str, str] = {}  # field: the key that gave it
    for key, value in table.items():
        where = f'{path}: "{instrument}.{key}"'
        if key not in valid:
            raise InputError(f"{where} {_not_known(key, instrument)}")
        field, unit, shape = valid[key]
        numbers = _numbers(value, shape)
        if numbers is None:
            raise InputError(f"{where} is {shown(value)}; give {_SHAPES[shape]}")
        if field not in (*_SIGNED, "matlab_filter") and np.size(numbers) and np.min(numbers) < 0.0:
            raise InputError(f"{where} is {shown(value)}; give numbers that are not negative")
        if unit:
            numbers = _scaled(numbers, unit)
        if field == "noise_density":
            field, numbers = "white", tuple(random_walk_from_density(x) for x in numbers)
        slot = key if field == "matlab_filter" else field
        if slot in key_of:
            raise InputError(f'{where} states the same as "{key_of[slot]}"; keep one')
        key_of[slot] = key
        if field == "filter_order":
            if value not in (1, 2):
                raise InputError(f"{where} is {shown(value)}; give 1 or 2")
            numbers = int(value)
        if field == "matlab_filter":
            old = settings.get(field, Triad.matlab_filter)
            settings[field] = (numbers, old[1]) if key.endswith("numerator") else (old[0], numbers)
        else:
            settings[field] = numbers
    if "full_scale" in key_of and "resolution" in key_of and not settings["full_scale"] > settings["resolution"]:
        largest, finest = (f"{key_of[field]} = {table[key_of[field]]:g}" for field in ("full_scale", "resolution"))
        raise InputError(f"{path}: {instrument}: {largest} is not above {finest}; give a larger range")
    try:
        return Triad(SI_UNIT[instrument], **settings)
    except InputError as error:
        # in the words of the file: the first field named is the key that gave it
        message = re.sub(r"^\w+", lambda found: key_of.get(found[0], found[0]), str(error))
        raise InputError(f"{path}: {instrument}: {message}") from None


def _not_known(key: str, instrument: str) -> str:
    valid = keys(instrument)
    same = [k for k, (field, _, _) in valid.items() if field == key]
    if same:
        return f"has no unit in its name; valid: {', '.join(same)}"
    stem = max((f for f, _, _ in valid.values() if key.startswith(f"{f}_")), key=len, default=None)
    if stem is not None:
        return f"is not known; valid: {', '.join(k for k, (field, _, _) in valid.items() if field == stem)}"
    si = _LETTERS[instrument][SI_UNIT[instrument]]
    listed = [k for k, (field, unit, _) in valid.items() if unit in ("", SI_UNIT[instrument])]
    units = ", ".join(_LETTERS[instrument].values())
    return f"is not known; valid: {', '.join(listed)} (other units in place of {si}: {units})"


def _numbers(value: Any, shape: tuple[int, ...]) -> Any:
    """Finite numbers in tuples of this shape, or None."""
    if shape == ():
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        try:
            number = float(value)
        except OverflowError:
            return None
        return number if math.isfinite(number) else None
    if not isinstance(value, list) or (shape[0] >= 0 and len(value) != shape[0]):
        return None
    inner = tuple(_numbers(item, shape[1:]) for item in value)
    return None if any(item is None for item in inner) else inner


def _scaled(numbers: Any, unit: str) -> Any:
    return tuple(_scaled(item, unit) for item in numbers) if isinstance(numbers, tuple) else to_si(numbers, unit)


def _check_instruments(triads: Mapping[str, Triad]) -> None:
    if not triads:
        raise InputError(f"a sensor model needs an instrument; give one of {', '.join(SI_UNIT)}")
    for name, triad in triads.items():
        if name not in SI_UNIT:
            raise InputError(f'a sensor model has no instrument "{name}"; valid: {", ".join(SI_UNIT)}')
        if triad.unit != SI_UNIT[name]:
            raise InputError(f"the {name} is in {triad.unit}; a sensor model has it in {SI_UNIT[name]}")
