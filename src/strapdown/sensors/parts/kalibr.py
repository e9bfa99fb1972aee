"""Kalibr's imu.yaml: white noise and random walk of accelerometer and gyroscope, one number for all axes of each.

Kalibr's densities are those of its discrete sigma, density / sqrt(step): the N and K of this package, without a factor.
Units: m/s2/sqrt(Hz) and m/s3/sqrt(Hz), rad/s/sqrt(Hz) and rad/s2/sqrt(Hz).
"""

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from strapdown.errors import InputError
from strapdown.sensors.parts.part import SI_UNIT
from strapdown.sensors.triad import Triad

SUFFIXES = (".yaml", ".yml")
INSTALL = "pip install 'strapdown[formats]'"
_KEYS = {"noise_density": "white", "random_walk": "walk"}
_OPENCV = re.compile(rb"\A%YAML:[^\n]*\n")  # first line of OpenCV's files, as OpenVINS and VINS have; YAML has no colon
_INSTRUMENTS = ("accelerometer", "gyroscope")


def kalibr_from(data: bytes, path: Path) -> tuple[dict[str, Triad], dict[str, Any]]:
    """The instruments of an imu.yaml, and its topic and rate as meta."""
    values = _yaml(data, path)
    nested = {k: each for k, each in values.items() if isinstance(each, dict) and "gyroscope_noise_density" in each}
    if "gyroscope_noise_density" not in values and nested:  # Kalibr's own results stand under imu0
        if len(nested) > 1:
            raise InputError(f"{path} has the noise of {', '.join(map(str, nested))}; keep one of them in a file")
        values = next(iter(nested.values()))
    triads = {}
    for instrument in _INSTRUMENTS:
        fields = {field: _number(values, f"{instrument}_{key}", path) for key, field in _KEYS.items()}
        white, walk = ((fields[name],) * 3 for name in ("white", "walk"))
        triads[instrument] = Triad(SI_UNIT[instrument], white=white, walk=walk)
    meta: dict[str, Any] = {"source": "Kalibr imu.yaml"}
    if "update_rate" in values:
        meta["rate_hz"] = _number(values, "update_rate", path)
    if isinstance(values.get("rostopic"), str):
        meta["topic"] = values["rostopic"]
    return triads, meta


def kalibr_text(triads: Mapping[str, Triad], meta: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """An imu.yaml, and what it cannot hold. Axes that differ are replaced by their root mean square."""
    missing = [name for name in _INSTRUMENTS if name not in triads]
    if missing:
        raise InputError(f"Kalibr's imu.yaml needs accelerometer and gyroscope; the model has no {missing[0]}")
    lines = ["# Noise of an IMU in the form of Kalibr, written by strapdown; SI units, continuous time"]
    unheld = []
    for instrument in _INSTRUMENTS:
        triad = triads[instrument]
        for key, field in _KEYS.items():
            axes = getattr(triad, field)
            lines.append(f"{instrument}_{key}: {math.sqrt(sum(x * x for x in axes) / 3.0)!r}")
            if len(set(axes)) > 1:
                unheld.append(f"{field} of the single axes of the {instrument}")
        if any(triad.instability):
            unheld.append(f"instability of the {instrument}")
    topic, rate = meta.get("topic", "/imu"), meta.get("rate_hz")
    lines.append(f"rostopic: {topic if str(topic).isprintable() and '#' not in str(topic) else '/imu'}")
    lines.append(f"update_rate: {float(rate) if isinstance(rate, int | float) else 200.0!r}")
    if not isinstance(rate, int | float):
        unheld.append("update_rate is not known: 200 Hz is written, correct it")
    return "\n".join(lines) + "\n", tuple(unheld)


def _yaml(data: bytes, path: Path) -> dict[str, Any]:
    try:
        import yaml
    except ImportError:
        raise InputError(f"{path} is a YAML file, which pyyaml reads; install it: {INSTALL}") from None
    try:
        found = yaml.safe_load(_OPENCV.sub(b"", data))
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError, KeyError, TypeError, AttributeError) as error:
        reason = " ".join(str(error).split())[:100]
        raise InputError(f"{path} cannot be read as YAML ({reason}); correct it or write it anew") from None
    if not isinstance(found, dict):
        raise InputError(f"{path} is no imu.yaml of Kalibr; it needs gyroscope_noise_density and three more keys")
    return found


def _number(values: Mapping[str, Any], key: str, path: Path) -> float:
    value = values.get(key)
    if isinstance(value, str):  # YAML 1.1 takes 1e-3 for a text: it wants 1.0e-3
        try:
            value = float(value)
        except ValueError:
            value = None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 <= value < 1e9:
        shown = repr(values.get(key))[:40]
        raise InputError(f"{path}: {key} is {shown}; give a number of at least 0, in SI units")
    return float(value)
