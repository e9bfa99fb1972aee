"""Whether a cell has runs enough: decided after fixed blocks of seeds in their order, whatever order they ran in."""

import math

import numpy as np
import pyarrow as pa

from strapdown.arrays import Array
from strapdown.campaigns.plan import FLAGS, Plan
from strapdown.campaigns.results.intervals import mean_interval, share_interval
from strapdown.errors import InputError


class Enough:
    """Values of the figure of each cell, as they arrive. Failed runs count as done and have no value."""

    def __init__(self, plan: Plan) -> None:
        assert plan.until is not None
        self._until, self._most = plan.until, plan.most
        self._done = np.zeros((plan.space.count, plan.most), dtype=bool)
        self._values = np.full((plan.space.count, plan.most), np.nan)
        self._flag = plan.kind != "function" and plan.until.figure in FLAGS  # of a function: as its column shows
        self._decided: dict[int, int] = {}  # cell -> number of runs
        self._looked: dict[int, int] = {}  # cell -> runs at its last decision

    def put(self, cells: Array, numbers: Array, rows: pa.Table) -> None:
        """numbers: from 0."""
        if self._until.figure not in rows.schema.names:  # all runs of a batch failed
            values = np.full(len(rows), np.nan)
        else:
            column = rows.column(self._until.figure)
            if pa.types.is_string(column.type):
                raise InputError(f"until.figure is {self._until.figure}, which is a word; name a number or a flag")
            self._flag = self._flag or column.type == pa.bool_()
            values = np.array([math.nan if v is None else float(v) for v in column.to_pylist()])
        self._done[cells, numbers] = True
        self._values[cells, numbers] = values

    def count(self, cell: int) -> int:
        """Runs of the cell: those decided, or all where nothing is decided yet."""
        if cell in self._decided:
            return self._decided[cell]
        size = self._looked.get(cell, 0) + self._until.block
        while size < self._most and self._done[cell, :size].all():
            self._looked[cell] = size
            if self._is_enough(*self.interval(cell, size)):
                self._decided[cell] = size
                return size
            size += self._until.block
        return self._most

    def _is_enough(self, low: float, high: float) -> bool:
        if self._until.decides is not None:
            return not low < self._until.decides <= high
        assert self._until.half_width is not None
        return 0.5 * (high - low) <= self._until.half_width

    def interval(self, cell: int, size: int) -> tuple[float, float]:
        """Of the mean of the first runs of a cell."""
        values = self._values[cell, :size]
        values = values[np.isfinite(values)]
        if self._flag:
            return share_interval(int(values.sum()), len(values), self._until.confidence)
        return mean_interval(values, self._until.confidence)
