"""Readings of a mount during a run, collected at its own times."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strapdown.engines.mujoco.build import Built
from strapdown.engines.mujoco.motion_rows import BLOCK_SIZE, Sampled
from strapdown.engines.parts import Mount
from strapdown.engines.program import SNAP_S
from strapdown.errors import InputError

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Stretch:
    """A part of a run: its nodes and the sizes of the steps that begin there (s), and the readings at the nodes.

    `states`: the physics state at each node, and at the end if steps lead there.
    """

    nodes: Array
    sizes: Array
    readings: Array
    states: Array
    end_s: float  # where the next part begins


class Collected:
    """The readings of one mount at its times (s), and the worst of the steps that lead up to each."""

    def __init__(self, built: Built, mount: Mount, t: Any, duration_s: float) -> None:
        self._built, self._mount = built, mount
        self._t = np.asarray(t, dtype=np.float64)
        wrong = ~((self._t >= 0.0) & (self._t <= duration_s + SNAP_S) & (np.diff(self._t, prepend=-1.0) > 0.0))
        if wrong.any():
            i = int(np.argmax(wrong))
            raise InputError(
                f'sensor "{mount.name}": reading {i} is asked for at t = {self._t[i]:.6g} s; give rising times from 0 '
                f"to the duration of {duration_s:g} s"
            )
        self._columns = built.columns(mount.name)
        self._rows = np.empty((len(self._t), len(self._columns)))
        self._taken = 0
        self._unexplained, self._turn = np.zeros(len(self._t)), np.zeros(len(self._t))

    def take(self, part: Stretch, read: Callable[[Array, Array, float, float, float], Array]) -> None:
        """The readings from the first node to just before the end.

        `read(begin, end, node, size, t)` gives one within a step, from the physics states at both ends of it.
        """
        first, last = self._taken, int(np.searchsorted(self._t, part.end_s - SNAP_S))
        t = self._t[first:last]
        at = np.clip(np.searchsorted(part.nodes, t + SNAP_S, side="right") - 1, 0, None)
        block = slice(self._columns[0], self._columns[0] + BLOCK_SIZE)
        every = len(at) > 0 and at[-1] - at[0] == len(at) - 1  # a sensor at the rate of the steps: no need to pick
        self._rows[first:last, :BLOCK_SIZE] = part.readings[slice(at[0], at[-1] + 1) if every else at, block]
        self._rows[first:last, BLOCK_SIZE:] = part.readings[at[:, None], self._columns[BLOCK_SIZE:]]
        for i in np.flatnonzero(t - part.nodes[at] > SNAP_S):
            k = at[i]
            node_s, size_s = float(part.nodes[k]), float(part.sizes[k])
            reading = read(part.states[k], part.states[k + 1], node_s, size_s, float(t[i]))
            self._rows[first + i] = reading[self._columns]
        self._taken = last

    def doubt(self, nodes: Array, defects: Array, turns: Array) -> None:
        """Errors of the steps between these nodes: each counts for the sample at which it begins or which it contains,
        and for the next.
        """
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
