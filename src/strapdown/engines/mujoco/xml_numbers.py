"""Numbers of a robot file that no robot has."""

import math
import re

from strapdown.engines.robot_limits import shown
from strapdown.engines.xml_lines import XmlFile
from strapdown.errors import RobotError

_NAMES = ("name", "link", "joint", "body", "site", "class", "childclass", "mesh", "file", "filename")  # may be "nan"
_LARGEST = 1e12  # of any length, angle, mass: beyond this squares and sums lose the robot
_MAY_BE_WRONG = re.compile(r"[a-zA-Z_]|\d{12}")  # "nan", an exponent, many digits: other numbers need no reading
_UNBOUNDED = ("limit", "safety_controller", "numeric")  # elements whose huge numbers mean "no limit", or nothing to us


def check_numbers(xml: XmlFile) -> None:
    """Refuse numbers that are not finite or far too large: the engine accepts them, and the whole robot becomes NaN."""
    for element in xml.root.iter():
        for key, value in element.attrib.items():
            if key in _NAMES or not _MAY_BE_WRONG.search(value):
                continue
            numbers = [number(word) for word in value.split()]
            open_ended = element.tag in _UNBOUNDED or key.endswith("range")
            if any(math.isnan(x) or (abs(x) >= _LARGEST and not open_ended) for x in numbers if x is not None):
                raise RobotError(
                    f'{xml.where(element)}: {key} of <{element.tag}> is "{shown(value)}"; '
                    f"give numbers below {_LARGEST:g}"
                )


def number(word: str) -> float | None:
    """A word as a number; None if it is not a number."""
    try:
        return float(word)
    except ValueError:
        return None
