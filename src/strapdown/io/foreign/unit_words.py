"""Words that people write for units, and the unit of the table UNITS that each stands for.

A word is read by the quantity of its column: G is g for an accelerometer and gauss for a magnetometer.
"""

import re

from strapdown.io.columns import UNITS

# quantity (its SI unit): unit of the table -> words, in lower case and in the plain letters of plain_unit()
WORDS: dict[str, dict[str, tuple[str, ...]]] = {
    "s": {
        "s": ("sec", "secs", "second", "seconds"),
        "ms": ("msec", "msecs", "millis", "milli", "millisecond", "milliseconds"),
        "us": ("usec", "usecs", "micros", "micro", "microsecond", "microseconds"),
        "ns": ("nsec", "nanos", "nanosecond", "nanoseconds"),
        "d": ("day", "days"),
    },
    "m/s2": {
        "m/s2": ("m/s/s", "ms-2", "m*s-2", "mps2", "m/sec2", "meter/s2", "si"),
        "g": ("g0", "gee", "gs", "g's", "gforce", "g-force"),
        "mg": ("milli-g", "millig", "mgee"),
    },
    "rad/s": {
        "rad/s": ("rad/sec", "radps", "rads", "rads-1", "rad*s-1", "radians/s", "radian/s", "radians/second", "si"),
        "deg/s": ("dps", "degps", "degs", "deg/sec", "degs-1", "degrees/s", "degree/s", "degrees/second", "deg/second"),
        "mdeg/s": ("mdps", "mdegps", "millidps"),
        "mrad/s": ("mradps", "mrad/sec"),
    },
    "uT": {
        "uT": ("microtesla", "utesla", "microt"),
        "mT": ("millitesla",),
        "nT": ("nanotesla", "gamma"),
        "G": ("gs", "gauss"),
        "mG": ("mgs", "mgauss", "milligauss"),
    },
    "degC": {"degC": ("c", "celsius", "deg", "degcelsius", "centigrade"), "K": ("kelvin", "degk")},
    "m": {
        "m": ("meter", "meters", "metre", "metres"),
        "cm": ("centimeter", "centimetre"),
        "mm": ("millimeter", "millimetre"),
    },
    "rad": {"rad": ("radian", "radians"), "deg": ("degree", "degrees")},
    "m/s": {"m/s": ("mps", "m/sec")},
}
_SIGNS = {"µ": "u", "μ": "u", "²": "2", "^": "", "°": "deg", "⁻": "-", "¹": "1", "·": "*", "º": "deg", "˚": "deg"}


def plain_unit(text: str) -> str:
    """A unit in lower case, without spaces, and with plain letters for signs: `° / s` is deg/s, `m/s²` is m/s2."""
    plain = "".join(_SIGNS.get(letter, letter) for letter in text.strip())
    return re.sub(r"\s+|\*\*", "", plain).lower().replace("per", "/")


def is_unit(text: str) -> bool:
    """Whether a text is a word for a unit of any quantity, alone or in brackets."""
    word = text.strip().strip("[]()")
    return word in UNITS or any(known_unit(word, quantity) for quantity in WORDS)


def known_unit(text: str, quantity: str) -> str | None:
    """The unit of the table UNITS that a text names, for a column whose SI unit is `quantity`; None: not known."""
    if text in UNITS and UNITS[text].si == quantity:
        return text
    word = plain_unit(text)
    for name, words in WORDS.get(quantity, {}).items():
        if word == name.lower() or word in words:
            return name
    return None
