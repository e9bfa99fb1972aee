"""Random settings of a run: distributions by name, each from one uniform number."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scipy.special import ndtri

from strapdown.errors import InputError

KINDS = ("uniform", "log_uniform", "normal", "whole", "choice")
_LEAST = 2.0**-53  # a normal number of exactly 0 or 1 would be infinite


@dataclass(frozen=True)
class Draw:
    """kind and its numbers. uniform, log_uniform, whole: from, to. normal: mean, sigma. choice: the values."""

    kind: str
    values: tuple[Any, ...]

    def at(self, u: float) -> Any:
        """The value at the quantile u, 0 to 1."""
        if self.kind == "choice":
            return self.values[min(int(u * len(self.values)), len(self.values) - 1)]
        a, b = self.values
        if self.kind == "whole":
            return int(min(a + math.floor(u * (b - a + 1)), b))
        if self.kind == "normal":
            return float(a + b * ndtri(min(max(u, _LEAST), 1.0 - _LEAST)))
        if self.kind == "log_uniform":
            return float(a * (b / a) ** u)
        return float(a + (b - a) * u)

    def extremes(self) -> tuple[Any, ...]:
        """Values to try before the campaign starts: each choice, else near both ends."""
        return self.values if self.kind == "choice" else (self.at(0.001), self.at(0.999))


def is_draw(value: object) -> bool:
    return isinstance(value, Mapping) and len(value) == 1 and next(iter(value)) in KINDS


def draw_from(key: str, value: Any) -> Draw:
    """From a table with one entry, as { uniform = [0, 10] }."""
    if isinstance(value, Draw):
        return value
    if not is_draw(value):
        raise InputError(f'draw "{key}" is {str(value)[:60]}; give a table such as {{ uniform = [0, 10] }}, {_VALID}')
    kind, values = next(iter(value.items()))
    if not isinstance(values, list | tuple) or not values:
        raise InputError(f'draw "{key}": {kind} is {str(values)[:60]}; give a list of values')
    if kind == "choice":
        return Draw(kind, tuple(values))
    number = int if kind == "whole" else (int, float)
    if len(values) != 2 or any(
        isinstance(x, bool) or not isinstance(x, number) or not math.isfinite(x) for x in values
    ):
        what = "mean and sigma" if kind == "normal" else "two whole numbers" if kind == "whole" else "two numbers"
        raise InputError(f'draw "{key}": {kind} is {str(list(values))[:60]}; give {what}')
    a, b = values
    if kind == "normal" and b < 0.0:
        raise InputError(f'draw "{key}": sigma is {b:g}; give a number that is not negative')
    if kind != "normal" and not a < b:
        raise InputError(f'draw "{key}": {kind} is from {a:g} to {b:g}; give the smaller number first')
    if kind == "log_uniform" and a <= 0.0:
        raise InputError(f'draw "{key}": log_uniform begins at {a:g}; give numbers above 0')
    return Draw(kind, (a, b))


_VALID = f"valid kinds: {', '.join(KINDS)}"
