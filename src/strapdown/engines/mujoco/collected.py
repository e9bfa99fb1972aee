"""What a mount reads during a run, gathered at its own times while the run goes on."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strapdown.engines.mujoco.build import Built
from strapdown.engines.mujoco.motion_rows import BLOCK_SIZE, Sampled
from strapdown.engines.parts import Mount
from strapdown.engines.program import SNAP_S

Array = NDArray[np.float64]


class Collected:
    """The readings of one mount at its times (s), and the worst of the steps that lead up to each."""

    def __init__(self, built: Built, mount: Mount, t: Any) -> None:
        self._built, self._mount = built, mount
        self._t = np.asarray(t, dtype=np.float64)
        self._columns = built.columns(mount.name)
        self._rows = np.empty((len(self._t), len(self._columns)))
        self._taken = 0
        self._unexplained, self._turn = np.zeros(len(self._t)), np.zeros(len(self._t))

    def take(
        self, nodes: Array, end_s: float, readings: Array, states: Array, read: Callable[[Array, float, float], Array]
    ) -> None:
        """The readings from the first node to just before end_s; read(state, node, t) gives one between two nodes."""
        first, last = self._taken, int(np.searchsorted(self._t, end_s - SNAP_S))
        t = self._t[first:last]
        at = np.clip(np.searchsorted(nodes, t + SNAP_S, side="right") - 1, 0, None)
        block = slice(self._columns[0], self._columns[0] + BLOCK_SIZE)
        every = len(at) > 0 and at[-1] - at[0] == len(at) - 1  # a sensor at the rate of the steps: no need to pick
        self._rows[first:last, :BLOCK_SIZE] = readings[slice(at[0], at[-1] + 1) if every else at, block]
        self._rows[first:last, BLOCK_SIZE:] = readings[at[:, None], self._columns[BLOCK_SIZE:]]
        for i in np.flatnonzero(t - nodes[at] > SNAP_S):
            self._rows[first + i] = read(states[at[i]], float(nodes[at[i]]), float(t[i]))[self._columns]
        self._taken = last

    def doubt(self, nodes: Array, defects: Array, turns: Array) -> None:
        """Figures of the steps between these nodes: each counts for the sample it begins at or holds, and the next."""
        if len(turns) == 0:
            return
        lever_m = float(np.linalg.norm(self._mount.r_bs_b))
        snapped = self._t + SNAP_S
        following = np.searchsorted(snapped, nodes[1:])
        known = following < len(snapped)
        held = slice(*np.searchsorted(snapped, [nodes[0], nodes[-1]]))
        at = np.searchsorted(nodes, snapped[held], side="right") - 1
        for worst, of_step in ((self._unexplained, defects[:, 0] + lever_m * defects[:, 1]), (self._turn, turns)):
            np.maximum.at(worst, following[known], of_step[known])
            worst[held] = np.maximum(worst[held], of_step[at])

    def sampled(self, gravity: float) -> Sampled:
        return self._built.sampled(self._mount.name, gravity, self._t, self._rows, self._unexplained, self._turn)
