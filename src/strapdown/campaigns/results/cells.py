"""The runs of a campaign by cell: columns as arrays, statistics with confidence intervals."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa

from strapdown.arrays import Array
from strapdown.campaigns.definition.space import Cell
from strapdown.campaigns.plan import KEYS, WORDS, Plan
from strapdown.campaigns.results.intervals import mean_interval, quantile_interval, share_interval
from strapdown.campaigns.running.dataset import Dataset
from strapdown.errors import InputError

CONFIDENCE = 0.95
HIGH = 0.95  # the quantile that is shown besides the mean


@dataclass(frozen=True)
class Statistic:
    """Of one figure in one cell. mean: of a flag its share. Intervals with CONFIDENCE. high: the quantile HIGH."""

    runs: int
    flag: bool
    mean: float
    interval: tuple[float, float]
    median: float
    high: float
    high_interval: tuple[float, float]
    largest: float

    def numbers(self) -> dict[str, Any]:
        """Plain values for JSON; null where there is no number."""

        def plain(value: float) -> float | None:
            return value if math.isfinite(value) else None

        return {
            "runs": self.runs,
            "mean": plain(self.mean),
            "mean_interval": [plain(x) for x in self.interval],
            "median": plain(self.median),
            "quantile_95": plain(self.high),
            "quantile_95_interval": [plain(x) for x in self.high_interval],
            "largest": plain(self.largest),
        }


def statistic(values: Array, flag: bool) -> Statistic:
    """values: without those that are missing."""
    if not len(values):
        nothing = (math.nan, math.nan)
        return Statistic(0, flag, math.nan, nothing, math.nan, math.nan, nothing, math.nan)
    hits = int(values.sum()) if flag else 0
    interval = share_interval(hits, len(values), CONFIDENCE) if flag else mean_interval(values, CONFIDENCE)
    return Statistic(
        len(values),
        flag,
        float(values.mean()),
        interval,
        float(np.median(values)),
        float(np.quantile(values, HIGH)),
        quantile_interval(values, HIGH, CONFIDENCE),
        float(values.max()),
    )


class Results:
    """What a folder of a campaign holds, also while it runs."""

    def __init__(self, folder: str | Path) -> None:
        self.dataset = Dataset(folder)
        self.about = self.dataset.about()
        with TemporaryDirectory(prefix="strapdown-") as scratch:
            from strapdown.campaigns.archive import opened

            self.plan: Plan = opened(self.dataset.archive(), Path(scratch)).plan
        found = self.dataset.table(self.plan)
        if found is None or not len(found):
            raise InputError(f"{folder} has no run yet; wait for the first, or run the campaign")
        self.table: pa.Table = found

    @cached_property
    def cells(self) -> list[Cell]:
        """Those that have runs, in the order of the file."""
        there = set(self.table.column("cell").to_pylist())
        return [cell for cell in self.plan.space.cells() if cell.name in there]

    @cached_property
    def _rows(self) -> Mapping[str, Array]:
        """Rows of the table by cell."""
        names = np.array(self.table.column("cell").to_pylist())
        order = np.argsort(names, kind="stable")
        found, starts = np.unique(names[order], return_index=True)
        return dict(zip(found.tolist(), np.split(order, starts[1:]), strict=True))

    @cached_property
    def figures(self) -> tuple[str, ...]:
        """Numbers and flags that were measured, in the order of the file."""
        settings = {self.plan.column(factor) for factor in self.plan.factors}
        return tuple(
            field.name
            for field in self.table.schema
            if field.name not in (*KEYS, *settings, *WORDS) and field.type in (pa.float64(), pa.bool_(), pa.int64())
        )

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(name for name in self.plan.figures if name in WORDS and name in self.table.schema.names)

    def is_flag(self, figure: str) -> bool:
        return bool(self.table.schema.field(figure).type == pa.bool_())

    def column(self, name: str) -> Array:
        """Numbers; nan where there is none."""
        values = self.table.column(name).to_pylist()
        return np.array([math.nan if value is None else float(value) for value in values])

    def values(self, figure: str, cell: Cell | None = None) -> Array:
        """Of all runs of the cell that have one, in the order of their numbers."""
        found = self._column(figure)
        found = found if cell is None else found[self._rows[cell.name]]
        return found[~np.isnan(found)]

    def by_number(self, figure: str, cell: Cell) -> dict[int, float]:
        rows = self._rows[cell.name]
        numbers = self.table.column("number").to_numpy()[rows]
        return {int(n): float(v) for n, v in zip(numbers, self._column(figure)[rows], strict=True) if not math.isnan(v)}

    def _column(self, figure: str) -> Array:
        if figure not in self._columns:
            self._columns[figure] = self.column(figure)
        return self._columns[figure]

    @cached_property
    def _columns(self) -> dict[str, Array]:
        return {}

    def statistic(self, figure: str, cell: Cell) -> Statistic:
        return statistic(self.values(figure, cell), self.is_flag(figure))

    def runs(self, cell: Cell) -> int:
        return len(self._rows[cell.name])

    def failed(self, cell: Cell) -> int:
        return sum(
            reason is not None
            for reason in self.table.column("failed").take(pa.array(self._rows[cell.name])).to_pylist()
        )

    def figure(self, name: str | None) -> str:
        """The figure of this name; by default the one that decides, or the first number."""
        if name is not None:
            if name not in self.figures:
                raise InputError(f'figure "{name}" was not measured; there are: {", ".join(self.figures) or "none"}')
            return name
        if not self.figures:
            raise InputError("no run has a number yet: all have failed; see their reasons")
        if self.plan.until is not None:
            return self.plan.until.figure
        numbers = [name for name in self.figures if not self.is_flag(name)]
        known = [name for name in numbers if self.table.column(name).null_count < len(self.table)]
        return next(iter((*known, *numbers, *self.figures)))

    def cell(self, name: str) -> Cell:
        """By its row in the table, from 1, or by the first digits of its name."""
        if name.isdigit() and 1 <= int(name) <= len(self.cells) and len(name) < 6:
            return self.cells[int(name) - 1]
        found = [cell for cell in self.cells if cell.name.startswith(name)]
        if len(found) != 1:
            what = "is not a cell" if not found else "stands for several cells"
            raise InputError(f'"{name}" {what}; give its row, from 1 to {len(self.cells)}, or its name')
        return found[0]

    def shown(self, cell: Cell) -> str:
        """The settings of a cell that differ from others, in short."""
        return ", ".join(f"{short_key(key)} {shown_value(cell.settings[key])}" for key in self.varied) or "all"

    @cached_property
    def varied(self) -> list[str]:
        return [key for key, values in self.plan.space.grid.items() if len(values) > 1]


def short_key(key: str) -> str:
    """The last name of a dotted key, with the number behind it."""
    names = key.split(".")
    return ".".join(names[-2:]) if names[-1].isdigit() and len(names) > 1 else names[-1]


def shown_value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(shown_value(item) for item in value)}]" if value else "none"
    if isinstance(value, Mapping):
        return str(value.get("kind") or value.get("name") or "table")
    return str(value)
