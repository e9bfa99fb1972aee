"""Output of a sensor: readings, their stamps, and which of them were clipped."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strapdown.kernels.sensors.chain_terms import CLIPPED, ROW, STAMP, X

Array = NDArray[np.float64]


class Measured:
    """Output of a sensor.

    t: stamps of the log.
    kept: the input rows the readings belong to.

    A value belongs to the instant of its input row. The stamp of a value is later by the latency, with an error of the
    jitter.

    saturated: per sample and axis.
    resolution: unit per count, 0 if the readings are not rounded.
    """

    # without a constructor of its own, which would take a twentieth of a live reading
    __slots__ = ("columns", "resolution")
    columns: Array | Sequence[NDArray[Any]]  # t, values, saturated, kept; or a table, taken apart when it is looked at
    resolution: float

    def _column(self, number: int) -> NDArray[Any]:
        table = self.columns
        if isinstance(table, np.ndarray):
            columns = (table[:, STAMP], table[:, X : X + 3], table[:, CLIPPED : CLIPPED + 3] != 0.0, table[:, ROW])
            self.columns = table = (*columns[:3], columns[3].astype(np.int64))
        return table[number]

    def __len__(self) -> int:
        return len(self.t)

    @property
    def t(self) -> Array:
        return self._column(0)

    @property
    def values(self) -> Array:
        return self._column(1)

    @property
    def saturated(self) -> NDArray[np.bool_]:
        return self._column(2)

    @property
    def kept(self) -> NDArray[np.int64]:
        return self._column(3)

    @property
    def counts(self) -> NDArray[np.int64] | None:
        """The register values: counts * resolution == values, to the bit. None without a resolution."""
        return np.rint(self.values / self.resolution).astype(np.int64) if self.resolution > 0.0 else None
