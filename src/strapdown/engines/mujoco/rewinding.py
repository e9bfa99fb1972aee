"""Snapshots of a live robot: bytes from which everything happens again to the bit."""

from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from strapdown.engines.mujoco.snapshot import RunningPush, packed, unpacked

# forces of a law follow from its memory and the state
STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION) & ~int(mujoco.mjtState.mjSTATE_QFRC_APPLIED)


class Rewinding:
    """The part of a plant (plant.py) that goes back; it is not used by itself."""

    model: Any
    data: Any
    _state: NDArray[np.float64]
    _warm_kept: bool
    _warm_start: slice
    _warm_before: NDArray[np.float64]
    _warnings: Any
    _law: Any
    _digest: bytes
    _time_s: float
    _pushes: list[RunningPush]
    _arrived: Callable[[], None]

    def snapshot(self) -> bytes:
        """All that the future depends on: state, solver memory, commands, running pushes, time."""
        mujoco.mj_getState(self.model, self.data, self._state, STATE)
        if self._warm_kept:
            self._state[self._warm_start] = self._warm_before
        law = self._law
        state = self._state if law is None else np.concatenate([self._state, law.memory])
        return packed(self._digest, self._time_s, state, self._pushes)

    def restore(self, kept: bytes) -> None:
        """Go back to a snapshot; whatever is done from there on gives the same bits again."""
        size, law = len(self._state), self._law
        of_law = 0 if law is None else len(law.memory)
        self._time_s, state, self._pushes = unpacked(kept, self._digest, size + of_law)
        mujoco.mj_setState(self.model, self.data, state[:size], STATE)
        if law is not None:
            law.memory[:] = state[size:]
        self._warnings[:] = 0
        self._arrived()
