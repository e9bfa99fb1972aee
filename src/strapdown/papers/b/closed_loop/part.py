"""A part of the experiment: the sessions it needs, and what follows from their figures."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from strapdown.papers.claim import Claim

ASKED = "figure asked of this product"
FIRST_SEED = 1001  # of the reported flights; settings were chosen on seeds below 100


@dataclass(frozen=True)
class Table:
    """Rows of text. left: columns that hold text. notes: sentences below it."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left: int = 1
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        rows = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        return {"title": self.title, "rows": rows, "notes": list(self.notes)}


Results = Sequence[dict[str, Any]]


@dataclass(frozen=True)
class Part:
    """judge: claims and a table from the results of the jobs, in their order."""

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
        """A figure of those that were not lost."""
        return [float(result[name]) for result in self.results if not _gone(result) and result[name] is not None]

    def most(self, name: str) -> float:
        """Largest size; infinite if a session was lost."""
        return float("inf") if self.lost else float(np.abs(self.values(name)).max())

    def text(self, name: str) -> str:
        """Mean and largest size of those that were not lost."""
        sizes = np.abs(self.values(name))
        return f"{sizes.mean():.3g} ({sizes.max():.3g})" if len(sizes) else "-"


def _gone(result: dict[str, Any]) -> bool:
    return bool(result["lost"] or result["stopped"])


def seeds(count: int) -> range:
    """The seeds of the reported flights."""
    return range(FIRST_SEED, FIRST_SEED + count)


def cut(results: Results, size: int) -> list[Group]:
    """Groups of so many results each, in their order."""
    return [Group(results[i : i + size]) for i in range(0, len(results), size)]
