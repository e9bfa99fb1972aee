"""A part of the experiment: its sessions, and the claims from their figures."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from strapdown.papers.chance import seeds_of
from strapdown.papers.claim import Claim
from strapdown.papers.outcome import Table

ASKED = "figure asked of this product"
FIRST_SEED = 1001  # of the reported flights; settings were chosen on seeds below 100


Results = Sequence[dict[str, Any]]


@dataclass(frozen=True)
class Part:
    """One part of the flight experiments: its jobs and their judgement.

    judge: claims and a table from the results of the jobs, in their order.
    """

    jobs: tuple[Any, ...]
    judge: Callable[[Results], tuple[list[Claim], Table]]


@dataclass(frozen=True)
class Group:
    """Sessions that differ by their seed only: counts of lost ones, errors of the others."""

    results: Results = field(repr=False)

    @property
    def lost(self) -> int:
        return sum(_gone(result) for result in self.results)

    def values(self, name: str) -> list[float]:
        """A figure of the flights that were not lost."""
        return [float(result[name]) for result in self.results if not _gone(result) and result[name] is not None]

    def most(self, name: str) -> float:
        """Largest size; infinite if a session was lost."""
        return float("inf") if self.lost else float(np.abs(self.values(name)).max())

    def text(self, name: str) -> str:
        """Mean and largest size of the flights that were not lost."""
        sizes = np.abs(self.values(name))
        return f"{sizes.mean():.3g} ({sizes.max():.3g})" if len(sizes) else "-"


def _gone(result: dict[str, Any]) -> bool:
    return bool(result["lost"] or result["stopped"])


def seeds(count: int, repeat: int = 0) -> range:
    """The seeds of the reported flights.

    repeat: others.
    """
    return seeds_of(FIRST_SEED, count, repeat)


def cut(results: Results, size: int) -> list[Group]:
    """Groups of this many results each, in their order."""
    return [Group(results[i : i + size]) for i in range(0, len(results), size)]
