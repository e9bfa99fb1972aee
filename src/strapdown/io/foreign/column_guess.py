"""Which columns of a foreign table are ours, judged by their names: `ax`, `AccelX`, `gyro_x (deg/s)`, `time_ms`.

Names state a quantity, an axis and sometimes a unit. Where the unit is not stated, the readings must show it:
recordings/foreign/unit_guess.py.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from strapdown.io.foreign.clock import CLOCK
from strapdown.io.foreign.unit_words import known_unit
from strapdown.types import Array

_WORDS = {
    "acc": (
        "acc",
        "accel",
        "accelerometer",
        "acceleration",
        "accelero",
        "gf",
        "gforce",
        "specificforce",
        "a",
        "f",
        "beschl",
        "beschleunigung",
        "ускорение",
    ),
    "gyr": (
        "gyr",
        "gyro",
        "gyroscope",
        "angularvelocity",
        "angularrate",
        "rotationrate",
        "rotation",
        "omega",
        "rate",
        "w",
        "gyroskop",
        "drehrate",
        "winkelgeschwindigkeit",
        "гироскоп",
    ),
    "mag": (
        "mag",
        "magn",
        "magnet",
        "magnetometer",
        "magneticfield",
        "magnetic",
        "compass",
        "m",
        "b",
        "h",
        "magnetfeld",
    ),
}
_GYR_LETTERS = ("g",)  # gx; a lone g is a unit
_UNITS = {"acc": "m/s2", "gyr": "rad/s", "mag": "uT", "t": "s", "temperature": "degC"}
_TIME = (
    "time",
    "t",
    "timestamp",
    "stamp",
    "ts",
    "clock",
    "elapsed",
    "secondselapsed",
    "sampletimefine",
    "epoch",
    "date",
    "datetime",
    "zeit",
    "время",
)
_TIME_BY_UNIT = {"millis": "ms", "micros": "us", "seconds": "s", "sec": "s", "ms": "ms", "us": "us", "nanos": "ns"}
_TEMPERATURE = ("temperature", "temp", "tempc", "imutemp")
_STOP = ("stop", "stopped", "zupt", "stationary", "still", "standstill", "button")
# readings that were changed, or are no specific force: taken only where nothing else has the axes
_SECOND_CHOICE = {
    "linear",
    "lin",
    "user",
    "free",
    "gravity",
    "grav",
    "uncal",
    "uncalibrated",
    "filtered",
    "bias",
    "offset",
    "std",
    "sigma",
    "cov",
}
_SECOND_CHOICE |= {"covariance", "orientation", "true", "ref", "magnitude", "total"}
_USUAL_ORDER = ("acc", "gyr", "mag")  # in which sketches print without a header


@dataclass(frozen=True)
class Guess:
    """One of our columns: the column of the file, and the unit that its name states (None: the name states none)."""

    column: str
    unit: str | None = None
    stated: str = ""


def guessed_columns(
    header: Sequence[str],
    values: Mapping[str, Array],
    has_header: bool,
    units: Mapping[str, str] | None = None,
    clocks: Collection[str] = (),
) -> dict[str, Guess]:
    """Our columns found in a table by the names of its columns; without a header, by their order.

    units: those of a line below the names.
    clocks: columns of clock times.
    """
    if not has_header:
        return _by_order(header, values)
    found = _by_name(header, values, clocks)
    for ours, guess in found.items():
        quantity = ours.partition("_")[0]
        word = (units or {}).get(guess.column, "")
        if guess.unit is None and word and quantity in _UNITS:
            found[ours] = Guess(guess.column, known_unit(word, _UNITS[quantity]), word)
    return found


def _by_name(header: Sequence[str], values: Mapping[str, Array], clocks: Collection[str]) -> dict[str, Guess]:
    found: dict[str, Guess] = {}
    taken: set[str] = set()
    for quantity in ("acc", "gyr", "mag"):
        triad = _triad(quantity, header, taken)
        found |= {f"{quantity}_{axis}": guess for axis, guess in triad.items()}
        taken |= {guess.column for guess in triad.values()}
    time = _time(header, values, taken, clocks)
    if time is not None:
        found = {"t": time, **found}
    for ours, words in (("temperature", _TEMPERATURE), ("stop", _STOP)):
        for text in header:
            base, unit = _unit_apart(text)
            joined = "".join(_tokens(base))
            if text not in taken and joined in words:
                known = known_unit(unit, "degC") if unit and ours == "temperature" else None
                found[ours] = Guess(text, known, unit)
                break
    return found


def _unit_apart(text: str) -> tuple[str, str]:
    """Name and unit as written of `Acceleration x (m/s^2)`, `acc_x [g, s]`, `gx/dps`."""
    match = re.fullmatch(r"[\s#]*(.*?)\s*[\[(]\s*([^\])]*?)\s*[\])]\s*", text)
    if match and match[1]:
        return match[1], match[2].split(",")[0].strip()
    return text.lstrip("# "), ""


def _tokens(name: str) -> list[str]:
    """Words of a name, in lower case: AccelX, accel_x and accel.x are accel, x."""
    split = re.sub(r"(?<=[a-z])(?=[A-Z][a-z]|[XYZ]\b|[XYZ]_)|[_.\-/\s:\[\]()]+", " ", name)
    return [token.lower() for token in split.split() if token]


def _axis_of(name: str, quantity: str) -> tuple[str, str, str] | None:
    """Axis, stem and unit word of a name, if it is an axis of that quantity."""
    tokens = _tokens(name)
    unit = ""
    if len(tokens) > 1 and tokens[-1] not in ("x", "y", "z") and known_unit(tokens[-1], _UNITS[quantity]):
        unit = tokens.pop()
    words = _WORDS[quantity]
    for i, token in enumerate(tokens):
        if token in ("x", "y", "z", "0", "1", "2"):
            rest = tokens[:i] + tokens[i + 1 :]
            if any(word in words for word in (*rest, "".join(rest[-2:]))):
                axis = token if token in "xyz" else "xyz"[int(token)]
                return axis, " ".join(rest), unit
        match = re.fullmatch(r"(.+?)([xyz])", token)
        letters = _GYR_LETTERS if quantity == "gyr" else ()
        if match and (match[1] in words or match[1] in letters):
            return match[2], " ".join([*tokens[:i], match[1], *tokens[i + 1 :]]), unit
    return None


def _triad(quantity: str, header: Sequence[str], taken: set[str]) -> dict[str, Guess]:
    """Three columns whose names differ in the axis only. Of several such triples, the one of unprocessed readings is
    taken.
    """
    stems: dict[str, dict[str, Guess]] = {}
    for text in header:
        if text in taken:
            continue
        base, stated = _unit_apart(text)
        axis = _axis_of(base, quantity)
        if axis is None:
            continue
        word = stated or axis[2]
        known = known_unit(word, _UNITS[quantity]) if word else None
        stems.setdefault(axis[1], {}).setdefault(axis[0], Guess(text, known, word))
    whole = {stem: axes for stem, axes in stems.items() if len(axes) == 3}
    if not whole:
        return {}
    best = min(whole, key=lambda stem: sum(word in _SECOND_CHOICE for word in stem.split()))
    return {axis: whole[best][axis] for axis in "xyz"}


def _time(header: Sequence[str], values: Mapping[str, Array], taken: set[str], clocks: Collection[str]) -> Guess | None:
    """The column of time: by its name, and rising. Seconds are preferred to other units, which are coarser."""
    found: list[tuple[int, Guess]] = []
    for text in header:
        base, stated = _unit_apart(text)
        tokens = _tokens(base)
        joined = "".join(tokens)
        unit = known_unit(stated, "s") if stated else None
        if unit is None and len(tokens) > 1:
            unit = next((_TIME_BY_UNIT.get(t) or known_unit(t, "s") for t in tokens[::-1] if known_unit(t, "s")), None)
        field = _tokens(base.rpartition(".")[2])  # imu.t of a struct
        named = any(map(_is_time, (tokens, field))) or bool({"time", "timestamp", "elapsed", "stamp"} & set(tokens))
        if text in taken or not (named or joined in _TIME_BY_UNIT or text in clocks):
            continue
        if text in clocks:
            unit = CLOCK
        if joined in _TIME_BY_UNIT:
            unit = unit or _TIME_BY_UNIT[joined]
        t = values.get(text)
        rises = t is not None and len(t) > 1 and bool(np.all(np.diff(t) >= 0.0)) and t[-1] > t[0]
        found.append(((2 if rises else 0) + (unit == "s"), Guess(text, unit, stated)))
    return max(found, key=lambda pair: pair[0])[1] if found else None


def _is_time(tokens: list[str]) -> bool:
    """t, and t_us with its unit."""
    alone = tokens[:-1] if len(tokens) > 1 and known_unit(tokens[-1], "s") else tokens
    return "".join(alone) in _TIME


def _by_order(header: Sequence[str], values: Mapping[str, Array]) -> dict[str, Guess]:
    """Columns of a table without names: time where a column rises, then groups of three readings in the usual order of
    sketches.
    """
    numbers = [name for name in header if np.isfinite(values[name]).mean() > 0.5]
    found: dict[str, Guess] = {}
    if numbers and len(numbers) % 3 == 1:
        t = values[numbers[0]]
        if np.all(np.diff(t) >= 0.0) and t[-1] > t[0]:
            found["t"] = Guess(numbers.pop(0))
    for quantity, first in zip(_USUAL_ORDER, range(0, len(numbers) - 2, 3), strict=False):
        found |= {f"{quantity}_{axis}": Guess(numbers[first + i]) for i, axis in enumerate("xyz")}
    return found
