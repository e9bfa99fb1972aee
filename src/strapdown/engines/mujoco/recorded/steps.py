"""The times of physics steps: on the grid of the step, split where the program switches."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from strapdown.engines.program import SNAP_S

Array = NDArray[np.float64]
_STRETCH = 20_000  # steps that are run and kept at a time: memory stays small and progress can be shown


@dataclass(frozen=True)
class Steps:
    """The grid of a physics step (s), and the program's switches (s) between its lines."""

    step_s: float
    switches_s: Array

    def nodes(self, begin_s: float, end_s: float) -> Array:
        """Times at which a step begins or ends: the grid, the switches, both ends."""
        h = self.step_s
        nearest = round(end_s / h) * h
        end_s = nearest if abs(end_s - nearest) < SNAP_S else end_s
        grid = np.arange(np.floor(begin_s / h), np.ceil(end_s / h) + 1) * h
        between = np.concatenate([grid, self.switches_s])
        between = between[(between > begin_s + SNAP_S) & (between < end_s - SNAP_S)]
        on_grid = np.round(between / h) * h
        nodes = np.unique(np.where(np.abs(between - on_grid) < SNAP_S, on_grid, between))
        return np.concatenate([[begin_s], nodes, [end_s]])

    def stretches(self, end_s: float) -> Iterator[Array]:
        """The nodes from 0 to the end, a bounded number at a time; each piece begins where the last one ends."""
        begin_s, k = 0.0, _STRETCH
        while k * self.step_s < end_s - SNAP_S:
            yield self.nodes(begin_s, k * self.step_s)
            begin_s, k = k * self.step_s, k + _STRETCH
        yield self.nodes(begin_s, end_s)

    def sizes(self, nodes: Array) -> Array:
        sizes = np.diff(nodes)
        return np.where(np.abs(sizes - self.step_s) < SNAP_S, self.step_s, sizes)

    def switched(self, nodes: Array) -> NDArray[np.bool_]:
        """Whether a command begins or ends at each node."""
        edges = np.concatenate([[-np.inf], self.switches_s, [np.inf]])
        after = np.searchsorted(edges, nodes)
        return np.minimum(nodes - edges[after - 1], edges[after] - nodes) < SNAP_S
