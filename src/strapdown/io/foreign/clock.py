"""Clock times in text, as phones and spreadsheets write them: `14:07:00.250`, `2024-03-05T14:07:00Z`, `3/5/24 2:07:00`.

With a date they become seconds since 1970, without one seconds since midnight. The zone is not used: all rows of a log
have the same. A time without seconds is no time of a sample.
"""

import re
from collections.abc import Iterable
from datetime import date
from functools import lru_cache

import numpy as np

from strapdown.types import Array

CLOCK = "clock"  # the unit of a column of such times
_TIME = re.compile(
    r"\s*(?:(?P<first>\d{1,4})(?P<sign>[-/.])(?P<second>\d{1,2})(?P=sign)(?P<third>\d{1,4})[T\s,]+)?"
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2}):(?P<s>\d{2}(?:[.,:]\d{1,9})?)"
    r"\s*(?P<half>[AaPp]\.?[Mm]\.?)?\s*(?:Z|UTC|[+-]\d{2}:?\d{2})?\s*"
)
_EPOCH = date(1970, 1, 1).toordinal()


def clock_seconds(text: str) -> float:
    """Seconds of one clock time; NaN where the text is none."""
    found = _TIME.fullmatch(text)
    if found is None:
        return np.nan
    hour, minute = int(found["hour"]), int(found["minute"])
    seconds = float(re.sub("[,:]", ".", found["s"]))
    if found["half"]:
        hour = hour % 12 + (12 if found["half"][0] in "pP" else 0)
    if hour > 23 or minute > 59 or seconds >= 61.0:  # a leap second has 60
        return np.nan
    day = 0
    if found["first"]:
        known = _day(found["first"], found["sign"], found["second"], found["third"])
        if known is None:
            return np.nan
        day = known
    return 86400.0 * day + 3600.0 * hour + 60.0 * minute + seconds


def clock_column(cells: Iterable[str | None]) -> Array:
    """Seconds of a column; NaN where a cell is no clock time."""
    return np.array([np.nan if cell is None else clock_seconds(cell) for cell in cells], dtype=np.float64)


@lru_cache(maxsize=64)
def _day(first: str, sign: str, second: str, third: str) -> int | None:
    """Days since 1970. Slashes: month first, as spreadsheets in America write it, where that is a date; points: day
    first; four digits in front: year first.
    """
    a, b, c = int(first), int(second), int(third)
    tries = [(a, b, c)] if len(first) == 4 else [(c, a, b), (c, b, a)] if sign == "/" else [(c, b, a)]
    for year, month, day in tries:
        try:
            return date(year if year > 99 else 2000 + year, month, day).toordinal() - _EPOCH
        except ValueError:
            continue
    return None
