"""The most likely meaning of a wrong key of a mapping."""

import re
from collections.abc import Sequence
from difflib import get_close_matches

# beginnings of names that others use for our columns
_BEGINNINGS = {
    "acc": ("accelerometer", "acceleration", "accel", "a"),
    "gyr": ("gyroscope", "gyro", "angularrate", "omega", "rate", "w", "g"),
    "mag": ("magnetometer", "magnetic", "field", "m", "b"),
    "t": ("time", "timestamp", "stamp", "seconds"),
    "temperature": ("temp", "celsius"),
    "stop": ("zupt", "stationary", "still", "rest"),
    "true_q": ("quaternion", "quat", "q", "attitude"),
    "true_p": ("position", "pos", "p"),
    "true_v": ("velocity", "vel", "v"),
    "column": ("name", "header", "col"),
    "unit": ("units", "scale"),
    "counts_per_unit": ("sensitivity", "lsb", "counts", "lsbperunit"),
    "zero_counts": ("offset", "bias", "zero"),
    "rate_hz": ("rate", "frequency", "hz", "samplerate"),
    "frame": ("axes", "coordinates"),
}


def instead_of(key: str, valid: Sequence[str]) -> str:
    """`did you mean ...?` for a key that is not valid; empty where nothing is near."""
    named = _renamed(key, valid)
    near = [named] if named is not None else get_close_matches(key.lower(), valid, 1, 0.6)
    return f"did you mean {near[0]}?" if near else ""


def _renamed(key: str, valid: Sequence[str]) -> str | None:
    """Our name for a usual one: accel_x, gyroX, ax, time."""
    plain = key.lower().replace("-", "_")
    match = re.fullmatch(r"(.*?)_?([wxyz]?)", plain)
    stem, axis = (match[1], match[2]) if match else (plain, "")
    for whole, letter in ((plain, ""), (stem, axis)):
        for ours, others in _BEGINNINGS.items():
            wanted = f"{ours}_{letter}" if letter else ours
            if whole.replace("_", "") in (ours, *others) and wanted in valid and wanted != key:
                return wanted
    return None
