"""Result of an experiment of a paper: claims, tables and figures; and the page that shows them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from matplotlib.figure import Figure

from strapdown.papers.claim import Claim


@dataclass(frozen=True)
class Table:
    """Rows of text.

    left: number of columns with text.
    notes: sentences below it.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: int = 1
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        rows = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        return {"title": self.title, "rows": rows, "notes": list(self.notes)}


@dataclass
class Outcome:
    """Result of an experiment.

    figures: figures by file name.
    notes: what was omitted, and why.
    more: further entries of the JSON document.
    """

    claims: list[Claim] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    figures: dict[str, Figure] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    more: dict[str, Any] = field(default_factory=dict)

    def add(self, other: "Outcome") -> None:
        """Add the result of another experiment."""
        self.claims += other.claims
        self.tables += other.tables
        self.figures |= other.figures
        self.notes += other.notes
        self.more |= other.more
