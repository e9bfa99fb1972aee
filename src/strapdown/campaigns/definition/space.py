"""The space of a campaign: cells of a grid, draws within each, and the key of every run.

A key is the cell's hash and the number of the run, as "3f2a91c0d7e4-00000017". It depends on the settings of the run
and not on the order of the file, so that a campaign can be extended.
"""

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from strapdown.arrays import Array
from strapdown.campaigns.definition.draws import Draw
from strapdown.errors import InputError
from strapdown.sensors.streams import stream

MOST_CELLS = 1_000_000  # of a grid: their settings are kept in memory
SEED_FACTOR = "seed"  # name of the run's own random numbers among the factors of a Sobol design
_DIGITS = 8


@dataclass(frozen=True)
class Cell:
    """One combination of the grid. name: 12 hexadecimal digits of the hash of its settings. linked: settings that come
    with values of the grid."""

    name: str
    settings: Mapping[str, Any]
    linked: Mapping[str, Any] = field(default_factory=dict)

    def key(self, number: int) -> str:
        return f"{self.name}-{number:0{_DIGITS}d}"


@dataclass(frozen=True)
class Space:
    """grid: values by key. draws: by key. sobol: 0 for independent draws, else the number of base samples. linked:
    further settings that come with a value of the grid, by key and by the value as text."""

    grid: Mapping[str, tuple[Any, ...]]
    draws: Mapping[str, Draw]
    sobol: int = 0
    linked: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        return math.prod(len(values) for values in self.grid.values())

    def cells(self) -> Iterator[Cell]:
        """In the order of the file: the last key varies first."""
        for values in product(*self.grid.values()):
            yield self._cell(dict(zip(self.grid, values, strict=True)))

    def _cell(self, settings: dict[str, Any]) -> Cell:
        linked: dict[str, Any] = {}
        for key, value in settings.items():
            linked |= self.linked_to(key, value)
        return Cell(cell_name({**settings, **linked}), settings, linked)

    def linked_to(self, key: str, value: Any) -> Mapping[str, Any]:
        return self.linked.get(key, {}).get(as_text(value), {})

    def cell_at(self, index: int) -> Cell:
        """The cell at a place of this order, without those before it."""
        settings: dict[str, Any] = {}
        for key, values in reversed(list(self.grid.items())):
            index, i = divmod(index, len(values))
            settings[key] = values[i]
        return self._cell({key: settings[key] for key in self.grid})

    def drawn(self, number: int) -> dict[str, Any]:
        """The drawn settings of a run: the same for the same number in every cell, so that cells can be paired."""
        if self.sobol:
            row = sobol_rows(self.sobol, len(self.draws) + 1)[number]
            return {key: draw.at(float(u)) for (key, draw), u in zip(self.draws.items(), row, strict=False)}
        return {key: draw.at(float(stream(number, "campaign", key).random())) for key, draw in self.draws.items()}

    def seed(self, number: int) -> int:
        """Seed of all random numbers within the run. In a Sobol design it is one of the factors."""
        if not self.sobol:
            return number
        return int(sobol_rows(self.sobol, len(self.draws) + 1)[number, -1] * 2**32)

    def rows(self) -> int:
        """Runs of a cell in a Sobol design: for every base sample two, and one for each factor."""
        return self.sobol * (len(self.draws) + 3)


def as_text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def cell_name(settings: Mapping[str, Any]) -> str:
    return hashlib.sha256(as_text(settings).encode()).hexdigest()[:12]


def parsed_key(key: str) -> tuple[str, int]:
    """Cell and number; the zeros in front of the number may be omitted."""
    cell, dash, number = key.strip().partition("-")
    if not dash or not number.isdigit() or len(cell) != 12 or set(cell) - set("0123456789abcdef"):
        raise InputError(f'"{key[:60]}" is not a key of a run; campaign show lists keys such as 3f2a91c0d7e4-00000017')
    return cell, int(number)


@lru_cache(maxsize=4)
def sobol_rows(samples: int, factors: int) -> Array:
    """Saltelli's scheme, in the order that SALib's analysis expects: for each base sample A, A with one column of B for
    each factor, B."""
    from scipy.stats import qmc

    base = qmc.Sobol(2 * factors, scramble=True, rng=np.random.default_rng(20_260_101)).random(samples)
    a, b = base[:, :factors], base[:, factors:]
    rows = np.empty((samples, factors + 2, factors))
    rows[:, 0], rows[:, -1] = a, b
    for i in range(factors):
        rows[:, i + 1] = a
        rows[:, i + 1, i] = b[:, i]
    return rows.reshape(-1, factors)
